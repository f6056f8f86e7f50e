//! The lane: one connection on which groups are appended, one after the other, and what is known of the shards.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use till_domain::ids::MerchantId;
use till_storage::first_commit::FirstVerdict;
use till_storage::journal::{Append, CommitNumber};
use tokio_postgres::Statement;
use uuid::Uuid;

use crate::append::{self, Group};
use crate::claim::{claim_again, claim_all};
use crate::connection::Connection;
use crate::counts::Counts;
use crate::error::SharedJournalError;
use crate::schema::{Format, incarnation, usable_format};
use crate::settings::JournalSettings;
use crate::shard::{Hold, Shard, shard_of};

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

/// The lane, and the shards that this process holds.
pub(crate) struct Lane {
    settings: JournalSettings,
    shards: u16,
    incarnation: Uuid,
    ready: Option<Ready>,
    holds: BTreeMap<Shard, Hold>,
    /// Shards of which the database does not have exactly the commits that it acknowledged, with the number that it should
    /// have at least.
    lost: BTreeMap<Shard, i64>,
    /// Shards of a statement whose outcome is unknown.
    unknown: Vec<Shard>,
    /// Merchants whose batches may have been written without the local store: their logs must be compared before they are
    /// claimed.
    unsure: HashSet<MerchantId>,
}

impl Lane {
    /// Claims all shards.
    pub(crate) fn open(settings: JournalSettings) -> Result<(Lane, Format), SharedJournalError> {
        let mut connection = Connection::open(&settings)?;
        let format = usable_format(&mut connection, &settings.schema)?;
        let incarnation = incarnation()?;
        let holds = claim_all(&mut connection, &settings.schema, incarnation)?;
        let (lost, unknown, unsure) = (BTreeMap::new(), Vec::new(), HashSet::new());
        let shards = format.shards;
        Ok((Lane { settings, shards, incarnation, ready: None, holds, lost, unknown, unsure }, format))
    }

    /// Takes a merchant from those whose logs must be compared. Unknown outcomes are found out first.
    pub(crate) fn take_unsure(&mut self, merchant_id: MerchantId) -> Result<bool, SharedJournalError> {
        self.find_out()?;
        Ok(self.unsure.remove(&merchant_id))
    }

    /// The merchant's log must be compared before it is claimed.
    pub(crate) fn note_unsure(&mut self, merchant_id: MerchantId) {
        self.unsure.insert(merchant_id);
    }

    /// Appends a group.
    pub(crate) fn append(&mut self, batches: &[(CommitNumber, &Append)], counts: &Counts) -> Vec<FirstVerdict> {
        if let Err(error) = self.find_out() {
            let reason = format!("the outcome of an earlier write is not known yet: {error}");
            return vec![FirstVerdict::Unavailable(reason); batches.len()];
        }
        let holds = self.holds_of(batches);
        let verdicts = self.write(batches, &holds, counts);
        for ((_, append), verdict) in batches.iter().zip(&verdicts) {
            if matches!(verdict, FirstVerdict::Unknown(_)) {
                self.unsure.insert(append.merchant_id);
            }
        }
        counts.note_shards(self.holds.len(), self.lost.len());
        verdicts
    }

    fn holds_of(&self, batches: &[(CommitNumber, &Append)]) -> BTreeMap<Shard, Hold> {
        let shards = batches.iter().map(|(_, append)| shard_of(append.merchant_id, self.shards));
        shards.filter_map(|shard| self.holds.get(&shard).map(|hold| (shard, *hold))).collect()
    }

    /// Writes the batches of the held shards, and of those whose epoch moved by an abandoned claim of our own once more.
    fn write(
        &mut self,
        batches: &[(CommitNumber, &Append)],
        holds: &BTreeMap<Shard, Hold>,
        counts: &Counts,
    ) -> Vec<FirstVerdict> {
        let mut written = BTreeMap::new();
        let mut pending = holds.clone();
        for _ in 0..SENDS_MAX {
            if pending.is_empty() {
                break;
            }
            let outcome = self.send(batches, &pending, counts);
            pending = match outcome {
                Ok(won) => self.settle(pending, &won, &mut written),
                Err(SharedJournalError::TryAgain(_)) => pending,
                Err(SharedJournalError::Unknown(reason)) => {
                    counts.note_uncertain();
                    tracing::warn!(reason, "the outcome of a write to the log is sought");
                    self.resolve(pending, &mut written, &FirstVerdict::Unknown(reason))
                }
                Err(error) => {
                    // A refusal may mean that the log has records which the local store does not have.
                    self.unsure.extend(batches.iter().map(|(_, append)| append.merchant_id));
                    let refused = FirstVerdict::Unavailable(error.to_string());
                    written.extend(pending.keys().map(|shard| (*shard, refused.clone())));
                    BTreeMap::new()
                }
            };
        }
        let refused = FirstVerdict::Unavailable("the database of the log asked to try again too often".to_owned());
        written.extend(pending.keys().map(|shard| (*shard, refused.clone())));
        let verdict = |append: &Append| {
            let shard = shard_of(append.merchant_id, self.shards);
            written.get(&shard).cloned().unwrap_or_else(|| self.verdict_without_hold(shard))
        };
        let verdicts: Vec<FirstVerdict> = batches.iter().map(|(_, append)| verdict(append)).collect();
        counts.note_fenced(verdicts.iter().filter(|verdict| **verdict == FirstVerdict::Fenced).count());
        verdicts
    }

