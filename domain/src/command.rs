//! Commands: the requests to a merchant's actor, parsed and checked for form.

use std::fmt;

use crate::acquirer::{AccountMode, AcquirerName, CardEntry};
use crate::card::{CardAtAcquirer, CardFacts, SaveCard, TokenUsage};
use crate::checkout::{CheckoutLine, CheckoutRef, Locale};
use crate::customer::{CardRef, Contact, CustomerFields, CustomerRef};
use crate::customer_action::{AuthenticationFlow, AuthenticationStatus, AuthenticationVersion, CustomerStep};
use crate::dispute::DisputeOutcome;
use crate::effect::Timer;
use crate::failure::{Failure, FailureCode};
use crate::ids::{
    AcquirerId, CheckoutId, CredentialsId, DisputeId, InstallationId, InvitationId, KeyId, MerchantId, MetadataId,
    PaymentId, PayoutId, PlanId, RefundId, SessionId, TokenId, UserId, WebhookEventId, WebhookId,
};
use crate::key::KeyDigest;
use crate::merchant::{Color, Integration, PaymentMethod, Platform};
use crate::metadata::{CanonicalJson, MetadataPath, SetNumber, SweptItem};
use crate::money::{AmountMinor, Currency, Money};
use crate::payment::{OperationKind, PaymentRef};
use crate::preparation::Preparation;
use crate::role::{Act, Role};
use crate::session::{InstallmentPlan, InterestBearer};
use crate::team::{CredentialsPart, SignInCode};
use crate::text::{
    Description, DestinationUrl, Email, Evidence, ExternalId, HeaderName, IdempotencyKey, InstallationIdentifier,
    MetadataKey, Name, Reason, ReturnUrl, TimeZone,
};
use crate::time::Millis;
use crate::webhook::{Subscription, WebhookEvent, WebhookTest};

/// The party that sends a request.
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
    /// A member of the team who is signed in. Checked again inside decide, as a key is.
    User(UserId),
}

/// The name of a caller for people.
impl fmt::Display for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caller::ApiKey(id) => id.fmt(formatter),
            Caller::User(id) => id.fmt(formatter),
            Caller::Sdk(id) => id.fmt(formatter),
            Caller::Operator => formatter.write_str("operator"),
            Caller::System => formatter.write_str("till"),
        }
    }
}

/// The scope in which an Idempotency-Key is unique.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyScope {
    /// The installation, for calls of an SDK.
    pub installation_id: Option<InstallationId>,
    /// The endpoint with its group, such as `merchants/initiate-payment-flow`.
    pub endpoint: String,
    /// The key that the caller gave the call.
    pub key: IdempotencyKey,
}

/// The idempotency data of a call that carries a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// The scope of the key.
    pub scope: IdempotencyScope,
    /// A keyed fingerprint of the parsed command: equal for equal commands.
    pub fingerprint: [u8; 32],
}

/// A command with its caller and its idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The party that sends it.
    pub caller: Caller,
    /// Its idempotency data, if it carries a key.
    pub idempotency: Option<Idempotency>,
    /// The command.
    pub command: Command,
}

impl Request {
    /// Returns true for a request that is carried out on a disk that is down to its reserve: one of the operator's, and
    /// one by which a merchant ends a key or deliveries.
    #[must_use]
    pub const fn may_use_reserve(&self) -> bool {
        let ends_something =
            matches!(self.command, Command::RevokeKey(_) | Command::ChangeWebhook(_, WebhookChange::Disconnect(_)));
        ends_something || matches!(self.caller, Caller::Operator)
    }
}

