//! The JSON of a customer.

use till_domain::customer::Customer;
use till_domain::ids::{CardId, CustomerId};

use super::object::object;

object! {
    /// A customer.
    pub(crate) CONTACT "contact" as ContactShape<'a> of (customer: &'a Customer) {
        contact_id: Id(CustomerId::PREFIX) = customer.id, "The customer's id (`ctc_...`).";
        external_id: STRING or null = customer.external_id, "The merchant's own identifier.", such_as("customer-1001");
        email: EMAIL or null = customer.email, "The customer's e-mail address, unique among customers.", in_examples;
        mobile: PHONE or null = customer.mobile, "The customer's mobile number, unique among customers.", in_examples;
        name: STRING or null = customer.name, "The customer's name.", such_as("Somchai Jaidee");
        default_card_id: Id(CardId::PREFIX) or null = customer.default_card_id,
            "The saved card (`crd_...`) that is the default.", in_examples;
        created_at: TIMESTAMP = customer.created_at, "The time at which the customer was created.";
        updated_at: TIMESTAMP = customer.updated_at, "The time of the customer's last change.", such_as("1767225601");
    }
}
