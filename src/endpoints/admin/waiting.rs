//! Waiting for the sandbox to be asked for something, and then for its answer to be recorded.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::protocol::api_error::ApiError;

/// The longest wait.
const PATIENCE: Duration = Duration::from_secs(2);
/// The pause between two looks.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// A wait that ends at a deadline.
pub(super) struct Waiting {
    until: Instant,
}

impl Waiting {
    /// One that begins now.
    pub(super) fn begin() -> Waiting {
        Waiting { until: Instant::now() + PATIENCE }
    }

    /// Waits a little before another look; gives up with `error` after the deadline.
    pub(super) async fn go_on(&self, error: impl FnOnce() -> ApiError) -> Result<(), ApiError> {
        if Instant::now() >= self.until {
            return Err(error());
        }
        sleep(LOOK_AGAIN_AFTER).await;
        Ok(())
    }
}
