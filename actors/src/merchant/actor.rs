//! The actor: decides against staged state, hands batches to the commit thread, never waits for the disk.

use actix::{Actor, AsyncContext, Context, Handler, Message};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use till_domain::command::Request;
use till_domain::decide::Outcome;
use till_domain::event::{Answer, Mutation, VaultWrite};
use till_domain::ids::MerchantId;
use till_domain::payment::Lifetimes;
use till_domain::refusal::Stop;
use till_storage::commit::{BarrierVerdict, Committer, Submission, Urgency};
use till_storage::journal::{Head, Verdict};
use till_storage::vault::Keyring;

use super::incarnation::Lane;
use super::staging::{PreparedBatch, Staging};
use super::submission::{Asker, Secret, Submit};
use crate::clock::{Clock, OsEntropy};
use crate::outbox::{Outbox, Pending};
use crate::registry::Registry;
use crate::reply::{Answered, Denied, FailedOutcome, Reply};
use crate::store::Store;

/// The shortest time between two checks that an actor is idle.
const IDLE_LOOK_MIN: Duration = Duration::from_millis(1);

/// The context that all actors share.
pub(crate) struct SharedContext {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) registry: std::sync::Weak<Registry>,
    pub(crate) idle_before_retiring: Duration,
    pub(crate) lifetimes: Lifetimes,
}

/// A loaded incarnation: its staged records, and the position up to which they are durable.
struct Incarnation {
    staging: Staging,
    lane: Arc<Lane>,
}

