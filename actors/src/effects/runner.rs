//! The runner: takes open effects out, calls, has the result recorded, and asks again until there is one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use till_domain::command::Command;
use till_domain::effect::{Effect, EffectId};
use till_domain::payment::Payment;
use till_domain::session::Instrument;
use till_storage::vault::Keyring;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use super::backlog::{Backlog, Entry};
use super::call::{Acquirers, Caller, NoResult};
use crate::bounds::{InFlight, Permit};
use crate::followups::{Carried, OpenEffect};
use crate::named_tasks::{NamedTasks, Panicked};
use crate::pause::Rest;
use crate::registry::Registry;
use crate::security_codes::SecurityCodes;
use crate::store::Store;

/// Calls under way at the same time.
pub(crate) const CALLS_MAX: usize = 1_024;
/// After this long without an answer a call is unknown, and is asked again.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// The first pause before asking again; it doubles up to [`PAUSE_MAX`].
const PAUSE_FIRST: Duration = Duration::from_millis(100);
/// The longest pause before asking again.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Effects that are taken out at once, so that a group of commits wakes the runner once.
const TAKEN_AT_ONCE: usize = 256;

/// An effect that is to be tried, and how long to wait when that comes to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Try {
    effect: OpenEffect,
    entry: Entry,
    pause: Duration,
}

/// What is to be tried, by time. Waiting holds no place among the calls, so that effects without an answer
/// keep nobody else's back.
#[derive(Debug, Default)]
struct Waiting {
    by_time: BTreeMap<(Instant, u64), (Try, Option<Carried>)>,
    /// Keeps what is due at the same instant apart, in the order in which it came.
    next_number: u64,
}

impl Waiting {
    fn add(&mut self, at: Instant, next: Try, carried: Option<Carried>) {
        self.by_time.insert((at, self.next_number), (next, carried));
        self.next_number += 1;
    }

    fn add_again(&mut self, now: Instant, Try { effect, entry, pause }: Try) {
        // What was carried along is read anew: it may have changed until then.
        self.add(now + pause, Try { effect, entry, pause: (pause * 2).min(PAUSE_MAX) }, None);
    }

    /// Has what came to nothing tried again.
    fn note_end(&mut self, tried: Try, ended: Result<Result<(), String>, Panicked>, backlog: &Backlog) {
        let failure = match ended {
            Ok(result) => result.err(),
            Err(panicked) => Some(panicked.to_string()),
        };
        match failure {
            Some(reason) => {
                warn_of(tried, &reason);
                self.add_again(Instant::now(), tried);
            }
            None => backlog.leave(tried.entry),
        }
    }

    fn take_due(&mut self, now: Instant) -> Option<(Try, Option<Carried>)> {
        let first = self.by_time.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    fn next(&self) -> Option<Instant> {
        self.by_time.first_key_value().map(|((at, _), _)| *at)
    }
}

/// Carries open effects out.
pub(crate) struct EffectRunner {
    caller: Caller,
    registry: Arc<Registry>,
    running: Arc<InFlight>,
    backlog: Arc<Backlog>,
}

impl EffectRunner {
    /// `running` bounds and counts the calls under way, `backlog` counts what has no result yet.
    pub(crate) fn new(
        acquirers: Acquirers,
        keyring: Arc<Keyring>,
        security_codes: Arc<SecurityCodes>,
        store: Arc<dyn Store>,
        registry: Arc<Registry>,
        running: Arc<InFlight>,
        backlog: Arc<Backlog>,
    ) -> EffectRunner {
        EffectRunner { caller: Caller { acquirers, keyring, security_codes, store }, registry, running, backlog }
    }

    /// Takes effects until nobody can open any more. Those that are open wait for the end of a rest.
    pub(crate) async fn run(self, mut opened: UnboundedReceiver<(OpenEffect, Option<Carried>)>, mut rest: Rest) {
        let runner = Arc::new(self);
        let mut waiting = Waiting::default();
        let mut attempts = NamedTasks::new();
        let mut taken = Vec::with_capacity(TAKEN_AT_ONCE);
        loop {
            let wake = if rest.is_on() { None } else { runner.start_due(&mut waiting, &mut attempts) };
            tokio::select! {
                count = opened.recv_many(&mut taken, TAKEN_AT_ONCE) => {
                    if count == 0 {
                        return;
                    }
                    let now = Instant::now();
                    for (effect, carried) in taken.drain(..) {
                        // Nobody knows for how long: what waits is read anew.
                        let carried = carried.filter(|_| !rest.is_on());
                        let entry = runner.backlog.enter(now.into_std());
                        waiting.add(now, Try { effect, entry, pause: PAUSE_FIRST }, carried);
                    }
                }
                Some((tried, ended)) = attempts.next() => {
                    waiting.note_end(tried, ended, &runner.backlog);
                    while let Some((tried, ended)) = attempts.next_ended() {
                        waiting.note_end(tried, ended, &runner.backlog);
                    }
                }
                () = sleep_until(wake) => {}
                () = rest.ended() => {}
            }
        }
    }

