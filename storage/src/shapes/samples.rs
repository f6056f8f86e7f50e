//! One value of every shape, for tests of bytes. A change here changes the golden bytes without a change of
//! format: add values, and leave those that are here alone.

use std::collections::HashSet;

use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor, PlanSwitch};
use till_domain::card::{
    Card, CardExpiry, CardFacts, CardFingerprint, CardScheme, SaveCard, Token, TokenQueue, TokenUsage, TokenUse,
};
use till_domain::command::{Caller, IdempotencyScope};
use till_domain::customer::{Contact, Customer, CustomerFields, CustomerRef};
use till_domain::dispute::{Dispute, DisputeOutcome, DisputeStatus, OpenDispute};
use till_domain::effect::{Effect, EffectKind, Timer, TimerKind};
use till_domain::event::{Answer, DisputeClosing, Event, Mutation, StoredAnswer};
use till_domain::ids::{
    ActivityId, CardId, CustomerId, DeliveryId, DisputeId, EntryId, IdPosition, InstallationId, InvitationId,
    InvoiceId, KeyId, MerchantId, MetadataId, PaymentId, PayoutId, RefundId, SessionId, StatementId, TokenId, TopupId,
    TransactionId, UserId, WebhookEventId, WebhookId,
};
use till_domain::key::{ApiKey, KeyDigest};
use till_domain::ledger::{
    Account, BalanceTotals, Cause, Direction, Entry, EntryStatus, EntryType, Invoice, Leg, Topup, Transaction,
};
use till_domain::merchant::{AcquirerName, Installation, Integration, PaymentMethod, Platform, Profile, TestClock};
use till_domain::metadata::{CanonicalJson, Document, ItemHash, MetadataRecord, MetadataSet, SetNumber, SweptItem};
use till_domain::money::{AmountMinor, Currency, FeeRate, Money};
use till_domain::payment::{
    Authorization, Capture, CaptureMode, CaptureTime, Failure, Operation, OperationKind, Payment, PaymentStatus,
    RefusedOperation,
};
use till_domain::payout::{Payout, PayoutStatus};
use till_domain::plan::{GROWTH, PlanChoice, STARTER};
use till_domain::records::{
    self, AnyKey, AnyRow, CreatedMerchant, EmailUse, KeyOwner, MerchantState, Present, Single, Table, Unreadable,
};
use till_domain::refund::{Refund, RefundStatus};
use till_domain::session::{InstallmentPlan, Instrument, InterestBearer, Session};
use till_domain::statement::{EntrySum, Month, MonthEntries, Statement, StatementPeriod};
use till_domain::team::{Acceptance, Invitation, User};
use till_domain::text::{
    Description, DestinationUrl, Email, Evidence, ExternalId, HeaderName, HolderName, IdempotencyKey,
    InstallationIdentifier, MetadataKey, Mobile, Name, PersonName, Reason, ReturnUrl, TimeZone,
};
use till_domain::time::Millis;
use till_domain::webhook::{
    PreviousSecret, Redelivery, SecretSlot, Subscription, Webhook, WebhookEvent, WebhookEventKind, WebhookObject,
    WebhookStatus, WebhookTest,
};

use crate::vault::{SubjectId, SubjectKind};

use super::codec::ShapeError;
use super::personal::Personal;

/// The merchant of the samples.
pub(super) const MERCHANT: MerchantId = MerchantId::from_bytes([0xa1; 16]);
/// The next merchant after it.
pub(super) const OTHER_MERCHANT: MerchantId = MerchantId::from_bytes([0xa2; 16]);

/// Seals legibly, `C` for a customer's data and so on, so that golden bytes do not depend on a cipher.
#[derive(Debug, Default)]
pub(super) struct TestPersonal {
    /// The erased subjects.
    pub(super) erased: HashSet<SubjectId>,
}

fn seal_head(subject: SubjectId, label: &str) -> String {
    let kind = match subject.kind {
        SubjectKind::Customer => 'C',
        SubjectKind::Session => 'S',
        SubjectKind::Payment => 'P',
        SubjectKind::Token => 'T',
    };
    format!("{kind}{:02x}{:02x}|{label}|", subject.id[0], subject.id[15])
}

impl Personal for TestPersonal {
    fn seal(&mut self, subject: SubjectId, label: &'static str, plain: &str) -> Result<Vec<u8>, Unreadable> {
        let reversed: String = plain.chars().rev().collect();
        Ok(format!("{}{reversed}", seal_head(subject, label)).into_bytes())
    }

    fn open(&self, subject: SubjectId, label: &'static str, sealed: &[u8]) -> Result<Option<String>, ShapeError> {
        let sealed = std::str::from_utf8(sealed).expect("sealed as text");
        let plain = sealed.strip_prefix(&seal_head(subject, label)).expect("opened where it was sealed");
        Ok((!self.erased.contains(&subject)).then(|| plain.chars().rev().collect()))
    }

    fn email_digest(&self, email: &Email) -> [u8; 32] {
        *blake3::hash(email.as_str().as_bytes()).as_bytes()
    }

    fn mobile_digest(&self, mobile: &Mobile) -> [u8; 32] {
        *blake3::hash(mobile.as_str().as_bytes()).as_bytes()
    }
}

fn external_id(text: &str) -> Option<ExternalId> {
    Some(ExternalId::new(text).expect("a plain text"))
}

fn thb() -> Currency {
    "THB".parse().expect("a currency")
}

fn amount(minor: u64) -> AmountMinor {
    AmountMinor::new(minor).expect("in range")
}

fn money() -> Money {
    Money { amount: amount(10_000), currency: thb() }
}

fn email() -> Option<Email> {
    Some(Email::new("somchai@example.com").expect("an address"))
}

fn mobile() -> Option<Mobile> {
    Some(Mobile::new("+66812345678").expect("a number"))
}

fn contact() -> Contact {
    let name = Some(PersonName::new("Somchai Jaidee").expect("a name"));
    Contact { email: email(), mobile: mobile(), name }
}

