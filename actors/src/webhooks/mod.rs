//! Delivering events to merchants' endpoints: signatures, addresses that may be called, attempts and their schedule.

mod signing;
mod verification;

pub use signing::{SIGNING_SECRET_BYTES, SignedHeaders, SigningSecret, sign};
pub use verification::{
    ReceivedHeaders, TIMESTAMP_TOLERANCE_SECONDS, VerificationError, VerificationKey, VerificationKeyError,
};
