//! Checkouts: started, paid, ended, and what the outcome of a payment makes of them.

use super::context::{Context, Decision, nothing, profile};
use super::{actions, cards, customer, initiate, sdk};
use crate::card::SaveCard;
use crate::checkout::{Checkout, CheckoutAction, CheckoutRef, CheckoutRuling, CheckoutStatus, OPEN_CHECKOUTS_MAX};
use crate::command::{CheckoutChoice, InitiatePayment, PayCheckout, Selection, StartCheckout};
use crate::customer::{CustomerFields, CustomerRef};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::{CheckoutId, InstallationId, PaymentId, SessionId};
use crate::merchant::{Installation, Integration, PROMPT_PAY_MAX_MINOR, PaymentMethod, Platform};
use crate::money::AmountMinor;
use crate::payment::{CaptureMode, Payment, PaymentAction};
use crate::records::{
    Checkouts, CheckoutsByExternalId, Customers, MerchantState, Payments, Records, Sessions, Unreadable,
};
use crate::refusal::{DecisionError, MethodObstacle, Refusal};
use crate::session::{Instrument, SESSION_LIFETIME_SECONDS, Session};
use crate::text::ReturnUrl;
use crate::time::Millis;
use std::sync::Arc;

pub(super) fn start(
    records: &impl Records,
    command: &StartCheckout,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let state = records.state();
    let installation = state.installations.get(&command.installation_id).ok_or(Refusal::InstallationNotFound)?;
    check_page(installation, command.page_url.as_ref())?;
    let currency = profile(state)?.currency;
    if currency != command.money.currency {
        return Err(Refusal::CurrencyNotConfigured { currency }.into());
    }
    let methods = methods_left(state, command)?;
    if let Some(CustomerRef::Own(id)) = &command.customer.id
        && records.shared::<Customers>(*id)?.is_none()
    {
        return Err(Refusal::CustomerNotFound.into());
    }
    initiate::check_external_id(records, command.external_id.as_ref())?;
    if state.open_checkouts >= OPEN_CHECKOUTS_MAX {
        return Err(Refusal::TooManyOpenCheckouts { limit: OPEN_CHECKOUTS_MAX }.into());
    }
    let checkout = started(command, methods, context);
    let answer = Answer::Checkout(checkout.id);
    Ok((Decision::one(Event::CheckoutStarted(checkout)), answer))
}

/// The page that shows a checkout in a frame must be of the installation's web site. Identifiers of web sites are
/// origins in lower case.
fn check_page(installation: &Installation, page_url: Option<&ReturnUrl>) -> Result<(), Refusal> {
    let origin = (installation.platform == Platform::Web).then(|| installation.identifier.as_str());
    let is_of_origin = |page: &ReturnUrl| {
        let rest = origin.and_then(|origin| page.as_str().strip_prefix(origin));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
    };
    if page_url.is_none_or(is_of_origin) {
        return Ok(());
    }
    Err(Refusal::PageOfAnotherOrigin)
}

fn started(command: &StartCheckout, methods: Vec<PaymentMethod>, context: &mut Context<'_>) -> Checkout {
    Checkout {
        id: context.mint(),
        external_id: command.external_id.clone(),
        installation_id: command.installation_id,
        money: command.money,
        lines: command.lines.clone(),
        capture_mode: if command.capture { CaptureMode::Automatic } else { CaptureMode::Manual },
        methods,
        interest_bearer: command.interest_bearer,
        locale: command.locale,
        return_url: command.return_url.clone(),
        cancel_url: command.cancel_url.clone(),
        page_url: command.page_url.clone(),
        customer: command.customer.clone(),
        offers_saved_cards: command.offers_saved_cards,
        status: CheckoutStatus::Open,
        payments: Vec::new(),
        in_progress: false,
        closes: false,
        created_at: context.now,
        expires_at: context.now.plus_seconds(command.lifetime_seconds),
        ended_at: None,
    }
}

