//! Acquirers: the parties that authorize, capture, void and refund payments.

mod balance;
mod calls;
mod connector;
mod reference;
mod requests;
pub mod security_codes;

pub use balance::{BalanceChange, BalancePage, ListedBalance};
pub use calls::{
    Acquirer, AcquirerAnswer, AcquirerUnavailable, Awaited, CallAnswer, CallDone, LateAnswer, LateAnswers, LookedUp,
    Prepared, UnansweredOutcome,
};
pub use connector::{AccountSecrets, Connector, Connectors, Notice, NoticeRefused};
pub use reference::{NamedCall, PaymentStep, UnknownReference};
pub use requests::{
    AcquirerCall, AuthorizeRequest, CancelRequest, EvidenceRequest, FollowUpRequest, Instrument, PayoutRequest,
    ReturnPath,
};
pub use till_domain::command::{ApprovedAuthorization, MovedMoney};
pub use till_domain::preparation::Preparation;
