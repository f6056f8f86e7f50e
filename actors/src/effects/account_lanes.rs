//! The lanes of all accounts at acquirers. A call of an account is made when its lane has a permit for it; until then
//! it waits here, and holds neither a place among the calls under way nor a thread. The sandbox has no such lanes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use till_domain::acquirer::{AccountMode, AccountState};
use till_domain::ids::AcquirerId;
use till_domain::time::Millis;
use tokio::sync::Notify;
use tokio::time::{sleep_until, timeout};

use super::account_lane::{AccountLane, AccountStanding, CallKey, Heard, NextCall, WaitingCall};
use super::times::CallTimes;
use crate::background::WorkQueue;
use crate::clock::Clock;

/// Limit of the calls of all accounts together that are under way at once: half of all, so that the other half is left
/// for the sandbox.
const CALLS_OF_ACCOUNTS_MAX: usize = 512;

/// The longest time in which nobody looks for calls that may go on, when none is known to become due.
const LOOK_PAUSE_MAX: Duration = Duration::from_secs(60);

/// The lanes of the accounts that this process has called, with what it knows of them. Nothing of it is stored: another
/// process finds it out again.
#[derive(Debug)]
pub struct AccountLanes {
    times: CallTimes,
    state: Mutex<Lanes>,
    /// Notified when a call may go on.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Lanes {
    of: BTreeMap<AcquirerId, AccountLane>,
    calls: BTreeMap<CallKey, LaneCall>,
    under_way: usize,
    /// The account whose call went last: those of the next account go before its own.
    last: Option<AcquirerId>,
}

/// A call that is not made yet.
#[derive(Debug, Clone, Copy)]
enum LaneCall {
    /// It waits since this instant.
    Waits(AcquirerId, Millis),
    /// It counts as under way, and is made in its turn; true when it finds out whether the acquirer answers again.
    Called(AcquirerId, bool),
}

/// The right to make one call of an account, until dropped.
#[derive(Debug)]
pub(super) struct LanePermit {
    lanes: Arc<AccountLanes>,
    acquirer_id: AcquirerId,
    is_probe: bool,
    /// The account as it was when the call began.
    changes: u32,
    has_asked: AtomicBool,
}

impl AccountLanes {
    pub(crate) fn new(times: CallTimes) -> Arc<AccountLanes> {
        Arc::new(AccountLanes { times, state: Mutex::default(), changed: Notify::new() })
    }

    /// What is known of an account that was added at some time: it is ready until something else is heard.
    #[must_use]
    pub fn standing(&self, id: AcquirerId, added_at: Millis) -> AccountStanding {
        let known = self.state.lock().of.get(&id).map(|lane| lane.standing).unwrap_or_default();
        AccountStanding { since: known.since.max(added_at), ..known }
    }

    /// The number of accounts in each state, of those that this process has called.
    #[must_use]
    pub fn by_state(&self) -> [(AccountState, u64); AccountState::ALL.len()] {
        let state = self.state.lock();
        AccountState::ALL.map(|of| (of, state.of.values().filter(|lane| lane.standing.state == of).count() as u64))
    }

    /// Notes that the acquirer answered a call in the name of an account that no payment asked for.
    pub fn note_answer(&self, id: AcquirerId, at: Millis) {
        self.state.lock().of.entry(id).or_default().standing.last_answer_at = Some(at);
    }

    /// Notes the mode of an account, which has a rate of its own.
    pub(super) fn note_mode(&self, id: AcquirerId, mode: AccountMode) {
        self.state.lock().of.entry(id).or_default().is_live = mode == AccountMode::Live;
    }

    /// An account was changed: its calls go on at once, with what it is now.
    pub fn renew(&self, id: AcquirerId, at: Millis) {
        let changed = self.state.lock().of.get_mut(&id).and_then(|lane| lane.renew(at));
        self.tell(id, changed);
    }

    /// Forgets an account that was removed.
    pub fn remove(&self, id: AcquirerId) {
        self.state.lock().of.remove(&id);
    }

