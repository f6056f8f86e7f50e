//! Counts answers. Each thread keeps the handles of the counters that it has used: to find one by its labels takes
//! longer than to count.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use metrics::{Counter, Histogram, counter, histogram};

use super::exchange::UNKNOWN_PATH;

/// The counters of one endpoint that a thread has used.
struct Handles {
    /// With the codes that they count; these are few.
    answers: Vec<(&'static str, Counter)>,
    times: Histogram,
}

thread_local! {
    /// By endpoint.
    static HANDLES: RefCell<BTreeMap<&'static str, Handles>> = const { RefCell::new(BTreeMap::new()) };
}

/// Counts one answer of an endpoint.
pub(super) fn count(endpoint: &'static str, code: &'static str, took: Duration) {
    HANDLES.with_borrow_mut(|handles| {
        let handles = handles.entry(endpoint).or_insert_with(|| Handles::new(endpoint));
        handles.answers(endpoint, code).increment(1);
        handles.times.record(took);
    });
}

/// Counts the answer to a request that could not be read.
pub(super) fn count_unread(code: &'static str) {
    counter!("till_http_requests_total", "endpoint" => UNKNOWN_PATH, "code" => code).increment(1);
}

impl Handles {
    fn new(endpoint: &'static str) -> Handles {
        Handles { answers: Vec::new(), times: histogram!("till_http_request_seconds", "endpoint" => endpoint) }
    }

    fn answers(&mut self, endpoint: &'static str, code: &'static str) -> &Counter {
        let known = self.answers.iter().position(|(known, _)| *known == code);
        let position = known.unwrap_or_else(|| {
            let counter = counter!("till_http_requests_total", "endpoint" => endpoint, "code" => code);
            self.answers.push((code, counter));
            self.answers.len() - 1
        });
        &self.answers[position].1
    }
}