/// A change that a caller can request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Open a merchant's log.
    CreateMerchant(CreateMerchant),
    /// Refuse the merchant's calls that change something from now on.
    SuspendMerchant,
    /// Accept the merchant's calls again.
    ResumeMerchant,
    /// Change what the operator has set for the merchant.
    UpdateMerchant(UpdateMerchant),
    /// Make an API key.
    GenerateKey(GenerateKey),
    /// End an API key.
    RevokeKey(KeyId),
    /// Rename an API key.
    RenameKey(KeyId, Name),
    /// Add an installation.
    AddInstallation(AddInstallation),
    /// Change an installation.
    UpdateInstallation(UpdateInstallation),
    /// Remove an installation.
    RemoveInstallation(InstallationId),
    /// Set what carries out payments of a method, and how: an account, from a server with this address, or the sandbox.
    ConfigurePaymentMethod(PaymentMethod, Integration, Option<(AcquirerId, PublicAddress)>),
    /// Change the accounts at acquirers of the merchant, whose id the directory of accounts needs.
    ChangeAcquirer(MerchantId, AcquirerChange),
    /// Open the balance.
    OpenBalance,
    /// Add money to the balance.
    AddTopup(AddTopup),
    /// Charge an invoice to the balance. Answered with [`crate::event::Answer::Invoice`].
    ChargeInvoice(ChargeInvoice),
    /// Keep a card under a token. Its number is passed beside the command.
    TokenizeCard(TokenizeCard),
    /// Make a payment session.
    SelectPaymentMethod(SelectPaymentMethod),
    /// Make a payment of a session.
    InitiatePayment(InitiatePayment),
    /// Record what the acquirer has prepared for a payment. Answered with [`crate::event::Answer::Changed`].
    RecordPreparation(Preparation),
    /// Fail a payment for whose authorization nothing was sent in time.
    FailUnsent(UnsentPayment),
    /// Record the acquirer's answer to an authorization.
    RecordAuthorization(PaymentId, AuthorizationResult),
    /// Capture the authorized amount, or a part of it. Answered with [`crate::event::Answer::Changed`], as the next
    /// two.
    CapturePayment(CapturePayment),
    /// Void an authorization.
    VoidPayment(PaymentRef),
    /// Reverse a capture before it settles.
    ReversePayment(PaymentRef),
    /// Refund money of a captured payment. Answered with [`crate::event::Answer::Refund`].
    RefundPayment(RefundPayment),
    /// Open a dispute about a captured payment. Answered with [`crate::event::Answer::Dispute`].
    OpenDispute(OpenDispute),
    /// Give evidence in a dispute. Answered with [`crate::event::Answer::Changed`], as the next three.
    ChallengeDispute(ChallengeDispute),
    /// Concede a dispute.
    ConcedeDispute(DisputeId),
    /// Escalate a dispute to the card scheme.
    EscalateDispute(DisputeId),
    /// Decide a dispute.
    CloseDispute(DisputeId, DisputeOutcome),
    /// Record the acquirer's answer to evidence.
    RecordEvidence(DisputeId, EvidenceResult),
    /// Pay money of the balance out. Answered with [`crate::event::Answer::Payout`].
    SendPayout(SendPayout),
    /// Give up a payment that the acquirer has not answered in time.
    ExpirePayment(PaymentId),
    /// Record the acquirer's answer to a capture, a void or a reversal.
    RecordOperation(RecordOperation),
    /// Judge a call by which the operator ends a refund or payout at the sandbox. It changes nothing here: the answer
    /// of the sandbox does. Answered with [`crate::event::Answer::Changed`].
    OrderEnd(PendingObject),
    /// Record the acquirer's answer to a refund.
    RecordRefund(RefundId, CallResult),
    /// Record the acquirer's answer to a payout.
    RecordPayout(PayoutId, CallResult),
    /// Record the acquirer's answer to a late void or refund of a payment that was over.
    RecordGivenBack(PaymentId, CallResult),
    /// Record the acquirer's answer to the cancellation of an action.
    RecordCancellation(PaymentId, Cancellation),
    /// Start a checkout. Answered with [`crate::event::Answer::Checkout`].
    StartCheckout(StartCheckout),
    /// The customer pays a checkout. Answered with [`crate::event::Answer::Session`].
    PayCheckout(PayCheckout),
    /// End a checkout. Answered with [`crate::event::Answer::Changed`].
    ExpireCheckout(CheckoutRef),
    /// The customer gives up: ends a session that no payment used, or the payment that waits for the customer's action.
    /// Answered with [`crate::event::Answer::Changed`].
    CancelSession(SessionId),
    /// Carry out the decisions that are due.
    FireTimers(Vec<Timer>),
    /// Judge a call that advances the test clock, before its steps are taken. It changes nothing, and keeps no answer.
    JudgeAdvance(AdvanceClock),
    /// Set the test clock to an instant, after everything that is due until then has happened.
    AdvanceClock(AdvanceClock),
    /// Advance the test clock to the instant of some timers, and carry out the decisions that are due then.
    StepClock(StepClock),
    /// Change the customers or their saved cards.
    ChangeContact(ContactChange),
    /// Change the team or the plan of the merchant, whose id the activity log needs.
    ChangeTeam(MerchantId, TeamChange),
    /// Change the webhooks of the merchant, whose id the directory of webhooks needs.
    ChangeWebhook(MerchantId, WebhookChange),
    /// Add an item to a set of a metadata record.
    AddToMetadataSet(AddToMetadataSet),
    /// Remove an item from a set of a metadata record.
    RemoveFromMetadataSet(RemoveFromMetadataSet),
    /// Replace the whole value of a metadata record.
    SyncMetadata(SyncMetadata),
    /// Delete a metadata record.
    DeleteMetadata(DeleteMetadata),
    /// Remove rows of metadata that are no longer visible.
    SweepMetadata(SweepMetadata),
    /// Remove expired objects.
    Sweep(Vec<Expired>),
}

