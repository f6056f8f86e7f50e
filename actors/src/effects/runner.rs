//! The runner: it carries out open effects and submits their results, which the merchant's actor records.

use std::sync::Arc;
use std::time::Duration;
use till_domain::command::{AuthorizationResult, Command};
use till_domain::effect::EffectId;
use till_domain::ids::MerchantId;
use till_domain::open_call::OpenCall;
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::session::Instrument;
use till_domain::time::Millis;
use tracing::field::display;

use super::call::{AcquirerCaller, NoResult};
use crate::background::{BackgroundWork, Retry, Served};
use crate::merchant::{Admission, Registry, SharedContext};
use crate::outbox::PreparedCall;

/// Time without an answer after which a call is unknown, and is repeated.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Seconds between two calls for an authorization that waits for its customer.
const ASK_AGAIN_SECONDS: u64 = 30;

/// Carries open effects out.
pub(crate) struct EffectRunner {
    pub(crate) caller: AcquirerCaller,
    pub(crate) registry: Arc<Registry>,
}

impl BackgroundWork for EffectRunner {
    type Subject = (MerchantId, OpenCall);
    type Prepared = PreparedCall;

    const SERVED_MAX: usize = 1_024;
    const RETRY: Retry = Retry { pause_first: Duration::from_millis(100), pause_max: Duration::from_secs(30) };

    async fn serve(&self, subject: (MerchantId, OpenCall), _: Millis, prepared: Option<PreparedCall>) -> Served {
        let (merchant_id, call) = subject;
        let command = match call {
            OpenCall::Payment(effect_id) => return self.serve_payment(merchant_id, effect_id, prepared).await,
            OpenCall::Payout(payout_id) => in_time(self.caller.pay_out(merchant_id, payout_id)).await?,
            OpenCall::Evidence(dispute_id) => in_time(self.caller.submit_evidence(merchant_id, dispute_id)).await?,
        };
        if let Some(command) = command {
            self.registry.carry_out(merchant_id, command, Admission::Always).await?;
        }
        Ok(None)
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
    async fn serve_payment(
        &self,
        merchant_id: MerchantId,
        effect_id: EffectId,
        prepared: Option<PreparedCall>,
    ) -> Served {
        let (effect, payment) = match prepared.map(PreparedCall::into_rows) {
            Some((effect, payment)) => (Some(effect), payment),
            None => self.caller.read(merchant_id, effect_id)?,
        };
        if let Some(effect) = effect {
            let answer = in_time(self.caller.call(merchant_id, &effect, &payment)).await;
            if answer.is_err() && self.is_overdue(merchant_id, &payment) {
                let command = Command::ExpirePayment(payment.id);
                self.registry.carry_out(merchant_id, command, Admission::Always).await?;
            }
            let command = answer?;
            let awaits = awaits_customer(&command);
            self.registry.carry_out(merchant_id, command, Admission::Always).await?;
            if awaits {
                return self.ask_again_later(merchant_id, &payment).await;
            }
        }
        self.forget_security_code(&payment);
        Ok(None)
    }

    /// Asks the acquirer again after a while, in case that its late answer gets lost.
    async fn ask_again_later(&self, merchant_id: MerchantId, payment: &Payment) -> Served {
        if self.is_overdue(merchant_id, payment) {
            let command = Command::ExpirePayment(payment.id);
            self.registry.carry_out(merchant_id, command, Admission::Always).await?;
        }
        Ok(Some(self.registry.shared().clock.now().plus_seconds(ASK_AGAIN_SECONDS)))
    }

    /// True when the acquirer has left a payment without an answer for too long. Its call is repeated nevertheless.
    fn is_overdue(&self, merchant_id: MerchantId, payment: &Payment) -> bool {
        let SharedContext { lifetimes, clocks, .. } = self.registry.shared();
        let due = payment.created_at.plus_seconds(lifetimes.pending_seconds);
        payment.status == PaymentStatus::Pending && due <= clocks.now(merchant_id)
    }

    /// Removes the security code of a payment whose authorization has a recorded answer: it must not be kept any
    /// longer.
    fn forget_security_code(&self, payment: &Payment) {
        if let Instrument::Token { token_id, usage: _, card: _ } = &payment.instrument {
            self.caller.security_codes.remove(*token_id);
        }
    }
}

/// True for the answer to an authorization that waits for its customer, or for what follows from the customer's action.
pub(super) const fn awaits_customer(command: &Command) -> bool {
    matches!(
        command,
        Command::RecordAuthorization(_, AuthorizationResult::NeedsAction(_) | AuthorizationResult::Processing)
    )
}

/// The result of a call, unless the acquirer takes too long.
async fn in_time<T>(call: impl Future<Output = Result<T, NoResult>>) -> Result<T, NoResult> {
    let timed_out = |_| NoResult::Unanswered("it took too long".to_owned());
    tokio::time::timeout(CALL_TIMEOUT, call).await.map_err(timed_out)?
}
