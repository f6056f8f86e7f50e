//! The JSON of a customer.

use serde::Serialize;
use till_domain::customer::Customer;
use till_domain::ids::{CardId, CustomerId};

use crate::protocol::declaration::{Attribute, ObjectType, ValueType};

pub(in crate::endpoints) static CONTACT: ObjectType = ObjectType {
    name: "contact",
    attributes: &[
        Attribute::always("contact_id", ValueType::Id(CustomerId::PREFIX), "The customer's id (`ctc_...`)."),
        Attribute::nullable("external_id", ValueType::STRING, "The merchant's own identifier.")
            .such_as("customer-1001"),
        Attribute::nullable("email", ValueType::EMAIL, "The customer's e-mail address, unique among customers.")
            .shown(),
        Attribute::nullable("mobile", ValueType::PHONE, "The customer's mobile number, unique among customers.")
            .shown(),
        Attribute::nullable("name", ValueType::STRING, "The customer's name.").such_as("Somchai Jaidee"),
        Attribute::nullable(
            "default_card_id",
            ValueType::Id(CardId::PREFIX),
            "The saved card (`crd_...`) that is the default.",
        )
        .shown(),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which the customer was created."),
        Attribute::always("updated_at", ValueType::TIMESTAMP, "The time of the customer's last change.")
            .such_as("1767225601"),
    ],
};

#[derive(Serialize)]
pub(crate) struct ContactShape<'a> {
    contact_id: String,
    external_id: Option<&'a str>,
    email: Option<&'a str>,
    mobile: Option<&'a str>,
    name: Option<&'a str>,
    default_card_id: Option<String>,
    created_at: u64,
    updated_at: u64,
}

impl<'a> ContactShape<'a> {
    /// The object of a customer.
    pub(crate) fn new(customer: &'a Customer) -> ContactShape<'a> {
        ContactShape {
            contact_id: customer.id.to_string(),
            external_id: customer.external_id.as_ref().map(|external_id| external_id.as_str()),
            email: customer.email.as_ref().map(|email| email.as_str()),
            mobile: customer.mobile.as_ref().map(|mobile| mobile.as_str()),
            name: customer.name.as_ref().map(|name| name.as_str()),
            default_card_id: customer.default_card_id.map(|card_id| card_id.to_string()),
            created_at: customer.created_at.unix_seconds(),
            updated_at: customer.updated_at.unix_seconds(),
        }
    }
}
