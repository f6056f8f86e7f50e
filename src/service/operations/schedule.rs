//! The thread that takes checkpoints at a regular interval.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use till_actors::clock::Clock;
use till_storage::turns::Turns;

use super::checkpoints::Checkpoints;

/// The delay before a checkpoint that is due at the start, that is retried after a failure, or that follows one which
/// took the whole interval: a server that restarts repeatedly must neither take one at each start nor never take one.
const SOON: Duration = Duration::from_secs(300);

/// The running thread. Dropping it ends it, after the checkpoint in progress.
pub(crate) struct CheckpointSchedule {
    _thread: Turns,
}

impl CheckpointSchedule {
    /// Takes a checkpoint `every` interval after the newest scheduled one, by this process or an earlier one, and keeps
    /// this number of them.
    ///
    /// # Errors
    /// An error of the system, when no thread can be started.
    pub(crate) fn start(
        checkpoints: Checkpoints,
        clock: Arc<dyn Clock>,
        every: Duration,
        kept: NonZeroUsize,
    ) -> std::io::Result<CheckpointSchedule> {
        let thread = Turns::start("checkpoints", move |stop| {
            let mut wait = first_wait(checkpoints.scheduled_age(clock.now()), every);
            while !stop.wait(wait) {
                let begun = Instant::now();
                let is_taken = checkpoints.take_scheduled(clock.now(), kept.get());
                wait = next_wait(is_taken, begun.elapsed(), every);
            }
        })?;
        Ok(CheckpointSchedule { _thread: thread })
    }
}

/// The delay at the start, by the age of the newest checkpoint.
fn first_wait(age: Option<Duration>, every: Duration) -> Duration {
    soon_at_least(age.map_or(Duration::ZERO, |age| every.saturating_sub(age)), every)
}

/// The delay after a checkpoint, by its result and its duration.
fn next_wait(is_taken: bool, took: Duration, every: Duration) -> Duration {
    soon_at_least(if is_taken { every.saturating_sub(took) } else { Duration::ZERO }, every)
}

fn soon_at_least(wait: Duration, every: Duration) -> Duration {
    wait.max(SOON.min(every))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn minutes(minutes: u64) -> Duration {
        Duration::from_secs(60 * minutes)
    }

    #[test]
    fn a_restarted_server_continues_the_schedule() {
        let first = |age| first_wait(age, minutes(60));
        assert_eq!(first(Some(minutes(10))), minutes(50));
        assert_eq!([Some(minutes(58)), Some(minutes(600)), None].map(first), [SOON; 3]);
        assert_eq!([None, Some(minutes(9))].map(|age| first_wait(age, minutes(1))), [minutes(1); 2]);
    }

    #[test]
    fn the_interval_counts_from_start_to_start_and_failures_retry() {
        let next = |is_taken, took| next_wait(is_taken, took, minutes(60));
        assert_eq!([next(true, minutes(20)), next(true, minutes(90))], [minutes(40), SOON]);
        assert_eq!([next(false, minutes(1)), next_wait(false, minutes(1), minutes(2))], [SOON, minutes(2)]);
    }
}
