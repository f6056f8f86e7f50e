//! What the page of a checkout shows.

use till_domain::merchant::PaymentMethod;
use till_domain::money::Money;

/// A checkout for its customer.
#[derive(Debug, Clone)]
pub(super) struct CheckoutView {
    pub(super) merchant_id: String,
    pub(super) installation_id: String,
    /// The last segment of its address: the id, a full stop and the secret.
    pub(super) checkout_id: String,
    /// The merchant's name.
    pub(super) merchant: String,
    /// The merchant's colour, as `#rrggbb`.
    pub(super) color: Option<String>,
    /// The amount to pay.
    pub(super) money: Money,
    /// The lines of the order; empty when the shop gives none.
    pub(super) lines: Vec<Line>,
    /// The address in the shop for a customer who gives up, in ASCII.
    pub(super) shop: String,
    /// The methods that can be chosen, in the order in which they are shown.
    pub(super) methods: Vec<PaymentMethod>,
    /// The saved cards of the customer, where the shop vouches for who follows the address.
    pub(super) saved_cards: Vec<SavedCard>,
    /// The instalment plans.
    pub(super) plans: Vec<OfferedPlan>,
    /// True when the customer may save the card.
    pub(super) offers_saving: bool,
    pub(super) state: State,
}

/// A line of the order.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) name: String,
    /// The price of one, in minor units; negative for a discount.
    pub(super) amount_minor: i64,
    pub(super) quantity: u64,
}

/// A card that the customer saved.
#[derive(Debug, Clone)]
pub(super) struct SavedCard {
    pub(super) card_id: String,
    /// The name of its scheme, such as `Visa`.
    pub(super) scheme: String,
    pub(super) last_digits: String,
    /// `MM/YY`.
    pub(super) expiry: String,
}

/// An instalment plan.
#[derive(Debug, Clone)]
pub(super) struct OfferedPlan {
    pub(super) plan_id: String,
    /// Its name for a customer.
    pub(super) name: String,
}

/// The state that the page shows.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// The customer chooses how to pay.
    Choosing {
        /// The failure code of the last payment.
        failed: Option<String>,
        /// The method of the last payment.
        chosen: Option<PaymentMethod>,
    },
    /// The acquirer is processing the payment.
    Processing {
        /// The session of the payment.
        session_id: String,
    },
    /// The customer confirms the payment at the issuer or bank.
    Confirm {
        /// The session of the payment.
        session_id: String,
        /// The address of the issuer or bank.
        address: String,
    },
    /// The customer scans a QR code.
    Scan {
        /// The session of the payment.
        session_id: String,
        /// The text of the code.
        text: String,
        /// The time that is left to scan it.
        seconds_left: u64,
        /// The time that there was at first.
        seconds_whole: u64,
        /// The address of the sandbox's wallet; none of a real acquirer.
        wallet: Option<String>,
    },
    /// It is paid.
    Successful {
        /// The address in the shop to which the customer returns, in ASCII.
        shop: String,
        /// True when the page goes there by itself.
        just_now: bool,
    },
    /// It can no longer be paid.
    Expired,
    /// The merchant is suspended.
    Suspended,
}
