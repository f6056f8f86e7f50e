//! The worker pool: a few threads for calls that compute for longer than a thread that reads requests may. Permits are
//! shared out by caller, and a call that gets none within a second is refused.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};

use tokio_util::task::LocalPoolHandle;
use tracing::Instrument;

use super::concurrency::{CallCount, Concurrency, ConcurrencyLimit, Permit, WAIT_MAX};
use crate::api_error::ApiError;
use crate::connection::ShareOf;

/// The limit of calls that wait for a thread, apart from the share that each caller may still queue. Each may hold a
/// body of 1 MiB.
const QUEUE: usize = 64;

/// The pool and the limit on its calls. Clones share both.
#[derive(Clone)]
pub struct WorkerPool {
    threads: LocalPoolHandle,
    limit: ConcurrencyLimit,
}

impl WorkerPool {
    /// Starts this many threads, at least one, each of which begins with `begin_thread` and its number. Each runs one
    /// call at a time. One caller has at most half of them, and at least one.
    #[must_use]
    pub fn start(threads: usize, begin_thread: fn(usize)) -> WorkerPool {
        let permits = threads.max(1);
        let limit = ConcurrencyLimit::new(Concurrency {
            permits,
            permits_per_caller: permits.div_ceil(2),
            queue: QUEUE,
            wait_max: WAIT_MAX,
        });
        let threads = LocalPoolHandle::new(permits);
        for number in 0..permits {
            drop(threads.spawn_pinned_by_idx(move || async move { begin_thread(number) }, number));
        }
        WorkerPool { threads, limit }
    }

    /// Takes a permit for a call of this caller. All callers without a key share one limit.
    ///
    /// # Errors
    /// `UNAVAILABLE` (`not_done`) when no permit was free within a second.
    pub(super) async fn permit(&self, caller: ShareOf) -> Result<Permit, ApiError> {
        let caller = match caller {
            ShareOf::Address(_) => ShareOf::Address(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            ShareOf::Merchant(_) | ShareOf::Operator => caller,
        };
        self.limit.acquire(caller).await
    }

    /// Runs a call on one of the threads. When its caller disconnects, the call still runs to its end.
    ///
    /// # Errors
    /// `UNHANDLED_ERROR` when the work panicked.
    pub(super) async fn run<T, W, F>(&self, permit: Permit, work: W) -> Result<T, ApiError>
    where
        T: Send + 'static,
        W: FnOnce() -> F + Send + 'static,
        F: Future<Output = T> + 'static,
    {
        let span = tracing::Span::current();
        let holding_permit = move || {
            async move {
                let done = work().await;
                drop(permit);
                done
            }
            .instrument(span)
        };
        self.threads.spawn_pinned(holding_permit).await.map_err(|_| ApiError::unhandled())
    }

    /// Counts the calls, for the operator's tools.
    #[must_use]
    pub fn count(&self) -> CallCount {
        self.limit.count()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::api_error::Code;

    const MERCHANT: ShareOf = ShareOf::Merchant([1; 16]);

    #[tokio::test]
    async fn a_call_runs_on_a_pool_thread_and_returns_its_permit() {
        let pool = WorkerPool::start(1, |_| {});
        let permit = pool.permit(MERCHANT).await.unwrap_or_else(|error| panic!("{error:?}"));
        let here = std::thread::current().id();
        let there = pool.run(permit, || async { (*Rc::new(7), std::thread::current().id()) }).await;
        assert!(there.is_ok_and(|(seven, there)| seven == 7 && there != here));
        assert_eq!(pool.count(), CallCount { in_flight: 0, waiting: 0 });
    }

    #[tokio::test]
    async fn a_call_that_panics_is_answered_and_gives_its_permit_back() {
        let pool = WorkerPool::start(1, |_| {});
        let permit = pool.permit(MERCHANT).await.unwrap_or_else(|error| panic!("{error:?}"));
        let failed: Result<(), ApiError> = pool.run(permit, || async { panic!("on purpose") }).await;
        assert!(failed.is_err_and(|error| error.code() == Code::UnhandledError));
        assert_eq!(pool.count().in_flight, 0);
    }

    #[tokio::test]
    async fn one_caller_has_half_of_the_threads_at_most() {
        let pool = WorkerPool::start(4, |_| {});
        let mut held = Vec::new();
        for number in 1..=2 {
            held.push(pool.permit(MERCHANT).await);
            held.push(pool.permit(ShareOf::Address(IpAddr::from([127, 0, 0, number]))).await);
        }
        assert!(held.iter().all(Result::is_ok));
        drop(held.pop());
        let refused = pool.permit(MERCHANT).await;
        assert!(refused.is_err_and(|error| error.is_overload()), "a free thread is another caller's");
        assert!(pool.permit(ShareOf::Address(IpAddr::from([127, 0, 0, 9]))).await.is_ok());
    }
}
