//! The rule of each command.

use super::context::{Context, Decision};
use super::{
    acquirer, acquirer_accounts, actions, cards, checkouts, contacts, disputes, initiate, installations, keys,
    metadata, operations, operator, payouts, preparations, refunds, sdk, seats, sweeping, team, test_clock, timers,
    webhooks,
};
use crate::command::{Caller, Command, ContactChange, PendingObject, Request, TeamChange};
use crate::event::Answer;
use crate::ids::InstallationId;
use crate::records::Records;
use crate::refusal::{DecisionError, Refusal};

/// Gives the command to its rule.
pub(super) fn dispatch(
    records: &impl Records,
    request: &Request,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let state = records.state();
    match &request.command {
        Command::CreateMerchant(command) => Ok(operator::create_merchant(state, command, context)),
        Command::SuspendMerchant => Ok(operator::set_suspended(state, true)),
        Command::ResumeMerchant => Ok(operator::set_suspended(state, false)),
        Command::UpdateMerchant(command) => Ok(operator::update_merchant(state, command)?),
        Command::GenerateKey(command) => {
            Ok(keys::generate_key(records, command, request.idempotency.is_some(), context)?)
        }
        Command::RevokeKey(key_id) => Ok(keys::revoke_key(state, *key_id, context)?),
        Command::RenameKey(key_id, name) => Ok(keys::rename_key(state, *key_id, name)?),
        Command::AddInstallation(command) => Ok(installations::add_installation(state, command, context)?),
        Command::UpdateInstallation(command) => Ok(installations::update_installation(state, command)?),
        Command::RemoveInstallation(id) => Ok(installations::remove_installation(state, *id)?),
        Command::ConfigurePaymentMethod(method, integration, account) => {
            Ok(operator::configure_payment_method(state, *method, *integration, *account)?)
        }
        Command::ChangeAcquirer(merchant_id, change) => {
            acquirer_accounts::change(records, *merchant_id, change, context)
        }
        Command::OpenBalance => Ok(operator::open_balance(state)),
        Command::AddTopup(command) => operator::add_topup(records, command, context),
        Command::ChargeInvoice(command) => operator::charge_invoice(records, command, context),
        Command::TokenizeCard(command) => Ok(sdk::tokenize_card(records, installation(request)?, command, context)?),
        Command::SelectPaymentMethod(command) => {
            sdk::select_payment_method(records, installation(request)?, command, context)
        }
        Command::InitiatePayment(command) => initiate::initiate_payment(records, command, context),
        Command::StartCheckout(command) => checkouts::start(records, command, context),
        Command::PayCheckout(command) => checkouts::pay(records, installation(request)?, command, context),
        Command::ExpireCheckout(named) => checkouts::expire(records, named, context),
        Command::RecordPreparation(preparation) => Ok(preparations::record_preparation(records, preparation, context)?),
        Command::FailUnsent(unsent) => Ok(preparations::fail_unsent(records, *unsent, context)?),
        Command::RecordAuthorization(payment_id, result) => {
            acquirer::record_authorization(records, *payment_id, result, context)
        }
        Command::CapturePayment(command) => operations::capture_payment(records, request.caller, command, context),
        Command::VoidPayment(payment) => operations::void_payment(records, request.caller, payment, context),
        Command::ReversePayment(payment) => operations::reverse_payment(records, request.caller, payment, context),
        Command::RefundPayment(command) => refunds::refund_payment(records, request.caller, command, context),
        Command::OpenDispute(command) => disputes::open_dispute(records, command, context),
        Command::ChallengeDispute(command) => disputes::challenge_dispute(records, request.caller, command, context),
        Command::ConcedeDispute(id) => disputes::concede_dispute(records, request.caller, *id, context),
        Command::EscalateDispute(id) => disputes::escalate_dispute(records, *id, context),
        Command::CloseDispute(id, outcome) => disputes::close_dispute(records, *id, *outcome, context),
        Command::RecordEvidence(id, result) => disputes::record_evidence(records, *id, *result, context),
        Command::SendPayout(command) => payouts::send_payout(records, request.caller, command, context),
        Command::ExpirePayment(payment_id) => Ok(acquirer::expire_payment(records, *payment_id, context)?),
        Command::RecordOperation(command) => operations::record_operation(records, command, context),
        Command::OrderEnd(PendingObject::Refund(id)) => refunds::order_end(records, *id),
        Command::OrderEnd(PendingObject::Payout(id)) => payouts::order_end(records, *id),
        Command::OrderEnd(PendingObject::Action(id)) => actions::order_end(records, *id),
        Command::RecordRefund(refund_id, result) => refunds::record_refund(records, *refund_id, result, context),
        Command::RecordPayout(payout_id, result) => payouts::record_payout(records, *payout_id, result, context),
        Command::RecordGivenBack(payment_id, result) => {
            Ok(acquirer::record_given_back(records, *payment_id, result, context)?)
        }
        Command::RecordCancellation(payment_id, result) => {
            acquirer::record_cancellation(records, *payment_id, result, context)
        }
        Command::CancelSession(session_id) => actions::cancel_session(records, *session_id, context),
        Command::FireTimers(timers) => timers::fire_timers(records, timers, context),
        Command::JudgeAdvance(command) => Ok(test_clock::judge(state, command, context)?),
        Command::AdvanceClock(command) => Ok(test_clock::advance(state, command, context)?),
        Command::StepClock(command) => test_clock::step(records, command, context),
        Command::ChangeContact(change) => change_contact(records, change, context),
        Command::ChangeTeam(merchant_id, change) => {
            let asker = team::Asker { state, merchant_id: *merchant_id, caller: request.caller };
            change_team(records, asker, change, context)
        }
        Command::ChangeWebhook(merchant_id, change) => webhooks::change(records, *merchant_id, change, context),
        Command::AddToMetadataSet(command) => metadata::add_to_set(records, command, context),
        Command::RemoveFromMetadataSet(command) => metadata::remove_from_set(records, command, context),
        Command::SyncMetadata(command) => metadata::sync(records, command, context),
        Command::DeleteMetadata(command) => metadata::delete(records, command, context),
        Command::SweepMetadata(command) => Ok(metadata::sweep(records, command)?),
        Command::Sweep(expired) => Ok(sweeping::sweep(records, expired, context.now)?),
    }
}

