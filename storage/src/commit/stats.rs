//! Statistics of the commit thread, for export as metrics.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Buckets of a [`Histogram`].
pub const BUCKETS: usize = 32;

/// The number of values in each power of two: bucket 0 counts zeros, bucket `n` the values from
/// 2^(n-1) up to, not including, 2^n. The last bucket also counts everything above.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    sum: AtomicU64,
}

impl Histogram {
    pub(crate) fn record(&self, value: u64) {
        let bits = usize::try_from(u64::BITS - value.leading_zeros()).unwrap_or(BUCKETS);
        self.buckets[bits.min(BUCKETS - 1)].fetch_add(1, Relaxed);
        self.sum.fetch_add(value, Relaxed);
    }

    /// Adds a time.
    pub fn record_micros(&self, took: Duration) {
        self.record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// The counts, by bucket.
    #[must_use]
    pub fn counts(&self) -> [u64; BUCKETS] {
        std::array::from_fn(|index| self.buckets[index].load(Relaxed))
    }

    /// The sum of all values.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum.load(Relaxed)
    }

    /// The first value that bucket `index` does not count, none for the last.
    #[must_use]
    pub fn bucket_end(index: usize) -> Option<u64> {
        let bits = u32::try_from(index).ok()?;
        if index + 1 < BUCKETS { 1_u64.checked_shl(bits) } else { None }
    }
}

/// Counters of one commit thread. All only grow, except those of the queue, of staged records and of the last group.
#[derive(Debug, Default)]
pub struct CommitStats {
    pub(crate) groups: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) committed: AtomicU64,
    pub(crate) fenced: AtomicU64,
    pub(crate) stale: AtomicU64,
    pub(crate) unavailable: AtomicU64,
    pub(crate) ambiguous: AtomicU64,
    pub(crate) barriers: AtomicU64,
    pub(crate) rejected: AtomicU64,
    pub(crate) queued: AtomicU64,
    pub(crate) queued_bytes: AtomicU64,
    pub(crate) staged_records: AtomicU64,
    pub(crate) last_group_batches: AtomicU64,
    pub(crate) last_append_micros: AtomicU64,
    pub(crate) group_batches: Histogram,
    pub(crate) append_micros: Histogram,
    pub(crate) commit_micros: Histogram,
    newest_writes: Mutex<NewestWrites>,
}

/// The outcome of the newest writes of groups.
#[derive(Debug, Default)]
struct NewestWrites {
    /// The time at which the newest one that ended failed; none when it succeeded.
    failed_at: Option<Instant>,
    /// The time since which one is under way.
    under_way_since: Option<Instant>,
}

/// The time after which a write that is under way counts as one that fails.
const WRITE_SECONDS_MAX: Duration = Duration::from_secs(5);

/// The time after which a write that failed tells nothing any more about those to come: that of the alert.
const FAILURE_TOLD: Duration = Duration::from_secs(300);

/// Declares the public reader of each counter.
macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident;)+) => {
        impl CommitStats {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(&self) -> u64 {
                self.$name.load(Relaxed)
            }
        )+}
    };
}

readers! {
    /// Groups written: calls of the journal, each one sync.
    groups;
    /// Batches in those groups.
    batches;
    /// Batches committed.
    committed;
    /// Batches of earlier claims, whose actors have ended.
    fenced;
    /// Batches decided on a head that was not the durable one.
    stale;
    /// Batches not written.
    unavailable;
    /// Batches whose write has an unknown outcome.
    ambiguous;
    /// Barriers judged.
    barriers;
    /// Submissions turned away because the queue was full or closed.
    rejected;
    /// Submissions waiting now.
    queued;
    /// Bytes waiting now.
    queued_bytes;
    /// Records that were submitted and have no verdict yet: those that wait, and those that are being written.
    staged_records;
    /// Batches of the last group.
    last_group_batches;
    /// Microseconds that the journal took for the last group.
    last_append_micros;
}

impl CommitStats {
    /// Batches per group.
    #[must_use]
    pub const fn group_batches(&self) -> &Histogram {
        &self.group_batches
    }

    /// Microseconds that the journal took per group, sync included.
    #[must_use]
    pub const fn append_micros(&self) -> &Histogram {
        &self.append_micros
    }

    /// Microseconds from the submission of a batch to its verdict, for each batch that a caller waits for: its time in
    /// the queue and its write.
    #[must_use]
    pub const fn commit_micros(&self) -> &Histogram {
        &self.commit_micros
    }

    /// True while nothing can be written, as far as the newest writes tell: the last one that ended failed within the
    /// last five minutes, or one has been under way for five seconds.
    #[must_use]
    pub fn writes_fail(&self) -> bool {
        let NewestWrites { failed_at, under_way_since } = *self.newest_writes.lock();
        failed_at.is_some_and(|at| at.elapsed() < FAILURE_TOLD)
            || under_way_since.is_some_and(|since| since.elapsed() >= WRITE_SECONDS_MAX)
    }

    /// Notes that a group is written from now on.
    pub(crate) fn begin_write(&self) {
        self.newest_writes.lock().under_way_since = Some(Instant::now());
    }

    /// Notes that the write of a group ended, and if the store wrote no batch of it.
    pub(crate) fn end_write(&self, has_failed: bool) {
        let failed_at = has_failed.then(Instant::now);
        *self.newest_writes.lock() = NewestWrites { failed_at, under_way_since: None };
    }

    pub(crate) fn record_commit(&self, took: Duration) {
        self.commit_micros.record_micros(took);
    }

    pub(crate) fn record_group(&self, batches: usize, took: Duration) {
        let batches = u64::try_from(batches).unwrap_or(u64::MAX);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.groups.fetch_add(1, Relaxed);
        self.batches.fetch_add(batches, Relaxed);
        self.last_group_batches.store(batches, Relaxed);
        self.last_append_micros.store(micros, Relaxed);
        self.group_batches.record(batches);
        self.append_micros.record(micros);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_fail_until_one_succeeds_and_not_only_between_them() {
        let stats = CommitStats::default();
        assert!(!stats.writes_fail());
        stats.begin_write();
        assert!(!stats.writes_fail(), "it has just begun");
        stats.end_write(true);
        assert!(stats.writes_fail());
        stats.begin_write();
        assert!(stats.writes_fail(), "the next one has not succeeded yet");
        stats.end_write(false);
        assert!(!stats.writes_fail());
    }

    #[test]
    fn a_bucket_ends_at_the_next_power_of_two() {
        for (value, bucket) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (1_023, 10), (1_024, 11), (u64::MAX, 31)] {
            let histogram = Histogram::default();
            histogram.record(value);
            assert_eq!(histogram.counts().iter().position(|&count| count == 1), Some(bucket), "{value}");
            assert!(Histogram::bucket_end(bucket).is_none_or(|end| value < end), "{value}");
        }
    }
}
