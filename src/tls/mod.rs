//! TLS: what listeners prove themselves with, and what the operator's commands trust.

mod certificates;
mod trust;
mod validity;

pub use certificates::{Certificates, TlsError};
pub use trust::trusting;
