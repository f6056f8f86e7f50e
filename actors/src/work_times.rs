//! How long callers' commands are worked on: from their hand-over to the moment in which their answer is ready. How long
//! the callers' own threads then take to pass it on is no part of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Commands that were worked on, and the time that they took together. Both only grow.
#[derive(Debug, Default)]
pub struct WorkTimes {
    count: AtomicU64,
    nanos: AtomicU64,
}

impl WorkTimes {
    /// How many there were, and how long they took together.
    #[must_use]
    pub fn so_far(&self) -> (u64, Duration) {
        (self.count.load(Ordering::Relaxed), Duration::from_nanos(self.nanos.load(Ordering::Relaxed)))
    }

    /// A command is worked on from now on.
    pub(crate) fn begin(self: &Arc<Self>) -> Working {
        Working { times: Arc::clone(self), since: Instant::now() }
    }
}

/// A command that is worked on, until dropped.
#[derive(Debug)]
pub(crate) struct Working {
    times: Arc<WorkTimes>,
    since: Instant,
}

impl Drop for Working {
    fn drop(&mut self) {
        let nanos = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.times.nanos.fetch_add(nanos, Ordering::Relaxed);
        self.times.count.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_counts_once_it_has_ended_with_the_time_since_its_begin() {
        let times = Arc::new(WorkTimes::default());
        let working = times.begin();
        assert_eq!(times.so_far(), (0, Duration::ZERO));
        std::thread::sleep(Duration::from_millis(20));
        drop(working);
        let (count, time) = times.so_far();
        assert!(count == 1 && time >= Duration::from_millis(20), "{time:?}");
    }
}