    /// The state of an account whose calls wait until the acquirer answers again or takes the secret; none of another.
    pub(super) fn closed_as(&self, id: AcquirerId) -> Option<AccountState> {
        let state = self.state.lock();
        state.of.get(&id).filter(|lane| lane.is_closed()).map(|lane| lane.standing.state)
    }

    /// Waits for a turn of an account's rate, for a question about no call.
    pub(super) async fn turn(&self, id: AcquirerId) {
        let turn = self.state.lock().of.entry(id).or_default().turn(&self.times, Instant::now());
        sleep_until(turn.into()).await;
    }

    /// A permit to make a call of an account; without one the call waits, and is queued again when it may be made.
    pub(super) fn enter(self: &Arc<Self>, id: AcquirerId, call: WaitingCall, now: Instant) -> Option<LanePermit> {
        let mut state = self.state.lock();
        if let Some(LaneCall::Called(_, is_probe)) = state.calls.get(&call.key).copied() {
            state.calls.remove(&call.key);
            return Some(self.permit(&mut state, id, is_probe));
        }
        state.wait(id, call);
        if state.under_way < CALLS_OF_ACCOUNTS_MAX
            && state.is_alone(id)
            && let Ok((_, is_probe)) = state.take(id, &self.times, now)
        {
            state.calls.remove(&call.key);
            return Some(self.permit(&mut state, id, is_probe));
        }
        self.changed.notify_one();
        None
    }

    /// Lets a call wait that was made without a result.
    pub(super) fn wait(&self, id: AcquirerId, call: WaitingCall) {
        self.state.lock().wait(id, call);
        self.changed.notify_one();
    }

    /// Forgets a call that is not open any more.
    pub(super) fn forget(&self, key: CallKey) {
        let mut state = self.state.lock();
        match state.calls.remove(&key) {
            Some(LaneCall::Waits(id, opened_at)) => {
                state.of.entry(id).and_modify(|lane| _ = lane.waiting.remove(&(opened_at, key)));
            }
            Some(LaneCall::Called(id, is_probe)) => {
                state.end(id, is_probe);
                self.changed.notify_one();
            }
            None => {}
        }
    }

    /// Learns what became of a call with a permit.
    pub(super) fn hear(&self, permit: &LanePermit, heard: Heard, (now, at): (Instant, Millis)) {
        let mut state = self.state.lock();
        let Some(lane) = state.of.get_mut(&permit.acquirer_id) else { return };
        if permit.has_asked.swap(true, Ordering::Relaxed) {
            lane.count(&self.times, now);
        }
        if lane.changes != permit.changes {
            return;
        }
        let changed = lane.hear(heard, permit.is_probe, &self.times, (now, at));
        drop(state);
        self.tell(permit.acquirer_id, changed);
    }

    /// Queues calls as soon as they may be made, until the runtime stops.
    pub(crate) async fn queue_calls<P>(self: Arc<Self>, queue: Arc<WorkQueue<CallKey, P>>, clock: Arc<dyn Clock>) {
        loop {
            let (calls, until_next) = self.take_calls(Instant::now());
            calls.into_iter().for_each(|key| queue.hasten(key, clock.now(), Duration::ZERO));
            let _nothing_changed = timeout(until_next.unwrap_or(LOOK_PAUSE_MAX), self.changed.notified()).await;
        }
    }

    /// Takes the calls that may be made now, and the time until more may be.
    fn take_calls(&self, now: Instant) -> (Vec<CallKey>, Option<Duration>) {
        let (mut state, mut taken, mut next_at) = (self.state.lock(), Vec::new(), None::<Instant>);
        let mut turns: Vec<AcquirerId> =
            state.of.iter().filter(|(_, lane)| !lane.waiting.is_empty()).map(|(id, _)| *id).collect();
        let next = turns.partition_point(|id| Some(*id) <= state.last);
        turns.rotate_left(next);
        for id in turns {
            while state.under_way < CALLS_OF_ACCOUNTS_MAX {
                match state.take(id, &self.times, now) {
                    Ok((key, is_probe)) => {
                        state.calls.insert(key, LaneCall::Called(id, is_probe));
                        state.last = Some(id);
                        taken.push(key);
                    }
                    Err(at) => {
                        next_at = next_at.into_iter().chain(at).min();
                        break;
                    }
                }
            }
        }
        (taken, next_at.map(|at| at.saturating_duration_since(now)))
    }

