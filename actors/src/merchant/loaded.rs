//! A loaded merchant: carries requests out against staged state, and hands batches to the commit thread.

use std::sync::Arc;
use till_domain::decide::Outcome;
use till_domain::event::{Answer, Mutation, VaultWrite};
use till_domain::ids::MerchantId;
use till_domain::refusal::DecisionError;
use till_storage::commit::{BarrierVerdict, Submission, Urgency};
use till_storage::journal::{AppendVerdict, Head};

use super::context::SharedContext;
use super::reply::{Answered, Denied, FailedOutcome, Reply};
use super::staging::{PreparedBatch, Staging, StagingLoad};
use super::submission::{Requester, Submit};
use super::watermark::DurableWatermark;
use crate::clock::OsEntropy;
use crate::outbox::Pending;

/// A loaded merchant: its staged records, and the position up to which they are durable.
pub(super) struct LoadedMerchant {
    merchant_id: MerchantId,
    staging: Staging,
    watermark: Arc<DurableWatermark>,
    entropy: OsEntropy,
}

impl LoadedMerchant {
    /// The merchant of a load that has ended. Reads for requests wait for the disk until
    /// [`LoadedMerchant::may_wait`] says otherwise.
    pub(super) fn of(load: StagingLoad, shared: &SharedContext) -> LoadedMerchant {
        let merchant_id = load.merchant_id;
        let (staging, pending) = Staging::loaded(load, &shared.keyring);
        let watermark = Arc::new(DurableWatermark::new(staging.head().sequence));
        pending.send(merchant_id, &shared.outbox, &shared.counts);
        LoadedMerchant { merchant_id, staging, watermark, entropy: OsEntropy::default() }
    }

    /// Says if reads for requests may wait for the disk from now on.
    pub(super) fn may_wait(&self, may_wait: bool) {
        self.staging.rows.may_wait(may_wait);
    }

    /// True when a batch failed, so that everything staged is void.
    pub(super) fn is_void(&self) -> bool {
        self.watermark.is_poisoned()
    }

    /// True when everything that is staged is durable or void.
    pub(super) fn is_settled(&self) -> bool {
        self.is_durable() || self.is_void()
    }

    fn is_durable(&self) -> bool {
        self.watermark.durable() == self.staging.head().sequence
    }

    /// Drops the staged records and releases the log: queued batches of this session are not written any more.
    pub(super) fn release(self) {
        self.staging.release();
    }

    /// Carries a request out. Where reads must not wait and one would, nothing is done, and the request is returned.
    pub(super) fn carry_out(&mut self, submit: Submit, shared: &SharedContext) -> Result<(), Box<Submit>> {
        let may_use_reserve = submit.request.may_use_reserve();
        if !may_use_reserve && shared.store.is_short_of_space() {
            // Refused before it is staged, since a batch that is refused later voids those that were decided on it.
            submit.requester.answer(Err(Denied::not_done("the disk is down to its reserve")));
            return Ok(());
        }
        self.staging.records.prune(self.watermark.durable());
        let decided = self.staging.decide(&submit.request, shared.clock.now(), shared.lifetimes, &mut self.entropy);
        if self.staging.rows.take_missed() {
            return Err(Box::new(submit));
        }
        match decided {
            Ok(Outcome::Effective { mutation, vault, answer }) => {
                return self.stage_and_submit(&mutation, &vault, answer, submit, shared);
            }
            Ok(Outcome::Replayed(answer)) => {
                self.answer_when_durable(Ok(Answered { answer, replayed: true }), submit.requester, shared);
            }
            Ok(Outcome::Unchanged(answer)) => {
                self.answer_when_durable(Ok(Answered { answer, replayed: false }), submit.requester, shared);
            }
            Err(DecisionError::Refused(refusal)) => {
                self.answer_when_durable(Err(refusal.into()), submit.requester, shared);
            }
            Err(DecisionError::Unreadable(error)) => {
                tracing::error!(merchant_id = %self.merchant_id, %error, "a command needs a row that cannot be read");
                submit.requester.answer(Err(Denied::not_done(error.to_string())));
            }
        }
        Ok(())
    }

