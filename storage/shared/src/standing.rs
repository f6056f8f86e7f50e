//! What a process knows of the shards that it holds. The thread that writes and the one that seeks outcomes share it;
//! nothing here waits for the database.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use uuid::Uuid;

use crate::counts::Counts;
use crate::error::SharedJournalError;
use crate::local_replica::{Complete, LocalReplica};
use crate::shard::{Hold, Holds, Shard};

/// Called when another process has claimed what this one held.
pub type OnFenced = Arc<dyn Fn() + Send + Sync>;

const NOT_EXACTLY: &str = "the database of the log does not have exactly the commits that it acknowledged";

#[derive(Default)]
struct State {
    holds: Holds,
    /// Shards of which it is being found out how many commits they have: true where one of this process may have
    /// landed.
    sought: BTreeMap<Shard, bool>,
    /// The reason for which nothing is written for the time being.
    refusal: Option<String>,
    /// True while a thread seeks.
    is_seeking: bool,
    /// True when commits were lost that the server goes on without.
    has_lost: bool,
    /// True once nobody waits for outcomes any more.
    has_ended: bool,
}

/// The shards that a process holds.
pub(crate) struct Standing {
    state: Mutex<State>,
    changed: Condvar,
    pub(crate) replica: Arc<LocalReplica>,
    pub(crate) counts: Arc<Counts>,
    on_fenced: OnFenced,
    /// True for rows that belong to no log: the server goes on from what the database has of them.
    outlives_loss: bool,
}

/// The present knowledge of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// It is still sought.
    Sought,
    /// The shard is held.
    Held(Hold),
    /// Another process holds the shard, or it is lost.
    NotHeld,
}

impl Standing {
    pub(crate) fn new(
        holds: Holds,
        replica: Arc<LocalReplica>,
        counts: Arc<Counts>,
        on_fenced: OnFenced,
        outlives_loss: bool,
    ) -> Standing {
        let state = Mutex::new(State { holds, ..State::default() });
        let standing = Standing { state, changed: Condvar::new(), replica, counts, on_fenced, outlives_loss };
        standing.note_shards();
        standing
    }

    pub(crate) fn holds(&self) -> Holds {
        self.state.lock().holds.clone()
    }

    pub(crate) fn hold(&self, shard: Shard) -> Option<Hold> {
        self.state.lock().holds.get(&shard).copied()
    }

    /// The commits up to which the store has everything once it has written the last group.
    pub(crate) fn complete(&self, holder: Uuid) -> Vec<Complete> {
        self.replica.complete(holder, &self.state.lock().holds)
    }

    /// Notes one more commit of shards.
    pub(crate) fn note_commit(&self, shards: &[Shard]) {
        let mut state = self.state.lock();
        for shard in shards {
            if let Some(hold) = state.holds.get_mut(shard) {
                hold.commits += 1;
            }
        }
    }

    /// Checks that a shard is this process's, and that nothing of it is sought.
    pub(crate) fn check_held(&self, shard: Shard) -> Result<(), SharedJournalError> {
        match self.knowledge(shard) {
            Found::Sought => {
                Err(SharedJournalError::Unreachable("the outcome of an earlier write is not known yet".to_owned()))
            }
            Found::Held(_) => Ok(()),
            Found::NotHeld if self.replica.is_lost(shard) => Err(SharedJournalError::Lost),
            Found::NotHeld => Err(SharedJournalError::Fenced),
        }
    }

    /// The present knowledge of a shard.
    pub(crate) fn knowledge(&self, shard: Shard) -> Found {
        let state = self.state.lock();
        match state.holds.get(&shard) {
            _ if state.sought.contains_key(&shard) => Found::Sought,
            Some(hold) => Found::Held(*hold),
            None => Found::NotHeld,
        }
    }