    fn permit(self: &Arc<Self>, state: &mut Lanes, acquirer_id: AcquirerId, is_probe: bool) -> LanePermit {
        let changes = state.of.entry(acquirer_id).or_default().changes;
        LanePermit { lanes: Arc::clone(self), acquirer_id, is_probe, changes, has_asked: AtomicBool::new(false) }
    }

    /// Tells of another state, and lets calls go on.
    fn tell(&self, id: AcquirerId, changed: Option<AccountState>) {
        let Some(state) = changed else { return };
        let advice = match state {
            AccountState::Ready => None,
            AccountState::NotAnswering => Some("its calls wait until the acquirer answers"),
            AccountState::CredentialsRefused => Some("its calls wait for another secret: see update-acquirer"),
            AccountState::CardNumbersRefused => {
                Some("ask the acquirer to take raw card data through its API, or set card_entry to PAGE")
            }
        };
        let name = state.name();
        if advice.is_some() {
            tracing::warn!(acquirer_id = %id, state = name, advice, "the state of an account changed");
        } else {
            tracing::info!(acquirer_id = %id, state = name, "the state of an account changed");
        }
        self.changed.notify_one();
    }
}

impl Lanes {
    fn wait(&mut self, id: AcquirerId, call: WaitingCall) {
        let lane = self.of.entry(id).or_default();
        if let Some(LaneCall::Waits(_, opened_at)) = self.calls.insert(call.key, LaneCall::Waits(id, call.opened_at)) {
            lane.waiting.remove(&(opened_at, call.key));
        }
        lane.wait(call);
    }

    /// True when one call of the account waits, and no other.
    fn is_alone(&self, id: AcquirerId) -> bool {
        self.of.get(&id).is_some_and(|lane| lane.waiting.len() == 1)
    }

    fn take(&mut self, id: AcquirerId, times: &CallTimes, now: Instant) -> NextCall {
        let next = self.of.get_mut(&id).ok_or(None)?.take(times, now)?;
        self.under_way += 1;
        Ok(next)
    }

    fn end(&mut self, id: AcquirerId, is_probe: bool) {
        self.under_way = self.under_way.saturating_sub(1);
        self.of.entry(id).and_modify(|lane| lane.end(is_probe));
    }
}

impl LanePermit {
    pub(super) fn hear(&self, heard: Heard, at: Millis) {
        self.lanes.hear(self, heard, (Instant::now(), at));
    }
}

