//! The JSON of a checkout: contract, section 9.6.

use till_domain::checkout::{Checkout, CheckoutLine, CheckoutStatus, Locale};
use till_domain::customer::CustomerRef;
use till_domain::ids::{CheckoutId, InstallationId, PaymentId};
use till_domain::payment::CaptureMode;
use till_protocol::declaration::ValueType;

use super::object::object;
use crate::endpoints::forms::PAYMENT_METHOD_WORDS;

object! {
    /// A checkout with the address at which it is paid.
    pub(in crate::endpoints) CHECKOUT "checkout" as CheckoutShape<'a> of (checkout: &'a Checkout, url: Option<String>) {
        checkout_id: Id(CheckoutId::PREFIX) = checkout.id, "The checkout's id (`chk_...`).";
        url: URL or null = url,
            "The address to send the customer to. Whoever has it can pay; null unless the checkout is OPEN and the \
                caller may start checkouts.";
        external_id: STRING or null = checkout.external_id, "The merchant's own reference.", such_as("order-1001");
        installation_id: Id(InstallationId::PREFIX) = checkout.installation_id, "The installation that pays it.";
        status: words_of(CheckoutStatus) = checkout.status, "The status.";
        amount: MINOR_UNITS = checkout.money.amount, "The amount in minor units.", such_as("10000");
        currency: STRING = checkout.money.currency, "The ISO 4217 code.", such_as("THB");
        payment_methods: Array(&PAYMENT_METHOD_WORDS) = checkout.methods,
            "The methods that the customer chooses among, as far as they are enabled.";
        capture: BOOLEAN = checkout.capture_mode == CaptureMode::Automatic, "True when it is captured on \
            authorization.";
        return_url: URL = checkout.return_url, "The page that the customer is sent to afterwards.";
        cancel_url: URL = checkout.given_up_url(), "The page that a customer goes to who gives up.";
        page_url: URL or null = checkout.page_url, "The shop's page that shows the checkout by `Till.mount`.";
        locale: words_of(Locale) or null = checkout.locale, "The language of its page, when one was chosen.";
        lines: Array(&ValueType::Object(&CHECKOUT_LINE)) =
            checkout.lines.iter().map(LineShape::new).collect::<Vec<_>>(),
            "The lines of the order; empty without.";
        customer_id: STRING or null = checkout.customer.id.as_ref().map(CustomerRef::to_string),
            "The customer as it was given: an id (`ctc_...`) or the merchant's own identifier.",
            such_as("customer-1001");
        customer_email: EMAIL or null = checkout.customer.contact.email, "The customer's address, as it was given.";
        customer_mobile: PHONE or null = checkout.customer.contact.mobile, "The customer's number, as it was given.";
        customer_name: STRING or null = checkout.customer.contact.name,
            "The customer's name, as it was given.", such_as("Somchai Jaidee");
        payment_id: Id(PaymentId::PREFIX) or null = checkout.newest_payment(), "The newest payment of it.", in_examples;
        attempts: INTEGER = u64::try_from(checkout.payments.len()).unwrap_or(u64::MAX),
            "The number of payments that were made of it.", such_as("1");
        created_at: TIMESTAMP = checkout.created_at, "The time at which it was started.";
        expires_at: TIMESTAMP = checkout.expires_at,
            "The time until which a new payment can be made of it.", such_as("1767312000");
        completed_at: TIMESTAMP or null = checkout.ended_at.filter(|_| checkout.status == CheckoutStatus::Completed),
            "The time at which it was paid.";
    }
}

object! {
    /// A line of an order.
    pub(in crate::endpoints) CHECKOUT_LINE "checkout_line" as LineShape<'a> of (line: &'a CheckoutLine) {
        name: STRING = line.name, "The name that the customer reads.", such_as("Tea");
        amount: MINOR_UNITS = line.amount_minor,
            "The amount of one, in minor units; negative for a discount.", such_as("5000");
        quantity: INTEGER = line.quantity, "The number of them.", such_as("2");
    }
}
