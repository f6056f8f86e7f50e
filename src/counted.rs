//! Metrics that are counted here, at the event itself, for the whole process.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use prometheus::core::Collector;
use prometheus::proto::{Metric, MetricFamily};
use prometheus::{
    Histogram, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, register_histogram_vec, register_int_counter,
    register_int_counter_vec, register_int_gauge_vec,
};
use till_protocol::count::Count;
use till_protocol::dispatch::UNKNOWN_PATH;

/// The upper bounds of the buckets of request times, in seconds: from half a commit to the slowest answer.
const SECONDS_BUCKETS: [f64; 13] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

const ONCE: &str = "each name is valid and registered once";

/// Answers to requests.
pub(crate) static REQUESTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "Requests answered, by endpoint and code.";
    register_int_counter_vec!("till_http_requests_total", help, &["endpoint", "code"]).expect(ONCE)
});

/// The number of calls of endpoints that were answered: no documents, no probes, no unknown paths.
#[must_use]
pub(crate) fn calls_answered() -> u64 {
    let is_call = |metric: &&Metric| {
        let endpoint = metric.get_label().iter().find(|label| label.name() == "endpoint");
        endpoint.is_some_and(|label| !label.value().starts_with(['/', '(']))
    };
    let families = REQUESTS.collect();
    let metrics = families.iter().flat_map(MetricFamily::get_metric).filter(is_call);
    metrics.map(|metric| count_of(metric.get_counter().get_value())).sum()
}

#[expect(clippy::cast_possible_truncation, reason = "a counter of integers is whole, and exact up to 2^53")]
fn count_of(sample: f64) -> u64 {
    sample as u64
}

/// Times until requests were answered.
pub(crate) static REQUEST_SECONDS: LazyLock<HistogramVec> = LazyLock::new(|| {
    let (help, buckets) = ("Time to answer, by endpoint.", SECONDS_BUCKETS.to_vec());
    register_histogram_vec!("till_http_request_seconds", help, &["endpoint"], buckets).expect(ONCE)
});

/// Passwords that were hashed, to keep them or to compare them.
#[cfg(feature = "pages")]
pub(crate) static PASSWORDS_HASHED: LazyLock<IntCounter> = LazyLock::new(|| {
    register_int_counter!("till_passwords_hashed_total", "Passwords hashed, right and wrong ones.").expect(ONCE)
});

/// Connections that are open, by listener.
pub(crate) static CONNECTIONS_OPEN: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    let help = "Connections that are open, by listener.";
    register_int_gauge_vec!("till_connections_open", help, &["listener"]).expect(ONCE)
});

/// Connections that were refused, by the limit that was reached.
pub(crate) static CONNECTIONS_REFUSED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "Connections refused, by the limit that was reached.";
    register_int_counter_vec!("till_connections_refused_total", help, &["limit"]).expect(ONCE)
});

/// The number of connections that were refused.
#[must_use]
pub(crate) fn connections_refused() -> u64 {
    let families = CONNECTIONS_REFUSED.collect();
    let metrics = families.iter().flat_map(|family| family.get_metric());
    metrics.map(|metric| count_of(metric.get_counter().get_value())).sum()
}

/// Connections that were ended to make room for new ones.
pub(crate) static CONNECTIONS_EVICTED: LazyLock<IntCounter> = LazyLock::new(|| {
    let help = "Idle connections that were ended to make room for new ones.";
    register_int_counter!("till_connections_evicted_total", help).expect(ONCE)
});

/// Checkpoints, by the outcomes `taken` and `failed`.
pub(crate) static CHECKPOINTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "Requested checkpoints, by outcome.";
    register_int_counter_vec!("till_checkpoints_total", help, &["outcome"]).expect(ONCE)
});

/// Notices of acquirers, by what became of them.
pub(crate) static NOTICES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "Notices of acquirers, by what became of them.";
    register_int_counter_vec!("till_acquirer_notices_total", help, &["result"]).expect(ONCE)
});

/// Reloads of files, by the outcomes `read` and `kept` (the earlier content).
pub(crate) static RELOADS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let help = "Files read again on the operator's request, by file and outcome.";
    register_int_counter_vec!("till_reloads_total", help, &["what", "outcome"]).expect(ONCE)
});

/// The times at which the certificates of listeners expire. The label is `tls` or `admin_tls`, like that of reloads.
pub(crate) static CERTIFICATE_ENDS: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    let help = "Time at which the first certificate of a listener expires, in Unix seconds, 0 when it is not known.";
    register_int_gauge_vec!("till_tls_certificate_end_timestamp_seconds", help, &["what"]).expect(ONCE)
});

/// Counts what the protocol does. Each thread keeps the handles of the counters that it has used, since finding a
/// counter by its labels takes longer than counting.
pub(crate) struct Counters;

/// The counters of one endpoint that a thread has used.
struct Handles {
    /// Counters by code; there are few codes.
    answers: Vec<(&'static str, IntCounter)>,
    times: Histogram,
}

thread_local! {
    /// By endpoint.
    static HANDLES: RefCell<BTreeMap<&'static str, Handles>> = const { RefCell::new(BTreeMap::new()) };
}

impl Count for Counters {
    fn count_answer(&self, endpoint: &'static str, code: &'static str, took: Duration) {
        HANDLES.with_borrow_mut(|handles| {
            let handles = handles.entry(endpoint).or_insert_with(|| Handles::new(endpoint));
            handles.answers(endpoint, code).inc();
            handles.times.observe(took.as_secs_f64());
        });
    }

    fn unread(&self, code: &'static str) {
        REQUESTS.with_label_values(&[UNKNOWN_PATH, code]).inc();
    }

    fn listens(&self, listener: &'static str, limits: &[&'static str]) {
        limits.iter().for_each(|limit| CONNECTIONS_REFUSED.with_label_values(&[limit]).inc_by(0));
        CONNECTIONS_EVICTED.inc_by(0);
        self.connected(listener, 0);
    }

    fn connected(&self, listener: &'static str, more: i64) {
        CONNECTIONS_OPEN.with_label_values(&[listener]).add(more);
    }

    fn refused_connection(&self, limit: &'static str) {
        CONNECTIONS_REFUSED.with_label_values(&[limit]).inc();
    }

    fn evicted_connection(&self) {
        CONNECTIONS_EVICTED.inc();
    }
}

impl Handles {
    fn new(endpoint: &'static str) -> Handles {
        Handles { answers: Vec::new(), times: REQUEST_SECONDS.with_label_values(&[endpoint]) }
    }

    fn answers(&mut self, endpoint: &'static str, code: &'static str) -> &IntCounter {
        let known = self.answers.iter().position(|(known, _)| *known == code);
        let position = known.unwrap_or_else(|| {
            self.answers.push((code, REQUESTS.with_label_values(&[endpoint, code])));
            self.answers.len() - 1
        });
        &self.answers[position].1
    }
}