fn profile() -> Profile {
    Profile {
        name: Name::new("Café Siam").expect("a name"),
        currency: thb(),
        time_zone: TimeZone::new("Asia/Bangkok").expect("a zone"),
        settlement_delay_seconds: 172_800,
        support_email: Some(Email::new("support@till.example").expect("an address")),
        created_at: Millis(1_743_500_000_000),
        suspended: false,
        card_numbers_in_identifiers: false,
    }
}

/// The clock of a merchant that is two days ahead.
const fn test_clock() -> TestClock {
    TestClock { offset_ms: 172_800_000 }
}

fn integration() -> Integration {
    let fee = FeeRate { basis_points: 250, fixed_minor: 1_000 };
    Integration { acquirer: AcquirerName::Sandbox, enabled: true, authorizes_without_capture: false, fee }
}

pub(super) fn api_key() -> ApiKey {
    ApiKey {
        id: KeyId::from_bytes([0x0b; 16]),
        digest: KeyDigest([0xd1; 32]),
        display: "sk_01234".to_owned(),
        name: Name::new("checkout").expect("a name"),
        api_version: "2025-04-01".to_owned(),
        created_at: Millis(1_743_500_000_001),
        expires_at: Some(Millis(1_843_500_000_001)),
        revoked_at: None,
    }
}

pub(super) fn installation() -> Installation {
    Installation {
        id: InstallationId::from_bytes([0x0c; 16]),
        name: Name::new("shop").expect("a name"),
        platform: Platform::Web,
        identifier: InstallationIdentifier::new("https://shop.example").expect("an origin"),
        created_at: Millis(1_743_500_000_002),
    }
}

fn card_facts() -> CardFacts {
    CardFacts {
        scheme: CardScheme::Visa,
        first_digits: "424242".to_owned(),
        last_digits: "4242".to_owned(),
        expiry: CardExpiry { year: 2031, month: 12 },
        holder: None,
        fingerprint: CardFingerprint([0xf1; 32]),
    }
}

fn held_card_facts() -> CardFacts {
    CardFacts { holder: Some(HolderName::new("S JAIDEE").expect("a name")), ..card_facts() }
}

pub(super) fn token() -> Token {
    Token {
        id: TokenId::from_bytes([0x06; 16]),
        installation_id: installation().id,
        card: held_card_facts(),
        usage: TokenUsage::Multiple,
        created_at: Millis(1_743_500_000_003),
        expires_at: None,
        used: false,
    }
}

pub(super) fn session() -> Session {
    let id = Some(CustomerRef::External(external_id("buyer-7").expect("given")));
    Session {
        id: SessionId::from_bytes([0x07; 16]),
        installation_id: installation().id,
        money: money(),
        instrument: Instrument::Token { token_id: token().id, usage: TokenUsage::Multiple, card: card_facts() },
        customer: CustomerFields { id, contact: contact() },
        created_at: Millis(1_743_500_000_004),
        expires_at: Millis(1_743_501_800_004),
        payment_id: None,
    }
}

fn other_email() -> Email {
    Email::new("former@example.com").expect("an address")
}

pub(super) fn customer() -> Customer {
    let Contact { email, mobile, name } = contact();
    Customer {
        id: CustomerId::from_bytes([0x09; 16]),
        external_id: external_id("buyer-7"),
        email,
        mobile,
        name,
        other_emails: vec![other_email()],
        default_card_id: Some(card().id),
        created_at: Millis(1_743_500_000_005),
        updated_at: Millis(1_743_500_000_006),
    }
}

pub(super) fn card() -> Card {
    Card {
        id: CardId::from_bytes([0x0a; 16]),
        customer_id: CustomerId::from_bytes([0x09; 16]),
        external_id: external_id("card-1"),
        card: held_card_facts(),
        created_at: Millis(1_743_500_000_007),
        deleted_at: None,
    }
}

fn capture() -> Capture {
    Capture {
        amount_minor: 10_000,
        fee_minor: 1_250,
        transaction_id: TransactionId::from_bytes([0x0d; 16]),
        at: Millis(1_743_500_000_008),
        settles_at: Millis(1_743_672_800_008),
    }
}

fn authorization() -> Authorization {
    let lapses_at = Some(Millis(1_744_104_800_008));
    Authorization { acquirer_reference: "sbx_1".to_owned(), at: Millis(1_743_500_000_008), lapses_at }
}

fn failure() -> Failure {
    Failure { code: "insufficient_funds".to_owned(), message: "The card has insufficient funds.".to_owned() }
}

pub(super) fn payment() -> Payment {
    Payment {
        id: PaymentId::from_bytes([0x08; 16]),
        external_id: external_id("inv_1001"),
        session_id: session().id,
        status: PaymentStatus::Successful,
        money: money(),
        instrument: Instrument::SavedCard { card_id: card().id, owner: customer().id, card: card_facts() },
        acquirer: AcquirerName::Sandbox,
        capture_mode: CaptureMode::Automatic,
        return_url: ReturnUrl::new("https://shop.example/done").expect("a URL"),
        customer_id: Some(customer().id),
        contact: contact(),
        save_card: Some(SaveCard::Default),
        created_at: Millis(1_743_500_000_009),
        authorization: Some(authorization()),
        capture: Some(capture()),
        failure: Some(failure()),
        refunded_minor: 17,
        confirmed_refund_minor: 16,
        operation: Some(operation()),
        last_operation: Some(refused_operation()),
        charged_back_minor: 19,
        open_dispute: Some(OpenDispute { id: DisputeId::from_bytes([0x29; 16]), amount_minor: 2_300 }),
    }
}

fn operation() -> Operation {
    Operation {
        kind: OperationKind::Reverse,
        amount: amount(10_000),
        requested_by: Actor::ApiKey(api_key().id),
        requested_at: Millis(1_743_500_000_018),
        attempt: 2,
    }
}

fn refused_operation() -> RefusedOperation {
    RefusedOperation { kind: OperationKind::Capture, failure: failure(), at: Millis(1_743_500_000_018), attempt: 1 }
}

