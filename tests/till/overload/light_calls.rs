//! A merchant with one connection that calls now and then, and waits for each answer.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use super::closed_loop::{PreparedRequest, StatusConnection, key_of, on_one_thread};
use crate::harness::{Server, Shop};

/// The pause between an answer and the next call.
const PAUSE: Duration = Duration::from_millis(20);

/// The times that the calls of a kind took, in ascending order.
struct Durations(Vec<Duration>);

/// The times that the calls of a merchant took.
pub(super) struct LightCalls {
    reads: Durations,
    changes: Durations,
}

impl LightCalls {
    /// The call that reads a merchant's balance.
    pub(super) fn balance(shop: &Shop) -> PreparedRequest {
        PreparedRequest::post("/merchants/get-balance", &key_of(shop), "{}")
    }

    /// Reads by that call and adds an item to a set in turns until then, each at least once. None may be refused.
    /// `headers` show the key.
    pub(super) fn make(server: &Server, headers: &str, read: &PreparedRequest, until: Instant) -> LightCalls {
        let (mut reads, mut changes) = (Vec::new(), Vec::new());
        on_one_thread(async {
            let mut connection = StatusConnection::new(server.public());
            while reads.is_empty() || Instant::now() < until {
                reads.push(answered(&mut connection, read).await);
                let item = format!("{{\"key\":\"light\",\"value\":{}}}", changes.len());
                let change = PreparedRequest::post("/merchants/add-to-metadata-set", headers, &item);
                changes.push(answered(&mut connection, &change).await);
            }
        });
        LightCalls { reads: Durations::new(reads), changes: Durations::new(changes) }
    }

    /// The larger of the 99th percentiles of both kinds.
    pub(super) fn p99(&self) -> Duration {
        self.reads.percentile(99).max(self.changes.percentile(99))
    }
}

impl Display for LightCalls {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} reads {}, {} changes {}",
            self.reads.0.len(),
            self.reads,
            self.changes.0.len(),
            self.changes
        )
    }
}

/// Makes a call that must be answered, pauses, and returns the latency.
async fn answered(connection: &mut StatusConnection, request: &PreparedRequest) -> Duration {
    let asked = Instant::now();
    let status = connection.call(request).await;
    let took = asked.elapsed();
    assert_eq!(status, 200, "after {took:?}");
    tokio::time::sleep(PAUSE).await;
    took
}

impl Durations {
    fn new(mut durations: Vec<Duration>) -> Durations {
        durations.sort_unstable();
        Durations(durations)
    }

    /// The percentile of the durations.
    fn percentile(&self, percent: usize) -> Duration {
        self.0[(self.0.len() * percent).div_ceil(100) - 1]
    }
}

impl Display for Durations {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let [p50, p99, max] = [50, 99, 100].map(|percent| self.percentile(percent));
        write!(formatter, "p50 {p50:.1?}, p99 {p99:.1?}, max {max:.1?}")
    }
}
