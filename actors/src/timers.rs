//! Timers: a merchant's rows say what is due when; this wakes the merchant then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use till_domain::command::{Caller, Command, Request};
use till_domain::effect::Timer;
use till_domain::ids::MerchantId;
use till_domain::time::Millis;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::clock::Clock;
use crate::followups::SetTimer;
use crate::registry::{Admission, Registry};
use crate::store::{Store, first_timers};

/// Timers that one command fires: bounds the size of its record.
const FIRED_AT_ONCE: usize = 256;
/// The longest sleep: the clock may be set while nobody looks.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// How long a merchant that could not be woken is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Each merchant's next instant, in order.
#[derive(Debug, Default)]
struct Agenda {
    by_time: BTreeSet<(Millis, MerchantId)>,
    by_merchant: BTreeMap<MerchantId, Millis>,
}

impl Agenda {
    /// Notes an instant, unless the merchant has an earlier one.
    fn note(&mut self, merchant_id: MerchantId, due: Millis) {
        if self.by_merchant.get(&merchant_id).is_some_and(|earlier| *earlier <= due) {
            return;
        }
        if let Some(later) = self.by_merchant.insert(merchant_id, due) {
            self.by_time.remove(&(later, merchant_id));
        }
        self.by_time.insert((due, merchant_id));
    }

    /// Takes out the first merchant whose instant has come.
    fn take_due(&mut self, now: Millis) -> Option<MerchantId> {
        let (due, merchant_id) = self.by_time.first().copied()?;
        if due > now {
            return None;
        }
        self.by_time.remove(&(due, merchant_id));
        self.by_merchant.remove(&merchant_id);
        Some(merchant_id)
    }

    fn next(&self) -> Option<Millis> {
        self.by_time.first().map(|(due, _)| *due)
    }
}

/// Wakes merchants when something of theirs is due.
pub(crate) struct TimerService {
    agenda: Agenda,
    store: Arc<dyn Store>,
    registry: Arc<Registry>,
    clock: Arc<dyn Clock>,
}

impl TimerService {
    pub(crate) fn new(store: Arc<dyn Store>, registry: Arc<Registry>, clock: Arc<dyn Clock>) -> TimerService {
        TimerService { agenda: Agenda::default(), store, registry, clock }
    }

    /// Serves until nobody can set a timer any more.
    pub(crate) async fn run(mut self, mut set: UnboundedReceiver<SetTimer>) {
        loop {
            while let Some(merchant_id) = self.agenda.take_due(self.clock.now()) {
                self.serve(merchant_id).await;
            }
            tokio::select! {
                timer = set.recv() => match timer {
                    Some(SetTimer { due, merchant_id }) => self.agenda.note(merchant_id, due),
                    None => return,
                },
                () = tokio::time::sleep(self.pause()) => {}
            }
        }
    }

    fn pause(&self) -> Duration {
        let Some(next) = self.agenda.next() else { return SLEEP_MAX };
        Duration::from_millis(next.0.saturating_sub(self.clock.now().0)).min(SLEEP_MAX)
    }

    /// Fires what is due of one merchant, and notes when it has something due next.
    async fn serve(&mut self, merchant_id: MerchantId) {
        let now = self.clock.now();
        let served = match self.first_timers(merchant_id) {
            Ok(timers) => self.fire(merchant_id, timers, now).await,
            Err(reason) => Err(reason),
        };
        match served {
            Ok(Some(next)) => self.agenda.note(merchant_id, next),
            Ok(None) => {}
            Err(reason) => {
                tracing::warn!(%merchant_id, %reason, "timers could not be served and are tried again");
                let retry_ms = u64::try_from(RETRY_AFTER.as_millis()).unwrap_or(1_000);
                self.agenda.note(merchant_id, Millis(now.0.saturating_add(retry_ms)));
            }
        }
    }

    fn first_timers(&self, merchant_id: MerchantId) -> Result<Vec<Timer>, String> {
        first_timers(self.store.as_ref(), merchant_id, FIRED_AT_ONCE).map_err(|error| error.to_string())
    }

    /// Fires the due ones of a merchant's first timers and says when to come again.
    async fn fire(&self, merchant_id: MerchantId, timers: Vec<Timer>, now: Millis) -> Result<Option<Millis>, String> {
        let first_later = timers.iter().map(|timer| timer.due).find(|due| *due > now);
        let due: Vec<Timer> = timers.into_iter().filter(|timer| timer.due <= now).collect();
        let all_read_were_due = first_later.is_none();
        if due.is_empty() {
            return Ok(first_later);
        }
        let filled = due.len() == FIRED_AT_ONCE;
        let request = Request { caller: Caller::System, idempotency: None, command: Command::FireTimers(due) };
        let receiver = self.registry.submit(merchant_id, request, None, Admission::Always);
        let reply = receiver.map_err(|denied| denied.to_string())?.await;
        reply.map_err(|_| "the actor went away".to_owned())?.map_err(|denied| denied.to_string())?;
        // A full page may hide more that is due.
        Ok(if all_read_were_due && filled { Some(now) } else { first_later })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: MerchantId = MerchantId::from_bytes([1; 16]);
    const B: MerchantId = MerchantId::from_bytes([2; 16]);

    #[test]
    fn a_merchant_is_woken_at_its_earliest_instant_and_once() {
        let mut agenda = Agenda::default();
        agenda.note(A, Millis(30));
        agenda.note(A, Millis(10));
        agenda.note(A, Millis(20));
        agenda.note(B, Millis(15));
        assert_eq!(agenda.next(), Some(Millis(10)));
        assert_eq!(agenda.take_due(Millis(9)), None);
        assert_eq!(agenda.take_due(Millis(15)), Some(A));
        assert_eq!(agenda.take_due(Millis(15)), Some(B));
        assert_eq!(agenda.take_due(Millis(99)), None);
    }
}
