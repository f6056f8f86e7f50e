//! The way of a call to the engine and back: the service that all endpoints share, the fingerprint of a repeated call,
//! and the conversion of refusals into errors.

mod denial;
mod fingerprint;
mod service;
mod test_attempts;

pub(crate) use denial::refused;
pub use service::{OnDisk, SdkRate, Service, ServiceParts, Shared};
pub(crate) use service::{Reader, reply_of};
pub(crate) use test_attempts::TestTurn;
