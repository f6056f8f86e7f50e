//! The lane of one account at an acquirer: how many of its calls are under way, how fast they follow each other, and
//! what of them goes on while the acquirer gives no answer or refuses the secret.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use till_domain::acquirer::AccountState;
use till_domain::ids::MerchantId;
use till_domain::open_call::OpenCall;
use till_domain::time::Millis;

use super::times::CallTimes;

/// Limit of the calls of one account that are under way at once.
const CALLS_OF_ACCOUNT_MAX: usize = 32;

/// The calls in a row without an answer after which an account counts as not answering.
const SILENT_CALLS: u32 = 5;

/// The key of an open call.
pub(crate) type CallKey = (MerchantId, OpenCall);

/// What is known of one account by the acquirer's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountStanding {
    /// Its state.
    pub state: AccountState,
    /// The time since which it has it.
    pub since: Millis,
    /// The time of the acquirer's last answer; none before the first.
    pub last_answer_at: Option<Millis>,
}

/// It is ready until something else is heard.
impl Default for AccountStanding {
    fn default() -> AccountStanding {
        AccountStanding { state: AccountState::Ready, since: Millis(0), last_answer_at: None }
    }
}

/// A call of an account that is to be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingCall {
    pub(super) key: CallKey,
    pub(super) opened_at: Millis,
    /// True for a void or a refund.
    pub(super) gives_back: bool,
}

/// What became of a call of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// The acquirer answered, whatever it answered.
    Answer,
    /// It refused a card number, since it takes none from servers.
    CardNumberRefused,
    /// It refused the secret.
    CredentialsRefused,
    /// It refused the call, since there were too many.
    Limited,
    /// There was no answer.
    Silence,
}

/// The call of a lane that goes on now, and true when it finds out alone whether the acquirer answers again; or the
/// instant at which one may go on, none when nothing may before something else happens.
pub(super) type NextCall = Result<(CallKey, bool), Option<Instant>>;

/// The lane of an account. It is ready while nothing else is known, and has the lower rate until its mode is.
#[derive(Debug, Default)]
pub(super) struct AccountLane {
    pub(super) standing: AccountStanding,
    /// The number of times at which the account was changed. What calls with an earlier secret hear says nothing.
    pub(super) changes: u32,
    pub(super) is_live: bool,
    refuses_card_numbers: bool,
    under_way: usize,
    /// The calls that wait, the oldest first, each with true for a void or a refund.
    pub(super) waiting: BTreeMap<(Millis, CallKey), bool>,
    silent: u32,
    /// The instant from which the next call may go.
    next_at: Option<Instant>,
    limited_until: Option<Instant>,
    /// Some while the acquirer gives no answer or refuses the secret.
    probes: Option<Probes>,
}

/// Calls that find out whether an acquirer answers again, one at a time.
#[derive(Debug)]
struct Probes {
    pause: Duration,
    next_at: Instant,
    is_under_way: bool,
    /// The calls that have asked in vain: the others ask first, so that one that is never answered does not keep all
    /// others waiting.
    asked: BTreeSet<CallKey>,
}

impl AccountLane {
    /// True while only single calls find out whether the acquirer answers again.
    pub(super) const fn is_closed(&self) -> bool {
        self.probes.is_some()
    }

    /// Lets a call wait.
    pub(super) fn wait(&mut self, call: WaitingCall) {
        self.waiting.insert((call.opened_at, call.key), call.gives_back);
    }

    /// Takes the next call that may go on, which is under way from then on.
    pub(super) fn take(&mut self, times: &CallTimes, now: Instant) -> NextCall {
        let next = match &mut self.probes {
            Some(probes) => probes.next(&self.waiting, now)?,
            None if self.under_way >= CALLS_OF_ACCOUNT_MAX => return Err(None),
            None => {
                let (next, _) = self.waiting.first_key_value().ok_or(None)?;
                self.next_at.filter(|at| *at > now).map_or(Ok(*next), |at| Err(Some(at)))?
            }
        };
        self.waiting.remove(&next);
        self.under_way += 1;
        self.count(times, now);
        Ok((next.1, self.is_closed()))
    }

