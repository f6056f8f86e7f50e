//! Identifiers, keys and metadata that are card numbers as a whole. The log would contain them in clear, so they are
//! refused, unless the merchant's setting allows them, since order numbers can look like card numbers. Commands that
//! remove something store none, and are not checked.

use crate::card_number::{has_card_number_as_a_part, is_card_number_as_a_whole};
use crate::command::{
    CapturePayment, CheckoutChoice, Command, ContactChange, InitiatePayment, Request, SelectPaymentMethod, Selection,
    StartCheckout, WebhookChange,
};
use crate::ids::IdOrExternalId;
use crate::metadata::{CanonicalJson, MetadataPath};
use crate::records::MerchantState;
use crate::refusal::{CARD_NUMBERS_MAX, CommandField, Refusal};
use crate::text::ExternalId;

/// Refuses a request in which a field is a card number as a whole, and names all such fields.
pub(super) fn check(state: &MerchantState, request: &Request) -> Result<(), Refusal> {
    if are_allowed(state, &request.command) {
        return Ok(());
    }
    let mut found = CardNumberFields::default();
    let key = request.idempotency.as_ref().map(|idempotency| idempotency.scope.key.as_str());
    found.note(CommandField::IdempotencyKey, key.is_some_and(is_card_number_as_a_whole));
    collect_from_command(&request.command, &mut found);
    match found.fields {
        [None, ..] => Ok(()),
        fields => Err(Refusal::CardNumbersGiven { fields }),
    }
}

/// The merchant's setting; for a merchant that is to be created, the setting in the command.
fn are_allowed(state: &MerchantState, command: &Command) -> bool {
    if let Command::CreateMerchant(command) = command {
        return command.card_numbers_in_identifiers;
    }
    state.profile.as_ref().is_some_and(|profile| profile.card_numbers_in_identifiers)
}

/// The fields that are card numbers.
#[derive(Default)]
struct CardNumberFields {
    fields: [Option<CommandField>; CARD_NUMBERS_MAX],
}

impl CardNumberFields {
    fn note(&mut self, field: CommandField, is_number: bool) {
        let free = self.fields.iter_mut().find(|field| field.is_none()).filter(|_| is_number);
        if let Some(free) = free {
            *free = Some(field);
        }
    }

    fn external_id(&mut self, field: CommandField, id: Option<&ExternalId>) {
        self.note(field, id.is_some_and(|id| is_card_number_as_a_whole(id.as_str())));
    }

    fn metadata(&mut self, field: CommandField, value: &CanonicalJson) {
        self.note(field, value.plain_parts().any(is_card_number_as_a_whole));
    }

    fn path(&mut self, path: &MetadataPath) {
        self.note(CommandField::MetadataPath, path.segments().iter().any(|segment| is_card_number_as_a_whole(segment)));
    }
}

fn collect_from_command(command: &Command, found: &mut CardNumberFields) {
    match command {
        Command::AddInstallation(command) => {
            found.note(CommandField::Identifier, is_card_number_as_a_whole(command.identifier.as_str()));
        }
        Command::UpdateInstallation(command) => {
            let identifier = command.identifier.as_ref();
            let is_number = identifier.is_some_and(|identifier| is_card_number_as_a_whole(identifier.as_str()));
            found.note(CommandField::Identifier, is_number);
        }
        Command::AddTopup(command) => found.external_id(CommandField::ExternalId, command.external_id.as_ref()),
        Command::SendPayout(command) => found.external_id(CommandField::ExternalId, command.external_id.as_ref()),
        Command::ChargeInvoice(command) => found.external_id(CommandField::ExternalId, command.external_id.as_ref()),
        Command::SelectPaymentMethod(command) => collect_from_selection(command, found),
        Command::InitiatePayment(command) => collect_from_initiation(command, found),
        Command::StartCheckout(command) => collect_from_checkout(command, found),
        Command::PayCheckout(command) => {
            if let CheckoutChoice::SavedCard(card) = &command.choice {
                found.external_id(CommandField::CardId, card.external_id());
            }
        }
        Command::CapturePayment(CapturePayment { payment, amount: _ })
        | Command::VoidPayment(payment)
        | Command::ReversePayment(payment) => found.external_id(CommandField::PaymentId, payment.external_id()),
        Command::OpenDispute(command) => found.external_id(CommandField::PaymentId, command.payment.external_id()),
        Command::RefundPayment(command) => {
            found.external_id(CommandField::PaymentId, command.payment.external_id());
            found.external_id(CommandField::ExternalId, command.external_id.as_ref());
        }
        Command::AddToMetadataSet(command) => {
            found.note(CommandField::MetadataKey, is_card_number_as_a_whole(command.key.as_str()));
            found.path(&command.path);
            found.metadata(CommandField::MetadataValue, &command.item);
        }
        Command::SyncMetadata(command) => {
            found.note(CommandField::MetadataKey, is_card_number_as_a_whole(command.key.as_str()));
            found.metadata(CommandField::Metadata, &command.metadata);
        }
        Command::ChangeContact(change) => collect_from_contact(change, found),
        Command::ChangeWebhook(_, change) => collect_from_webhook(change, found),
        Command::CreateMerchant(_)
        | Command::SuspendMerchant
        | Command::ResumeMerchant
        | Command::UpdateMerchant(_)
        | Command::GenerateKey(_)
        | Command::RevokeKey(_)
        | Command::RenameKey(_, _)
        | Command::RemoveInstallation(_)
        | Command::ConfigurePaymentMethod(_, _, _)
        | Command::ChangeAcquirer(_, _)
        | Command::OpenBalance
        | Command::TokenizeCard(_)
        | Command::RecordPreparation(_)
        | Command::FailUnsent(_)
        | Command::RecordAuthorization(_, _)
        | Command::ExpirePayment(_)
        | Command::RecordOperation(_)
        | Command::RecordRefund(_, _)
        | Command::RecordPayout(_, _)
        | Command::RecordGivenBack(_, _)
        | Command::RecordCancellation(_, _)
        | Command::CancelSession(_)
        | Command::ExpireCheckout(_)
        | Command::ChallengeDispute(_)
        | Command::ConcedeDispute(_)
        | Command::EscalateDispute(_)
        | Command::CloseDispute(_, _)
        | Command::RecordEvidence(_, _)
        | Command::FireTimers(_)
        | Command::JudgeAdvance(_)
        | Command::OrderEnd(_)
        | Command::AdvanceClock(_)
        | Command::StepClock(_)
        | Command::ChangeTeam(_, _)
        | Command::RemoveFromMetadataSet(_)
        | Command::DeleteMetadata(_)
        | Command::SweepMetadata(_)
        | Command::Sweep(_) => {}
    }
}

