//! A clock that stands still until a test moves it.

use std::sync::atomic::{AtomicU64, Ordering};
use till_actors::clock::Clock;
use till_domain::time::Millis;

/// The time at which every test begins.
pub(crate) const START: Millis = Millis(1_750_000_000_000);

/// The name of the thread on which timers are read.
const BACKGROUND: &str = "till-background";
/// The thread of deliveries, which asks for the time as well.
const WEBHOOKS: &str = "till-webhooks";

#[derive(Debug, Default)]
pub(crate) struct ManualClock {
    passed_ms: AtomicU64,
    background_ahead_ms: AtomicU64,
    panics: AtomicU64,
}

impl ManualClock {
    pub(crate) fn pass_seconds(&self, seconds: u64) {
        self.passed_ms.fetch_add(seconds * 1_000, Ordering::SeqCst);
    }

    /// Shows the timers a later time than the actors, as when the clock steps back between their reads.
    pub(crate) fn set_background_ahead_seconds(&self, seconds: u64) {
        self.background_ahead_ms.store(seconds * 1_000, Ordering::SeqCst);
    }

    /// Makes the next `times` actors that ask for the time panic.
    pub(crate) fn panic_next(&self, times: u64) {
        self.panics.store(times, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Millis {
        let thread = std::thread::current();
        let in_background = thread.name() == Some(BACKGROUND);
        if !in_background && thread.name() != Some(WEBHOOKS) {
            let left = self.panics.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            assert!(left.is_err(), "the clock panics on purpose");
        }
        let ahead_ms = if in_background { self.background_ahead_ms.load(Ordering::SeqCst) } else { 0 };
        Millis(START.0 + self.passed_ms.load(Ordering::SeqCst) + ahead_ms)
    }
}
