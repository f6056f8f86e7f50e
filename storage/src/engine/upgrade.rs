//! Rows that stores of earlier row formats lack: a start writes them, before anything else is written. A start that ends
//! early has written some of them; the next one writes all of them again, and they are the same.

use std::collections::BTreeMap;
use std::ops::Bound;

use rocksdb::{DB, WriteBatch};
use till_domain::ids::{CardId, CustomerId, MerchantId};
use till_domain::records::{Cards, CustomerCards, Table, Unreadable};

use crate::journal::layout;
use crate::rows::ScanDirection;
use crate::shapes::{MerchantReader, StaysSealed, encode_row, row_key};

use super::read::{Live, handle};

/// The row format since which there are rows of [`CustomerCards`].
const LISTS_SAVED_CARDS: u32 = 8;

/// Merchants and rows of one read.
const PAGE: usize = 1_024;

/// Writes the rows that a store of an earlier row format lacks. They are durable with the next synced write.
///
/// # Errors
/// When a row cannot be read or written.
pub(super) fn upgrade(db: &DB, row_format: u32) -> Result<(), Unreadable> {
    if row_format >= LISTS_SAVED_CARDS {
        return Ok(());
    }
    tracing::info!(from = row_format, "the rows of the store are of an earlier format: what they lack is written");
    let (mut after, mut lists) = (None, 0_usize);
    loop {
        let merchants = layout::read_merchants(&Live(db), after, PAGE).map_err(unreadable)?;
        for (merchant_id, _) in &merchants {
            lists += list_saved_cards(db, *merchant_id)?;
        }
        after = merchants.last().map(|(merchant_id, _)| *merchant_id);
        if merchants.len() < PAGE {
            tracing::info!(lists, "the saved cards of customers are listed");
            return Ok(());
        }
    }
}

/// Lists the saved cards of each customer of a merchant, and gives the number of lists.
fn list_saved_cards(db: &DB, merchant_id: MerchantId) -> Result<usize, Unreadable> {
    let mut lists: BTreeMap<CustomerId, Vec<CardId>> = BTreeMap::new();
    let reader = MerchantReader::new(merchant_id, None, Live(db));
    let mut after = Bound::Unbounded;
    loop {
        let cards = reader.scan::<Cards>((after, Bound::Unbounded), ScanDirection::Forward, PAGE)?;
        let is_last = cards.len() < PAGE;
        after = cards.last().map_or(Bound::Unbounded, |(card_id, _)| Bound::Excluded(*card_id));
        for (card_id, card) in cards.into_iter().filter(|(_, card)| card.deleted_at.is_none()) {
            lists.entry(card.customer_id).or_default().push(card_id);
        }
        if is_last {
            break;
        }
    }
    let count = lists.len();
    let mut batch = WriteBatch::default();
    for (customer_id, cards) in lists {
        let key = CustomerCards::key(customer_id);
        let (family, bytes) = row_key(merchant_id, &key, &StaysSealed);
        let row = encode_row(&CustomerCards::wrap(cards), &key, &mut StaysSealed)?;
        batch.put_cf(handle(db, family), bytes, row);
    }
    db.write(batch).map_err(|error| unreadable(error.into_string()))?;
    Ok(count)
}

fn unreadable(reason: impl ToString) -> Unreadable {
    Unreadable { reason: reason.to_string() }
}
