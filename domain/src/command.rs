//! Commands: what may be asked of a merchant's actor, parsed and checked for form.

use crate::card::{CardFacts, SaveCard, TokenUsage};
use crate::customer::{CardRef, Contact, CustomerFields, CustomerRef};
use crate::dispute::DisputeOutcome;
use crate::effect::Timer;
use crate::ids::{
    DisputeId, InstallationId, InvitationId, KeyId, MerchantId, MetadataId, PaymentId, PayoutId, PlanId, RefundId,
    SessionId, TokenId, UserId, WebhookEventId, WebhookId,
};
use crate::key::KeyDigest;
use crate::merchant::{Integration, PaymentMethod, Platform};
use crate::metadata::{CanonicalJson, MetadataPath, SetNumber, SweptItem};
use crate::money::{AmountMinor, Currency, Money};
use crate::payment::{Failure, OperationKind, PaymentRef};
use crate::session::{InstallmentPlan, InterestBearer};
use crate::text::{
    Description, DestinationUrl, Email, Evidence, ExternalId, HeaderName, IdempotencyKey, InstallationIdentifier,
    MetadataKey, Name, Reason, ReturnUrl, TimeZone,
};
use crate::time::Millis;
use crate::webhook::Subscription;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Caller {
    /// A merchant's program, by its key. Checked again inside decide, so that nothing lands after a revocation.
    ApiKey(KeyId),
    /// A customer's client, by its installation.
    Sdk(InstallationId),
    /// The operator.
    Operator,
    /// Till itself: results of effects, timers.
    System,
}

/// Where an Idempotency-Key counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyScope {
    /// The installation, for calls of an SDK.
    pub installation_id: Option<InstallationId>,
    /// The endpoint with its group, such as `merchants/initiate-payment-flow`.
    pub endpoint: String,
    /// What the caller named the call.
    pub key: IdempotencyKey,
}

/// A named call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// Where the name counts.
    pub scope: IdempotencyScope,
    /// A keyed fingerprint of the parsed command: equal for equal commands.
    pub fingerprint: [u8; 32],
}

/// A command with who asks and under which name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Who asks.
    pub caller: Caller,
    /// The call's name, if it has one.
    pub idempotency: Option<Idempotency>,
    /// What is asked.
    pub command: Command,
}

