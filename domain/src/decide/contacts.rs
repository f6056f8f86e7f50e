//! Adding, changing and removing customers by the merchant: contract, sections 4.1 and 9.1a.

use super::context::{Context, Decision};
use super::{checkout_customers, token_uses};
use crate::command::ContactFields;
use crate::customer::{Customer, CustomerRef};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::CustomerId;
use crate::records::{
    CustomerCards, Customers, CustomersByEmail, CustomersByExternalId, CustomersByMobile, Records, Unreadable,
};
use crate::refusal::{CommandField, DecisionError, Refusal};

pub(super) fn add(
    records: &impl Records,
    fields: &ContactFields,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    check_free(records, fields, None)?;
    let customer = Customer {
        id: context.mint(),
        external_id: fields.external_id.clone(),
        email: fields.contact.email.clone(),
        mobile: fields.contact.mobile.clone(),
        name: fields.contact.name.clone(),
        other_emails: Vec::new(),
        default_card_id: None,
        created_at: context.now,
        updated_at: context.now,
    };
    let answer = Answer::Contact(customer.id);
    Ok((Decision::one(Event::CustomerCreated(customer)), answer))
}

pub(super) fn update(
    records: &impl Records,
    customer: &CustomerRef,
    fields: &ContactFields,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let before = find(records, customer)?;
    check_free(records, fields, Some(before.id))?;
    let given = fields.contact.clone();
    let mut after = Customer {
        external_id: fields.external_id.clone().or_else(|| before.external_id.clone()),
        email: given.email.or_else(|| before.email.clone()),
        mobile: given.mobile.or_else(|| before.mobile.clone()),
        name: given.name.or_else(|| before.name.clone()),
        ..before.clone()
    };
    after.remember_emails(&before.email);
    if after == before {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    }
    after.updated_at = context.now;
    Ok((Decision::one(Event::CustomerUpdated { before, after }), Answer::Changed(true)))
}

/// The record contains nothing about the person, and the key that seals the person's data in the rest of the log is
/// deleted with it.
pub(super) fn remove(
    records: &impl Records,
    customer: &CustomerRef,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let customer = find(records, customer)?;
    let customer_id = customer.id;
    let of_checkouts = checkout_customers::erase(records, &customer)?;
    let card_ids = records.get::<CustomerCards>(customer_id)?.unwrap_or_default();
    let mut vault: Vec<VaultWrite> = card_ids.iter().copied().map(VaultWrite::ForgetCardNumber).collect();
    vault.push(VaultWrite::ForgetCustomerKey(customer_id));
    vault.extend(of_checkouts.vault);
    let removed = Event::CustomerRemoved { customer_id, card_ids, at: context.now };
    let events = std::iter::once(removed).chain(of_checkouts.events).collect();
    let erased = token_uses::erase_with_customer(records, customer_id, None, context)?;
    Ok((Decision { events, vault }.with_erasures(erased), Answer::Changed(true)))
}

/// The customer that a call names by `contact_id`.
pub(super) fn find(records: &impl Records, customer: &CustomerRef) -> Result<Customer, DecisionError> {
    let id = records.id_of::<CustomersByExternalId>(customer)?;
    let found = id.map_or(Ok(None), |id| records.get::<Customers>(id))?;
    Ok(found.ok_or(Refusal::ContactNotFound)?)
}

/// Checks that no other customer has the given fields.
fn check_free(records: &impl Records, fields: &ContactFields, own: Option<CustomerId>) -> Result<(), DecisionError> {
    for (field, holder) in holders(records, fields)? {
        if let Some(customer_id) = holder.filter(|holder| Some(*holder) != own) {
            return Err(Refusal::ContactTaken { field, customer_id }.into());
        }
    }
    Ok(())
}

/// The customers who have the given fields, by field.
fn holders(
    records: &impl Records,
    fields: &ContactFields,
) -> Result<[(CommandField, Option<CustomerId>); 3], Unreadable> {
    let ContactFields { external_id, contact } = fields;
    let of_id = external_id.clone().map(|id| records.get::<CustomersByExternalId>(id)).transpose()?;
    let of_email = contact.email.clone().map(|email| records.get::<CustomersByEmail>(email)).transpose()?;
    let of_mobile = contact.mobile.clone().map(|mobile| records.get::<CustomersByMobile>(mobile)).transpose()?;
    Ok([
        (CommandField::ExternalId, of_id.flatten()),
        (CommandField::ContactEmail, of_email.flatten()),
        (CommandField::ContactMobile, of_mobile.flatten()),
    ])
}
