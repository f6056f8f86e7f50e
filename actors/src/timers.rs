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
use crate::registry::{Admission, Registry};
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
        let rows = MerchantReader::new(merchant_id, None, &*self.store);
        // From the earliest on, so that the places of those that fired before are not read again.
        let first = Timer { due: earliest, kind: TimerKind::Settle(TransactionId::from_bytes([0; 16])) };
        let mut due = rows.scan_keys::<Timers>(first.., Direction::Forward, FIRED_AT_ONCE)?;
        due.retain(|timer| timer.due <= now);
        if !due.is_empty() {
            let answer = self.registry.carry_out(merchant_id, Command::FireTimers(due), Admission::Always).await?;
            if answer == Answer::Changed(false) {
                // The clock stepped back between our look at it and the actor's. To ask again at once would only spin.
                return Err("nothing of what is due fired".into());
            }
        }
        let next = rows.scan_keys::<Timers>(first.., Direction::Forward, 1)?;
        Ok(next.first().map(|timer| timer.due))
    }

    fn warn(merchant_id: MerchantId, reason: &str) {
        tracing::warn!(%merchant_id, reason, "timers could not be served and are tried again");
    }
}
