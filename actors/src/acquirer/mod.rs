//! Acquirers: the parties that authorize, capture, void and refund payments.

mod calls;
pub mod conformance;
mod reference;
pub mod security_codes;

pub use calls::{
    Acquirer, AcquirerAnswer, AcquirerUnavailable, AuthorizeRequest, Awaited, CancelRequest, Completion,
    EvidenceRequest, FollowUpRequest, FoundCall, Instrument, LateAnswer, LateAnswers, PayoutRequest, ReturnPath,
};
pub use reference::{NamedCall, PaymentStep, Reference, UnknownReference};
