//! The lane: one connection on which groups are appended, one after the other, and what is known of the shards.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use till_domain::ids::MerchantId;
use till_storage::first_commit::FirstVerdict;
use till_storage::journal::{Append, CommitNumber};
use tokio_postgres::Statement;
use uuid::Uuid;

use crate::append::{self, Group};
use crate::claim::claim;
use crate::connection::Connection;
use crate::counts::Counts;
use crate::error::SharedJournalError;
use crate::followed::Followed;
use crate::schema::{Format, usable_format};
use crate::settings::JournalSettings;
use crate::shard::{Hold, Holds, Shard, shard_of};

/// The time after which callers are told that an outcome is unknown, in times that an answer may take. It is still sought
/// then.
const UNKNOWN_AFTER: u32 = 2;
/// The pause between two attempts to find an outcome out.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// The number of times that a statement is sent when the database asks to repeat it.
const SENDS_MAX: usize = 3;

/// A connection that can append.
struct Ready {
    connection: Connection,
    statement: Statement,
}

/// The outcome of a write to each shard.
type Outcomes = BTreeMap<Shard, FirstVerdict>;

/// The lane, and the shards that this process holds.
pub(crate) struct Lane {
    settings: JournalSettings,
    shards: u16,
    incarnation: Uuid,
    ready: Option<Ready>,
    holds: Holds,
    /// Shards of a statement whose outcome is unknown.
    unknown: Vec<Shard>,
    followed: Arc<Followed>,
    counts: Arc<Counts>,
}

impl Lane {
    /// Claims all shards of logs.
    pub(crate) fn of_logs(settings: JournalSettings) -> Result<(Lane, Format), SharedJournalError> {
        Lane::open(settings, |format| 0..=Shard::try_from(format.shards).unwrap_or(Shard::MAX) - 1)
    }

    /// Claims one shard, of rows that belong to no log.
    pub(crate) fn of_rows(settings: JournalSettings, shard: Shard) -> Result<(Lane, Format), SharedJournalError> {
        Lane::open(settings, |_| shard..=shard)
    }

    fn open(
        settings: JournalSettings,
        shards: impl FnOnce(&Format) -> RangeInclusive<Shard>,
    ) -> Result<(Lane, Format), SharedJournalError> {
        let mut connection = Connection::open(&settings)?;
        let format = usable_format(&mut connection, &settings.schema)?;
        let (incarnation, shards): (_, Vec<Shard>) = (Uuid::new_v4(), shards(&format).collect());
        let holds = claim(&mut connection, &settings.schema, incarnation, &shards, false)?;
        let (shards, followed) = (format.shards, Arc::new(Followed::new(format.shards)));
        let (ready, unknown, counts) = (None, Vec::new(), Arc::default());
        let lane = Lane { settings, shards, incarnation, ready, holds, unknown, followed, counts };
        lane.note_shards();
        Ok((lane, format))
    }

    /// The highest epoch of the shards that are held.
    pub(crate) fn epoch(&self) -> u64 {
        self.holds.values().map(|hold| u64::try_from(hold.epoch).unwrap_or_default()).max().unwrap_or_default()
    }

    pub(crate) fn followed(&self) -> Arc<Followed> {
        Arc::clone(&self.followed)
    }

    pub(crate) fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    /// Compares the counts of commits with those of the local store, and returns the shards of which it lacks some. Shards
    /// of which it has more are lost.
    pub(crate) fn compare(&mut self, counts: &[i64]) -> Vec<Shard> {
        self.followed.begin_at(counts);
        let mut behind = Vec::new();
        for (shard, Hold { commits, .. }) in self.holds.clone() {
            let stored = usize::try_from(shard).ok().and_then(|shard| counts.get(shard)).copied().unwrap_or(0);
            match stored.cmp(&commits) {
                Ordering::Less => behind.push(shard),
                Ordering::Equal => {}
                Ordering::Greater => self.lose(shard, stored, commits),
            }
        }
        behind
    }

    /// Checks that a merchant's log is this process's, once unknown outcomes are found out.
    pub(crate) fn check_held(&mut self, merchant_id: MerchantId) -> Result<(), SharedJournalError> {
        self.find_out()?;
        let shard = shard_of(merchant_id, self.shards);
        match (self.holds.contains_key(&shard), self.followed.is_lost(shard)) {
            (true, _) => Ok(()),
            (false, true) => Err(SharedJournalError::Lost),
            (false, false) => Err(SharedJournalError::Fenced),
        }
    }

    /// Notes how many shards are held and lost.
    fn note_shards(&self) {
        let mut stats = self.counts.stats.lock();
        (stats.shards_held, stats.shards_lost) = (self.holds.len(), self.followed.lost_count());
    }