fn change_contact(
    records: &impl Records,
    change: &ContactChange,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    match change {
        ContactChange::Add(fields) => contacts::add(records, fields, context),
        ContactChange::Update(customer, fields) => contacts::update(records, customer, fields, context),
        ContactChange::Remove(customer) => contacts::remove(records, customer, context),
        ContactChange::SaveCard(command) => cards::save(records, command, context),
        ContactChange::SetDefaultCard(customer, card) => cards::set_default(records, customer, card, context),
        ContactChange::ForgetCard(customer, card) => cards::forget(records, customer, card, context),
    }
}

fn change_team(
    records: &impl Records,
    asker: team::Asker<'_>,
    change: &TeamChange,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    match change {
        TeamChange::InviteUser(command) => Ok(team::invite_user(asker, command, context)?),
        TeamChange::UpdateUser(command) => Ok(team::update_user(asker, *command)?),
        TeamChange::AcceptInvitation(id) => team::accept_invitation(records, asker, *id, context),
        TeamChange::RemoveUser(user_id) => Ok(team::remove_user(asker, *user_id, context)?),
        TeamChange::SelectPlan(plan_id) => Ok(team::select_plan(asker, *plan_id, context)?),
        TeamChange::Join(id, step) => seats::join(records, asker, *id, *step, context),
        TeamChange::ChangeSeat(user_id, command) => Ok(seats::change(asker.state, *user_id, *command, context)?),
    }
}

fn installation(request: &Request) -> Result<InstallationId, Refusal> {
    match request.caller {
        Caller::Sdk(installation_id) => Ok(installation_id),
        Caller::ApiKey(_) | Caller::User(_) | Caller::Operator | Caller::System => Err(Refusal::InstallationNotFound),
    }
}
