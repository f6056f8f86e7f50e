//! The lane: one connection on which groups are appended, one after the other.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use till_domain::ids::MerchantId;
use till_storage::journal::first_commit::FirstVerdict;
use till_storage::journal::{Append, CommitNumber};
use uuid::Uuid;

use crate::append::{Group, Statements, merchant_uuid};
use crate::claim;
use crate::connection::Connection;
use crate::counts::Counts;
use crate::error::SharedJournalError;
use crate::local_replica::LocalReplica;
use crate::schema::{Format, usable_format};
use crate::seeking::Seeker;
use crate::settings::JournalSettings;
use crate::shard::{Hold, Holds, Shard, shard_of};
use crate::standing::{Found, OnFenced, Standing};

/// After this many times the patience, callers get the answer that an outcome is unknown. The search for the outcome
/// goes on.
const UNKNOWN_AFTER: u32 = 2;
/// The number of times that a statement is sent when the database asks to repeat it.
const SENDS_MAX: usize = 3;

/// Called with the reason when changes that wait are to be refused.
pub type OnRefusing = Box<dyn Fn(&str) + Send + Sync>;

/// A connection that can append.
struct Ready {
    connection: Connection,
    statements: Statements,
}

/// The outcome of a write to each shard.
type Outcomes = BTreeMap<Shard, FirstVerdict>;

/// The process that held each shard before a claim.
pub(crate) type HeldBefore = BTreeMap<Shard, Option<Uuid>>;

/// The lane of the shards that this process holds.
pub(crate) struct Lane {
    seeker: Seeker,
    shards: u16,
    ready: Option<Ready>,
    on_refusing: Arc<OnceLock<OnRefusing>>,
}

/// The log that a lane was opened on, and who held its shards before.
pub(crate) struct Claimed {
    pub(crate) format: Format,
    pub(crate) held_before: HeldBefore,
}

impl Lane {
    /// Claims all shards of logs.
    pub(crate) fn of_logs(
        settings: JournalSettings,
        counts: Arc<Counts>,
        on_fenced: OnFenced,
    ) -> Result<(Lane, Claimed), SharedJournalError> {
        let shards = |format: &Format| 0..=Shard::try_from(format.shards).unwrap_or(Shard::MAX) - 1;
        Lane::open(settings, shards, |holds, format| {
            Standing::new(holds, Arc::new(LocalReplica::new(format.shards)), counts, on_fenced, false)
        })
    }

    /// Claims one shard, of rows that belong to no log.
    pub(crate) fn of_rows(
        settings: JournalSettings,
        shard: Shard,
        counts: Arc<Counts>,
        on_fenced: OnFenced,
    ) -> Result<(Lane, Claimed), SharedJournalError> {
        Lane::open(
            settings,
            |_| shard..=shard,
            |holds, format| Standing::new(holds, Arc::new(LocalReplica::new(format.shards)), counts, on_fenced, true),
        )
    }

    fn open(
        settings: JournalSettings,
        shards: impl FnOnce(&Format) -> RangeInclusive<Shard>,
        standing: impl FnOnce(Holds, &Format) -> Standing,
    ) -> Result<(Lane, Claimed), SharedJournalError> {
        let mut connection = claim::connection(&settings)?;
        let format = usable_format(&mut connection, &settings.schema)?;
        let (incarnation, shards): (_, Vec<Shard>) = (Uuid::new_v4(), shards(&format).collect());
        let claimed = claim::claim(&mut connection, &settings.schema, incarnation, &shards)?;
        let held_before = claimed.iter().map(|(shard, (_, before))| (*shard, *before)).collect();
        let holds = claimed.into_iter().map(|(shard, (hold, _))| (shard, hold)).collect();
        let standing = Arc::new(standing(holds, &format));
        let seeker = Seeker { settings, incarnation, standing };
        let lane = Lane { seeker, shards: format.shards, ready: None, on_refusing: Arc::default() };
        Ok((lane, Claimed { format, held_before }))
    }

    pub(crate) fn standing(&self) -> Arc<Standing> {
        Arc::clone(&self.seeker.standing)
    }

    /// The process, as the holder of shards.
    pub(crate) const fn incarnation(&self) -> Uuid {
        self.seeker.incarnation
    }

    /// The place of the function that is called when changes that wait are to be refused.
    pub(crate) fn on_refusing(&self) -> Arc<OnceLock<OnRefusing>> {
        Arc::clone(&self.on_refusing)
    }

