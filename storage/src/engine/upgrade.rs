//! Rows that stores of earlier row formats lack: a start writes them, before anything else is written. A start that ends
//! early has written some of them; the next one writes all of them again, and they are the same.

use std::collections::BTreeMap;
use std::ops::Bound;

use rocksdb::{DB, WriteBatch};
use till_domain::apply::index_rows;
use till_domain::ids::{CardId, CustomerId, MerchantId};
use till_domain::records::{
    ActivitiesByActorEmail, ActivitiesByEmail, ActivitiesWithEmail, AnyKey, AnyRow, Cards, CustomerCards, Payments,
    Present, Table, Unreadable,
};

use crate::journal::layout;
use crate::rows::ScanDirection;
use crate::shapes::{KeyedRow, MerchantReader, StaysSealed, StoredTable, encode_row, row_key};

use super::read::{Live, handle};

/// The row format since which there are rows of [`CustomerCards`].
const LISTS_SAVED_CARDS: u32 = 8;
/// The row format since which payments have the indexes that filters of lists read.
const INDEXES_PAYMENTS: u32 = 9;
/// The row format since which [`ActivitiesByEmail`] has the addresses of users who acted as well, and there are rows of
/// [`ActivitiesWithEmail`].
const INDEXES_EVERY_EMAIL: u32 = 10;

/// Merchants and rows of one read.
const PAGE: usize = 1_024;

/// Writes the rows that a store of an earlier row format lacks. They are durable with the next synced write.
///
/// # Errors
/// When a row cannot be read or written.
pub(super) fn upgrade(db: &DB, row_format: u32) -> Result<(), Unreadable> {
    if row_format >= INDEXES_EVERY_EMAIL {
        return Ok(());
    }
    tracing::info!(from = row_format, "the rows of the store are of an earlier format: the missing ones are written");
    let (mut after, mut written) = (None, 0_usize);
    loop {
        let merchants = layout::read_merchants(&Live(db), after, PAGE).map_err(unreadable)?;
        for (merchant_id, _) in &merchants {
            if row_format < LISTS_SAVED_CARDS {
                written += list_saved_cards(db, *merchant_id)?;
            }
            if row_format < INDEXES_PAYMENTS {
                written += index_payments(db, *merchant_id)?;
            }
            written += index_emails(db, *merchant_id)?;
        }
        after = merchants.last().map(|(merchant_id, _)| *merchant_id);
        if merchants.len() < PAGE {
            tracing::info!(rows = written, "the missing rows are written");
            return Ok(());
        }
    }
}

/// Lists the saved cards of each customer of a merchant, and gives the number of lists.
fn list_saved_cards(db: &DB, merchant_id: MerchantId) -> Result<usize, Unreadable> {
    let mut lists: BTreeMap<CustomerId, Vec<CardId>> = BTreeMap::new();
    each_page::<Cards>(db, merchant_id, |cards| {
        for (card_id, card) in cards.into_iter().filter(|(_, card)| card.deleted_at.is_none()) {
            lists.entry(card.customer_id).or_default().push(card_id);
        }
        Ok(())
    })?;
    let rows = lists.into_iter().map(|(id, cards)| (CustomerCards::key(id), CustomerCards::wrap(cards)));
    write(db, merchant_id, rows)
}

/// Writes the index rows of each payment of a merchant, and gives their number.
fn index_payments(db: &DB, merchant_id: MerchantId) -> Result<usize, Unreadable> {
    let mut written = 0_usize;
    each_page::<Payments>(db, merchant_id, |payments| {
        written += write(db, merchant_id, payments.iter().flat_map(|(_, payment)| index_rows(payment)))?;
        Ok(())
    })?;
    Ok(written)
}

/// Writes the index rows of the addresses in a merchant's activities, and gives their number.
fn index_emails(db: &DB, merchant_id: MerchantId) -> Result<usize, Unreadable> {
    let with_email = |id| (ActivitiesWithEmail::key(id), ActivitiesWithEmail::wrap(Present));
    let mut written = 0_usize;
    each_page::<ActivitiesByEmail>(db, merchant_id, |of_members| {
        written += write(db, merchant_id, of_members.into_iter().map(|((_, id), _)| with_email(id)))?;
        Ok(())
    })?;
    each_page::<ActivitiesByActorEmail>(db, merchant_id, |of_actors| {
        let by_email = |key| (ActivitiesByEmail::key(key), ActivitiesByEmail::wrap(Present));
        let rows = of_actors.into_iter().flat_map(|(key, _)| [with_email(key.1), by_email(key)]);
        written += write(db, merchant_id, rows)?;
        Ok(())
    })?;
    Ok(written)
}

/// Has every row of a merchant's table used, a page at a time.
fn each_page<T: StoredTable>(
    db: &DB,
    merchant_id: MerchantId,
    mut use_page: impl FnMut(Vec<KeyedRow<T>>) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    let reader = MerchantReader::new(merchant_id, None, Live(db));
    let mut after = Bound::Unbounded;
    loop {
        let page = reader.scan::<T>((after, Bound::Unbounded), ScanDirection::Forward, PAGE)?;
        let is_last = page.len() < PAGE;
        after = page.last().map_or(Bound::Unbounded, |(key, _)| Bound::Excluded(key.clone()));
        use_page(page)?;
        if is_last {
            return Ok(());
        }
    }
}

/// Writes rows of a merchant that hold no personal data, and gives their number.
fn write(db: &DB, merchant_id: MerchantId, rows: impl Iterator<Item = (AnyKey, AnyRow)>) -> Result<usize, Unreadable> {
    let mut batch = WriteBatch::default();
    for (key, row) in rows {
        let (family, bytes) = row_key(merchant_id, &key, &StaysSealed);
        batch.put_cf(handle(db, family), bytes, encode_row(&row, &key, &mut StaysSealed)?);
    }
    let written = batch.len();
    db.write(batch).map_err(|error| unreadable(error.into_string()))?;
    Ok(written)
}

fn unreadable(reason: impl ToString) -> Unreadable {
    Unreadable { reason: reason.to_string() }
}
