//! The way of a call to the engine and back: the service that all endpoints share, the fingerprint of a repeated call,
//! and the conversion of refusals into errors.

mod denial;
mod fingerprint;
mod shared;
mod test_attempts;

pub use denial::refused;
pub use shared::{Reader, SdkRate, Service, Shared, reply_of};
pub use test_attempts::TestTurn;
