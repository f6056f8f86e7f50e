//! The fold of checkouts into rows.

use super::change::{change, index, take_row, unindex};
use super::checkout_customers::{list, unlist};
use crate::checkout::{Checkout, CheckoutStatus};
use crate::customer::CustomerFields;
use crate::effect::{Timer, TimerKind};
use crate::event::Event;
use crate::ids::{CheckoutId, PaymentId};
use crate::records::{
    Checkouts, CheckoutsByExternalId, CheckoutsByStatus, Payments, Present, RowsMut, Timers, Unreadable,
};
use crate::time::Millis;

/// Folds an event of checkouts in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Event::CheckoutStarted(checkout) = event {
        start(checkout, rows)
    } else if let Event::CheckoutPaid { checkout_id, payment_id } = event {
        pay(*checkout_id, *payment_id, rows)
    } else if let Event::CheckoutReopened { checkout_id } = event {
        change::<Checkouts>(rows, *checkout_id, |checkout| checkout.in_progress = false)
    } else if let Event::CheckoutClosed { checkout_id } = event {
        let mut checkout = take_row::<Checkouts>(*checkout_id, rows)?;
        rows.remove::<Timers>(timer(&checkout));
        checkout.closes = true;
        rows.put::<Checkouts>(*checkout_id, checkout);
        Ok(())
    } else if let Event::CheckoutCompleted { checkout_id, at } = event {
        end(*checkout_id, CheckoutStatus::Completed, *at, rows)
    } else if let Event::CheckoutExpired { checkout_id, at } = event {
        end(*checkout_id, CheckoutStatus::Expired, *at, rows)
    } else if let Event::CheckoutCustomerErased { checkout_id } = event {
        let mut checkout = take_row::<Checkouts>(*checkout_id, rows)?;
        if checkout.ended_at.is_some() {
            rows.remove::<Timers>(timer(&checkout));
        } else {
            unlist(&checkout, rows)?;
        }
        checkout.customer = CustomerFields::default();
        rows.put::<Checkouts>(*checkout_id, checkout);
        Ok(())
    } else {
        Ok(())
    }
}

/// The timer of a checkout, when it has one.
fn timer(checkout: &Checkout) -> Timer {
    Timer { due: checkout.due_at(), kind: TimerKind::CheckoutDue(checkout.id) }
}

fn start(checkout: &Checkout, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    list(checkout, rows)?;
    index::<CheckoutsByExternalId>(checkout.external_id.as_ref(), checkout.id, rows);
    rows.put::<CheckoutsByStatus>((checkout.status, checkout.id), Present);
    rows.put::<Timers>(timer(checkout), Present);
    rows.put::<Checkouts>(checkout.id, checkout.clone());
    Ok(())
}

/// The newest payment takes the checkout's reference over from the one before.
fn pay(id: CheckoutId, payment_id: PaymentId, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let mut checkout = take_row::<Checkouts>(id, rows)?;
    if let (Some(before), Some(_)) = (checkout.newest_payment(), &checkout.external_id) {
        change::<Payments>(rows, before, |payment| payment.external_id = None)?;
    }
    checkout.payments.push(payment_id);
    checkout.in_progress = true;
    rows.put::<Checkouts>(id, checkout);
    Ok(())
}

fn end(id: CheckoutId, status: CheckoutStatus, at: Millis, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let mut checkout = take_row::<Checkouts>(id, rows)?;
    unlist(&checkout, rows)?;
    rows.remove::<Timers>(timer(&checkout));
    rows.remove::<CheckoutsByStatus>((checkout.status, id));
    rows.put::<CheckoutsByStatus>((status, id), Present);
    checkout.status = status;
    checkout.in_progress = false;
    checkout.ended_at = Some(at);
    if checkout.customer != CustomerFields::default() {
        rows.put::<Timers>(timer(&checkout), Present);
    }
    if checkout.payments.is_empty() {
        unindex::<CheckoutsByExternalId>(checkout.external_id.as_ref(), rows);
    }
    rows.put::<Checkouts>(id, checkout);
    Ok(())
}
