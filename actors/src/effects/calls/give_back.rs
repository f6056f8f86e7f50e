//! The return of the money of a payment that had ended before the acquirer authorized it.

use till_domain::command::{CallResult, Command};
use till_domain::effect::EffectKind;
use till_domain::ids::MerchantId;

use super::follow_up::{follow_up, judge_moved};
use super::kind::{CallKind, Judged, Planned, PlannedCall};
use super::sources::{CallSources, OpenRows};
use crate::acquirer::{AcquirerCall, CallAnswer, NamedCall, PaymentStep};

/// Calls that return money: of an authorization that was captured, or of one that was not.
pub(super) enum GiveBack {
    /// It was not captured.
    Authorized,
    /// It was captured.
    Captured,
}

impl CallKind for GiveBack {
    fn plan(&self, _: &CallSources, merchant: MerchantId, open: &OpenRows) -> Planned {
        let (kind, step, call): (_, _, fn(_) -> _) = match self {
            GiveBack::Authorized => (EffectKind::VoidLate, PaymentStep::Void, AcquirerCall::Void),
            GiveBack::Captured => (EffectKind::RefundLate, PaymentStep::Reverse, AcquirerCall::Refund),
        };
        let Some(payment) = open.payment_for(kind) else { return Ok(None) };
        let reference = NamedCall::first(payment.id, step);
        Ok(Some(PlannedCall::new(call(follow_up(merchant, payment, reference, payment.money.amount)?))))
    }

    fn judge(&self, merchant_id: MerchantId, name: NamedCall, answer: CallAnswer) -> Option<Judged> {
        let NamedCall::Payment { payment: payment_id, .. } = name else { return None };
        judge_moved(answer, |result| {
            if let CallResult::Declined(failure) = &result {
                let failure_code = failure.code.name();
                tracing::error!(%merchant_id, %payment_id, failure_code, "an acquirer keeps the money of a payment \
                    that had ended");
            }
            Command::RecordGivenBack(payment_id, result)
        })
    }
}
