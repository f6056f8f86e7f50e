//! Timers: a merchant's rows say when something is due; this wakes the merchant then.

use std::sync::Arc;
use std::time::Duration;
use till_domain::command::Command;
use till_domain::effect::{Timer, TimerKind};
use till_domain::event::Answer;
use till_domain::ids::{MerchantId, TransactionId};
use till_domain::records::Timers;
use till_domain::time::Millis;
use till_storage::rows::ScanDirection;
use till_storage::shapes::MerchantReader;

use crate::background::{BackgroundRows, BackgroundWork, Retry, Served};
use crate::merchant::{Admission, Registry, SharedContext};

/// Timers that one command fires: it bounds the size of its record.
pub(crate) const FIRED_AT_ONCE: usize = 256;

/// Fires the timers of merchants.
pub(crate) struct TimerService {
    pub(crate) registry: Arc<Registry>,
}

impl BackgroundWork for TimerService {
    type Subject = MerchantId;
    type Prepared = ();

    /// Each of them waits for its own commit.
    const SERVED_MAX: usize = 256;
    const RETRY: Retry = Retry { pause_first: Duration::from_secs(1), pause_max: Duration::from_secs(1) };

    /// Fires the due timers of one merchant, and returns the instant at which it has something due next.
    async fn serve(&self, merchant_id: MerchantId, earliest: Millis, _: Option<()>) -> Served {
        let SharedContext { clocks, store, .. } = self.registry.shared();
        let (now, rows) = (clocks.now(merchant_id), MerchantReader::new(merchant_id, None, BackgroundRows(&**store)));
        // From the earliest on, so that the rows of timers that fired before are not read again. For a test clock that
        // was advanced since, the earliest may be another.
        let has_test_clock = clocks.test_clock(merchant_id).is_some();
        let earliest = if has_test_clock { Millis(0) } else { earliest };
        let first = Timer { due: earliest, kind: TimerKind::Settle(TransactionId::from_bytes([0; 16])) };
        let mut due = rows.scan_keys::<Timers>(first.., ScanDirection::Forward, FIRED_AT_ONCE)?;
        due.retain(|timer| timer.due <= now);
        let mut has_fired = true;
        if !due.is_empty() {
            let answer = self.registry.carry_out(merchant_id, Command::FireTimers(due), Admission::Always).await?;
            has_fired = answer != Answer::Changed(false);
        }
        let next = rows.scan_keys::<Timers>(first.., ScanDirection::Forward, 1)?;
        let next = next.first().map(|timer| timer.due);
        if !has_fired && next.is_some_and(|next| next <= now) {
            // The clock stepped back between this read and the actor's. An immediate repetition would only spin. When
            // nothing is due any more, a call that advances the merchant's clock has fired the timers meanwhile.
            return Err("none of the due timers fired".into());
        }
        Ok(next.map(|next| clocks.wall_at(merchant_id, next)))
    }

    fn warn(merchant_id: MerchantId, reason: &str) {
        tracing::warn!(%merchant_id, reason, "timers could not be served and are tried again");
    }
}
