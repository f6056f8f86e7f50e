//! Saved cards: saving one by a call or with a payment, making one the default, and forgetting one.

use super::contacts;
use super::context::{Context, Decision};
use super::token_uses;
use crate::card::{Card, CardExpiry, CardFacts, CardFingerprint, SAVED_CARDS_MAX, SaveCard, TokenUsage};
use crate::command::SaveCardOfToken;
use crate::customer::{CardRef, Customer, CustomerRef};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::{CardId, CustomerId, TokenId};
use crate::payment::Payment;
use crate::records::{
    Cards, CardsByExternalId, CardsByFingerprint, CustomerCards, Customers, Records, Tokens, Unreadable,
};
use crate::refusal::{DecisionError, Refusal};
use crate::session::Instrument;
use crate::text::{ExternalId, HolderName};

/// A card that is to be saved, with its owner and identifier.
struct ToSave<'a> {
    customer: &'a Customer,
    token_id: TokenId,
    facts: CardFacts,
    external_id: Option<&'a ExternalId>,
    is_default: bool,
}

pub(super) fn save(
    records: &impl Records,
    command: &SaveCardOfToken,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let customer = contacts::find(records, &command.customer)?;
    let token = records.get::<Tokens>(command.token_id)?.ok_or(Refusal::TokenNotFound)?;
    if token.usage == TokenUsage::Single {
        return Err(Refusal::TokenForOneUse.into());
    }
    if token.has_ended(context.now) || token_uses::is_erased(records, token.id)? {
        return Err(Refusal::TokenNotFound.into());
    }
    let saved_before = saved_before(records, customer.id, token.card.fingerprint)?;
    check_external_id(records, command.external_id.as_ref(), saved_before.as_ref())?;
    let holder = token.card.holder.clone();
    let to_save = ToSave {
        customer: &customer,
        token_id: token.id,
        facts: CardFacts { holder, ..token.card },
        external_id: command.external_id.as_ref(),
        is_default: command.is_default,
    };
    let used = token_uses::used(records, token.id, Some(customer.id))?;
    let mut decision = Decision { events: used.into_iter().collect(), vault: Vec::new() };
    let card_id = match saved_before {
        Some(card) => save_again(&card, &to_save, &mut decision, context),
        None if is_full(records, customer.id)? => {
            return Err(Refusal::TooMany { kind: "saved cards of this customer", limit: SAVED_CARDS_MAX }.into());
        }
        None => save_new(to_save, &mut decision, context),
    };
    Ok((decision, Answer::Card(card_id)))
}

/// Saves the card of a multi-use token if the merchant asked for it and a customer is known. An obstacle to that, also
/// a row that cannot be read, is no reason to fail the payment.
pub(super) fn save_with_payment(
    records: &impl Records,
    payment: &Payment,
    decision: &mut Decision,
    context: &mut Context<'_>,
) {
    let (Some(save_card), Some(customer_id), Some((token_id, facts))) =
        (payment.save_card, payment.customer_id, savable(&payment.instrument))
    else {
        return;
    };
    let Ok(Some(customer)) = records.shared::<Customers>(customer_id) else { return };
    // The token may have gone while the customer acted: then its number cannot be kept.
    let Ok(Some(_)) = records.shared::<Tokens>(token_id) else { return };
    let is_default = save_card == SaveCard::Default;
    let facts = CardFacts { holder: holder(records, token_id), ..facts.clone() };
    let to_save = ToSave { customer: &customer, token_id, facts, external_id: None, is_default };
    match saved_before(records, customer_id, to_save.facts.fingerprint) {
        Ok(Some(card)) => {
            save_again(&card, &to_save, decision, context);
        }
        Ok(None) if is_full(records, customer_id) == Ok(false) => {
            save_new(to_save, decision, context);
        }
        Ok(None) | Err(Unreadable { reason: _ }) => {}
    }
}

pub(super) fn set_default(
    records: &impl Records,
    customer: &CustomerRef,
    card: &CardRef,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let customer = contacts::find(records, customer)?;
    let card = own_card(records, &customer, card)?;
    if card.deleted_at.is_some() {
        return Err(Refusal::CardNotFound.into());
    }
    if customer.default_card_id == Some(card.id) {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    }
    let set = Event::DefaultCardSet { customer_id: customer.id, card_id: card.id, at: context.now };
    Ok((Decision::one(set), Answer::Changed(true)))
}

pub(super) fn forget(
    records: &impl Records,
    customer: &CustomerRef,
    card: &CardRef,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let customer = contacts::find(records, customer)?;
    let card = own_card(records, &customer, card)?;
    if card.deleted_at.is_some() {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    }
    let default_card_id = match customer.default_card_id {
        Some(default) if default == card.id => newest_other(records, &card)?,
        default => default,
    };
    let forgotten =
        Event::CardForgotten { customer_id: customer.id, card_id: card.id, default_card_id, at: context.now };
    let erased = token_uses::erase_with_card(records, &card)?;
    let decision = Decision::one(forgotten).with_vault(VaultWrite::ForgetCardNumber(card.id)).with_erasures(erased);
    Ok((decision, Answer::Changed(true)))
}

