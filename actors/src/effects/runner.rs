//! The runner: it carries out open effects and submits their results, which the merchant's actor records. What the
//! acquirer prepares is recorded before a call is made. A call that was made before, or may have been, is looked up
//! first, and made again only when it is surely not done.

use std::sync::Arc;
use std::time::{Duration, Instant};
use till_domain::acquirer::{AccountMode, AccountState, AcquirerRef};
use till_domain::command::{AuthorizationResult, Command, UnsentPayment};
use till_domain::effect::EffectId;
use till_domain::event::Answer;
use till_domain::failure::FailureCode;
use till_domain::ids::{AcquirerId, MerchantId, PaymentId};
use till_domain::open_call::OpenCall;
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::records::{Payments, Rows};
use till_domain::session::Instrument;
use till_domain::time::Millis;
use tracing::field::display;

use super::account_lane::WaitingCall;
use super::account_lanes::LanePermit;
use super::caller::{AcquirerCaller, AskedAcquirer};
use super::calls::{Judged, NoResult, OpenRows, PlannedCall, plan};
use super::times::plus_pause;
use crate::acquirer::{Acquirer, AcquirerCall, CallAnswer, LookedUp, NamedCall, PaymentStep, Prepared};
use crate::background::{AT_ONCE, BackgroundWork, Retry, Served, WorkError};
use crate::merchant::{Admission, Registry, SharedContext};
use crate::outbox::{MadeCall, MadeCalls, PreparedCall};

/// The reason why a call has no result yet, and how it is tried again.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
struct TriedAgain {
    reason: NoResult,
    pause_max: Duration,
    /// False for a call of which the log says nothing: it tells the states of accounts, and not their calls.
    is_told: bool,
}

/// Carries open effects out.
pub(crate) struct EffectRunner {
    pub(crate) caller: Arc<AcquirerCaller>,
    pub(crate) registry: Arc<Registry>,
}

impl BackgroundWork for EffectRunner {
    type Subject = (MerchantId, OpenCall);
    type Prepared = PreparedCall;

    const SERVED_MAX: usize = 1_024;
    const RETRY: Retry = Retry { pause_first: Duration::from_millis(100), pause_max: Duration::from_secs(30) };

    async fn serve(&self, key: (MerchantId, OpenCall), _: Millis, prepared: Option<PreparedCall>) -> Served {
        let (merchant, call) = key;
        let open = match prepared.map(PreparedCall::into_rows) {
            Some((effect, payment)) => Some(OpenRows::Payment(effect, payment)),
            None => self.caller.sources.open(merchant, call)?,
        };
        let Some(open) = open else { return self.close(key) };
        let (acquirer, mode) = match self.caller.acquirer(merchant, open.acquirer()) {
            Ok(opened) => opened,
            Err(error) => return self.without_result(key, &open, error).await,
        };
        let permit = match open.acquirer() {
            AcquirerRef::Sandbox => None,
            AcquirerRef::Account(_, id) => match self.enter_lane((id, mode), key, &open) {
                Some(permit) => Some(permit),
                None => return self.wait(key, &open).await,
            },
        };
        let (caller, name) = (&*self.caller, open.acquirer().name());
        let asked = AskedAcquirer { caller, acquirer: &*acquirer, name, permit: permit.as_ref() };
        let (name, judged) = match self.answer(&asked, key, &open).await {
            Ok(answered) => answered,
            Err(error) => return self.without_result(key, &open, error).await,
        };
        match judged {
            Judged::Prepared(command) => {
                self.record(merchant, command).await?;
                Ok(Some(AT_ONCE))
            }
            Judged::Ended(command) => {
                self.record(merchant, command).await?;
                self.made_calls().forget(key);
                self.forget_security_code(open.payment());
                Ok(None)
            }
            Judged::AwaitsCustomer(command) => {
                self.record(merchant, command).await?;
                self.made_calls().note(key, name, Some(MadeCall::AwaitsCustomer));
                self.expire_overdue(merchant, &open).await?;
                let now = self.registry.shared().clock.now();
                Ok(Some(self.time_after(self.caller.next_of_customer(open.acquirer(), now))))
            }
            Judged::Pending => {
                let last = match self.made_calls().find(key, name) {
                    Some(MadeCall::Pending(last)) => Some(last),
                    Some(MadeCall::Unanswered(_) | MadeCall::AwaitsCustomer) | None => None,
                };
                if last.is_none() {
                    tracing::info!(merchant_id = %merchant, reference = %name, "a call is pending at the acquirer");
                }
                let next = self.caller.times.next_pending(last);
                self.made_calls().note(key, name, Some(MadeCall::Pending(next)));
                Ok(Some(self.time_after(next)))
            }
        }
    }