fn collect_from_contact(change: &ContactChange, found: &mut CardNumberFields) {
    match change {
        ContactChange::Add(fields) => found.external_id(CommandField::ExternalId, fields.external_id.as_ref()),
        ContactChange::Update(customer, fields) => {
            found.external_id(CommandField::ContactId, customer.external_id());
            found.external_id(CommandField::ExternalId, fields.external_id.as_ref());
        }
        ContactChange::SaveCard(command) => {
            found.external_id(CommandField::ContactId, command.customer.external_id());
            found.external_id(CommandField::ExternalId, command.external_id.as_ref());
        }
        ContactChange::SetDefaultCard(customer, card) => {
            found.external_id(CommandField::ContactId, customer.external_id());
            found.external_id(CommandField::CardId, card.external_id());
        }
        ContactChange::Remove(_) | ContactChange::ForgetCard(_, _) => {}
    }
}

fn collect_from_webhook(change: &WebhookChange, found: &mut CardNumberFields) {
    let destination_url = match change {
        WebhookChange::Connect(command) => Some(&command.destination_url),
        WebhookChange::Update(command) => command.destination_url.as_ref(),
        WebhookChange::Disconnect(_)
        | WebhookChange::Reconnect(_)
        | WebhookChange::RotateSecret(_)
        | WebhookChange::Disable(_)
        | WebhookChange::Redeliver(_)
        | WebhookChange::EndRedelivery(_, _)
        | WebhookChange::JudgeTest(_)
        | WebhookChange::RecordTest(_) => None,
    };
    found
        .note(CommandField::DestinationUrl, destination_url.is_some_and(|url| has_card_number_as_a_part(url.as_str())));
}

fn collect_from_selection(command: &SelectPaymentMethod, found: &mut CardNumberFields) {
    if let Selection::SavedCard(card) = &command.selection {
        found.external_id(CommandField::CardId, card.external_id());
    }
    found.external_id(CommandField::CustomerId, command.customer.id.as_ref().and_then(IdOrExternalId::external_id));
}

fn collect_from_initiation(command: &InitiatePayment, found: &mut CardNumberFields) {
    found.external_id(CommandField::ExternalId, command.external_id.as_ref());
    found.external_id(CommandField::CardId, command.card.as_ref().and_then(IdOrExternalId::external_id));
    found.note(CommandField::ReturnUrl, has_card_number_as_a_part(command.return_url.as_str()));
    found.external_id(CommandField::CustomerId, command.customer.id.as_ref().and_then(IdOrExternalId::external_id));
}

fn collect_from_checkout(command: &StartCheckout, found: &mut CardNumberFields) {
    found.external_id(CommandField::ExternalId, command.external_id.as_ref());
    found.note(CommandField::ReturnUrl, has_card_number_as_a_part(command.return_url.as_str()));
    let cancel_url = command.cancel_url.as_ref();
    found.note(CommandField::CancelUrl, cancel_url.is_some_and(|url| has_card_number_as_a_part(url.as_str())));
    let page_url = command.page_url.as_ref();
    found.note(CommandField::PageUrl, page_url.is_some_and(|url| has_card_number_as_a_part(url.as_str())));
    found.external_id(CommandField::CustomerId, command.customer.id.as_ref().and_then(IdOrExternalId::external_id));
}
