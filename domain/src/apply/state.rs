//! The fold into a merchant's bounded state. It never reads rows.

use super::disputes;
use crate::event::{Event, Mutation};
use crate::ledger::{BalanceTotals, Transaction};
use crate::payment::Payment;
use crate::records::MerchantState;
use crate::webhook::WebhookStatus;

/// Folds one mutation into the bounded state.
pub fn apply_state(mutation: &Mutation, state: &mut MerchantState) {
    state.last_at = mutation.at;
    state.last_id = mutation.last_id;
    for event in &mutation.events {
        apply(event, state);
    }
}

fn apply(event: &Event, state: &mut MerchantState) {
    match event {
        Event::MerchantCreated { merchant_id: _, profile, integrations } => {
            state.profile = Some(profile.clone());
            state.integrations = integrations.iter().copied().collect();
        }
        Event::SuspensionChanged { suspended } => {
            if let Some(profile) = &mut state.profile {
                profile.suspended = *suspended;
            }
        }
        Event::CardNumbersInIdentifiersChanged { allowed } => {
            if let Some(profile) = &mut state.profile {
                profile.card_numbers_in_identifiers = *allowed;
            }
        }
        Event::ColorChanged { color } => {
            if let Some(profile) = &mut state.profile {
                profile.color = Some(*color);
            }
        }
        Event::TestClockSet { merchant_id: _, test_clock } => state.test_clock = Some(*test_clock),
        Event::KeyGenerated { merchant_id: _, key } => {
            state.keys.insert(key.id, key.clone());
        }
        Event::KeyRevoked { key_id, at } => {
            if let Some(key) = state.keys.get_mut(key_id) {
                key.revoked_at = Some(*at);
            }
        }
        Event::KeyRenamed { key_id, name } => {
            if let Some(key) = state.keys.get_mut(key_id) {
                key.name = name.clone();
            }
        }
        Event::InstallationAdded(installation) | Event::InstallationUpdated(installation) => {
            state.installations.insert(installation.id, installation.clone());
        }
        Event::InstallationRemoved { installation_id } => {
            state.installations.remove(installation_id);
        }
        Event::PaymentMethodConfigured { method, integration } => {
            state.integrations.insert(*method, *integration);
        }
        Event::AcquirerSaved { merchant_id: _, account } => {
            state.acquirers.insert(account.id, account.clone());
        }
        Event::AcquirerRemoved { acquirer_id } => {
            state.acquirers.remove(acquirer_id);
        }
        Event::BalanceOpened => {
            state.balance.get_or_insert_default();
        }
        Event::TopupAdded { topup: _, transaction } | Event::InvoiceCharged { invoice: _, transaction } => {
            post(transaction, state);
        }
        Event::PaymentInitiated { payment, effect: _ } => {
            state.mode_of_payments.get_or_insert(state.mode_at(payment.acquirer));
            reserve(payment, state);
        }
        Event::PaymentFailed { payment_id: _, released_minor, failure: _, authentication: _ }
        | Event::PaymentExpired { payment_id: _, released_minor, failure: _ }
        | Event::PaymentVoided { payment_id: _, released_minor, activity: _ } => release(*released_minor, state),
        Event::PaymentCaptured { payment_id: _, released_minor, capture: _, transaction, activity: _ } => {
            release(*released_minor, state);
            post(transaction, state);
        }
        Event::TransactionSettled { transaction_id: _, settles_at: _, credit_minor, debit_minor, at: _ } => {
            change_balance(state, |totals| totals.with_settled_capture(*credit_minor, *debit_minor));
        }
        Event::PaymentReversed { payment_id: _, credit_minor, debit_minor, at: _, activity: _ } => {
            change_balance(state, |totals| totals.with_canceled_capture(*credit_minor, *debit_minor));
        }
        Event::RefundRequested { refund: _, transaction, uncovered_minor, activity: _ } => {
            post(transaction, state);
            change_balance(state, |totals| totals.with_uncovered(*uncovered_minor));
        }
        Event::RefundConfirmed { amount_minor, settles_at: None, .. } => {
            change_balance(state, |totals| totals.with_settled(0, *amount_minor).with_covered(*amount_minor));
        }
        Event::RefundFailed { amount_minor, uncovered_minor, .. } => {
            change_balance(state, |totals| totals.with_canceled(0, *amount_minor).with_covered(*uncovered_minor));
        }
        Event::DebitsUncovered { payment_id: _, covered_minor } => {
            change_balance(state, |totals| totals.with_uncovered(*covered_minor));
        }
        Event::DebitSettled { transaction_id: _, settles_at: _, amount_minor, at: _ } => {
            change_balance(state, |totals| totals.with_settled(0, *amount_minor).with_covered(*amount_minor));
        }
        Event::DisputeOpened { dispute: _, transaction, uncovered_minor } => {
            post(transaction, state);
            change_balance(state, |totals| totals.with_uncovered(*uncovered_minor));
        }
        Event::DisputeClosed(closing) => change_balance(state, |totals| disputes::balance_after(closing, totals)),
        Event::PayoutRequested { payout, transaction, activity: _ } => {
            post(transaction, state);
            change_balance(state, |totals| totals.with_uncovered(payout.money.amount.get()));
        }
        Event::PayoutPaid { payout_id: _, amount_minor, at: _ } => {
            change_balance(state, |totals| totals.with_settled(0, *amount_minor).with_covered(*amount_minor));
        }
        Event::PayoutFailed { amount_minor, .. } => {
            change_balance(state, |totals| totals.with_canceled(0, *amount_minor).with_covered(*amount_minor));
        }
        Event::UserInvited { invitation, activity: _ } => {
            state.invitations.retain(|_, other| other.is_open(invitation.created_at));
            state.invitations.insert(invitation.id, invitation.clone());
        }
        Event::InvitationAccepted { user, activity: _ } => {
            state.invitations.remove(&user.invitation_id);
            state.users.insert(user.id, user.clone());
        }
        Event::UserUpdated(user) => {
            state.users.insert(user.id, user.clone());
        }
        Event::UserRemoved { user_id, activity: _ } => {
            state.users.remove(user_id);
        }
        Event::SeatChanged { user_id, change, at } => {
            if let Some(user) = state.users.get_mut(user_id) {
                user.change_seat(*change, *at);
            }
        }
        Event::WebhookEventRecorded(event) => state.webhook_events = event.sequence,
        Event::WebhookSaved { merchant_id: _, webhook } => {
            if webhook.status == WebhookStatus::Connected {
                state.connected_webhooks.insert(webhook.id);
            } else {
                state.connected_webhooks.remove(&webhook.id);
            }
        }
        Event::StatementPeriodOpened { period } => state.statement_period = Some(*period),
        Event::CheckoutStarted(_) => state.open_checkouts = state.open_checkouts.saturating_add(1),
        Event::CheckoutCompleted { checkout_id: _, at: _ } | Event::CheckoutExpired { checkout_id: _, at: _ } => {
            state.open_checkouts = state.open_checkouts.saturating_sub(1);
        }
        Event::PlanSwitched { choice, activity: _ } => state.plan = Some(choice.clone()),
        Event::CardTokenized(_)
        | Event::SessionCreated { session: _, token_used_up: _ }
        | Event::CustomerCreated(_)
        | Event::CustomerRemoved { customer_id: _, card_ids: _, at: _ }
        | Event::CardRenewed { card_id: _, expiry: _, external_id: _ }
        | Event::CardForgotten { customer_id: _, card_id: _, default_card_id: _, at: _ }
        | Event::CustomerUpdated { before: _, after: _ }
        | Event::PaymentAuthorized { payment_id: _, authorization: _, authentication: _ }
        | Event::CardSaved { card: _, is_default: _, at: _ }
        | Event::DefaultCardSet { customer_id: _, card_id: _, at: _ }
        | Event::OperationRequested { payment_id: _, operation: _ }
        | Event::OperationRefused { .. }
        | Event::LateSuccess { .. }
        | Event::LateCallEnded { payment_id: _, failure: _, returned_at: _ }
        | Event::ActionRequired { payment_id: _, action: _ }
        | Event::ActionTaken { payment_id: _ }
        | Event::ActionCancelRequested { effect: _ }
        | Event::CallPrepared(_)
        | Event::CardTold { payment_id: _, card: _ }
        | Event::SessionCanceled { session_id: _, at: _ }
        | Event::CheckoutPaid { checkout_id: _, payment_id: _ }
        | Event::CheckoutReopened { checkout_id: _ }
        | Event::CheckoutClosed { checkout_id: _ }
        | Event::CheckoutCustomerErased { checkout_id: _ }
        | Event::RefundConfirmed { settles_at: Some(_), .. }
        | Event::DisputeChallenged { .. }
        | Event::EvidenceTaken { dispute_id: _ }
        | Event::DisputeEscalated { .. }
        | Event::MetadataSaved { .. }
        | Event::MetadataSetFormed { .. }
        | Event::MetadataRepeatsDropped { .. }
        | Event::MetadataItemAdded { .. }
        | Event::MetadataItemRemoved { .. }
        | Event::MetadataEnded { .. }
        | Event::MetadataTimerMoved { .. }
        | Event::MetadataSwept { .. }
        | Event::SessionsSwept { session_ids: _ }
        | Event::TokensSwept { token_ids: _ }
        | Event::WebhookEventsSwept { event_ids: _ }
        | Event::TokenQueued { .. }
        | Event::StatementClosed { statement: _ }
        | Event::TokenKept { token_id: _ }
        | Event::TokenUsed { .. }
        | Event::TokensErased { token_ids: _ }
        | Event::CustomerTokensErased { .. }
        | Event::AnswersSwept { scopes: _, created_merchants: _ } => {}
    }
}

fn post(transaction: &Transaction, state: &mut MerchantState) {
    change_balance(state, |totals| totals.with_posted(transaction));
}

fn change_balance(state: &mut MerchantState, change: impl FnOnce(BalanceTotals) -> BalanceTotals) {
    state.balance = Some(change(state.balance.unwrap_or_default()));
}

fn reserve(payment: &Payment, state: &mut MerchantState) {
    state.reserved_minor = state.reserved_minor.saturating_add(payment.reserved_minor());
}

fn release(minor: u64, state: &mut MerchantState) {
    state.reserved_minor = state.reserved_minor.saturating_sub(minor);
}
