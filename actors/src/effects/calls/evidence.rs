//! The evidence of a merchant in a dispute.

use till_domain::command::Command;
use till_domain::ids::MerchantId;

use super::kind::{CallKind, Judged, Planned, PlannedCall};
use super::sources::{CallSources, OpenRows, missing};
use crate::acquirer::{AcquirerCall, CallAnswer, CallDone, EvidenceRequest, NamedCall};

/// Calls of this kind.
pub(super) struct SubmitEvidence;

impl CallKind for SubmitEvidence {
    fn plan(&self, _: &CallSources, merchant: MerchantId, open: &OpenRows) -> Planned {
        let OpenRows::Evidence(dispute, payment) = open else { return Ok(None) };
        let authorization = payment.authorization.as_ref();
        let request = EvidenceRequest {
            reference: NamedCall::Evidence(dispute.id),
            acquirer_reference: authorization.ok_or_else(|| missing("authorization"))?.acquirer_reference.clone(),
            merchant,
            evidence: dispute.evidence.clone().ok_or_else(|| missing("evidence"))?,
        };
        Ok(Some(PlannedCall::new(AcquirerCall::Evidence(request))))
    }

    fn judge(&self, _: MerchantId, name: NamedCall, answer: CallAnswer) -> Option<Judged> {
        let NamedCall::Evidence(id) = name else { return None };
        match answer {
            CallAnswer::Done(CallDone::EvidenceTaken(result)) => {
                Some(Judged::Ended(Command::RecordEvidence(id, result)))
            }
            CallAnswer::Pending(_) => Some(Judged::Pending),
            CallAnswer::Done(_) | CallAnswer::Declined { .. } | CallAnswer::NeedsAction(_) => None,
        }
    }
}