/// What may be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Open a merchant's log.
    CreateMerchant(CreateMerchant),
    /// Refuse the merchant's calls that change something from now on.
    SuspendMerchant,
    /// Take them again.
    ResumeMerchant,
    /// Change what the operator has set for the merchant.
    UpdateMerchant(UpdateMerchant),
    /// Make an API key.
    GenerateKey(GenerateKey),
    /// End an API key.
    RevokeKey(KeyId),
    /// Call an API key something else.
    RenameKey(KeyId, Name),
    /// Add an installation.
    AddInstallation(AddInstallation),
    /// Change an installation.
    UpdateInstallation(UpdateInstallation),
    /// Remove an installation.
    RemoveInstallation(InstallationId),
    /// Say how payments of a method are carried out.
    ConfigurePaymentMethod(PaymentMethod, Integration),
    /// Open the balance.
    OpenBalance,
    /// Add money to the balance.
    AddTopup(AddTopup),
    /// Charge an invoice to the balance. Answered with [`crate::event::Answer::Invoice`].
    ChargeInvoice(ChargeInvoice),
    /// Keep a card under a token. Its number comes beside the command.
    TokenizeCard(TokenizeCard),
    /// Make a payment session.
    SelectPaymentMethod(SelectPaymentMethod),
    /// Make a payment of a session.
    InitiatePayment(InitiatePayment),
    /// Record how the acquirer answered an authorization.
    RecordAuthorization(PaymentId, AuthorizationResult),
    /// Capture what is authorized, or a part of it. Answered with [`crate::event::Answer::Changed`], as the next two.
    CapturePayment(CapturePayment),
    /// Give an authorization up.
    VoidPayment(PaymentRef),
    /// Take a capture back before it settles.
    ReversePayment(PaymentRef),
    /// Pay money of a captured payment back. Answered with [`crate::event::Answer::Refund`].
    RefundPayment(RefundPayment),
    /// Open a dispute about a captured payment. Answered with [`crate::event::Answer::Dispute`].
    OpenDispute(OpenDispute),
    /// Give evidence in a dispute. Answered with [`crate::event::Answer::Changed`], as the next three.
    ChallengeDispute(ChallengeDispute),
    /// Give a dispute up.
    ConcedeDispute(DisputeId),
    /// Have the card scheme decide a dispute.
    EscalateDispute(DisputeId),
    /// Decide a dispute.
    CloseDispute(DisputeId, DisputeOutcome),
    /// Record how the acquirer took evidence.
    RecordEvidence(DisputeId, EvidenceResult),
    /// Pay money of the balance out. Answered with [`crate::event::Answer::Payout`].
    SendPayout(SendPayout),
    /// Give up a payment that the acquirer has not answered in time.
    ExpirePayment(PaymentId),
    /// Record how the acquirer answered a capture, a void or a reversal.
    RecordOperation(RecordOperation),
    /// Record how the acquirer answered a refund.
    RecordRefund(RefundId, CallResult),
    /// Record how the acquirer answered a payout.
    RecordPayout(PayoutId, CallResult),
    /// Record how the acquirer answered when money of a payment that was over was to be given back.
    RecordGivenBack(PaymentId, CallResult),
    /// Do what is due.
    FireTimers(Vec<Timer>),
    /// Judge a call that advances the test clock, before its steps are taken. Changes nothing, and keeps no answer.
    JudgeAdvance(AdvanceClock),
    /// Set the test clock to an instant up to which everything that is due has happened.
    AdvanceClock(AdvanceClock),
    /// Take the test clock to the instant of some timers, and do what is due then.
    StepClock(StepClock),
    /// Change the customers or their saved cards.
    ChangeContact(ContactChange),
    /// Change the team or the plan of the merchant that is named for the activity log.
    ChangeTeam(MerchantId, TeamChange),
    /// Change the webhooks of the merchant that is named for their directory.
    ChangeWebhook(MerchantId, WebhookChange),
    /// Add an item to a set of a metadata record.
    AddToMetadataSet(AddToMetadataSet),
    /// Remove an item from a set of a metadata record.
    RemoveFromMetadataSet(RemoveFromMetadataSet),
    /// Replace the whole value of a metadata record.
    SyncMetadata(SyncMetadata),
    /// Delete a metadata record.
    DeleteMetadata(DeleteMetadata),
    /// Remove rows of metadata that nobody can see any more.
    SweepMetadata(SweepMetadata),
    /// Remove what nobody needs any more.
    Sweep(Vec<Expired>),
}

impl Command {
    /// True when a suspended merchant may still ask it: what gives money back or closes a leak.
    #[must_use]
    pub const fn works_while_suspended(&self) -> bool {
        match self {
            Command::RevokeKey(_)
            | Command::VoidPayment(_)
            | Command::ReversePayment(_)
            | Command::RefundPayment(_)
            | Command::ChallengeDispute(_)
            | Command::ConcedeDispute(_)
            | Command::ChangeWebhook(_, WebhookChange::Disconnect(_) | WebhookChange::RotateSecret(_)) => true,
            Command::CreateMerchant(_)
            | Command::UpdateMerchant(_)
            | Command::SuspendMerchant
            | Command::ResumeMerchant
            | Command::GenerateKey(_)
            | Command::RenameKey(_, _)
            | Command::AddInstallation(_)
            | Command::UpdateInstallation(_)
            | Command::RemoveInstallation(_)
            | Command::ConfigurePaymentMethod(_, _)
            | Command::OpenBalance
            | Command::AddTopup(_)
            | Command::ChargeInvoice(_)
            | Command::TokenizeCard(_)
            | Command::SelectPaymentMethod(_)
            | Command::InitiatePayment(_)
            | Command::RecordAuthorization(_, _)
            | Command::CapturePayment(_)
            | Command::OpenDispute(_)
            | Command::EscalateDispute(_)
            | Command::CloseDispute(_, _)
            | Command::RecordEvidence(_, _)
            | Command::SendPayout(_)
            | Command::ExpirePayment(_)
            | Command::RecordOperation(_)
            | Command::RecordRefund(_, _)
            | Command::RecordPayout(_, _)
            | Command::RecordGivenBack(_, _)
            | Command::FireTimers(_)
            | Command::JudgeAdvance(_)
            | Command::AdvanceClock(_)
            | Command::StepClock(_)
            | Command::ChangeContact(_)
            | Command::ChangeTeam(_, _)
            | Command::ChangeWebhook(
                _,
                WebhookChange::Connect(_)
                | WebhookChange::Update(_)
                | WebhookChange::Reconnect(_)
                | WebhookChange::Disable(_),
            )
            | Command::AddToMetadataSet(_)
            | Command::RemoveFromMetadataSet(_)
            | Command::SyncMetadata(_)
            | Command::DeleteMetadata(_)
            | Command::SweepMetadata(_)
            | Command::Sweep(_) => false,
        }
    }
}

