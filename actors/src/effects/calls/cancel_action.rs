//! The cancellation of the action of a payment that ended before its customer acted.

use till_domain::command::{Cancellation, Command};
use till_domain::effect::EffectKind;
use till_domain::ids::MerchantId;
use till_domain::payment::PaymentStatus;

use super::kind::{CallKind, Judged, Planned, PlannedCall};
use super::sources::{CallSources, OpenRows};
use crate::acquirer::{AcquirerCall, CallAnswer, CallDone, CancelRequest, NamedCall, PaymentStep};

/// Calls of this kind.
pub(super) struct CancelAction;

impl CallKind for CancelAction {
    fn plan(&self, sources: &CallSources, merchant: MerchantId, open: &OpenRows) -> Planned {
        let Some(payment) = open.payment_for(EffectKind::CancelAction) else { return Ok(None) };
        let request = CancelRequest {
            reference: NamedCall::first(payment.id, PaymentStep::Cancel),
            merchant,
            payment: payment.id,
            money: payment.money,
            deadline_passed: payment.status == PaymentStatus::Expired,
            prepared: sources.preparation(merchant, payment.id)?,
        };
        Ok(Some(PlannedCall::new(AcquirerCall::Cancel(request))))
    }

    fn judge(&self, _: MerchantId, name: NamedCall, answer: CallAnswer) -> Option<Judged> {
        let NamedCall::Payment { payment, .. } = name else { return None };
        let cancellation = match answer {
            CallAnswer::Done(CallDone::Canceled) => Cancellation::Canceled,
            CallAnswer::Done(CallDone::Approved(approved)) => Cancellation::TooLate(approved),
            CallAnswer::Pending(_) => return Some(Judged::Pending),
            CallAnswer::Done(_) | CallAnswer::Declined { .. } | CallAnswer::NeedsAction(_) => return None,
        };
        Some(Judged::Ended(Command::RecordCancellation(payment, cancellation)))
    }
}
