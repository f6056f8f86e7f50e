//! When the certificates of listeners end.

use metrics::gauge;

/// Notes when a listener's certificate ends, in Unix seconds; 0 when it does not say so. `listener` is `tls` or
/// `admin_tls`, as reloads are counted.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a double by its format, and exact for any such time")]
pub fn expose_certificate_end(listener: &'static str, end_seconds: Option<u64>) {
    gauge!("till_tls_certificate_end_timestamp_seconds", "what" => listener).set(end_seconds.unwrap_or(0) as f64);
}
