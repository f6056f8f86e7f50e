//! The runner: it carries out open effects and submits their results, which the merchant's actor records. What the
//! acquirer prepares is recorded before a call is made. A call that was made before, or may have been, is looked up
//! first, and made again only when it is surely not done.

use std::sync::Arc;
use std::time::{Duration, Instant};
use till_domain::command::{AuthorizationResult, Command};
use till_domain::effect::EffectId;
use till_domain::event::Answer;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::open_call::OpenCall;
use till_domain::payment::{Payment, PaymentStatus, UNSENT_LIFETIME_SECONDS};
use till_domain::records::{Payments, Rows};
use till_domain::session::Instrument;
use till_domain::time::Millis;
use tracing::field::display;

use super::caller::{AcquirerCaller, in_time};
use super::calls::{Judged, NoResult, OpenRows, PlannedCall, plan};
use crate::acquirer::{
    Acquirer, AcquirerCall, CallAnswer, LookedUp, NamedCall, PaymentStep, Prepared, UnansweredOutcome,
};
use crate::background::{AT_ONCE, BackgroundWork, Retry, Served, WorkError};
use crate::merchant::{Admission, Registry, SharedContext};
use crate::outbox::{MadeCall, MadeCalls, PreparedCall};

/// The longest pause before an authorization that could not be sent is tried again, so that it fails in time.
const UNSENT_PAUSE_MAX: Duration = Duration::from_secs(5);

/// The reason why an authorization of which nothing was sent has no result yet.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Unsent(NoResult);

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
        let (name, judged) = match self.answer(key, &open).await {
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
                    let reference = name.reference();
                    tracing::info!(merchant_id = %merchant, %reference, "a call is pending at the acquirer");
                }
                let next = self.caller.times.next_pending(last);
                self.made_calls().note(key, name, Some(MadeCall::Pending(next)));
                Ok(Some(self.time_after(next)))
            }
        }
    }

    fn retry(error: &WorkError) -> Retry {
        if error.is::<Unsent>() { Retry { pause_max: UNSENT_PAUSE_MAX, ..Self::RETRY } } else { Self::RETRY }
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
    async fn answer(&self, key: (MerchantId, OpenCall), open: &OpenRows) -> Result<(NamedCall, Judged), NoResult> {
        let acquirer = &*self.caller.acquirer(key.0, open.acquirer())?;
        let (kind, planned) = plan(&self.caller.sources, key.0, open)?;
        let PlannedCall { name, call, unless_made, may_await_decision: _ } = planned;
        let made = self.made_calls().find(key, name);
        let judge = |answer| {
            let unfit = || NoResult::Unanswered("its answer is not one to this call".to_owned());
            Ok((name, kind.judge(key.0, name, answer).ok_or_else(unfit)?))
        };
        if unless_made.is_none()
            && let Some((payment, false)) = open.authorized()
            && let Some(judged) = self.prepare(acquirer, &call, key, payment.id).await?
        {
            return Ok((name, judged));
        }
        if made.is_some() || unless_made.is_some() {
            if let LookedUp::Found(answer) = in_time(self.caller.times.look_up, acquirer.look_up(&call)).await? {
                return judge(answer);
            }
            if self.may_be_on_its_way(acquirer, made) {
                return Err(NoResult::MayBeOnItsWay);
            }
        }
        match unless_made {
            Some(command) => Ok((name, Judged::Ended(command))),
            None => judge(self.act(acquirer, call, key, name, made).await?),
        }
    }

    /// Lets the acquirer prepare a call, and tells what is to be recorded; none when it has nothing to prepare. A call
    /// that needs a preparation and has none was never made, by an earlier process either.
    async fn prepare(
        &self,
        acquirer: &dyn Acquirer,
        call: &AcquirerCall,
        key: (MerchantId, OpenCall),
        payment_id: PaymentId,
    ) -> Result<Option<Judged>, NoResult> {
        let prepared = in_time(self.caller.times.call, acquirer.prepare(call)).await;
        if !matches!(prepared, Ok(Prepared::Nothing)) {
            self.made_calls().forget(key);
        }
        Ok(match prepared.map_err(|error| NoResult::NotSent(error.to_string()))? {
            Prepared::Nothing => None,
            Prepared::Ready(preparation) => Some(Judged::Prepared(Command::RecordPreparation(payment_id, preparation))),
            Prepared::Declined(failure) => {
                let declined = AuthorizationResult::Declined { failure, authentication: None };
                Some(Judged::Ended(Command::RecordAuthorization(payment_id, declined)))
            }
        })
    }

    /// True when a request without answer may still be carried out.
    fn may_be_on_its_way(&self, acquirer: &dyn Acquirer, made: Option<MadeCall>) -> bool {
        let on_its_way = |since: Instant| !acquirer.is_in_process() && since.elapsed() < self.caller.times.on_its_way;
        match made {
            Some(MadeCall::Unanswered(since)) => on_its_way(since),
            Some(MadeCall::Pending(_) | MadeCall::AwaitsCustomer) | None => false,
        }
    }

    /// Makes a call. From before it until its result is recorded it counts as made, whatever becomes of it.
    async fn act(
        &self,
        acquirer: &dyn Acquirer,
        call: AcquirerCall,
        key: (MerchantId, OpenCall),
        name: NamedCall,
        before: Option<MadeCall>,
    ) -> Result<CallAnswer, NoResult> {
        let note = |made| self.made_calls().note(key, name, made);
        note(Some(MadeCall::Unanswered(Instant::now())));
        let answer = in_time(self.caller.times.call, acquirer.act(call)).await;
        match answer.as_ref().map_err(|error| error.outcome) {
            Ok(_) => {}
            Err(UnansweredOutcome::Unknown | UnansweredOutcome::Mismatch) => {
                note(Some(MadeCall::Unanswered(Instant::now())))
            }
            Err(UnansweredOutcome::NotSent | UnansweredOutcome::CredentialsRefused | UnansweredOutcome::Limited) => {
                note(before)
            }
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
        self.registry.shared().clock.now().plus_seconds(pause.as_secs())
    }

    /// Ends the work of a call that is not open any more.
    fn close(&self, key: (MerchantId, OpenCall)) -> Served {
        let (merchant, call) = key;
        self.made_calls().forget(key);
        if let OpenCall::Payment(EffectId { payment_id, refund_id: _ }) = call {
            self.forget_security_code(self.caller.sources.reader(merchant).get::<Payments>(payment_id)?.as_ref());
        }
        Ok(None)
    }

    /// The call stays open, unless its payment has waited for too long.
    async fn without_result(&self, key: (MerchantId, OpenCall), open: &OpenRows, error: NoResult) -> Served {
        let (merchant, _) = key;
        self.expire_overdue(merchant, open).await?;
        let (NoResult::NotSent(_), OpenRows::Payment(effect, payment)) = (&error, open) else {
            return Err(error.into());
        };
        let name = NamedCall::first(payment.id, PaymentStep::Authorize);
        if !effect.kind.is_authorization() || self.made_calls().find(key, name).is_some() {
            return Err(error.into());
        }
        let fails_at = effect.opened_at.plus_seconds(UNSENT_LIFETIME_SECONDS);
        if fails_at <= self.registry.shared().clocks.now(merchant) {
            let fail = Command::FailUnsent(payment.id);
            if self.registry.carry_out(merchant, fail, Admission::Always).await? == Answer::Changed(true) {
                return Ok(Some(AT_ONCE));
            }
        }
        Err(Unsent(error).into())
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
