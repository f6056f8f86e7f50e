//! Counters that are raised at the event itself, for the program's metrics.

use std::time::Duration;

/// Counts. By default nothing is.
pub trait Count: Send + Sync {
    /// Counts an answer of an endpoint.
    fn count_answer(&self, _endpoint: &'static str, _code: &'static str, _took: Duration) {}

    /// Counts the answer to a request that could not be read.
    fn unread(&self, _code: &'static str) {}

    /// A listener begins, which refuses connections above these limits.
    fn listens(&self, _listener: &'static str, _limits: &[&'static str]) {}

    /// A listener has this many connections more.
    fn connected(&self, _listener: &'static str, _more: i64) {}

    /// Counts a connection that was refused, by the limit that was reached.
    fn refused_connection(&self, _limit: &'static str) {}

    /// Counts an idle connection that was ended to make room for a new one.
    fn evicted_connection(&self) {}
}

/// Counts nothing.
pub(super) struct Uncounted;

impl Count for Uncounted {}