pub(super) fn webhook() -> Webhook {
    Webhook {
        id: WebhookId::from_bytes([0x1e; 16]),
        name: Name::new("shop").expect("a name"),
        destination_url: DestinationUrl::new("https://shop.example/events").expect("an address"),
        subscription: Subscription::Only(vec![WebhookEventKind::PaymentCompleted, WebhookEventKind::RefundCompleted]),
        api_version: "2025-04-01".to_owned(),
        signature_header: HeaderName::new("X-Webhook-Signature").expect("a name"),
        status: WebhookStatus::Disabled,
        connected_after: WebhookEventId::from_bytes([0x1f; 16]),
        created_at: Millis(1_743_500_000_022),
        disabled_at: Some(Millis(1_743_500_000_023)),
        secret_slot: SecretSlot::Second,
        previous_secrets: vec![PreviousSecret { slot: SecretSlot::First, until: Millis(1_743_500_000_024) }],
        redelivery: Some(Redelivery {
            ordered_after: WebhookEventId::from_bytes([0x2b; 16]),
            first: WebhookEventId::from_bytes([0x2c; 16]),
            last: WebhookEventId::from_bytes([0x2d; 16]),
        }),
    }
}

fn webhook_test() -> WebhookTest {
    let delivery_id = DeliveryId::from_bytes([0x2e; 16]);
    WebhookTest { delivery_id, is_successful: true, response_status: Some(204), latency_ms: Some(300) }
}

pub(super) fn webhook_event() -> WebhookEvent {
    WebhookEvent {
        id: WebhookEventId::from_bytes([0x20; 16]),
        sequence: 300,
        kind: WebhookEventKind::RefundCompleted,
        payment_id: Some(payment().id),
        object: WebhookObject::Refund(refund().id, RefundStatus::Successful),
        amount_minor: 17,
        created_at: Millis(1_743_500_000_025),
        clock_ahead_ms: 86_400_000,
    }
}

fn refund() -> Refund {
    Refund {
        id: RefundId::from_bytes([0x1a; 16]),
        external_id: external_id("back-1"),
        payment_id: payment().id,
        status: RefundStatus::Successful,
        money: Money { amount: amount(17), ..money() },
        is_full: false,
        reason: Some(Reason::new("too small").expect("a reason")),
        failure: Some(failure()),
        requested_by: Actor::ApiKey(api_key().id),
        transaction_id: TransactionId::from_bytes([0x1b; 16]),
        created_at: Millis(1_743_500_000_019),
        refunded_at: Some(Millis(1_743_500_000_020)),
    }
}

fn refund_transaction() -> Transaction {
    Transaction {
        id: refund().transaction_id,
        cause: Cause::Refund(payment().id, refund().id),
        currency: thb(),
        legs: vec![
            leg(0x1c, Account::Balance, Direction::Debit, EntryType::Refund, 17),
            leg(0x1d, Account::AcquirerClearing, Direction::Credit, EntryType::Refund, 17),
        ],
        status: EntryStatus::OnHold,
        created_at: Millis(1_743_500_000_019),
        settles_at: None,
        effective_at: None,
        canceled_at: None,
    }
}

fn invoice() -> Invoice {
    Invoice {
        id: InvoiceId::from_bytes([0x21; 16]),
        external_id: external_id("bill-1"),
        amount: amount(990),
        description: Some(Description::new("fees of March").expect("a description")),
        transaction_id: TransactionId::from_bytes([0x22; 16]),
        created_at: Millis(1_743_500_000_026),
    }
}

fn invoice_transaction() -> Transaction {
    Transaction {
        id: invoice().transaction_id,
        cause: Cause::Invoice(invoice().id),
        currency: thb(),
        legs: vec![
            leg(0x23, Account::Balance, Direction::Debit, EntryType::Invoice, 990),
            leg(0x24, Account::Invoices, Direction::Credit, EntryType::Invoice, 990),
        ],
        status: EntryStatus::Effective,
        created_at: Millis(1_743_500_000_026),
        settles_at: None,
        effective_at: Some(Millis(1_743_500_000_026)),
        canceled_at: None,
    }
}

pub(super) fn webhook_event_of_a_payout() -> WebhookEvent {
    WebhookEvent {
        kind: WebhookEventKind::PayoutCompleted,
        payment_id: None,
        object: WebhookObject::Payout(payout().id, PayoutStatus::Failed),
        ..webhook_event()
    }
}

pub(super) fn webhook_event_of_a_dispute() -> WebhookEvent {
    WebhookEvent {
        kind: WebhookEventKind::DisputeClosed,
        object: WebhookObject::Dispute(dispute().id, DisputeStatus::Lost),
        ..webhook_event()
    }
}

fn dispute() -> Dispute {
    Dispute {
        id: DisputeId::from_bytes([0x29; 16]),
        payment_id: payment().id,
        status: DisputeStatus::Escalated,
        reason: Some(Reason::new("not received").expect("a reason")),
        money: Money { amount: amount(2_300), ..money() },
        evidence: Some(Evidence::new("signed on\narrival").expect("evidence")),
        evidence_due_at: Millis(1_744_104_800_029),
        transaction_id: TransactionId::from_bytes([0x2a; 16]),
        created_at: Millis(1_743_500_000_029),
        closed_at: Some(Millis(1_743_500_000_030)),
    }
}

fn dispute_transaction() -> Transaction {
    Transaction {
        id: dispute().transaction_id,
        cause: Cause::Dispute(payment().id, dispute().id),
        currency: thb(),
        legs: vec![
            leg(0x2b, Account::Balance, Direction::Debit, EntryType::Dispute, 2_300),
            leg(0x2c, Account::Interest, Direction::Credit, EntryType::Interest, 2_300),
        ],
        status: EntryStatus::OnHold,
        created_at: Millis(1_743_500_000_029),
        settles_at: None,
        effective_at: None,
        canceled_at: None,
    }
}

fn dispute_closing() -> DisputeClosing {
    DisputeClosing {
        dispute_id: dispute().id,
        payment_id: payment().id,
        outcome: DisputeOutcome::Conceded,
        amount_minor: 2_300,
        payment_status: PaymentStatus::Reversed,
        uncovered_minor: 18,
        settles_at: Some(Millis(1_743_672_800_008)),
        at: Millis(1_743_500_000_030),
        activities: vec![conceded(), activity()],
    }
}

