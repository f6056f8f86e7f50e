//! Series of requests that failed on the server's side, there from the start.

use super::counted::REQUESTS;
use crate::protocol::api_error::Code;

/// Codes that alerts are about.
const FAILURES: [Code; 2] = [Code::UnhandledError, Code::Unavailable];

/// What is counted beside endpoints: documents, pages, what tools read, and paths that name nothing.
const BESIDE_ENDPOINTS: [&str; 9] =
    ["merchants", "sdk", "admin", "/openapi.json", "/docs", "/metrics", "/health/live", "/health/ready", "(unknown)"];

/// Begins to count the failures of these endpoints, and of everything beside them, at 0. A series that is born with
/// its first failure has not increased, and an alert on its increase would miss that one.
pub fn count_failures_from_zero(endpoints: impl IntoIterator<Item = &'static str>) {
    for endpoint in endpoints.into_iter().chain(BESIDE_ENDPOINTS) {
        for code in FAILURES {
            REQUESTS.with_label_values(&[endpoint, code.name()]);
        }
    }
}
