//! The store as the actors see it: the journal and the rows derived from it.

use till_domain::effect::{EffectId, Timer};
use till_domain::ids::{MerchantId, MetadataId};
use till_domain::metadata::{ItemHash, SetNumber};
use till_domain::records::{AnyKey, Unreadable};
use till_domain::time::Millis;
use till_storage::family::Family;
use till_storage::journal::Journal;
use till_storage::keys::KeyRange;
use till_storage::rows::{Direction, RowPair, RowStore};
use till_storage::shapes::{self, KeyParts, TableKind};

/// A journal with its rows.
pub trait Store: Journal + RowStore {}

impl<S: Journal + RowStore> Store for S {}

/// At most `limit` open effects of all merchants behind `after`, in order of merchant, payment and refund.
pub(crate) fn open_effects(
    store: &dyn Store,
    after: Option<(MerchantId, EffectId)>,
    limit: usize,
) -> Result<Vec<(MerchantId, EffectId)>, Unreadable> {
    let found = scan(store, Family::Effects, shapes::all_effects_range(after), limit)?;
    found.into_iter().map(|(merchant_id, key)| Ok((merchant_id, effect_of(&key)?))).collect()
}

/// The merchant behind `after` that has a timer set or something to be swept, with the first timer's instant.
pub(crate) fn next_merchant_with_timers(
    store: &dyn Store,
    after: Option<MerchantId>,
) -> Result<Option<(MerchantId, Option<Millis>)>, Unreadable> {
    let (mut lower, upper) = shapes::all_timers_range();
    if let Some(merchant_id) = after {
        // The last table of the family.
        lower = shapes::table_range(merchant_id, TableKind::MetadataGarbage).1;
    }
    let found = scan(store, Family::Timers, (lower, upper), 1)?;
    let Some((merchant_id, key)) = found.first() else { return Ok(None) };
    let is_timer = !matches!(key, AnyKey::MetadataGarbage(_));
    let due = is_timer.then(|| timer_of(key)).transpose()?.map(|timer| timer.due);
    Ok(Some((*merchant_id, due)))
}

/// A record of the merchant that has something to be swept.
pub(crate) fn first_garbage(store: &dyn Store, merchant_id: MerchantId) -> Result<Option<MetadataId>, Unreadable> {
    let range = shapes::table_range(merchant_id, TableKind::MetadataGarbage);
    let found = scan(store, Family::Timers, range, 1)?;
    let id = |key: &AnyKey| if let AnyKey::MetadataGarbage(id) = key { Ok(*id) } else { Err(misplaced(key)) };
    found.first().map(|(_, key)| id(key)).transpose()
}

/// At most `limit` items of a record's sets below a number, with the set and the hash of each.
pub(crate) fn items_below(
    store: &dyn Store,
    merchant_id: MerchantId,
    id: MetadataId,
    below: SetNumber,
    limit: usize,
) -> Result<Vec<(SetNumber, ItemHash)>, Unreadable> {
    let range = shapes::metadata_items_range(merchant_id, id, SetNumber(0), below);
    let item = |key: &AnyKey| match key {
        AnyKey::MetadataItems((_, number, hash)) => Ok((*number, *hash)),
        key => Err(misplaced(key)),
    };
    scan(store, Family::Rows, range, limit)?.iter().map(|(_, key)| item(key)).collect()
}

/// At most `limit` of a record's sets below a number.
pub(crate) fn sets_below(
    store: &dyn Store,
    merchant_id: MerchantId,
    id: MetadataId,
    below: SetNumber,
    limit: usize,
) -> Result<Vec<SetNumber>, Unreadable> {
    let range = shapes::metadata_sets_range(merchant_id, id, SetNumber(0), below);
    let set = |key: &AnyKey| match key {
        AnyKey::MetadataSets((_, number)) => Ok(*number),
        key => Err(misplaced(key)),
    };
    scan(store, Family::Rows, range, limit)?.iter().map(|(_, key)| set(key)).collect()
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
    Ok(store.scan(family, lower, upper, Direction::Forward, limit)?)
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

fn effect_of(key: &AnyKey) -> Result<EffectId, Unreadable> {
    if let AnyKey::Effects(effect_id) = key { Ok(*effect_id) } else { Err(misplaced(key)) }
}

fn timer_of(key: &AnyKey) -> Result<Timer, Unreadable> {
    if let AnyKey::Timers(timer) = key { Ok(*timer) } else { Err(misplaced(key)) }
}

fn misplaced(key: &AnyKey) -> Unreadable {
    Unreadable { reason: format!("{key:?} is in another table's place") }
}
