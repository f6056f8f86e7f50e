//! The operations of a payment after its authorization: the capture of it or of a part; the void of it, because it was
//! asked for or because the authorization lapsed; the reversal of a capture, a full refund under a name of its own.

use till_domain::command::{Command, RecordOperation};
use till_domain::ids::MerchantId;
use till_domain::payment::OperationKind;

use super::follow_up::{follow_up, judge_moved};
use super::kind::{CallKind, Judged, Planned, PlannedCall};
use super::sources::{CallSources, OpenRows};
use crate::acquirer::{AcquirerCall, CallAnswer, NamedCall, PaymentStep};

/// Calls of one of these kinds. A payment that has no record of its operation is gone on to another state: then it is
/// the first attempt, of the whole amount.
pub(super) struct PaymentOperation(pub(super) OperationKind);

impl CallKind for PaymentOperation {
    fn plan(&self, _: &CallSources, merchant: MerchantId, open: &OpenRows) -> Planned {
        let Some(payment) = open.payment_for(self.0.effect_kind()) else { return Ok(None) };
        let operation = payment.operation.as_ref();
        let (amount, attempt) = operation.map_or((payment.money.amount, 1), |open| (open.amount, open.attempt));
        let (step, call): (_, fn(_) -> _) = match self.0 {
            OperationKind::Capture => (PaymentStep::Capture, AcquirerCall::Capture),
            OperationKind::Void => (PaymentStep::Void, AcquirerCall::Void),
            OperationKind::Reverse => (PaymentStep::Reverse, AcquirerCall::Refund),
        };
        let reference = NamedCall::Payment { payment: payment.id, step, attempt };
        Ok(Some(PlannedCall::new(call(follow_up(merchant, payment, reference, amount)?))))
    }

    fn judge(&self, _: MerchantId, name: NamedCall, answer: CallAnswer) -> Option<Judged> {
        let NamedCall::Payment { payment: payment_id, step: _, attempt } = name else { return None };
        let kind = self.0;
        judge_moved(answer, |result| Command::RecordOperation(RecordOperation { payment_id, kind, attempt, result }))
    }
}