/// Change the customers or their saved cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContactChange {
    /// Add a customer. Answered with [`crate::event::Answer::Contact`].
    Add(ContactFields),
    /// Change a customer's fields. What is not given stays. Answered with [`crate::event::Answer::Changed`].
    Update(CustomerRef, ContactFields),
    /// Remove a customer: the key of the person's data is deleted, and the cards are forgotten. Answered with
    /// [`crate::event::Answer::Changed`].
    Remove(CustomerRef),
    /// Save the card of a token for several uses. Answered with [`crate::event::Answer::Card`].
    SaveCard(SaveCardOfToken),
    /// Make a saved card the customer's default. Answered with [`crate::event::Answer::Changed`].
    SetDefaultCard(CustomerRef, CardRef),
    /// Forget a saved card. Answered with [`crate::event::Answer::Changed`].
    ForgetCard(CustomerRef, CardRef),
}

/// The fields of a customer that a call gives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContactFields {
    /// The merchant's own identifier.
    pub external_id: Option<ExternalId>,
    /// Address, number and name.
    pub contact: Contact,
}

/// Save the card of a token for several uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveCardOfToken {
    /// The token.
    pub token_id: TokenId,
    /// The customer.
    pub customer: CustomerRef,
    /// The merchant's own identifier of the card.
    pub external_id: Option<ExternalId>,
    /// True when it becomes the customer's default.
    pub is_default: bool,
}

/// Change the team or the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TeamChange {
    /// Invite somebody to the team.
    InviteUser(Email),
    /// Become a member of the team by an invitation.
    AcceptInvitation(InvitationId),
    /// Remove a member of the team.
    RemoveUser(UserId),
    /// Switch to a plan.
    SelectPlan(PlanId),
}

/// What a sweeper takes for expired. The rules look again before they remove it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expired {
    /// A payment session. The token for one use that it used up goes with it.
    Session(SessionId),
    /// A token for one use that nobody selected, or one for several uses that no payment has used.
    Token(TokenId),
    /// The token for one use that this session used up.
    TokenOf(SessionId),
    /// A kept answer, with what is kept only for it.
    Answer(IdempotencyScope),
    /// An event that webhooks were told.
    WebhookEvent(WebhookEventId),
}

/// Change the webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookChange {
    /// Make one and send it events from now on. Its secret comes beside the command. Answered with
    /// [`crate::event::Answer::Webhook`].
    Connect(ConnectWebhook),
    /// Change one.
    Update(UpdateWebhook),
    /// Send it no events from now on.
    Disconnect(WebhookId),
    /// Send it events again, from now on.
    Reconnect(WebhookId),
    /// Sign with the secret that comes beside the command, for a day with the one before, too. Answered with
    /// [`crate::event::Answer::Webhook`].
    RotateSecret(WebhookId),
    /// Send it no events from now on, since it takes none.
    Disable(WebhookId),
}

/// Make a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectWebhook {
    /// A name for people.
    pub name: Name,
    /// The address that events are posted to.
    pub destination_url: DestinationUrl,
    /// The events that it is sent.
    pub subscription: Subscription,
    /// The API version that bodies are written in.
    pub api_version: String,
    /// The header that carries the plain HMAC of a body.
    pub signature_header: HeaderName,
}

/// Change a webhook: what is none stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateWebhook {
    /// The webhook.
    pub webhook_id: WebhookId,
    /// A name for people.
    pub name: Option<Name>,
    /// The address that events are posted to.
    pub destination_url: Option<DestinationUrl>,
    /// The events that it is sent.
    pub subscription: Option<Subscription>,
    /// The header that carries the plain HMAC of a body.
    pub signature_header: Option<HeaderName>,
}

