//! What the customer of a checkout is offered: contract, section 9.6.

use till_domain::card::Card;
use till_domain::checkout::Checkout;
use till_domain::customer::CustomerRef;
use till_domain::decide::can_pay;
use till_domain::ids::{CheckoutId, CustomerId, MerchantId};
use till_domain::merchant::PaymentMethod;
use till_domain::payment::Payment;
use till_domain::records::{
    Cards, CustomerCards, Customers, CustomersByExternalId, Integrations, Payments, Rows, Unreadable,
};

use crate::service::submission::Reader;

/// The path of the page of a checkout.
#[must_use]
pub fn checkout_path(merchant_id: MerchantId, checkout_id: CheckoutId) -> String {
    format!("/pay/{merchant_id}/{checkout_id}")
}

/// The ways to pay that the customer of a checkout is offered, with its newest payment.
pub struct OfferedCheckout {
    /// The checkout.
    pub checkout: Checkout,
    /// The methods that can pay it now.
    pub methods: Vec<PaymentMethod>,
    /// The saved cards of its customer, where it offers them and cards can pay it; the oldest first.
    pub saved_cards: Vec<Card>,
    /// The payment that is in progress, or the last one.
    pub payment: Option<Payment>,
}

impl OfferedCheckout {
    /// Reads it: a row for each method, the newest payment, and at most a hundred saved cards.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub fn read(reader: &Reader<'_>, checkout: Checkout) -> Result<OfferedCheckout, Unreadable> {
        let methods = methods(reader, &checkout)?;
        let offers_cards = checkout.offers_saved_cards && methods.contains(&PaymentMethod::Card);
        let saved_cards = if offers_cards { saved_cards(reader, &checkout)? } else { Vec::new() };
        let payment = checkout.newest_payment().map_or(Ok(None), |id| reader.get::<Payments>(id))?;
        Ok(OfferedCheckout { checkout, methods, saved_cards, payment })
    }
}

fn methods(reader: &Reader<'_>, checkout: &Checkout) -> Result<Vec<PaymentMethod>, Unreadable> {
    let mut methods = Vec::new();
    for method in checkout.methods.iter().copied() {
        let integration = reader.get::<Integrations>(method)?;
        if can_pay(integration.as_ref(), method, checkout.capture_mode, checkout.money.amount) {
            methods.push(method);
        }
    }
    Ok(methods)
}

fn saved_cards(reader: &Reader<'_>, checkout: &Checkout) -> Result<Vec<Card>, Unreadable> {
    let Some(customer_id) = customer(reader, checkout)? else { return Ok(Vec::new()) };
    let ids = reader.get::<CustomerCards>(customer_id)?.unwrap_or_default();
    let mut cards = Vec::with_capacity(ids.len());
    for id in ids {
        cards.extend(reader.get::<Cards>(id)?.filter(|card| card.deleted_at.is_none()));
    }
    Ok(cards)
}

/// The customer that the checkout names, when there is one.
fn customer(reader: &Reader<'_>, checkout: &Checkout) -> Result<Option<CustomerId>, Unreadable> {
    match &checkout.customer.id {
        Some(CustomerRef::Own(id)) => Ok(reader.get::<Customers>(*id)?.map(|customer| customer.id)),
        Some(CustomerRef::External(external_id)) => reader.get::<CustomersByExternalId>(external_id.clone()),
        None => Ok(None),
    }
}
