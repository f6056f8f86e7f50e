//! The ways to pay among which a customer chooses.

use serde_json::Value;
use till_domain::acquirer::AcquirerName;
use till_domain::card::CardScheme;
use till_domain::merchant::PaymentMethod;

use super::amount::amount;
use super::locale::Locale;
use super::message::Message;
use super::words::{Phrase, Words};
use crate::pages::answered::AnsweredObject;

/// The beginning of the value of a saved card's radio button, before its id: a radio button has one value, and this one
/// means two arguments.
pub(super) const SAVED_CARD: &str = "CARD:";

/// A radio button of the group.
pub(super) struct Choice {
    pub(super) kind: ChoiceKind,
    /// The value that the form posts as `payment_method`.
    pub(super) value: String,
    pub(super) label: Phrase,
    pub(super) is_chosen: bool,
}

/// A kind of radio button, by the fields that belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChoiceKind {
    /// A saved card with the mark of its scheme, where the scheme is known.
    SavedCard {
        mark: Option<&'static str>,
    },
    /// A new card, with the name of the acquirer on whose page it is entered, or none for the fields of the form.
    Card {
        page_of: Option<&'static str>,
    },
    Installment,
    PromptPay,
    MobileBanking,
}

impl Choice {
    /// The marks of all schemes that are known.
    pub(super) fn scheme_marks() -> impl Iterator<Item = &'static str> {
        CardScheme::ALL.into_iter().filter_map(mark)
    }
}

/// The name of the drawing of a scheme's mark.
fn mark(scheme: CardScheme) -> Option<&'static str> {
    (scheme != CardScheme::Other).then(|| scheme.name())
}

impl ChoiceKind {
    const fn of(method: PaymentMethod, page_of: Option<&'static str>) -> ChoiceKind {
        match method {
            PaymentMethod::Card => ChoiceKind::Card { page_of },
            PaymentMethod::Installment => ChoiceKind::Installment,
            PaymentMethod::PromptPay => ChoiceKind::PromptPay,
            PaymentMethod::MobileBanking => ChoiceKind::MobileBanking,
        }
    }
}

/// All ways to pay a checkout, or of an installation: the saved cards first. Exactly one of them is chosen.
pub(super) fn choices(words: Words, offered: &Value) -> Vec<Choice> {
    let methods = offered.words("payment_methods", &PaymentMethod::ALL, PaymentMethod::name);
    let saved = offered.items("saved_cards").iter().filter(|_| methods.contains(&PaymentMethod::Card));
    let mut choices: Vec<_> = saved.filter_map(|card| of_saved_card(words, card)).collect();
    let page_of = offered.word("card_page", &AcquirerName::ALL, AcquirerName::name);
    let page_of = page_of.map(|acquirer| acquirer.offer().display_name);
    choices.extend(methods.iter().map(|method| of_method(words, *method, page_of)));
    let method = offered.word("payment_method", &PaymentMethod::ALL, PaymentMethod::name);
    let kind = method.map(|method| ChoiceKind::of(method, page_of));
    let index = choices.iter().position(|choice| Some(choice.kind) == kind).unwrap_or(0);
    if let Some(choice) = choices.get_mut(index) {
        choice.is_chosen = true;
    }
    choices
}

fn of_saved_card(words: Words, card: &Value) -> Option<Choice> {
    let scheme = card.word("scheme", &CardScheme::ALL, CardScheme::name)?;
    let (digits, expiry) = (card.text("last_digits"), card.text("expiration_date"));
    let values = [("scheme", scheme.display_name()), ("digits", digits), ("expiry", expiry)];
    Some(Choice {
        kind: ChoiceKind::SavedCard { mark: mark(scheme) },
        value: format!("{SAVED_CARD}{}", card.text("card_id")),
        label: words.with(Message::SavedCard, &values),
        is_chosen: false,
    })
}

fn of_method(words: Words, method: PaymentMethod, page_of: Option<&'static str>) -> Choice {
    let message = match method {
        PaymentMethod::Card => Message::Card,
        PaymentMethod::Installment => Message::Installment,
        PaymentMethod::PromptPay => Message::PromptPay,
        PaymentMethod::MobileBanking => Message::MobileBanking,
    };
    Choice {
        kind: ChoiceKind::of(method, page_of),
        value: method.name().to_owned(),
        label: words.with(message, &[]),
        is_chosen: false,
    }
}

/// An instalment plan.
pub(super) struct OfferedPlan {
    pub(super) plan_id: String,
    /// Its name for a customer.
    pub(super) name: String,
    /// The customer's cost by the plan, in words, as far as it is known.
    pub(super) terms: Vec<Phrase>,
}

/// The instalment plans of a checkout, or of an installation.
pub(super) fn plans(words: Words, offered: &Value) -> Vec<OfferedPlan> {
    let of = |plan: &Value| OfferedPlan {
        plan_id: plan.text("installment_plan_id").to_owned(),
        name: plan.text("name").to_owned(),
        terms: terms(words, plan, offered.text("currency")),
    };
    offered.items("installment_plans").iter().map(of).collect()
}

fn terms(words: Words, plan: &Value, currency: &str) -> Vec<Phrase> {
    let rate = plan.optional_text("interest_rate").map(|rate| percent(rate, words.locale));
    let sum = |name| plan.money(name, currency).map(|money| amount(money, words.locale));
    let known = [
        rate.map(|rate| words.with(Message::PlanInterest, &[("rate", &rate)])),
        sum("monthly_amount").map(|amount| words.with(Message::PlanMonthly, &[("amount", &amount)])),
        sum("total_amount").map(|amount| words.with(Message::PlanTotal, &[("amount", &amount)])),
    ];
    known.into_iter().flatten().collect()
}

/// A decimal without zeros at its end, with the separator of the language.
fn percent(rate: &str, locale: Locale) -> String {
    let shortest = if rate.contains('.') { rate.trim_end_matches('0').trim_end_matches('.') } else { rate };
    match locale {
        Locale::German => shortest.replace('.', ","),
        Locale::English | Locale::Thai | Locale::Japanese | Locale::Arabic => shortest.to_owned(),
    }
}