    /// Appends a group.
    pub(crate) fn append(&mut self, batches: &[(CommitNumber, &Append)]) -> Vec<FirstVerdict> {
        let (standing, shards) = (self.standing(), self.shards);
        let shard = |append: &Append| shard_of(append.merchant_id, shards);
        let (mut outcomes, mut ahead) = (Outcomes::new(), HashMap::new());
        loop {
            let is_open =
                |append: &&Append| !ahead.contains_key(&append.merchant_id) && !outcomes.contains_key(&shard(append));
            let rest: Vec<&Append> = batches.iter().map(|(_, append)| *append).filter(is_open).collect();
            let group = |holds: &Holds| Group::of(&rest, holds, shards);
            let written = self.write(rest.iter().map(|append| shard(append)), group, &mut outcomes);
            let Err(error) = written else { break };
            let refused = FirstVerdict::Unavailable(error.to_string());
            // Shards that have an outcome may have been written just now: their records are there.
            let refusable: Vec<&Append> =
                rest.into_iter().filter(|append| !outcomes.contains_key(&shard(append))).collect();
            let found = self.merchants_ahead(&refusable).unwrap_or_default();
            if found.is_empty() {
                outcomes.extend(refusable.iter().map(|append| (shard(append), refused.clone())));
            }
            for merchant_id in found {
                standing.replica.note_lacking(merchant_id);
                ahead.insert(merchant_id, refused.clone());
            }
        }
        for (_, append) in batches {
            if let Some(FirstVerdict::Unknown(_)) = outcomes.get(&shard(append)) {
                standing.replica.note_unwritten(append);
            }
        }
        let verdict = |append: &Append| {
            let known = ahead.get(&append.merchant_id).or_else(|| outcomes.get(&shard(append))).cloned();
            known.unwrap_or_else(|| self.verdict_without_hold(shard(append)))
        };
        let verdicts: Vec<FirstVerdict> = batches.iter().map(|(_, append)| verdict(append)).collect();
        let fenced = verdicts.iter().filter(|verdict| **verdict == FirstVerdict::Fenced).count();
        standing.counts.stats.lock().fenced += fenced as u64;
        verdicts
    }

    /// The merchants of batches whose next record the log has already.
    fn merchants_ahead(&mut self, batches: &[&Append]) -> Result<HashSet<MerchantId>, SharedJournalError> {
        let first = |append: &&Append| append.records.first().map(|record| (append.merchant_id, record.sequence.0));
        let (merchants, sequences): (Vec<Uuid>, Vec<i64>) = batches
            .iter()
            .filter_map(first)
            .map(|(merchant_id, sequence)| (merchant_uuid(merchant_id), i64::try_from(sequence).unwrap_or(i64::MAX)))
            .unzip();
        let query = format!(
            "select distinct w.m from unnest($1::uuid[], $2::bigint[]) w(m, s)
             join {}.record r on r.merchant_id = w.m and r.sequence = w.s",
            self.seeker.settings.schema
        );
        let mut ready = self.ready()?;
        let rows = ready.connection.read(async |client| client.query(&query, &[&merchants, &sequences]).await)?;
        self.ready = Some(ready);
        Ok(rows.iter().map(|row| MerchantId::from_bytes(row.get::<_, Uuid>(0).into_bytes())).collect())
    }