impl Command {
    /// Returns true when a suspended merchant may still send it: commands that give money back or close a leak. Every
    /// other command is refused.
    #[must_use]
    pub const fn works_while_suspended(&self) -> bool {
        matches!(
            self,
            Command::RevokeKey(_)
                | Command::VoidPayment(_)
                | Command::ReversePayment(_)
                | Command::RefundPayment(_)
                | Command::ChallengeDispute(_)
                | Command::ConcedeDispute(_)
                | Command::CancelSession(_)
                | Command::ExpireCheckout(_)
                | Command::ChangeTeam(
                    _,
                    TeamChange::RemoveUser(_) | TeamChange::UpdateUser(_) | TeamChange::ChangeSeat(..)
                )
                | Command::ChangeWebhook(
                    _,
                    WebhookChange::Disconnect(_) | WebhookChange::RotateSecret(_) | WebhookChange::RecordTest(_),
                )
        )
    }
}

impl Command {
    /// What a member or a key does by this command; none of a command that neither may send.
    #[must_use]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a command that is not named here is refused")]
    pub const fn act(&self) -> Option<Act> {
        Some(match self {
            Command::InitiatePayment(_) => Act::InitiatePayments,
            Command::CapturePayment(_) | Command::VoidPayment(_) | Command::ChallengeDispute(_) => Act::OperatePayments,
            Command::RefundPayment(_) | Command::ReversePayment(_) | Command::ConcedeDispute(_) => Act::GiveBack,
            Command::StartCheckout(_) | Command::ExpireCheckout(_) => Act::RunCheckouts,
            Command::SendPayout(_) => Act::SendPayouts,
            Command::ChangeContact(ContactChange::Remove(_)) => Act::RemoveCustomers,
            Command::ChangeContact(_) => Act::ChangeCustomers,
            Command::ChangeWebhook(..) => Act::RunWebhooks,
            Command::GenerateKey(_) => Act::GenerateKeys,
            Command::RevokeKey(_) | Command::RenameKey(..) => Act::KeepKeys,
            Command::ChangeTeam(_, TeamChange::SelectPlan(_)) => Act::SelectPlan,
            Command::ChangeTeam(..) => Act::ChangeTeam,
            Command::AddToMetadataSet(_)
            | Command::RemoveFromMetadataSet(_)
            | Command::SyncMetadata(_)
            | Command::DeleteMetadata(_) => Act::ChangeMetadata,
            _ => return None,
        })
    }
}

/// A refund or payout that waits for the acquirer's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingObject {
    /// A refund.
    Refund(RefundId),
    /// A payout.
    Payout(PayoutId),
    /// The action that the customer of a payment was asked for.
    Action(PaymentId),
}

