//! Reads of the database, of the present or of a snapshot.

use std::sync::LazyLock;

use rocksdb::{
    ColumnFamily, DB, DBPinnableSlice, DBRawIteratorWithThreadMode, ReadOptions, ReadTier, SnapshotWithThreadMode,
};

use crate::family::Family;
use crate::rows::{ReadAtHand, RowError, RowRange, RowReader, ScanDirection, Visit};

/// The options of look-ups in the present state: the defaults, made once.
static AS_IT_IS: LazyLock<ReadOptions> = LazyLock::new(ReadOptions::default);

/// The options of look-ups that do not wait for the disk: in what is not yet in tables, and in the cache of blocks.
static AT_HAND: LazyLock<ReadOptions> = LazyLock::new(|| {
    let mut options = ReadOptions::default();
    options.set_read_tier(ReadTier::BlockCache);
    options
});

/// The handle of a family.
pub(super) fn handle(db: &DB, family: Family) -> &ColumnFamily {
    db.cf_handle(family.name()).expect("every family is opened with the database")
}

fn unreadable(family: Family) -> impl Fn(rocksdb::Error) -> RowError {
    move |error| RowError::Unreadable { family, reason: error.into_string() }
}

/// The bounds make an iterator stop at the end of the range instead of reading on to the next live key.
fn bounded(lower: &[u8], upper: &[u8]) -> ReadOptions {
    let mut options = ReadOptions::default();
    options.set_iterate_lower_bound(lower);
    options.set_iterate_upper_bound(upper);
    options
}

/// Visits the pairs of a range in a direction. `open` makes the iterator.
pub(crate) fn walk<'d>(
    open: impl FnOnce(ReadOptions) -> DBRawIteratorWithThreadMode<'d, DB>,
    (lower, upper): (&[u8], &[u8]),
    direction: ScanDirection,
    visit: &mut Visit<'_>,
) -> Result<(), rocksdb::Error> {
    if lower >= upper {
        return Ok(());
    }
    let mut iterator = open(bounded(lower, upper));
    match direction {
        ScanDirection::Forward => iterator.seek_to_first(),
        ScanDirection::Backward => iterator.seek_to_last(),
    }
    while let Some((key, value)) = iterator.item() {
        if visit(key, value).is_break() {
            return Ok(()); // The next row, which is not needed, may be in a block that cannot be read.
        }
        match direction {
            ScanDirection::Forward => iterator.next(),
            ScanDirection::Backward => iterator.prev(),
        }
    }
    // An iterator that finds a damaged block looks like one at its end.
    iterator.status()
}

/// Looks several keys up together: keys in the same block read it once.
fn get_many(
    db: &DB,
    family: Family,
    keys: &[Vec<u8>],
    options: &ReadOptions,
) -> Result<Vec<Option<Vec<u8>>>, RowError> {
    let values = db.batched_multi_get_cf_opt(handle(db, family), keys, false, options);
    let value = |value: Result<Option<DBPinnableSlice<'_>>, rocksdb::Error>| {
        value.map(|value| value.map(|value| value.to_vec())).map_err(unreadable(family))
    };
    values.into_iter().map(value).collect()
}

/// Looks a key up without waiting for the disk. Besides blocks that are not in memory, damaged ones cannot be read so.
pub(super) fn get_at_hand(db: &DB, family: Family, key: &[u8]) -> ReadAtHand {
    db.get_cf_opt(handle(db, family), key, &AT_HAND).map_or(ReadAtHand::WouldWait, ReadAtHand::Value)
}

/// The committed state at the time of each read.
pub(super) struct Live<'a>(pub(super) &'a DB);

impl RowReader for Live<'_> {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        self.0.get_cf_opt(handle(self.0, family), key, &AS_IT_IS).map_err(unreadable(family))
    }

    fn get_many(&self, family: Family, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, RowError> {
        get_many(self.0, family, keys, &ReadOptions::default())
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        let RowRange { family, lower, upper, direction } = range;
        let open = |options| self.0.raw_iterator_cf_opt(handle(self.0, family), options);
        walk(open, (lower, upper), direction, visit).map_err(unreadable(family))
    }
}

/// The committed state at one moment, by a snapshot.
pub(super) struct SnapshotReader<'a> {
    db: &'a DB,
    snapshot: SnapshotWithThreadMode<'a, DB>,
}

impl<'a> SnapshotReader<'a> {
    /// A snapshot of the present state.
    pub(super) fn now(db: &'a DB) -> SnapshotReader<'a> {
        SnapshotReader { db, snapshot: db.snapshot() }
    }
}

impl RowReader for SnapshotReader<'_> {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        self.snapshot.get_cf(handle(self.db, family), key).map_err(unreadable(family))
    }

    fn get_many(&self, family: Family, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, RowError> {
        let mut options = ReadOptions::default();
        options.set_snapshot(&self.snapshot);
        get_many(self.db, family, keys, &options)
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        let RowRange { family, lower, upper, direction } = range;
        let open = |options| self.snapshot.raw_iterator_cf_opt(handle(self.db, family), options);
        walk(open, (lower, upper), direction, visit).map_err(unreadable(family))
    }
}
