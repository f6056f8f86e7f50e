//! Shapes of checkouts.

use till_domain::checkout::{Checkout, CheckoutLine};
use till_domain::records::Neighbors;

use crate::vault::SubjectId;

use super::customer::{CustomerFieldsV1, OF_CHECKOUT};
use super::declared::shape_struct;
use super::session::MoneyV1;
use super::tag::Tag;

shape_struct! {
    /// A line of the order that a checkout shows.
    CheckoutLineV1 of CheckoutLine {
        name: String,
        amount_minor: i64,
        quantity: u64,
    }
}

shape_struct! {
    /// A checkout. The subject of its customer fields is the checkout.
    CheckoutV1 of Checkout {
        id: [u8; 16],
        external_id: Option<String>,
        installation_id: [u8; 16],
        money: MoneyV1,
        lines: Vec<CheckoutLineV1>,
        capture_mode: Tag,
        methods: Vec<Tag>,
        interest_bearer: Tag,
        locale: Option<Tag>,
        return_url: String,
        cancel_url: Option<String>,
        page_url: Option<String>,
        customer: CustomerFieldsV1 as OF_CHECKOUT,
        offers_saved_cards: bool,
        status: Tag,
        payments: Vec<[u8; 16]>,
        in_progress: bool,
        closes: bool,
        created_at: u64,
        expires_at: u64,
        ended_at: Option<u64>,
    } sealed under SubjectId::checkout(*id)
}

shape_struct! {
    /// The place of an open checkout among those that name the same person.
    NeighborsV1 of Neighbors {
        older: Option<[u8; 16]>,
        newer: Option<[u8; 16]>,
    }
}