    /// Counts a call in the account's rate. Calls that came late do not delay those after them by more than one.
    pub(super) fn count(&mut self, times: &CallTimes, now: Instant) {
        let is_limited = self.limited_until.is_some_and(|until| now < until);
        let between = if self.is_live { times.between_live_calls } else { times.between_test_calls };
        let between = between * if is_limited { 2 } else { 1 };
        let earliest = now.checked_sub(between).unwrap_or(now);
        self.next_at = Some(self.next_at.unwrap_or(earliest).max(earliest) + between);
    }

    /// Takes the next turn of the account's rate, and answers when it is.
    pub(super) fn turn(&mut self, times: &CallTimes, now: Instant) -> Instant {
        let turn = self.next_at.map_or(now, |at| at.max(now));
        self.count(times, now);
        turn
    }

    /// A call is not under way any more.
    pub(super) fn end(&mut self, is_probe: bool) {
        self.under_way = self.under_way.saturating_sub(1);
        if let Some(probes) = self.probes.as_mut().filter(|_| is_probe) {
            probes.is_under_way = false;
        }
    }

    /// Learns what became of a call, and returns the state that the account has now when that is another one.
    pub(super) fn hear(
        &mut self,
        heard: Heard,
        is_probe: bool,
        times: &CallTimes,
        (now, at): (Instant, Millis),
    ) -> Option<AccountState> {
        if heard == Heard::Silence {
            self.silent = self.silent.saturating_add(1);
        } else {
            (self.silent, self.standing.last_answer_at) = (0, Some(at));
        }
        let state = match heard {
            Heard::Silence if self.is_closed() || self.silent < SILENT_CALLS => self.standing.state,
            Heard::Silence => AccountState::NotAnswering,
            Heard::CredentialsRefused => AccountState::CredentialsRefused,
            Heard::Answer | Heard::CardNumberRefused | Heard::Limited => {
                self.refuses_card_numbers |= heard == Heard::CardNumberRefused;
                self.limited_until = (heard == Heard::Limited).then(|| now + times.limited).or(self.limited_until);
                return self.open(at);
            }
        };
        if state != self.standing.state {
            let pause = times.probe_first;
            self.probes = Some(Probes { pause, next_at: now + pause, is_under_way: false, asked: BTreeSet::new() });
        } else if let Some(probes) = self.probes.as_mut().filter(|_| is_probe) {
            probes.pause = (probes.pause * 2).min(times.probe_max);
            probes.next_at = now + probes.pause;
        }
        self.enter(state, at)
    }

    /// The account was changed: everything goes on with what it is now.
    pub(super) fn renew(&mut self, at: Millis) -> Option<AccountState> {
        (self.changes, self.silent, self.refuses_card_numbers) = (self.changes.wrapping_add(1), 0, false);
        self.open(at)
    }

    fn open(&mut self, at: Millis) -> Option<AccountState> {
        self.probes = None;
        let is_ready = !self.refuses_card_numbers;
        self.enter(if is_ready { AccountState::Ready } else { AccountState::CardNumbersRefused }, at)
    }

    fn enter(&mut self, state: AccountState, at: Millis) -> Option<AccountState> {
        if self.standing.state == state {
            return None;
        }
        (self.standing.state, self.standing.since) = (state, at);
        Some(state)
    }
}

