//! The payments that records of a log are about.

use std::collections::BTreeSet;

use serde_json::Value;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::payment::Payment;
use till_domain::records::{Payments, Rows};
use till_storage::journal::Sequence;
use till_storage::shapes::Disclosure;

use super::source::Source;
use super::{event, log_record};

/// The payments that records from `first` to `last` name, as the store has them. Damaged records name none.
///
/// # Errors
/// A row of the store cannot be read.
pub fn payments_of(
    source: &Source,
    merchant_id: MerchantId,
    first: Sequence,
    last: Sequence,
) -> anyhow::Result<Vec<Payment>> {
    let personal = source.reader(merchant_id);
    let mut ids = BTreeSet::new();
    for sequence in first.0..=last.0 {
        if let Ok(record) = log_record::read(source.rows(), merchant_id, Sequence(sequence), &personal) {
            let events = record.mutation.events.iter();
            events.for_each(|happened| note_ids(&event::event(happened, Disclosure::Sealed).1, &mut ids));
        }
    }
    let mut payments = Vec::new();
    for id in ids {
        payments.extend(personal.get::<Payments>(id)?);
    }
    Ok(payments)
}

/// Notes the ids of payments anywhere in a value.
fn note_ids(value: &Value, ids: &mut BTreeSet<PaymentId>) {
    match value {
        Value::String(text) => ids.extend(text.parse::<PaymentId>().ok()),
        Value::Array(items) => items.iter().for_each(|item| note_ids(item, ids)),
        Value::Object(members) => members.values().for_each(|member| note_ids(member, ids)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
