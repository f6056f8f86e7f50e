//! The state that one session of an actor, from load to unload, shares with the commit thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use till_storage::journal::Sequence;

/// Written by the commit thread for one session of an actor: the position up to which its batches are durable, and a
/// flag for a failed one.
#[derive(Debug)]
pub(crate) struct DurableWatermark {
    durable: AtomicU64,
    poisoned: AtomicBool,
}

impl DurableWatermark {
    pub(crate) fn new(durable: Sequence) -> DurableWatermark {
        DurableWatermark { durable: AtomicU64::new(durable.0), poisoned: AtomicBool::new(false) }
    }

    /// The position up to which the log is durable.
    pub(crate) fn durable(&self) -> Sequence {
        Sequence(self.durable.load(Ordering::Acquire))
    }

    pub(crate) fn advance(&self, to: Sequence) {
        self.durable.fetch_max(to.0, Ordering::AcqRel);
    }

    /// True when a batch failed, so that everything staged on it is void.
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Acquire)
    }

    pub(crate) fn poison(&self) {
        self.poisoned.store(true, Ordering::Release);
    }
}
