//! What the page of a checkout shows.

use till_domain::card::CardScheme;
use till_domain::merchant::PaymentMethod;
use till_domain::money::Money;

use super::amount::amount;
use super::locale::Locale;
use super::message::Message;
use super::words::{Phrase, Words};

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
    /// True while the acquirer is the sandbox, where no money moves.
    pub(super) is_sandbox: bool,
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
    pub(super) scheme: CardScheme,
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
    /// The interest that the customer pays, in percent a month; none where the acquirer does not tell it, like the
    /// amounts.
    pub(super) interest_rate: Option<String>,
    /// The amount of each month.
    pub(super) monthly: Option<Money>,
    /// All amounts together.
    pub(super) total: Option<Money>,
}

impl OfferedPlan {
    /// The customer's cost by the plan, in words, as far as it is known.
    pub(super) fn terms(&self, words: Words) -> Vec<Phrase> {
        let rate = self.interest_rate.as_deref().map(|rate| percent(rate, words.locale));
        let sum = |money: Option<Money>| money.map(|money| amount(money, words.locale));
        let known = [
            rate.map(|rate| words.with(Message::PlanInterest, &[("rate", &rate)])),
            sum(self.monthly).map(|amount| words.with(Message::PlanMonthly, &[("amount", &amount)])),
            sum(self.total).map(|amount| words.with(Message::PlanTotal, &[("amount", &amount)])),
        ];
        known.into_iter().flatten().collect()
    }
}

/// A decimal without zeros at its end, with the separator of the language.
fn percent(rate: &str, locale: Locale) -> String {
    let shortest = if rate.contains('.') { rate.trim_end_matches('0').trim_end_matches('.') } else { rate };
    match locale {
        Locale::German => shortest.replace('.', ","),
        Locale::English | Locale::Thai | Locale::Japanese | Locale::Arabic => shortest.to_owned(),
    }
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
    Expired {
        /// The failure code of the last payment.
        failed: Option<String>,
    },
    /// The merchant is suspended.
    Suspended,
}
