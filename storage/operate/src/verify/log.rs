//! Checks one merchant's log: every record and the chain of hashes. It returns the mutations for the replay.

use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::journal::{Head, LogRecord, Sequence, layout};
use till_storage::keys::JournalKey;

use super::fault::{FaultLocation, Wrong};
use super::job::Job;
use super::personal::ReplayPersonal;
use super::walk::{Gap, RowWalk, WalkStep};

/// The state of a check of one log.
pub(super) struct LogCheck {
    merchant_id: MerchantId,
    /// The last position, as far as it is known.
    end: Option<Sequence>,
    /// The last position seen.
    last: Sequence,
    /// The hash of the record there; none when that record could not be used.
    hash: Option<[u8; 32]>,
    /// True while every record so far was valid and followed the one before.
    unbroken: bool,
}

impl LogCheck {
    pub(super) const fn new(merchant_id: MerchantId, end: Option<Sequence>) -> LogCheck {
        LogCheck { merchant_id, end, last: Sequence(0), hash: Some([0; 32]), unbroken: true }
    }

    pub(super) fn walk<'a>(&self, job: &Job<'a>) -> RowWalk<'a> {
        RowWalk::new(job.rows, Family::Journal, JournalKey::range(self.merchant_id, Sequence(0)))
    }

    /// The last record seen, when its hash is known.
    pub(super) fn head(&self) -> Option<Head> {
        self.hash.map(|hash| Head { sequence: self.last, hash })
    }

    /// The last position seen.
    pub(super) const fn last(&self) -> Sequence {
        self.last
    }

    /// True when everything before could be used.
    pub(super) const fn is_unbroken(&self) -> bool {
        self.unbroken
    }

    /// Notes that the records so far cannot be replayed.
    pub(super) const fn give_replay_up(&mut self) {
        self.unbroken = false;
    }

    /// Checks a step of the walk, and returns the mutation of a valid record.
    pub(super) fn check_step(
        &mut self,
        step: WalkStep,
        personal: &ReplayPersonal<'_>,
        job: &mut Job<'_>,
    ) -> Option<Mutation> {
        match step {
            WalkStep::Row(key, value) => {
                job.count_record();
                self.meet_record(&key, &value, personal, job)
            }
            WalkStep::Gap(gap) => {
                self.skip_gap(gap, job);
                None
            }
        }
    }

    fn meet_record(
        &mut self,
        key: &[u8],
        value: &[u8],
        personal: &ReplayPersonal<'_>,
        job: &mut Job<'_>,
    ) -> Option<Mutation> {
        let Some(JournalKey { merchant_id: _, sequence }) = JournalKey::decode(key).filter(|key| key.sequence.0 > 0)
        else {
            job.row_fault(Some(self.merchant_id), Family::Journal, key, Wrong::Extra);
            return None;
        };
        if sequence > self.last.next() {
            self.skip(self.last.next(), Sequence(sequence.0 - 1), Wrong::Missing, job);
        }
        match self.check_record(key, value, sequence, personal) {
            Ok(mutation) => Some(mutation),
            Err(wrong) => {
                self.unbroken = false;
                job.fault(self.merchant_id, FaultLocation::Records { first: sequence, last: sequence }, wrong);
                None
            }
        }
    }

    fn check_record(
        &mut self,
        key: &[u8],
        value: &[u8],
        sequence: Sequence,
        personal: &ReplayPersonal<'_>,
    ) -> Result<Mutation, Wrong> {
        let known = self.hash.take();
        self.last = sequence;
        let stored = layout::decode_stored(self.merchant_id, key, value);
        let (_, stored) = stored.map_err(|error| Wrong::Undecodable { reason: error.to_string() })?;
        let record = LogRecord::read(&stored, personal, |record| -> Result<(), Wrong> {
            self.hash = Some(record.hash);
            // After a record that cannot be used, the hash that this one must name is not known.
            let before = Head { sequence: Sequence(sequence.0 - 1), hash: known.unwrap_or(record.header.prev_hash) };
            Ok(record.follow(self.merchant_id, before).map(drop)?)
        });
        record.map(|record| record.mutation)
    }

    fn skip_gap(&mut self, gap: Gap, job: &mut Job<'_>) {
        let wrong = Wrong::Unreadable { reason: gap.reason };
        let next = gap.before.as_deref().and_then(JournalKey::decode);
        let last = next.map(|key| Sequence(key.sequence.0.saturating_sub(1))).or(self.end);
        let first = self.last.next();
        self.skip(first, last.map_or(first, |last| last.max(first)), wrong, job);
    }

    /// Reports records that cannot be read.
    fn skip(&mut self, first: Sequence, last: Sequence, wrong: Wrong, job: &mut Job<'_>) {
        self.unbroken = false;
        self.hash = None;
        self.last = last;
        job.fault(self.merchant_id, FaultLocation::Records { first, last }, wrong);
    }
}
