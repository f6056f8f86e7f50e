//! Every key of the store. Integers are big-endian, so that the order of bytes is the order of numbers;
//! a merchant's keys begin with the merchant's id, so that they are one contiguous range of a family.
//!
//! | kind | family | layout (bytes) | length | value |
//! |---|---|---|---|---|
//! | [`JournalKey`] | journal | merchant (16), sequence (8) | 24 | commit number (8), CRC-32C of it (4), record |
//! | [`AppliedKey`] | rows | merchant (16), table 0 (1) | 17 | head (40) |
//! | [`SnapshotKey`] | snapshots | merchant (16), sequence (8) | 24 | see `journal/snapshot.rs` |
//! | [`HeadKey`] | meta | `H` (1), merchant (16) | 17 | head (40) |
//! | [`MetaKey::LastCommit`] | meta | `C` (1) | 1 | commit number (8) |
//! | [`MetaKey::Format`] | meta | `F` (1) | 1 | format of keys and records (4) |
//! | [`MetaKey::RowFormat`] | meta | `R` (1) | 1 | format of derived rows (4) |
//! | [`MetaKey::Starts`] | meta | `S` (1) | 1 | times this directory was opened for writing (8) |
//! | [`MetaKey::Identity`] | meta | `I` (1) | 1 | identity of the store (16) |
//! | [`UnarchivedKey`] | meta | `U` (1), commit number (8) | 9 | see `archive_queue.rs` |
//! | [`GivenUpKey`] | meta | `L` (1), first commit given up (8) | 9 | last commit given up (8) |
//!
//! A head is sequence (8), record hash (32). In the families rows and indexes the byte after the merchant
//! names the table; table 0 is the applied position's, typed tables begin at 1.

use till_domain::ids::MerchantId;

use crate::positions::{CommitNumber, Head, Sequence};

/// Bytes of a merchant id at the front of a key.
pub const MERCHANT_LEN: usize = 16;

/// The first table byte that typed rows and indexes may use.
pub const FIRST_TYPED_TABLE: u8 = 1;

/// Half-open range of keys: from the first, inclusive, to the second, exclusive.
pub type KeyRange = (Vec<u8>, Vec<u8>);

/// One record of one merchant's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalKey {
    /// The merchant whose log it is in.
    pub merchant_id: MerchantId,
    /// The position in the log.
    pub sequence: Sequence,
}

impl JournalKey {
    /// Bytes of the key.
    pub const LEN: usize = MERCHANT_LEN + 8;

    /// The key on disk.
    #[must_use]
    pub fn encode(self) -> [u8; Self::LEN] {
        merchant_and_sequence(self.merchant_id, self.sequence)
    }

    /// The key with these bytes, unless the length differs.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<JournalKey> {
        let (merchant, sequence) = bytes.split_first_chunk::<MERCHANT_LEN>()?;
        let sequence = u64::from_be_bytes(sequence.try_into().ok()?);
        Some(JournalKey { merchant_id: MerchantId::from_bytes(*merchant), sequence: Sequence(sequence) })
    }

    /// The keys of a merchant's records from `from` on.
    #[must_use]
    pub fn range(merchant_id: MerchantId, from: Sequence) -> KeyRange {
        (JournalKey { merchant_id, sequence: from }.encode().to_vec(), after_sequences(merchant_id))
    }
}

const _: () = assert!(JournalKey::LEN == 24, "on disk since format 1: a change needs a new key kind");

/// The position of the log up to which one merchant's rows were derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppliedKey(pub MerchantId);

impl AppliedKey {
    /// Bytes of the key.
    pub const LEN: usize = MERCHANT_LEN + 1;

    /// The key on disk: table 0 sorts before the merchant's typed rows.
    #[must_use]
    pub fn encode(self) -> [u8; Self::LEN] {
        let mut key = [0; Self::LEN];
        key[..MERCHANT_LEN].copy_from_slice(&self.0.to_bytes());
        key
    }
}

const _: () = assert!(AppliedKey::LEN == 17, "on disk since format 1: a change needs a new key kind");

/// One snapshot of one merchant's bounded state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotKey {
    /// The merchant whose state it is.
    pub merchant_id: MerchantId,
    /// The last record folded into it.
    pub sequence: Sequence,
}

impl SnapshotKey {
    /// Bytes of the key.
    pub const LEN: usize = MERCHANT_LEN + 8;

    /// The key on disk.
    #[must_use]
    pub fn encode(self) -> [u8; Self::LEN] {
        merchant_and_sequence(self.merchant_id, self.sequence)
    }

    /// The key with these bytes, unless the length differs.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<SnapshotKey> {
        let JournalKey { merchant_id, sequence } = JournalKey::decode(bytes)?;
        Some(SnapshotKey { merchant_id, sequence })
    }

    /// The keys of all of a merchant's snapshots.
    #[must_use]
    pub fn range(merchant_id: MerchantId) -> KeyRange {
        (merchant_id.to_bytes().to_vec(), after_sequences(merchant_id))
    }
}

