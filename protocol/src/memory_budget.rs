//! Memory budgets: a limit on the bytes that many calls use together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of bytes. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct MemoryBudget {
    reserved: Arc<AtomicUsize>,
    bytes_max: usize,
}

/// The bytes that one call has reserved. Dropping it gives them back.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: MemoryBudget,
    bytes: usize,
}

/// The budget does not have that many bytes left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

impl MemoryBudget {
    /// A budget of this many bytes.
    pub(super) fn of(bytes_max: usize) -> MemoryBudget {
        MemoryBudget { reserved: Arc::default(), bytes_max }
    }

    /// An empty reservation.
    pub(super) fn reservation(&self) -> Reservation {
        Reservation { budget: self.clone(), bytes: 0 }
    }

    /// True when nothing is left.
    pub(super) fn is_exhausted(&self) -> bool {
        self.reserved.load(Ordering::Relaxed) >= self.bytes_max
    }

    pub(super) const fn bytes_max(&self) -> usize {
        self.bytes_max
    }
}

impl Reservation {
    /// The budget of this reservation.
    pub(super) const fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// Extends the reservation to this many bytes; a larger one is left as it is. The bytes are reserved even when they
    /// exceed the budget: for data that must be kept, the error may be ignored.
    ///
    /// # Errors
    /// [`Exhausted`].
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        self.bytes += more;
        let reserved = self.budget.reserved.fetch_add(more, Ordering::Relaxed) + more;
        if reserved > self.budget.bytes_max { Err(Exhausted) } else { Ok(()) }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.reserved.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_have_a_limit_together_and_give_their_bytes_back() {
        let budget = MemoryBudget::of(100);
        let (mut first, mut second) = (budget.reservation(), budget.reservation());
        assert_eq!((first.grow_to(60), first.grow_to(61), first.grow_to(10)), (Ok(()), Ok(()), Ok(())));
        assert_eq!(second.grow_to(40), Err(Exhausted));
        assert!(budget.is_exhausted());
        drop(second);
        assert_eq!(budget.reserved.load(Ordering::Relaxed), 61);
        drop(first);
        assert_eq!(budget.reservation().grow_to(100), Ok(()));
        assert_eq!(budget.reserved.load(Ordering::Relaxed), 0);
    }
}
