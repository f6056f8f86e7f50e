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
use till_domain::refusal::DecisionError;
use till_storage::commit::{BarrierVerdict, Committer, Submission, Urgency};
use till_storage::journal::{AppendVerdict, Head};
use till_storage::vault::Keyring;

use super::incarnation::Lane;
use super::staging::{Prepared, Staging};
use super::submission::{Asker, Secret, Submit};
use crate::clock::{Clock, OsEntropy};
use crate::outbox::{Outbox, Pending};
use crate::registry::Registry;
use crate::reply::{Answered, Denied, FailedOutcome, Reply};
use crate::store::Store;

/// The shortest time between two looks at whether an actor is idle.
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

/// A loaded incarnation: what is staged, and how far it is durable.
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
        // A fault costs the request that met it, whose caller is told that it is not known, and what is staged;
        // never the actor, which others hold on to.
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

    /// Loads the merchant, for the first time or after a batch failed: then everything staged is void.
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

    /// Forgets what is staged and gives the log up: what is queued of it lands no more.
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
            Err(DecisionError::Refused(refusal)) => self.answer_when_durable(Err(refusal.into()), asker),
            Err(DecisionError::Unreadable(error)) => {
                tracing::error!(merchant_id = %self.merchant_id, %error, "a command met a row that cannot be read");
                asker.answer(Err(Denied::not_done(error.to_string())));
            }
        }
    }

    /// Answers what changes nothing. When it rests on staged state, it waits for that state's turn.
    fn answer_when_durable(&self, decided: Reply, asker: Asker) {
        let Some(incarnation) = &self.incarnation else { return };
        if incarnation.lane.durable() == incarnation.staging.head().sequence && !incarnation.lane.is_poisoned() {
            return asker.answer(decided);
        }
        let (lane, urgency) = (Arc::clone(&incarnation.lane), asker.urgency);
        let completion = Box::new(move |verdict: BarrierVerdict| {
            // Everything decided before it has had its verdict: if one of them was uncertain, so is this.
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
        let Prepared { append, changes } = match incarnation.staging.prepare(mutation, vault, secret, &mut self.entropy)
        {
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
        let completion =
            Box::new(move |verdict: &AppendVerdict| ready.complete(verdict, head, &lane, pending, &outbox));
        incarnation.staging.stage(mutation, changes, head);
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

    /// Stops, if nobody waits for it: unpublished first, in one step with the look at who holds it.
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
    /// Called on the commit thread with what became of the batch.
    fn complete(self, verdict: &AppendVerdict, head: Head, lane: &Lane, pending: Pending, outbox: &Outbox) {
        let reply = match verdict {
            AppendVerdict::Committed(_) => {
                lane.advance(head.sequence);
                pending.send(outbox);
                Ok(Answered { answer: self.answer, replayed: false })
            }
            AppendVerdict::Fenced | AppendVerdict::Stale { durable: _ } => {
                lane.poison();
                Err(Denied::not_done("a write before it failed"))
            }
            AppendVerdict::Unavailable(reason) => {
                lane.poison();
                Err(Denied::not_done(reason.clone()))
            }
            AppendVerdict::Ambiguous(reason) => {
                lane.poison();
                Err(Denied::unknown(reason.clone()))
            }
        };
        self.asker.answer(reply);
    }
}

/// The answer in place of one that changes nothing, when a write that it rests on failed. A replayed answer is not
/// known any more; a refusal did nothing either way.
fn basis_failed(decided: &Reply) -> Reply {
    let outcome = if decided.is_ok() { FailedOutcome::Unknown } else { FailedOutcome::NotDone };
    Err(Denied::Unavailable { outcome, reason: "a write that the answer rests on failed".to_owned() })
}
