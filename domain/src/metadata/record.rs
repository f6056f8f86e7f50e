//! Records, their sets, and their limits.

use std::fmt;

use super::json::CanonicalJson;
use crate::ids::MetadataId;
use crate::time::Millis;

/// The maximum number of items in the sets of a record.
pub const ITEMS_MAX: u64 = 1_000_000;
/// The maximum number of bytes of a record's metadata in canonical form: 64 MiB.
pub const BYTESIZE_MAX: u64 = 64 * 1024 * 1024;
/// The maximum number of bytes of a value in one call, in canonical form: 1 MiB, as for a body.
pub const VALUE_BYTES_MAX: usize = 1024 * 1024;
/// The maximum number of bytes of a document without the items of its sets: 4 MiB. With a value it fits a record of the
/// log, also when an array of it becomes a set.
pub const DOCUMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The maximum number of sets of a record: an answer that shows all of them reads each.
pub const SETS_MAX: u32 = 10_000;
/// The longest time to live: two years.
pub const TTL_MAX_SECONDS: u64 = 63_072_000;
/// The time to live when none was ever given: two years.
pub const TTL_DEFAULT_SECONDS: u64 = TTL_MAX_SECONDS;

/// The number of a set in its record. It is never used again for another set of the same record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetNumber(pub u32);

impl SetNumber {
    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> SetNumber {
        SetNumber(self.0.saturating_add(1))
    }
}

/// The hash by which an item of a set is found: BLAKE3 of its canonical form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemHash(pub [u8; 32]);

impl ItemHash {
    /// The hash of an item's canonical text.
    #[must_use]
    pub fn of(canonical: &str) -> ItemHash {
        ItemHash(*blake3::hash(canonical.as_bytes()).as_bytes())
    }
}

/// Shortened: the whole hash of a short item would reveal the item.
impl fmt::Debug for ItemHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, two, ..] = self.0;
        write!(f, "ItemHash({one:02x}{two:02x}..)")
    }
}

/// The data of a record beside its document and items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataRecord {
    /// Its id: a record that is made again under the same key after a deletion or expiry has a new one. Lists are in
    /// the order of this id.
    pub id: MetadataId,
    /// Grows by one with every change of the value; 1 at first.
    pub version: u64,
    /// Bytes of the metadata in canonical form.
    pub bytesize: u64,
    /// Items in all of its sets.
    pub item_count: u64,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which its value last changed.
    pub updated_at: Millis,
    /// The instant from which it no longer exists.
    pub expires_at: Millis,
    /// The time to live that was last given.
    pub ttl_seconds: Option<u64>,
    /// The instant at which its one timer is due: at its expiry or before.
    pub timer_due: Millis,
    /// The number of its first set: those numbered below were replaced.
    pub sets_from: SetNumber,
    /// The number after that of its last set: the next one to use.
    pub sets_below: SetNumber,
}

impl MetadataRecord {
    /// A new record at `now`, which is still empty.
    #[must_use]
    pub const fn new(id: MetadataId, now: Millis) -> MetadataRecord {
        MetadataRecord {
            id,
            version: 0,
            bytesize: 0,
            item_count: 0,
            created_at: now,
            updated_at: now,
            expires_at: now,
            ttl_seconds: None,
            timer_due: Millis(u64::MAX),
            sets_from: SetNumber(0),
            sets_below: SetNumber(0),
        }
    }

    /// Returns true when it has not expired at `now`, the later of the clock and the merchant's last event.
    #[must_use]
    pub fn is_live(&self, now: Millis) -> bool {
        now < self.expires_at
    }

    /// The number of its sets.
    #[must_use]
    pub const fn set_count(&self) -> u32 {
        self.sets_below.0.saturating_sub(self.sets_from.0)
    }

    /// The number below which its sets are to be swept when it is replaced or ends.
    #[must_use]
    pub fn garbage_below(&self) -> Option<SetNumber> {
        (self.set_count() > 0).then_some(self.sets_below)
    }
}

/// The counters of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MetadataSet {
    /// Items in it.
    pub item_count: u64,
    /// Their bytes in canonical form.
    pub item_bytes: u64,
    /// The position of the next item: positions grow, and are never used again.
    pub next_position: u64,
}

impl MetadataSet {
    /// The set with one more item, at the end.
    #[must_use]
    pub fn with_item(self, item: &CanonicalJson) -> MetadataSet {
        MetadataSet {
            item_count: self.item_count.saturating_add(1),
            item_bytes: self.item_bytes.saturating_add(item.byte_count()),
            next_position: self.next_position.saturating_add(1),
        }
    }

    /// The set without one of its items.
    #[must_use]
    pub fn without_item(self, item: &CanonicalJson) -> MetadataSet {
        MetadataSet {
            item_count: self.item_count.saturating_sub(1),
            item_bytes: self.item_bytes.saturating_sub(item.byte_count()),
            next_position: self.next_position,
        }
    }

    /// Bytes of the array in canonical form: brackets, items, commas.
    #[must_use]
    pub fn array_bytes(self) -> u64 {
        self.item_bytes.saturating_add(self.item_count.saturating_sub(1)).saturating_add(2)
    }
}

/// A row of an item that is no longer visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweptItem {
    /// The set that it belonged to.
    pub set: SetNumber,
    /// The hash by which the item was found.
    pub hash: ItemHash,
    /// The position that the item had.
    pub position: u64,
}
