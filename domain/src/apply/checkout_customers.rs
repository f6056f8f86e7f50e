//! The fold of the customers of open checkouts into the lists by which the removal of a customer finds them.

use crate::checkout::Checkout;
use crate::customer::{Contact, CustomerFields, NamedBy};
use crate::ids::CheckoutId;
use crate::records::{
    CheckoutNeighbors, Neighbors, NewestCheckoutsByCustomer, NewestCheckoutsByEmail, NewestCheckoutsByMobile, RowsMut,
    Table, Unreadable,
};

/// Adds an open checkout to the lists of those that name the same person.
pub(super) fn list(checkout: &Checkout, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let CustomerFields { id, contact: Contact { email, mobile, name: _ } } = &checkout.customer;
    append::<NewestCheckoutsByCustomer>(id.as_ref(), (checkout.id, NamedBy::Customer), rows)?;
    append::<NewestCheckoutsByEmail>(email.as_ref(), (checkout.id, NamedBy::Email), rows)?;
    append::<NewestCheckoutsByMobile>(mobile.as_ref(), (checkout.id, NamedBy::Mobile), rows)
}

/// Takes a checkout out of these lists, before its customer fields change.
pub(super) fn unlist(checkout: &Checkout, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let CustomerFields { id, contact: Contact { email, mobile, name: _ } } = &checkout.customer;
    take_out::<NewestCheckoutsByCustomer>(id.as_ref(), (checkout.id, NamedBy::Customer), rows)?;
    take_out::<NewestCheckoutsByEmail>(email.as_ref(), (checkout.id, NamedBy::Email), rows)?;
    take_out::<NewestCheckoutsByMobile>(mobile.as_ref(), (checkout.id, NamedBy::Mobile), rows)
}

fn append<T: Table<Row = CheckoutId>>(
    person: Option<&T::Key>,
    (id, by): (CheckoutId, NamedBy),
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    let Some(person) = person else { return Ok(()) };
    let older = rows.get::<T>(person.clone())?;
    relink(older, by, |neighbors| neighbors.newer = Some(id), rows)?;
    rows.put::<CheckoutNeighbors>((id, by), Neighbors { older, newer: None });
    rows.put::<T>(person.clone(), id);
    Ok(())
}

fn take_out<T: Table<Row = CheckoutId>>(
    person: Option<&T::Key>,
    (id, by): (CheckoutId, NamedBy),
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    let Some(person) = person else { return Ok(()) };
    let Some(Neighbors { older, newer }) = rows.take::<CheckoutNeighbors>((id, by))? else { return Ok(()) };
    rows.remove::<CheckoutNeighbors>((id, by));
    relink(older, by, |neighbors| neighbors.newer = newer, rows)?;
    relink(newer, by, |neighbors| neighbors.older = older, rows)?;
    match (newer, older) {
        (Some(_), _) => {}
        (None, Some(older)) => rows.put::<T>(person.clone(), older),
        (None, None) => rows.remove::<T>(person.clone()),
    }
    Ok(())
}

/// Changes the place of a checkout in a list, when there is one.
fn relink(
    id: Option<CheckoutId>,
    by: NamedBy,
    change: impl FnOnce(&mut Neighbors),
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    let Some(id) = id else { return Ok(()) };
    let Some(mut neighbors) = rows.take::<CheckoutNeighbors>((id, by))? else { return Ok(()) };
    change(&mut neighbors);
    rows.put::<CheckoutNeighbors>((id, by), neighbors);
    Ok(())
}
