//! Bounds on work in flight. A mailbox's capacity does not bound load in actix, so the bound is checked before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A counter that refuses to go above a limit.
#[derive(Debug)]
pub(crate) struct InFlight {
    count: AtomicUsize,
    max: usize,
}

impl InFlight {
    /// Nothing in flight, at most `max` at a time.
    #[must_use]
    pub(crate) fn new(max: usize) -> Arc<InFlight> {
        Arc::new(InFlight { count: AtomicUsize::new(0), max })
    }

    /// The number in flight.
    #[must_use]
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// A permit for one more, unless the limit is reached.
    #[must_use]
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Permit> {
        let grow = |count| (count < self.max).then_some(count + 1);
        // Sequentially consistent with the flag that stops the service: either the stop sees the permit, or the
        // permit's holder sees the flag.
        self.count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, grow).ok()?;
        Some(Permit { of: Arc::clone(self) })
    }
}

/// One unit of work in flight, until dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    of: Arc<InFlight>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.of.count.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_permit_makes_room_below_the_limit() {
        let bound = InFlight::new(2);
        let first = bound.enter().expect("room for the first");
        let _second = bound.enter().expect("room for the second");
        assert!(bound.enter().is_none());
        drop(first);
        assert_eq!(bound.count(), 1);
        assert!(bound.enter().is_some());
    }

    #[test]
    fn a_panic_gives_its_permit_back() {
        let bound = InFlight::new(1);
        let permit = bound.enter().expect("room for the first");
        let panicked = std::thread::spawn(move || {
            let _held = permit;
            panic!("on purpose");
        });
        assert!(panicked.join().is_err());
        assert_eq!(bound.count(), 0);
    }
}