const _: () = assert!(SnapshotKey::LEN == 24, "on disk since format 1: a change needs a new key kind");

/// The durable head of one merchant's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadKey(pub MerchantId);

impl HeadKey {
    /// Bytes of the key.
    pub const LEN: usize = 1 + MERCHANT_LEN;

    const KIND: u8 = b'H';

    /// The key on disk.
    #[must_use]
    pub fn encode(self) -> [u8; Self::LEN] {
        let mut key = [Self::KIND; Self::LEN];
        key[1..].copy_from_slice(&self.0.to_bytes());
        key
    }

    /// The key with these bytes, unless they are another kind's.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<HeadKey> {
        let (&kind, merchant) = bytes.split_first()?;
        let merchant = MerchantId::from_bytes(merchant.try_into().ok()?);
        (kind == Self::KIND).then_some(HeadKey(merchant))
    }

    /// The keys of all merchants' heads after `after`.
    #[must_use]
    pub fn range(after: Option<MerchantId>) -> KeyRange {
        let lower = after.map_or_else(
            || vec![Self::KIND],
            |merchant_id| {
                let mut next = HeadKey(merchant_id).encode().to_vec();
                next.push(0); // The smallest greater key.
                next
            },
        );
        (lower, vec![Self::KIND + 1])
    }
}

const _: () = assert!(HeadKey::LEN == 17, "on disk since format 1: a change needs a new key kind");

/// The rows of the family meta of which there is only one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaKey {
    /// Number of the last commit, written in every batch.
    LastCommit,
    /// Format of keys and records.
    Format,
    /// Format of derived rows.
    RowFormat,
    /// The number of times that this directory was opened for writing.
    Starts,
    /// The identity of the store.
    Identity,
    /// The identity of the log elsewhere that the store repeats, and how much of it the store has.
    RemoteLog,
}

impl MetaKey {
    /// Bytes of the key.
    pub const LEN: usize = 1;

    /// The key on disk.
    #[must_use]
    pub const fn encode(self) -> [u8; Self::LEN] {
        match self {
            MetaKey::LastCommit => [b'C'],
            MetaKey::Format => [b'F'],
            MetaKey::RowFormat => [b'R'],
            MetaKey::Starts => [b'S'],
            MetaKey::Identity => [b'I'],
            MetaKey::RemoteLog => [b'E'],
        }
    }
}

const _: () = assert!(MetaKey::LEN == 1, "on disk since format 1: a change needs a new key kind");

/// Commits that an operator gave up, under the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenUpKey(pub CommitNumber);

impl GivenUpKey {
    /// Bytes of the key.
    pub const LEN: usize = 1 + 8;

    /// The key on disk.
    #[must_use]
    pub fn encode(self) -> [u8; Self::LEN] {
        let mut key = [b'L'; Self::LEN];
        key[1..].copy_from_slice(&self.0.0.to_be_bytes());
        key
    }

    /// The key with these bytes, unless they are another kind's.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<GivenUpKey> {
        number_after_kind(b'L', bytes).map(GivenUpKey)
    }

    /// The keys of all of them.
    #[must_use]
    pub fn range() -> KeyRange {
        (vec![b'L'], vec![b'L' + 1])
    }
}

const _: () = assert!(GivenUpKey::LEN == 9, "on disk since format 1: a change needs a new key kind");

/// A commit that is not archived yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnarchivedKey(pub CommitNumber);

impl UnarchivedKey {
    /// Bytes of the key.
    pub const LEN: usize = 1 + 8;

    const KIND: u8 = b'U';

    /// The key on disk.
    #[must_use]
    pub fn encode(self) -> [u8; Self::LEN] {
        let mut key = [Self::KIND; Self::LEN];
        key[1..].copy_from_slice(&self.0.0.to_be_bytes());
        key
    }

    /// The key with these bytes, unless they are another kind's.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<UnarchivedKey> {
        number_after_kind(Self::KIND, bytes).map(UnarchivedKey)
    }

    /// The keys of all commits after one.
    #[must_use]
    pub fn range_after(after: CommitNumber) -> KeyRange {
        (UnarchivedKey(after.next()).encode().to_vec(), vec![Self::KIND + 1])
    }

    /// The keys of all commits after one, up to another.
    #[must_use]
    pub fn range_between(after: CommitNumber, last: CommitNumber) -> KeyRange {
        (UnarchivedKey(after.next()).encode().to_vec(), UnarchivedKey(last.next()).encode().to_vec())
    }
}

const _: () = assert!(UnarchivedKey::LEN == 9, "on disk since format 1: a change needs a new key kind");

fn number_after_kind(kind: u8, bytes: &[u8]) -> Option<CommitNumber> {
    let (&found, number) = bytes.split_first()?;
    let number = u64::from_be_bytes(number.try_into().ok()?);
    (found == kind).then_some(CommitNumber(number))
}