/// The saved card that a call names, unless it was forgotten. Its owner is not checked.
pub(super) fn find(records: &impl Records, card: &CardRef) -> Result<Option<Card>, Unreadable> {
    Ok(find_any(records, card)?.filter(|card| card.deleted_at.is_none()))
}

fn find_any(records: &impl Records, card: &CardRef) -> Result<Option<Card>, Unreadable> {
    let id = records.id_of::<CardsByExternalId>(card)?;
    id.map_or(Ok(None), |id| records.get::<Cards>(id))
}

fn own_card(records: &impl Records, customer: &Customer, card: &CardRef) -> Result<Card, DecisionError> {
    let found = find_any(records, card)?.filter(|card| card.customer_id == customer.id);
    Ok(found.ok_or(Refusal::CardNotFound)?)
}

fn newest_other(records: &impl Records, card: &Card) -> Result<Option<CardId>, Unreadable> {
    let cards = records.get::<CustomerCards>(card.customer_id)?.unwrap_or_default();
    Ok(cards.into_iter().rev().find(|other| *other != card.id))
}

fn check_external_id(
    records: &impl Records,
    external_id: Option<&ExternalId>,
    saved_before: Option<&Card>,
) -> Result<(), DecisionError> {
    let Some(external_id) = external_id else { return Ok(()) };
    let holder = records.get::<CardsByExternalId>(external_id.clone())?;
    if let Some(card_id) = holder.filter(|holder| Some(*holder) != saved_before.map(|card| card.id)) {
        return Err(Refusal::CardExternalIdTaken { card_id }.into());
    }
    let other = saved_before.filter(|card| card.external_id.as_ref().is_some_and(|own| own != external_id));
    other.map_or(Ok(()), |card| Err(Refusal::CardHasExternalId { card_id: card.id }.into()))
}

/// The customer's saved card with this number.
fn saved_before(
    records: &impl Records,
    customer_id: CustomerId,
    fingerprint: CardFingerprint,
) -> Result<Option<Card>, Unreadable> {
    let card_id = records.get::<CardsByFingerprint>((customer_id, fingerprint))?;
    card_id.map_or(Ok(None), |card_id| records.get::<Cards>(card_id))
}

fn is_full(records: &impl Records, customer_id: CustomerId) -> Result<bool, Unreadable> {
    let cards = records.shared::<CustomerCards>(customer_id)?;
    Ok(cards.is_some_and(|cards| cards.len() >= SAVED_CARDS_MAX))
}

fn savable(instrument: &Instrument) -> Option<(TokenId, &CardFacts)> {
    match instrument {
        Instrument::Token { token_id, usage: TokenUsage::Multiple, card } => Some((*token_id, card)),
        Instrument::Token { token_id: _, usage: TokenUsage::Single, card: _ }
        | Instrument::UnnamedCard
        | Instrument::SavedCard { .. }
        | Instrument::Installment { .. }
        | Instrument::PromptPay
        | Instrument::MobileBanking
        | Instrument::AcquirerPage { .. } => None,
    }
}

/// The name on the card of a token. It is absent when it cannot be read, since the payment can go on without it.
fn holder(records: &impl Records, token_id: TokenId) -> Option<HolderName> {
    let token = records.shared::<Tokens>(token_id).ok().flatten();
    token.and_then(|token| token.card.holder.clone())
}

/// The card keeps its id. Its expiry may change, and it may become the default.
fn save_again(card: &Card, again: &ToSave<'_>, decision: &mut Decision, context: &Context<'_>) -> CardId {
    let (customer_id, card_id) = (again.customer.id, card.id);
    let expiry: CardExpiry = again.facts.expiry;
    let external_id = again.external_id.filter(|_| card.external_id.is_none()).cloned();
    if expiry != card.card.expiry || external_id.is_some() {
        decision.events.push(Event::CardRenewed { card_id, expiry, external_id });
    }
    if again.is_default && again.customer.default_card_id != Some(card_id) {
        decision.events.push(Event::DefaultCardSet { customer_id, card_id, at: context.now });
    }
    card_id
}

fn save_new(new: ToSave<'_>, decision: &mut Decision, context: &mut Context<'_>) -> CardId {
    let card = Card {
        id: context.mint(),
        customer_id: new.customer.id,
        external_id: new.external_id.cloned(),
        card: new.facts,
        created_at: context.now,
        deleted_at: None,
    };
    let card_id = card.id;
    decision.vault.push(VaultWrite::CopyTokenNumber(new.token_id, card_id));
    decision.events.push(Event::CardSaved { card, is_default: new.is_default, at: context.now });
    card_id
}