/// The methods that were asked for, or all, as far as they can pay the checkout now.
fn methods_left(state: &MerchantState, command: &StartCheckout) -> Result<Vec<PaymentMethod>, Refusal> {
    let asked = |method: PaymentMethod| command.methods.is_empty() || command.methods.contains(&method);
    let mode = if command.capture { CaptureMode::Automatic } else { CaptureMode::Manual };
    let obstacle =
        |method: PaymentMethod| obstacle(state.integrations.get(&method), method, mode, command.money.amount);
    let asked_ones = PaymentMethod::ALL.into_iter().filter(|method| asked(*method));
    let left: Vec<PaymentMethod> = asked_ones.filter(|method| obstacle(*method).is_none()).collect();
    if left.is_empty() {
        let obstacles = PaymentMethod::ALL.map(|method| obstacle(method).filter(|_| asked(method)));
        return Err(Refusal::NoMethodLeft { obstacles });
    }
    Ok(left)
}

/// Returns true when a method is enabled with this integration, captures as asked, and can carry the amount.
#[must_use]
pub fn can_pay(
    integration: Option<&Integration>,
    method: PaymentMethod,
    mode: CaptureMode,
    amount: AmountMinor,
) -> bool {
    obstacle(integration, method, mode, amount).is_none()
}

/// The reason for which a method cannot pay a checkout.
fn obstacle(
    integration: Option<&Integration>,
    method: PaymentMethod,
    mode: CaptureMode,
    amount: AmountMinor,
) -> Option<MethodObstacle> {
    let Some(integration) = integration.filter(|integration| integration.enabled) else {
        return Some(MethodObstacle::NotEnabled);
    };
    let authorizes = method.can_authorize_without_capture() && integration.authorizes_without_capture;
    if mode == CaptureMode::Manual && !authorizes {
        return Some(MethodObstacle::CapturesAtOnce);
    }
    let is_too_large = method == PaymentMethod::PromptPay && amount.get() > PROMPT_PAY_MAX_MINOR;
    is_too_large.then_some(MethodObstacle::AmountTooLarge)
}

/// The customer pays: at most one payment of the checkout is alive.
pub(super) fn pay(
    records: &impl Records,
    installation_id: InstallationId,
    command: &PayCheckout,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    if command.choice == CheckoutChoice::AcquirerPage && !records.state().has_card_page() {
        return Err(Refusal::CheckoutCardMissing.into());
    }
    let found = records.shared::<Checkouts>(command.checkout_id)?;
    let is_of_installation = |checkout: &Arc<Checkout>| checkout.installation_id == installation_id;
    let checkout = found.filter(is_of_installation).ok_or(Refusal::CheckoutNotFound)?;
    let newest = checkout.newest_payment().map_or(Ok(None), |id| records.shared::<Payments>(id))?;
    let takes_none = || Refusal::CheckoutState { status: checkout.status_at(context.now) };
    if is_unknown(records, &checkout, command.replaces)? {
        let is_over = checkout.status != CheckoutStatus::Completed && !checkout.takes_payments(context.now);
        return Err(if is_over { takes_none() } else { Refusal::ReplacedSessionNotFound }.into());
    }
    let given_up = newest.as_deref().filter(|newest| is_given_up(newest, command.replaces, context.now));
    match (checkout.stage().ruling(CheckoutAction::Pay), &newest) {
        (CheckoutRuling::SamePayment, Some(newest))
            if given_up.is_none() || checkout.status != CheckoutStatus::Open =>
        {
            Ok((Decision::nothing(), Answer::Session(newest.session_id)))
        }
        _ if !checkout.takes_payments(context.now) => Err(takes_none().into()),
        _ => new_payment(records, &checkout, given_up, command, context),
    }
}

/// True when the customer gives a session up that is none of the checkout's.
fn is_unknown(records: &impl Records, checkout: &Checkout, replaces: Option<SessionId>) -> Result<bool, Unreadable> {
    let Some(session_id) = replaces else { return Ok(false) };
    let payment_id = records.shared::<Sessions>(session_id)?.and_then(|session| session.payment_id);
    Ok(payment_id.is_none_or(|payment_id| !checkout.payments.contains(&payment_id)))
}

/// True when the customer gives this payment up, and can.
fn is_given_up(payment: &Payment, replaces: Option<SessionId>, now: Millis) -> bool {
    replaces == Some(payment.session_id) && payment.allows(PaymentAction::GiveUp, now)
}

