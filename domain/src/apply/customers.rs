//! The fold of customers and saved cards into rows and indexes.

use super::change::{change, index, take_row, unindex};
use crate::card::{Card, CardExpiry};
use crate::customer::Customer;
use crate::event::Event;
use crate::ids::{CardId, CustomerId};
use crate::records::{
    Cards, CardsByExternalId, CardsByFingerprint, CustomerCards, Customers, CustomersByEmail, CustomersByExternalId,
    CustomersByMobile, CustomersByOtherEmail, RowsMut, Unreadable,
};
use crate::text::ExternalId;
use crate::time::Millis;

/// Folds an event of customers and cards in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Event::CustomerCreated(customer) = event {
        put_customer(customer, rows);
    } else if let Event::CustomerUpdated { before, after } = event {
        remove_indexes(before, rows);
        put_customer(after, rows);
    } else if let Event::CustomerRemoved { customer_id, card_ids, at } = event {
        remove_customer(*customer_id, card_ids, *at, rows)?;
    } else if let Event::CardSaved { card, is_default, at } = event {
        save_card(card, *is_default, *at, rows)?;
    } else if let Event::CardRenewed { card_id, expiry, external_id } = event {
        renew_card(*card_id, *expiry, external_id.as_ref(), rows)?;
    } else if let Event::DefaultCardSet { customer_id, card_id, at } = event {
        set_default(*customer_id, Some(*card_id), *at, rows)?;
    } else if let Event::CardForgotten { customer_id, card_id, default_card_id, at } = event {
        forget_card(*card_id, *at, rows)?;
        unlist_card(*customer_id, *card_id, rows)?;
        set_default(*customer_id, *default_card_id, *at, rows)?;
    }
    Ok(())
}

fn put_customer(customer: &Customer, rows: &mut impl RowsMut) {
    index::<CustomersByExternalId>(customer.external_id.as_ref(), customer.id, rows);
    index::<CustomersByEmail>(customer.email.as_ref(), customer.id, rows);
    index::<CustomersByMobile>(customer.mobile.as_ref(), customer.id, rows);
    for email in &customer.other_emails {
        rows.put::<CustomersByOtherEmail>((email.clone(), customer.id), customer.id);
    }
    rows.put::<Customers>(customer.id, customer.clone());
}

fn remove_indexes(customer: &Customer, rows: &mut impl RowsMut) {
    unindex::<CustomersByExternalId>(customer.external_id.as_ref(), rows);
    unindex::<CustomersByEmail>(customer.email.as_ref(), rows);
    unindex::<CustomersByMobile>(customer.mobile.as_ref(), rows);
    for email in &customer.other_emails {
        rows.remove::<CustomersByOtherEmail>((email.clone(), customer.id));
    }
}

/// The customer's addresses and number are taken from the row, since the event has none. In a replay, which no longer
/// has the person's key, neither the row nor the index ever had them.
fn remove_customer(
    customer_id: CustomerId,
    card_ids: &[CardId],
    at: Millis,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    for card_id in card_ids {
        forget_card(*card_id, at, rows)?;
    }
    rows.remove::<CustomerCards>(customer_id);
    let customer = take_row::<Customers>(customer_id, rows)?;
    remove_indexes(&customer, rows);
    rows.remove::<Customers>(customer_id);
    Ok(())
}

fn save_card(card: &Card, is_default: bool, at: Millis, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    index::<CardsByExternalId>(card.external_id.as_ref(), card.id, rows);
    rows.put::<CardsByFingerprint>((card.customer_id, card.card.fingerprint), card.id);
    rows.put::<Cards>(card.id, card.clone());
    let mut cards = rows.take::<CustomerCards>(card.customer_id)?.unwrap_or_default();
    cards.push(card.id);
    rows.put::<CustomerCards>(card.customer_id, cards);
    change::<Customers>(rows, card.customer_id, |customer| {
        customer.updated_at = at;
        if is_default {
            customer.default_card_id = Some(card.id);
        }
    })
}

fn renew_card(
    card_id: CardId,
    expiry: CardExpiry,
    external_id: Option<&ExternalId>,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    index::<CardsByExternalId>(external_id, card_id, rows);
    change::<Cards>(rows, card_id, |card| {
        card.card.expiry = expiry;
        card.external_id = external_id.cloned().or_else(|| card.external_id.clone());
    })
}

fn set_default(
    customer_id: CustomerId,
    card_id: Option<CardId>,
    at: Millis,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    change::<Customers>(rows, customer_id, |customer| {
        customer.default_card_id = card_id;
        customer.updated_at = at;
    })
}

/// The card's identifier and number are free from now on.
fn forget_card(card_id: CardId, at: Millis, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let mut card = take_row::<Cards>(card_id, rows)?;
    unindex::<CardsByExternalId>(card.external_id.as_ref(), rows);
    rows.remove::<CardsByFingerprint>((card.customer_id, card.card.fingerprint));
    card.card.holder = None;
    card.deleted_at = Some(at);
    rows.put::<Cards>(card_id, card);
    Ok(())
}

fn unlist_card(customer_id: CustomerId, card_id: CardId, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let mut cards = rows.take::<CustomerCards>(customer_id)?.unwrap_or_default();
    cards.retain(|other| *other != card_id);
    if cards.is_empty() {
        rows.remove::<CustomerCards>(customer_id);
    } else {
        rows.put::<CustomerCards>(customer_id, cards);
    }
    Ok(())
}
