//! The JSON of a saved card.

use serde::Serialize;
use till_domain::card::{Card, CardScheme};
use till_domain::customer::Customer;
use till_domain::ids::{CardId, CustomerId};

use super::payment::expiration_date;
use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};

pub(in crate::endpoints) static CARD: ObjectType = ObjectType {
    name: "card",
    attributes: &[
        Attribute::always("card_id", ValueType::Id(CardId::PREFIX), "The card's id (`crd_...`)."),
        Attribute::nullable("external_id", ValueType::STRING, "The merchant's own identifier.").such_as("card-1001"),
        Attribute::always("contact_id", ValueType::Id(CustomerId::PREFIX), "The customer (`ctc_...`)."),
        Attribute::always("scheme", words_of!(CardScheme), "The network of the card."),
        Attribute::always("first_digits", ValueType::STRING, "The first six digits of the number.").such_as("424242"),
        Attribute::always("last_digits", ValueType::STRING, "The last four digits of the number.").such_as("4242"),
        Attribute::always("expiration_date", ValueType::STRING, "The last month in which it is valid, `MM/YY`.")
            .such_as("12/49"),
        Attribute::nullable("cardholder_name", ValueType::STRING, "The name on the card; null once it is forgotten.")
            .such_as("Somchai Jaidee"),
        Attribute::always("default", ValueType::BOOLEAN, "True when it is the customer's default card."),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which the card was saved."),
        Attribute::nullable("deleted_at", ValueType::TIMESTAMP, "The time at which the card was forgotten."),
    ],
};

#[derive(Serialize)]
pub(crate) struct CardShape<'a> {
    card_id: String,
    external_id: Option<&'a str>,
    contact_id: String,
    scheme: &'static str,
    first_digits: &'a str,
    last_digits: &'a str,
    expiration_date: String,
    cardholder_name: Option<&'a str>,
    default: bool,
    created_at: u64,
    deleted_at: Option<u64>,
}

impl<'a> CardShape<'a> {
    /// The object for a card of a customer.
    pub(crate) fn new(card: &'a Card, customer: &Customer) -> CardShape<'a> {
        CardShape {
            card_id: card.id.to_string(),
            external_id: card.external_id.as_ref().map(|external_id| external_id.as_str()),
            contact_id: card.customer_id.to_string(),
            scheme: card.card.scheme.name(),
            first_digits: &card.card.first_digits,
            last_digits: &card.card.last_digits,
            expiration_date: expiration_date(card.card.expiry),
            cardholder_name: card.card.holder.as_ref().map(|name| name.as_str()),
            default: customer.default_card_id == Some(card.id),
            created_at: card.created_at.unix_seconds(),
            deleted_at: card.deleted_at.map(|at| at.unix_seconds()),
        }
    }
}