/// Change the customers or their saved cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContactChange {
    /// Add a customer. Answered with [`crate::event::Answer::Contact`].
    Add(ContactFields),
    /// Change a customer's fields. Fields that are not given stay. Answered with [`crate::event::Answer::Changed`].
    Update(CustomerRef, ContactFields),
    /// Remove a customer: the key of the person's data is deleted, and the cards are forgotten. Answered with
    /// [`crate::event::Answer::Changed`].
    Remove(CustomerRef),
    /// Save the card of a multi-use token. Answered with [`crate::event::Answer::Card`].
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

/// Save the card of a multi-use token.
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
    /// Invite a user to the team.
    InviteUser(InviteUser),
    /// Change the role or the refund limit of a member. Answered with [`crate::event::Answer::Changed`].
    UpdateUser(UpdateUser),
    /// Become a member of the team by accepting an invitation.
    AcceptInvitation(InvitationId),
    /// Remove a member of the team.
    RemoveUser(UserId),
    /// Switch to a plan.
    SelectPlan(PlanId),
    /// Become a member by an invitation, with credentials that are passed beside the command. The authenticator was
    /// confirmed with the code of this time step. Answered with [`crate::event::Answer::User`].
    Join(InvitationId, u64),
    /// Change what a member signs in with, or use it.
    ChangeSeat(UserId, SeatCommand),
}

/// Change what a member signs in with, or use it. Answered with [`crate::event::Answer::Changed`], but for the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatCommand {
    /// Let the member set its credentials anew. Answered with [`crate::event::Answer::CredentialsReset`].
    AllowReset,
    /// Set all credentials, which are passed beside the command, by such a permission.
    Renew {
        /// The permission.
        id: CredentialsId,
        /// The time step of the code that the new authenticator was confirmed with.
        step: u64,
    },
    /// Set the credentials that are passed beside the command, of which a part is new.
    Replace {
        /// The part.
        part: CredentialsPart,
        /// The time step of the code that a new authenticator was confirmed with.
        step: Option<u64>,
        /// The number of the session in which it happens.
        session: u32,
    },
    /// Use a code up in order to sign in.
    SignIn {
        /// The code.
        code: SignInCode,
        /// The number of the new session.
        session: u32,
    },
    /// Use a code up in order to act.
    UseCode {
        /// The code.
        code: SignInCode,
        /// The number of the session in which it happens.
        session: u32,
    },
    /// End all sessions of the member.
    EndSessions,
}

/// Invite a user to the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InviteUser {
    /// The address of the person.
    pub email: Email,
    /// The role that the person is to have.
    pub role: Role,
    /// The largest amount that the person may give back in one call, in minor units; only with the role SUPPORT.
    pub refund_limit: Option<AmountMinor>,
}

/// Change the role or the refund limit of a member. Fields that are none stay, but another role has no limit yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateUser {
    /// The member.
    pub user_id: UserId,
    /// Another role.
    pub role: Option<Role>,
    /// Another refund limit.
    pub refund_limit: Option<NewRefundLimit>,
}

/// The change of a refund limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewRefundLimit {
    /// It is this amount from now on, in minor units.
    Set(AmountMinor),
    /// There is none from now on.
    Remove,
}

/// An object that a sweeper found to be expired. The rules check it again before they remove it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expired {
    /// A payment session. The single-use token that it used up is removed with it.
    Session(SessionId),
    /// A single-use token that was never selected, or a multi-use token that no payment has used.
    Token(TokenId),
    /// The single-use token that this session used up.
    TokenOf(SessionId),
    /// A kept answer, with the data that is kept only for it.
    Answer(IdempotencyScope),
    /// An event that was delivered to webhooks.
    WebhookEvent(WebhookEventId),
}

/// Change the webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookChange {
    /// Make one and send it events from now on. Its secret is passed beside the command. Answered with
    /// [`crate::event::Answer::Webhook`].
    Connect(ConnectWebhook),
    /// Change one.
    Update(UpdateWebhook),
    /// Send it no events from now on.
    Disconnect(WebhookId),
    /// Send it events again, from now on.
    Reconnect(WebhookId),
    /// Sign with the secret that is passed beside the command. Answered with [`crate::event::Answer::Webhook`].
    RotateSecret(RotateSecret),
    /// Send it no events from now on, since it accepts none.
    Disable(WebhookId),
    /// Order that events are delivered to it again. Answered with [`crate::event::Answer::Redelivery`].
    Redeliver(RedeliverWebhook),
    /// End the order that was given after this event, since all of it is done.
    EndRedelivery(WebhookId, WebhookEventId),
    /// Judge a call that tests it, before the attempt is made. It changes nothing, and keeps no answer.
    JudgeTest(WebhookId),
    /// Keep the answer of a test, whose attempt has ended. Answered with it.
    RecordTest(WebhookTest),
}

