//! The merchants' time while they are generated.

use std::sync::atomic::{AtomicU64, Ordering};

use till_actors::clock::{Clock, SystemClock};
use till_domain::time::Millis;

/// A clock that is set forward from round to round. Each reading moves it on by a millisecond, so that the events of a
/// round have times of their own. It is never ahead of the machine's clock.
pub(super) struct SetClock {
    next_millis: AtomicU64,
}

impl SetClock {
    pub(super) const fn new(at: Millis) -> SetClock {
        SetClock { next_millis: AtomicU64::new(at.0) }
    }

    /// Sets the clock forward. An earlier time is ignored, so that the clock never goes back.
    pub(super) fn set(&self, at: Millis) {
        self.next_millis.fetch_max(at.0, Ordering::Relaxed);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Millis {
        Millis(self.next_millis.fetch_add(1, Ordering::Relaxed)).min(SystemClock.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reading_moves_on_but_never_ahead_of_the_machine() {
        let clock = SetClock::new(Millis(1_000));
        assert_eq!((clock.now(), clock.now()), (Millis(1_000), Millis(1_001)));
        clock.set(Millis(500));
        assert_eq!(clock.now(), Millis(1_002));
        clock.set(Millis(9_000));
        assert_eq!(clock.now(), Millis(9_000));
        clock.set(Millis(u64::MAX - 9));
        assert!(clock.now() <= SystemClock.now());
    }
}