impl Probes {
    /// Takes the call that asks next: the oldest void or refund that has not asked yet, else the oldest such call.
    fn next(
        &mut self,
        waiting: &BTreeMap<(Millis, CallKey), bool>,
        now: Instant,
    ) -> Result<(Millis, CallKey), Option<Instant>> {
        if self.is_under_way || waiting.is_empty() {
            return Err(None);
        }
        if now < self.next_at {
            return Err(Some(self.next_at));
        }
        if waiting.keys().all(|(_, key)| self.asked.contains(key)) {
            self.asked.clear();
        }
        let others = || waiting.iter().filter(|((_, key), _)| !self.asked.contains(key));
        let (next, _) = others().find(|(_, gives_back)| **gives_back).or(others().next()).ok_or(None)?;
        let next = *next;
        self.asked.insert(next.1);
        (self.is_under_way, self.next_at) = (true, now + self.pause);
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use till_domain::effect::EffectId;
    use till_domain::ids::PaymentId;

    const AT: Millis = Millis(7);

    fn key(number: u8) -> CallKey {
        let effect = EffectId::operation(PaymentId::from_bytes([number; 16]));
        (MerchantId::from_bytes([1; 16]), OpenCall::Payment(effect))
    }

    /// A lane of a real account in which these calls wait, the first the oldest, and the present instant.
    fn lane_of(numbers: impl IntoIterator<Item = u8>) -> (AccountLane, Instant) {
        let mut lane = AccountLane { is_live: true, ..AccountLane::default() };
        numbers.into_iter().for_each(|number| wait(&mut lane, number, false));
        (lane, Instant::now())
    }

    fn wait(lane: &mut AccountLane, number: u8, gives_back: bool) {
        let opened_at = Millis(u64::from(number));
        lane.wait(WaitingCall { key: key(number), opened_at, gives_back });
    }

    fn times() -> CallTimes {
        CallTimes::default()
    }

    /// Five calls of a lane get no answer.
    fn fall_silent(lane: &mut AccountLane, now: Instant) {
        let states: Vec<_> = (0..5).map(|_| lane.hear(Heard::Silence, false, &times(), (now, AT))).collect();
        assert_eq!(states, [None, None, None, None, Some(AccountState::NotAnswering)]);
    }

    #[test]
    fn at_most_32_calls_of_an_account_are_under_way() {
        let (mut lane, mut now) = lane_of(0..40);
        for number in 0..32 {
            assert_eq!(lane.take(&times(), now), Ok((key(number), false)), "the oldest first");
            now += times().between_live_calls;
        }
        assert_eq!(lane.take(&times(), now), Err(None));
        lane.end(false);
        assert_eq!(lane.take(&times(), now), Ok((key(32), false)));
    }

    /// The number of calls that go within a time, when all end at once.
    fn taken_within(lane: &mut AccountLane, begin: Instant, time: Duration) -> usize {
        let (mut now, mut count) = (begin, 0);
        while now < begin + time {
            match lane.take(&times(), now) {
                Ok(_) => count += 1,
                Err(Some(at)) => now = at,
                Err(None) => panic!("calls wait"),
            }
            lane.end(false);
        }
        count
    }

    #[test]
    fn calls_of_an_account_have_a_rate_that_a_limit_of_the_acquirer_halves_for_ten_seconds() {
        let second = Duration::from_secs(1);
        let (mut lane, now) = lane_of(0..=255);
        assert_eq!(taken_within(&mut lane, now, second), 81, "one at once, and 80 a second");
        assert_eq!(lane.hear(Heard::Limited, false, &times(), (now + second, AT)), None);
        assert_eq!(taken_within(&mut lane, now + second, second), 40);
        assert_eq!(taken_within(&mut lane, now + 12 * second, second), 81);
        let mut lane = AccountLane::default();
        (0..=255).for_each(|number| wait(&mut lane, number, false));
        assert_eq!(taken_within(&mut lane, now, second), 21);
    }

    #[test]
    fn a_question_about_no_call_takes_a_turn_of_the_rate() {
        let ((mut lane, now), between) = (lane_of(0..3), times().between_live_calls);
        assert_eq!(lane.turn(&times(), now), now);
        assert_eq!(lane.take(&times(), now), Ok((key(0), false)));
        assert_eq!(lane.turn(&times(), now), now + between);
        assert_eq!(lane.take(&times(), now), Err(Some(now + 2 * between)));
    }

    #[test]
    fn after_five_calls_without_answer_one_at_a_time_asks_again() {
        let (mut lane, mut now) = lane_of(0..9);
        fall_silent(&mut lane, now);
        assert_eq!(
            lane.standing,
            AccountStanding { state: AccountState::NotAnswering, since: AT, last_answer_at: None }
        );
        for pause in [5, 10, 20, 40, 60, 60] {
            let at = now + Duration::from_secs(pause);
            assert_eq!(lane.take(&times(), now), Err(Some(at)), "{pause}");
            now = at;
            assert!(matches!(lane.take(&times(), now), Ok((_, true))), "{pause}");
            assert_eq!(lane.take(&times(), now + Duration::from_secs(600)), Err(None), "while one asks");
            assert_eq!(lane.hear(Heard::Silence, false, &times(), (now, AT)), None, "of a call that was under way");
            assert_eq!(lane.hear(Heard::Silence, true, &times(), (now, AT)), None);
            lane.end(true);
        }
        assert_eq!(lane.hear(Heard::Answer, true, &times(), (now, Millis(9))), Some(AccountState::Ready));
        assert_eq!((lane.standing.since, lane.standing.last_answer_at), (Millis(9), Some(Millis(9))));
        assert!(matches!(lane.take(&times(), now), Ok((_, false))), "the others go on at once");
    }

    #[test]
    fn an_answer_ends_the_calls_in_a_row_without_one() {
        let (mut lane, now) = lane_of(0..3);
        for heard in [Heard::Silence, Heard::Silence, Heard::Silence, Heard::Silence, Heard::Limited] {
            assert_eq!(lane.hear(heard, false, &times(), (now, AT)), None);
        }
        fall_silent(&mut lane, now);
    }

    #[test]
    fn the_oldest_void_or_refund_asks_first_and_then_one_that_has_not_asked() {
        let (mut lane, mut now) = lane_of([1, 2]);
        [5, 4].into_iter().for_each(|number| wait(&mut lane, number, true));
        fall_silent(&mut lane, now);
        let mut asked = Vec::new();
        for _ in 0..5 {
            now += times().probe_max;
            let Ok(((_, call), true)) = lane.take(&times(), now) else { panic!("one asks") };
            lane.end(true);
            let number = (1..=5).find(|number| key(*number).1 == call).expect("it is one of these");
            asked.push(number);
            wait(&mut lane, number, number > 3);
        }
        assert_eq!(asked, [4, 5, 1, 2, 4]);
    }

    #[test]
    fn a_refused_secret_holds_calls_until_the_account_is_changed() {
        let (mut lane, now) = lane_of(0..3);
        let refused = |lane: &mut AccountLane| lane.hear(Heard::CredentialsRefused, false, &times(), (now, AT));
        assert_eq!(refused(&mut lane), Some(AccountState::CredentialsRefused));
        assert_eq!(refused(&mut lane), None, "it is told once");
        assert_eq!(lane.take(&times(), now), Err(Some(now + times().probe_first)));
        assert_eq!(lane.renew(AT), Some(AccountState::Ready));
        assert_eq!(lane.take(&times(), now), Ok((key(0), false)));
    }

    #[test]
    fn refused_card_numbers_stay_so_until_the_account_is_changed() {
        let (mut lane, now) = lane_of(0..3);
        let hear = |lane: &mut AccountLane, heard| lane.hear(heard, false, &times(), (now, AT));
        assert_eq!(hear(&mut lane, Heard::CardNumberRefused), Some(AccountState::CardNumbersRefused));
        assert_eq!(hear(&mut lane, Heard::Answer), None);
        assert!(!lane.is_closed(), "other payments go on");
        fall_silent(&mut lane, now);
        assert_eq!(hear(&mut lane, Heard::Answer), Some(AccountState::CardNumbersRefused));
        assert_eq!(lane.renew(AT), Some(AccountState::Ready));
    }
}
