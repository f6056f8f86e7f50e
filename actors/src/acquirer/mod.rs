//! Acquirers: the parties that authorize, capture, void and refund payments.

mod calls;
pub mod conformance;
mod reference;
mod requests;
pub mod security_codes;

pub use calls::{
    Acquirer, AcquirerAnswer, AcquirerUnavailable, ApprovedAuthorization, Awaited, CallAnswer, CallDone, LateAnswer,
    LateAnswers, LookedUp, MovedMoney, UnansweredOutcome,
};
pub use reference::{NamedCall, PaymentStep, Reference, UnknownReference};
pub use requests::{
    AcquirerCall, AuthorizeRequest, CancelRequest, EvidenceRequest, FollowUpRequest, Instrument, PayoutRequest,
    ReturnPath,
};
