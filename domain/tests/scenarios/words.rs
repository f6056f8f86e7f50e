//! The vocabulary of the scenarios: values and commands with defaults for everything that a test does not mention.

use std::hash::{DefaultHasher, Hash, Hasher};
use till_domain::acquirer::{AccountMode, AcquirerName, AcquirerRef, CardEntry};
use till_domain::card::{CardAtAcquirer, CardExpiry, CardFacts, CardFingerprint, CardScheme, SaveCard, TokenUsage};
use till_domain::checkout::{CHECKOUT_LIFETIME_MAX_SECONDS, CheckoutRef};
use till_domain::command::{
    AcquirerChange, AddAcquirer, AddInstallation, AddToMetadataSet, AddTopup, AdvanceClock, ApprovedAuthorization,
    AuthenticationResult, AuthorizationResult, CallResult, Cancellation, CapturePayment, ChallengeDispute,
    ChargeInvoice, CheckoutChoice, Command, ConnectWebhook, ContactChange, ContactFields, CreateMerchant,
    DeleteMetadata, EvidenceResult, Expired, GenerateKey, InitiatePayment, InviteUser, KnownAccount, MovedMoney,
    NewRefundLimit, OpenDispute, PayCheckout, PublicAddress, RecordOperation, RedeliverWebhook, RedeliveredEvents,
    RefundPayment, RemoveFromMetadataSet, RequiredAction, RotateSecret, SaveCardOfToken, SeatCommand,
    SelectPaymentMethod, Selection, SendPayout, StartCheckout, StepClock, SyncMetadata, TeamChange, TokenizeCard,
    UnsentPayment, UpdateAcquirer, UpdateInstallation, UpdateMerchant, UpdateUser, UpdateWebhook, WebhookChange,
};
use till_domain::customer::{CardRef, CustomerFields, CustomerRef};
use till_domain::customer_action::CustomerStep;
use till_domain::dispute::DisputeOutcome;
use till_domain::effect::Timer;
use till_domain::failure::{Failure, FailureCode};
use till_domain::ids::{
    AcquirerId, CardId, CheckoutId, CustomerId, DisputeId, InstallationId, InvitationId, KeyId, MerchantId, PaymentId,
    PayoutId, PlanId, RefundId, SessionId, TokenId, UserId, WebhookEventId, WebhookId,
};
use till_domain::key::KeyDigest;
use till_domain::merchant::{Integration, PaymentMethod, Platform};
use till_domain::metadata::{CanonicalJson, MetadataPath};
use till_domain::money::{AmountMinor, FeeRate, Money};
use till_domain::payment::{OperationKind, PaymentRef};
use till_domain::preparation::Preparation;
use till_domain::refusal::Refusal;
use till_domain::role::Role;
use till_domain::session::{InstallmentPlan, InterestBearer};
use till_domain::text::{
    AcquirerCode, ActionAddress, Description, DestinationUrl, Email, Evidence, ExternalId, HeaderName, HolderName,
    InstallationIdentifier, MetadataKey, Mobile, Name, PersonName, QrText, Reason, ReturnUrl, TimeZone,
};
use till_domain::time::Millis;
use till_domain::webhook::{Subscription, WebhookEvent, WebhookEventKind, WebhookTest};

/// The amount of most payments here, in minor units.
pub(crate) const PRICE_MINOR: u64 = 10_000;

pub(crate) fn amount(minor: u64) -> AmountMinor {
    AmountMinor::new(minor).expect("a test amount in range")
}

pub(crate) fn thb(minor: u64) -> Money {
    Money { amount: amount(minor), currency: "THB".parse().expect("THB is a currency") }
}

pub(crate) fn usd(minor: u64) -> Money {
    Money { amount: amount(minor), currency: "USD".parse().expect("USD is a currency") }
}

/// The refusal of a payment over `given` from a session of the usual price.
pub(crate) fn differs(given: Money) -> Refusal {
    Refusal::AmountMismatch { given, session: thb(PRICE_MINOR) }
}

pub(crate) fn external(text: &str) -> ExternalId {
    ExternalId::new(text).expect("a test identifier of proper form")
}

pub(crate) fn email(text: &str) -> Email {
    Email::new(text).expect("a test address of proper form")
}

pub(crate) fn mobile(text: &str) -> Mobile {
    Mobile::new(text).expect("a test number of proper form")
}

pub(crate) fn person(text: &str) -> PersonName {
    PersonName::new(text).expect("a test name of proper form")
}

/// Facts of the card with this number. Different numbers have different fingerprints.
pub(crate) fn card_facts(number: u8) -> CardFacts {
    CardFacts {
        scheme: CardScheme::Visa,
        first_digits: "424242".to_owned(),
        last_digits: format!("{number:04}"),
        expiry: CardExpiry { year: 2030, month: 12 },
        holder: Some(HolderName::new("S JAIDEE").expect("a test name of proper form")),
        fingerprint: CardFingerprint([number; 32]),
    }
}

/// Customer fields without a value; the methods of [`Person`] set them.
pub(crate) fn customer_fields() -> CustomerFields {
    CustomerFields::default()
}

/// Methods that set one customer field each.
pub(crate) trait Person {
    fn own(self, id: CustomerId) -> Self;
    fn known_as(self, external_id: &str) -> Self;
    fn email(self, text: &str) -> Self;
    fn mobile(self, text: &str) -> Self;
    fn called(self, text: &str) -> Self;
}