impl Drop for LanePermit {
    fn drop(&mut self) {
        self.lanes.state.lock().end(self.acquirer_id, self.is_probe);
        self.lanes.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use till_domain::effect::EffectId;
    use till_domain::ids::{MerchantId, PaymentId};
    use till_domain::open_call::OpenCall;

    const AT: Millis = Millis(7);

    /// Lanes whose accounts may be called as fast as one likes.
    fn lanes() -> Arc<AccountLanes> {
        AccountLanes::new(CallTimes { between_test_calls: Duration::ZERO, ..CallTimes::default() })
    }

    fn account(number: u8) -> AcquirerId {
        AcquirerId::from_bytes([number; 16])
    }

    /// A call of an account, of which there is a payment with this number.
    fn call(account: u8, number: u64) -> WaitingCall {
        let payment = PaymentId::from_bytes(((u128::from(account) << 64) + u128::from(number)).to_be_bytes());
        let key = (MerchantId::from_bytes([1; 16]), OpenCall::Payment(EffectId::operation(payment)));
        WaitingCall { key, opened_at: Millis(number), gives_back: false }
    }

    fn fill(lanes: &Arc<AccountLanes>, of: u8, now: Instant) -> Vec<LanePermit> {
        (0..32).map(|number| lanes.enter(account(of), call(of, number), now).expect("there is room")).collect()
    }

    #[test]
    fn a_call_that_waits_is_queued_when_another_has_ended() {
        let (lanes, now) = (lanes(), Instant::now());
        let mut permits = fill(&lanes, 1, now);
        assert!(lanes.enter(account(1), call(1, 50), now).is_none());
        assert!(lanes.enter(account(1), call(1, 40), now).is_none());
        assert!(lanes.enter(account(2), call(2, 0), now).is_some(), "another account has its own lane");
        assert_eq!(lanes.take_calls(now), (vec![], None));
        permits.pop();
        assert_eq!(lanes.take_calls(now).0, [call(1, 40).key], "the oldest first");
        assert!(lanes.enter(account(1), call(1, 50), now).is_none(), "it waits on");
        permits.extend(lanes.enter(account(1), call(1, 40), now));
        assert_eq!(lanes.take_calls(now), (vec![], None));
        assert_eq!((permits.len(), lanes.state.lock().under_way), (32, 32));
    }

    #[test]
    fn a_call_that_is_not_open_any_more_gives_its_permit_to_another() {
        let (lanes, now) = (lanes(), Instant::now());
        let mut permits = fill(&lanes, 1, now);
        [40, 41, 42].into_iter().for_each(|number| drop(lanes.enter(account(1), call(1, number), now)));
        lanes.forget(call(1, 40).key);
        permits.pop();
        assert_eq!(lanes.take_calls(now).0, [call(1, 41).key]);
        lanes.forget(call(1, 41).key);
        assert_eq!(lanes.take_calls(now).0, [call(1, 42).key]);
    }

    #[test]
    fn at_most_512_calls_of_all_accounts_are_under_way_and_accounts_take_turns() {
        let (lanes, now) = (lanes(), Instant::now());
        let mut permits: Vec<_> = (1..=16).flat_map(|of| fill(&lanes, of, now)).collect();
        for of in [20, 21] {
            (0..3).for_each(|number| assert!(lanes.enter(account(of), call(of, number), now).is_none()));
        }
        let mut turns = Vec::new();
        for _ in 0..3 {
            permits.pop();
            turns.extend(lanes.take_calls(now).0);
        }
        assert_eq!(turns, [call(20, 0).key, call(21, 0).key, call(20, 1).key]);
    }

    #[test]
    fn what_a_call_hears_with_an_earlier_secret_says_nothing() {
        let (lanes, now) = (lanes(), Instant::now());
        let [earlier, later] = [0, 1].map(|number| {
            let permit = lanes.enter(account(1), call(1, number), now).expect("there is room");
            lanes.renew(account(1), AT);
            permit
        });
        lanes.hear(&earlier, Heard::CredentialsRefused, (now, AT));
        assert_eq!(lanes.standing(account(1), AT).state, AccountState::Ready);
        let permit = lanes.enter(account(1), call(1, 2), now).expect("there is room");
        lanes.hear(&permit, Heard::CredentialsRefused, (now, AT));
        assert_eq!(lanes.standing(account(1), AT).state, AccountState::CredentialsRefused);
        assert_eq!(lanes.closed_as(account(1)), Some(AccountState::CredentialsRefused));
        drop(later);
    }

    #[test]
    fn a_state_lasts_since_it_began_and_that_of_a_new_account_since_it_was_added() {
        let (lanes, now) = (lanes(), Instant::now());
        let ready = AccountStanding { state: AccountState::Ready, since: Millis(5), last_answer_at: None };
        assert_eq!(lanes.standing(account(1), Millis(5)), ready);
        let permit = lanes.enter(account(1), call(1, 0), now).expect("there is room");
        lanes.hear(&permit, Heard::Answer, (now, Millis(8)));
        assert_eq!(lanes.standing(account(1), Millis(5)), AccountStanding { last_answer_at: Some(Millis(8)), ..ready });
        assert_eq!(lanes.by_state()[0], (AccountState::Ready, 1));
        lanes.remove(account(1));
        assert_eq!(lanes.by_state()[0], (AccountState::Ready, 0));
    }
}
