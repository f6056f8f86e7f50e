//! The erasure of a removed customer from open checkouts.

use super::context::Decision;
use crate::checkout::CHECKOUTS_ERASED_MAX;
use crate::customer::{Customer, CustomerRef, NamedBy};
use crate::event::{Event, VaultWrite};
use crate::ids::CheckoutId;
use crate::records::{
    CheckoutNeighbors, NewestCheckoutsByCustomer, NewestCheckoutsByEmail, NewestCheckoutsByMobile, Records, Unreadable,
};
use crate::refusal::{DecisionError, Refusal};
use crate::text::{Email, Mobile};
use std::collections::BTreeSet;

/// Erases the customer fields of the open checkouts that name a customer, so that no payment makes the person anew.
pub(super) fn erase(records: &impl Records, customer: &Customer) -> Result<Decision, DecisionError> {
    let mut named = BTreeSet::new();
    for (mut next, by) in newest_that_name(records, customer)? {
        while let Some(id) = next {
            named.insert(id);
            if named.len() > CHECKOUTS_ERASED_MAX {
                return Err(Refusal::CustomerOfOpenCheckouts { limit: CHECKOUTS_ERASED_MAX }.into());
            }
            next = records.get::<CheckoutNeighbors>((id, by))?.and_then(|neighbors| neighbors.older);
        }
    }
    let vault = named.iter().copied().map(VaultWrite::ForgetCheckoutKey).collect();
    let events = named.into_iter().map(|checkout_id| Event::CheckoutCustomerErased { checkout_id }).collect();
    Ok(Decision { events, vault })
}

/// The newest open checkout that names a customer, in each way.
fn newest_that_name(
    records: &impl Records,
    customer: &Customer,
) -> Result<[(Option<CheckoutId>, NamedBy); 4], Unreadable> {
    let by_ref =
        |named: Option<CustomerRef>| named.map_or(Ok(None), |named| records.get::<NewestCheckoutsByCustomer>(named));
    let by_email = |email: Email| records.get::<NewestCheckoutsByEmail>(email);
    let by_mobile = |mobile: Mobile| records.get::<NewestCheckoutsByMobile>(mobile);
    Ok([
        (by_ref(Some(CustomerRef::Own(customer.id)))?, NamedBy::Customer),
        (by_ref(customer.external_id.clone().map(CustomerRef::External))?, NamedBy::Customer),
        (customer.email.clone().map_or(Ok(None), by_email)?, NamedBy::Email),
        (customer.mobile.clone().map_or(Ok(None), by_mobile)?, NamedBy::Mobile),
    ])
}
