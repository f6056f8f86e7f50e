//! The operator's commands: merchants, payment methods, the balance.

use super::context::{Context, Decision, check_unused, profile};
use super::{acquirer_accounts, posting};
use crate::command::{AddTopup, ChargeInvoice, CreateMerchant, PublicAddress, UpdateMerchant};
use crate::event::{Answer, Event};
use crate::ids::AcquirerId;
use crate::ledger::{Invoice, Topup};
use crate::merchant::{Integration, PaymentMethod, Profile, TestClock};
use crate::money::Money;
use crate::records::{InvoicesByExternalId, MerchantState, Records, TopupsByExternalId};
use crate::refusal::{DecisionError, Refusal};

pub(super) fn create_merchant(
    state: &MerchantState,
    command: &CreateMerchant,
    context: &Context<'_>,
) -> (Decision, Answer) {
    let answer = Answer::Merchant(command.merchant_id);
    if state.profile.is_some() {
        return (Decision::nothing(), answer);
    }
    let profile = Profile {
        name: command.name.clone(),
        currency: command.currency,
        time_zone: command.time_zone.clone(),
        settlement_delay_seconds: command.settlement_delay_seconds,
        support_email: command.support_email.clone(),
        created_at: context.now,
        suspended: false,
        card_numbers_in_identifiers: command.card_numbers_in_identifiers,
        color: None,
    };
    let integrations = PaymentMethod::ON_AT_FIRST.into_iter().map(|method| (method, Integration::initial())).collect();
    let merchant_id = command.merchant_id;
    let created = Event::MerchantCreated { merchant_id, profile, integrations };
    let test_clock = command.test_clock.then(|| Event::TestClockSet { merchant_id, test_clock: TestClock::default() });
    let events = [created].into_iter().chain(test_clock).collect();
    (Decision { events, vault: Vec::new() }, answer)
}

pub(super) fn set_suspended(state: &MerchantState, suspended: bool) -> (Decision, Answer) {
    let changes = state.profile.as_ref().is_some_and(|profile| profile.suspended != suspended);
    let decision = if changes { Decision::one(Event::SuspensionChanged { suspended }) } else { Decision::nothing() };
    (decision, Answer::Changed(changes))
}

pub(super) fn update_merchant(state: &MerchantState, command: &UpdateMerchant) -> Result<(Decision, Answer), Refusal> {
    let now = profile(state)?;
    let allowed = command.card_numbers_in_identifiers.filter(|allowed| *allowed != now.card_numbers_in_identifiers);
    let color = command.color.filter(|color| Some(*color) != now.color);
    let allowed = allowed.map(|allowed| Event::CardNumbersInIdentifiersChanged { allowed });
    let events: Vec<Event> = allowed.into_iter().chain(color.map(|color| Event::ColorChanged { color })).collect();
    let changed = Answer::Changed(!events.is_empty());
    Ok((Decision { events, vault: Vec::new() }, changed))
}

pub(super) fn configure_payment_method(
    state: &MerchantState,
    method: PaymentMethod,
    integration: Integration,
    account: Option<(AcquirerId, PublicAddress)>,
) -> Result<(Decision, Answer), Refusal> {
    if let Some(currency) = method.only_currency().filter(|only| profile(state).is_ok_and(|it| it.currency != *only)) {
        return Err(Refusal::MethodOfOtherCurrency { currency });
    }
    let acquirer = acquirer_accounts::configurable(state, method, account)?;
    let integration = Integration { acquirer, ..integration };
    let changes = state.integrations.get(&method) != Some(&integration);
    let event = Event::PaymentMethodConfigured { method, integration };
    let decision = if changes { Decision::one(event) } else { Decision::nothing() };
    Ok((decision, Answer::Changed(changes)))
}

pub(super) fn open_balance(state: &MerchantState) -> (Decision, Answer) {
    if state.balance.is_some() {
        return (Decision::nothing(), Answer::Changed(false));
    }
    (Decision::one(Event::BalanceOpened), Answer::Changed(true))
}

pub(super) fn add_topup(
    records: &impl Records,
    command: &AddTopup,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let external_id = command.external_id.as_ref();
    check_unused::<TopupsByExternalId>(records, external_id, |topup_id| Refusal::TopupExternalIdTaken { topup_id })?;
    let state = records.state();
    posting::check_room_for_credit(state, command.amount.get())?;
    let money = Money { amount: command.amount, currency: profile(state)?.currency };
    let topup_id = context.mint();
    let transaction = posting::topup(topup_id, money, context);
    let topup = Topup {
        id: topup_id,
        external_id: command.external_id.clone(),
        amount: command.amount,
        transaction_id: transaction.id,
        created_at: context.now,
    };
    Ok((Decision::one(Event::TopupAdded { topup, transaction }), Answer::Topup(topup_id)))
}

/// An invoice may make the available balance negative.
pub(super) fn charge_invoice(
    records: &impl Records,
    command: &ChargeInvoice,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let external_id = command.external_id.as_ref();
    check_unused::<InvoicesByExternalId>(records, external_id, |invoice_id| Refusal::InvoiceExternalIdTaken {
        invoice_id,
    })?;
    let state = records.state();
    posting::check_room_for_debit(state, command.amount.get())?;
    let money = Money { amount: command.amount, currency: profile(state)?.currency };
    let invoice_id = context.mint();
    let transaction = posting::invoice(invoice_id, money, context);
    let invoice = Invoice {
        id: invoice_id,
        external_id: command.external_id.clone(),
        amount: command.amount,
        description: command.description.clone(),
        transaction_id: transaction.id,
        created_at: context.now,
    };
    Ok((Decision::one(Event::InvoiceCharged { invoice, transaction }), Answer::Invoice(invoice_id)))
}