impl Person for CustomerFields {
    fn own(mut self, id: CustomerId) -> Self {
        self.id = Some(CustomerRef::Own(id));
        self
    }

    fn known_as(mut self, external_id: &str) -> Self {
        self.id = Some(CustomerRef::External(external(external_id)));
        self
    }

    fn email(mut self, text: &str) -> Self {
        self.contact.email = Some(email(text));
        self
    }

    fn mobile(mut self, text: &str) -> Self {
        self.contact.mobile = Some(mobile(text));
        self
    }

    fn called(mut self, text: &str) -> Self {
        self.contact.name = Some(person(text));
        self
    }
}

/// The caller of a command, named without the ids of the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestCaller {
    /// The merchant's program with the key that the world was opened with.
    Merchant,
    /// The merchant's program with another key.
    MerchantWith(KeyId),
    /// A member of the team.
    Member(UserId),
    /// The customer's client.
    Client,
    /// A client of another installation.
    ClientOf(InstallationId),
    /// The operator.
    Operator,
    /// Till itself.
    Till,
}

/// A command with its caller and, if there is one, its idempotency key.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) caller: TestCaller,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) command: Command,
}

impl Ask {
    pub(crate) fn of(caller: TestCaller, command: Command) -> Ask {
        Ask { caller, idempotency_key: None, command }
    }

    pub(crate) fn by(mut self, caller: TestCaller) -> Ask {
        self.caller = caller;
        self
    }

    /// The same with an idempotency key.
    pub(crate) fn named(mut self, key: &str) -> Ask {
        self.idempotency_key = Some(key.to_owned());
        self
    }

    /// A fingerprint that is equal for equal commands, as far as Debug shows them.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = DefaultHasher::new();
        format!("{:?}", self.command).hash(&mut hasher);
        let mut fingerprint = [0; 32];
        fingerprint[..8].copy_from_slice(&hasher.finish().to_be_bytes());
        fingerprint
    }
}