    fn verdict_without_hold(&self, shard: Shard) -> FirstVerdict {
        match self.lost.get(&shard) {
            Some(_) => FirstVerdict::Unavailable(
                "the database of the log has lost commits of this shard, or has others".to_owned(),
            ),
            None => FirstVerdict::Fenced,
        }
    }

    fn send(
        &mut self,
        batches: &[(CommitNumber, &Append)],
        holds: &BTreeMap<Shard, Hold>,
        counts: &Counts,
    ) -> Result<Vec<Shard>, SharedJournalError> {
        let group = Group::of(batches, holds, self.shards);
        let mut ready = self.ready()?;
        let started = Instant::now();
        let won = group.send(&mut ready.connection, &ready.statement);
        counts.note_round_trip(started.elapsed());
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
    fn settle(
        &mut self,
        sent: BTreeMap<Shard, Hold>,
        won: &[Shard],
        written: &mut BTreeMap<Shard, FirstVerdict>,
    ) -> BTreeMap<Shard, Hold> {
        let mut missing = BTreeMap::new();
        for (shard, hold) in sent {
            if won.contains(&shard) {
                self.holds.insert(shard, Hold { commits: hold.commits + 1, ..hold });
                written.insert(shard, FirstVerdict::Written);
            } else {
                missing.insert(shard, hold);
            }
        }
        if missing.is_empty() {
            return missing;
        }
        self.resolve(missing, written, &FirstVerdict::Fenced)
    }

    /// Finds out what became of shards by claiming them again: the claim waits for a statement that is under way, and keeps
    /// one that has not arrived yet from taking effect. Returns those that were not written. Those that another process
    /// holds by now get the verdict `otherwise`: what was unknown stays so.
    fn resolve(
        &mut self,
        sent: BTreeMap<Shard, Hold>,
        written: &mut BTreeMap<Shard, FirstVerdict>,
        otherwise: &FirstVerdict,
    ) -> BTreeMap<Shard, Hold> {
        let shards: Vec<Shard> = sent.keys().copied().collect();
        let until = Instant::now() + self.settings.patience * UNKNOWN_AFTER;
        let claimed = loop {
            match self.claim(&shards) {
                Ok(claimed) => break claimed,
                Err(_) if Instant::now() < until => std::thread::sleep(RETRY_PAUSE),
                Err(error) => {
                    tracing::error!(%error, "the outcome of a write to the log is not known yet");
                    let unknown = FirstVerdict::Unknown(error.to_string());
                    written.extend(shards.iter().map(|shard| (*shard, unknown.clone())));
                    self.unknown = shards;
                    return BTreeMap::new();
                }
            }
        };
        let mut unwritten = BTreeMap::new();
        for (shard, before) in sent {
            // What is known to be unwritten has not moved the count; only an unknown outcome may have.
            let commits_max = before.commits + i64::from(*otherwise != FirstVerdict::Fenced);
            match self.take_claim(shard, before.commits..=commits_max, claimed.get(&shard)) {
                Some(hold) if hold.commits == before.commits => {
                    unwritten.insert(shard, hold);
                }
                Some(_) => {
                    written.insert(shard, FirstVerdict::Written);
                }
                None if *otherwise == FirstVerdict::Fenced => {
                    written.insert(shard, self.verdict_without_hold(shard));
                }
                None => {
                    written.insert(shard, otherwise.clone());
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
            return None;
        };
        if !commits.contains(&hold.commits) {
            let (expected, found) = (*commits.start(), hold.commits);
            tracing::error!(
                shard,
                expected,
                found,
                "the database of the log does not have exactly the commits that it acknowledged"
            );
            self.holds.remove(&shard);
            self.lost.insert(shard, expected);
            return None;
        }
        self.holds.insert(shard, *hold);
        Some(*hold)
    }

    fn claim(&mut self, shards: &[Shard]) -> Result<BTreeMap<Shard, Hold>, SharedJournalError> {
        let mut connection = Connection::open(&self.settings)?;
        claim_again(&mut connection, &self.settings.schema, self.incarnation, shards)
    }

    /// Finds out what became of a statement of which callers were told that its outcome is unknown.
    fn find_out(&mut self) -> Result<(), SharedJournalError> {
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
