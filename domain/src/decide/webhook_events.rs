//! The events that are delivered to a merchant's webhooks, derived from the events of a decision.

use super::context::Context;
use crate::activity::Actor;
use crate::checkout::CheckoutStatus;
use crate::event::{DisputeClosing, Event};
use crate::ids::{CheckoutId, PaymentId, PayoutId};
use crate::payment::{CaptureMode, Payment, PaymentStatus};
use crate::payout::PayoutStatus;
use crate::records::{Checkouts, Payments, Records, Unreadable};
use crate::refund::RefundStatus;
use crate::webhook::{EventCheckout, WebhookEvent, WebhookEventKind, WebhookObject};
use std::sync::Arc;

/// The webhook events of the recorded events, each with its number.
pub(super) fn events_for_webhooks(
    records: &impl Records,
    recorded: &[Event],
    context: &mut Context<'_>,
) -> Result<Vec<Event>, Unreadable> {
    let mut sequence = records.state().webhook_events;
    let mut events = Vec::new();
    for event in recorded {
        for unnumbered in [webhook_event_of(records, event)?, charge_back_of(records, event)?].into_iter().flatten() {
            sequence = sequence.saturating_add(1);
            let UnnumberedEvent { kind, payment_id, checkout, object, amount_minor } = unnumbered;
            let (id, created_at) = (context.mint(), context.now);
            let clock_ahead_ms = records.state().clock_offset_ms();
            let event = WebhookEvent {
                id,
                sequence,
                kind,
                payment_id,
                checkout,
                object,
                amount_minor,
                created_at,
                clock_ahead_ms,
            };
            events.push(Event::WebhookEventRecorded(event));
        }
    }
    Ok(events)
}

/// An event without its id and number.
struct UnnumberedEvent {
    kind: WebhookEventKind,
    payment_id: Option<PaymentId>,
    checkout: Option<EventCheckout>,
    object: WebhookObject,
    amount_minor: u64,
}

fn webhook_event_of(records: &impl Records, event: &Event) -> Result<Option<UnnumberedEvent>, Unreadable> {
    if let Event::PaymentAuthorized { payment_id, .. } = event {
        // With automatic capture the merchant is notified once, when the payment is completed.
        let (kind, status) = (WebhookEventKind::PaymentAuthorized, PaymentStatus::Authorized);
        of_payment(records, *payment_id, kind, |payment| {
            (payment.capture_mode == CaptureMode::Manual).then_some(status)
        })
    } else if let Event::PaymentCaptured { payment_id, .. } = event {
        became(records, *payment_id, WebhookEventKind::PaymentCompleted, PaymentStatus::Successful)
    } else if let Event::PaymentFailed { payment_id, .. } = event {
        became(records, *payment_id, WebhookEventKind::PaymentCompleted, PaymentStatus::Failed)
    } else if let Event::PaymentExpired { payment_id, .. } = event {
        became(records, *payment_id, WebhookEventKind::PaymentExpired, PaymentStatus::Expired)
    } else if let Event::ActionRequired { payment_id, .. } = event {
        became(records, *payment_id, WebhookEventKind::PaymentActionRequired, PaymentStatus::Pending)
    } else if let Event::LateCallEnded { payment_id, failure: _, returned_at: Some(_) } = event {
        of_payment(records, *payment_id, WebhookEventKind::PaymentReturned, |payment| Some(payment.status))
    } else if let Event::PaymentVoided { payment_id, .. } = event {
        became(records, *payment_id, WebhookEventKind::PaymentVoided, PaymentStatus::Voided)
    } else if let Event::PaymentReversed { payment_id, .. } = event {
        became(records, *payment_id, WebhookEventKind::PaymentReversed, PaymentStatus::Reversed)
    } else if let Event::OperationRefused { payment_id, .. } = event {
        // A change that Till makes by itself is not an operation of the merchant.
        of_payment(records, *payment_id, WebhookEventKind::PaymentOperationFailed, |payment| {
            let is_merchants = payment.operation.as_ref().is_some_and(|open| open.requested_by != Actor::System);
            is_merchants.then_some(payment.status)
        })
    } else if let Event::RefundConfirmed { refund_id, payment_id, amount_minor, .. } = event {
        let object = WebhookObject::Refund(*refund_id, RefundStatus::Successful);
        of_refund(records, *payment_id, object, *amount_minor)
    } else if let Event::RefundFailed { refund_id, payment_id, amount_minor, .. } = event {
        let object = WebhookObject::Refund(*refund_id, RefundStatus::Failed);
        of_refund(records, *payment_id, object, *amount_minor)
    } else if let Event::DisputeOpened { dispute, .. } = event {
        let object = WebhookObject::Dispute(dispute.id, dispute.status);
        event_about(records, WebhookEventKind::DisputeOpened, dispute.payment_id, object, dispute.money.amount.get())
    } else if let Event::DisputeClosed(closing) = event {
        let DisputeClosing { dispute_id, payment_id, outcome, amount_minor, .. } = closing;
        let object = WebhookObject::Dispute(*dispute_id, outcome.status());
        event_about(records, WebhookEventKind::DisputeClosed, *payment_id, object, *amount_minor)
    } else if let Event::PayoutPaid { payout_id, amount_minor, at: _ } = event {
        Ok(Some(of_payout(*payout_id, PayoutStatus::Successful, *amount_minor)))
    } else if let Event::PayoutFailed { payout_id, amount_minor, .. } = event {
        Ok(Some(of_payout(*payout_id, PayoutStatus::Failed, *amount_minor)))
    } else if let Event::CheckoutCompleted { checkout_id, at: _ } = event {
        of_checkout(records, *checkout_id, WebhookEventKind::CheckoutCompleted, CheckoutStatus::Completed)
    } else if let Event::CheckoutExpired { checkout_id, at: _ } = event {
        of_checkout(records, *checkout_id, WebhookEventKind::CheckoutExpired, CheckoutStatus::Expired)
    } else {
        Ok(None)
    }
}

