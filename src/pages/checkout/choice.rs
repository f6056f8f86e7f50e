//! The ways to pay among which a customer chooses.

use till_domain::card::CardScheme;
use till_domain::merchant::PaymentMethod;

use super::form::SAVED_CARD;
use super::message::Message;
use super::view::SavedCard;
use super::words::{Phrase, Words};

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
    Card,
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
    const fn of(method: PaymentMethod) -> ChoiceKind {
        match method {
            PaymentMethod::Card => ChoiceKind::Card,
            PaymentMethod::Installment => ChoiceKind::Installment,
            PaymentMethod::PromptPay => ChoiceKind::PromptPay,
            PaymentMethod::MobileBanking => ChoiceKind::MobileBanking,
        }
    }
}

/// All ways to pay: the saved cards first. Exactly one of them is chosen.
pub(super) fn choices(
    words: Words,
    methods: &[PaymentMethod],
    saved_cards: &[SavedCard],
    chosen: Option<PaymentMethod>,
) -> Vec<Choice> {
    let saved = saved_cards.iter().filter(|_| methods.contains(&PaymentMethod::Card));
    let mut choices: Vec<_> = saved.map(|card| of_saved_card(words, card)).collect();
    choices.extend(methods.iter().map(|method| of_method(words, *method)));
    let kind = chosen.map(ChoiceKind::of);
    let index = choices.iter().position(|choice| Some(choice.kind) == kind).unwrap_or(0);
    if let Some(choice) = choices.get_mut(index) {
        choice.is_chosen = true;
    }
    choices
}

fn of_saved_card(words: Words, card: &SavedCard) -> Choice {
    let values = [("scheme", card.scheme.display_name()), ("digits", &card.last_digits), ("expiry", &card.expiry)];
    Choice {
        kind: ChoiceKind::SavedCard { mark: mark(card.scheme) },
        value: format!("{SAVED_CARD}{}", card.card_id),
        label: words.with(Message::SavedCard, &values),
        is_chosen: false,
    }
}

fn of_method(words: Words, method: PaymentMethod) -> Choice {
    let message = match method {
        PaymentMethod::Card => Message::Card,
        PaymentMethod::Installment => Message::Installment,
        PaymentMethod::PromptPay => Message::PromptPay,
        PaymentMethod::MobileBanking => Message::MobileBanking,
    };
    Choice {
        kind: ChoiceKind::of(method),
        value: method.name().to_owned(),
        label: words.with(message, &[]),
        is_chosen: false,
    }
}
