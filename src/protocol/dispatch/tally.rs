//! Counts answers. Each thread keeps the handles of the counters that it has used: to find one by its labels takes
//! longer than to count.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use metrics::{Counter, Histogram, counter, histogram};

/// The counters that a thread has used.
#[derive(Default)]
struct Handles {
    /// By endpoint and code.
    answers: HashMap<(&'static str, &'static str), Counter>,
    /// By endpoint.
    times: HashMap<&'static str, Histogram>,
}

thread_local! {
    static HANDLES: RefCell<Handles> = RefCell::default();
}

/// Counts one answer of an endpoint.
pub(super) fn count(endpoint: &'static str, code: &'static str, took: Duration) {
    HANDLES.with_borrow_mut(|handles| {
        let answers = handles.answers.entry((endpoint, code));
        answers
            .or_insert_with(|| counter!("till_http_requests_total", "endpoint" => endpoint, "code" => code))
            .increment(1);
        let times = handles.times.entry(endpoint);
        times.or_insert_with(|| histogram!("till_http_request_seconds", "endpoint" => endpoint)).record(took);
    });
}
