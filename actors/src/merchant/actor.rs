//! The actor: decides against staged state, hands batches to the commit thread, never waits for the disk.

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use till_domain::command::Request;
use till_domain::decide::Outcome;
use till_domain::event::{Answer, Mutation, VaultWrite};
use till_domain::ids::MerchantId;
use till_domain::payment::Lifetimes;
use till_domain::refusal::DecisionError;
use till_storage::commit::{BarrierVerdict, Committer, Submission, Urgency};
use till_storage::journal::{AppendVerdict, Head};
use till_storage::vault::Keyring;

use super::reply::{Answered, Denied, FailedOutcome, Reply};
use super::staging::{PreparedBatch, Staging};
use super::submission::{Requester, Secret, Submit};
use super::watermark::DurableWatermark;
use crate::clock::{Clock, MerchantClocks, OsEntropy};
use crate::counts::Counts;
use crate::outbox::{Outbox, Pending};
use crate::store::Store;

/// The shortest time between two checks that an actor is idle.
const IDLE_CHECK_MIN: Duration = Duration::from_millis(1);

/// Removes an idle actor from the registry. Returns true when no message can reach the actor any more.
pub(crate) type Unpublish = Box<dyn Fn(MerchantId, &Addr<MerchantActor>) -> bool + Send + Sync>;

/// The context that all actors share.
pub(crate) struct SharedContext {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) committer: Committer,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) clocks: Arc<MerchantClocks>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) unpublish: Unpublish,
    pub(crate) idle_before_retiring: Duration,
    pub(crate) lifetimes: Lifetimes,
}

/// A loaded merchant: its staged records, and the position up to which they are durable.
struct LoadedMerchant {
    staging: Staging,
    watermark: Arc<DurableWatermark>,
}

/// One merchant's actor.
pub(crate) struct MerchantActor {
    merchant_id: MerchantId,
    shared: Arc<SharedContext>,
    entropy: OsEntropy,
    loaded: Option<LoadedMerchant>,
    last_used: Instant,
}

/// A hint that room is needed: an idle actor retires at once.
#[derive(Debug)]
pub(crate) struct Retire;

impl Message for Retire {
    type Result = ();
}

impl Actor for MerchantActor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        let interval = self.shared.idle_before_retiring.max(IDLE_CHECK_MIN);
        context.run_interval(interval, |actor, context| {
            if actor.last_used.elapsed() >= actor.shared.idle_before_retiring {
                actor.retire(context);
            }
        });
    }
}

impl Handler<Submit> for MerchantActor {
    type Result = ();

    fn handle(&mut self, submit: Submit, _: &mut Context<Self>) {
        self.last_used = Instant::now();
        // A panic ends the request that caused it, whose caller is told that the outcome is unknown, and everything
        // staged; it never ends the actor, to which others hold references.
        if catch_unwind(AssertUnwindSafe(|| self.take_in(submit))).is_err() {
            tracing::error!(merchant_id = %self.merchant_id, "a request panicked; its merchant is loaded again");
            self.unload();
        }
    }
}

impl Handler<Retire> for MerchantActor {
    type Result = ();

    fn handle(&mut self, _: Retire, context: &mut Context<Self>) {
        self.retire(context);
    }
}

impl MerchantActor {
    pub(crate) fn new(merchant_id: MerchantId, shared: Arc<SharedContext>) -> MerchantActor {
        MerchantActor { merchant_id, shared, entropy: OsEntropy::default(), loaded: None, last_used: Instant::now() }
    }

    fn take_in(&mut self, submit: Submit) {
        let Submit { request, secret, requester } = submit;
        match self.ensure_loaded() {
            Ok(()) => self.carry_out(&request, secret.as_ref(), requester),
            Err(denied) => requester.answer(Err(denied)),
        }
    }

    /// Loads the merchant for the first time, or after a batch failed: then everything staged is void.
    fn ensure_loaded(&mut self) -> Result<(), Denied> {
        if self.loaded.as_ref().is_some_and(|loaded| loaded.watermark.is_poisoned()) {
            self.loaded = None;
        }
        if self.loaded.is_some() {
            return Ok(());
        }
        let SharedContext { store, keyring, .. } = self.shared.as_ref();
        let (staging, pending) = Staging::load(self.merchant_id, store, keyring).map_err(|error| {
            tracing::error!(merchant_id = %self.merchant_id, %error, "a merchant cannot be loaded");
            Denied::not_done(error.to_string())
        })?;
        let watermark = Arc::new(DurableWatermark::new(staging.head().sequence));
        self.loaded = Some(LoadedMerchant { staging, watermark });
        pending.send(self.merchant_id, &self.shared.outbox, &self.shared.counts);
        Ok(())
    }

    /// Drops the staged records and releases the log: queued batches of this session are not written any more.
    fn unload(&mut self) {
        if let Some(loaded) = self.loaded.take() {
            loaded.staging.release();
        }
    }