    fn retry(error: &WorkError) -> Retry {
        let Some(TriedAgain { pause_max, .. }) = error.downcast_ref() else { return Self::RETRY };
        Retry { pause_first: Self::RETRY.pause_first.min(*pause_max), pause_max: *pause_max }
    }

    fn is_told(error: &WorkError) -> bool {
        error.downcast_ref().is_none_or(|TriedAgain { is_told, .. }| *is_told)
    }

    fn warn((merchant_id, call): (MerchantId, OpenCall), reason: &str) {
        let (payment_id, refund_id, payout_id, dispute_id) = match call {
            OpenCall::Payment(EffectId { payment_id, refund_id }) => (Some(payment_id), refund_id, None, None),
            OpenCall::Payout(payout_id) => (None, None, Some(payout_id), None),
            OpenCall::Evidence(dispute_id) => (None, None, None, Some(dispute_id)),
        };
        let (payment_id, refund_id) = (payment_id.map(display), refund_id.map(display));
        let (payout_id, dispute_id) = (payout_id.map(display), dispute_id.map(display));
        tracing::warn!(%merchant_id, payment_id, refund_id, payout_id, dispute_id, reason, "an effect has no result \
            yet and is tried again");
    }
}

impl EffectRunner {
    /// Finds or makes the call of an open effect, and judges its answer.
    async fn answer(
        &self,
        asked: &AskedAcquirer<'_>,
        key: (MerchantId, OpenCall),
        open: &OpenRows,
    ) -> Result<(NamedCall, Judged), NoResult> {
        let (kind, planned) = plan(&self.caller.sources, key.0, open)?;
        let PlannedCall { call, unless_made, may_await_decision: _ } = planned;
        let name = call.reference();
        let made = self.made_calls().find(key, name);
        let judge = |answer| {
            let unfit = || NoResult::Unanswered("its answer is not one to this call".to_owned());
            Ok((name, kind.judge(key.0, name, answer).ok_or_else(unfit)?))
        };
        if unless_made.is_none()
            && let Some((payment, false)) = open.authorized()
            && let Some(judged) = self.prepare(asked, &call, key, payment.id).await?
        {
            return Ok((name, judged));
        }
        if made.is_some() || unless_made.is_some() {
            if let LookedUp::Found(answer) = asked.look_up(&call).await? {
                return judge(answer);
            }
            if self.may_be_on_its_way(asked.acquirer, made) {
                return Err(NoResult::MayBeOnItsWay);
            }
        }
        match unless_made {
            Some(command) => Ok((name, Judged::Ended(command))),
            None => judge(self.act(asked, call, key, made).await?),
        }
    }

