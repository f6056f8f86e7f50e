//! What the acquirer's answers change. A result for a closed effect changes nothing.

use super::context::{Context, Decision, profile};
use super::posting;
use crate::activity::{Activity, ActivityObject, ActivityType, Actor};
use crate::card::{Card, CardFacts, CardFingerprint, CardHolder, SaveCard, TokenUsage};
use crate::command::AuthorizationResult;
use crate::effect::{EffectId, EffectKind};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::{CardId, CustomerId, PaymentId, TokenId};
use crate::merchant::Integration;
use crate::payment::{
    AUTHORIZATION_LIFETIME_SECONDS, Authorization, Capture, CaptureMode, Failure, Payment, PaymentAction,
};
use crate::records::{CardsByFingerprint, Customers, Effects, Payments, Records, Tokens, Unreadable};
use crate::refusal::Stop;
use crate::session::Instrument;
use std::sync::Arc;

pub(super) fn record_authorization(
    records: &impl Records,
    payment_id: PaymentId,
    result: &AuthorizationResult,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Stop> {
    let Some(payment) = awaiting(records, payment_id, EffectKind::Authorize)? else {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    };
    let decision = match result {
        AuthorizationResult::Declined { code, message } => {
            let failure = Failure { code: code.clone(), message: message.clone() };
            let released_minor = payment.money.amount.get();
            Decision::one(Event::PaymentFailed { payment_id, released_minor, failure })
        }
        AuthorizationResult::Approved { acquirer_reference, captured, settles_at_once } => {
            let captured = *captured && payment.capture_mode == CaptureMode::Automatic;
            let mut decision = authorized(&payment, acquirer_reference, captured, context);
            if captured {
                decision.events.push(capture(records, &payment, *settles_at_once, context)?);
            }
            save_card(records, &payment, &mut decision, context);
            decision
        }
    };
    Ok((decision, Answer::Changed(true)))
}

pub(super) fn record_void(
    records: &impl Records,
    payment_id: PaymentId,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Stop> {
    let Some(payment) = awaiting(records, payment_id, EffectKind::Void)? else {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    };
    let activity = activity(ActivityType::PaymentVoided, payment_id, context);
    let released_minor = payment.money.amount.get();
    let event = Event::PaymentVoided { payment_id, released_minor, activity };
    Ok((Decision::one(event), Answer::Changed(true)))
}

/// The payment whose open effect is of this kind and to which its result can still be recorded.
fn awaiting(
    records: &impl Records,
    payment_id: PaymentId,
    kind: EffectKind,
) -> Result<Option<Arc<Payment>>, Unreadable> {
    let operation = records.shared::<Effects>(EffectId::operation(payment_id))?;
    let open = operation.is_some_and(|effect| effect.kind == kind);
    let payment = if open { records.shared::<Payments>(payment_id)? } else { None };
    let action = match kind {
        EffectKind::Authorize => PaymentAction::RecordAuthorization,
        EffectKind::Void => PaymentAction::Void,
    };
    Ok(payment.filter(|payment| action.is_legal_in(payment.status)))
}

fn authorized(payment: &Payment, reference: &str, captured: bool, context: &Context<'_>) -> Decision {
    let lapses_at = context.now.plus_seconds(AUTHORIZATION_LIFETIME_SECONDS);
    let authorization = Authorization {
        acquirer_reference: reference.to_owned(),
        at: context.now,
        lapses_at: (!captured).then_some(lapses_at),
    };
    Decision::one(Event::PaymentAuthorized { payment_id: payment.id, authorization })
}

/// The whole amount captured by Till itself, with the fee of this moment.
fn capture(
    records: &impl Records,
    payment: &Payment,
    settles_at_once: bool,
    context: &mut Context<'_>,
) -> Result<Event, Stop> {
    let state = records.state();
    let method = payment.instrument.method();
    let fee = state.integrations.get(&method).copied().unwrap_or(Integration::initial()).fee;
    let delay_seconds = if settles_at_once { 0 } else { profile(state)?.settlement_delay_seconds };
    let settles_at = context.now.plus_seconds(delay_seconds);
    let amount = payment.money.amount;
    let fee_minor = fee.fee_minor(amount);
    let transaction = posting::capture(payment.id, amount, fee_minor, payment.money.currency, settles_at, context);
    let capture =
        Capture { amount_minor: amount.get(), fee_minor, transaction_id: transaction.id, at: context.now, settles_at };
    let activity = activity(ActivityType::PaymentCaptured, payment.id, context);
    let released_minor = amount.get();
    Ok(Event::PaymentCaptured { payment_id: payment.id, released_minor, capture, transaction, activity })
}

/// What Till itself did to a payment.
fn activity(activity_type: ActivityType, payment_id: PaymentId, context: &mut Context<'_>) -> Activity {
    let object = ActivityObject::Payment(payment_id);
    Activity::new(context.mint(), context.now, activity_type, Actor::System, object)
}

/// Saves the card of a multi-use token if the merchant asked for it and a customer is known. Whatever
/// stands in the way of that, a row that cannot be read included, is no reason to fail the payment.
fn save_card(records: &impl Records, payment: &Payment, decision: &mut Decision, context: &mut Context<'_>) {
    let (Some(wish), Some(customer_id), Some((token_id, card))) =
        (payment.save_card, payment.customer_id, savable(&payment.instrument))
    else {
        return;
    };
    let is_default = wish == SaveCard::Default;
    match saved_before(records, customer_id, card.fingerprint) {
        Ok(Some(card_id)) if is_default => {
            decision.events.push(Event::DefaultCardSet { customer_id, card_id, at: context.now });
        }
        Ok(Some(_)) | Err(Unreadable { reason: _ }) => {}
        Ok(None) => {
            let card = CardFacts { holder: holder(records, token_id), ..card.clone() };
            keep_card(customer_id, token_id, card, is_default, decision, context);
        }
    }
}

/// The name on the card of a token. None when it cannot be had, as long as the payment can go on.
fn holder(records: &impl Records, token_id: TokenId) -> CardHolder {
    let token = records.shared::<Tokens>(token_id).ok().flatten();
    token.map_or(CardHolder::Absent, |token| token.card.holder.to_record())
}

/// The card that the customer has saved of this number. What is decided upon it changes the customer's row, so that
/// this must be readable, too.
fn saved_before(
    records: &impl Records,
    customer_id: CustomerId,
    fingerprint: CardFingerprint,
) -> Result<Option<CardId>, Unreadable> {
    let customer = records.shared::<Customers>(customer_id)?;
    customer.ok_or_else(|| Unreadable { reason: "a payment's customer is not there".to_owned() })?;
    records.get::<CardsByFingerprint>((customer_id, fingerprint))
}

fn savable(instrument: &Instrument) -> Option<(TokenId, &CardFacts)> {
    match instrument {
        Instrument::Token { token_id, usage: TokenUsage::Multiple, card } => Some((*token_id, card)),
        Instrument::Token { token_id: _, usage: TokenUsage::Single, card: _ }
        | Instrument::UnnamedCard
        | Instrument::SavedCard { .. }
        | Instrument::Installment { .. } => None,
    }
}

fn keep_card(
    customer_id: CustomerId,
    token_id: TokenId,
    facts: CardFacts,
    is_default: bool,
    decision: &mut Decision,
    context: &mut Context<'_>,
) {
    let card = Card { id: context.mint(), customer_id, external_id: None, card: facts, created_at: context.now };
    decision.vault.push(VaultWrite::CopyTokenNumber(token_id, card.id));
    decision.events.push(Event::CardSaved { card, is_default, at: context.now });
}