/// One merchant's actor.
pub(crate) struct MerchantActor {
    merchant_id: MerchantId,
    shared: Arc<SharedContext>,
    entropy: OsEntropy,
    incarnation: Option<Incarnation>,
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
        let interval = self.shared.idle_before_retiring.max(IDLE_LOOK_MIN);
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
            tracing::error!(merchant_id = %self.merchant_id, "a request panicked; its merchant is loaded anew");
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
        MerchantActor {
            merchant_id,
            shared,
            entropy: OsEntropy::default(),
            incarnation: None,
            last_used: Instant::now(),
        }
    }

    fn take_in(&mut self, submit: Submit) {
        let Submit { request, secret, asker } = submit;
        match self.ensure_loaded() {
            Ok(()) => self.carry_out(&request, secret.as_ref(), asker),
            Err(denied) => asker.answer(Err(denied)),
        }
    }

    /// Loads the merchant for the first time, or after a batch failed: then everything staged is void.
    fn ensure_loaded(&mut self) -> Result<(), Denied> {
        if self.incarnation.as_ref().is_some_and(|incarnation| incarnation.lane.is_poisoned()) {
            self.incarnation = None;
        }
        if self.incarnation.is_some() {
            return Ok(());
        }
        let SharedContext { store, keyring, .. } = self.shared.as_ref();
        let (staging, pending) = Staging::load(self.merchant_id, store, keyring).map_err(|error| {
            tracing::error!(merchant_id = %self.merchant_id, %error, "a merchant cannot be loaded");
            Denied::not_done(error.to_string())
        })?;
        let lane = Arc::new(Lane::new(staging.head().sequence));
        self.incarnation = Some(Incarnation { staging, lane });
        pending.send(&self.shared.outbox);
        Ok(())
    }

    /// Drops the staged records and releases the log: queued batches of this incarnation are not written any more.
    fn unload(&mut self) {
        if let Some(incarnation) = self.incarnation.take() {
            incarnation.staging.release();
        }
    }

    fn carry_out(&mut self, request: &Request, secret: Option<&Secret>, asker: Asker) {
        let Some(incarnation) = &mut self.incarnation else { return };
        incarnation.staging.records.prune(incarnation.lane.durable());
        match incarnation.staging.decide(request, self.shared.clock.now(), self.shared.lifetimes, &mut self.entropy) {
            Ok(Outcome::Effective { mutation, vault, answer }) => {
                self.stage_and_submit(&mutation, &vault, secret, Ready { answer, asker });
            }
            Ok(Outcome::Replayed(answer)) => {
                self.answer_when_durable(Ok(Answered { answer, replayed: true }), asker);
            }
            Ok(Outcome::Unchanged(answer)) => {
                self.answer_when_durable(Ok(Answered { answer, replayed: false }), asker);
            }
            Err(Stop::Refused(refusal)) => self.answer_when_durable(Err(refusal.into()), asker),
            Err(Stop::Unreadable(error)) => {
                tracing::error!(merchant_id = %self.merchant_id, %error, "a command needs a row that cannot be read");
                asker.answer(Err(Denied::not_done(error.to_string())));
            }
        }
    }

    /// Answers a request that changes nothing. When the answer rests on staged state, it waits for that state's turn.
    fn answer_when_durable(&self, decided: Reply, asker: Asker) {
        let Some(incarnation) = &self.incarnation else { return };
        if incarnation.lane.durable() == incarnation.staging.head().sequence && !incarnation.lane.is_poisoned() {
            return asker.answer(decided);
        }
        let (lane, urgency) = (Arc::clone(&incarnation.lane), asker.urgency);
        let completion = Box::new(move |verdict: BarrierVerdict| {
            // Everything decided before it has had its verdict: if one of those was uncertain, so is this.
            let passed = verdict == BarrierVerdict::Passed && !lane.is_poisoned();
            asker.answer(if passed { decided } else { basis_failed(&decided) });
        });
        let expected_head = incarnation.staging.head();
        let barrier = Submission::Barrier { merchant_id: self.merchant_id, expected_head, completion };
        self.submit(barrier, urgency);
    }

    /// Stages a decision and hands its batch to the commit thread, which answers.
    fn stage_and_submit(&mut self, mutation: &Mutation, vault: &[VaultWrite], secret: Option<&Secret>, ready: Ready) {
        let Some(incarnation) = &mut self.incarnation else { return };
        let PreparedBatch { append, changes } =
            match incarnation.staging.prepare(mutation, vault, secret, &mut self.entropy) {
                Ok(prepared) => prepared,
                Err(denied) => {
                    tracing::error!(merchant_id = %self.merchant_id, error = %denied, "a decision cannot be written");
                    return ready.asker.answer(Err(denied));
                }
            };
        let pending = Pending::of(self.merchant_id, mutation, &changes);
        let (head, urgency) = (append.new_head, ready.asker.urgency);
        let lane = Arc::clone(&incarnation.lane);
        let outbox = Arc::clone(&self.shared.outbox);
        let completion = Box::new(move |verdict: &Verdict| ready.complete(verdict, head, &lane, pending, &outbox));
        incarnation.staging.stage(mutation, changes, head);
        self.submit(Submission::Append { append, completion }, urgency);
    }

    fn submit(&self, submission: Submission, urgency: Urgency) {
        let Err(rejected) = self.shared.committer.submit(submission, urgency) else { return };
        let reason = rejected.because.to_string();
        match rejected.submission {
            Submission::Append { append: _, completion } => completion(&Verdict::Unavailable(reason)),
            Submission::Barrier { merchant_id: _, expected_head: _, completion } => {
                completion(BarrierVerdict::Unknown(reason));
            }
        }
    }

    /// Stops when no caller waits: it is unpublished first, in one step with the check for holders.
    fn retire(&mut self, context: &mut Context<Self>) {
        let settled = self.incarnation.as_ref().is_none_or(|incarnation| {
            incarnation.lane.durable() == incarnation.staging.head().sequence || incarnation.lane.is_poisoned()
        });
        let Some(registry) = self.shared.registry.upgrade() else { return };
        if settled && registry.unpublish_unheld(self.merchant_id, &context.address()) {
            self.unload();
            actix::ActorContext::stop(context);
        }
    }
}

/// An answer that waits for its batch.
struct Ready {
    answer: Answer,
    asker: Asker,
}

impl Ready {
    /// Called on the commit thread with the verdict on the batch.
    fn complete(self, verdict: &Verdict, head: Head, lane: &Lane, pending: Pending, outbox: &Outbox) {
        let reply = match verdict {
            Verdict::Committed(_) => {
                lane.advance(head.sequence);
                pending.send(outbox);
                Ok(Answered { answer: self.answer, replayed: false })
            }
            Verdict::Fenced | Verdict::Stale { durable: _ } => {
                lane.poison();
                Err(Denied::not_done("a write before it failed"))
            }
            Verdict::Unavailable(reason) => {
                lane.poison();
                Err(Denied::not_done(reason.clone()))
            }
            Verdict::Ambiguous(reason) => {
                lane.poison();
                Err(Denied::unknown(reason.clone()))
            }
        };
        self.asker.answer(reply);
    }
}

/// The answer in place of one that changes nothing, when a write that it rests on failed. A replayed answer becomes
/// unknown; a refusal did nothing in either case.
fn basis_failed(decided: &Reply) -> Reply {
    let outcome = if decided.is_ok() { FailedOutcome::Unknown } else { FailedOutcome::NotDone };
    Err(Denied::Unavailable { outcome, reason: "a write that the answer rests on failed".to_owned() })
}