/// Bytes of a head as a value.
pub const HEAD_LEN: usize = 8 + 32;

const _: () = assert!(HEAD_LEN == 40, "on disk since format 1: a change needs a new key kind");

/// A head as a value: sequence (8), record hash (32).
#[must_use]
pub fn encode_head(head: Head) -> [u8; HEAD_LEN] {
    let mut value = [0; HEAD_LEN];
    value[..8].copy_from_slice(&head.sequence.0.to_be_bytes());
    value[8..].copy_from_slice(&head.hash);
    value
}

/// The head with these bytes, unless the length is wrong.
#[must_use]
pub fn decode_head(bytes: &[u8]) -> Option<Head> {
    let (sequence, hash) = bytes.split_first_chunk::<8>()?;
    Some(Head { sequence: Sequence(u64::from_be_bytes(*sequence)), hash: hash.try_into().ok()? })
}

fn merchant_and_sequence(merchant_id: MerchantId, sequence: Sequence) -> [u8; MERCHANT_LEN + 8] {
    let mut key = [0; MERCHANT_LEN + 8];
    key[..MERCHANT_LEN].copy_from_slice(&merchant_id.to_bytes());
    key[MERCHANT_LEN..].copy_from_slice(&sequence.0.to_be_bytes());
    key
}

/// A key after every (merchant, sequence) of the merchant and before the next merchant's first.
fn after_sequences(merchant_id: MerchantId) -> Vec<u8> {
    let mut key = merchant_id.to_bytes().to_vec();
    key.extend_from_slice(&[0xff; 9]);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    const MERCHANT: MerchantId = MerchantId::from_bytes([0xab; 16]);
    const NEXT: MerchantId = MerchantId::from_bytes([0xac; 16]);

    fn journal(merchant_id: MerchantId, sequence: u64) -> Vec<u8> {
        JournalKey { merchant_id, sequence: Sequence(sequence) }.encode().to_vec()
    }

    #[test]
    fn the_order_of_journal_keys_is_merchant_then_sequence() {
        let sorted = [(MERCHANT, 1), (MERCHANT, 255), (MERCHANT, 256), (MERCHANT, u64::MAX), (NEXT, 0)];
        let keys = sorted.map(|(merchant_id, sequence)| journal(merchant_id, sequence));
        assert!(keys.is_sorted(), "{keys:?}");
    }

    #[test]
    fn a_journal_range_ends_before_the_next_merchant() {
        let (lower, upper) = JournalKey::range(MERCHANT, Sequence(7));
        let inside = |key: Vec<u8>| key >= lower && key < upper;
        assert!(!inside(journal(MERCHANT, 6)));
        assert!(inside(journal(MERCHANT, 7)));
        assert!(inside(journal(MERCHANT, u64::MAX)));
        assert!(!inside(journal(NEXT, 0)));
    }

    #[test]
    fn a_range_of_heads_begins_after_the_given_merchant() {
        let (lower, upper) = HeadKey::range(Some(MERCHANT));
        let inside =
            |merchant| HeadKey(merchant).encode().to_vec() >= lower && HeadKey(merchant).encode().to_vec() < upper;
        assert!(!inside(MERCHANT));
        assert!(inside(NEXT));
        assert!(inside(MerchantId::from_bytes([0xff; 16])));
        let (lower, _) = HeadKey::range(None);
        assert!(HeadKey(MerchantId::from_bytes([0; 16])).encode().to_vec() >= lower);
    }

    #[test]
    fn keys_and_heads_read_back_as_they_were_written() {
        let key = JournalKey { merchant_id: MERCHANT, sequence: Sequence(9) };
        assert_eq!(JournalKey::decode(&key.encode()), Some(key));
        assert_eq!(JournalKey::decode(&key.encode()[1..]), None);
        assert_eq!(HeadKey::decode(&HeadKey(NEXT).encode()), Some(HeadKey(NEXT)));
        assert_eq!(HeadKey::decode(&MetaKey::LastCommit.encode()), None);
        let head = Head { sequence: Sequence(3), hash: [5; 32] };
        assert_eq!(decode_head(&encode_head(head)), Some(head));
        assert_eq!(decode_head(&[0; 39]), None);
    }

    #[test]
    fn keys_are_the_bytes_that_format_1_wrote() {
        assert_eq!(journal(MERCHANT, 0x0102), [[0xab; 16].as_slice(), &[0, 0, 0, 0, 0, 0, 1, 2]].concat());
        assert_eq!(AppliedKey(MERCHANT).encode().to_vec(), [[0xab; 16].as_slice(), &[0]].concat());
        assert_eq!(HeadKey(MERCHANT).encode().to_vec(), [b"H".as_slice(), &[0xab; 16]].concat());
        assert_eq!(GivenUpKey(CommitNumber(3)).encode(), [b'L', 0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(UnarchivedKey(CommitNumber(3)).encode(), [b'U', 0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(MetaKey::Identity.encode(), [b'I']);
    }
}
