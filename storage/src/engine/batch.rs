//! The bytes of one atomic write, as RocksDB logs them. They are composed here because a call into the library for each
//! key takes longer than copying it.
//!
//! Shape (lengths and ids of families are little-endian base-128 numbers, offsets in bytes):
//!
//! ```text
//! 0 zeros, which RocksDB fills in (8) | 8 number of the records, little-endian (4) | 12 records
//! 5 | id of the family | length and bytes of the key | length and bytes of the value       a row to set
//! 4 | id of the family | length and bytes of the key                                       a row to remove
//! ```
//!
//! Source: RocksDB 11.8, `db/write_batch.cc` and `db/dbformat.h`. It is the format of RocksDB's log, so it does not
//! change.

use rocksdb::{DB, WriteBatch};

use crate::family::Family;
use crate::journal::layout::WriteSink;

use super::read::handle;

const HEADER_LEN: usize = 12;
const COUNT_AT: usize = 8;
const REMOVE: u8 = 4;
const SET: u8 = 5;

/// The length bytes of an empty key and an empty value.
const EMPTY_PAIR_LEN: usize = 2;

/// The ids of the families, as a batch encodes them.
pub(super) struct FamilyIds([Vec<u8>; Family::ALL.len()]);

impl FamilyIds {
    /// The ids of an open database, read from a batch that the library itself made.
    pub(super) fn of(db: &DB) -> FamilyIds {
        FamilyIds(Family::ALL.map(|family| {
            let mut batch = WriteBatch::default();
            batch.put_cf(handle(db, family), b"", b"");
            let bytes = batch.data();
            // Only the default family, which the store does not use, has records without an id.
            assert!(bytes.get(HEADER_LEN) == Some(&SET), "a row of a family is set by a record of type {SET}");
            bytes[HEADER_LEN + 1..bytes.len() - EMPTY_PAIR_LEN].to_vec()
        }))
    }
}

/// Collects the writes of one atomic step.
pub(crate) struct BatchSink<'a> {
    bytes: Vec<u8>,
    count: u32,
    ids: &'a FamilyIds,
}

impl<'a> BatchSink<'a> {
    /// A sink with room for about this number of bytes.
    pub(super) fn new(ids: &'a FamilyIds, byte_count: usize) -> BatchSink<'a> {
        let mut bytes = Vec::with_capacity(HEADER_LEN + byte_count);
        bytes.resize(HEADER_LEN, 0);
        BatchSink { bytes, count: 0, ids }
    }

    /// The batch.
    pub(super) fn finish(mut self) -> WriteBatch {
        self.bytes[COUNT_AT..HEADER_LEN].copy_from_slice(&self.count.to_le_bytes());
        WriteBatch::from_data(&self.bytes)
    }

    fn begin(&mut self, what: u8, family: Family) {
        self.count += 1;
        self.bytes.push(what);
        self.bytes.extend_from_slice(&self.ids.0[family.index()]);
    }

    fn push(&mut self, text: &[u8]) {
        let mut rest = text.len();
        while rest >= 0x80 {
            self.bytes.push(u8::try_from(rest & 0x7f).unwrap_or_default() | 0x80);
            rest >>= 7;
        }
        self.bytes.push(u8::try_from(rest).unwrap_or_default());
        self.bytes.extend_from_slice(text);
    }
}

impl WriteSink for BatchSink<'_> {
    fn put(&mut self, family: Family, key: &[u8], value: &[u8]) {
        self.begin(SET, family);
        self.push(key);
        self.push(value);
    }

    fn delete(&mut self, family: Family, key: &[u8]) {
        self.begin(REMOVE, family);
        self.push(key);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Engine;
    use super::super::EngineOptions;
    use super::*;

    #[test]
    fn a_batch_has_the_bytes_that_the_library_makes() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let engine = Engine::open(&EngineOptions::new(directory.path())).expect("opens");
        let ids = FamilyIds::of(engine.database());
        let (mut ours, mut theirs) = (BatchSink::new(&ids, 0), WriteBatch::default());
        for family in Family::ALL {
            for length in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 3_000_000] {
                let (key, value) = (vec![7; length.min(0x4000)], vec![9; length]);
                ours.put(family, &key, &value);
                theirs.put_cf(handle(engine.database(), family), &key, &value);
                ours.delete(family, &key);
                theirs.delete_cf(handle(engine.database(), family), &key);
            }
        }
        assert_eq!(ours.finish().data(), theirs.data());
    }
}