/// Open a merchant's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateMerchant {
    /// The id, made by the caller since it names the log.
    pub merchant_id: MerchantId,
    /// Its name.
    pub name: Name,
    /// The currency of its account.
    pub currency: Currency,
    /// In which its days begin.
    pub time_zone: TimeZone,
    /// How long captured money is held, in seconds.
    pub settlement_delay_seconds: u64,
    /// Shown as the actor of what an operator does.
    pub support_email: Option<Email>,
    /// True when its identifiers may look like card numbers.
    pub card_numbers_in_identifiers: bool,
    /// True when it has a test clock.
    pub test_clock: bool,
}

/// Change what the operator has set for a merchant. What is not given stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateMerchant {
    /// True when its identifiers may look like card numbers.
    pub card_numbers_in_identifiers: Option<bool>,
}

/// Make an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerateKey {
    /// Whose, for the directory of all merchants.
    pub merchant_id: MerchantId,
    /// What the merchant calls it.
    pub name: Name,
    /// The keyed digest of its text.
    pub digest: KeyDigest,
    /// Its first characters.
    pub display: String,
    /// The API version to pin.
    pub api_version: String,
    /// When it ends, in the future.
    pub expires_at: Option<Millis>,
}

/// Set the test clock to an instant up to which everything that is due has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdvanceClock {
    /// The merchant, for the list of all test clocks.
    pub merchant_id: MerchantId,
    /// The instant. When it has passed, since the steps took longer, the clock stays as it is.
    pub to: Millis,
}

/// Take the test clock to the instant of some timers, and do what is due then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepClock {
    /// The merchant, for the list of all test clocks.
    pub merchant_id: MerchantId,
    /// The instant; when it has passed, the clock stays as it is.
    pub to: Millis,
    /// The timers that are due then.
    pub timers: Vec<Timer>,
}

/// Add an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddInstallation {
    /// What the merchant calls it.
    pub name: Name,
    /// Where it runs.
    pub platform: Platform,
    /// Which one there.
    pub identifier: InstallationIdentifier,
}

/// Change an installation. Its platform stays: what runs elsewhere is another installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateInstallation {
    /// The installation to change.
    pub installation_id: InstallationId,
    /// The name from now on; it stays when none is given.
    pub name: Option<Name>,
    /// The identifier from now on; it stays when none is given.
    pub identifier: Option<InstallationIdentifier>,
}

/// Add money to the balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddTopup {
    /// How much.
    pub amount: AmountMinor,
    /// The operator's reference.
    pub external_id: Option<ExternalId>,
}

/// Charge an invoice to the balance, which it may take below zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeInvoice {
    /// The amount.
    pub amount: AmountMinor,
    /// The operator's reference.
    pub external_id: Option<ExternalId>,
    /// Its purpose.
    pub description: Option<Description>,
}

/// Keep a card under a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenizeCard {
    /// What is known of the card.
    pub card: CardFacts,
    /// For how many uses.
    pub usage: TokenUsage,
}

/// What a customer chose to pay with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// A card that the merchant names later.
    UnnamedCard,
    /// A tokenized card.
    Token(TokenId),
    /// A saved card.
    SavedCard(CardRef),
    /// Instalments.
    Installment(InstallmentPlan, InterestBearer),
}

impl Selection {
    /// Of which payment method it is.
    #[must_use]
    pub const fn method(&self) -> PaymentMethod {
        match self {
            Selection::UnnamedCard | Selection::Token(_) | Selection::SavedCard(_) => PaymentMethod::Card,
            Selection::Installment(_, _) => PaymentMethod::Installment,
        }
    }
}

/// Make a payment session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectPaymentMethod {
    /// How much is to be paid.
    pub money: Money,
    /// With what.
    pub selection: Selection,
    /// Defaults for the payment.
    pub customer: CustomerFields,
}

/// Make a payment of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitiatePayment {
    /// The merchant's reference.
    pub external_id: Option<ExternalId>,
    /// What the merchant believes is to be paid.
    pub money: Money,
    /// The session.
    pub session_id: SessionId,
    /// A saved card, for a session without one.
    pub card: Option<CardRef>,
    /// Whether to capture on authorization.
    pub capture: bool,
    /// Where the customer is sent afterwards.
    pub return_url: ReturnUrl,
    /// Who pays.
    pub customer: CustomerFields,
    /// What is to become of the card.
    pub save_card: Option<SaveCard>,
    /// Confirms who pays the interest.
    pub interest_bearer: Option<InterestBearer>,
}

