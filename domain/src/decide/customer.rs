//! Linking a payment to a customer: contract, section 4.1.

use super::context::Context;
use crate::customer::{Contact, Customer, CustomerFields, CustomerRef};
use crate::event::Event;
use crate::ids::CustomerId;
use crate::records::{Customers, CustomersByEmail, CustomersByExternalId, CustomersByMobile, Records, Unreadable};
use crate::refusal::{DecisionError, Refusal};
use crate::text::{Email, ExternalId, Mobile};

/// The customer of a payment, and the change that linking it makes.
#[derive(Debug)]
pub(super) struct Linked {
    /// The customer after the change.
    pub(super) customer: Customer,
    /// Its creation or change, if any.
    pub(super) event: Option<Event>,
    /// True when this payment creates it.
    pub(super) is_new: bool,
}

/// Finds, creates or updates the customer that `given` names; none when only a name is given. The customer is found by
/// the address that the payment shows from then on, also when that is another customer's.
pub(super) fn link(
    records: &impl Records,
    given: &CustomerFields,
    shown: Option<&Email>,
    context: &mut Context<'_>,
) -> Result<Option<Linked>, DecisionError> {
    let (found, new_external_id) = match &given.id {
        Some(CustomerRef::Own(id)) => (Some(find_customer(records, *id)?), None),
        Some(CustomerRef::External(external_id)) => by_identifier(records, external_id, given)?,
        None => (by_contact(records, &given.contact)?, None),
    };
    match found {
        Some(before) => Ok(Some(update(records, (before, new_external_id), &given.contact, shown, context)?)),
        None if new_external_id.is_some() || given.contact.email.is_some() || given.contact.mobile.is_some() => {
            create(records, new_external_id, &given.contact, shown, context).map(Some)
        }
        None => Ok(None),
    }
}

/// The fields by which a payment is linked: those of the call, completed by those of the selection. A selection can be
/// made by any device, so when the call names a customer, an identifier, address or number of the selection that
/// belongs to another customer is left out. Otherwise anyone who knows it could attach their own address and card to
/// that customer.
pub(super) fn linking_fields(
    records: &impl Records,
    here: &CustomerFields,
    selected: &CustomerFields,
) -> Result<CustomerFields, DecisionError> {
    let mut given = here.with_defaults(selected);
    let (email, mobile) = (&here.contact.email, &here.contact.mobile);
    let meant = match &here.id {
        Some(id) => by_reference(records, id)?,
        None if email.is_none() && mobile.is_none() => return Ok(given),
        None => by_contact(records, &here.contact)?.map(|customer| customer.id),
    };
    let is_anothers = |found: Option<CustomerId>| found.is_some() && found != meant;
    if let (None, Some(id)) = (&here.id, &selected.id)
        && is_anothers(by_reference(records, id)?)
    {
        given.id = None;
    }
    if let (None, Some(email)) = (email, &selected.contact.email)
        && is_anothers(by_email(records, email)?)
    {
        given.contact.email = None;
    }
    if let (None, Some(mobile)) = (mobile, &selected.contact.mobile)
        && is_anothers(by_mobile(records, mobile)?)
    {
        given.contact.mobile = None;
    }
    Ok(given)
}

/// Checks that every given field names the owner of the saved card, for a session that was made with that card.
pub(super) fn check_owner(
    records: &impl Records,
    given: &CustomerFields,
    owner: CustomerId,
) -> Result<(), DecisionError> {
    let named = [
        given.id.as_ref().map(|id| by_reference(records, id)).transpose()?,
        given.contact.email.as_ref().map(|email| by_email(records, email)).transpose()?,
        given.contact.mobile.as_ref().map(|mobile| by_mobile(records, mobile)).transpose()?,
    ];
    if named.iter().all(Option::is_none) {
        return Err(Refusal::CustomerRequired.into());
    }
    if named.iter().flatten().all(|found| *found == Some(owner)) {
        Ok(())
    } else {
        Err(Refusal::CustomerMismatch.into())
    }
}

/// The customer under Till's id, unchanged.
pub(super) fn existing(records: &impl Records, id: CustomerId) -> Result<Linked, DecisionError> {
    Ok(Linked { customer: find_customer(records, id)?, event: None, is_new: false })
}

/// The customer that a call names, if it names one and the customer exists.
pub(super) fn referred(
    records: &impl Records,
    reference: Option<&CustomerRef>,
) -> Result<Option<CustomerId>, DecisionError> {
    match reference {
        Some(CustomerRef::Own(id)) => Ok(records.shared::<Customers>(*id)?.map(|customer| customer.id)),
        Some(CustomerRef::External(external_id)) => Ok(records.get::<CustomersByExternalId>(external_id.clone())?),
        None => Ok(None),
    }
}

