//! The runner: carries open effects out and has their results recorded.

use std::sync::Arc;
use std::time::Duration;
use till_domain::command::Command;
use till_domain::effect::{Effect, EffectId};
use till_domain::payment::{Lifetimes, Payment, PaymentStatus};
use till_domain::session::Instrument;
use till_domain::time::Millis;

use super::call::{Caller, NoResult};
use crate::background::{Retry, Served, Work};
use crate::clock::Clock;
use crate::outbox::{OpenEffect, PreparedCall};
use crate::registry::{Admission, Registry};

/// After this long without an answer a call is unknown, and is asked again.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Carries open effects out.
pub(crate) struct EffectRunner {
    pub(crate) caller: Caller,
    pub(crate) registry: Arc<Registry>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) lifetimes: Lifetimes,
}

impl Work for EffectRunner {
    type Subject = OpenEffect;
    type Prepared = PreparedCall;

    const SERVED_MAX: usize = 1_024;
    const RETRY: Retry = Retry { pause_first: Duration::from_millis(100), pause_max: Duration::from_secs(30) };

    async fn serve(&self, open: OpenEffect, _: Millis, prepared: Option<PreparedCall>) -> Served {
        let (effect, payment) = match prepared.map(PreparedCall::into_rows) {
            Some((effect, payment)) => (Some(effect), payment),
            None => self.caller.read(open)?,
        };
        if let Some(effect) = effect {
            let answer = self.call(open, &effect, &payment).await;
            if answer.is_err() && self.is_overdue(&payment) {
                let command = Command::ExpirePayment(payment.id);
                self.registry.carry_out(open.merchant_id, command, Admission::Always).await?;
            }
            let command = answer?;
            self.registry.carry_out(open.merchant_id, command, Admission::Always).await?;
        }
        self.forget_security_code(&payment);
        Ok(None)
    }

    fn warn(OpenEffect { merchant_id, effect_id: EffectId { payment_id, refund_id } }: OpenEffect, reason: &str) {
        let refund_id = refund_id.map(tracing::field::display);
        tracing::warn!(%merchant_id, %payment_id, refund_id, reason, "an effect has no result yet and is tried again");
    }
}

impl EffectRunner {
    /// True when the acquirer has left a payment without an answer for too long. It is asked on all the same.
    fn is_overdue(&self, payment: &Payment) -> bool {
        let due = payment.created_at.plus_seconds(self.lifetimes.pending_seconds);
        payment.status == PaymentStatus::Pending && due <= self.clock.now()
    }

    async fn call(&self, open: OpenEffect, effect: &Effect, payment: &Payment) -> Result<Command, NoResult> {
        let call = self.caller.call(open.merchant_id, effect, payment);
        let timed_out = |_| NoResult::Unanswered("it took too long".to_owned());
        tokio::time::timeout(CALL_TIMEOUT, call).await.map_err(timed_out)?
    }

    /// Once an authorization is recorded as answered, its security code must not be kept any longer.
    fn forget_security_code(&self, payment: &Payment) {
        if let Instrument::Token { token_id, usage: _, card: _ } = &payment.instrument {
            self.caller.security_codes.remove(*token_id);
        }
    }
}
