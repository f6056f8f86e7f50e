//! Limits on the calls that run on the threads that read requests.

use super::concurrency::{CallCount, Concurrency, ConcurrencyLimit, Permit, WAIT_MAX};
use crate::api_error::ApiError;
use crate::connection::ShareOf;

/// Permits for calls that change something, per thread. Nearly all of these calls wait for their commit: this many keep
/// the commit thread busy while a disk syncs for 20 ms. One caller has at most half.
const CHANGES_PER_THREAD: usize = 256;

/// Permits for calls that only read, per thread. These wait for nothing but the thread.
const READS_PER_THREAD: usize = 32;

/// The same for one caller: enough to keep the thread busy. More would only delay the calls of other callers.
const READS_PER_THREAD_AND_CALLER: usize = 4;

/// Permits for forms of pages, per thread. They wait for a commit or for an acquirer, and then make a page.
const FORMS_PER_THREAD: usize = 64;

/// The same for one caller: an address, behind which there may be many customers.
const FORMS_PER_THREAD_AND_CALLER: usize = 8;

/// Permits for large bodies of raw endpoints, which anybody may send, per thread. They are held while the body arrives.
const RAW_BODIES_PER_THREAD: usize = 16;

/// The same for one caller.
const RAW_BODIES_PER_THREAD_AND_CALLER: usize = 2;

/// The limit of waiting calls of each kind, apart from the share that each caller may still queue. This many are
/// served within some tens of milliseconds.
const WAITING_MAX: usize = 1_024;

/// A limit for calls that change something, one for calls that read, and one for forms of pages. Clones share them.
#[derive(Clone)]
pub struct CallLimits {
    changes: ConcurrencyLimit,
    reads: ConcurrencyLimit,
    forms: ConcurrencyLimit,
    raw_bodies: ConcurrencyLimit,
}

impl CallLimits {
    /// The limits of a server with this number of threads that read requests.
    #[must_use]
    pub fn new(threads: usize) -> CallLimits {
        let limit = |permits: usize, permits_per_caller: usize| {
            let (permits, permits_per_caller) = (permits * threads, permits_per_caller * threads);
            ConcurrencyLimit::new(Concurrency { permits, permits_per_caller, queue: WAITING_MAX, wait_max: WAIT_MAX })
        };
        CallLimits {
            changes: limit(CHANGES_PER_THREAD, CHANGES_PER_THREAD / 2),
            reads: limit(READS_PER_THREAD, READS_PER_THREAD_AND_CALLER),
            forms: limit(FORMS_PER_THREAD, FORMS_PER_THREAD_AND_CALLER),
            raw_bodies: limit(RAW_BODIES_PER_THREAD, RAW_BODIES_PER_THREAD_AND_CALLER),
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

    /// Takes a permit for the form of a page, or for a page or a document, which only read, and waits for its turn. The
    /// web server polls a request without a body twice in the turn in which its head arrives: a first wait ends within
    /// that turn.
    ///
    /// # Errors
    /// Like [`CallLimits::permit_change`].
    pub(super) async fn permit_page(&self, caller: ShareOf, is_form: bool) -> Result<Permit, ApiError> {
        let permit = if is_form { &self.forms } else { &self.reads }.acquire(caller).await?;
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        Ok(permit)
    }

    /// Takes a permit for a large body of a raw endpoint, before it is read.
    ///
    /// # Errors
    /// Like [`CallLimits::permit_change`].
    pub(super) async fn permit_raw_body(&self, caller: ShareOf) -> Result<Permit, ApiError> {
        self.raw_bodies.acquire(caller).await
    }

    /// Counts the calls of all kinds.
    #[must_use]
    pub fn count(&self) -> CallCount {
        let kinds = [&self.changes, &self.reads, &self.forms, &self.raw_bodies].map(ConcurrencyLimit::count);
        let sum = |count: fn(&CallCount) -> usize| kinds.iter().map(count).sum();
        CallCount { in_flight: sum(|kind| kind.in_flight), waiting: sum(|kind| kind.waiting) }
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

    #[tokio::test]
    async fn a_page_holds_its_permit_for_a_turn_although_it_is_polled_twice_at_first() {
        let limits = CallLimits::new(1);
        let mut pages: Vec<_> = (0..5).map(|_| Box::pin(limits.permit_page(MERCHANT, false))).collect();
        for _ in 0..2 {
            assert!(pages.iter_mut().all(|page| page.now_or_never().is_none()));
        }
        assert_eq!(limits.count(), CallCount { in_flight: 4, waiting: 1 });
        assert!((&mut pages[0]).await.is_ok());
    }

    #[tokio::test]
    async fn forms_of_one_caller_are_few_and_wait_for_their_turn() {
        let limits = CallLimits::new(1);
        let mut forms: Vec<_> = (0..9).map(|_| Box::pin(limits.permit_page(MERCHANT, true))).collect();
        assert!(forms.iter_mut().all(|form| form.now_or_never().is_none()));
        assert_eq!(limits.count(), CallCount { in_flight: 8, waiting: 1 });
        assert!(limits.permit_change(MERCHANT).now_or_never().is_some_and(|permit| permit.is_ok()));
        assert!((&mut forms[0]).await.is_ok());
    }
}
