//! One merchant that is filled: what its actor does, at instants that the caller gives.

use std::collections::BTreeSet;
use std::sync::Arc;
use till_domain::command::{Caller, Command, Request};
use till_domain::decide::Outcome;
use till_domain::effect::Timer;
use till_domain::event::{Answer, Mutation, VaultWrite};
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::records::AnyKey;
use till_domain::refusal::Stop;
use till_domain::time::Millis;
use till_storage::commit::Submission;
use till_storage::journal::Verdict;

use super::loader::BulkLoader;
use super::written::Written;
use crate::clock::OsEntropy;
use crate::effects::NoResult;
use crate::followups::OpenEffect;
use crate::merchant::{Changes, Prepared, Secret, Staging};
use crate::reply::Denied;
use crate::timers::FIRED_AT_ONCE;

/// A merchant's log in the hands of whoever fills it. Dropping it gives the log up.
pub struct BulkMerchant<'a> {
    loader: &'a BulkLoader,
    merchant_id: MerchantId,
    staging: Staging,
    written: Arc<Written>,
    entropy: OsEntropy,
    /// Payments with a call to the acquirer that was opened and not made yet, in order.
    opened: Vec<PaymentId>,
    /// Timers that were set and have not fired yet.
    set: BTreeSet<Timer>,
}

impl<'a> BulkMerchant<'a> {
    pub(super) fn new(loader: &'a BulkLoader, merchant_id: MerchantId, staging: Staging) -> BulkMerchant<'a> {
        let written = Arc::new(Written::up_to(staging.head().sequence));
        BulkMerchant {
            loader,
            merchant_id,
            staging,
            written,
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
        let durable = self.written.make_room(self.staging.head().sequence)?;
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
        // As the effect runner: what is asked of the acquirer stands in the log already.
        self.wait_until_durable()?;
        let opened = std::mem::take(&mut self.opened);
        let calls: Vec<_> = opened.into_iter().map(|payment_id| self.start_call(payment_id)).collect();
        for (at, call) in (at.0..).zip(calls) {
            let made = self.loader.calls.block_on(call).map_err(|error| Denied::not_done(error.to_string()))?;
            if let Some(command) = made.map_err(|error| Denied::not_done(error.to_string()))? {
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

    /// Waits until everything that was carried out is on the disk.
    ///
    /// # Errors
    /// [`Denied`] when something of it could not be written.
    pub fn wait_until_durable(&self) -> Result<(), Denied> {
        self.written.wait_for(self.staging.head().sequence).map(drop)
    }

    fn submit(&mut self, mutation: &Mutation, vault: &[VaultWrite], secret: Option<&Secret>) -> Result<(), Denied> {
        let Prepared { append, changes } = self.staging.prepare(mutation, vault, secret, &mut self.entropy)?;
        let (head, written) = (append.new_head, Arc::clone(&self.written));
        let completion = Box::new(move |verdict: &Verdict| written.note(head.sequence, verdict));
        let submitted = self.loader.committer.submit(Submission::Append { append, completion });
        submitted.map_err(|rejected| Denied::not_done(rejected.because.to_string()))?;
        self.note_followups(&changes);
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

    fn note_followups(&mut self, changes: &Changes) {
        for key in changes.written() {
            if let AnyKey::Effects(payment_id) = key {
                self.opened.push(*payment_id);
            } else if let AnyKey::Timers(timer) = key {
                self.set.insert(*timer);
            }
        }
    }

    /// Reads what is open and calls, on the thread of the calls; nothing when nothing is open any more.
    fn start_call(&self, payment_id: PaymentId) -> tokio::task::JoinHandle<Result<Option<Command>, NoResult>> {
        let (caller, merchant_id) = (Arc::clone(&self.loader.caller), self.merchant_id);
        self.loader.calls.spawn(async move {
            let (effect, payment) = caller.read(OpenEffect { merchant_id, payment_id })?;
            let Some(effect) = effect else { return Ok(None) };
            caller.call(merchant_id, &effect, &payment).await.map(Some)
        })
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
