//! A payout to a merchant's own bank account.

use till_domain::command::Command;
use till_domain::ids::MerchantId;

use super::follow_up::judge_moved;
use super::kind::{CallKind, Judged, Planned, PlannedCall};
use super::sources::{CallSources, OpenRows};
use crate::acquirer::{AcquirerCall, CallAnswer, NamedCall, PayoutRequest};

/// Calls of this kind.
pub(super) struct PayOut;

impl CallKind for PayOut {
    fn plan(&self, _: &CallSources, merchant: MerchantId, open: &OpenRows) -> Planned {
        let OpenRows::Payout(payout) = open else { return Ok(None) };
        let request = PayoutRequest { reference: NamedCall::Payout(payout.id), merchant, money: payout.money };
        let call = AcquirerCall::Payout(request);
        Ok(Some(PlannedCall { may_await_decision: true, ..PlannedCall::new(call) }))
    }

    fn judge(&self, _: MerchantId, name: NamedCall, answer: CallAnswer) -> Option<Judged> {
        let NamedCall::Payout(id) = name else { return None };
        judge_moved(answer, |result| Command::RecordPayout(id, result))
    }
}
