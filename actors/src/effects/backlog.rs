//! Which effects have no result yet, counted for whoever watches.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// One effect in a [`Backlog`].
pub(crate) type Entry = u64;

/// The effects without a result, by the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Since when each is known. Numbers grow with time, so the first is the oldest.
    since: BTreeMap<Entry, Instant>,
    next: Entry,
}

impl Backlog {
    /// An effect is open from now on.
    pub(crate) fn enter(&self, now: Instant) -> Entry {
        let mut inner = self.lock();
        let entry = inner.next;
        inner.next += 1;
        inner.since.insert(entry, now);
        entry
    }

    /// An effect has its result.
    pub(crate) fn leave(&self, entry: Entry) {
        self.lock().since.remove(&entry);
    }

    /// How many there are, and for how long the oldest has been there.
    pub(crate) fn look(&self, now: Instant) -> (usize, Duration) {
        let inner = self.lock();
        let oldest = inner.since.first_key_value().map_or(now, |(_, since)| *since);
        (inner.since.len(), now.duration_since(oldest))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_that_is_still_there_says_how_long() {
        let (backlog, start) = (Backlog::default(), Instant::now());
        assert_eq!(backlog.look(start), (0, Duration::ZERO));
        let first = backlog.enter(start);
        let second = backlog.enter(start + Duration::from_secs(3));
        assert_eq!(backlog.look(start + Duration::from_secs(5)), (2, Duration::from_secs(5)));
        backlog.leave(first);
        assert_eq!(backlog.look(start + Duration::from_secs(5)), (1, Duration::from_secs(2)));
        backlog.leave(second);
        assert_eq!(backlog.look(start + Duration::from_secs(9)), (0, Duration::ZERO));
    }
}
