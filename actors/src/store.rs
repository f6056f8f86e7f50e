//! The store as the actors see it: the journal and the rows derived from it.

use std::sync::Arc;
use till_domain::effect::Timer;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::records::{AnyKey, Unreadable};
use till_domain::time::Millis;
use till_storage::family::Family;
use till_storage::journal::Journal;
use till_storage::keys::KeyRange;
use till_storage::rows::{Direction, RowPair, RowStore};
use till_storage::shapes::{self, ByteReader, KeyParts, TableKind, VaultReader};

/// A journal with its rows.
pub trait Store: Journal + RowStore {}

impl<S: Journal + RowStore> Store for S {}

/// A hold on the store that reads bytes: committed rows and the vault.
#[derive(Clone)]
pub struct StoreReader(pub Arc<dyn Store>);

impl ByteReader for StoreReader {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        self.0.get(family, key).map_err(|error| Unreadable { reason: error.to_string() })
    }
}

impl VaultReader for StoreReader {
    fn get_vault(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        ByteReader::get(self, Family::Vault, key)
    }
}

/// At most `limit` open effects of all merchants behind `after`, in order of merchant and payment.
pub(crate) fn open_effects(
    store: &dyn Store,
    after: Option<(MerchantId, PaymentId)>,
    limit: usize,
) -> Result<Vec<(MerchantId, PaymentId)>, Unreadable> {
    let (mut lower, upper) = shapes::all_effects_range();
    if let Some((merchant_id, payment_id)) = after {
        lower = shapes::id_range(merchant_id, TableKind::Effects, Some(payment_id.to_bytes()), None).0;
    }
    let found = scan(store, Family::Effects, (lower, upper), limit)?;
    found.into_iter().map(|(merchant_id, key)| Ok((merchant_id, payment_of(&key)?))).collect()
}

/// The merchant behind `after` that has a timer set, with its first instant.
pub(crate) fn next_merchant_with_timers(
    store: &dyn Store,
    after: Option<MerchantId>,
) -> Result<Option<(MerchantId, Millis)>, Unreadable> {
    let (mut lower, upper) = shapes::all_timers_range();
    if let Some(merchant_id) = after {
        lower = shapes::table_range(merchant_id, TableKind::Timers).1;
    }
    let found = scan(store, Family::Timers, (lower, upper), 1)?;
    found.first().map(|(merchant_id, key)| Ok((*merchant_id, timer_of(key)?.due))).transpose()
}

/// A merchant's first timers, due or not, the earliest first.
pub(crate) fn first_timers(store: &dyn Store, merchant_id: MerchantId, limit: usize) -> Result<Vec<Timer>, Unreadable> {
    let range = shapes::table_range(merchant_id, TableKind::Timers);
    scan(store, Family::Timers, range, limit)?.iter().map(|(_, key)| timer_of(key)).collect()
}

/// At most `limit` merchants behind `after`, in order.
pub(crate) fn merchants(
    store: &dyn Store,
    after: Option<MerchantId>,
    limit: usize,
) -> Result<Vec<MerchantId>, Unreadable> {
    let found = rows_of(store, Family::Directory, &shapes::all_merchants_range(after), limit)?;
    found.iter().map(|(key, _)| merchant_of(key)).collect()
}

fn merchant_of(bytes: &[u8]) -> Result<MerchantId, Unreadable> {
    let decoded = shapes::decode_key(Family::Directory, bytes);
    match decoded.map_err(|error| Unreadable { reason: error.to_string() })? {
        (_, KeyParts::Row(AnyKey::MerchantDirectory(merchant_id))) => Ok(merchant_id),
        (_, parts) => Err(Unreadable { reason: format!("{parts:?} is in another table's place") }),
    }
}

/// At most `limit` rows of a range, in order.
pub(crate) fn rows_of(
    store: &dyn Store,
    family: Family,
    (lower, upper): &KeyRange,
    limit: usize,
) -> Result<Vec<RowPair>, Unreadable> {
    let found = store.scan(family, lower, upper, Direction::Forward, limit);
    found.map_err(|error| Unreadable { reason: error.to_string() })
}

fn scan(
    store: &dyn Store,
    family: Family,
    range: KeyRange,
    limit: usize,
) -> Result<Vec<(MerchantId, AnyKey)>, Unreadable> {
    let found = rows_of(store, family, &range, limit)?;
    found.iter().map(|(key, _)| key_below_a_merchant(family, key)).collect()
}

fn key_below_a_merchant(family: Family, bytes: &[u8]) -> Result<(MerchantId, AnyKey), Unreadable> {
    match shapes::decode_key(family, bytes).map_err(|error| Unreadable { reason: error.to_string() })? {
        (Some(merchant_id), KeyParts::Row(key)) => Ok((merchant_id, key)),
        (_, parts) => Err(Unreadable { reason: format!("{parts:?} does not belong into {family}") }),
    }
}

fn payment_of(key: &AnyKey) -> Result<PaymentId, Unreadable> {
    if let AnyKey::Effects(payment_id) = key { Ok(*payment_id) } else { Err(misplaced(key)) }
}

fn timer_of(key: &AnyKey) -> Result<Timer, Unreadable> {
    if let AnyKey::Timers(timer) = key { Ok(*timer) } else { Err(misplaced(key)) }
}

fn misplaced(key: &AnyKey) -> Unreadable {
    Unreadable { reason: format!("{key:?} is in another table's place") }
}
