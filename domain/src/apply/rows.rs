//! The fold into rows and indexes.

use super::activity::{log_activity, note_email};
use super::change::{change, index, take_row};
use super::ledger::{change_balance, post, settle};
use super::payment_indexes::WatchedPayments;
use super::{
    acquirer_accounts, actions, checkouts, customers, disputes, metadata, operations, payouts, refunds, statements,
    token_uses, webhooks,
};
use crate::activity::Activity;
use crate::card::TokenQueue;
use crate::command::Caller;
use crate::customer_action::Authentication;
use crate::effect::{Effect, EffectId, Timer, TimerKind};
use crate::event::{Answer, Event, Mutation};
use crate::failure::Failure;
use crate::ids::{InstallationId, MerchantId, PaymentId, TokenId};
use crate::key::ApiKey;
use crate::ledger::{Invoice, Topup, Transaction};
use crate::merchant::Profile;
use crate::payment::{Authorization, Capture, Payment, PaymentStatus};
use crate::records::{
    Answers, ApiKeys, CreatedMerchant, CreatedMerchants, CurrentPlan, Effects, Installations, Integrations,
    Invitations, Invoices, InvoicesByExternalId, KeyDirectory, KeyOwner, MerchantDirectory, Payments,
    PaymentsByExternalId, Present, Profiles, QueuedTokens, RowsMut, Sessions, Single, TestClocks, Timers, TokenQueues,
    Tokens, Topups, TopupsByExternalId, Unreadable, Users,
};
use crate::session::Session;
use crate::team::{Acceptance, User};
use std::sync::Arc;

/// Folds one mutation into rows and indexes, live and on replay alike.
///
/// # Errors
/// [`Unreadable`] when a row that the events change cannot be read or is not there. The rules never cause
/// it: it means a damaged store. Live, it comes before anything is written, and the command is not done.
pub fn apply_rows(mutation: &Mutation, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let mut watched = WatchedPayments::new(rows);
    for event in &mutation.events {
        apply(event, &mut watched)?;
    }
    watched.write_indexes()?;
    keep_answer(mutation, rows);
    Ok(())
}

fn keep_answer(mutation: &Mutation, rows: &mut impl RowsMut) {
    let Some((scope, stored)) = &mutation.answer else { return };
    rows.put::<Answers>(scope.clone(), *stored);
    // A repeated call to create a merchant does not name the merchant, so its answer must be found across merchants.
    if let (Caller::Operator, Answer::Merchant(merchant_id)) = (mutation.caller, stored.answer) {
        let created = CreatedMerchant { merchant_id, fingerprint: stored.fingerprint, expires_at: stored.expires_at };
        rows.put::<CreatedMerchants>(scope.key.clone(), created);
    }
}

fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    match event {
        Event::MerchantCreated { merchant_id, profile, integrations } => {
            create_merchant(*merchant_id, profile, rows);
            for (method, integration) in integrations {
                rows.put::<Integrations>(*method, *integration);
            }
        }
        Event::SuspensionChanged { suspended } => {
            change::<Profiles>(rows, Single, |profile| profile.suspended = *suspended)?
        }
        Event::CardNumbersInIdentifiersChanged { allowed } => {
            change::<Profiles>(rows, Single, |profile| profile.card_numbers_in_identifiers = *allowed)?
        }
        Event::ColorChanged { color } => change::<Profiles>(rows, Single, |profile| profile.color = Some(*color))?,
        Event::TestClockSet { merchant_id, test_clock } => rows.put::<TestClocks>(*merchant_id, *test_clock),
        Event::KeyGenerated { merchant_id, key } => generate_key(*merchant_id, key, rows),
        Event::KeyRevoked { key_id, at } => change::<ApiKeys>(rows, *key_id, |key| key.revoked_at = Some(*at))?,
        Event::KeyRenamed { key_id, name } => change::<ApiKeys>(rows, *key_id, |key| key.name = name.clone())?,
        Event::InstallationAdded(installation) | Event::InstallationUpdated(installation) => {
            rows.put::<Installations>(installation.id, installation.clone())
        }
        Event::InstallationRemoved { installation_id } => rows.remove::<Installations>(*installation_id),
        Event::PaymentMethodConfigured { method, integration } => rows.put::<Integrations>(*method, *integration),
        Event::AcquirerSaved { merchant_id, account } => acquirer_accounts::save(*merchant_id, account, rows),
        Event::AcquirerRemoved { acquirer_id } => acquirer_accounts::remove(*acquirer_id, rows),
        Event::BalanceOpened => change_balance(rows, |totals| totals)?,
        Event::TopupAdded { topup, transaction } => add_topup(topup, transaction, rows)?,
        Event::InvoiceCharged { invoice, transaction } => charge_invoice(invoice, transaction, rows)?,
        Event::CardTokenized(token) => rows.put::<Tokens>(token.id, token.clone()),
        Event::TokenQueued { token_id, installation_id, position, first, expires_at } => {
            let queue = TokenQueue { first: *first, next: position.saturating_add(1) };
            queue_token(*token_id, *installation_id, queue, *position, rows)?;
            change::<Tokens>(rows, *token_id, |token| token.expires_at = Some(*expires_at))?
        }
        Event::TokenKept { token_id } => change::<Tokens>(rows, *token_id, |token| {
            token.used = true;
            token.expires_at = None;
        })?,
        Event::TokenUsed { .. } | Event::TokensErased { .. } | Event::CustomerTokensErased { .. } => {
            token_uses::apply(event, rows)?
        }
        Event::SessionCreated { session, token_used_up } => {
            rows.put::<Sessions>(session.id, session.clone());
            if let Some(token_id) = token_used_up {
                change::<Tokens>(rows, *token_id, |token| token.used = true)?;
            }
        }
        Event::CustomerCreated(_)
        | Event::CustomerUpdated { .. }
        | Event::CustomerRemoved { .. }
        | Event::CardSaved { .. }
        | Event::CardRenewed { .. }
        | Event::CardForgotten { .. }
        | Event::DefaultCardSet { .. } => customers::apply(event, rows)?,
        Event::PaymentInitiated { payment, effect } => initiate_payment(payment, effect, rows)?,
        Event::PaymentAuthorized { payment_id, authorization, authentication } => {
            authorize(*payment_id, authorization, *authentication, rows)?;
        }
        Event::PaymentFailed { payment_id, released_minor: _, failure, authentication } => {
            fail(*payment_id, failure, *authentication, rows)?;
        }
        Event::PaymentCaptured { payment_id, released_minor: _, capture, transaction, activity } => {
            take_capture(*payment_id, *capture, rows)?;
            post(transaction, rows)?;
            log_activity(activity, rows)?
        }
        Event::PaymentVoided { payment_id, released_minor: _, activity } => void(*payment_id, activity, rows)?,
        Event::TransactionSettled { transaction_id, settles_at, credit_minor, debit_minor, at } => {
            settle(*transaction_id, *settles_at, *at, rows)?;
            change_balance(rows, |totals| totals.with_settled_capture(*credit_minor, *debit_minor))?
        }
        Event::UserInvited { invitation, activity } => {
            rows.put::<Invitations>(invitation.id, invitation.clone());
            log_activity(activity, rows)?
        }
        Event::InvitationAccepted { user, activity } => {
            join_team(user, rows)?;
            log_activity(activity, rows)?
        }
        Event::UserUpdated(user) => rows.put::<Users>(user.id, user.clone()),
        Event::SeatChanged { user_id, change: seat, at } => {
            change::<Users>(rows, *user_id, |user| user.change_seat(*seat, *at))?
        }
        Event::UserRemoved { user_id, activity } => {
            rows.remove::<Users>(*user_id);
            log_activity(activity, rows)?
        }
        Event::PlanSwitched { choice, activity } => {
            rows.put::<CurrentPlan>(Single, choice.clone());
            log_activity(activity, rows)?
        }
        Event::OperationRequested { .. }
        | Event::OperationRefused { .. }
        | Event::PaymentReversed { .. }
        | Event::PaymentExpired { .. }
        | Event::LateSuccess { .. }
        | Event::LateCallEnded { .. } => operations::apply(event, rows)?,
        Event::ActionRequired { .. }
        | Event::ActionTaken { .. }
        | Event::ActionCancelRequested { .. }
        | Event::CallPrepared(_)
        | Event::CardTold { .. }
        | Event::SessionCanceled { .. } => actions::apply(event, rows)?,
        Event::CheckoutStarted(_)
        | Event::CheckoutPaid { .. }
        | Event::CheckoutReopened { .. }
        | Event::CheckoutClosed { .. }
        | Event::CheckoutCompleted { .. }
        | Event::CheckoutExpired { .. }
        | Event::CheckoutCustomerErased { .. } => checkouts::apply(event, rows)?,
        Event::RefundRequested { .. }
        | Event::RefundConfirmed { .. }
        | Event::RefundFailed { .. }
        | Event::DebitsUncovered { .. }
        | Event::DebitSettled { .. } => refunds::apply(event, rows)?,
        Event::DisputeOpened { .. }
        | Event::DisputeChallenged { .. }
        | Event::EvidenceTaken { .. }
        | Event::DisputeEscalated { .. }
        | Event::DisputeClosed(_) => disputes::apply(event, rows)?,
        Event::PayoutRequested { .. } | Event::PayoutPaid { .. } | Event::PayoutFailed { .. } => {
            payouts::apply(event, rows)?
        }
        Event::StatementPeriodOpened { .. } | Event::StatementClosed { .. } => statements::apply(event, rows)?,
        Event::WebhookEventRecorded(_) | Event::WebhookSaved { .. } | Event::WebhookEventsSwept { .. } => {
            webhooks::apply(event, rows)?
        }
        Event::MetadataSaved { .. }
        | Event::MetadataSetFormed { .. }
        | Event::MetadataRepeatsDropped { .. }
        | Event::MetadataItemAdded { .. }
        | Event::MetadataItemRemoved { .. }
        | Event::MetadataEnded { .. }
        | Event::MetadataTimerMoved { .. }
        | Event::MetadataSwept { .. } => metadata::apply(event, rows),
        Event::SessionsSwept { session_ids } => session_ids.iter().for_each(|id| rows.remove::<Sessions>(*id)),
        Event::TokensSwept { token_ids } => token_ids.iter().for_each(|id| rows.remove::<Tokens>(*id)),
        Event::AnswersSwept { scopes, created_merchants } => {
            scopes.iter().for_each(|scope| rows.remove::<Answers>(scope.clone()));
            created_merchants.iter().for_each(|key| rows.remove::<CreatedMerchants>(key.clone()));
        }
    }
    Ok(())
}