/// The address of this server for customers and acquirers. Each kind is more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PublicAddress {
    /// None is set.
    Unknown,
    /// Customers come to it without TLS.
    Http,
    /// Customers come to it with TLS.
    Https,
}

/// Change the accounts at acquirers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcquirerChange {
    /// Judge another of these, before its secret is tried. It changes nothing, and keeps no answer.
    Judge(Box<AcquirerChange>),
    /// Add one. Its secrets are passed beside the command. Answered with [`crate::event::Answer::Acquirer`].
    Add(AddAcquirer),
    /// Change one. New secrets are passed beside the command. Answered with [`crate::event::Answer::Changed`].
    Update(UpdateAcquirer),
    /// Remove one, and forget its secrets. Answered with [`crate::event::Answer::Changed`].
    Remove(AcquirerId),
}

/// Add an account at an acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddAcquirer {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// A name for people.
    pub name: Name,
    /// What is known of the account by the secret.
    pub known: KnownAccount,
    /// The place where customers enter a card.
    pub card_entry: CardEntry,
    /// True when a secret for notices is passed beside the command, too.
    pub has_webhook_secret: bool,
}

/// Change an account at an acquirer. Fields that are none stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateAcquirer {
    /// The account.
    pub acquirer_id: AcquirerId,
    /// A name for people.
    pub name: Option<Name>,
    /// What is known of the account by the new secret, which is passed beside the command.
    pub known: Option<KnownAccount>,
    /// The place where customers enter a card.
    pub card_entry: Option<CardEntry>,
    /// True when a new secret for notices is passed beside the command.
    pub has_webhook_secret: bool,
}

/// What is known of an account at an acquirer by its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownAccount {
    /// The kind of money that it moves.
    pub mode: AccountMode,
    /// The acquirer's own id of it; none when the secret was not tried.
    pub account: Option<String>,
    /// The beginning and the end of the secret.
    pub secret_hint: String,
}

/// Replace the secret of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RotateSecret {
    /// The webhook.
    pub webhook_id: WebhookId,
    /// True when the replaced secrets end at once. Otherwise each continues to sign until its own day is over.
    pub ends_previous: bool,
}

/// Deliver events to a webhook again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedeliverWebhook {
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The events.
    pub events: RedeliveredEvents,
}

/// The events of an order, as they were looked up: an event never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedeliveredEvents {
    /// One event; none when the merchant has no such event.
    One(Option<WebhookEvent>),
    /// The first and the last of some events; none when there are no events.
    Range(Option<(WebhookEvent, WebhookEvent)>),
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
    /// The API version in which bodies are written.
    pub api_version: String,
    /// The header that carries the plain HMAC of a body.
    pub signature_header: HeaderName,
}

/// Change a webhook. Fields that are none stay.
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
    /// Its id, which the caller makes since it names the log.
    pub merchant_id: MerchantId,
    /// Its name.
    pub name: Name,
    /// The currency of its account.
    pub currency: Currency,
    /// The time zone in which its days begin.
    pub time_zone: TimeZone,
    /// The time for which captured money is held, in seconds.
    pub settlement_delay_seconds: u64,
    /// The address that the activity log shows as the actor of an operator's action.
    pub support_email: Option<Email>,
    /// True when its identifiers may look like card numbers.
    pub card_numbers_in_identifiers: bool,
    /// True when it has a test clock.
    pub test_clock: bool,
}

/// Change the settings of a merchant that the operator owns. Fields that are not given stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateMerchant {
    /// True when its identifiers may look like card numbers.
    pub card_numbers_in_identifiers: Option<bool>,
    /// The colour of its pages for customers.
    pub color: Option<Color>,
}

