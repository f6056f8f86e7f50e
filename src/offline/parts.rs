//! Rows as callers see them, and the parts of a record that have names of their own. Amounts are minor units and times
//! Unix seconds.

use serde_json::{Value, json};
use till_domain::activity::Activity;
use till_domain::command::{Caller, IdempotencyScope};
use till_domain::effect::{Effect, EffectKind, Timer, TimerKind};
use till_domain::ledger::Cause;
use till_domain::payment::Payment;
use till_domain::time::Millis;
use till_storage::shapes::{Disclosure, Shown};

use crate::endpoints::shapes::activity::ActivityShape;
use crate::endpoints::shapes::payment::PaymentShape;

/// An optional id or text.
pub(super) fn text<T: ToString>(value: Option<T>) -> Value {
    value.map_or(Value::Null, |value| Value::from(value.to_string()))
}

/// A payment as `find-payment` answers it at `now`; personal data as `disclosure` says.
pub(super) fn payment(payment: &Payment, now: Millis, disclosure: Disclosure) -> Value {
    let mut shown = shape(PaymentShape::new(payment, now));
    let mut contact = shape(Shown::new(&payment.contact, disclosure));
    for member in ["email", "mobile", "name"] {
        shown[format!("customer_{member}")] = contact[member].take();
    }
    shown
}

/// The id of what a transaction was posted for.
pub(super) fn cause(cause: Cause) -> String {
    match cause {
        Cause::Topup(id) => id.to_string(),
        Cause::Capture(id) => id.to_string(),
    }
}

/// An entry of the activity log as it is answered; addresses as `disclosure` says.
pub(super) fn activity(activity: &Activity, disclosure: Disclosure) -> Value {
    let mut shown = shape(ActivityShape::new(activity));
    for member in ["actor_email", "user_email"] {
        let shown = &mut shown[member];
        if let Some(email) = shown.as_str().map(str::to_owned) {
            *shown = Value::from(disclosure.text(&email));
        }
    }
    shown
}

/// What is answered, as a value that can be added to.
pub(super) fn shape(shape: impl serde::Serialize) -> Value {
    serde_json::to_value(shape).expect("a shape has a JSON form")
}

/// A call to the acquirer.
pub(super) fn effect(effect: &Effect) -> Value {
    let kind = match effect.kind {
        EffectKind::Authorize => "authorize",
        EffectKind::Void => "void",
    };
    json!({ "effect": kind, "payment_id": effect.payment_id.to_string() })
}

/// An instant at which something is due.
pub(super) fn timer(timer: Timer) -> Value {
    let (kind, of) = match timer.kind {
        TimerKind::Settle(id) => ("settle", id.to_string()),
        TimerKind::Lapse(id) => ("lapse", id.to_string()),
        TimerKind::ExpireMetadata(id) => ("expire_metadata", id.to_string()),
    };
    json!({ "timer": kind, "of": of, "due": timer.due.unix_seconds() })
}

/// Who asked.
pub(super) fn caller(caller: Caller) -> String {
    match caller {
        Caller::ApiKey(id) => id.to_string(),
        Caller::Sdk(id) => id.to_string(),
        Caller::Operator => "operator".to_owned(),
        Caller::System => "till".to_owned(),
    }
}

/// Where an Idempotency-Key counts.
pub(super) fn scope(scope: &IdempotencyScope) -> Value {
    let IdempotencyScope { installation_id, endpoint, key } = scope;
    json!({ "endpoint": endpoint, "idempotency_key": key.as_str(), "installation_id": text(*installation_id) })
}
