//! Answers that acquirers send by themselves.

use std::sync::Arc;
use till_domain::command::Command;
use till_domain::effect::EffectId;
use till_domain::open_call::OpenCall;
use tokio::sync::mpsc::Receiver;

use super::call::late_answer;
use super::runner::awaits_customer;
use crate::acquirer::LateAnswer;
use crate::merchant::{Admission, Registry};

/// Limit of the answers that wait to be recorded. Further ones are dropped: their calls are repeated while they are
/// open.
pub(crate) const LATE_ANSWERS_WAITING_MAX: usize = 1_024;

/// Records answers, one after the other, until no acquirer is left. An answer for a call that has ended changes
/// nothing.
pub(crate) async fn record_late_answers(mut answers: Receiver<LateAnswer>, registry: Arc<Registry>) {
    while let Some(LateAnswer { merchant, reference, found }) = answers.recv().await {
        let Some(command) = late_answer(&reference, found) else {
            tracing::warn!(merchant_id = %merchant, reference, "an acquirer sent an answer that belongs to none of \
                our calls");
            continue;
        };
        let settled = settled_authorization(&command);
        if let Err(reason) = registry.carry_out(merchant, command, Admission::Always).await {
            tracing::warn!(merchant_id = %merchant, reference, %reason, "a late answer was not recorded");
        } else if let Some(call) = settled {
            // Its turn in the queue is up to half a minute away: until then it would count as open.
            registry.shared().outbox.effects.add(merchant, call, None);
        }
    }
}

/// The call for an authorization that waits for nothing any more.
fn settled_authorization(command: &Command) -> Option<OpenCall> {
    match command {
        Command::RecordAuthorization(id, _) if !awaits_customer(command) => {
            Some(OpenCall::Payment(EffectId::operation(*id)))
        }
        _ => None,
    }
}