/// Make an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerateKey {
    /// The merchant, for the directory of all merchants.
    pub merchant_id: MerchantId,
    /// The name that the merchant gives it.
    pub name: Name,
    /// The keyed digest of its text.
    pub digest: KeyDigest,
    /// Its first characters.
    pub display: String,
    /// The API version to pin.
    pub api_version: String,
    /// The time at which it ends, in the future.
    pub expires_at: Option<Millis>,
    /// What it may do.
    pub role: Role,
    /// The largest amount that it may give back in one call, in minor units; only with the role SUPPORT.
    pub refund_limit: Option<AmountMinor>,
}

/// Set the test clock to an instant, after everything that is due until then has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdvanceClock {
    /// The merchant, for the list of all test clocks.
    pub merchant_id: MerchantId,
    /// The instant. If it has passed already because the steps took longer, the clock stays as it is.
    pub to: Millis,
}

/// Advance the test clock to the instant of some timers, and carry out the decisions that are due then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepClock {
    /// The merchant, for the list of all test clocks.
    pub merchant_id: MerchantId,
    /// The instant. If it has passed already, the clock stays as it is.
    pub to: Millis,
    /// The timers that are due at that instant.
    pub timers: Vec<Timer>,
}

/// Add an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddInstallation {
    /// The name that the merchant gives it.
    pub name: Name,
    /// The platform on which it runs.
    pub platform: Platform,
    /// Its identifier on that platform.
    pub identifier: InstallationIdentifier,
}

/// Change an installation. Its platform stays: an installation on another platform is a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateInstallation {
    /// The installation to change.
    pub installation_id: InstallationId,
    /// The new name; the name stays when none is given.
    pub name: Option<Name>,
    /// The new identifier; the identifier stays when none is given.
    pub identifier: Option<InstallationIdentifier>,
}

/// Add money to the balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddTopup {
    /// The amount.
    pub amount: AmountMinor,
    /// The operator's reference.
    pub external_id: Option<ExternalId>,
}

/// Charge an invoice to the balance, which may become negative.
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
    /// The facts of the card.
    pub card: CardFacts,
    /// The number of uses that the token allows.
    pub usage: TokenUsage,
}

/// The payment method that a customer chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// A card that the merchant names later, or that the customer enters at the acquirer's page.
    UnnamedCard,
    /// A tokenized card.
    Token(TokenId),
    /// A saved card.
    SavedCard(CardRef),
    /// Instalments.
    Installment(InstallmentPlan, InterestBearer),
    /// A transfer that a PromptPay QR code asks for.
    PromptPay,
    /// A confirmation at the customer's bank.
    MobileBanking,
}

impl Selection {
    /// The payment method that it belongs to.
    #[must_use]
    pub const fn method(&self) -> PaymentMethod {
        match self {
            Selection::UnnamedCard | Selection::Token(_) | Selection::SavedCard(_) => PaymentMethod::Card,
            Selection::Installment(_, _) => PaymentMethod::Installment,
            Selection::PromptPay => PaymentMethod::PromptPay,
            Selection::MobileBanking => PaymentMethod::MobileBanking,
        }
    }
}

/// Make a payment session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectPaymentMethod {
    /// The amount to be paid.
    pub money: Money,
    /// The payment method that the customer chose.
    pub selection: Selection,
    /// The default customer fields of the payment.
    pub customer: CustomerFields,
}

/// Make a payment of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitiatePayment {
    /// The merchant's reference.
    pub external_id: Option<ExternalId>,
    /// The amount to be paid, as the merchant knows it. It must equal that of the session.
    pub money: Money,
    /// The session.
    pub session_id: SessionId,
    /// A saved card, for a session that has none.
    pub card: Option<CardRef>,
    /// True when the payment is captured as soon as it is authorized.
    pub capture: bool,
    /// The address to which the customer is sent afterwards.
    pub return_url: ReturnUrl,
    /// The customer who pays.
    pub customer: CustomerFields,
    /// The instruction to save the card, if it is given.
    pub save_card: Option<SaveCard>,
    /// The party that bears the interest, as a confirmation.
    pub interest_bearer: Option<InterestBearer>,
}