    /// Starts what is due as far as there is room, and says when there is more to start.
    fn start_due(
        self: &Arc<Self>,
        waiting: &mut Waiting,
        attempts: &mut NamedTasks<Try, Result<(), String>>,
    ) -> Option<Instant> {
        waiting.next()?;
        let now = Instant::now();
        while let Some(place) = self.running.enter() {
            let Some((due, carried)) = waiting.take_due(now) else { return waiting.next() };
            attempts.spawn(due, Arc::clone(self).attempt_in(place, due.effect, carried));
        }
        // There is no room before an attempt ends, which wakes the runner, too.
        None
    }

    async fn attempt_in(
        self: Arc<Self>,
        _place: Permit,
        open: OpenEffect,
        carried: Option<Carried>,
    ) -> Result<(), String> {
        self.attempt(open, carried).await
    }

    async fn attempt(&self, open: OpenEffect, carried: Option<Carried>) -> Result<(), String> {
        let (effect, payment) = match carried.map(Carried::into_rows) {
            Some((effect, payment)) => (Some(effect), payment),
            None => self.caller.read(open).map_err(|error| error.to_string())?,
        };
        if let Some(effect) = effect {
            let command = self.call(open, &effect, &payment).await.map_err(|error| error.to_string())?;
            self.record(open, command).await?;
        }
        self.forget_security_code(&payment);
        Ok(())
    }

    async fn call(&self, open: OpenEffect, effect: &Effect, payment: &Payment) -> Result<Command, NoResult> {
        let call = self.caller.call(open.merchant_id, effect, payment);
        let timed_out = |_| NoResult::Unanswered("it took too long".to_owned());
        tokio::time::timeout(CALL_TIMEOUT, call).await.map_err(timed_out)?
    }

    async fn record(&self, open: OpenEffect, command: Command) -> Result<(), String> {
        self.registry.carry_out(open.merchant_id, command).await.map(|_| ())
    }

    /// Once an authorization is recorded as answered, its security code must not be kept any longer.
    fn forget_security_code(&self, payment: &Payment) {
        if let Instrument::Token { token_id, usage: _, card: _ } = &payment.instrument {
            self.caller.security_codes.remove(*token_id);
        }
    }
}

fn warn_of(Try { effect, entry: _, pause: _ }: Try, reason: &str) {
    let OpenEffect { merchant_id, effect_id: EffectId { payment_id, refund_id } } = effect;
    let refund_id = refund_id.map(tracing::field::display);
    tracing::warn!(%merchant_id, %payment_id, refund_id, reason, "an effect has no result yet and is tried again");
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use till_domain::ids::{MerchantId, PaymentId};

    fn try_of(number: u8, pause: Duration) -> Try {
        let merchant_id = MerchantId::from_bytes([1; 16]);
        let effect_id = EffectId::operation(PaymentId::from_bytes([number; 16]));
        let effect = OpenEffect { merchant_id, effect_id };
        Try { effect, entry: 0, pause }
    }

    fn take_due(waiting: &mut Waiting, now: Instant) -> Option<Try> {
        waiting.take_due(now).map(|(due, _)| due)
    }

    #[test]
    fn what_is_due_is_tried_in_the_order_it_came_and_what_is_not_waits() {
        let (mut waiting, now) = (Waiting::default(), Instant::now());
        for number in [3, 1, 2] {
            waiting.add(now, try_of(number, PAUSE_FIRST), None);
        }
        waiting.add_again(now, try_of(9, PAUSE_FIRST));
        for number in [3, 1, 2] {
            assert_eq!(take_due(&mut waiting, now), Some(try_of(number, PAUSE_FIRST)));
        }
        assert_eq!(take_due(&mut waiting, now), None);
        assert_eq!(waiting.next(), Some(now + PAUSE_FIRST));
        assert_eq!(take_due(&mut waiting, now + PAUSE_FIRST), Some(try_of(9, PAUSE_FIRST * 2)));
    }

    #[test]
    fn the_pauses_double_up_to_the_longest() {
        let (mut waiting, mut now) = (Waiting::default(), Instant::now());
        let mut next = try_of(1, PAUSE_FIRST);
        for _ in 0..12 {
            waiting.add_again(now, next);
            now += next.pause;
            next = take_due(&mut waiting, now).expect("its pause is over");
        }
        assert_eq!(next.pause, PAUSE_MAX);
    }
}