fn new_payment(
    records: &impl Records,
    checkout: &Checkout,
    given_up: Option<&Payment>,
    command: &PayCheckout,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    if command.saves_card && !checkout.offers_saved_cards {
        return Err(Refusal::SavingNotOffered.into());
    }
    let instrument = instrument(records, checkout, &command.choice, context)?;
    let session = Session {
        id: context.mint(),
        installation_id: checkout.installation_id,
        money: checkout.money,
        customer: CustomerFields::default(),
        created_at: context.now,
        expires_at: context.now.plus_seconds(SESSION_LIFETIME_SECONDS),
        payment_id: None,
        instrument,
    };
    let initiation = initiation(checkout, &session, command);
    let (made, payment_id) = initiate::payment_of(records, &session, &initiation, Some(checkout.id), context)?;
    let mut decision = given_up.map_or_else(Decision::nothing, |payment| actions::given_up(payment, context.now));
    let (answer, token_used_up) = (Answer::Session(session.id), session.instrument.single_token());
    decision.events.push(Event::SessionCreated { session, token_used_up });
    decision.events.extend(made.events);
    decision.events.push(Event::CheckoutPaid { checkout_id: checkout.id, payment_id });
    decision.vault.extend(made.vault);
    Ok((decision, answer))
}

/// The instrument that the customer chose. A saved card is that of the checkout's customer, where it offers those.
fn instrument(
    records: &impl Records,
    checkout: &Checkout,
    choice: &CheckoutChoice,
    context: &Context<'_>,
) -> Result<Instrument, DecisionError> {
    let selection = match choice {
        CheckoutChoice::AcquirerPage => Selection::UnnamedCard,
        CheckoutChoice::Token(token_id) => Selection::Token(*token_id),
        CheckoutChoice::SavedCard(card) => Selection::SavedCard(card.clone()),
        CheckoutChoice::Installment(plan) => Selection::Installment(*plan, checkout.interest_bearer),
        CheckoutChoice::PromptPay => Selection::PromptPay,
        CheckoutChoice::MobileBanking => Selection::MobileBanking,
    };
    let method = selection.method();
    let integration = records.state().integrations.get(&method);
    let can_pay = can_pay(integration, method, checkout.capture_mode, checkout.money.amount);
    if !checkout.methods.contains(&method) || !can_pay {
        return Err(Refusal::MethodNotEnabled.into());
    }
    let instrument = sdk::instrument(records, &selection, context)?;
    if let CheckoutChoice::SavedCard(card) = choice {
        let owner = customer::referred(records, checkout.customer.id.as_ref().filter(|_| checkout.offers_saved_cards))?;
        let card = cards::find(records, card)?.filter(|card| Some(card.customer_id) == owner);
        card.ok_or(Refusal::CardNotFound)?;
    }
    Ok(instrument)
}

/// The payment as the merchant's call would initiate it.
fn initiation(checkout: &Checkout, session: &Session, command: &PayCheckout) -> InitiatePayment {
    InitiatePayment {
        external_id: checkout.external_id.clone(),
        capture: checkout.capture_mode == CaptureMode::Automatic,
        customer: checkout.customer.clone(),
        save_card: command.saves_card.then_some(SaveCard::Add),
        interest_bearer: session.instrument.interest_bearer(),
        ..InitiatePayment::of_session(session.id, checkout.money, checkout.return_url.clone())
    }
}

/// The merchant ends a checkout.
pub(super) fn expire(
    records: &impl Records,
    named: &CheckoutRef,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let id = records.id_of::<CheckoutsByExternalId>(named)?.ok_or(Refusal::CheckoutNotFound)?;
    let checkout = records.shared::<Checkouts>(id)?.ok_or(Refusal::CheckoutNotFound)?;
    let ended = expiry_event(&checkout, context.now).filter(|_| !checkout.closes);
    Ok(ended.map_or_else(nothing, |event| (Decision::one(event), Answer::Changed(true))))
}

/// The event of a checkout that ends now, or takes no new payment from now on.
fn expiry_event(checkout: &Checkout, at: Millis) -> Option<Event> {
    let checkout_id = checkout.id;
    match checkout.stage().ruling(CheckoutAction::Expire) {
        CheckoutRuling::Expires => Some(Event::CheckoutExpired { checkout_id, at }),
        CheckoutRuling::Closes => Some(Event::CheckoutClosed { checkout_id }),
        CheckoutRuling::Refused
        | CheckoutRuling::Nothing
        | CheckoutRuling::NewPayment
        | CheckoutRuling::SamePayment
        | CheckoutRuling::Completes
        | CheckoutRuling::Reopens => None,
    }
}