    /// The reason for which nothing is written now.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.state.lock().refusal.clone()
    }

    /// Makes the lanes refuse all writes until the thread that seeks has ended, unless it has ended already.
    pub(crate) fn refuse(&self, reason: &str) {
        let mut state = self.state.lock();
        if state.is_seeking {
            state.refusal.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// Adds shards whose outcome the thread that seeks must find out. Returns true when there is no such thread yet.
    pub(crate) fn seek(&self, shards: impl Iterator<Item = Shard>, may_have_landed: bool) -> bool {
        let mut state = self.state.lock();
        state.sought.extend(shards.map(|shard| (shard, may_have_landed)));
        !std::mem::replace(&mut state.is_seeking, true)
    }

    /// The shards that are sought; none when the thread that seeks is to end.
    pub(crate) fn sought(&self) -> Option<Vec<Shard>> {
        let state = self.state.lock();
        (!state.has_ended).then(|| state.sought.keys().copied().collect())
    }

    /// Waits until nothing is sought any more, or until an instant. Returns true when nothing is.
    pub(crate) fn wait_until_found(&self, until: Instant) -> bool {
        let mut state = self.state.lock();
        while !state.sought.is_empty() && !self.changed.wait_until(&mut state, until).timed_out() {}
        state.sought.is_empty()
    }

    /// Takes the result of claims over that were made again, with the shards that others hold. Returns false when more
    /// is sought by now; else the thread that seeks has ended.
    pub(crate) fn take_found(&self, sought: &[Shard], claimed: &Holds, foreign: &[(Shard, Hold)]) -> bool {
        for shard in sought {
            let is_open = self.state.lock().sought.get(shard).copied().unwrap_or_default();
            match (claimed.get(shard), foreign.iter().find(|(other, _)| other == shard)) {
                (Some(hold), _) => self.take_hold(*shard, *hold, is_open),
                (None, Some((_, there))) => self.judge_foreign(*shard, *there),
                // It was held again between the two looks: it is sought once more.
                (None, None) => continue,
            }
            self.state.lock().sought.remove(shard);
        }
        let mut state = self.state.lock();
        let is_done = state.sought.is_empty();
        if is_done {
            (state.is_seeking, state.refusal) = (false, None);
        }
        drop(state);
        self.changed.notify_all();
        is_done
    }

    /// Ends the thread that seeks.
    pub(crate) fn end(&self) {
        self.state.lock().has_ended = true;
    }

    /// Takes a claim over whose shard has the commits that it should have: one more than was known only where one of
    /// this process may have landed.
    fn take_hold(&self, shard: Shard, hold: Hold, may_have_landed: bool) {
        let Some(before) = self.hold(shard) else { return };
        let expected = before.commits..=before.commits + i64::from(may_have_landed);
        if !expected.contains(&hold.commits) && self.lose(shard, before.commits, hold.commits) {
            return;
        }
        self.state.lock().holds.insert(shard, hold);
    }

    /// Judges a shard that another process holds, or that is older than this process's claim.
    pub(crate) fn judge_foreign(&self, shard: Shard, there: Hold) {
        let Some(before) = self.hold(shard) else { return };
        if there.epoch <= before.epoch {
            // No claim lowers an epoch: the database does not know of this process any more.
            tracing::error!(shard, "the database of the log is an older copy, which does not have this server's claim");
            self.stop(shard, before.commits, there.commits);
            return;
        }
        tracing::error!(shard, "another process has claimed a shard of the log");
        self.state.lock().holds.remove(&shard);
        self.note_shards();
        (self.on_fenced)();
    }

    /// The database does not have the commits that it acknowledged. Returns true when the shard is not used any more.
    fn lose(&self, shard: Shard, expected: i64, found: i64) -> bool {
        if self.outlives_loss {
            self.note_loss(shard, expected, found);
        } else {
            self.stop(shard, expected, found);
        }
        !self.outlives_loss
    }

    /// Notes a loss after which the server goes on.
    pub(crate) fn note_loss(&self, shard: Shard, expected: i64, found: i64) {
        tracing::error!(shard, expected, found, "{NOT_EXACTLY}: the server goes on from what it has of these rows");
        self.state.lock().has_lost = true;
        self.counts.stats.lock().losses += 1;
    }

    /// True after a loss.
    pub(crate) fn has_lost(&self) -> bool {
        self.state.lock().has_lost
    }

    /// Uses a shard no more, whose commits are not those that the database acknowledged.
    pub(crate) fn stop(&self, shard: Shard, expected: i64, found: i64) {
        tracing::error!(shard, expected, found, "{NOT_EXACTLY}");
        if self.outlives_loss {
            self.counts.stats.lock().losses += 1;
        }
        self.state.lock().holds.remove(&shard);
        self.replica.note_lost(shard, expected);
        self.note_shards();
    }

    /// Notes how many shards are held and lost. Rows of no log are not counted.
    fn note_shards(&self) {
        if !self.outlives_loss {
            let held = self.state.lock().holds.len();
            let mut stats = self.counts.stats.lock();
            (stats.shards_held, stats.shards_lost) = (held, self.replica.lost_count());
        }
    }
}
