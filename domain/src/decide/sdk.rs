//! The commands of a customer's client: tokens and payment sessions.

use super::context::{Context, Decision, profile};
use super::{cards, token_queue, token_uses};
use crate::card::{SINGLE_TOKEN_LIFETIME_SECONDS, Token, TokenUsage};
use crate::command::{SelectPaymentMethod, Selection, TokenizeCard};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::{InstallationId, TokenId};
use crate::records::{Records, Tokens};
use crate::refusal::{DecisionError, Refusal};
use crate::session::{Instrument, SESSION_LIFETIME_SECONDS, Session};

pub(super) fn tokenize_card(
    records: &impl Records,
    installation_id: InstallationId,
    command: &TokenizeCard,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    if records.state().has_card_page() {
        return Err(Refusal::CardEnteredAtAcquirer.into());
    }
    let single = command.usage == TokenUsage::Single;
    let token = Token {
        id: context.mint(),
        installation_id,
        card: command.card.clone(),
        usage: command.usage,
        created_at: context.now,
        expires_at: single.then_some(context.now.plus_seconds(SINGLE_TOKEN_LIFETIME_SECONDS)),
        used: false,
    };
    let answer = Answer::Token(token.id);
    let keep_number = VaultWrite::KeepTokenNumber(token.id);
    let mut decision = Decision::one(Event::CardTokenized(token.clone())).with_vault(keep_number);
    if token.awaits_first_payment() {
        token_queue::queue(records, &token, &mut decision, context)?;
    }
    Ok((decision, answer))
}

pub(super) fn select_payment_method(
    records: &impl Records,
    installation_id: InstallationId,
    command: &SelectPaymentMethod,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let state = records.state();
    let currency = profile(state)?.currency;
    if currency != command.money.currency {
        return Err(Refusal::CurrencyNotConfigured { currency }.into());
    }
    let enabled = state.integrations.get(&command.selection.method()).is_some_and(|found| found.enabled);
    if !enabled {
        return Err(Refusal::MethodNotEnabled.into());
    }
    let instrument = instrument(records, &command.selection, context)?;
    let session = Session {
        id: context.mint(),
        installation_id,
        money: command.money,
        customer: command.customer.clone(),
        created_at: context.now,
        expires_at: context.now.plus_seconds(SESSION_LIFETIME_SECONDS),
        payment_id: None,
        instrument,
    };
    let answer = Answer::Session(session.id);
    let token_used_up = session.instrument.single_token();
    Ok((Decision::one(Event::SessionCreated { session, token_used_up }), answer))
}

/// The instrument of a selection. Its token or saved card must exist; where cards are entered at the acquirer, it has
/// none.
pub(super) fn instrument(
    records: &impl Records,
    selection: &Selection,
    context: &Context<'_>,
) -> Result<Instrument, DecisionError> {
    if matches!(selection, Selection::Token(_) | Selection::SavedCard(_)) && records.state().has_card_page() {
        return Err(Refusal::CardEnteredAtAcquirer.into());
    }
    match selection {
        Selection::UnnamedCard => Ok(Instrument::UnnamedCard),
        Selection::Token(token_id) => {
            let token = usable_token(records, *token_id, context)?;
            Ok(Instrument::Token { token_id: token.id, usage: token.usage, card: token.card.without_holder() })
        }
        Selection::SavedCard(card) => {
            let card = cards::find(records, card)?.ok_or(Refusal::CardNotFound)?;
            Ok(Instrument::SavedCard { card_id: card.id, owner: card.customer_id, card: card.card.without_holder() })
        }
        Selection::PromptPay => Ok(Instrument::PromptPay),
        Selection::MobileBanking => Ok(Instrument::MobileBanking),
        Selection::Installment(plan, interest_bearer) => {
            Ok(Instrument::Installment { plan: *plan, interest_bearer: *interest_bearer })
        }
    }
}

fn usable_token(records: &impl Records, token_id: TokenId, context: &Context<'_>) -> Result<Token, DecisionError> {
    let token = records.get::<Tokens>(token_id)?.ok_or(Refusal::TokenNotFound)?;
    if token.is_used_up() {
        return Err(Refusal::TokenAlreadyUsed.into());
    }
    if token.has_ended(context.now)
        || (token.usage == TokenUsage::Multiple && token_uses::is_erased(records, token_id)?)
    {
        return Err(Refusal::TokenNotFound.into());
    }
    Ok(token)
}
