//! initiate-payment-flow: contract, section 4, in its order.

use super::context::{Context, Decision};
use super::customer::{self, Linked};
use super::{cards, posting, token_queue, token_uses};
use crate::command::InitiatePayment;
use crate::customer::{CardRef, Contact, CustomerFields};
use crate::effect::{Effect, EffectKind};
use crate::event::{Answer, Event};
use crate::ids::{CheckoutId, PaymentId};
use crate::merchant::{Integration, PaymentMethod};
use crate::payment::{CaptureMode, Payment};
use crate::records::{CheckoutsByExternalId, MerchantState, Payments, PaymentsByExternalId, Records, Sessions};
use crate::refusal::{DecisionError, Refusal};
use crate::session::{Instrument, Session};
use crate::text::ExternalId;
use std::sync::Arc;

pub(super) fn initiate_payment(
    records: &impl Records,
    command: &InitiatePayment,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let session = active_session(records, command, context)?;
    let (decision, payment_id) = payment_of(records, &session, command, None, context)?;
    Ok((decision, Answer::Payment(payment_id)))
}

/// Makes a payment of a session that is active, or that the same decision creates for a checkout.
pub(super) fn payment_of(
    records: &impl Records,
    session: &Session,
    command: &InitiatePayment,
    checkout_id: Option<CheckoutId>,
    context: &mut Context<'_>,
) -> Result<(Decision, PaymentId), DecisionError> {
    let first_use = token_queue::first_payment(records, &session.instrument)?;
    if session.money != command.money {
        return Err(Refusal::AmountMismatch { given: command.money, session: session.money }.into());
    }
    let integration = integration(records.state(), session, command)?;
    check_interest_bearer(session, command)?;
    let given = command.customer.with_defaults(&session.customer);
    if let Instrument::SavedCard { card_id: _, owner, card: _ } = &session.instrument
        && checkout_id.is_none()
    {
        customer::check_owner(records, &given, *owner)?;
    }
    let named = customer::linking_fields(records, &command.customer, &session.customer)?;
    let linked = customer::link(records, &named, given.contact.email.as_ref(), context)?;
    let (instrument, linked) = instrument(records, session, command, linked)?;
    if checkout_id.is_none() {
        check_external_id(records, command.external_id.as_ref())?;
    }
    let customer = linked.as_ref();
    let payment = payment((command, checkout_id), session, integration, instrument, customer, &given, context);
    posting::check_room_for_credit(records.state(), payment.reserved_minor())?;
    posting::check_room_for_debit(records.state(), payment.reserved_minor())?;
    let token_id = payment.instrument.multiple_token();
    let used = token_id.map_or(Ok(None), |token_id| token_uses::used(records, token_id, payment.customer_id))?;
    let payment_id = payment.id;
    Ok((initiated(payment, linked, first_use.into_iter().chain(used), context), payment_id))
}

/// Refuses a reference that a payment or a checkout has.
pub(super) fn check_external_id(records: &impl Records, external_id: Option<&ExternalId>) -> Result<(), DecisionError> {
    let Some(external_id) = external_id else { return Ok(()) };
    if let Some(payment_id) = records.get::<PaymentsByExternalId>(external_id.clone())? {
        let checkout_id = records.shared::<Payments>(payment_id)?.and_then(|payment| payment.checkout_id);
        return Err(Refusal::ExternalIdTaken { payment_id: Some(payment_id), checkout_id }.into());
    }
    // Only a checkout that is open has a reference that none of its payments has.
    if records.state().open_checkouts > 0
        && let Some(checkout_id) = records.get::<CheckoutsByExternalId>(external_id.clone())?
    {
        return Err(Refusal::ExternalIdTaken { payment_id: None, checkout_id: Some(checkout_id) }.into());
    }
    Ok(())
}

/// The session with its id, or a refusal that names the payment which used it. A session whose saved card was forgotten
/// is no longer active.
fn active_session(
    records: &impl Records,
    command: &InitiatePayment,
    context: &Context<'_>,
) -> Result<Arc<Session>, DecisionError> {
    let Some(session) = records.shared::<Sessions>(command.session_id)? else {
        return Err(Refusal::SessionNotActive { payment_id: None }.into());
    };
    if !session.is_active(context.now) {
        return Err(Refusal::SessionNotActive { payment_id: session.payment_id }.into());
    }
    if let Instrument::SavedCard { card_id, owner: _, card: _ } = &session.instrument
        && cards::find(records, &CardRef::Own(*card_id))?.is_none()
    {
        return Err(Refusal::SessionNotActive { payment_id: None }.into());
    }
    Ok(session)
}