impl InitiatePayment {
    /// A payment that is captured as soon as it is authorized, without anything optional.
    #[must_use]
    pub fn of_session(session_id: SessionId, money: Money, return_url: ReturnUrl) -> InitiatePayment {
        InitiatePayment {
            external_id: None,
            money,
            session_id,
            card: None,
            capture: true,
            return_url,
            customer: CustomerFields::default(),
            save_card: None,
            interest_bearer: None,
        }
    }
}

/// Start a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartCheckout {
    /// The installation whose calls pay it.
    pub installation_id: InstallationId,
    /// The merchant's reference.
    pub external_id: Option<ExternalId>,
    /// The amount to be paid.
    pub money: Money,
    /// The lines of the order, whose sum is the amount.
    pub lines: Vec<CheckoutLine>,
    /// True when its payments are captured as soon as they are authorized.
    pub capture: bool,
    /// The methods among which the customer chooses; all that are enabled when none is given.
    pub methods: Vec<PaymentMethod>,
    /// The party that bears the interest of instalments.
    pub interest_bearer: InterestBearer,
    /// The language of its page.
    pub locale: Option<Locale>,
    /// The address to which the customer is sent after the payment.
    pub return_url: ReturnUrl,
    /// The address to which a customer goes who gives up, when it is another one.
    pub cancel_url: Option<ReturnUrl>,
    /// The page of the shop that shows it in a frame, of the installation's origin.
    pub page_url: Option<ReturnUrl>,
    /// The customer who pays.
    pub customer: CustomerFields,
    /// True when the customer is offered saved cards, and to save one.
    pub offers_saved_cards: bool,
    /// The seconds for which it can be paid.
    pub lifetime_seconds: u64,
}

/// Pay a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayCheckout {
    /// The checkout.
    pub checkout_id: CheckoutId,
    /// The payment method that the customer chose.
    pub choice: CheckoutChoice,
    /// True when the card is saved for next time.
    pub saves_card: bool,
    /// The session of the payment that the customer gives up.
    pub replaces: Option<SessionId>,
}

/// The payment method that the customer of a checkout chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutChoice {
    /// A card that is entered at the acquirer's page.
    AcquirerPage,
    /// A tokenized card.
    Token(TokenId),
    /// A saved card.
    SavedCard(CardRef),
    /// Instalments.
    Installment(InstallmentPlan),
    /// A transfer that a PromptPay QR code asks for.
    PromptPay,
    /// A confirmation at the customer's bank.
    MobileBanking,
}

/// The acquirer's answer to an authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorizationResult {
    /// It was approved.
    Approved(ApprovedAuthorization),
    /// The customer must act first.
    NeedsAction(RequiredAction),
    /// The customer has acted, or need not act, and the acquirer has not decided.
    Processing,
    /// It was refused.
    Declined {
        /// The reason.
        failure: Failure,
        /// The authentication of the card, when there was one.
        authentication: Option<AuthenticationResult>,
    },
}

/// An approved authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedAuthorization {
    /// The acquirer's own reference of it.
    pub acquirer_reference: String,
    /// True when it was captured at once.
    pub captured: bool,
    /// True when captured money is available at once, regardless of the merchant's settlement delay.
    pub settles_at_once: bool,
    /// True when the customer disputes captured money as soon as it is captured.
    pub is_disputed: bool,
    /// The authentication of the card, when there was one.
    pub authentication: Option<AuthenticationResult>,
    /// The instant before which the acquirer must be asked to capture, when it tells one.
    pub capture_before: Option<Millis>,
    /// The card, when it was entered at the acquirer.
    pub card: Option<CardAtAcquirer>,
}

/// The result of an authentication by 3-D Secure, as the acquirer tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthenticationResult {
    /// The way.
    pub flow: AuthenticationFlow,
    /// The result.
    pub status: AuthenticationStatus,
    /// The electronic commerce indicator, when the scheme gives one.
    pub eci: Option<u8>,
    /// The version, when the acquirer tells it.
    pub version: Option<AuthenticationVersion>,
}

