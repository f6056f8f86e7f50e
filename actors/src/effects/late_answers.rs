//! Answers that acquirers send by themselves.

use std::sync::Arc;
use tokio::sync::mpsc::Receiver;

use super::call::late_answer;
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
            tracing::warn!(merchant_id = %merchant, reference, "an acquirer sent an answer that belongs to none of our calls");
            continue;
        };
        if let Err(reason) = registry.carry_out(merchant, command, Admission::Always).await {
            tracing::warn!(merchant_id = %merchant, reference, %reason, "a late answer was not recorded");
        }
    }
}