fn create_merchant(merchant_id: MerchantId, profile: &Profile, rows: &mut impl RowsMut) {
    rows.put::<Profiles>(Single, profile.clone());
    rows.put::<MerchantDirectory>(merchant_id, profile.created_at);
}

fn generate_key(merchant_id: MerchantId, key: &ApiKey, rows: &mut impl RowsMut) {
    rows.put::<ApiKeys>(key.id, key.clone());
    rows.put::<KeyDirectory>(key.digest, KeyOwner { merchant_id, key_id: key.id });
}

/// Puts a token at its position in the queue, and removes the positions that the queue has passed.
fn queue_token(
    token_id: TokenId,
    installation_id: InstallationId,
    queue: TokenQueue,
    position: u64,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    let before = rows.get::<TokenQueues>(installation_id)?.unwrap_or_default();
    (before.first..queue.first).for_each(|passed| rows.remove::<QueuedTokens>((installation_id, passed)));
    rows.put::<QueuedTokens>((installation_id, position), token_id);
    rows.put::<TokenQueues>(installation_id, queue);
    Ok(())
}

fn join_team(user: &User, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    change::<Invitations>(rows, user.invitation_id, |invitation| {
        invitation.accepted = Some(Acceptance { user_id: user.id, at: user.created_at });
    })?;
    rows.put::<Users>(user.id, user.clone());
    note_email(&user.email, true, rows)
}

fn add_topup(topup: &Topup, transaction: &Transaction, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    index::<TopupsByExternalId>(topup.external_id.as_ref(), topup.id, rows);
    rows.put::<Topups>(topup.id, topup.clone());
    post(transaction, rows)
}

fn charge_invoice(invoice: &Invoice, transaction: &Transaction, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    index::<InvoicesByExternalId>(invoice.external_id.as_ref(), invoice.id, rows);
    rows.put::<Invoices>(invoice.id, invoice.clone());
    post(transaction, rows)
}

fn initiate_payment(payment: &Arc<Payment>, effect: &Effect, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    change::<Sessions>(rows, payment.session_id, |session: &mut Session| session.payment_id = Some(payment.id))?;
    index::<PaymentsByExternalId>(payment.external_id.as_ref(), payment.id, rows);
    rows.share::<Payments>(payment.id, payment);
    rows.put::<Effects>(effect.id(), effect.clone());
    acquirer_accounts::note_use(payment.acquirer, payment.created_at, rows)
}

fn authorize(
    id: PaymentId,
    authorization: &Authorization,
    authentication: Option<Authentication>,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    rows.remove::<Effects>(EffectId::operation(id));
    if let Some(lapses_at) = authorization.lapses_at {
        rows.put::<Timers>(Timer { due: lapses_at, kind: TimerKind::Lapse(id) }, Present);
    }
    let mut payment = take_row::<Payments>(id, rows)?;
    actions::end(&mut payment, authentication, rows);
    payment.status = PaymentStatus::Authorized;
    payment.authorization = Some(authorization.clone());
    rows.put::<Payments>(id, payment);
    Ok(())
}

fn fail(
    id: PaymentId,
    failure: &Failure,
    authentication: Option<Authentication>,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    rows.remove::<Effects>(EffectId::operation(id));
    let mut payment = take_row::<Payments>(id, rows)?;
    actions::end(&mut payment, authentication, rows);
    payment.status = PaymentStatus::Failed;
    payment.failure = Some(failure.clone());
    payment.operation = None;
    payment.last_operation = None;
    rows.put::<Payments>(id, payment);
    Ok(())
}

fn take_capture(id: PaymentId, capture: Capture, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let mut payment = take_row::<Payments>(id, rows)?;
    operations::end_operation(&mut payment, rows);
    payment.status = PaymentStatus::Successful;
    payment.capture = Some(capture);
    payment.failure = None;
    rows.put::<Payments>(id, payment);
    Ok(())
}

fn void(id: PaymentId, activity: &Activity, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    rows.remove::<Effects>(EffectId::operation(id));
    log_activity(activity, rows)?;
    let mut payment = take_row::<Payments>(id, rows)?;
    actions::end(&mut payment, None, rows);
    payment.status = PaymentStatus::Voided;
    payment.operation = None;
    payment.last_operation = None;
    rows.put::<Payments>(id, payment);
    Ok(())
}
