//! The thread that takes a checkpoint every so often.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use till_actors::clock::Clock;
use till_storage::turns::Turns;

use super::checkpoints::Checkpoints;

/// The running thread. Dropping it ends it, behind the checkpoint that it is taking.
pub struct CheckpointSchedule {
    _thread: Turns,
}

impl CheckpointSchedule {
    /// Takes the first checkpoint `every` after now, and keeps so many of them.
    ///
    /// # Errors
    /// The system's, when it gives no thread.
    pub fn start(
        checkpoints: Checkpoints,
        clock: Arc<dyn Clock>,
        every: Duration,
        kept: NonZeroUsize,
    ) -> std::io::Result<CheckpointSchedule> {
        let thread = Turns::start("checkpoints", move |stop| {
            while !stop.wait(every) {
                checkpoints.take_scheduled(clock.now(), kept.get());
            }
        })?;
        Ok(CheckpointSchedule { _thread: thread })
    }
}
