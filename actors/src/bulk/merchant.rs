//! One merchant that is filled: what its actor does, at instants that the caller gives.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use till_domain::command::{Caller, Command, Request};
use till_domain::decide::Outcome;
use till_domain::effect::{EffectId, Timer};
use till_domain::event::{Answer, Mutation, VaultWrite};
use till_domain::ids::MerchantId;
use till_domain::records::AnyKey;
use till_domain::refusal::Stop;
use till_domain::time::Millis;

use super::loader::{BulkLoader, BulkMode};
use super::writer::Writer;
use crate::clock::OsEntropy;
use crate::effects::NoResult;
use crate::merchant::{Changes, Prepared, Secret, Staging};
use crate::outbox::{CallRows, OpenEffect};
use crate::reply::Denied;
use crate::timers::FIRED_AT_ONCE;

/// A call to the acquirer that was opened.
enum Opened {
    /// It is made once what it rests on can be read.
    Stored(EffectId),
    /// It can be made, with what it rests on.
    AtHand(CallRows),
}

/// A call under way, which goes on whether or not anybody waits. It gives the command that records what came of it;
/// none when nothing was open any more.
type Call = Pin<Box<dyn Future<Output = CallResult> + Send>>;

type CallResult = Result<Option<Command>, NoResult>;

/// A merchant's log in the hands of whoever fills it. Dropping it gives the log up.
pub struct BulkMerchant<'a> {
    loader: &'a BulkLoader,
    merchant_id: MerchantId,
    staging: Staging,
    writer: Writer,
    entropy: OsEntropy,
    /// Calls to the acquirer that were opened and not made yet, in order.
    opened: Vec<Opened>,
    /// Timers that were set and have not fired yet.
    set: BTreeSet<Timer>,
}