    /// Stops a shard whose log does not go on where the local store's ends.
    pub(crate) fn lose_log(&mut self, merchant_id: MerchantId) {
        let shard = shard_of(merchant_id, self.shards);
        if let Some(hold) = self.holds.remove(&shard) {
            tracing::error!(%merchant_id, shard, "the database of the log does not have the record that this store ends with");
            self.followed.note_lost(shard, hold.commits);
            self.note_shards();
        }
    }

    /// The number of commits of each shard up to which the local store has everything.
    pub(crate) fn complete(&self) -> Vec<i64> {
        self.followed.complete(&self.holds)
    }

    fn lose(&mut self, shard: Shard, expected: i64, found: i64) {
        tracing::error!(
            shard,
            expected,
            found,
            "the database of the log does not have exactly the commits that it acknowledged"
        );
        self.holds.remove(&shard);
        self.followed.note_lost(shard, expected);
        self.note_shards();
    }

    /// Appends a group.
    pub(crate) fn append(&mut self, batches: &[(CommitNumber, &Append)]) -> Vec<FirstVerdict> {
        let shards = self.shards;
        let shard = |append: &Append| shard_of(append.merchant_id, shards);
        let group = |holds: &Holds| Group::of(batches, holds, shards);
        let outcomes = self.write(batches.iter().map(|(_, append)| shard(append)), group);
        for (_, append) in batches {
            if let Some(FirstVerdict::Unknown(_)) = outcomes.get(&shard(append)) {
                self.followed.note_unwritten(append);
            }
        }
        let verdict = |append: &Append| {
            let known = outcomes.get(&shard(append)).cloned();
            known.unwrap_or_else(|| self.verdict_without_hold(shard(append)))
        };
        let verdicts: Vec<FirstVerdict> = batches.iter().map(|(_, append)| verdict(append)).collect();
        let fenced = verdicts.iter().filter(|verdict| **verdict == FirstVerdict::Fenced).count();
        self.counts.stats.lock().fenced += fenced as u64;
        verdicts
    }

