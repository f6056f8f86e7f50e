//! Timers: a merchant's rows say what is due when; this wakes the merchant then.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use till_domain::command::Command;
use till_domain::effect::Timer;
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::time::Millis;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::clock::Clock;
use crate::followups::SetTimer;
use crate::named_tasks::{NamedTasks, Panicked};
use crate::pause::Rest;
use crate::registry::Registry;
use crate::store::{Store, first_timers};

/// Timers that one command fires: bounds the size of its record.
pub(crate) const FIRED_AT_ONCE: usize = 256;
/// Merchants that are served at the same time: each waits for its own commit.
pub(crate) const SERVED_AT_ONCE: usize = 256;
/// The longest sleep: the clock may be set while nobody looks.
const SLEEP_MAX: Duration = Duration::from_millis(200);
/// How long a merchant that could not be served is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How late timers are, for whoever watches.
#[derive(Debug, Default)]
pub(crate) struct TimerLag {
    millis: AtomicU64,
}

impl TimerLag {
    /// For how long the earliest instant that has come was not served.
    pub(crate) fn get(&self) -> Duration {
        Duration::from_millis(self.millis.load(Ordering::Relaxed))
    }

    fn tell(&self, earliest: Option<Millis>, now: Millis) {
        let lag = earliest.map_or(0, |due| now.0.saturating_sub(due.0));
        self.millis.store(lag, Ordering::Relaxed);
    }
}

/// Each merchant's next instant, in order.
#[derive(Debug, Default)]
struct Agenda {
    by_time: BTreeSet<(Millis, MerchantId)>,
    by_merchant: BTreeMap<MerchantId, Millis>,
    /// Those that are being served, with the instant that they are served for and the earliest noted meanwhile.
    served: BTreeMap<MerchantId, (Millis, Option<Millis>)>,
}

impl Agenda {
    /// Notes an instant, unless the merchant has an earlier one.
    fn note(&mut self, merchant_id: MerchantId, due: Millis) {
        if let Some((_, noted)) = self.served.get_mut(&merchant_id) {
            *noted = Some(noted.map_or(due, |earlier| earlier.min(due)));
            return;
        }
        if self.by_merchant.get(&merchant_id).is_some_and(|earlier| *earlier <= due) {
            return;
        }
        if let Some(later) = self.by_merchant.insert(merchant_id, due) {
            self.by_time.remove(&(later, merchant_id));
        }
        self.by_time.insert((due, merchant_id));
    }

    /// Takes the first merchant whose instant has come, to serve it. Until [`Agenda::finish`] it is not
    /// taken again.
    fn take_due(&mut self, now: Millis) -> Option<MerchantId> {
        let (due, merchant_id) = self.by_time.first().copied()?;
        if due > now {
            return None;
        }
        self.by_time.remove(&(due, merchant_id));
        self.by_merchant.remove(&merchant_id);
        self.served.insert(merchant_id, (due, None));
        Some(merchant_id)
    }

    /// A merchant was served, and has something due next.
    fn finish(&mut self, merchant_id: MerchantId, next: Option<Millis>) {
        let noted = self.served.remove(&merchant_id).and_then(|(_, noted)| noted);
        for due in next.into_iter().chain(noted) {
            self.note(merchant_id, due);
        }
    }

    fn next(&self) -> Option<Millis> {
        self.by_time.first().map(|(due, _)| *due)
    }

    /// The instant that a merchant is served for.
    fn served_for(&self, merchant_id: MerchantId) -> Option<Millis> {
        self.served.get(&merchant_id).map(|(due, _)| *due)
    }

    /// The earliest instant of all, of merchants that are being served too.
    fn earliest(&self) -> Option<Millis> {
        self.served.values().map(|(due, _)| *due).chain(self.next()).min()
    }
}

/// When a merchant has something due next.
type Served = Result<Option<Millis>, String>;

/// Wakes merchants when something of theirs is due.
pub(crate) struct TimerService {
    agenda: Agenda,
    /// Those that could not be served, the longest ago first, with the instant that was due.
    failed: VecDeque<(Instant, MerchantId, Millis)>,
    serving: NamedTasks<MerchantId, Served>,
    server: Arc<Server>,
    lag: Arc<TimerLag>,
    lag_told: Instant,
}