fn integration(state: &MerchantState, session: &Session, command: &InitiatePayment) -> Result<Integration, Refusal> {
    let found = state.integrations.get(&session.instrument.method()).filter(|integration| integration.enabled);
    let integration = found.ok_or(Refusal::MethodNotEnabled)?;
    let authorizes =
        session.instrument.method().can_authorize_without_capture() && integration.authorizes_without_capture;
    if !command.capture && !authorizes {
        return Err(Refusal::AuthorizationOnlyNotSupported);
    }
    let has_card = session.instrument != Instrument::UnnamedCard || command.card.is_some();
    if session.instrument.method() == PaymentMethod::Card && has_card && state.has_card_page() {
        return Err(Refusal::CardEnteredAtAcquirer);
    }
    Ok(*integration)
}

fn check_interest_bearer(session: &Session, command: &InitiatePayment) -> Result<(), Refusal> {
    let Some(fixed) = session.instrument.interest_bearer() else { return Ok(()) };
    match command.interest_bearer {
        None => Err(Refusal::InterestBearerMissing { fixed }),
        Some(given) if given == fixed => Ok(()),
        Some(_) => Err(Refusal::InterestBearerMismatch { fixed }),
    }
}

/// The instrument that pays. A card session without token and saved card takes the card that its customer enters at the
/// acquirer's page where there is one, else the card that the call names, of the named customer; when no customer is
/// named, the card's owner is the customer.
fn instrument(
    records: &impl Records,
    session: &Session,
    command: &InitiatePayment,
    linked: Option<Linked>,
) -> Result<(Instrument, Option<Linked>), DecisionError> {
    if session.instrument != Instrument::UnnamedCard {
        return Ok((session.instrument.clone(), linked));
    }
    if records.state().has_card_page() {
        return Ok((Instrument::AcquirerPage { card: None }, linked));
    }
    let named = command.card.as_ref().ok_or(Refusal::CardIdMissing)?;
    let card = cards::find(records, named)?.ok_or(Refusal::CardNotFound)?;
    if linked.as_ref().is_some_and(|linked| linked.is_new || linked.customer.id != card.customer_id) {
        return Err(Refusal::CardNotFound.into());
    }
    let linked = match linked {
        Some(linked) => linked,
        None => customer::existing(records, card.customer_id)?,
    };
    let facts = card.card.without_holder();
    let instrument = Instrument::SavedCard { card_id: card.id, owner: card.customer_id, card: facts };
    Ok((instrument, Some(linked)))
}

fn payment(
    (command, checkout_id): (&InitiatePayment, Option<CheckoutId>),
    session: &Session,
    integration: Integration,
    instrument: Instrument,
    linked: Option<&Linked>,
    given: &CustomerFields,
    context: &mut Context<'_>,
) -> Payment {
    let of_session = (session.id, session.money, instrument);
    let return_url = command.return_url.clone();
    Payment {
        external_id: command.external_id.clone(),
        checkout_id,
        capture_mode: if command.capture { CaptureMode::Automatic } else { CaptureMode::Manual },
        customer_id: linked.map(|linked| linked.customer.id),
        contact: contact(given, linked),
        save_card: command.save_card,
        ..Payment::of_session(context.mint(), of_session, integration.acquirer, return_url, context.now)
    }
}

/// The given fields stay with the payment; the missing ones are taken from the customer.
fn contact(given: &CustomerFields, linked: Option<&Linked>) -> Contact {
    let known = linked.map(|linked| &linked.customer);
    let given = given.contact.clone();
    Contact {
        email: given.email.or_else(|| known.and_then(|customer| customer.email.clone())),
        mobile: given.mobile.or_else(|| known.and_then(|customer| customer.mobile.clone())),
        name: given.name.or_else(|| known.and_then(|customer| customer.name.clone())),
    }
}

fn initiated(
    payment: Payment,
    linked: Option<Linked>,
    uses: impl Iterator<Item = Event>,
    context: &Context<'_>,
) -> Decision {
    let effect = Effect { payment_id: payment.id, kind: EffectKind::Authorize, opened_at: context.now };
    let mut events: Vec<Event> = linked.and_then(|linked| linked.event).into_iter().chain(uses).collect();
    events.push(Event::PaymentInitiated { payment: Arc::new(payment), effect });
    Decision { events, vault: Vec::new() }
}
