//! Limits on the calls that run on the threads that read requests.

use super::concurrency::{CallCount, Concurrency, ConcurrencyLimit, Permit, ShareOf};
use crate::protocol::api_error::ApiError;

/// Permits for calls that change something, per thread. Nearly all of these calls wait for their commit: this many keep
/// the commit thread busy while a disk syncs for 20 ms. One caller has at most half.
const CHANGES_PER_THREAD: usize = 256;

/// Permits for calls that only read, per thread. These wait for nothing but the thread.
const READS_PER_THREAD: usize = 32;

/// The same for one caller: enough to keep the thread busy. More would only delay the calls of other callers.
const READS_PER_THREAD_AND_CALLER: usize = 4;

/// The limit of waiting calls of either kind, apart from the share that each caller may still queue. This many are
/// served within some tens of milliseconds.
const WAITING_MAX: usize = 1_024;

/// A limit for calls that change something, and one for calls that read. Clones share them.
#[derive(Clone)]
pub struct CallLimits {
    changes: ConcurrencyLimit,
    reads: ConcurrencyLimit,
}

impl CallLimits {
    /// The limits of a server with this number of threads that read requests.
    #[must_use]
    pub fn new(threads: usize) -> CallLimits {
        let limit = |permits: usize, permits_per_caller: usize| {
            let (permits, permits_per_caller) = (permits * threads, permits_per_caller * threads);
            ConcurrencyLimit::new(Concurrency { permits, permits_per_caller, queue: WAITING_MAX })
        };
        CallLimits {
            changes: limit(CHANGES_PER_THREAD, CHANGES_PER_THREAD / 2),
            reads: limit(READS_PER_THREAD, READS_PER_THREAD_AND_CALLER),
        }
    }

    /// Takes a permit for a call that changes something.
    ///
    /// # Errors
    /// `UNAVAILABLE` (`not_done`) when no permit was free within a second.
    pub(super) async fn permit_change(&self, caller: ShareOf) -> Result<Permit, ApiError> {
        self.changes.acquire(caller).await
    }

    /// Takes a permit for a call that only reads, and then waits for its turn among the calls that hold a permit. A
    /// call that only reads runs to its end without waiting, so without this turn no other call would ever find its
    /// permit taken.
    ///
    /// # Errors
    /// Like [`CallLimits::permit_change`].
    pub(super) async fn permit_read(&self, caller: ShareOf) -> Result<Permit, ApiError> {
        let permit = self.reads.acquire(caller).await?;
        tokio::task::yield_now().await;
        Ok(permit)
    }

    /// Counts the calls of both kinds.
    #[must_use]
    pub fn count(&self) -> CallCount {
        let (changes, reads) = (self.changes.count(), self.reads.count());
        CallCount { in_flight: changes.in_flight + reads.in_flight, waiting: changes.waiting + reads.waiting }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const MERCHANT: ShareOf = ShareOf::Merchant([1; 16]);

    #[tokio::test]
    async fn a_call_that_only_reads_yields_once_and_one_that_changes_not() {
        let limits = CallLimits::new(1);
        assert!(limits.permit_change(MERCHANT).now_or_never().is_some_and(|permit| permit.is_ok()));
        let mut reads: Vec<_> = (0..5).map(|_| Box::pin(limits.permit_read(MERCHANT))).collect();
        assert!(reads.iter_mut().all(|read| read.now_or_never().is_none()));
        assert_eq!(limits.count(), CallCount { in_flight: 4, waiting: 1 }, "the fifth finds the permits taken");
        let first = (&mut reads[0]).await;
        assert!(first.is_ok() && (&mut reads[4]).now_or_never().is_none());
        drop(first);
        assert!((&mut reads[4]).await.is_ok());
    }
}
