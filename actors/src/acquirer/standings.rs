//! What this process knows of accounts by the acquirers' answers. Nothing of it is stored: another process finds it out
//! again.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use till_domain::acquirer::AccountState;
use till_domain::ids::AcquirerId;
use till_domain::time::Millis;

/// What is known of one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountStanding {
    /// Its state.
    pub state: AccountState,
    /// The time since which it has it.
    pub since: Millis,
    /// The time of the acquirer's last answer; none before the first.
    pub last_answer_at: Option<Millis>,
}

/// What is known of all accounts of which there is anything to know.
#[derive(Debug, Default)]
pub struct AccountStandings(Mutex<BTreeMap<AcquirerId, AccountStanding>>);

impl AccountStandings {
    /// What is known of an account that was added at some time: it is ready until something else is noted.
    #[must_use]
    pub fn of(&self, id: AcquirerId, added_at: Millis) -> AccountStanding {
        let ready = AccountStanding { state: AccountState::Ready, since: added_at, last_answer_at: None };
        self.0.lock().get(&id).copied().unwrap_or(ready)
    }

    /// Notes a state. A line of the log tells of a change.
    pub fn note(&self, id: AcquirerId, state: AccountState, at: Millis) {
        self.change(id, at, |standing| {
            if standing.state != state {
                (standing.state, standing.since) = (state, at);
                tracing::info!(acquirer_id = %id, state = state.name(), "the state of an account changed");
            }
        });
    }

    /// Notes that the acquirer answered.
    pub fn note_answer(&self, id: AcquirerId, at: Millis) {
        self.change(id, at, |standing| standing.last_answer_at = Some(at));
    }

    fn change(&self, id: AcquirerId, at: Millis, change: impl FnOnce(&mut AccountStanding)) {
        let ready = AccountStanding { state: AccountState::Ready, since: at, last_answer_at: None };
        change(self.0.lock().entry(id).or_insert(ready));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: AcquirerId = AcquirerId::from_bytes([3; 16]);

    #[test]
    fn a_state_lasts_since_it_was_first_noted() {
        let standings = AccountStandings::default();
        let (state, since) = (AccountState::Ready, Millis(5));
        assert_eq!(standings.of(ACCOUNT, Millis(5)), AccountStanding { state, since, last_answer_at: None });
        for at in [10, 20] {
            standings.note(ACCOUNT, AccountState::NotAnswering, Millis(at));
        }
        let (state, since) = (AccountState::NotAnswering, Millis(10));
        assert_eq!(standings.of(ACCOUNT, Millis(5)), AccountStanding { state, since, last_answer_at: None });
        standings.note_answer(ACCOUNT, Millis(30));
        let last_answer_at = Some(Millis(30));
        assert_eq!(standings.of(ACCOUNT, Millis(5)), AccountStanding { state, since, last_answer_at });
    }
}