fn statement_period() -> StatementPeriod {
    StatementPeriod {
        month: Month { year: 2025, number: 5 },
        starts_at: Millis(1_746_032_400_000),
        ends_at: Millis(1_748_710_800_000),
        opening_minor: -1_250,
    }
}

fn statement() -> Statement {
    Statement {
        id: StatementId::from_bytes([0x2d; 16]),
        month: Month { year: 2025, number: 4 },
        starts_at: Millis(1_743_440_400_000),
        ends_at: statement_period().starts_at,
        currency: thb(),
        opening_minor: 10_000,
        entries: month_entries(),
        closed_at: Millis(1_746_032_400_017),
    }
}

fn month_entries() -> MonthEntries {
    let sum = |entry_type, direction, count, amount_minor| EntrySum { entry_type, direction, count, amount_minor };
    MonthEntries {
        first: 300,
        sums: vec![
            sum(EntryType::AddPrefund, Direction::Credit, 1, 1_000),
            sum(EntryType::PayOut, Direction::Debit, 2, 12_250),
        ],
    }
}

fn payout() -> Payout {
    Payout {
        id: PayoutId::from_bytes([0x25; 16]),
        external_id: external_id("out-1"),
        status: PayoutStatus::Failed,
        money: Money { amount: amount(1_099), ..money() },
        description: Some(Description::new("week 14").expect("a description")),
        acquirer: AcquirerName::Sandbox,
        failure: Some(failure()),
        transaction_id: TransactionId::from_bytes([0x26; 16]),
        created_at: Millis(1_743_500_000_027),
        paid_at: Some(Millis(1_743_500_000_028)),
    }
}

fn payout_transaction() -> Transaction {
    Transaction {
        id: payout().transaction_id,
        cause: Cause::Payout(payout().id),
        currency: thb(),
        legs: vec![
            leg(0x27, Account::Balance, Direction::Debit, EntryType::PayOut, 1_099),
            leg(0x28, Account::BankClearing, Direction::Credit, EntryType::PayOut, 1_099),
        ],
        status: EntryStatus::OnHold,
        created_at: Millis(1_743_500_000_027),
        settles_at: None,
        effective_at: None,
        canceled_at: None,
    }
}

/// A payment without a customer: its contact is sealed under a key of its own.
pub(super) fn payment_without_customer() -> Payment {
    let instrument = Instrument::Installment {
        plan: InstallmentPlan::SandboxThreeMonths,
        interest_bearer: InterestBearer::Merchant,
    };
    let contact = Contact { email: None, mobile: None, ..contact() };
    Payment {
        status: PaymentStatus::Pending,
        instrument,
        capture_mode: CaptureMode::Manual,
        customer_id: None,
        contact,
        save_card: None,
        authorization: None,
        capture: None,
        failure: None,
        ..payment()
    }
}

fn effect() -> Effect {
    Effect { payment_id: payment().id, kind: EffectKind::Authorize, opened_at: Millis(1_743_500_000_009) }
}

fn leg(number: u8, account: Account, direction: Direction, entry_type: EntryType, minor: u64) -> Leg {
    Leg { entry_id: EntryId::from_bytes([number; 16]), account, direction, entry_type, amount: amount(minor) }
}

fn transaction() -> Transaction {
    Transaction {
        id: capture().transaction_id,
        cause: Cause::Capture(payment().id),
        currency: thb(),
        legs: vec![
            leg(0x11, Account::Balance, Direction::Credit, EntryType::Payment, 10_000),
            leg(0x12, Account::Balance, Direction::Debit, EntryType::PaymentFee, 1_250),
            leg(0x13, Account::AcquirerClearing, Direction::Debit, EntryType::Payment, 10_000),
            leg(0x14, Account::Fees, Direction::Credit, EntryType::PaymentFee, 1_250),
        ],
        status: EntryStatus::OnHold,
        created_at: Millis(1_743_500_000_008),
        settles_at: Some(Millis(1_743_672_800_008)),
        effective_at: None,
        canceled_at: None,
    }
}

fn topup() -> Topup {
    Topup {
        id: TopupId::from_bytes([0x0e; 16]),
        external_id: external_id("wire-1"),
        amount: amount(5_000_000),
        transaction_id: TransactionId::from_bytes([0x0f; 16]),
        created_at: Millis(1_743_500_000_010),
    }
}

fn topup_transaction() -> Transaction {
    Transaction {
        id: topup().transaction_id,
        cause: Cause::Topup(topup().id),
        currency: thb(),
        legs: vec![
            leg(0x15, Account::Balance, Direction::Credit, EntryType::AddPrefund, 5_000_000),
            leg(0x16, Account::BankClearing, Direction::Debit, EntryType::AddPrefund, 5_000_000),
        ],
        status: EntryStatus::Effective,
        created_at: Millis(1_743_500_000_010),
        settles_at: None,
        effective_at: Some(Millis(1_743_500_000_010)),
        canceled_at: None,
    }
}

fn entry() -> Entry {
    transaction().balance_entries().next().expect("the sample has entries on the balance")
}

fn totals() -> BalanceTotals {
    BalanceTotals {
        effective_credit_minor: 5_000_000,
        effective_debit_minor: 3,
        held_credit_minor: 10_000,
        held_debit_minor: 1_250,
        uncovered_debit_minor: 17,
    }
}

fn activity() -> Activity {
    let object = ActivityObject::Payment(payment().id);
    let actor = Actor::ApiKey(api_key().id);
    Activity::new(
        ActivityId::from_bytes([0x10; 16]),
        Millis(1_743_500_000_008),
        ActivityType::PaymentCaptured,
        actor,
        object,
    )
}

/// The activity of a conceded dispute. There are no other samples about that dispute.
fn conceded() -> Activity {
    let object = ActivityObject::Dispute(DisputeId::from_bytes([0x17; 16]));
    Activity { activity_type: ActivityType::DisputeConceded, object, parent: Some(payment().id), ..activity() }
}