impl TimerService {
    /// `lag` is kept up to date with how late it is.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        registry: Arc<Registry>,
        clock: Arc<dyn Clock>,
        lag: Arc<TimerLag>,
    ) -> TimerService {
        TimerService {
            agenda: Agenda::default(),
            failed: VecDeque::new(),
            serving: NamedTasks::new(),
            server: Arc::new(Server { store, registry, clock }),
            lag,
            lag_told: Instant::now(),
        }
    }

    /// Serves until nobody can set a timer any more. Nobody is served during a rest.
    pub(crate) async fn run(mut self, mut set: UnboundedReceiver<SetTimer>, mut rest: Rest) {
        loop {
            self.tell_lag();
            if !rest.is_on() {
                self.take_up_failed();
                self.start_due();
            }
            let pause = if rest.is_on() { SLEEP_MAX } else { self.pause() };
            tokio::select! {
                timer = set.recv() => match timer {
                    Some(SetTimer { due, merchant_id }) => self.agenda.note(merchant_id, due),
                    None => return,
                },
                Some((merchant_id, served)) = self.serving.next() => self.finish(merchant_id, served),
                () = tokio::time::sleep(pause) => {}
                () = rest.ended() => {}
            }
        }
    }

    fn take_up_failed(&mut self) {
        while let Some((since, merchant_id, due)) = self.failed.front().copied()
            && since.elapsed() >= RETRY_AFTER
        {
            self.failed.pop_front();
            self.agenda.note(merchant_id, due);
        }
    }

    /// Tells how late it is, now and then: what is due is looked at as a whole.
    fn tell_lag(&mut self) {
        if self.lag_told.elapsed() < SLEEP_MAX {
            return;
        }
        self.lag_told = Instant::now();
        let failed = self.failed.iter().map(|(_, _, due)| *due);
        let earliest = failed.chain(self.agenda.earliest()).min();
        self.lag.tell(earliest, self.server.clock.now());
    }

    /// Starts to serve whom something is due, as far as there is room.
    fn start_due(&mut self) {
        while self.serving.len() < SERVED_AT_ONCE
            && let Some(merchant_id) = self.agenda.take_due(self.server.clock.now())
        {
            let server = Arc::clone(&self.server);
            self.serving.spawn(merchant_id, async move { server.serve(merchant_id).await });
        }
    }

    fn finish(&mut self, merchant_id: MerchantId, served: Result<Served, Panicked>) {
        match served.unwrap_or_else(|panicked| Err(panicked.to_string())) {
            Ok(next) => self.agenda.finish(merchant_id, next),
            Err(reason) => {
                tracing::warn!(%merchant_id, reason, "timers could not be served and are tried again");
                let due = self.agenda.served_for(merchant_id).unwrap_or_else(|| self.server.clock.now());
                self.agenda.finish(merchant_id, None);
                self.failed.push_back((Instant::now(), merchant_id, due));
            }
        }
    }

    fn pause(&self) -> Duration {
        let full = self.serving.len() >= SERVED_AT_ONCE;
        let Some(next) = self.agenda.next().filter(|_| !full) else { return SLEEP_MAX };
        Duration::from_millis(next.0.saturating_sub(self.server.clock.now().0)).min(SLEEP_MAX)
    }
}

/// What serving a merchant takes.
struct Server {
    store: Arc<dyn Store>,
    registry: Arc<Registry>,
    clock: Arc<dyn Clock>,
}

impl Server {
    /// Fires what is due of one merchant, and tells when it has something due next.
    async fn serve(&self, merchant_id: MerchantId) -> Served {
        let now = self.clock.now();
        let mut timers = self.first_timers(merchant_id, FIRED_AT_ONCE)?;
        timers.retain(|timer| timer.due <= now);
        if !timers.is_empty() {
            self.fire(merchant_id, timers).await?;
        }
        let next = self.first_timers(merchant_id, 1)?;
        Ok(next.first().map(|timer| timer.due))
    }

    fn first_timers(&self, merchant_id: MerchantId, limit: usize) -> Result<Vec<Timer>, String> {
        first_timers(self.store.as_ref(), merchant_id, limit).map_err(|error| error.to_string())
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

    #[test]
    fn a_merchant_that_is_being_served_is_not_taken_again_and_what_is_set_meanwhile_is_not_lost() {
        let mut agenda = Agenda::default();
        agenda.note(A, Millis(10));
        assert_eq!(agenda.take_due(Millis(10)), Some(A));
        agenda.note(A, Millis(7));
        agenda.note(A, Millis(8));
        assert_eq!(agenda.take_due(Millis(99)), None);
        agenda.finish(A, Some(Millis(50)));
        assert_eq!(agenda.next(), Some(Millis(7)));
        assert_eq!(agenda.take_due(Millis(7)), Some(A));
        agenda.finish(A, None);
        assert_eq!(agenda.next(), None);
    }

    #[test]
    fn the_lag_counts_from_the_earliest_instant_also_while_its_merchant_is_served() {
        let (mut agenda, lag) = (Agenda::default(), TimerLag::default());
        agenda.note(A, Millis(1_000));
        agenda.note(B, Millis(2_000));
        assert_eq!(agenda.take_due(Millis(3_000)), Some(A));
        lag.tell(agenda.earliest(), Millis(3_000));
        assert_eq!((agenda.served_for(A), lag.get()), (Some(Millis(1_000)), Duration::from_secs(2)));
        agenda.finish(A, Some(Millis(9_000)));
        lag.tell(agenda.earliest(), Millis(3_000));
        assert_eq!(lag.get(), Duration::from_secs(1));
        lag.tell(None, Millis(3_000));
        assert_eq!(lag.get(), Duration::ZERO);
    }
}