/// An action that the acquirer asks of the customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredAction {
    /// The step that the customer is asked to take.
    pub step: CustomerStep,
    /// True when it authenticates a card.
    pub authenticates: bool,
    /// The seconds that the customer has from the record of the action on.
    pub lifetime_seconds: u64,
}

/// The acquirer's answer to the cancellation of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cancellation {
    /// Nothing was charged, and nothing will be.
    Canceled,
    /// The customer had paid before: this is the approval.
    TooLate(ApprovedAuthorization),
}

/// Capture the authorized amount, or a part of it: then the rest is released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturePayment {
    /// The payment.
    pub payment: PaymentRef,
    /// The amount; all that is authorized when it is not given.
    pub amount: Option<AmountMinor>,
}

/// Refund money of a captured payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundPayment {
    /// The payment.
    pub payment: PaymentRef,
    /// The amount; all that is left when it is not given.
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
    /// The merchant's description of it.
    pub description: Option<Description>,
}

/// Fail a payment for whose authorization nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsentPayment {
    /// The payment.
    pub payment_id: PaymentId,
    /// The reason for which nothing was sent.
    pub code: FailureCode,
    /// The payment fails when its authorization was opened by this instant.
    pub opened_by: Millis,
}

/// Record the acquirer's answer to a capture, a void or a reversal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordOperation {
    /// The payment.
    pub payment_id: PaymentId,
    /// The kind of the operation.
    pub kind: OperationKind,
    /// The number of the operation among those of the payment, so that a late answer to another operation changes
    /// nothing.
    pub attempt: u32,
    /// The acquirer's answer.
    pub result: CallResult,
}

/// The acquirer's answer to a call that is not an authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallResult {
    /// It is done.
    Done(MovedMoney),
    /// It was refused, and will not be done.
    Declined(Failure),
}

/// A capture, a void, a refund or a payout that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedMoney {
    /// The acquirer's own reference of it. That of a refund is recorded.
    pub acquirer_reference: String,
    /// True when captured money is available at once, regardless of the merchant's settlement delay.
    pub settles_at_once: bool,
    /// True when the customer disputes captured money as soon as it is captured.
    pub is_disputed: bool,
}

impl MovedMoney {
    /// Money that was moved as usual.
    #[must_use]
    pub fn of(acquirer_reference: &str) -> MovedMoney {
        let acquirer_reference = acquirer_reference.to_owned();
        MovedMoney { acquirer_reference, settles_at_once: false, is_disputed: false }
    }
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

/// The acquirer's answer to evidence.
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
    /// The path of the set in the record.
    pub path: MetadataPath,
    /// The item.
    pub item: CanonicalJson,
    /// The version that the caller saw; 0 when there was no record.
    pub version: Option<u64>,
    /// The record's new time to live.
    pub ttl_seconds: Option<u64>,
}

/// Remove an item from a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoveFromMetadataSet {
    /// The record's key.
    pub key: MetadataKey,
    /// The path of the set in the record.
    pub path: MetadataPath,
    /// The item.
    pub item: CanonicalJson,
    /// The version that the caller saw; 0 when there was no record.
    pub version: Option<u64>,
}

/// Replace the whole value of a record, or make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncMetadata {
    /// The record's key.
    pub key: MetadataKey,
    /// The value.
    pub metadata: CanonicalJson,
    /// The version that the caller saw; 0 when there was no record.
    pub version: Option<u64>,
    /// The record's new time to live.
    pub ttl_seconds: Option<u64>,
}

/// Delete a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteMetadata {
    /// The record's key.
    pub key: MetadataKey,
    /// The version that the caller saw; 0 when there was no record.
    pub version: Option<u64>,
}

/// Remove rows of sets that are no longer visible. Such rows cannot change any more, so the caller has read them
/// already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepMetadata {
    /// The record that they belonged to.
    pub id: MetadataId,
    /// Items.
    pub items: Vec<SweptItem>,
    /// Counters of sets.
    pub sets: Vec<SetNumber>,
    /// Given once nothing is left of the sets below this number.
    pub finished_below: Option<SetNumber>,
}
