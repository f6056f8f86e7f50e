//! The JSON of a saved card.

use till_domain::card::{Card, CardScheme};
use till_domain::customer::Customer;
use till_domain::ids::{CardId, CustomerId};

use super::object::object;

object! {
    /// A card of a customer.
    pub(crate) CARD "card" as CardShape<'a> of (card: &'a Card, customer: &'a Customer) {
        card_id: Id(CardId::PREFIX) = card.id, "The card's id (`crd_...`).";
        external_id: STRING or null = card.external_id, "The merchant's own identifier.", such_as("card-1001");
        contact_id: Id(CustomerId::PREFIX) = card.customer_id, "The customer (`ctc_...`).";
        scheme: words_of(CardScheme) = card.card.scheme, "The network of the card.";
        first_digits: STRING = card.card.first_digits, "The first six digits of the number.", such_as("424242");
        last_digits: STRING = card.card.last_digits, "The last four digits of the number.", such_as("4242");
        expiration_date: STRING = card.card.expiry, "The last month in which it is valid, `MM/YY`.", such_as("12/49");
        cardholder_name: STRING or null = card.card.holder,
            "The name on the card; null once it is forgotten.", such_as("Somchai Jaidee");
        default: BOOLEAN = customer.default_card_id == Some(card.id), "True when it is the customer's default card.";
        created_at: TIMESTAMP = card.created_at, "The time at which the card was saved.";
        deleted_at: TIMESTAMP or null = card.deleted_at, "The time at which the card was forgotten.";
    }
}
