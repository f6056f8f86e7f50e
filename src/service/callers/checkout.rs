//! What the customer of a checkout is offered: contract, section 9.6.

use till_domain::acquirer::{AcquirerName, AcquirerRef};
use till_domain::card::Card;
use till_domain::checkout::{Checkout, CheckoutStatus};
use till_domain::customer::CustomerRef;
use till_domain::decide::can_pay;
use till_domain::ids::CustomerId;
use till_domain::merchant::PaymentMethod;
use till_domain::payment::Payment;
use till_domain::records::{
    Cards, CustomerCards, Customers, CustomersByExternalId, Integrations, Payments, Rows, Unreadable,
};
use till_domain::time::Millis;

use super::card_page::card_page;
use super::plan_terms::{PlanTerms, plan_terms};
use crate::service::submission::Reader;

/// The ways to pay that the customer of a checkout is offered, with its newest payment.
pub(crate) struct OfferedCheckout {
    /// The checkout.
    pub checkout: Checkout,
    /// The methods that can pay it now.
    pub methods: Vec<PaymentMethod>,
    /// The acquirer at whose page the customer enters a card; none where it is entered in a form.
    pub card_page: Option<AcquirerName>,
    /// The saved cards of its customer, where it is open and offers them, and cards can pay it and are entered in a
    /// form; the oldest first.
    pub saved_cards: Vec<Card>,
    /// The payment that is in progress, or the last one.
    pub payment: Option<Payment>,
    /// True while the sandbox plays the acquirer of one of the methods, or of the payment.
    pub is_sandbox: bool,
}

impl OfferedCheckout {
    /// Reads it: a row for each method, the account of cards, the newest payment, and at most a hundred saved cards.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub(crate) fn read(reader: &Reader<'_>, checkout: Checkout, now: Millis) -> Result<OfferedCheckout, Unreadable> {
        let (methods, acquirers) = methods(reader, &checkout)?;
        let is_open = checkout.status_at(now) == CheckoutStatus::Open;
        let offers_cards = is_open && checkout.offers_saved_cards && methods.contains(&PaymentMethod::Card);
        let card_page = card_page(reader)?;
        let saved_cards =
            if offers_cards && card_page.is_none() { saved_cards(reader, &checkout)? } else { Vec::new() };
        let payment = checkout.newest_payment().map_or(Ok(None), |id| reader.get::<Payments>(id))?;
        let acquirer = payment.as_ref().map(|payment| payment.acquirer);
        let is_sandbox = acquirers.into_iter().chain(acquirer).any(|acquirer| acquirer == AcquirerRef::Sandbox);
        Ok(OfferedCheckout { checkout, methods, card_page, saved_cards, payment, is_sandbox })
    }

    /// The instalment plans that can be chosen.
    #[must_use]
    pub(crate) fn plans(&self) -> Vec<PlanTerms> {
        plan_terms(&self.methods, self.checkout.interest_bearer, Some(self.checkout.money.amount))
    }
}

/// The methods that can pay a checkout, and their acquirers.
fn methods(reader: &Reader<'_>, checkout: &Checkout) -> Result<(Vec<PaymentMethod>, Vec<AcquirerRef>), Unreadable> {
    let (mut methods, mut acquirers) = (Vec::new(), Vec::new());
    for method in checkout.methods.iter().copied() {
        let integration = reader.get::<Integrations>(method)?;
        if can_pay(integration.as_ref(), method, checkout.capture_mode, checkout.money.amount) {
            methods.push(method);
            acquirers.extend(integration.map(|integration| integration.acquirer));
        }
    }
    Ok((methods, acquirers))
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
