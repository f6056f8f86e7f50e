//! Answers that acquirers send by themselves.

use std::sync::Arc;
use till_domain::ids::MerchantId;
use tokio::sync::mpsc::Receiver;

use super::caller::AcquirerCaller;
use super::calls::{Judged, kind_of_late_answer};
use crate::acquirer::{CallAnswer, LateAnswer, NamedCall};
use crate::background::WorkError;
use crate::merchant::{Admission, Registry};

/// Limit of the answers that wait to be recorded. Further ones are dropped: their calls are looked up while they are
/// open.
pub(crate) const LATE_ANSWERS_WAITING_MAX: usize = 1_024;

/// Records answers, one after the other, until no acquirer is left. An answer for a call that has ended changes
/// nothing.
pub(crate) async fn record_late_answers(
    mut answers: Receiver<LateAnswer>,
    caller: Arc<AcquirerCaller>,
    registry: Arc<Registry>,
) {
    while let Some(LateAnswer { merchant, reference, answer }) = answers.recv().await {
        let Ok(name) = reference.parse::<NamedCall>() else {
            tracing::warn!(merchant_id = %merchant, reference, "an acquirer sent an answer that belongs to none of \
                our calls");
            continue;
        };
        if let Err(reason) = record(&caller, &registry, merchant, name, answer).await {
            tracing::warn!(merchant_id = %merchant, reference, %reason, "a late answer was not recorded");
        }
    }
}

async fn record(
    caller: &AcquirerCaller,
    registry: &Registry,
    merchant: MerchantId,
    name: NamedCall,
    answer: CallAnswer,
) -> Result<(), WorkError> {
    let Some(kind) = kind_of_late_answer(&caller.sources, merchant, name)? else { return Ok(()) };
    let (command, has_ended) = match kind.judge(merchant, name, answer) {
        Some(Judged::Ended(command)) => (command, true),
        Some(Judged::AwaitsCustomer(command)) => (command, false),
        Some(Judged::Prepared(_) | Judged::Pending) | None => return Ok(()),
    };
    registry.carry_out(merchant, command, Admission::Always).await?;
    if has_ended {
        // Its turn in the queue may be an hour away: until then it would count as open.
        registry.shared().outbox.effects.add(merchant, name.open_call(), None);
    }
    Ok(())
}