impl<'a> BulkMerchant<'a> {
    pub(super) fn new(loader: &'a BulkLoader, merchant_id: MerchantId, staging: Staging) -> BulkMerchant<'a> {
        let writer = Writer::new(loader.mode, staging.head().sequence);
        BulkMerchant {
            loader,
            merchant_id,
            staging,
            writer,
            entropy: OsEntropy::default(),
            opened: Vec::new(),
            set: BTreeSet::new(),
        }
    }

    /// Carries a command out at an instant, or at that of the merchant's last one when that is later. It is on
    /// its way to the disk when this returns, see [`BulkMerchant::wait_until_durable`].
    ///
    /// # Errors
    /// [`Denied`]: the rules refuse it, or it or an earlier one could not be written.
    pub fn carry_out(&mut self, at: Millis, request: &Request, secret: Option<&Secret>) -> Result<Answer, Denied> {
        let durable = self.writer.make_room(self.staging.head().sequence)?;
        self.staging.records.prune(durable);
        match self.staging.decide(request, at, &mut self.entropy) {
            Ok(Outcome::Effective { mutation, vault, answer }) => {
                self.submit(&mutation, &vault, secret)?;
                Ok(answer)
            }
            Ok(Outcome::Replayed(answer) | Outcome::Unchanged(answer)) => Ok(answer),
            Err(Stop::Refused(refusal)) => Err(refusal.into()),
            Err(Stop::Unreadable(error)) => Err(Denied::not_done(error.to_string())),
        }
    }

    /// Makes the calls to the acquirer that were opened, all at once, and records their results one a
    /// millisecond from `at` on.
    ///
    /// # Errors
    /// [`Denied`] when a call has no result, or a result could not be recorded.
    pub fn make_calls(&mut self, at: Millis) -> Result<(), Denied> {
        if self.opened.iter().any(|opened| matches!(opened, Opened::Stored(_))) {
            // As the effect runner: what is asked of the acquirer stands in the log already.
            self.wait_until_durable()?;
        }
        let opened = std::mem::take(&mut self.opened);
        let calls: Vec<_> = {
            let _acquirers_may_rest_on_it = self.loader.calls.enter();
            opened.into_iter().map(|opened| go_on(self.call(opened))).collect()
        };
        for (at, call) in (at.0..).zip(calls) {
            let made = self.result(call).map_err(|error| Denied::not_done(error.to_string()))?;
            if let Some(command) = made {
                self.carry_out(Millis(at), &of_the_service(command), None)?;
            }
        }
        Ok(())
    }

    /// Fires the timers that were set and are due at `now`.
    ///
    /// # Errors
    /// [`Denied`] when what they do could not be recorded.
    pub fn fire_timers(&mut self, now: Millis) -> Result<(), Denied> {
        loop {
            let due = self.take_due(now);
            if due.is_empty() {
                return Ok(());
            }
            self.carry_out(now, &of_the_service(Command::FireTimers(due)), None)?;
        }
    }

    /// Waits until everything that was carried out is as durable as it will be for now, and can be read.
    ///
    /// # Errors
    /// [`Denied`] when something of it could not be written.
    pub fn wait_until_durable(&mut self) -> Result<(), Denied> {
        self.writer.wait_for(self.staging.head().sequence, self.loader)
    }

    fn submit(&mut self, mutation: &Mutation, vault: &[VaultWrite], secret: Option<&Secret>) -> Result<(), Denied> {
        let Prepared { append, changes } = self.staging.prepare(mutation, vault, secret, &mut self.entropy)?;
        let head = append.new_head;
        self.writer.write(append, self.loader)?;
        self.note_pending(&changes);
        self.staging.stage(mutation, changes, head);
        Ok(())
    }

    fn take_due(&mut self, now: Millis) -> Vec<Timer> {
        let mut due = Vec::new();
        while due.len() < FIRED_AT_ONCE && self.set.first().is_some_and(|timer| timer.due <= now) {
            due.extend(self.set.pop_first());
        }
        due
    }

    fn note_pending(&mut self, changes: &Changes) {
        for key in changes.written() {
            if let AnyKey::Effects(effect_id) = key {
                self.opened.push(self.open(*effect_id, changes));
            } else if let AnyKey::Timers(timer) = key {
                self.set.insert(*timer);
            }
        }
    }

    fn open(&self, effect_id: EffectId, changes: &Changes) -> Opened {
        let at_hand = match self.loader.mode {
            BulkMode::AllOrNothing => changes.opened(effect_id),
            BulkMode::Durable => None,
        };
        at_hand.map_or(Opened::Stored(effect_id), Opened::AtHand)
    }

    fn call(&self, opened: Opened) -> Call {
        let (caller, merchant_id) = (Arc::clone(&self.loader.caller), self.merchant_id);
        Box::pin(async move {
            let (effect, payment) = match opened {
                Opened::AtHand(rows) => rows,
                Opened::Stored(effect_id) => {
                    let (effect, payment) = caller.read(OpenEffect { merchant_id, effect_id })?;
                    let Some(effect) = effect else { return Ok(None) };
                    (effect, payment)
                }
            };
            caller.call(merchant_id, &effect, &payment).await.map(Some)
        })
    }

    /// Waits for the result of a call.
    fn result(&self, call: Begun) -> CallResult {
        let again = match call {
            // Without a turn of the runtime when the answer is there, as it is for all but the first of many.
            Begun::UnderWay(call) => go_on(call),
            Begun::Done(result) => Begun::Done(result),
        };
        match again {
            Begun::UnderWay(call) => self.loader.calls.block_on(call),
            Begun::Done(result) => result,
        }
    }
}

/// A call that was begun.
enum Begun {
    UnderWay(Call),
    Done(CallResult),
}

/// Goes on with a call as far as that is possible without waiting: the first time this sends it on its way, so that the
/// acquirer has all of many before anybody waits for one.
fn go_on(mut call: Call) -> Begun {
    match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Begun::Done(result),
        Poll::Pending => Begun::UnderWay(call),
    }
}

impl Drop for BulkMerchant<'_> {
    fn drop(&mut self) {
        self.staging.release();
    }
}

fn of_the_service(command: Command) -> Request {
    Request { caller: Caller::System, idempotency: None, command }
}