    /// Writes rows of a family that belong to no log.
    pub(crate) fn write_rows<'g>(&mut self, shard: Shard, rows: impl Fn(&mut Group<'g>)) -> FirstVerdict {
        let group = |holds: &Holds| {
            let mut group = Group::in_shards(holds);
            rows(&mut group);
            group
        };
        let mut outcomes = Outcomes::new();
        match self.write(std::iter::once(shard), group, &mut outcomes) {
            Ok(()) => outcomes.remove(&shard).unwrap_or_else(|| self.verdict_without_hold(shard)),
            Err(error) => FirstVerdict::Unavailable(error.to_string()),
        }
    }

    /// Writes to the held ones of some shards, and again to those whose epoch moved by an abandoned claim of our own,
    /// as often as a statement may be sent. There is no outcome of a shard that is not held.
    ///
    /// # Errors
    /// [`SharedJournalError::RecordThere`]: nothing of what has no outcome yet was written.
    fn write<'g>(
        &mut self,
        shards: impl Iterator<Item = Shard>,
        group: impl Fn(&Holds) -> Group<'g>,
        outcomes: &mut Outcomes,
    ) -> Result<(), SharedJournalError> {
        let (standing, started) = (self.standing(), Instant::now());
        if let Some(reason) = standing.refusal() {
            outcomes.extend(shards.map(|shard| (shard, FirstVerdict::Unavailable(reason.clone()))));
            return Ok(());
        }
        let mut pending: Holds = shards.filter_map(|shard| standing.hold(shard).map(|hold| (shard, hold))).collect();
        let mut sends = 0;
        while !pending.is_empty() && sends < SENDS_MAX {
            sends += 1;
            let sent = self.send(&group(&pending));
            pending = match sent {
                Ok(won) => self.settle(pending, &won, outcomes),
                Err(SharedJournalError::TryAgain(_)) => pending,
                Err(SharedJournalError::Unknown(reason)) => {
                    standing.counts.stats.lock().uncertain += 1;
                    tracing::warn!(reason, "the outcome of a write to the log is sought");
                    self.find_out(pending, started, Some(&reason), outcomes)
                }
                Err(error @ SharedJournalError::RecordThere(_)) => return Err(error),
                Err(error) => {
                    if let SharedJournalError::Unreachable(_) = error {
                        self.seeker.seek(std::iter::empty(), false);
                        standing.refuse(&error.to_string());
                    }
                    let refused = FirstVerdict::Unavailable(error.to_string());
                    outcomes.extend(pending.keys().map(|shard| (*shard, refused.clone())));
                    return Ok(());
                }
            };
        }
        let refused = FirstVerdict::Unavailable("the database of the log asked to try again too often".to_owned());
        outcomes.extend(pending.keys().map(|shard| (*shard, refused.clone())));
        Ok(())
    }

    /// The verdict on a write to a shard that is not held.
    pub(crate) fn verdict_without_hold(&self, shard: Shard) -> FirstVerdict {
        match self.seeker.standing.replica.is_lost(shard) {
            true => FirstVerdict::Unavailable(SharedJournalError::Lost.to_string()),
            false => FirstVerdict::Fenced,
        }
    }

    fn send(&mut self, group: &Group<'_>) -> Result<Vec<Shard>, SharedJournalError> {
        let mut ready = self.ready()?;
        let started = Instant::now();
        let won = group.send(&mut ready.connection, &ready.statements);
        self.seeker.standing.counts.round_trips.record_micros(started.elapsed());
        // After an open outcome the connection goes without a word: whatever is still said to it must not be heard.
        // After a refusal it goes, too: a database that has become read-only refuses for ever.
        if matches!(won, Ok(_) | Err(SharedJournalError::TryAgain(_) | SharedJournalError::RecordThere(_))) {
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
        let settings = &self.seeker.settings;
        let mut connection = Connection::open(settings)?;
        let statements = Statements::prepare(&mut connection, &settings.schema)?;
        Ok(Ready { connection, statements })
    }

    /// Notes which shards were written. Those that were not are claimed again, which tells why: they are returned when
    /// they can be sent once more.
    fn settle(&mut self, sent: Holds, won: &[Shard], outcomes: &mut Outcomes) -> Holds {
        self.seeker.standing.note_commit(won);
        outcomes.extend(won.iter().map(|shard| (*shard, FirstVerdict::Written)));
        let missing: Holds = sent.into_iter().filter(|(shard, _)| !won.contains(shard)).collect();
        if missing.is_empty() { missing } else { self.find_out(missing, Instant::now(), None, outcomes) }
    }

    /// Finds out which shards a write has reached: a write whose outcome is unknown for the given reason, or that did
    /// not take effect. Returns the shards that it did not reach. After the patience of the settings all waiting writes
    /// are refused; after twice that time the callers of this write get the answer that its outcome is unknown.
    fn find_out(&self, sent: Holds, since: Instant, open: Option<&str>, outcomes: &mut Outcomes) -> Holds {
        let (standing, patience) = (&self.seeker.standing, self.seeker.settings.patience);
        self.seeker.seek(sent.keys().copied(), open.is_some());
        if !standing.wait_until_found(since + patience) {
            let reason = "the database of the log does not answer";
            standing.refuse(reason);
            self.on_refusing.get().into_iter().for_each(|refuse| refuse(reason));
            standing.wait_until_found(since + patience * UNKNOWN_AFTER);
        }
        let mut unwritten = Holds::new();
        for (shard, Hold { commits, .. }) in sent {
            let outcome = match (standing.knowledge(shard), open) {
                (Found::Held(hold), Some(_)) if hold.commits == commits + 1 => FirstVerdict::Written,
                (Found::Held(hold), _) => {
                    unwritten.insert(shard, hold);
                    continue;
                }
                (Found::Sought | Found::NotHeld, Some(reason)) => FirstVerdict::Unknown(reason.to_owned()),
                (Found::Sought, None) => FirstVerdict::Unavailable("it is not known who holds the log".to_owned()),
                (Found::NotHeld, None) => self.verdict_without_hold(shard),
            };
            outcomes.insert(shard, outcome);
        }
        unwritten
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.seeker.standing.end();
    }
}
