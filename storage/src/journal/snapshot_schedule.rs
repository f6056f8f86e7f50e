//! The schedule of a merchant's snapshots, so that loading it replays few records and few bytes.

use super::Append;
use crate::positions::Sequence;

/// A snapshot is written with each record whose number is a multiple of this.
const SNAPSHOT_EVERY: u64 = 256;

/// Bytes of records from which on a snapshot is written besides: this much is replayed within some milliseconds.
const SNAPSHOT_BYTES: usize = 2 << 20;

/// A large state is written only after this many times its own size of records: snapshots are at most a quarter of what
/// a merchant writes, and a load replays at most four times what it reads as its snapshot.
const STATE_SIZES: usize = 4;

/// The bytes that a load would read now: the newest snapshot, and the records after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SnapshotSchedule {
    state_bytes: usize,
    record_bytes: usize,
}

impl SnapshotSchedule {
    /// Begins after a snapshot whose state has this many bytes, 0 without a snapshot.
    #[must_use]
    pub const fn for_state(state_bytes: usize) -> SnapshotSchedule {
        SnapshotSchedule { state_bytes, record_bytes: 0 }
    }

    /// Counts a record.
    pub const fn count(&mut self, record_bytes: usize) {
        self.record_bytes = self.record_bytes.saturating_add(record_bytes);
    }

    /// Counts a batch that was submitted, with its snapshot.
    pub fn count_batch(&mut self, append: &Append) {
        append.records.iter().for_each(|record| self.count(record.bytes.len()));
        if let Some(snapshot) = &append.snapshot {
            *self = SnapshotSchedule::for_state(snapshot.bytes.len());
        }
    }

    /// True when a snapshot is written with the record at this position, which has this many bytes.
    #[must_use]
    pub fn is_due(&self, at: Sequence, record_bytes: usize) -> bool {
        let bytes_max = self.state_bytes.saturating_mul(STATE_SIZES).max(SNAPSHOT_BYTES);
        at.0.is_multiple_of(SNAPSHOT_EVERY) || self.record_bytes.saturating_add(record_bytes) >= bytes_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The positions of the snapshots among `records` records of this size.
    fn snapshots(state_bytes: usize, records: u64, record_bytes: usize) -> Vec<u64> {
        let mut schedule = SnapshotSchedule::for_state(state_bytes);
        let mut is_due = |at: &u64| {
            let is_due = schedule.is_due(Sequence(*at), record_bytes);
            schedule.count(record_bytes);
            if is_due {
                schedule = SnapshotSchedule::for_state(state_bytes);
            }
            is_due
        };
        (1..=records).filter(|at| is_due(at)).collect()
    }

    #[test]
    fn small_records_are_counted_by_their_number() {
        assert_eq!(snapshots(5_000, 600, 2_000), [256, 512]);
    }

    #[test]
    fn large_records_are_counted_by_their_bytes() {
        assert_eq!(snapshots(5_000, 12, 900_000), [3, 6, 9, 12]);
    }

    #[test]
    fn a_large_state_is_written_after_four_times_its_size() {
        assert_eq!(snapshots(9_000_000, 120, 900_000), [40, 80, 120]);
    }
}