/// Declares the functions of commands without optional arguments: `Till expire(id: PaymentId) = ExpirePayment(id);`
/// makes `expire(id)`, the command `ExpirePayment` of the caller [`TestCaller::Till`].
macro_rules! asks {
    ($($(#[$doc:meta])* $caller:ident $name:ident($($argument:ident: $kind:ty),*)
        = $command:ident $(($($part:expr),+))?;)+) => {$(
        $(#[$doc])*
        pub(crate) fn $name($($argument: $kind),*) -> Ask {
            Ask::of(TestCaller::$caller, Command::$command $(($($part),+))?)
        }
    )+};
}

asks! {
    Till result(payment_id: PaymentId, result: AuthorizationResult) = RecordAuthorization(payment_id, result);
    /// A call of capture-payment over the whole authorized amount.
    Merchant capture(id: PaymentId) = CapturePayment(CapturePayment { payment: PaymentRef::Own(id), amount: None });
    /// A call of capture-payment over a part.
    Merchant capture_part(id: PaymentId, minor: u64) =
        CapturePayment(CapturePayment { payment: PaymentRef::Own(id), amount: Some(amount(minor)) });
    Merchant void(id: PaymentId) = VoidPayment(PaymentRef::Own(id));
    Merchant reverse(id: PaymentId) = ReversePayment(PaymentRef::Own(id));
    Till expire(id: PaymentId) = ExpirePayment(id);
    /// The acquirer's answer to this attempt of a payment's operation.
    Till operation_answered(id: PaymentId, kind: OperationKind, attempt: u32, result: CallResult) =
        RecordOperation(RecordOperation { payment_id: id, kind, attempt, result });
    Till refund_answered(id: RefundId, result: CallResult) = RecordRefund(id, result);
    Merchant payout(minor: u64) =
        SendPayout(SendPayout { amount: amount(minor), external_id: None, description: None });
    Till payout_answered(id: PayoutId, result: CallResult) = RecordPayout(id, result);
    Till evidence_answered(id: DisputeId, result: EvidenceResult) = RecordEvidence(id, result);
    Merchant concede(id: DisputeId) = ConcedeDispute(id);
    Operator escalate(id: DisputeId) = EscalateDispute(id);
    Operator close(id: DisputeId, outcome: DisputeOutcome) = CloseDispute(id, outcome);
    Till given_back(id: PaymentId, result: CallResult) = RecordGivenBack(id, result);
    Till fire(timers: impl IntoIterator<Item = Timer>) = FireTimers(timers.into_iter().collect());
    /// The command that checks an advance of a merchant's test clock, before its steps.
    Operator judge_advance(merchant_id: MerchantId, to: Millis) = JudgeAdvance(AdvanceClock { merchant_id, to });
    Operator advance_clock(merchant_id: MerchantId, to: Millis) = AdvanceClock(AdvanceClock { merchant_id, to });
    Till step_clock(merchant_id: MerchantId, to: Millis, timers: Vec<Timer>) =
        StepClock(StepClock { merchant_id, to, timers });
    Till sweep(expired: impl IntoIterator<Item = Expired>) = Sweep(expired.into_iter().collect());
    Operator revoke_key(key_id: KeyId) = RevokeKey(key_id);
    Operator remove_installation(id: InstallationId) = RemoveInstallation(id);
    Operator suspend() = SuspendMerchant;
    Operator resume() = ResumeMerchant;
    Operator take_card_numbers(allowed: bool) =
        UpdateMerchant(UpdateMerchant { card_numbers_in_identifiers: Some(allowed), color: None });
    Operator open_balance() = OpenBalance;
    Operator topup(minor: u64) = AddTopup(AddTopup { amount: amount(minor), external_id: None });
    Operator invoice(minor: u64) =
        ChargeInvoice(ChargeInvoice { amount: amount(minor), external_id: None, description: None });
    Operator topup_known_as(minor: u64, external_id: &str) =
        AddTopup(AddTopup { amount: amount(minor), external_id: Some(external(external_id)) });
    Operator configure(method: PaymentMethod, integration: Integration) =
        ConfigurePaymentMethod(method, integration, account_of(integration, PublicAddress::Https));
    Operator configure_behind(address: PublicAddress, method: PaymentMethod, integration: Integration) =
        ConfigurePaymentMethod(method, integration, account_of(integration, address));
    Operator change_account(change: AcquirerChange) = ChangeAcquirer(merchant(), change);
    Operator remove_account(id: AcquirerId) = ChangeAcquirer(merchant(), AcquirerChange::Remove(id));
    /// A call of delete-metadata.
    Merchant delete(key: &str) = DeleteMetadata(DeleteMetadata { key: metadata_key(key), version: None });
}

/// The fields of a contact, by the identifier, address, number and name of a person.
fn contact_fields(person: &CustomerFields) -> ContactFields {
    let external_id = person.id.as_ref().and_then(|id| match id {
        CustomerRef::External(external_id) => Some(external_id.clone()),
        CustomerRef::Own(_) => None,
    });
    ContactFields { external_id, contact: person.contact.clone() }
}

fn contact_change(change: ContactChange) -> Ask {
    Ask::of(TestCaller::Merchant, Command::ChangeContact(change))
}

pub(crate) fn add_contact(person: &CustomerFields) -> Ask {
    contact_change(ContactChange::Add(contact_fields(person)))
}

pub(crate) fn update_contact(id: CustomerId, person: &CustomerFields) -> Ask {
    contact_change(ContactChange::Update(CustomerRef::Own(id), contact_fields(person)))
}

pub(crate) fn remove_contact(id: CustomerId) -> Ask {
    contact_change(ContactChange::Remove(CustomerRef::Own(id)))
}

pub(crate) fn save_card(token_id: TokenId, id: CustomerId) -> Ask {
    let customer = CustomerRef::Own(id);
    contact_change(ContactChange::SaveCard(SaveCardOfToken {
        token_id,
        customer,
        external_id: None,
        is_default: false,
    }))
}

pub(crate) fn save_card_known_as(token_id: TokenId, id: CustomerId, text: &str) -> Ask {
    let (customer, external_id) = (CustomerRef::Own(id), Some(external(text)));
    contact_change(ContactChange::SaveCard(SaveCardOfToken { token_id, customer, external_id, is_default: false }))
}

pub(crate) fn set_default_card(id: CustomerId, card_id: CardId) -> Ask {
    contact_change(ContactChange::SetDefaultCard(CustomerRef::Own(id), CardRef::Own(card_id)))
}

pub(crate) fn forget_card(id: CustomerId, card_id: CardId) -> Ask {
    contact_change(ContactChange::ForgetCard(CustomerRef::Own(id), CardRef::Own(card_id)))
}

/// A call of select-payment-method over [`PRICE_MINOR`], without customer fields.
#[derive(Debug, Clone)]
pub(crate) struct Select(SelectPaymentMethod);

pub(crate) fn select(selection: Selection) -> Select {
    Select(SelectPaymentMethod { money: thb(PRICE_MINOR), selection, customer: customer_fields() })
}

pub(crate) fn select_token(token_id: TokenId) -> Select {
    select(Selection::Token(token_id))
}

pub(crate) fn select_saved(card_id: CardId) -> Select {
    select(Selection::SavedCard(CardRef::Own(card_id)))
}

pub(crate) fn select_installment(interest_bearer: InterestBearer) -> Select {
    select(Selection::Installment(InstallmentPlan::SandboxThreeMonths, interest_bearer))
}

impl Select {
    pub(crate) fn money(mut self, money: Money) -> Select {
        self.0.money = money;
        self
    }

    pub(crate) fn customer(mut self, customer: CustomerFields) -> Select {
        self.0.customer = customer;
        self
    }
}

impl From<Select> for Ask {
    fn from(select: Select) -> Ask {
        Ask::of(TestCaller::Client, Command::SelectPaymentMethod(select.0))
    }
}

/// A call of initiate-payment-flow over [`PRICE_MINOR`], captured on authorization, without optional arguments.
#[derive(Debug, Clone)]
pub(crate) struct InitiateCall(pub(crate) InitiatePayment);

pub(crate) fn initiate(session_id: SessionId) -> InitiateCall {
    let return_url = ReturnUrl::new("https://shop.example/return").expect("a test URL of proper form");
    InitiateCall(InitiatePayment::of_session(session_id, thb(PRICE_MINOR), return_url))
}

impl InitiateCall {
    pub(crate) fn money(mut self, money: Money) -> InitiateCall {
        self.0.money = money;
        self
    }

    pub(crate) fn external_id(mut self, text: &str) -> InitiateCall {
        self.0.external_id = Some(external(text));
        self
    }

    pub(crate) fn card(mut self, card_id: CardId) -> InitiateCall {
        self.0.card = Some(CardRef::Own(card_id));
        self
    }

    pub(crate) fn card_known_as(mut self, text: &str) -> InitiateCall {
        self.0.card = Some(CardRef::External(external(text)));
        self
    }

    /// `capture: false`.
    pub(crate) fn authorize_only(mut self) -> InitiateCall {
        self.0.capture = false;
        self
    }

    pub(crate) fn customer(mut self, customer: CustomerFields) -> InitiateCall {
        self.0.customer = customer;
        self
    }

    pub(crate) fn save(mut self, save_card: SaveCard) -> InitiateCall {
        self.0.save_card = Some(save_card);
        self
    }

    pub(crate) fn bearer(mut self, interest_bearer: InterestBearer) -> InitiateCall {
        self.0.interest_bearer = Some(interest_bearer);
        self
    }

    pub(crate) fn named(self, key: &str) -> Ask {
        Ask::from(self).named(key)
    }
}

impl From<InitiateCall> for Ask {
    fn from(initiate: InitiateCall) -> Ask {
        Ask::of(TestCaller::Merchant, Command::InitiatePayment(initiate.0))
    }
}

pub(crate) fn tokenize(number: u8, usage: TokenUsage) -> Ask {
    tokenize_with_expiry(number, usage, card_facts(number).expiry)
}

pub(crate) fn tokenize_with_expiry(number: u8, usage: TokenUsage, expiry: CardExpiry) -> Ask {
    let card = CardFacts { expiry, ..card_facts(number) };
    Ask::of(TestCaller::Client, Command::TokenizeCard(TokenizeCard { card, usage }))
}

/// The acquirer's approval: not captured, settled when the merchant's delay is over.
pub(crate) fn approved() -> AuthorizationResult {
    approval(false, false, false)
}

pub(crate) fn approved_and_captured() -> AuthorizationResult {
    approval(true, false, false)
}

/// Captured with a card whose payments are disputed at once.
pub(crate) fn approved_captured_and_disputed() -> AuthorizationResult {
    approval(true, false, true)
}

pub(crate) fn approved_captured_and_settled() -> AuthorizationResult {
    approval(true, true, false)
}

fn approval(captured: bool, settles_at_once: bool, is_disputed: bool) -> AuthorizationResult {
    AuthorizationResult::Approved(ApprovedAuthorization {
        acquirer_reference: "sandbox-1".to_owned(),
        captured,
        settles_at_once,
        is_disputed,
        authentication: None,
        capture_before: None,
        card: None,
    })
}

/// An approval, not captured, of a card that was entered at the acquirer's page, which must be captured in time.
pub(crate) fn approved_on_page(last_digits: &str, capture_before: Millis) -> AuthorizationResult {
    let expiry = CardExpiry { year: 2049, month: 12 };
    let card = CardAtAcquirer { scheme: CardScheme::Visa, last_digits: last_digits.to_owned(), expiry };
    AuthorizationResult::Approved(ApprovedAuthorization {
        acquirer_reference: "pi_1".to_owned(),
        captured: false,
        settles_at_once: false,
        is_disputed: false,
        authentication: None,
        capture_before: Some(capture_before),
        card: Some(card),
    })
}

pub(crate) fn declined() -> AuthorizationResult {
    AuthorizationResult::Declined { failure: FailureCode::CardDeclined.into(), authentication: None }
}

/// The acquirer asks the customer to pass a 3-D Secure challenge within ten minutes.
pub(crate) fn challenge_required() -> AuthorizationResult {
    action_required(CustomerStep::Redirect(ActionAddress::from_stored("/sandbox/challenge/1".to_owned())), true, 600)
}

/// The acquirer asks the customer to scan a code within a quarter of an hour.
pub(crate) fn scan_required() -> AuthorizationResult {
    action_required(CustomerStep::DisplayQr(QrText::from_stored("000201".to_owned())), false, 900)
}

fn action_required(step: CustomerStep, authenticates: bool, lifetime_seconds: u64) -> AuthorizationResult {
    AuthorizationResult::NeedsAction(RequiredAction { step, authenticates, lifetime_seconds })
}

/// The acquirer asks the customer to pay on its page within half an hour.
pub(crate) fn page_required() -> AuthorizationResult {
    let address = ActionAddress::from_stored("https://acquirer.example/pay/cs_1".to_owned());
    action_required(CustomerStep::Redirect(address), false, 1_800)
}

/// The acquirer has prepared a payment that is made on its page.
pub(crate) fn prepared_with_page(id: PaymentId, reference: &str) -> Ask {
    let page = Some(ActionAddress::from_stored(format!("https://acquirer.example/pay/{reference}")));
    prepared(Preparation { payment_id: id, acquirer_reference: reference.to_owned(), page })
}

/// The acquirer has prepared a payment without a page.
pub(crate) fn prepared_without_page(id: PaymentId, reference: &str) -> Ask {
    prepared(Preparation { payment_id: id, acquirer_reference: reference.to_owned(), page: None })
}

fn prepared(preparation: Preparation) -> Ask {
    Ask::of(TestCaller::Till, Command::RecordPreparation(preparation))
}

/// Nothing was sent to the acquirer for the payment, if its authorization was opened by an instant.
pub(crate) fn unsent(payment_id: PaymentId, opened_by: Millis) -> Ask {
    let code = FailureCode::AcquirerRefusedCredentials;
    Ask::of(TestCaller::Till, Command::FailUnsent(UnsentPayment { payment_id, code, opened_by }))
}

/// An approval or a refusal with what the issuer told of the card.
pub(crate) fn authenticated_as(result: AuthorizationResult, told: AuthenticationResult) -> AuthorizationResult {
    match result {
        AuthorizationResult::Approved(approval) => {
            AuthorizationResult::Approved(ApprovedAuthorization { authentication: Some(told), ..approval })
        }
        AuthorizationResult::Declined { failure, .. } => {
            AuthorizationResult::Declined { failure, authentication: Some(told) }
        }
        AuthorizationResult::NeedsAction(_) | AuthorizationResult::Processing => result,
    }
}

/// The customer gives up.
pub(crate) fn cancel_session(id: SessionId) -> Ask {
    Ask::of(TestCaller::Client, Command::CancelSession(id))
}

/// The acquirer has canceled an action.
pub(crate) fn action_canceled(id: PaymentId) -> Ask {
    Ask::of(TestCaller::Till, Command::RecordCancellation(id, Cancellation::Canceled))
}

/// The acquirer was told too late to cancel an action.
pub(crate) fn canceled_too_late(id: PaymentId, approval: AuthorizationResult) -> Ask {
    let AuthorizationResult::Approved(approval) = approval else { panic!("it is an approval") };
    Ask::of(TestCaller::Till, Command::RecordCancellation(id, Cancellation::TooLate(approval)))
}

/// A call of refund-payment over all that is left, without optional arguments.
#[derive(Debug, Clone)]
pub(crate) struct RefundOf(RefundPayment);

pub(crate) fn refund(id: PaymentId) -> RefundOf {
    RefundOf(RefundPayment { payment: PaymentRef::Own(id), amount: None, external_id: None, reason: None })
}

impl RefundOf {
    pub(crate) fn part(mut self, minor: u64) -> RefundOf {
        self.0.amount = Some(amount(minor));
        self
    }

    pub(crate) fn external_id(mut self, text: &str) -> RefundOf {
        self.0.external_id = Some(external(text));
        self
    }

    pub(crate) fn because(mut self, text: &str) -> RefundOf {
        self.0.reason = Some(Reason::new(text).expect("a test reason of proper form"));
        self
    }

    /// Names the payment by the merchant's external id.
    pub(crate) fn of_payment_known_as(mut self, text: &str) -> RefundOf {
        self.0.payment = PaymentRef::External(external(text));
        self
    }
}

impl From<RefundOf> for Ask {
    fn from(refund: RefundOf) -> Ask {
        Ask::of(TestCaller::Merchant, Command::RefundPayment(refund.0))
    }
}

/// The reason with which the acquirer declines in these tests.
pub(crate) fn refusal_by_acquirer() -> Failure {
    let acquirer_code = Some(AcquirerCode::new("not_today").expect("a word"));
    Failure { code: FailureCode::AcquirerRefusedRequest, acquirer_code }
}

fn account_of(integration: Integration, address: PublicAddress) -> Option<(AcquirerId, PublicAddress)> {
    integration.acquirer.account_id().map(|id| (id, address))
}

/// The acquirer's success.
pub(crate) fn succeeded() -> CallResult {
    CallResult::Done(MovedMoney::of("acquirer:1"))
}

/// The acquirer's refusal.
pub(crate) fn refused() -> CallResult {
    CallResult::Declined(refusal_by_acquirer())
}

pub(crate) fn capture_done(id: PaymentId) -> Ask {
    operation_answered(id, OperationKind::Capture, 1, succeeded())
}

pub(crate) fn void_done(id: PaymentId) -> Ask {
    operation_answered(id, OperationKind::Void, 1, succeeded())
}

pub(crate) fn reversal_done(id: PaymentId) -> Ask {
    operation_answered(id, OperationKind::Reverse, 1, succeeded())
}

pub(crate) fn refund_done(id: RefundId) -> Ask {
    refund_answered(id, succeeded())
}

pub(crate) fn payout_known_as(minor: u64, external_id: &str) -> Ask {
    let description = Some(Description::new("week 14").expect("a test description of proper form"));
    let command = SendPayout { amount: amount(minor), external_id: Some(external(external_id)), description };
    Ask::of(TestCaller::Merchant, Command::SendPayout(command))
}

pub(crate) fn payout_done(id: PayoutId) -> Ask {
    payout_answered(id, succeeded())
}

/// A call of open-dispute about all that is left.
pub(crate) fn dispute(id: PaymentId) -> Ask {
    dispute_of(id, None)
}

/// A call of open-dispute about a part.
pub(crate) fn dispute_part(id: PaymentId, minor: u64) -> Ask {
    dispute_of(id, Some(amount(minor)))
}

fn dispute_of(id: PaymentId, amount: Option<AmountMinor>) -> Ask {
    let reason = Some(Reason::new("goods not received").expect("a test reason of proper form"));
    let command = OpenDispute { payment: PaymentRef::Own(id), amount, reason };
    Ask::of(TestCaller::Operator, Command::OpenDispute(command))
}

pub(crate) fn challenge(dispute_id: DisputeId, evidence: &str) -> Ask {
    let evidence = Evidence::new(evidence).expect("test evidence of proper form");
    Ask::of(TestCaller::Merchant, Command::ChallengeDispute(ChallengeDispute { dispute_id, evidence }))
}

pub(crate) fn with_test_clock(mut ask: Ask) -> Ask {
    if let Command::CreateMerchant(command) = &mut ask.command {
        command.test_clock = true;
    }
    ask
}

pub(crate) fn create_merchant(merchant_id: MerchantId) -> Ask {
    create_merchant_settling_after(merchant_id, till_domain::merchant::SETTLEMENT_DELAY_DEFAULT_SECONDS)
}

pub(crate) fn create_merchant_settling_after(merchant_id: MerchantId, settlement_delay_seconds: u64) -> Ask {
    let command = CreateMerchant {
        merchant_id,
        name: Name::new("Baan Coffee").expect("a test name of proper form"),
        currency: thb(1).currency,
        time_zone: TimeZone::new("Asia/Bangkok").expect("a test zone of proper form"),
        settlement_delay_seconds,
        support_email: None,
        card_numbers_in_identifiers: false,
        test_clock: false,
    };
    Ask::of(TestCaller::Operator, Command::CreateMerchant(command))
}

pub(crate) fn generate_key(merchant_id: MerchantId, digest: u8, expires_at: Option<Millis>) -> Ask {
    let command = GenerateKey {
        merchant_id,
        name: Name::new("server").expect("a test name of proper form"),
        digest: KeyDigest([digest; 32]),
        display: "sk_00000".to_owned(),
        api_version: "2025-04-01".to_owned(),
        expires_at,
        role: Role::Owner,
        refund_limit: None,
    };
    Ask::of(TestCaller::Operator, Command::GenerateKey(command))
}

/// The same with a role.
pub(crate) fn key_of_role(merchant_id: MerchantId, digest: u8, role: Role, refund_limit: Option<AmountMinor>) -> Ask {
    let ask = generate_key(merchant_id, digest, None);
    let Command::GenerateKey(command) = ask.command else { panic!("a key is made") };
    Ask::of(TestCaller::Operator, Command::GenerateKey(GenerateKey { role, refund_limit, ..command }))
}

pub(crate) fn rename_key(key_id: KeyId, name: &str) -> Ask {
    let name = Name::new(name).expect("a test name of proper form");
    Ask::of(TestCaller::Merchant, Command::RenameKey(key_id, name))
}

/// A call about the team of the merchant that every world has.
fn change_team(change: TeamChange) -> Ask {
    Ask::of(TestCaller::Merchant, Command::ChangeTeam(merchant(), change))
}

pub(crate) fn invite(address: &str) -> Ask {
    invite_as(address, Role::Viewer, None)
}

pub(crate) fn invite_as(address: &str, role: Role, refund_limit: Option<AmountMinor>) -> Ask {
    change_team(TeamChange::InviteUser(InviteUser { email: email(address), role, refund_limit }))
}

pub(crate) fn update_user(user_id: UserId, role: Option<Role>, refund_limit: Option<NewRefundLimit>) -> Ask {
    change_team(TeamChange::UpdateUser(UpdateUser { user_id, role, refund_limit }))
}

pub(crate) fn accept(id: InvitationId) -> Ask {
    change_team(TeamChange::AcceptInvitation(id))
}

/// Till's own call for somebody who follows an invitation's address.
pub(crate) fn join(id: InvitationId, step: u64) -> Ask {
    Ask { caller: TestCaller::Till, ..change_team(TeamChange::Join(id, step)) }
}

/// Till's own call for a member.
pub(crate) fn change_seat(id: UserId, command: SeatCommand) -> Ask {
    Ask { caller: TestCaller::Till, ..change_team(TeamChange::ChangeSeat(id, command)) }
}

pub(crate) fn remove_user(id: UserId) -> Ask {
    change_team(TeamChange::RemoveUser(id))
}

pub(crate) fn select_plan(id: PlanId) -> Ask {
    change_team(TeamChange::SelectPlan(id))
}

pub(crate) fn add_installation() -> Ask {
    let command = AddInstallation {
        name: Name::new("shop").expect("a test name of proper form"),
        platform: Platform::Web,
        identifier: InstallationIdentifier::new("https://shop.example").expect("a test origin of proper form"),
    };
    Ask::of(TestCaller::Operator, Command::AddInstallation(command))
}

/// Gives an installation another name, identifier or both.
pub(crate) fn update_installation(id: InstallationId, name: Option<&str>, identifier: Option<&str>) -> Ask {
    let name = name.map(|name| Name::new(name).expect("a test name of proper form"));
    let identifier = identifier.map(|text| InstallationIdentifier::new(text).expect("a test origin of proper form"));
    Ask::of(
        TestCaller::Operator,
        Command::UpdateInstallation(UpdateInstallation { installation_id: id, name, identifier }),
    )
}

pub(crate) fn invoice_known_as(minor: u64, external_id: &str) -> Ask {
    let description = Some(Description::new("fees of March").expect("a test description of proper form"));
    let command = ChargeInvoice { amount: amount(minor), external_id: Some(external(external_id)), description };
    Ask::of(TestCaller::Operator, Command::ChargeInvoice(command))
}

/// A payment method that cannot be selected.
pub(crate) fn disabled() -> Integration {
    Integration { enabled: false, ..Integration::initial() }
}

/// A payment method that always captures.
pub(crate) fn always_capturing() -> Integration {
    Integration { authorizes_without_capture: false, ..Integration::initial() }
}

pub(crate) fn with_fee(basis_points: u16, fixed_minor: u64) -> Integration {
    let fee = FeeRate { basis_points, fixed_minor };
    Integration { acquirer: AcquirerRef::Sandbox, fee, ..Integration::initial() }
}

/// A payment method at an account.
pub(crate) fn at_account(id: AcquirerId) -> Integration {
    Integration { acquirer: AcquirerRef::Account(AcquirerName::Stripe, id), ..Integration::initial() }
}

/// What the acquirer says of an account.
pub(crate) fn known(mode: AccountMode, account: &str) -> KnownAccount {
    KnownAccount { mode, account: Some(account.to_owned()), secret_hint: "sk_test_...0000".to_owned() }
}

/// An account with a secret for calls only, which takes card numbers.
pub(crate) fn new_account(known: KnownAccount) -> AddAcquirer {
    AddAcquirer {
        acquirer: AcquirerName::Stripe,
        name: Name::new("Bangkok").expect("a test name of proper form"),
        known,
        card_entry: CardEntry::Number,
        has_webhook_secret: false,
    }
}

pub(crate) fn add_account(known: KnownAccount) -> Ask {
    change_account(AcquirerChange::Add(new_account(known)))
}

/// A change of an account that changes nothing yet.
pub(crate) fn account_update(acquirer_id: AcquirerId) -> UpdateAcquirer {
    UpdateAcquirer { acquirer_id, name: None, known: None, card_entry: None, has_webhook_secret: false }
}

pub(crate) fn update_account(update: UpdateAcquirer) -> Ask {
    change_account(AcquirerChange::Update(update))
}

fn metadata_key(text: &str) -> MetadataKey {
    MetadataKey::new(text).expect("a test key of proper form")
}

fn metadata_path(text: &str) -> MetadataPath {
    MetadataPath::parse(text).expect("a test path of proper form")
}

/// A call of add-to-metadata-set with an item in canonical form, without optional arguments.
pub(crate) fn add(key: &str, path: &str, item: &str) -> Ask {
    let command = AddToMetadataSet {
        key: metadata_key(key),
        path: metadata_path(path),
        item: CanonicalJson::from_canonical(item),
        version: None,
        ttl_seconds: None,
    };
    Ask::of(TestCaller::Merchant, Command::AddToMetadataSet(command))
}

/// A call of remove-from-metadata-set.
pub(crate) fn remove(key: &str, path: &str, item: &str) -> Ask {
    let item = CanonicalJson::from_canonical(item);
    let command = RemoveFromMetadataSet { key: metadata_key(key), path: metadata_path(path), item, version: None };
    Ask::of(TestCaller::Merchant, Command::RemoveFromMetadataSet(command))
}

/// A call of sync-metadata.
pub(crate) fn sync(key: &str, metadata: &str) -> Ask {
    let metadata = CanonicalJson::from_canonical(metadata);
    let command = SyncMetadata { key: metadata_key(key), metadata, version: None, ttl_seconds: None };
    Ask::of(TestCaller::Merchant, Command::SyncMetadata(command))
}

/// Optional arguments of the calls about metadata.
impl Ask {
    pub(crate) fn at_version(mut self, seen: u64) -> Ask {
        if let Command::AddToMetadataSet(AddToMetadataSet { version, .. })
        | Command::RemoveFromMetadataSet(RemoveFromMetadataSet { version, .. })
        | Command::SyncMetadata(SyncMetadata { version, .. })
        | Command::DeleteMetadata(DeleteMetadata { version, .. }) = &mut self.command
        {
            *version = Some(seen);
        }
        self
    }

    pub(crate) fn ttl(mut self, seconds: u64) -> Ask {
        if let Command::AddToMetadataSet(AddToMetadataSet { ttl_seconds, .. })
        | Command::SyncMetadata(SyncMetadata { ttl_seconds, .. }) = &mut self.command
        {
            *ttl_seconds = Some(seconds);
        }
        self
    }
}

/// Connects a webhook for these kinds of events, or for all when there are none.
pub(crate) fn connect_webhook(kinds: &[WebhookEventKind]) -> Ask {
    let subscription = if kinds.is_empty() { Subscription::All } else { Subscription::Only(kinds.to_vec()) };
    change_webhook(WebhookChange::Connect(ConnectWebhook {
        name: Name::new("shop").expect("a name"),
        destination_url: DestinationUrl::new("https://shop.example/events").expect("an address"),
        subscription,
        api_version: "2025-04-01".to_owned(),
        signature_header: HeaderName::new("X-Webhook-Signature").expect("a name"),
    }))
}

pub(crate) fn rename_webhook(webhook_id: WebhookId, name: &str) -> Ask {
    change_webhook(WebhookChange::Update(UpdateWebhook {
        webhook_id,
        name: Some(Name::new(name).expect("a name")),
        destination_url: None,
        subscription: None,
        signature_header: None,
    }))
}

pub(crate) fn disconnect_webhook(id: WebhookId) -> Ask {
    change_webhook(WebhookChange::Disconnect(id))
}

pub(crate) fn reconnect_webhook(id: WebhookId) -> Ask {
    change_webhook(WebhookChange::Reconnect(id))
}

pub(crate) fn rotate_webhook_secret(webhook_id: WebhookId) -> Ask {
    change_webhook(WebhookChange::RotateSecret(RotateSecret { webhook_id, ends_previous: false }))
}

/// Rotates the secret after a leak.
pub(crate) fn end_webhook_secrets(webhook_id: WebhookId) -> Ask {
    change_webhook(WebhookChange::RotateSecret(RotateSecret { webhook_id, ends_previous: true }))
}

/// Orders all events from one to another.
pub(crate) fn redeliver_webhook(webhook_id: WebhookId, first: WebhookEvent, last: WebhookEvent) -> Ask {
    redeliver_events(webhook_id, Some((first, last)))
}

/// Orders the events since a time, if there are any.
pub(crate) fn redeliver_events(webhook_id: WebhookId, events: Option<(WebhookEvent, WebhookEvent)>) -> Ask {
    let events = RedeliveredEvents::Range(events);
    change_webhook(WebhookChange::Redeliver(RedeliverWebhook { webhook_id, events }))
}

/// Orders one event, if there is one.
pub(crate) fn redeliver_event(webhook_id: WebhookId, event: Option<WebhookEvent>) -> Ask {
    let events = RedeliveredEvents::One(event);
    change_webhook(WebhookChange::Redeliver(RedeliverWebhook { webhook_id, events }))
}

/// Ends the order that was given after an event.
pub(crate) fn end_redelivery(id: WebhookId, ordered_after: WebhookEventId) -> Ask {
    change_webhook(WebhookChange::EndRedelivery(id, ordered_after)).by(TestCaller::Till)
}

/// Judges a test of a webhook before its attempt.
pub(crate) fn judge_webhook_test(id: WebhookId) -> Ask {
    change_webhook(WebhookChange::JudgeTest(id))
}

/// Keeps the answer of a test.
pub(crate) fn record_webhook_test(result: WebhookTest) -> Ask {
    change_webhook(WebhookChange::RecordTest(result))
}

pub(crate) fn disable_webhook(id: WebhookId) -> Ask {
    change_webhook(WebhookChange::Disable(id)).by(TestCaller::Till)
}

/// The merchant of every world.
fn merchant() -> MerchantId {
    crate::world::raw_id(1, MerchantId::from_raw)
}

fn change_webhook(change: WebhookChange) -> Ask {
    Ask::of(TestCaller::Merchant, Command::ChangeWebhook(merchant(), change))
}

/// A call of start-checkout over the usual price; its methods set what differs.
#[derive(Debug, Clone)]
pub(crate) struct StartCall(pub(crate) StartCheckout);

pub(crate) fn start_checkout(installation_id: InstallationId) -> StartCall {
    StartCall(StartCheckout {
        installation_id,
        external_id: None,
        money: thb(PRICE_MINOR),
        lines: Vec::new(),
        capture: true,
        methods: Vec::new(),
        interest_bearer: InterestBearer::Customer,
        locale: None,
        return_url: ReturnUrl::new("https://shop.example/return").expect("a test URL of proper form"),
        cancel_url: None,
        page_url: None,
        customer: customer_fields(),
        offers_saved_cards: false,
        lifetime_seconds: CHECKOUT_LIFETIME_MAX_SECONDS,
    })
}

impl StartCall {
    pub(crate) fn external_id(mut self, text: &str) -> StartCall {
        self.0.external_id = Some(external(text));
        self
    }

    /// Saved cards are offered to this customer.
    pub(crate) fn offered_to(mut self, customer: CustomerFields) -> StartCall {
        self.0.customer = customer;
        self.0.offers_saved_cards = true;
        self
    }

    pub(crate) fn customer(mut self, customer: CustomerFields) -> StartCall {
        self.0.customer = customer;
        self
    }

    pub(crate) fn lifetime(mut self, seconds: u64) -> StartCall {
        self.0.lifetime_seconds = seconds;
        self
    }

    /// It is shown in a frame of this page.
    pub(crate) fn page(mut self, url: &str) -> StartCall {
        self.0.page_url = Some(ReturnUrl::new(url).expect("a test URL of proper form"));
        self
    }

    /// `capture: false`.
    pub(crate) fn authorize_only(mut self) -> StartCall {
        self.0.capture = false;
        self
    }
}

impl From<StartCall> for Ask {
    fn from(start: StartCall) -> Ask {
        Ask::of(TestCaller::Merchant, Command::StartCheckout(start.0))
    }
}

pub(crate) fn pay_checkout(checkout_id: CheckoutId, choice: CheckoutChoice) -> Ask {
    pay_instead(checkout_id, choice, None)
}

/// The customer pays in another way than by this session.
pub(crate) fn pay_instead(
    checkout_id: CheckoutId,
    choice: CheckoutChoice,
    replaces: impl Into<Option<SessionId>>,
) -> Ask {
    let command = PayCheckout { checkout_id, choice, saves_card: false, replaces: replaces.into() };
    Ask::of(TestCaller::Client, Command::PayCheckout(command))
}

pub(crate) fn expire_checkout(id: CheckoutId) -> Ask {
    Ask::of(TestCaller::Merchant, Command::ExpireCheckout(CheckoutRef::Own(id)))
}