    /// Lets the acquirer prepare a call, and tells what is to be recorded; none when it has nothing to prepare. A call
    /// that needs a preparation and has none was never made, by an earlier process either.
    async fn prepare(
        &self,
        asked: &AskedAcquirer<'_>,
        call: &AcquirerCall,
        key: (MerchantId, OpenCall),
        payment_id: PaymentId,
    ) -> Result<Option<Judged>, NoResult> {
        let prepared = asked.prepare(call).await;
        if !matches!(prepared, Ok(Prepared::Nothing)) {
            self.made_calls().forget(key);
        }
        Ok(match prepared.map_err(|error| NoResult::NotSent(error.to_string()))? {
            Prepared::Nothing => None,
            Prepared::Ready(preparation) => Some(Judged::Prepared(Command::RecordPreparation(preparation))),
            Prepared::Declined(failure) => {
                let declined = AuthorizationResult::Declined { failure, authentication: None };
                Some(Judged::Ended(Command::RecordAuthorization(payment_id, declined)))
            }
        })
    }

    /// True when a request without answer may still be carried out.
    fn may_be_on_its_way(&self, acquirer: &dyn Acquirer, made: Option<MadeCall>) -> bool {
        let Some(MadeCall::Unanswered(since)) = made else { return false };
        !acquirer.is_in_process() && since.elapsed() < self.caller.times.on_its_way
    }

    /// Makes a call. From before it until its result is recorded it counts as made, whatever becomes of it.
    async fn act(
        &self,
        asked: &AskedAcquirer<'_>,
        call: AcquirerCall,
        key: (MerchantId, OpenCall),
        before: Option<MadeCall>,
    ) -> Result<CallAnswer, NoResult> {
        let name = call.reference();
        let note = |made| self.made_calls().note(key, name, made);
        note(Some(MadeCall::Unanswered(Instant::now())));
        let answer = asked.act(call).await;
        if let Err(error) = &answer {
            let is_unknown = error.outcome.is_unknown();
            note(if is_unknown { Some(MadeCall::Unanswered(Instant::now())) } else { before });
        }
        Ok(answer?)
    }

    fn made_calls(&self) -> &MadeCalls {
        &self.registry.shared().outbox.effects.made
    }

    async fn record(&self, merchant: MerchantId, command: Command) -> Result<(), WorkError> {
        self.registry.carry_out(merchant, command, Admission::Always).await?;
        Ok(())
    }

    fn time_after(&self, pause: Duration) -> Millis {
        plus_pause(self.registry.shared().clock.now(), pause)
    }

    /// Ends the work of a call that is not open any more.
    fn close(&self, key: (MerchantId, OpenCall)) -> Served {
        let (merchant, call) = key;
        self.made_calls().forget(key);
        self.caller.lanes.forget(key);
        if let OpenCall::Payment(EffectId { payment_id, refund_id: _ }) = call {
            self.forget_security_code(self.caller.sources.reader(merchant).get::<Payments>(payment_id)?.as_ref());
        }
        Ok(None)
    }

    /// A permit of an account to make an open call; without one the call waits.
    fn enter_lane(
        &self,
        (id, mode): (AcquirerId, AccountMode),
        key: (MerchantId, OpenCall),
        open: &OpenRows,
    ) -> Option<LanePermit> {
        self.registry.shared().outbox.effects.calls.leave_lane(key);
        self.caller.lanes.note_mode(id, mode);
        self.caller.lanes.enter(id, waiting_call(key, open), Instant::now())
    }

    /// The call waits for the lane of its account, which queues it again. Until then it is looked at from time to time,
    /// and fails or expires as one that is made.
    async fn wait(&self, key: (MerchantId, OpenCall), open: &OpenRows) -> Served {
        self.registry.shared().outbox.effects.calls.keep_pause(key);
        self.expire_overdue(key.0, open).await?;
        let looked_at = self.time_after(self.caller.times.probe_max);
        let Some(unsent) = self.unsent(key, open) else { return Ok(Some(looked_at)) };
        if self.fail_unsent(key.0, open, unsent).await? {
            return Ok(Some(AT_ONCE));
        }
        let fails_at = plus_pause(unsent.1, self.caller.times.unsent);
        let is_over = fails_at <= self.registry.shared().clock.now();
        Ok(Some(if is_over { looked_at } else { fails_at.min(looked_at) }))
    }

