//! One write of a batch, as RocksDB's log has it.

use rocksdb::{WriteBatch, WriteBatchIteratorCf};
use till_storage::family::Family;

/// Bytes of a merchant id in front of a key.
const MERCHANT_LEN: usize = 16;

/// The location of a value: the family and the bytes of its key.
pub(super) type KeyLocation = (Family, Vec<u8>);

/// One write: a value, or none for a removal.
pub(super) type Write = (KeyLocation, Option<Vec<u8>>);

/// The writes of one group commit.
#[derive(Debug, Default)]
pub(super) struct Writes {
    /// The writes in the order of the log.
    pub(super) writes: Vec<Write>,
    /// The number of bytes in the log.
    pub(super) byte_count: usize,
}

impl Writes {
    /// Reads a batch.
    pub(super) fn of(batch: &WriteBatch) -> Writes {
        let mut writes = Writes { writes: Vec::new(), byte_count: batch.size_in_bytes() };
        batch.iterate_cf(&mut writes);
        writes
    }

    /// Records of merchants' logs in it: one for each append.
    pub(super) fn records(&self) -> usize {
        self.writes.iter().filter(|((family, _), _)| *family == Family::Journal).count()
    }

    /// True when the batch opens calls to the acquirer, and so has initiations.
    pub(super) fn initiates(&self) -> bool {
        self.writes.iter().any(|((family, _), value)| *family == Family::Effects && value.is_some())
    }
}

/// The same location under another merchant: each pass over the log writes keys that were not there before.
pub(super) fn of_pass((family, key): &KeyLocation, pass: u8) -> KeyLocation {
    let mut key = key.clone();
    let merchant_at = match family {
        Family::Journal | Family::Rows | Family::Indexes | Family::Effects | Family::Timers => 0,
        Family::Snapshots | Family::Vault => 0,
        Family::Meta | Family::Directory => 1,
    };
    if let Some(byte) = key.get_mut(merchant_at + MERCHANT_LEN - 1) {
        *byte ^= pass;
    }
    (*family, key)
}

/// RocksDB counts the families from 1 in the order in which they were made; 0 is its own, which is empty.
fn family(number: u32) -> Option<Family> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    Family::ALL.get(index).copied()
}

impl WriteBatchIteratorCf for Writes {
    fn put_cf(&mut self, cf_id: u32, key: &[u8], value: &[u8]) {
        let family = family(cf_id).expect("Till writes to its families only");
        self.writes.push(((family, key.to_vec()), Some(value.to_vec())));
    }

    fn delete_cf(&mut self, cf_id: u32, key: &[u8]) {
        let family = family(cf_id).expect("Till writes to its families only");
        self.writes.push(((family, key.to_vec()), None));
    }

    fn merge_cf(&mut self, _: u32, _: &[u8], _: &[u8]) {
        panic!("Till never merges");
    }
}
