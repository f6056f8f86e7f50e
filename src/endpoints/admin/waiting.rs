//! Waiting until a request has reached the sandbox, and then until its answer is recorded.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::endpoints::prelude::*;

/// The longest wait.
const WAIT_MAX: Duration = Duration::from_secs(2);
/// The interval between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A wait that ends at a deadline.
pub(super) struct SandboxWait {
    until: Instant,
}

impl SandboxWait {
    /// A wait that begins now.
    pub(super) fn begin() -> SandboxWait {
        SandboxWait { until: Instant::now() + WAIT_MAX }
    }

    /// Waits for the next poll; returns `error` after the deadline.
    pub(super) async fn until_next_poll(&self, error: impl FnOnce() -> ApiError) -> Result<(), ApiError> {
        if Instant::now() >= self.until {
            return Err(error());
        }
        sleep(POLL_INTERVAL).await;
        Ok(())
    }
}
