//! What the service knows of a checkout, as its page shows it.

use till_domain::checkout::CheckoutStatus;
use till_domain::customer_action::{CustomerAction, CustomerStep};
use till_domain::ids::MerchantId;
use till_domain::merchant::PaymentMethod;
use till_domain::money::{AmountMinor, Currency, Money};
use till_domain::payment::Payment;
use till_domain::session::InterestBearer;

use super::failure::explained_code;
use super::view::{CheckoutView, Line, OfferedPlan, SavedCard, State};
use crate::service::{PlanTerms, ShownCheckout, given_up_to, in_ascii, plan_terms, returned_to};

/// The seconds after its completion for which the page goes on to the shop by itself.
const JUST_NOW_SECONDS: u64 = 10;

/// The view of a checkout; `wallet` is the page of the sandbox's wallet on which its QR code is paid.
pub(super) fn view(merchant_id: MerchantId, shown: &ShownCheckout, wallet: Option<String>) -> CheckoutView {
    let ShownCheckout { profile, offered, .. } = shown;
    let checkout = &offered.checkout;
    CheckoutView {
        merchant_id: merchant_id.to_string(),
        installation_id: checkout.installation_id.to_string(),
        checkout_id: shown.reference().to_owned(),
        merchant: profile.name.as_str().to_owned(),
        color: profile.color.map(|color| color.to_string()),
        money: checkout.money,
        lines: checkout
            .lines
            .iter()
            .map(|line| Line {
                name: line.name.as_str().to_owned(),
                amount_minor: line.amount_minor,
                quantity: line.quantity,
            })
            .collect(),
        shop: in_ascii(&given_up_to(checkout)),
        methods: offered.methods.clone(),
        saved_cards: offered
            .saved_cards
            .iter()
            .map(|card| SavedCard {
                card_id: card.id.to_string(),
                scheme: card.card.scheme,
                last_digits: card.card.last_digits.clone(),
                expiry: format!("{:02}/{:02}", card.card.expiry.month, card.card.expiry.year % 100),
            })
            .collect(),
        plans: offered.plans().into_iter().map(|terms| offered_plan(terms, Some(checkout.money.currency))).collect(),
        offers_saving: checkout.offers_saved_cards,
        is_sandbox: offered.is_sandbox,
        state: state(shown, wallet),
    }
}

/// The instalment plans of some methods, for an amount that is not known.
pub(super) fn plans(methods: &[PaymentMethod]) -> Vec<OfferedPlan> {
    let terms = plan_terms(methods, InterestBearer::Customer, None);
    terms.into_iter().map(|terms| offered_plan(terms, None)).collect()
}

fn offered_plan(terms: PlanTerms, currency: Option<Currency>) -> OfferedPlan {
    let sum = |minor| Some(Money { amount: AmountMinor::new(minor)?, currency: currency? });
    OfferedPlan {
        plan_id: terms.plan.id().to_owned(),
        name: terms.plan.display_name().to_owned(),
        interest_rate: terms.interest_rate,
        monthly: terms.cost.and_then(|cost| sum(cost.monthly_minor)),
        total: terms.cost.and_then(|cost| sum(cost.total_minor)),
    }
}

fn state(shown: &ShownCheckout, wallet: Option<String>) -> State {
    let checkout = &shown.offered.checkout;
    match (shown.status, &shown.offered.payment) {
        (CheckoutStatus::Completed, Some(payment)) => State::Successful {
            shop: in_ascii(&returned_to(payment)),
            just_now: checkout.ended_at.is_some_and(|at| shown.now < at.plus_seconds(JUST_NOW_SECONDS)),
        },
        (CheckoutStatus::Completed | CheckoutStatus::Expired, payment) => {
            State::Expired { failed: payment.as_ref().and_then(failed) }
        }
        (CheckoutStatus::Open, _) if shown.profile.suspended => State::Suspended,
        (CheckoutStatus::Open, Some(payment)) if checkout.in_progress => in_progress(shown, payment, wallet),
        (CheckoutStatus::Open, payment) => State::Choosing {
            failed: payment.as_ref().and_then(failed),
            chosen: payment.as_ref().map(|payment| payment.instrument.method()),
        },
    }
}

/// The code that explains why a payment failed.
fn failed(payment: &Payment) -> Option<String> {
    let code = &payment.failure.as_ref()?.code;
    Some(explained_code(code, payment.instrument.method()).to_owned())
}

fn in_progress(shown: &ShownCheckout, payment: &Payment, wallet: Option<String>) -> State {
    let session_id = payment.session_id.to_string();
    match &shown.action {
        None => State::Processing { session_id },
        Some(CustomerAction { step: CustomerStep::Redirect(address), .. }) => {
            State::Confirm { session_id, address: in_ascii(address.as_str()) }
        }
        Some(CustomerAction { step: CustomerStep::DisplayQr(text), recorded_at, expires_at, .. }) => State::Scan {
            session_id,
            text: text.as_str().to_owned(),
            seconds_left: expires_at.0.saturating_sub(shown.now.0) / 1_000,
            seconds_whole: expires_at.0.saturating_sub(recorded_at.0) / 1_000,
            wallet,
        },
    }
}
