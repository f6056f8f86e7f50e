//! TLS: the certificates of listeners, and those that the operator's commands trust.

mod certificates;
mod trust;
mod validity;

pub(crate) use certificates::{Certificates, TlsError};
pub use trust::trusting;
