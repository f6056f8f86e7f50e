//! Waiting until a request has reached the sandbox, and then until its answer is recorded.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::protocol::api_error::ApiError;

/// The longest wait.
const PATIENCE: Duration = Duration::from_secs(2);
/// The interval between two polls.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// A wait that ends at a deadline.
pub(super) struct SandboxWait {
    until: Instant,
}

impl SandboxWait {
    /// A wait that begins now.
    pub(super) fn begin() -> SandboxWait {
        SandboxWait { until: Instant::now() + PATIENCE }
    }

    /// Waits for the next poll; returns `error` after the deadline.
    pub(super) async fn go_on(&self, error: impl FnOnce() -> ApiError) -> Result<(), ApiError> {
        if Instant::now() >= self.until {
            return Err(error());
        }
        sleep(LOOK_AGAIN_AFTER).await;
        Ok(())
    }
}
