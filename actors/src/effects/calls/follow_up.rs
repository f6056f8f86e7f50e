//! What the calls that follow an authorization have in common.

use till_domain::command::{CallResult, Command};
use till_domain::ids::MerchantId;
use till_domain::money::{AmountMinor, Money};
use till_domain::payment::Payment;

use super::kind::Judged;
use super::sources::{NoResult, missing};
use crate::acquirer::{CallAnswer, CallDone, FollowUpRequest, NamedCall};

/// The request to change the authorization of a payment.
pub(super) fn follow_up(
    merchant: MerchantId,
    payment: &Payment,
    reference: NamedCall,
    amount: AmountMinor,
) -> Result<FollowUpRequest, NoResult> {
    let authorization = payment.authorization.as_ref().ok_or_else(|| missing("authorization"))?;
    Ok(FollowUpRequest {
        reference,
        acquirer_reference: authorization.acquirer_reference.clone(),
        merchant,
        payment: payment.id,
        money: Money { amount, currency: payment.money.currency },
    })
}

/// What follows from an answer to a call that moves money; none for an answer to another kind of call.
pub(super) fn judge_moved(answer: CallAnswer, record: impl FnOnce(CallResult) -> Command) -> Option<Judged> {
    let result = match answer {
        CallAnswer::Done(CallDone::Moved(moved)) => CallResult::Done(moved),
        CallAnswer::Declined { failure, authentication: _ } => CallResult::Declined(failure),
        CallAnswer::Pending(_) => return Some(Judged::Pending),
        CallAnswer::Done(_) | CallAnswer::NeedsAction(_) => return None,
    };
    Some(Judged::Ended(record(result)))
}
