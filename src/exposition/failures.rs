//! Time series of requests that failed on the server's side, present from the start.

use till_protocol::api_error::Code;

use crate::counted::REQUESTS;

/// The codes that alerts watch.
const FAILURES: [Code; 2] = [Code::UnhandledError, Code::Unavailable];

/// The labels beside endpoints: documents, pages, paths for tools, and unknown paths.
const BESIDE_ENDPOINTS: [&str; 9] =
    ["merchants", "sdk", "admin", "/openapi.json", "/docs", "/metrics", "/health/live", "/health/ready", "(unknown)"];

/// Begins to count the failures of these endpoints, and of the other labels, at 0. A series that appears with its first
/// failure does not increase, so an alert on its increase would miss that failure.
pub(crate) fn count_failures_from_zero(endpoints: impl IntoIterator<Item = &'static str>) {
    for endpoint in endpoints.into_iter().chain(BESIDE_ENDPOINTS) {
        for code in FAILURES {
            REQUESTS.with_label_values(&[endpoint, code.name()]);
        }
    }
}
