//! Answers of acquirers that nobody asked for.

use std::sync::Arc;
use tokio::sync::mpsc::Receiver;

use super::call::late_answer;
use crate::acquirer::LateAnswer;
use crate::registry::{Admission, Registry};

/// Answers that may wait to be recorded. More are dropped: what they are about is asked for again as long as it is open.
pub(crate) const LATE_ANSWERS_WAITING_MAX: usize = 1_024;

/// Records answers, each in its turn, until no acquirer is left. One for a call that has ended changes nothing.
pub(crate) async fn record_late_answers(mut answers: Receiver<LateAnswer>, registry: Arc<Registry>) {
    while let Some(LateAnswer { merchant, reference, found }) = answers.recv().await {
        let Some(command) = late_answer(&reference, found) else {
            tracing::warn!(merchant_id = %merchant, reference, "an acquirer answered by itself, but no call of ours");
            continue;
        };
        if let Err(reason) = registry.carry_out(merchant, command, Admission::Always).await {
            tracing::warn!(merchant_id = %merchant, reference, %reason, "a late answer was not recorded");
        }
    }
}