fn member_email() -> Email {
    Email::new("ada@shop.example").expect("an address")
}

pub(super) fn invitation() -> Invitation {
    Invitation {
        id: InvitationId::from_bytes([0x18; 16]),
        email: member_email(),
        created_at: Millis(1_743_500_000_015),
        expires_at: Millis(1_744_104_800_015),
        accepted: None,
    }
}

fn accepted_invitation() -> Invitation {
    let accepted = Some(Acceptance { user_id: user().id, at: user().created_at });
    Invitation { accepted, ..invitation() }
}

pub(super) fn user() -> User {
    let (id, created_at) = (UserId::from_bytes([0x19; 16]), Millis(1_743_500_000_016));
    User { id, email: member_email(), invitation_id: invitation().id, created_at }
}

fn plan_choice() -> PlanChoice {
    PlanChoice { plan: GROWTH.named(), since: Millis(1_743_500_000_017) }
}

fn of_the_team(activity_type: ActivityType) -> Activity {
    let object = ActivityObject::Merchant(MERCHANT);
    Activity { activity_type, object, user_email: Some(member_email()), ..activity() }
}

fn plan_switched() -> Activity {
    let plan_switch = Some(PlanSwitch { new: GROWTH.named(), previous: STARTER.named() });
    Activity { plan_switch, user_email: None, ..of_the_team(ActivityType::PlanSwitched) }
}

fn voided() -> Activity {
    let actor = Actor::User { email: Some(Email::new("support@till.example").expect("an address")) };
    Activity { activity_type: ActivityType::PaymentVoided, actor, ..activity() }
}

fn scope() -> IdempotencyScope {
    IdempotencyScope {
        installation_id: Some(installation().id),
        endpoint: "sdk/select-payment-method".to_owned(),
        key: idempotency_key(),
    }
}

fn idempotency_key() -> IdempotencyKey {
    IdempotencyKey::new("order 1001").expect("visible")
}

fn stored_answer() -> StoredAnswer {
    let answer = Answer::Key { key_id: api_key().id, created_at: Millis(1_743_500_000_001) };
    StoredAnswer { fingerprint: [0xe1; 32], answer, expires_at: Millis(1_743_590_000_001) }
}

fn metadata_key() -> MetadataKey {
    MetadataKey::new("cart:7").expect("a plain text")
}

fn metadata() -> MetadataRecord {
    MetadataRecord {
        id: MetadataId::from_bytes([0x21; 16]),
        version: 7,
        bytesize: 300,
        item_count: 2,
        created_at: Millis(1_743_500_000_015),
        updated_at: Millis(1_743_500_000_016),
        expires_at: Millis(1_743_500_060_017),
        ttl_seconds: Some(60),
        timer_due: Millis(1_743_500_030_015),
        sets_from: SetNumber(1),
        sets_below: SetNumber(3),
    }
}