/// The customer with an id or identifier. If it looks like one of Till's own ids, it must exist.
fn by_reference(records: &impl Records, reference: &CustomerRef) -> Result<Option<CustomerId>, DecisionError> {
    match reference {
        CustomerRef::Own(id) => Ok(Some(find_customer(records, *id)?.id)),
        CustomerRef::External(external_id) => {
            let found = records.get::<CustomersByExternalId>(external_id.clone())?;
            if found.is_none() && has_form_of_own_id(external_id) {
                return Err(Refusal::CustomerNotFound.into());
            }
            Ok(found)
        }
    }
}

fn find_customer(records: &impl Records, id: CustomerId) -> Result<Customer, DecisionError> {
    Ok(records.get::<Customers>(id)?.ok_or(Refusal::CustomerNotFound)?)
}

fn has_form_of_own_id(external_id: &ExternalId) -> bool {
    external_id.as_str().strip_prefix(CustomerId::PREFIX).is_some_and(|rest| rest.starts_with('_'))
}

/// The customer with an external identifier, else the one whose contact is given and who has no identifier yet and so
/// receives it, else none: then a customer is to be created with it.
fn by_identifier(
    records: &impl Records,
    external_id: &ExternalId,
    given: &CustomerFields,
) -> Result<(Option<Customer>, Option<ExternalId>), DecisionError> {
    if let Some(id) = by_reference(records, &CustomerRef::External(external_id.clone()))? {
        return Ok((Some(find_customer(records, id)?), None));
    }
    let found = by_contact(records, &given.contact)?;
    Ok((found.filter(|customer| customer.external_id.is_none()), Some(external_id.clone())))
}

fn by_contact(records: &impl Records, contact: &Contact) -> Result<Option<Customer>, DecisionError> {
    let mut found = None;
    if let Some(email) = &contact.email {
        found = by_email(records, email)?;
    }
    if let (None, Some(mobile)) = (found, &contact.mobile) {
        found = by_mobile(records, mobile)?;
    }
    found.map(|id| find_customer(records, id)).transpose()
}

fn by_email(records: &impl Records, email: &Email) -> Result<Option<CustomerId>, Unreadable> {
    records.get::<CustomersByEmail>(email.clone())
}

fn by_mobile(records: &impl Records, mobile: &Mobile) -> Result<Option<CustomerId>, Unreadable> {
    records.get::<CustomersByMobile>(mobile.clone())
}

fn update(
    records: &impl Records,
    (before, new_external_id): (Customer, Option<ExternalId>),
    given: &Contact,
    shown: Option<&Email>,
    context: &Context<'_>,
) -> Result<Linked, Unreadable> {
    let mut after = before.clone();
    if new_external_id.is_some() {
        after.external_id = new_external_id;
    }
    take_contact(records, &mut after, given)?;
    after.remember_emails(before.email.iter().chain(shown));
    if after == before {
        return Ok(Linked { customer: after, event: None, is_new: false });
    }
    after.updated_at = context.now;
    let event = Event::CustomerUpdated { before, after: after.clone() };
    Ok(Linked { customer: after, event: Some(event), is_new: false })
}

fn create(
    records: &impl Records,
    external_id: Option<ExternalId>,
    given: &Contact,
    shown: Option<&Email>,
    context: &mut Context<'_>,
) -> Result<Linked, DecisionError> {
    let mut customer = Customer {
        id: context.mint(),
        external_id,
        email: None,
        mobile: None,
        name: None,
        other_emails: Vec::new(),
        default_card_id: None,
        created_at: context.now,
        updated_at: context.now,
    };
    take_contact(records, &mut customer, given)?;
    customer.remember_emails(shown);
    let event = Event::CustomerCreated(customer.clone());
    Ok(Linked { customer, event: Some(event), is_new: true })
}

/// Takes over the given fields, except an address or number that belongs to another customer.
fn take_contact(records: &impl Records, customer: &mut Customer, given: &Contact) -> Result<(), Unreadable> {
    if let Some(email) = &given.email
        && by_email(records, email)?.is_none_or(|holder| holder == customer.id)
    {
        customer.email = Some(email.clone());
    }
    if let Some(mobile) = &given.mobile
        && by_mobile(records, mobile)?.is_none_or(|holder| holder == customer.id)
    {
        customer.mobile = Some(mobile.clone());
    }
    if given.name.is_some() {
        customer.name.clone_from(&given.name);
    }
    Ok(())
}