    /// Writes rows of a family that belong to no log.
    pub(crate) fn write_rows<'g>(&mut self, shard: Shard, rows: impl Fn(&mut Group<'g>)) -> FirstVerdict {
        let group = |holds: &Holds| {
            let mut group = Group::in_shards(holds);
            rows(&mut group);
            group
        };
        let outcome = self.write(std::iter::once(shard), group).remove(&shard);
        outcome.unwrap_or_else(|| self.verdict_without_hold(shard))
    }

    /// The number of commits of a shard that is held.
    pub(crate) fn commits(&self, shard: Shard) -> Option<i64> {
        self.holds.get(&shard).map(|hold| hold.commits)
    }

    /// Writes to the held ones of some shards, and once more to those whose epoch moved by an abandoned claim of our own.
    /// There is no outcome of a shard that is not held.
    fn write<'g>(&mut self, shards: impl Iterator<Item = Shard>, group: impl Fn(&Holds) -> Group<'g>) -> Outcomes {
        let mut outcomes = Outcomes::new();
        if let Err(error) = self.find_out() {
            let verdict =
                FirstVerdict::Unavailable(format!("the outcome of an earlier write is not known yet: {error}"));
            return shards.map(|shard| (shard, verdict.clone())).collect();
        }
        let mut pending: Holds = shards.filter_map(|shard| self.holds.get(&shard).map(|hold| (shard, *hold))).collect();
        for _ in 0..SENDS_MAX {
            if pending.is_empty() {
                break;
            }
            pending = match self.send(&group(&pending)) {
                Ok(won) => self.settle(pending, &won, &mut outcomes),
                Err(SharedJournalError::TryAgain(_)) => pending,
                Err(SharedJournalError::Unknown(reason)) => {
                    self.counts.stats.lock().uncertain += 1;
                    tracing::warn!(reason, "the outcome of a write to the log is sought");
                    self.resolve(pending, &mut outcomes, &FirstVerdict::Unknown(reason))
                }
                Err(error) => {
                    let refused = FirstVerdict::Unavailable(error.to_string());
                    outcomes.extend(pending.keys().map(|shard| (*shard, refused.clone())));
                    Holds::new()
                }
            };
        }
        let refused = FirstVerdict::Unavailable("the database of the log asked to try again too often".to_owned());
        outcomes.extend(pending.keys().map(|shard| (*shard, refused.clone())));
        outcomes
    }

    /// The verdict on a write to a shard that is not held.
    pub(crate) fn verdict_without_hold(&self, shard: Shard) -> FirstVerdict {
        match self.followed.is_lost(shard) {
            true => FirstVerdict::Unavailable(SharedJournalError::Lost.to_string()),
            false => FirstVerdict::Fenced,
        }
    }

    fn send(&mut self, group: &Group<'_>) -> Result<Vec<Shard>, SharedJournalError> {
        let mut ready = self.ready()?;
        let started = Instant::now();
        let won = group.send(&mut ready.connection, &ready.statement);
        self.counts.round_trips.record_micros(started.elapsed());
        // After an unknown outcome the connection goes without a word: whatever is still said to it must not be heard.
        if !matches!(won, Err(SharedJournalError::Unknown(_))) {
            self.ready = Some(ready);
        }
        won
    }

    /// The connection, made anew when it was closed.
    fn ready(&mut self) -> Result<Ready, SharedJournalError> {
        if let Some(mut ready) = self.ready.take()
            && !ready.connection.is_closed()
        {
            return Ok(ready);
        }
        let mut connection = Connection::open(&self.settings)?;
        let statement = append::statement(&self.settings.schema);
        let prepared = connection.run(async |client| client.prepare(&statement).await);
        // Nothing but a preparation was sent.
        let statement = prepared.map_err(|error| SharedJournalError::Unreachable(error.to_string()))?;
        Ok(Ready { connection, statement })
    }

    /// Notes which shards were written. Those that were not are claimed again, which tells why: they are returned when they
    /// can be sent once more.
    fn settle(&mut self, sent: Holds, won: &[Shard], outcomes: &mut Outcomes) -> Holds {
        let mut missing = Holds::new();
        for (shard, hold) in sent {
            if won.contains(&shard) {
                self.holds.insert(shard, Hold { commits: hold.commits + 1, ..hold });
                outcomes.insert(shard, FirstVerdict::Written);
            } else {
                missing.insert(shard, hold);
            }
        }
        if missing.is_empty() {
            return missing;
        }
        self.resolve(missing, outcomes, &FirstVerdict::Fenced)
    }

    /// Finds out what became of shards by claiming them again: the claim waits for a statement that is under way, and keeps
    /// one that has not arrived yet from taking effect. Returns those that were not written. Those that another process
    /// holds by now get the verdict `otherwise`: what was unknown stays so.
    fn resolve(&mut self, sent: Holds, outcomes: &mut Outcomes, otherwise: &FirstVerdict) -> Holds {
        let shards: Vec<Shard> = sent.keys().copied().collect();
        let until = Instant::now() + self.settings.patience * UNKNOWN_AFTER;
        let claimed = loop {
            match self.claim(&shards) {
                Ok(claimed) => break claimed,
                Err(_) if Instant::now() < until => std::thread::sleep(RETRY_PAUSE),
                Err(error) => {
                    tracing::error!(%error, "the outcome of a write to the log is not known yet");
                    let unknown = FirstVerdict::Unknown(error.to_string());
                    outcomes.extend(shards.iter().map(|shard| (*shard, unknown.clone())));
                    self.unknown = shards;
                    return Holds::new();
                }
            }
        };
        let mut unwritten = Holds::new();
        for (shard, before) in sent {
            // A write that is known to be undone has not moved the count; only an unknown outcome may have.
            let commits_max = before.commits + i64::from(*otherwise != FirstVerdict::Fenced);
            match self.take_claim(shard, before.commits..=commits_max, claimed.get(&shard)) {
                Some(hold) if hold.commits == before.commits => {
                    unwritten.insert(shard, hold);
                }
                Some(_) => {
                    outcomes.insert(shard, FirstVerdict::Written);
                }
                None => {
                    let is_unwritten = *otherwise == FirstVerdict::Fenced;
                    let verdict = if is_unwritten { self.verdict_without_hold(shard) } else { otherwise.clone() };
                    outcomes.insert(shard, verdict);
                }
            }
        }
        unwritten
    }

    /// Takes the result of a claim over, if the shard has one of these numbers of commits. None when the shard is not held any
    /// more.
    fn take_claim(&mut self, shard: Shard, commits: RangeInclusive<i64>, claimed: Option<&Hold>) -> Option<Hold> {
        let Some(hold) = claimed else {
            tracing::error!(shard, "another process has claimed a shard of the log");
            self.holds.remove(&shard);
            self.note_shards();
            return None;
        };
        if !commits.contains(&hold.commits) {
            self.lose(shard, *commits.start(), hold.commits);
            return None;
        }
        self.holds.insert(shard, *hold);
        Some(*hold)
    }

    fn claim(&mut self, shards: &[Shard]) -> Result<Holds, SharedJournalError> {
        let mut connection = Connection::open(&self.settings)?;
        claim(&mut connection, &self.settings.schema, self.incarnation, shards, true)
    }

    /// Finds out what became of a statement of which callers were told that its outcome is unknown.
    pub(crate) fn find_out(&mut self) -> Result<(), SharedJournalError> {
        if self.unknown.is_empty() {
            return Ok(());
        }
        let shards = std::mem::take(&mut self.unknown);
        let claimed = self.claim(&shards).inspect_err(|_| self.unknown.clone_from(&shards))?;
        for shard in shards {
            if let Some(before) = self.holds.get(&shard).copied() {
                self.take_claim(shard, before.commits..=before.commits + 1, claimed.get(&shard));
            }
        }
        Ok(())
    }
}
