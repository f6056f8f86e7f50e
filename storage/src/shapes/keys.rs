//! Keys of rows. Integers and ids are big-endian, so that the order of bytes is their order.
//!
//! Below a merchant every key is `merchant (16) | table (1) | rest`; in the family directory, which is of all
//! merchants, `table (1) | rest`. A text is the last part and extends to the end of the key, so that it needs no
//! terminator. Customers' e-mail addresses and mobile numbers are 32-byte keyed digests.
//!
//! `tables` has the kinds, `key_bytes` the bytes of each type of key, docs/storage-format.md describes both.
//! Every value begins with a format byte, see [`super::encode_row`].

use till_domain::ids::{MerchantId, RawId};
use till_domain::open_call::OpenCall;
use till_domain::records::AnyKey;

use crate::family::Family;
use crate::keys::{FIRST_TYPED_TABLE, KeyRange, MERCHANT_LEN};

use super::key_bytes::DIGEST_LEN;
use super::personal::{Personal, StaysSealed};
use super::tables::{KeyParts, TableKind, decode_rest, push_rest};

/// Bytes at the front of every key below a merchant: merchant and table.
const HEAD_LEN: usize = MERCHANT_LEN + 1;

const _: () = assert!(HEAD_LEN == 17, "on disk since format 1: a change needs new tables");
const _: () = assert!(FIRST_TYPED_TABLE == 1, "table 0 is the applied position's");

impl TableKind {
    /// The common prefix of its keys.
    fn head(self, merchant: MerchantId) -> Vec<u8> {
        let mut key = Vec::with_capacity(HEAD_LEN + DIGEST_LEN);
        self.push_head(merchant, &mut key);
        key
    }

    /// The length of that prefix in bytes.
    pub(super) fn head_len(self) -> usize {
        if self.is_below_a_merchant() { HEAD_LEN } else { 1 }
    }

    fn push_head(self, merchant: MerchantId, bytes: &mut Vec<u8>) {
        if self.is_below_a_merchant() {
            bytes.extend_from_slice(&merchant.to_bytes());
        }
        bytes.push(self.tag());
    }
}

/// The family and the key of the row under `key` of a merchant. `personal` is that merchant's.
#[must_use]
pub fn row_key(merchant: MerchantId, key: &AnyKey, personal: &dyn Personal) -> (Family, Vec<u8>) {
    let mut bytes = Vec::with_capacity(HEAD_LEN + DIGEST_LEN);
    let family = push_row_key(merchant, key, personal, &mut bytes);
    (family, bytes)
}

/// As [`row_key`], appended to existing bytes.
pub fn push_row_key(merchant: MerchantId, key: &AnyKey, personal: &dyn Personal, bytes: &mut Vec<u8>) -> Family {
    let table = TableKind::of(key);
    table.push_head(merchant, bytes);
    push_rest(key, personal, bytes);
    table.family()
}

/// The keys of a table; of a merchant's part of it, where the table is below a merchant.
#[must_use]
pub fn table_range(merchant: MerchantId, table: TableKind) -> KeyRange {
    let lower = table.head(merchant);
    let mut upper = lower.clone();
    if let Some(tag) = upper.last_mut() {
        *tag = tag.saturating_add(1); // Far below 255, see the table.
    }
    (lower, upper)
}

/// Of a merchant's table whose keys are ids: the keys before one.
#[must_use]
pub fn range_before_id(merchant: MerchantId, table: TableKind, before: RawId) -> KeyRange {
    let lower = table.head(merchant);
    let upper = [lower.as_slice(), &before.to_bytes()].concat();
    (lower, upper)
}

/// The open calls of a merchant or of every merchant after `after`, in the family effects: by merchant, first those
/// about payments by payment, of each payment its operation and then its refunds; then those of the other kinds, by
/// table.
pub(super) fn open_calls_range(of: Option<MerchantId>, after: Option<(MerchantId, OpenCall)>) -> KeyRange {
    let (mut lower, mut upper) = below_all_merchants();
    if let Some(merchant) = of {
        lower = merchant.to_bytes().to_vec();
        upper = [lower.as_slice(), &[u8::MAX]].concat(); // No table is 255.
    }
    if let Some((merchant, call)) = after {
        (_, lower) = row_key(merchant, &call.key(), &StaysSealed);
        lower.push(0); // The smallest greater key.
    }
    (lower, upper)
}

/// Every merchant's timers and metadata garbage, in the family timers: by merchant, then timers by time.
pub(super) fn all_timers_range() -> KeyRange {
    below_all_merchants()
}

/// A whole family of keys below merchants: no table is 255, so every key is less than the upper end.
fn below_all_merchants() -> KeyRange {
    (Vec::new(), vec![u8::MAX; HEAD_LEN])
}

/// The reason for which bytes are not a key of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The family has no rows.
    #[error("the family {family} holds no rows")]
    NoRows {
        /// The family.
        family: Family,
    },
    /// The key is too short for a merchant and a table.
    #[error("a key of {found_len} bytes is too short for one of {family}")]
    TooShort {
        /// The family.
        family: Family,
        /// Its length.
        found_len: usize,
    },
    /// The family has no such table: a later version of the program wrote it, or it is damaged.
    #[error("the family {family} has no table {tag}")]
    UnknownTable {
        /// The family.
        family: Family,
        /// The byte of the table.
        tag: u8,
    },
    /// The part after the table does not have the layout of the table's keys.
    #[error("a key of the table {table} does not have its layout", table = table.name())]
    Malformed {
        /// The table.
        table: TableKind,
    },
}

/// The merchant, when the table is below one, and the rest of a key.
///
/// # Errors
/// [`KeyError`] when no version of this program so far has written these bytes.
pub fn decode_key(family: Family, bytes: &[u8]) -> Result<(Option<MerchantId>, KeyParts), KeyError> {
    let too_short = KeyError::TooShort { family, found_len: bytes.len() };
    let (merchant, rest) = match family {
        Family::Rows | Family::Indexes | Family::Effects | Family::Timers => {
            let (merchant, rest) = bytes.split_first_chunk::<MERCHANT_LEN>().ok_or(too_short)?;
            (Some(MerchantId::from_bytes(*merchant)), rest)
        }
        Family::Directory => (None, bytes),
        Family::Journal | Family::Snapshots | Family::Vault | Family::Meta => return Err(KeyError::NoRows { family }),
    };
    let (&tag, rest) = rest.split_first().ok_or(too_short)?;
    if family == Family::Rows && tag < FIRST_TYPED_TABLE && rest.is_empty() {
        return Ok((merchant, KeyParts::AppliedPosition));
    }
    let table = TableKind::from_tag(tag).filter(|table| table.family() == family);
    let table = table.ok_or(KeyError::UnknownTable { family, tag })?;
    let parts = decode_rest(table, rest).ok_or(KeyError::Malformed { table })?;
    Ok((merchant, parts))
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