fn became(
    records: &impl Records,
    payment_id: PaymentId,
    kind: WebhookEventKind,
    status: PaymentStatus,
) -> Result<Option<UnnumberedEvent>, Unreadable> {
    of_payment(records, payment_id, kind, |_| Some(status))
}

/// The reversal of a payment of which a charge-back leaves nothing: it follows the dispute, or the last refund.
fn charge_back_of(records: &impl Records, event: &Event) -> Result<Option<UnnumberedEvent>, Unreadable> {
    let (payment_id, status) = if let Event::RefundConfirmed { payment_id, status, .. } = event {
        (payment_id, status)
    } else if let Event::DisputeClosed(DisputeClosing { payment_id, payment_status, .. }) = event {
        (payment_id, payment_status)
    } else {
        return Ok(None);
    };
    if *status != PaymentStatus::Reversed {
        return Ok(None);
    }
    became(records, *payment_id, WebhookEventKind::PaymentReversed, PaymentStatus::Reversed)
}

/// An event about a payment, unless there is none to deliver.
fn of_payment(
    records: &impl Records,
    payment_id: PaymentId,
    kind: WebhookEventKind,
    status_of: impl FnOnce(&Payment) -> Option<PaymentStatus>,
) -> Result<Option<UnnumberedEvent>, Unreadable> {
    let payment: Option<Arc<Payment>> = records.shared::<Payments>(payment_id)?;
    Ok(payment.and_then(|payment| {
        let object = WebhookObject::Payment(status_of(&payment)?);
        let (checkout, amount_minor) = (checkout_of(&payment), payment.money.amount.get());
        Some(UnnumberedEvent { kind, payment_id: Some(payment_id), checkout, object, amount_minor })
    }))
}

/// The checkout of a payment, with its reference as of now.
fn checkout_of(payment: &Payment) -> Option<EventCheckout> {
    let has_external_id = payment.external_id.is_some();
    payment.checkout_id.map(|id| EventCheckout { id, has_external_id })
}

fn of_refund(
    records: &impl Records,
    payment_id: PaymentId,
    object: WebhookObject,
    amount_minor: u64,
) -> Result<Option<UnnumberedEvent>, Unreadable> {
    event_about(records, WebhookEventKind::RefundCompleted, payment_id, object, amount_minor)
}

/// An event about an object of a payment.
fn event_about(
    records: &impl Records,
    kind: WebhookEventKind,
    payment_id: PaymentId,
    object: WebhookObject,
    amount_minor: u64,
) -> Result<Option<UnnumberedEvent>, Unreadable> {
    let checkout = records.shared::<Payments>(payment_id)?.and_then(|payment| checkout_of(&payment));
    Ok(Some(UnnumberedEvent { kind, payment_id: Some(payment_id), checkout, object, amount_minor }))
}

/// An event about a checkout, with its newest payment.
fn of_checkout(
    records: &impl Records,
    id: CheckoutId,
    kind: WebhookEventKind,
    status: CheckoutStatus,
) -> Result<Option<UnnumberedEvent>, Unreadable> {
    Ok(records.shared::<Checkouts>(id)?.map(|found| UnnumberedEvent {
        kind,
        payment_id: found.newest_payment(),
        checkout: Some(EventCheckout { id, has_external_id: found.external_id.is_some() }),
        object: WebhookObject::Checkout(status),
        amount_minor: found.money.amount.get(),
    }))
}

const fn of_payout(payout_id: PayoutId, status: PayoutStatus, amount_minor: u64) -> UnnumberedEvent {
    let object = WebhookObject::Payout(payout_id, status);
    let kind = WebhookEventKind::PayoutCompleted;
    UnnumberedEvent { kind, payment_id: None, checkout: None, object, amount_minor }
}