/// How an acquirer answered an authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorizationResult {
    /// It stands.
    Approved {
        /// The acquirer's reference.
        acquirer_reference: String,
        /// Whether it was captured with it.
        captured: bool,
        /// Whether the money is there at once, whatever the merchant's settlement delay.
        settles_at_once: bool,
        /// True when taken money is in dispute as soon as it is taken.
        is_disputed: bool,
    },
    /// It was refused.
    Declined {
        /// A word that programs branch on.
        code: String,
        /// A sentence for a person.
        message: String,
    },
}

/// Capture what is authorized, or a part of it: then the rest is released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturePayment {
    /// The payment.
    pub payment: PaymentRef,
    /// How much; all that is authorized when it is not given.
    pub amount: Option<AmountMinor>,
}

/// Pay money of a captured payment back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundPayment {
    /// The payment.
    pub payment: PaymentRef,
    /// How much; all that is left when it is not given.
    pub amount: Option<AmountMinor>,
    /// The merchant's own reference of the refund.
    pub external_id: Option<ExternalId>,
    /// The merchant's reason.
    pub reason: Option<Reason>,
}

/// Pay money of the balance out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendPayout {
    /// The amount.
    pub amount: AmountMinor,
    /// The merchant's own reference of the payout.
    pub external_id: Option<ExternalId>,
    /// The merchant's words about it.
    pub description: Option<Description>,
}

/// How the acquirer answered a capture, a void or a reversal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordOperation {
    /// The payment.
    pub payment_id: PaymentId,
    /// What was asked.
    pub kind: OperationKind,
    /// The number of the operation among those of the payment, so that a late answer to another one changes nothing.
    pub attempt: u32,
    /// Of a capture: true when the money is there at once, whatever the merchant's settlement delay.
    pub settles_at_once: bool,
    /// Of a capture: true when the money is in dispute as soon as it is taken.
    pub is_disputed: bool,
    /// What was answered.
    pub result: CallResult,
}

/// How an acquirer answered a call that is no authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallResult {
    /// It is done.
    Done,
    /// It was refused, and will not be done.
    Declined(Failure),
}

/// Open a dispute about a captured payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenDispute {
    /// The payment.
    pub payment: PaymentRef,
    /// The amount; all that is left when it is not given.
    pub amount: Option<AmountMinor>,
    /// The provider's reason.
    pub reason: Option<Reason>,
}

/// Give evidence in a dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChallengeDispute {
    /// The dispute.
    pub dispute_id: DisputeId,
    /// The evidence.
    pub evidence: Evidence,
}

/// How an acquirer took evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceResult {
    /// It decides later.
    Taken,
    /// It decided for the merchant.
    Won,
    /// It decided for the customer.
    Lost,
}

/// Add an item to a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddToMetadataSet {
    /// The record's key.
    pub key: MetadataKey,
    /// Where in it the set is.
    pub path: MetadataPath,
    /// The item.
    pub item: CanonicalJson,
    /// The version that the caller saw; 0 for no record.
    pub version: Option<u64>,
    /// The record's new time to live.
    pub ttl_seconds: Option<u64>,
}

/// Remove an item from a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoveFromMetadataSet {
    /// The record's key.
    pub key: MetadataKey,
    /// Where in it the set is.
    pub path: MetadataPath,
    /// The item.
    pub item: CanonicalJson,
    /// The version that the caller saw; 0 for no record.
    pub version: Option<u64>,
}

/// Replace the whole value of a record, or make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncMetadata {
    /// The record's key.
    pub key: MetadataKey,
    /// The value.
    pub metadata: CanonicalJson,
    /// The version that the caller saw; 0 for no record.
    pub version: Option<u64>,
    /// The record's new time to live.
    pub ttl_seconds: Option<u64>,
}

/// Delete a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteMetadata {
    /// The record's key.
    pub key: MetadataKey,
    /// The version that the caller saw; 0 for no record.
    pub version: Option<u64>,
}

/// Remove rows of sets that nobody can see any more. They cannot change, so that whoever asks has read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepMetadata {
    /// Of which record they were.
    pub id: MetadataId,
    /// Items.
    pub items: Vec<SweptItem>,
    /// Counters of sets.
    pub sets: Vec<SetNumber>,
    /// Set once nothing is left of the sets below this number.
    pub finished_below: Option<SetNumber>,
}
