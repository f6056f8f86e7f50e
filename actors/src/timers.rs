//! Timers: a merchant's rows say what is due when; this wakes the merchant then.

use std::sync::Arc;
use std::time::Duration;
use till_domain::command::Command;
use till_domain::effect::{Timer, TimerKind};
use till_domain::event::Answer;
use till_domain::ids::{MerchantId, TransactionId};
use till_domain::records::Timers;
use till_domain::time::Millis;
use till_storage::rows::Direction;
use till_storage::shapes::MerchantReader;

use crate::background::{Retry, Served, Work};
use crate::clock::Clock;
use crate::registry::Registry;
use crate::store::Store;

/// Timers that one command fires: bounds the size of its record.
const FIRED_AT_ONCE: usize = 256;

/// Fires the timers of merchants.
pub(crate) struct TimerService {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Work for TimerService {
    type Subject = MerchantId;
    type Prepared = ();

    /// Each waits for its own commit.
    const SERVED_MAX: usize = 256;
    const RETRY: Retry = Retry { pause_first: Duration::from_secs(1), pause_max: Duration::from_secs(1) };

    /// Fires what is due of one merchant, and tells when it has something due next.
    async fn serve(&self, merchant_id: MerchantId, earliest: Millis, _: Option<()>) -> Served {
        let now = self.clock.now();
        let mut timers = self.first_timers(merchant_id, earliest, FIRED_AT_ONCE)?;
        timers.retain(|timer| timer.due <= now);
        if !timers.is_empty() {
            self.fire(merchant_id, timers).await?;
        }
        let next = self.first_timers(merchant_id, earliest, 1)?;
        Ok(next.first().map(|timer| timer.due))
    }

    fn warn(merchant_id: MerchantId, reason: &str) {
        tracing::warn!(%merchant_id, reason, "timers could not be served and are tried again");
    }
}

impl TimerService {
    /// The merchant's first timers, due or not, the earliest first. From `earliest` on, so that the places of those that
    /// fired before are not read again.
    fn first_timers(&self, merchant_id: MerchantId, earliest: Millis, limit: usize) -> Result<Vec<Timer>, String> {
        let first = Timer { due: earliest, kind: TimerKind::Settle(TransactionId::from_bytes([0; 16])) };
        let rows = MerchantReader::new(merchant_id, None, &*self.store);
        rows.scan_keys::<Timers>(first.., Direction::Forward, limit).map_err(|error| error.to_string())
    }

    async fn fire(&self, merchant_id: MerchantId, due: Vec<Timer>) -> Result<(), String> {
        let answer = self.registry.carry_out(merchant_id, Command::FireTimers(due)).await?;
        if answer == Answer::Changed(false) {
            // The clock stepped back between our look at it and the actor's. To ask again at once would only spin.
            return Err("nothing of what is due fired".to_owned());
        }
        Ok(())
    }
}
