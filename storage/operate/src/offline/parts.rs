//! Rows as callers see them, and the parts of a record that have names of their own. Amounts are minor units and times
//! Unix seconds.

use serde_json::{Value, json};
use till_domain::card::Card;
use till_domain::command::IdempotencyScope;
use till_domain::customer::Customer;
use till_domain::payment::Payment;
use till_storage::shapes::{Disclosure, Shown};

/// An optional id or text.
pub(super) fn text<T: ToString>(value: Option<T>) -> Value {
    value.map_or(Value::Null, |value| Value::from(value.to_string()))
}

/// A payment as `find-payment` answers it; personal data as `disclosure` says.
pub(super) fn payment(mut answered: Value, payment: &Payment, disclosure: Disclosure) -> Value {
    let mut contact = shape(Shown::new(&payment.contact, disclosure));
    for member in ["email", "mobile", "name"] {
        answered[format!("customer_{member}")] = contact[member].take();
    }
    answered
}

/// A customer as `find-contact` answers it; personal data as `disclosure` says.
pub(super) fn contact(mut answered: Value, customer: &Customer, disclosure: Disclosure) -> Value {
    let mut shown = shape(Shown::new(customer, disclosure));
    for member in ["email", "mobile", "name"] {
        answered[member] = shown[member].take();
    }
    answered
}

/// A saved card as `find-card` answers it; its holder as `disclosure` says.
pub(super) fn card(mut answered: Value, card: &Card, disclosure: Disclosure) -> Value {
    answered["cardholder_name"] = shape(Shown::new(&card.card.holder, disclosure));
    answered
}

/// An entry of the activity log as `list-activity-logs` answers it; addresses as `disclosure` says.
pub(super) fn activity(mut answered: Value, disclosure: Disclosure) -> Value {
    for member in ["actor_email", "user_email"] {
        let address = &mut answered[member];
        if let Some(email) = address.as_str().map(str::to_owned) {
            *address = Value::from(disclosure.text(&email));
        }
    }
    answered
}

/// A shape as a JSON value, to which members can be added.
pub(super) fn shape(shape: impl serde::Serialize) -> Value {
    serde_json::to_value(shape).expect("a shape has a JSON form")
}

/// The scope of an Idempotency-Key.
pub(super) fn scope(scope: &IdempotencyScope) -> Value {
    let IdempotencyScope { installation_id, endpoint, key } = scope;
    json!({ "endpoint": endpoint, "idempotency_key": key.as_str(), "installation_id": text(*installation_id) })
}
