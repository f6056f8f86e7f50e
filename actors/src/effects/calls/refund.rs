//! A refund of a payment.

use till_domain::command::Command;
use till_domain::effect::EffectKind;
use till_domain::ids::MerchantId;
use till_domain::records::{Refunds, Rows};

use super::follow_up::{follow_up, judge_moved};
use super::kind::{CallKind, Judged, Planned, PlannedCall};
use super::sources::{CallSources, OpenRows, missing};
use crate::acquirer::{AcquirerCall, CallAnswer, NamedCall, PaymentStep};

/// Calls of this kind.
pub(super) struct Refund;

impl CallKind for Refund {
    fn plan(&self, sources: &CallSources, merchant: MerchantId, open: &OpenRows) -> Planned {
        let OpenRows::Payment(effect, payment) = open else { return Ok(None) };
        let EffectKind::Refund(id) = effect.kind else { return Ok(None) };
        let refund = sources.reader(merchant).get::<Refunds>(id)?.ok_or_else(|| missing("refund"))?;
        let reference = NamedCall::first(payment.id, PaymentStep::Refund(id));
        let call = AcquirerCall::Refund(follow_up(merchant, payment, reference, refund.money.amount)?);
        Ok(Some(PlannedCall { may_await_decision: true, ..PlannedCall::new(call) }))
    }

    fn judge(&self, _: MerchantId, name: NamedCall, answer: CallAnswer) -> Option<Judged> {
        let NamedCall::Payment { step: PaymentStep::Refund(id), .. } = name else { return None };
        judge_moved(answer, |result| Command::RecordRefund(id, result))
    }
}