/// The time of an open checkout is over, or the customer fields of one that has ended are to be erased.
pub(super) fn event_when_due(records: &impl Records, id: CheckoutId, now: Millis) -> Result<Option<Event>, Unreadable> {
    let Some(checkout) = records.shared::<Checkouts>(id)?.filter(|checkout| checkout.due_at() <= now) else {
        return Ok(None);
    };
    let has_ended = checkout.ended_at.is_some();
    Ok(if has_ended { Some(Event::CheckoutCustomerErased { checkout_id: id }) } else { expiry_event(&checkout, now) })
}

/// The keys in the vault that go with these events.
pub(super) fn vault_writes(events: &[Event]) -> impl Iterator<Item = VaultWrite> + '_ {
    events.iter().filter_map(|event| {
        let Event::CheckoutCustomerErased { checkout_id } = event else { return None };
        Some(VaultWrite::ForgetCheckoutKey(*checkout_id))
    })
}

/// The changes of checkouts that follow from the outcomes of their payments.
pub(super) fn events_after_payments(
    records: &impl Records,
    recorded: &[Event],
    context: &Context<'_>,
) -> Result<Vec<Event>, Unreadable> {
    let mut events = Vec::new();
    for (payment_id, outcome) in recorded.iter().filter_map(Outcome::of) {
        let Some(payment) = records.shared::<Payments>(payment_id)? else { continue };
        let (Some(checkout_id), Some(action)) = (payment.checkout_id, outcome.action(&payment)) else { continue };
        let is_paid_anew =
            |event: &Event| matches!(event, Event::CheckoutPaid { checkout_id: of, .. } if *of == checkout_id);
        if recorded.iter().any(is_paid_anew) {
            continue;
        }
        let Some(checkout) = records.shared::<Checkouts>(checkout_id)? else { continue };
        events.extend(event_of_change(&checkout, &payment, action, context.now));
    }
    Ok(events)
}

/// The outcome of a payment.
#[derive(Clone, Copy)]
enum Outcome {
    Authorized,
    Captured,
    Ended,
}

impl Outcome {
    /// The outcome that an event records.
    const fn of(event: &Event) -> Option<(PaymentId, Outcome)> {
        if let Event::PaymentAuthorized { payment_id, .. } = event {
            Some((*payment_id, Outcome::Authorized))
        } else if let Event::PaymentCaptured { payment_id, .. } = event {
            Some((*payment_id, Outcome::Captured))
        } else if let Event::PaymentFailed { payment_id, .. }
        | Event::PaymentExpired { payment_id, .. }
        | Event::PaymentVoided { payment_id, .. } = event
        {
            Some((*payment_id, Outcome::Ended))
        } else {
            None
        }
    }

    /// The column of the table. A payment that is captured with its authorization succeeds once it is captured: until
    /// then its capture may be refused, and the payment fails.
    fn action(self, payment: &Payment) -> Option<CheckoutAction> {
        match (self, payment.capture_mode) {
            (Outcome::Authorized, CaptureMode::Automatic) => None,
            (Outcome::Authorized, CaptureMode::Manual) | (Outcome::Captured, _) => {
                Some(CheckoutAction::PaymentSucceeds)
            }
            (Outcome::Ended, _) => Some(CheckoutAction::PaymentEnds),
        }
    }
}

/// The change of a checkout after the outcome of a payment.
fn event_of_change(checkout: &Checkout, payment: &Payment, action: CheckoutAction, at: Millis) -> Option<Event> {
    if checkout.newest_payment() != Some(payment.id) {
        return None;
    }
    let checkout_id = checkout.id;
    match checkout.stage().ruling(action) {
        CheckoutRuling::Completes => Some(Event::CheckoutCompleted { checkout_id, at }),
        CheckoutRuling::Reopens if checkout.takes_payments(at) => Some(Event::CheckoutReopened { checkout_id }),
        CheckoutRuling::Reopens => Some(Event::CheckoutExpired { checkout_id, at }),
        CheckoutRuling::Refused
        | CheckoutRuling::Nothing
        | CheckoutRuling::NewPayment
        | CheckoutRuling::SamePayment
        | CheckoutRuling::Expires
        | CheckoutRuling::Closes => None,
    }
}
