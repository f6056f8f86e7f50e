//! The thread that takes a checkpoint every so often.

use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use till_actors::clock::Clock;

use super::checkpoints::Checkpoints;

#[derive(Default)]
struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Waits for the next turn; whether there is none.
    fn wait(&self, pause: Duration) -> bool {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(asked, pause, |asked| !*asked);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The running thread. Dropping it ends it, behind the checkpoint that it is taking.
pub struct CheckpointSchedule {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
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
        let stop = Arc::new(Stop::default());
        let told = Arc::clone(&stop);
        let run = move || {
            while !told.wait(every) {
                checkpoints.take_scheduled(clock.now(), kept.get());
            }
        };
        let thread = thread::Builder::new().name("checkpoints".to_owned()).spawn(run)?;
        Ok(CheckpointSchedule { stop, thread: Some(thread) })
    }
}

impl Drop for CheckpointSchedule {
    fn drop(&mut self) {
        *self.stop.asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            drop(thread.join()); // If it panicked, there is nothing to wait for.
        }
    }
}
