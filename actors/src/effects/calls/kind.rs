//! The trait of a kind of call.

use till_domain::command::Command;
use till_domain::ids::MerchantId;

use super::sources::{CallSources, NoResult, OpenRows};
use crate::acquirer::{AcquirerCall, CallAnswer, NamedCall};

/// A kind of call to an acquirer: what each open call of it asks for, and what follows from an answer.
pub(crate) trait CallKind: Sync {
    /// The call that carries an open call out; none for an open call of another kind.
    fn plan(&self, sources: &CallSources, merchant: MerchantId, open: &OpenRows) -> Planned;

    /// What follows from an answer to the call of this name; none for an answer to a call of another kind.
    fn judge(&self, merchant: MerchantId, name: NamedCall, answer: CallAnswer) -> Option<Judged>;
}

/// A planned call, or the row or secret that it needs and that cannot be read.
pub(crate) type Planned = Result<Option<PlannedCall>, NoResult>;

/// A call, ready to be made or looked up.
pub(crate) struct PlannedCall {
    pub(crate) call: AcquirerCall,
    /// Of a call that cannot be made any more: the command that records so, unless it was made before.
    pub(crate) unless_made: Option<Command>,
    /// True when its end may depend on the decision of a person, so that a test clock does not wait for it.
    pub(crate) may_await_decision: bool,
}

impl PlannedCall {
    /// A call that can be made, and that ends by itself.
    pub(super) const fn new(call: AcquirerCall) -> PlannedCall {
        PlannedCall { call, unless_made: None, may_await_decision: false }
    }
}

/// What follows from an answer.
pub(crate) enum Judged {
    /// The acquirer has prepared the call: it is made once this is recorded.
    Prepared(Command),
    /// The call ends with this record.
    Ended(Command),
    /// It stays open after this record, and waits for a customer, or for the result of a customer's action.
    AwaitsCustomer(Command),
    /// Nothing is recorded, and it stays open.
    Pending,
}
