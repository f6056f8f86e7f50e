//! Counts answers. Each thread keeps the handles of the counters that it has used, since finding a counter by its
//! labels takes longer than counting.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use prometheus::{Histogram, IntCounter};

use super::path::UNKNOWN_PATH;
use crate::counted::{REQUEST_SECONDS, REQUESTS};

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

/// Counts one answer of an endpoint.
pub(super) fn count(endpoint: &'static str, code: &'static str, took: Duration) {
    HANDLES.with_borrow_mut(|handles| {
        let handles = handles.entry(endpoint).or_insert_with(|| Handles::new(endpoint));
        handles.answers(endpoint, code).inc();
        handles.times.observe(took.as_secs_f64());
    });
}

/// Counts the answer to a request that could not be read.
pub(super) fn count_unread(code: &'static str) {
    REQUESTS.with_label_values(&[UNKNOWN_PATH, code]).inc();
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