    /// Answers a request that changes nothing. When the answer rests on staged state, it waits for that state's turn.
    fn answer_when_durable(&self, decided: Reply, requester: Requester, shared: &SharedContext) {
        if self.is_durable() && !self.is_void() {
            return requester.answer(decided);
        }
        let (watermark, urgency) = (Arc::clone(&self.watermark), requester.urgency);
        let completion = Box::new(move |verdict: BarrierVerdict| {
            // Everything decided before it has had its verdict: if one of those was uncertain, so is this.
            let passed = verdict == BarrierVerdict::Passed && !watermark.is_poisoned();
            requester.answer(if passed { decided } else { basis_failed(&decided) });
        });
        let expected_head = self.staging.head();
        let barrier = Submission::Barrier { merchant_id: self.merchant_id, expected_head, completion };
        submit_to_commit_thread(shared, barrier, urgency);
    }

    /// Stages a decision and hands its batch to the commit thread, which answers.
    fn stage_and_submit(
        &mut self,
        mutation: &Mutation,
        vault: &[VaultWrite],
        answer: Answer,
        submit: Submit,
        shared: &SharedContext,
    ) -> Result<(), Box<Submit>> {
        let prepared = self.staging.prepare(mutation, vault, submit.secret.as_ref(), &mut self.entropy);
        if self.staging.rows.take_missed() {
            return Err(Box::new(submit));
        }
        let may_use_reserve = submit.request.may_use_reserve();
        let PreparedBatch { mut append, changes } = match prepared {
            Ok(prepared) => prepared,
            Err(denied) => {
                tracing::error!(merchant_id = %self.merchant_id, error = %denied, "a decision cannot be written");
                submit.requester.answer(Err(denied));
                return Ok(());
            }
        };
        append.may_use_reserve = may_use_reserve;
        let pending = Pending::of(self.merchant_id, mutation, &changes);
        let (head, urgency) = (append.new_head, submit.requester.urgency);
        let watermark = Arc::clone(&self.watermark);
        let (outbox, counts) = (Arc::clone(&shared.outbox), Arc::clone(&shared.counts));
        let merchant_id = self.merchant_id;
        let committed = move || pending.send(merchant_id, &outbox, &counts);
        let ready = Ready { answer, requester: submit.requester };
        let completion = Box::new(move |verdict: &AppendVerdict| ready.complete(verdict, head, &watermark, committed));
        self.staging.stage(mutation, changes, &append);
        submit_to_commit_thread(shared, Submission::Append { append, completion }, urgency);
        Ok(())
    }
}

fn submit_to_commit_thread(shared: &SharedContext, submission: Submission, urgency: Urgency) {
    let Err(rejected) = shared.committer.submit(submission, urgency) else { return };
    let reason = rejected.because.to_string();
    match rejected.submission {
        Submission::Append { append: _, completion } => completion(&AppendVerdict::Unavailable(reason)),
        Submission::Barrier { merchant_id: _, expected_head: _, completion } => {
            completion(BarrierVerdict::Unknown(reason));
        }
    }
}

/// An answer that waits for its batch.
struct Ready {
    answer: Answer,
    requester: Requester,
}

impl Ready {
    /// Called on the commit thread with the verdict on the batch.
    fn complete(self, verdict: &AppendVerdict, head: Head, watermark: &DurableWatermark, committed: impl FnOnce()) {
        let reply = match verdict {
            AppendVerdict::Committed(_) => {
                watermark.advance(head.sequence);
                committed();
                Ok(Answered { answer: self.answer, replayed: false })
            }
            AppendVerdict::Fenced | AppendVerdict::Stale { durable: _ } => {
                watermark.poison();
                Err(Denied::not_done("a write before it failed"))
            }
            AppendVerdict::Unavailable(reason) => {
                watermark.poison();
                Err(Denied::not_done(reason.clone()))
            }
            AppendVerdict::Unknown(reason) | AppendVerdict::Ambiguous(reason) => {
                watermark.poison();
                Err(Denied::unknown(reason.clone()))
            }
        };
        self.requester.answer(reply);
    }
}

/// The answer in place of one that changes nothing, when a write that it rests on failed. A replayed answer becomes
/// unknown; a refusal did nothing in either case.
fn basis_failed(decided: &Reply) -> Reply {
    let outcome = if decided.is_ok() { FailedOutcome::Unknown } else { FailedOutcome::NotDone };
    Err(Denied::Unavailable { outcome, reason: "a write that the answer rests on failed".to_owned() })
}
