//! The table of all kinds.

use till_domain::ids::MerchantId;
use till_domain::payment::OperationKind;

use super::authorize::Authorize;
use super::cancel_action::CancelAction;
use super::evidence::SubmitEvidence;
use super::give_back::GiveBack;
use super::kind::{CallKind, PlannedCall};
use super::operation::PaymentOperation;
use super::payout::PayOut;
use super::refund::Refund;
use super::sources::{CallSources, NoResult, OpenRows};
use crate::acquirer::{NamedCall, PaymentStep};

/// All kinds, with their words. Each open call is of one of them.
static KINDS: [(&str, &dyn CallKind); 10] = [
    ("authorize", &Authorize),
    ("cancel", &CancelAction),
    ("capture", &PaymentOperation(OperationKind::Capture)),
    ("void", &PaymentOperation(OperationKind::Void)),
    ("reverse", &PaymentOperation(OperationKind::Reverse)),
    ("refund", &Refund),
    ("void_late", &GiveBack::Authorized),
    ("refund_late", &GiveBack::Captured),
    ("payout", &PayOut),
    ("evidence", &SubmitEvidence),
];

/// The words of all kinds of calls to acquirers.
pub fn call_kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(word, _)| *word)
}

/// The call that carries an open call out, and its kind.
pub(crate) fn plan(
    sources: &CallSources,
    merchant: MerchantId,
    open: &OpenRows,
) -> Result<(&'static dyn CallKind, PlannedCall), NoResult> {
    for (_, kind) in KINDS {
        if let Some(planned) = kind.plan(sources, merchant, open)? {
            return Ok((kind, planned));
        }
    }
    Err(NoResult::Unreadable("the call is of no kind".to_owned()))
}

/// The kind of a call that an acquirer answered by itself; none when it is not open any more. An authorization is
/// judged even then: its money is given back.
pub(crate) fn kind_of_late_answer(
    sources: &CallSources,
    merchant: MerchantId,
    name: NamedCall,
) -> Result<Option<&'static dyn CallKind>, NoResult> {
    if matches!(name, NamedCall::Payment { step: PaymentStep::Authorize, .. }) {
        return Ok(Some(&Authorize));
    }
    let Some(open) = sources.open(merchant, name.open_call())? else { return Ok(None) };
    let (kind, planned) = plan(sources, merchant, &open)?;
    Ok((planned.call.reference() == name).then_some(kind))
}