    /// The call stays open, unless its payment has waited for too long.
    async fn without_result(&self, key: (MerchantId, OpenCall), open: &OpenRows, reason: NoResult) -> Served {
        let AcquirerCaller { times, lanes, .. } = &*self.caller;
        let (account, is_unreadable) = (open.acquirer().account_id(), matches!(reason, NoResult::Unreadable(_)));
        if let Some(id) = account.filter(|id| !is_unreadable && lanes.closed_as(*id).is_some()) {
            lanes.wait(id, waiting_call(key, open));
            return self.wait(key, open).await;
        }
        self.expire_overdue(key.0, open).await?;
        let mut pause_max = times.call;
        if let (NoResult::NotSent(_), Some(unsent)) = (&reason, self.unsent(key, open)) {
            if self.fail_unsent(key.0, open, unsent).await? {
                return Ok(Some(AT_ONCE));
            }
            pause_max = times.unsent_pause_max;
        }
        Err(TriedAgain { reason, pause_max, is_told: account.is_none() || is_unreadable }.into())
    }

    /// The payment of an authorization of which nothing was sent, and the instant at which it was opened; none for
    /// another call.
    fn unsent(&self, key: (MerchantId, OpenCall), open: &OpenRows) -> Option<(PaymentId, Millis)> {
        let OpenRows::Payment(effect, payment) = open else { return None };
        let name = NamedCall::first(payment.id, PaymentStep::Authorize);
        let is_unsent = effect.kind.is_authorization() && self.made_calls().find(key, name).is_none();
        is_unsent.then_some((payment.id, effect.opened_at))
    }

    /// Fails a payment of which nothing was sent, when it is time; true when it has failed.
    async fn fail_unsent(
        &self,
        merchant: MerchantId,
        open: &OpenRows,
        (payment_id, opened_by): (PaymentId, Millis),
    ) -> Result<bool, WorkError> {
        if self.registry.shared().clocks.now(merchant) < plus_pause(opened_by, self.caller.times.unsent) {
            return Ok(false);
        }
        let closed_as = open.acquirer().account_id().and_then(|id| self.caller.lanes.closed_as(id));
        let is_refused = closed_as == Some(AccountState::CredentialsRefused);
        let code = if is_refused { FailureCode::AcquirerRefusedCredentials } else { FailureCode::AcquirerNotAvailable };
        let fail = Command::FailUnsent(UnsentPayment { payment_id, code, opened_by });
        let answer = self.registry.carry_out(merchant, fail, Admission::Always).await?;
        Ok(answer == Answer::Changed(true))
    }

    /// Expires a payment that the acquirer has left without an answer for too long. Its call goes on nevertheless.
    async fn expire_overdue(&self, merchant: MerchantId, open: &OpenRows) -> Result<(), WorkError> {
        match open.payment().filter(|payment| self.is_overdue(merchant, payment)) {
            Some(payment) => self.record(merchant, Command::ExpirePayment(payment.id)).await,
            None => Ok(()),
        }
    }

    fn is_overdue(&self, merchant: MerchantId, payment: &Payment) -> bool {
        let SharedContext { lifetimes, clocks, .. } = self.registry.shared();
        let due = payment.created_at.plus_seconds(lifetimes.pending_seconds);
        payment.status == PaymentStatus::Pending && due <= clocks.now(merchant)
    }

    /// Removes the security code of a payment whose authorization has a recorded answer: it must not be kept any
    /// longer.
    fn forget_security_code(&self, payment: Option<&Payment>) {
        if let Some(Instrument::Token { token_id, usage: _, card: _ }) = payment.map(|payment| &payment.instrument) {
            self.caller.sources.security_codes.remove(*token_id);
        }
    }
}

fn waiting_call(key: (MerchantId, OpenCall), open: &OpenRows) -> WaitingCall {
    WaitingCall { key, opened_at: open.opened_at(), gives_back: open.gives_back() }
}