fn document() -> Document {
    Document::from_stored(r#"{"café":{"tags":#1},"total":12.5,"used":#2}"#.to_owned())
}

fn metadata_set() -> MetadataSet {
    MetadataSet { item_count: 2, item_bytes: 9, next_position: 300 }
}

fn item() -> CanonicalJson {
    CanonicalJson::from_canonical(r#"{"sku":1}"#)
}

fn metadata_events() -> Vec<Event> {
    let MetadataRecord { id, .. } = metadata();
    let (number, set, hash) = (SetNumber(2), metadata_set(), ItemHash([0xb3; 32]));
    vec![
        Event::MetadataSaved {
            key: metadata_key(),
            record: metadata(),
            timer_was: Some(Millis(1_743_500_030_014)),
            document: Some(document()),
            garbage_below: Some(SetNumber(1)),
        },
        Event::MetadataSetFormed { id, number, set, items: CanonicalJson::from_canonical(r#"["a",{"sku":1}]"#) },
        Event::MetadataItemAdded { id, number, set, position: 299, item: item() },
        Event::MetadataItemRemoved { id, number, set, position: 298, hash },
        Event::MetadataEnded {
            key: metadata_key(),
            id,
            timer_due: Millis(1_743_500_030_015),
            garbage_below: Some(SetNumber(3)),
        },
        Event::MetadataTimerMoved { key: metadata_key(), record: metadata(), timer_was: Millis(1_743_500_030_014) },
        Event::MetadataSwept {
            id,
            items: vec![SweptItem { set: number, hash, position: 298 }],
            sets: vec![SetNumber(0), number],
            finished: true,
        },
    ]
}

fn sweeping_events() -> Vec<Event> {
    vec![
        Event::SessionsSwept { session_ids: vec![session().id, SessionId::from_bytes([0x17; 16])] },
        Event::TokensSwept { token_ids: vec![token().id] },
        Event::AnswersSwept { scopes: vec![scope()], created_merchants: vec![idempotency_key()] },
    ]
}

fn installation_events() -> Vec<Event> {
    let installation_id = installation().id;
    vec![Event::InstallationUpdated(installation()), Event::InstallationRemoved { installation_id }]
}

fn token_use() -> TokenUse {
    TokenUse { customer_id: Some(customer().id), older: Some(TokenId::from_bytes([0x19; 16])) }
}

fn token_events() -> Vec<Event> {
    let queued = Event::TokenQueued {
        token_id: token().id,
        installation_id: installation().id,
        position: 299,
        first: 2,
        expires_at: Millis(1_746_092_000_006),
    };
    vec![queued, Event::TokenKept { token_id: token().id }]
}

/// One event of every kind, in the order of the kinds.
pub(super) fn events() -> Vec<Event> {
    let settings = vec![Event::CardNumbersInIdentifiersChanged { allowed: true }];
    [
        payment_events(),
        metadata_events(),
        sweeping_events(),
        installation_events(),
        token_events(),
        settings,
        newer_events(),
    ]
    .concat()
}

fn newer_events() -> Vec<Event> {
    let (payment_id, refund_id, at) = (payment().id, refund().id, Millis(1_743_500_000_021));
    let sent = Activity {
        activity_type: ActivityType::PayoutCreated,
        object: ActivityObject::Payout(payout().id),
        ..activity()
    };
    let refunded = Activity { object: ActivityObject::Refund(refund_id), parent: Some(payment_id), ..activity() };
    vec![
        Event::OperationRequested { payment_id, operation: operation() },
        Event::OperationRefused {
            payment_id,
            refused: refused_operation(),
            lapses_at: Some(Millis(1_744_104_800_008)),
            fails: true,
        },
        Event::PaymentReversed { payment_id, credit_minor: 10_000, debit_minor: 1_250, at, activity: activity() },
        Event::PaymentExpired { payment_id, released_minor: 10_000 },
        Event::LateSuccess { payment_id, authorization: authorization(), captured: true },
        Event::LateCallEnded { payment_id, failure: Some(failure()) },
        Event::RefundRequested {
            refund: refund(),
            transaction: refund_transaction(),
            uncovered_minor: 16,
            activity: refunded,
        },
        Event::RefundConfirmed {
            refund_id,
            payment_id,
            amount_minor: 17,
            status: PaymentStatus::PartiallyRefunded,
            settles_at: Some(Millis(1_743_672_800_008)),
            at,
            activity: Some(activity()),
        },
        Event::RefundFailed { refund_id, payment_id, amount_minor: 17, uncovered_minor: 16, failure: failure(), at },
        Event::DebitsUncovered { payment_id, covered_minor: 17 },
        Event::DebitSettled {
            transaction_id: refund().transaction_id,
            settles_at: Millis(1_743_672_800_008),
            amount_minor: 17,
            at,
        },
        Event::WebhookEventRecorded(webhook_event()),
        Event::WebhookSaved { merchant_id: MERCHANT, webhook: webhook() },
        Event::WebhookEventsSwept { event_ids: vec![webhook_event().id] },
        Event::InvoiceCharged { invoice: invoice(), transaction: invoice_transaction() },
        Event::PayoutRequested { payout: payout(), transaction: payout_transaction(), activity: sent },
        Event::PayoutPaid { payout_id: payout().id, amount_minor: 1_099, at },
        Event::PayoutFailed { payout_id: payout().id, amount_minor: 1_099, failure: failure(), at },
        Event::DisputeOpened { dispute: dispute(), transaction: dispute_transaction(), uncovered_minor: 18 },
        Event::DisputeChallenged {
            dispute_id: dispute().id,
            evidence: Evidence::new("signed on\narrival").expect("evidence"),
            status: DisputeStatus::Challenged,
            activity: activity(),
        },
        Event::EvidenceTaken { dispute_id: dispute().id },
        Event::DisputeEscalated { dispute_id: dispute().id, activity: activity() },
        Event::DisputeClosed(dispute_closing()),
        Event::TestClockSet { merchant_id: MERCHANT, test_clock: test_clock() },
        Event::StatementPeriodOpened { period: statement_period() },
        Event::StatementClosed { statement: statement() },
        Event::CardRenewed { card_id: card().id, expiry: card_facts().expiry, external_id: external_id("card-1") },
        Event::CardForgotten { customer_id: customer().id, card_id: card().id, default_card_id: None, at },
        Event::CustomerRemoved { customer_id: customer().id, card_ids: vec![card().id], at },
        Event::MetadataRepeatsDropped {
            id: metadata().id,
            number: SetNumber(2),
            set: metadata_set(),
            array: CanonicalJson::from_canonical(r#"["a",{"sku":1},"a"]"#),
        },
        Event::TokenUsed { token_id: token().id, customer_id: Some(customer().id) },
        Event::TokensErased { token_ids: vec![token().id] },
        Event::CustomerTokensErased {
            customer_id: customer().id,
            token_ids: vec![token().id],
            gone: vec![TokenId::from_bytes([0x18; 16])],
            rest: Some(TokenId::from_bytes([0x19; 16])),
            timer_was: Some(at),
            at,
        },
    ]
}

fn payment_events() -> Vec<Event> {
    let before = Customer { email: None, default_card_id: None, ..customer() };
    vec![
        Event::MerchantCreated {
            merchant_id: MERCHANT,
            profile: profile(),
            integrations: vec![
                (PaymentMethod::Card, Integration::initial()),
                (PaymentMethod::Installment, integration()),
            ],
        },
        Event::SuspensionChanged { suspended: true },
        Event::KeyGenerated { merchant_id: MERCHANT, key: api_key() },
        Event::KeyRevoked { key_id: api_key().id, at: Millis(1_743_500_000_011) },
        Event::InstallationAdded(installation()),
        Event::PaymentMethodConfigured { method: PaymentMethod::Installment, integration: integration() },
        Event::BalanceOpened,
        Event::TopupAdded { topup: topup(), transaction: topup_transaction() },
        Event::CardTokenized(token()),
        Event::SessionCreated { session: session(), token_used_up: Some(token().id) },
        Event::CustomerCreated(customer()),
        Event::CustomerUpdated { before, after: customer() },
        Event::PaymentInitiated { payment: payment(), effect: effect() },
        Event::PaymentAuthorized { payment_id: payment().id, authorization: authorization() },
        Event::PaymentFailed { payment_id: payment().id, released_minor: 10_000, failure: failure() },
        Event::PaymentCaptured {
            payment_id: payment().id,
            released_minor: 10_000,
            capture: capture(),
            transaction: transaction(),
            activity: activity(),
        },
        Event::CardSaved { card: card(), is_default: true, at: Millis(1_743_500_000_012) },
        Event::DefaultCardSet { customer_id: customer().id, card_id: card().id, at: Millis(1_743_500_000_013) },
        Event::PaymentVoided { payment_id: payment().id, released_minor: 10_000, activity: voided() },
        Event::TransactionSettled {
            transaction_id: transaction().id,
            settles_at: Millis(1_743_672_800_008),
            credit_minor: 10_000,
            debit_minor: 1_250,
            at: Millis(1_743_672_800_009),
        },
        Event::KeyRenamed { key_id: api_key().id, name: Name::new("till 2").expect("a name") },
        Event::UserInvited { invitation: invitation(), activity: of_the_team(ActivityType::UserInvited) },
        Event::InvitationAccepted { user: user(), activity: of_the_team(ActivityType::InvitationAccepted) },
        Event::UserRemoved { user_id: user().id, activity: of_the_team(ActivityType::UserRemoved) },
        Event::PlanSwitched { choice: plan_choice(), activity: plan_switched() },
    ]
}

/// One answer of every kind, in the order of the kinds.
pub(super) fn answers() -> Vec<Answer> {
    vec![
        Answer::Merchant(MERCHANT),
        Answer::Key { key_id: api_key().id, created_at: Millis(1_743_500_000_001) },
        Answer::Installation(installation().id),
        Answer::Topup(topup().id),
        Answer::Token(token().id),
        Answer::Session(session().id),
        Answer::Payment(payment().id),
        Answer::Changed(true),
        Answer::Invitation(invitation().id),
        Answer::User(user().id),
        Answer::Metadata {
            version: 300,
            created_at: Millis(1_743_500_000_015),
            updated_at: Millis(1_743_500_000_016),
            expires_at: Millis(1_743_500_060_017),
        },
        Answer::Refund(refund().id),
        Answer::Webhook(webhook().id),
        Answer::Invoice(invoice().id),
        Answer::Payout(payout().id),
        Answer::Dispute(dispute().id),
        Answer::Contact(customer().id),
        Answer::Card(card().id),
        Answer::Redelivery { events: 300 },
        Answer::WebhookTested(webhook_test()),
    ]
}

/// A mutation with all other fields besides its events.
pub(super) fn mutation(events: Vec<Event>) -> Mutation {
    Mutation {
        at: Millis(1_743_500_000_014),
        caller: Caller::Sdk(installation().id),
        last_id: IdPosition { millis: 1_743_500_000_014, counter: 5 },
        answer: Some((scope(), stored_answer())),
        events,
    }
}

/// A row of every table, in the order of the tables.
pub(super) fn rows() -> Vec<(AnyKey, AnyRow)> {
    let owner = KeyOwner { merchant_id: MERCHANT, key_id: api_key().id };
    let created =
        CreatedMerchant { merchant_id: MERCHANT, fingerprint: [0xe2; 32], expires_at: Millis(1_743_590_000_000) };
    let timer = Timer { due: Millis(1_743_672_800_008), kind: TimerKind::Settle(transaction().id) };
    let text = |text| external_id(text).expect("given");
    let id = conceded().id;
    let fingerprint = (customer().id, card_facts().fingerprint);
    let (record, number) = (metadata().id, SetNumber(2));
    vec![
        (AnyKey::Profiles(Single), records::Profiles::wrap(profile())),
        (AnyKey::ApiKeys(api_key().id), records::ApiKeys::wrap(api_key())),
        (AnyKey::Installations(installation().id), records::Installations::wrap(installation())),
        (AnyKey::Integrations(PaymentMethod::Installment), records::Integrations::wrap(integration())),
        (AnyKey::Balances(Single), records::Balances::wrap(totals())),
        (AnyKey::Tokens(token().id), records::Tokens::wrap(token())),
        (AnyKey::Sessions(session().id), records::Sessions::wrap(session())),
        (AnyKey::Payments(payment().id), records::Payments::wrap(payment())),
        (AnyKey::Customers(customer().id), records::Customers::wrap(customer())),
        (AnyKey::Cards(card().id), records::Cards::wrap(card())),
        (AnyKey::Topups(topup().id), records::Topups::wrap(topup())),
        (AnyKey::Transactions(transaction().id), records::Transactions::wrap(transaction())),
        (AnyKey::Entries(entry().id), records::Entries::wrap(entry())),
        (AnyKey::Activities(conceded().id), records::Activities::wrap(conceded())),
        (AnyKey::Answers(scope()), records::Answers::wrap(stored_answer())),
        (AnyKey::Users(user().id), records::Users::wrap(user())),
        (AnyKey::Invitations(invitation().id), records::Invitations::wrap(accepted_invitation())),
        (AnyKey::CurrentPlan(Single), records::CurrentPlan::wrap(plan_choice())),
        (AnyKey::Statements(statement().id), records::Statements::wrap(statement())),
        (AnyKey::Metadata(metadata_key()), records::Metadata::wrap(metadata())),
        (AnyKey::MetadataDocuments(record), records::MetadataDocuments::wrap(document())),
        (AnyKey::MetadataSets((record, number)), records::MetadataSets::wrap(metadata_set())),
        (AnyKey::MetadataItems((record, number, ItemHash([0xb3; 32]))), records::MetadataItems::wrap(299)),
        (AnyKey::MetadataPositions((record, number, 299)), records::MetadataPositions::wrap(item())),
        (AnyKey::TokenQueues(installation().id), records::TokenQueues::wrap(TokenQueue { first: 2, next: 300 })),
        (AnyKey::Refunds(refund().id), records::Refunds::wrap(refund())),
        (AnyKey::Webhooks(webhook().id), records::Webhooks::wrap(webhook())),
        (AnyKey::WebhookEvents(webhook_event().id), records::WebhookEvents::wrap(webhook_event())),
        (AnyKey::Invoices(invoice().id), records::Invoices::wrap(invoice())),
        (AnyKey::Payouts(payout().id), records::Payouts::wrap(payout())),
        (AnyKey::Disputes(dispute().id), records::Disputes::wrap(dispute())),
        (AnyKey::PaymentsByExternalId(text("inv_1001")), records::PaymentsByExternalId::wrap(payment().id)),
        (AnyKey::CustomersByExternalId(text("buyer-7")), records::CustomersByExternalId::wrap(customer().id)),
        (AnyKey::CustomersByEmail(email().expect("given")), records::CustomersByEmail::wrap(customer().id)),
        (AnyKey::CustomersByMobile(mobile().expect("given")), records::CustomersByMobile::wrap(customer().id)),
        (AnyKey::CardsByExternalId(text("card-1")), records::CardsByExternalId::wrap(card().id)),
        (AnyKey::CardsByFingerprint(fingerprint), records::CardsByFingerprint::wrap(card().id)),
        (AnyKey::TopupsByExternalId(text("wire-1")), records::TopupsByExternalId::wrap(topup().id)),
        (AnyKey::ActivitiesByType((conceded().activity_type, id)), records::ActivitiesByType::wrap(Present)),
        (AnyKey::ActivitiesByActorKey((api_key().id, id)), records::ActivitiesByActorKey::wrap(Present)),
        (AnyKey::ActivitiesByActorEmail((member_email(), id)), records::ActivitiesByActorEmail::wrap(Present)),
        (AnyKey::ActivitiesByEmail((member_email(), id)), records::ActivitiesByEmail::wrap(Present)),
        (AnyKey::ActivitiesByObject((conceded().object, id)), records::ActivitiesByObject::wrap(Present)),
        (AnyKey::ActivitiesByParent((payment().id, id)), records::ActivitiesByParent::wrap(Present)),
        (AnyKey::ActivityEmails(member_email()), records::ActivityEmails::wrap(EmailUse { has_belonged: true })),
        (AnyKey::QueuedTokens((installation().id, 299)), records::QueuedTokens::wrap(token().id)),
        (AnyKey::CustomerCards(customer().id), records::CustomerCards::wrap(vec![card().id])),
        (AnyKey::MetadataByCreation(record), records::MetadataByCreation::wrap(metadata_key())),
        (AnyKey::RefundsByExternalId(text("back-1")), records::RefundsByExternalId::wrap(refund().id)),
        (AnyKey::RefundsByStatus((refund().status, refund().id)), records::RefundsByStatus::wrap(Present)),
        (AnyKey::RefundsByPayment((payment().id, refund().id)), records::RefundsByPayment::wrap(Present)),
        (
            AnyKey::WebhookEventsByPayment((payment().id, webhook_event().id)),
            records::WebhookEventsByPayment::wrap(Present),
        ),
        (AnyKey::InvoicesByExternalId(text("bill-1")), records::InvoicesByExternalId::wrap(invoice().id)),
        (AnyKey::PayoutsByExternalId(text("out-1")), records::PayoutsByExternalId::wrap(payout().id)),
        (AnyKey::PayoutsByStatus((payout().status, payout().id)), records::PayoutsByStatus::wrap(Present)),
        (AnyKey::DisputesByStatus((dispute().status, dispute().id)), records::DisputesByStatus::wrap(Present)),
        (AnyKey::DisputesByPayment((payment().id, dispute().id)), records::DisputesByPayment::wrap(Present)),
        (AnyKey::EffectiveEntries(300), records::EffectiveEntries::wrap(entry().id)),
        (AnyKey::StatementsByEnd(statement().ends_at), records::StatementsByEnd::wrap(statement().id)),
        (AnyKey::MonthToDate(Single), records::MonthToDate::wrap(month_entries())),
        (AnyKey::Effects(effect().id()), records::Effects::wrap(effect())),
        (AnyKey::Timers(timer), records::Timers::wrap(Present)),
        (AnyKey::MetadataGarbage(record), records::MetadataGarbage::wrap(number)),
        (AnyKey::OpenPayouts(payout().id), records::OpenPayouts::wrap(Present)),
        (AnyKey::OpenEvidence(dispute().id), records::OpenEvidence::wrap(Present)),
        (
            AnyKey::PaymentsByStatus((PaymentStatus::Disputed, PaymentMethod::Installment, payment().id)),
            records::PaymentsByStatus::wrap(Present),
        ),
        (AnyKey::PaymentsByAmount((10_000, payment().id)), records::PaymentsByAmount::wrap(Present)),
        (AnyKey::PaymentsByCustomer((customer().id, payment().id)), records::PaymentsByCustomer::wrap(Present)),
        (AnyKey::PaymentsByLastDigits((*b"4242", payment().id)), records::PaymentsByLastDigits::wrap(Present)),
        (
            AnyKey::PaymentsByCapture((CaptureTime::Day(20_179), payment().id)),
            records::PaymentsByCapture::wrap(Present),
        ),
        (AnyKey::ActivitiesWithEmail(id), records::ActivitiesWithEmail::wrap(Present)),
        (AnyKey::TokenUses(token().id), records::TokenUses::wrap(token_use())),
        (AnyKey::CustomerTokens(customer().id), records::CustomerTokens::wrap(token().id)),
        (
            AnyKey::CustomersByOtherEmail((other_email(), customer().id)),
            records::CustomersByOtherEmail::wrap(customer().id),
        ),
        (AnyKey::KeyDirectory(api_key().digest), records::KeyDirectory::wrap(owner)),
        (AnyKey::MerchantDirectory(MERCHANT), records::MerchantDirectory::wrap(Millis(1_743_500_000_000))),
        (AnyKey::CreatedMerchants(idempotency_key()), records::CreatedMerchants::wrap(created)),
        (AnyKey::WebhookDirectory((MERCHANT, webhook().id)), records::WebhookDirectory::wrap(Present)),
        (AnyKey::TestClocks(MERCHANT), records::TestClocks::wrap(test_clock())),
    ]
}

/// A state with something in every field.
pub(super) fn state() -> MerchantState {
    MerchantState {
        profile: Some(profile()),
        keys: [(api_key().id, api_key())].into(),
        installations: [(installation().id, installation())].into(),
        integrations: [(PaymentMethod::Card, Integration::initial()), (PaymentMethod::Installment, integration())]
            .into(),
        balance: Some(totals()),
        statement_period: Some(statement_period()),
        reserved_minor: 10_000,
        users: [(user().id, user())].into(),
        invitations: [(invitation().id, invitation())].into(),
        plan: Some(plan_choice()),
        webhook_events: 300,
        connected_webhooks: [webhook().id].into(),
        test_clock: Some(test_clock()),
        last_at: Millis(1_743_500_000_014),
        last_id: IdPosition { millis: 1_743_500_000_014, counter: 5 },
    }
}