    fn carry_out(&mut self, request: &Request, secret: Option<&Secret>, requester: Requester) {
        let Some(loaded) = &mut self.loaded else { return };
        let may_use_reserve = request.may_use_reserve();
        if !may_use_reserve && self.shared.store.is_short_of_space() {
            // Refused before it is staged, since a batch that is refused later voids those that were decided on it.
            return requester.answer(Err(Denied::not_done("the disk is down to its reserve")));
        }
        loaded.staging.records.prune(loaded.watermark.durable());
        match loaded.staging.decide(request, self.shared.clock.now(), self.shared.lifetimes, &mut self.entropy) {
            Ok(Outcome::Effective { mutation, vault, answer }) => {
                self.stage_and_submit(&mutation, &vault, secret, Ready { answer, may_use_reserve, requester });
            }
            Ok(Outcome::Replayed(answer)) => {
                self.answer_when_durable(Ok(Answered { answer, replayed: true }), requester);
            }
            Ok(Outcome::Unchanged(answer)) => {
                self.answer_when_durable(Ok(Answered { answer, replayed: false }), requester);
            }
            Err(DecisionError::Refused(refusal)) => self.answer_when_durable(Err(refusal.into()), requester),
            Err(DecisionError::Unreadable(error)) => {
                tracing::error!(merchant_id = %self.merchant_id, %error, "a command needs a row that cannot be read");
                requester.answer(Err(Denied::not_done(error.to_string())));
            }
        }
    }

    /// Answers a request that changes nothing. When the answer rests on staged state, it waits for that state's turn.
    fn answer_when_durable(&self, decided: Reply, requester: Requester) {
        let Some(loaded) = &self.loaded else { return };
        if loaded.watermark.durable() == loaded.staging.head().sequence && !loaded.watermark.is_poisoned() {
            return requester.answer(decided);
        }
        let (watermark, urgency) = (Arc::clone(&loaded.watermark), requester.urgency);
        let completion = Box::new(move |verdict: BarrierVerdict| {
            // Everything decided before it has had its verdict: if one of those was uncertain, so is this.
            let passed = verdict == BarrierVerdict::Passed && !watermark.is_poisoned();
            requester.answer(if passed { decided } else { basis_failed(&decided) });
        });
        let expected_head = loaded.staging.head();
        let barrier = Submission::Barrier { merchant_id: self.merchant_id, expected_head, completion };
        self.submit(barrier, urgency);
    }

    /// Stages a decision and hands its batch to the commit thread, which answers.
    fn stage_and_submit(&mut self, mutation: &Mutation, vault: &[VaultWrite], secret: Option<&Secret>, ready: Ready) {
        let Some(loaded) = &mut self.loaded else { return };
        let PreparedBatch { mut append, changes } =
            match loaded.staging.prepare(mutation, vault, secret, &mut self.entropy) {
                Ok(prepared) => prepared,
                Err(denied) => {
                    tracing::error!(merchant_id = %self.merchant_id, error = %denied, "a decision cannot be written");
                    return ready.requester.answer(Err(denied));
                }
            };
        append.may_use_reserve = ready.may_use_reserve;
        let pending = Pending::of(self.merchant_id, mutation, &changes);
        let (head, urgency) = (append.new_head, ready.requester.urgency);
        let watermark = Arc::clone(&loaded.watermark);
        let (outbox, counts) = (Arc::clone(&self.shared.outbox), Arc::clone(&self.shared.counts));
        let merchant_id = self.merchant_id;
        let committed = move || pending.send(merchant_id, &outbox, &counts);
        let completion = Box::new(move |verdict: &AppendVerdict| ready.complete(verdict, head, &watermark, committed));
        loaded.staging.stage(mutation, changes, head);
        self.submit(Submission::Append { append, completion }, urgency);
    }

    fn submit(&self, submission: Submission, urgency: Urgency) {
        let Err(rejected) = self.shared.committer.submit(submission, urgency) else { return };
        let reason = rejected.because.to_string();
        match rejected.submission {
            Submission::Append { append: _, completion } => completion(&AppendVerdict::Unavailable(reason)),
            Submission::Barrier { merchant_id: _, expected_head: _, completion } => {
                completion(BarrierVerdict::Unknown(reason));
            }
        }
    }

    /// Stops when no caller waits: it is unpublished first, in one step with the check for holders.
    fn retire(&mut self, context: &mut Context<Self>) {
        let settled = self.loaded.as_ref().is_none_or(|loaded| {
            loaded.watermark.durable() == loaded.staging.head().sequence || loaded.watermark.is_poisoned()
        });
        if settled && (self.shared.unpublish)(self.merchant_id, &context.address()) {
            self.unload();
            actix::ActorContext::stop(context);
        }
    }
}

/// An answer that waits for its batch.
struct Ready {
    answer: Answer,
    /// True when its batch may be written while the disk is down to its reserve.
    may_use_reserve: bool,
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
            AppendVerdict::Ambiguous(reason) => {
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
