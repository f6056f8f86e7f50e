//! Acquirers: who authorizes, captures, voids and refunds payments.

mod calls;
mod reference;

pub use calls::{
    Acquirer, AcquirerAnswer, AcquirerUnavailable, Authorization, AuthorizeRequest, Completion, FollowUpRequest,
    Instrument,
};
pub use reference::{Reference, Step};
