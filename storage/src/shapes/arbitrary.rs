//! Values of the domain drawn at random, for tests of round trips.

use till_domain::card::{
    Card, CardExpiry, CardFacts, CardFingerprint, CardScheme, SaveCard, Token, TokenQueue, TokenUsage, TokenUse,
};
use till_domain::command::{Caller, IdempotencyScope};
use till_domain::customer::{Contact, Customer, CustomerFields, CustomerRef};
use till_domain::dispute::{Dispute, DisputeOutcome, DisputeStatus, OpenDispute};
use till_domain::effect::{Effect, EffectKind, Timer, TimerKind};
use till_domain::event::{Answer, DisputeClosing, Event, Mutation, StoredAnswer};
use till_domain::ids::{Id, IdPosition, PaymentId, RawId};
use till_domain::key::{ApiKey, KeyDigest};
use till_domain::ledger::{
    Account, BalanceTotals, Cause, Direction, Entry, EntryStatus, EntryType, Invoice, Leg, Topup, Transaction,
};
use till_domain::merchant::{AcquirerName, Installation, Integration, PaymentMethod, Platform, Profile, TestClock};
use till_domain::metadata::{CanonicalJson, Document, ItemHash, MetadataRecord, MetadataSet, SetNumber, SweptItem};
use till_domain::money::{AMOUNT_MAX_MINOR, AmountMinor, Currency, FeeRate, Money};
use till_domain::payment::{
    Authorization, Capture, CaptureMode, CaptureTime, Failure, Operation, OperationKind, Payment, PaymentStatus,
    RefusedOperation,
};
use till_domain::payout::{Payout, PayoutStatus};
use till_domain::records::{self, AnyKey, AnyRow, CreatedMerchant, KeyOwner, MerchantState, Present, Single, Table};
use till_domain::refund::{Refund, RefundStatus};
use till_domain::session::{InstallmentPlan, Instrument, InterestBearer, Session};
use till_domain::statement::{EntrySum, Month, MonthEntries, Statement, StatementPeriod};
use till_domain::text::{
    Description, DestinationUrl, Email, Evidence, ExternalId, HeaderName, HolderName, IdempotencyKey,
    InstallationIdentifier, MetadataKey, Mobile, Name, PersonName, Reason, ReturnUrl, TimeZone,
};
use till_domain::time::Millis;
use till_domain::webhook::{
    PreviousSecret, Redelivery, SecretSlot, Subscription, Webhook, WebhookEvent, WebhookEventKind, WebhookObject,
    WebhookStatus, WebhookTest,
};

/// A source of values: the choices that proptest made, so that it can shrink them. It ends in zeros.
pub(super) struct Draw {
    choices: std::vec::IntoIter<u64>,
}

impl Draw {
    pub(super) fn new(choices: Vec<u64>) -> Draw {
        Draw { choices: choices.into_iter() }
    }

    fn number(&mut self) -> u64 {
        self.choices.next().unwrap_or(0)
    }

    /// A number of every magnitude, so that every length of an encoded number occurs.
    fn magnitude(&mut self) -> u64 {
        let number = self.number();
        number >> (number % 64)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % u64::try_from(end).expect("small")).expect("small")
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub(super) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let word = self.number().to_be_bytes();
        std::array::from_fn(|index| word[index % 8].wrapping_add(u8::try_from(index / 8).expect("small")))
    }

    pub(super) fn id<T: Id>(&mut self) -> T {
        T::from_raw(RawId::from_bytes(self.bytes()))
    }

    pub(super) fn text(&mut self) -> String {
        let alphabet = ['a', 'Z', '0', '@', '|', ' ', 'é', '\u{1F4B3}', '\0'];
        (0..self.below(12)).map(|_| self.one_of(&alphabet)).collect()
    }

    pub(super) fn flag(&mut self) -> bool {
        self.number() % 2 == 1
    }

    pub(super) fn maybe<T>(&mut self, value: impl FnOnce(&mut Draw) -> T) -> Option<T> {
        self.flag().then(|| value(self))
    }

    fn list<T>(&mut self, max: usize, value: impl Fn(&mut Draw) -> T) -> Vec<T> {
        (0..self.below(max + 1)).map(|_| value(self)).collect()
    }

    pub(super) fn millis(&mut self) -> Millis {
        Millis(self.magnitude())
    }

    fn amount(&mut self) -> AmountMinor {
        AmountMinor::new(self.magnitude() % AMOUNT_MAX_MINOR + 1).expect("in range")
    }

    fn currency(&mut self) -> Currency {
        Currency::from_bytes(self.one_of(&[*b"THB", *b"JPY", *b"EUR"]))
    }

    fn money(&mut self) -> Money {
        Money { amount: self.amount(), currency: self.currency() }
    }

    pub(super) fn external_id(&mut self) -> ExternalId {
        ExternalId::from_stored(self.text())
    }

    pub(super) fn email(&mut self) -> Email {
        Email::from_stored(self.text())
    }

    fn contact(&mut self) -> Contact {
        Contact {
            email: self.maybe(Draw::email),
            mobile: self.maybe(|draw| Mobile::from_stored(draw.text())),
            name: self.maybe(|draw| PersonName::from_stored(draw.text())),
        }
    }

    fn test_clock(&mut self) -> TestClock {
        TestClock { offset_ms: self.magnitude() }
    }

    fn profile(&mut self) -> Profile {
        Profile {
            name: Name::from_stored(self.text()),
            currency: self.currency(),
            time_zone: TimeZone::from_stored(self.text()),
            settlement_delay_seconds: self.magnitude(),
            support_email: self.maybe(Draw::email),
            created_at: self.millis(),
            suspended: self.flag(),
            card_numbers_in_identifiers: self.flag(),
        }
    }

    fn method(&mut self) -> PaymentMethod {
        self.one_of(&PaymentMethod::ALL)
    }

    fn integration(&mut self) -> Integration {
        let basis_points = u16::try_from(self.below(10_001)).expect("small");
        Integration {
            acquirer: AcquirerName::Sandbox,
            enabled: self.flag(),
            authorizes_without_capture: self.flag(),
            fee: FeeRate { basis_points, fixed_minor: self.magnitude() },
        }
    }

    fn api_key(&mut self) -> ApiKey {
        ApiKey {
            id: self.id(),
            digest: KeyDigest(self.bytes()),
            display: self.text(),
            name: Name::from_stored(self.text()),
            api_version: self.text(),
            created_at: self.millis(),
            expires_at: self.maybe(Draw::millis),
            revoked_at: self.maybe(Draw::millis),
        }
    }

    fn installation(&mut self) -> Installation {
        Installation {
            id: self.id(),
            name: Name::from_stored(self.text()),
            platform: self.one_of(&Platform::ALL),
            identifier: InstallationIdentifier::from_stored(self.text()),
            created_at: self.millis(),
        }
    }

    fn card_facts(&mut self) -> CardFacts {
        let year = u16::try_from(self.below(65_536)).expect("small");
        CardFacts {
            scheme: self.one_of(&CardScheme::ALL),
            first_digits: self.text(),
            last_digits: self.text(),
            expiry: CardExpiry { year, month: u8::try_from(self.below(256)).expect("small") },
            holder: self.maybe(|draw| HolderName::from_stored(draw.text())),
            fingerprint: CardFingerprint(self.bytes()),
        }
    }

    fn usage(&mut self) -> TokenUsage {
        self.one_of(&TokenUsage::ALL)
    }

    fn token(&mut self) -> Token {
        Token {
            id: self.id(),
            installation_id: self.id(),
            card: self.card_facts(),
            usage: self.usage(),
            created_at: self.millis(),
            expires_at: self.maybe(Draw::millis),
            used: self.flag(),
        }
    }

    fn instrument(&mut self) -> Instrument {
        match self.below(4) {
            0 => Instrument::UnnamedCard,
            1 => {
                Instrument::Token { token_id: self.id(), usage: self.usage(), card: self.card_facts().without_holder() }
            }
            2 => {
                Instrument::SavedCard { card_id: self.id(), owner: self.id(), card: self.card_facts().without_holder() }
            }
            _ => Instrument::Installment {
                plan: self.one_of(&InstallmentPlan::ALL),
                interest_bearer: self.one_of(&InterestBearer::ALL),
            },
        }
    }

    fn customer_ref(&mut self) -> CustomerRef {
        if self.flag() { CustomerRef::Own(self.id()) } else { CustomerRef::External(self.external_id()) }
    }

    fn session(&mut self) -> Session {
        Session {
            id: self.id(),
            installation_id: self.id(),
            money: self.money(),
            instrument: self.instrument(),
            customer: CustomerFields { id: self.maybe(Draw::customer_ref), contact: self.contact() },
            created_at: self.millis(),
            expires_at: self.millis(),
            payment_id: self.maybe(Draw::id),
        }
    }

    fn customer(&mut self) -> Customer {
        let Contact { email, mobile, name } = self.contact();
        Customer {
            id: self.id(),
            external_id: self.maybe(Draw::external_id),
            email,
            mobile,
            name,
            other_emails: self.list(3, Draw::email),
            default_card_id: self.maybe(Draw::id),
            created_at: self.millis(),
            updated_at: self.millis(),
        }
    }

    fn card(&mut self) -> Card {
        Card {
            id: self.id(),
            customer_id: self.id(),
            external_id: self.maybe(Draw::external_id),
            card: self.card_facts(),
            created_at: self.millis(),
            deleted_at: self.maybe(Draw::millis),
        }
    }

    fn authorization(&mut self) -> Authorization {
        Authorization { acquirer_reference: self.text(), at: self.millis(), lapses_at: self.maybe(Draw::millis) }
    }

    fn capture(&mut self) -> Capture {
        Capture {
            amount_minor: self.magnitude(),
            fee_minor: self.magnitude(),
            transaction_id: self.id(),
            at: self.millis(),
            settles_at: self.millis(),
        }
    }

    fn failure(&mut self) -> Failure {
        Failure { code: self.text(), message: self.text() }
    }

    fn payment(&mut self) -> Payment {
        Payment {
            id: self.id(),
            external_id: self.maybe(Draw::external_id),
            session_id: self.id(),
            status: self.one_of(&PaymentStatus::ALL),
            money: self.money(),
            instrument: self.instrument(),
            acquirer: AcquirerName::Sandbox,
            capture_mode: self.one_of(&[CaptureMode::Automatic, CaptureMode::Manual]),
            return_url: ReturnUrl::from_stored(self.text()),
            customer_id: self.maybe(Draw::id),
            contact: self.contact(),
            save_card: self.maybe(|draw| draw.one_of(&SaveCard::ALL)),
            created_at: self.millis(),
            authorization: self.maybe(Draw::authorization),
            capture: self.maybe(Draw::capture),
            failure: self.maybe(Draw::failure),
            refunded_minor: self.magnitude(),
            confirmed_refund_minor: self.magnitude(),
            operation: self.maybe(Draw::operation),
            last_operation: self.maybe(Draw::refused_operation),
            charged_back_minor: self.magnitude(),
            open_dispute: self.maybe(|draw| OpenDispute { id: draw.id(), amount_minor: draw.magnitude() }),
        }
    }

    fn attempt(&mut self) -> u32 {
        u32::try_from(self.magnitude() % 0xffff_ffff).expect("below 2^32")
    }

    fn operation(&mut self) -> Operation {
        Operation {
            kind: self.one_of(&OperationKind::ALL),
            amount: self.amount(),
            requested_by: self.actor(),
            requested_at: self.millis(),
            attempt: self.attempt(),
        }
    }

    fn refused_operation(&mut self) -> RefusedOperation {
        RefusedOperation {
            kind: self.one_of(&OperationKind::ALL),
            failure: self.failure(),
            at: self.millis(),
            attempt: self.attempt(),
        }
    }

    fn refund(&mut self) -> Refund {
        Refund {
            id: self.id(),
            external_id: self.maybe(Draw::external_id),
            payment_id: self.id(),
            status: self.one_of(&RefundStatus::ALL),
            money: self.money(),
            is_full: self.flag(),
            reason: self.maybe(|draw| Reason::from_stored(draw.text())),
            failure: self.maybe(Draw::failure),
            requested_by: self.actor(),
            transaction_id: self.id(),
            created_at: self.millis(),
            refunded_at: self.maybe(Draw::millis),
        }
    }

    fn payout(&mut self) -> Payout {
        Payout {
            id: self.id(),
            external_id: self.maybe(Draw::external_id),
            status: self.one_of(&PayoutStatus::ALL),
            money: self.money(),
            description: self.maybe(|draw| Description::from_stored(draw.text())),
            acquirer: AcquirerName::Sandbox,
            failure: self.maybe(Draw::failure),
            transaction_id: self.id(),
            created_at: self.millis(),
            paid_at: self.maybe(Draw::millis),
        }
    }

    fn dispute(&mut self) -> Dispute {
        Dispute {
            id: self.id(),
            payment_id: self.id(),
            status: self.one_of(&DisputeStatus::ALL),
            reason: self.maybe(|draw| Reason::from_stored(draw.text())),
            money: self.money(),
            evidence: self.maybe(|draw| Evidence::from_stored(draw.text())),
            evidence_due_at: self.millis(),
            transaction_id: self.id(),
            created_at: self.millis(),
            closed_at: self.maybe(Draw::millis),
        }
    }

    fn dispute_event(&mut self) -> Event {
        let (dispute_id, minor) = (self.id(), self.magnitude());
        match self.below(5) {
            0 => Event::DisputeOpened {
                dispute: self.dispute(),
                transaction: self.transaction(),
                uncovered_minor: minor,
            },
            1 => Event::DisputeChallenged {
                dispute_id,
                evidence: Evidence::from_stored(self.text()),
                status: self.one_of(&DisputeStatus::ALL),
                activity: self.activity(),
            },
            2 => Event::EvidenceTaken { dispute_id },
            3 => Event::DisputeEscalated { dispute_id, activity: self.activity() },
            _ => Event::DisputeClosed(DisputeClosing {
                dispute_id,
                payment_id: self.id(),
                outcome: self.one_of(&[DisputeOutcome::Won, DisputeOutcome::Lost, DisputeOutcome::Conceded]),
                amount_minor: minor,
                payment_status: self.one_of(&PaymentStatus::ALL),
                uncovered_minor: self.magnitude(),
                settles_at: self.maybe(Draw::millis),
                at: self.millis(),
                activities: self.list(3, Draw::activity),
            }),
        }
    }

    fn month_entries(&mut self) -> MonthEntries {
        let sums = self.list(3, |draw| EntrySum {
            entry_type: draw.one_of(&EntryType::ALL),
            direction: draw.one_of(&Direction::ALL),
            count: draw.magnitude(),
            amount_minor: draw.magnitude(),
        });
        MonthEntries { first: self.magnitude(), sums }
    }

    /// A balance of either sign.
    fn balance_minor(&mut self) -> i64 {
        let minor = i64::try_from(self.magnitude() >> 1).expect("63 bits");
        if self.flag() { -minor } else { minor }
    }

    fn month(&mut self) -> Month {
        Month {
            year: u16::try_from(self.below(10_000)).expect("small"),
            number: 1 + u8::try_from(self.below(12)).expect("small"),
        }
    }

    fn statement_period(&mut self) -> StatementPeriod {
        StatementPeriod {
            month: self.month(),
            starts_at: self.millis(),
            ends_at: self.millis(),
            opening_minor: self.balance_minor(),
        }
    }

    fn statement(&mut self) -> Statement {
        Statement {
            id: self.id(),
            month: self.month(),
            starts_at: self.millis(),
            ends_at: self.millis(),
            currency: self.currency(),
            opening_minor: self.balance_minor(),
            entries: self.month_entries(),
            closed_at: self.millis(),
        }
    }

    fn operation_event(&mut self) -> Event {
        let (payment_id, minor) = (self.id(), self.magnitude());
        match self.below(26) {
            23 => Event::StatementPeriodOpened { period: self.statement_period() },
            24 => Event::StatementClosed { statement: self.statement() },
            15 => Event::PayoutRequested {
                payout: self.payout(),
                transaction: self.transaction(),
                activity: self.activity(),
            },
            16 => Event::PayoutPaid { payout_id: self.id(), amount_minor: minor, at: self.millis() },
            17 => Event::PayoutFailed {
                payout_id: self.id(),
                amount_minor: minor,
                failure: self.failure(),
                at: self.millis(),
            },
            14 => Event::InvoiceCharged { invoice: self.invoice(), transaction: self.transaction() },
            11 => Event::WebhookEventRecorded(self.webhook_event()),
            12 => Event::WebhookSaved { merchant_id: self.id(), webhook: self.webhook() },
            13 => Event::WebhookEventsSwept { event_ids: vec![self.id(), self.id()] },
            0 => Event::OperationRequested { payment_id, operation: self.operation() },
            1 => Event::OperationRefused {
                payment_id,
                refused: self.refused_operation(),
                lapses_at: self.maybe(Draw::millis),
                fails: self.flag(),
            },
            2 => Event::PaymentReversed {
                payment_id,
                credit_minor: minor,
                debit_minor: self.magnitude(),
                at: self.millis(),
                activity: self.activity(),
            },
            3 => Event::PaymentExpired { payment_id, released_minor: minor },
            4 => Event::LateSuccess { payment_id, authorization: self.authorization(), captured: self.flag() },
            5 => Event::LateCallEnded { payment_id, failure: self.maybe(Draw::failure) },
            6 => Event::RefundRequested {
                refund: self.refund(),
                transaction: self.transaction(),
                uncovered_minor: minor,
                activity: self.activity(),
            },
            7 => Event::RefundConfirmed {
                refund_id: self.id(),
                payment_id,
                amount_minor: minor,
                status: self.one_of(&PaymentStatus::ALL),
                settles_at: self.maybe(Draw::millis),
                at: self.millis(),
                activity: self.maybe(Draw::activity),
            },
            8 => Event::RefundFailed {
                refund_id: self.id(),
                payment_id,
                amount_minor: minor,
                uncovered_minor: self.magnitude(),
                failure: self.failure(),
                at: self.millis(),
            },
            9 => Event::DebitsUncovered { payment_id, covered_minor: minor },
            10 => Event::DebitSettled {
                transaction_id: self.id(),
                settles_at: self.millis(),
                amount_minor: minor,
                at: self.millis(),
            },
            _ => self.dispute_event(),
        }
    }

    fn webhook_event(&mut self) -> WebhookEvent {
        let object = match self.below(4) {
            0 => WebhookObject::Payment(self.one_of(&PaymentStatus::ALL)),
            1 => WebhookObject::Refund(self.id(), self.one_of(&RefundStatus::ALL)),
            2 => WebhookObject::Dispute(self.id(), self.one_of(&DisputeStatus::ALL)),
            _ => WebhookObject::Payout(self.id(), self.one_of(&PayoutStatus::ALL)),
        };
        WebhookEvent {
            id: self.id(),
            sequence: self.magnitude(),
            kind: self.one_of(&WebhookEventKind::ALL),
            // Zeros are not the id of a payment.
            payment_id: self.maybe(Draw::id).filter(|id: &PaymentId| id.to_bytes() != [0; 16]),
            object,
            amount_minor: self.magnitude(),
            created_at: self.millis(),
            clock_ahead_ms: self.magnitude(),
        }
    }

    fn previous_secret(&mut self) -> PreviousSecret {
        PreviousSecret { slot: self.one_of(&SecretSlot::ALL), until: self.millis() }
    }

    fn redelivery(&mut self) -> Redelivery {
        Redelivery { ordered_after: self.id(), first: self.id(), last: self.id() }
    }

    fn webhook_test(&mut self) -> WebhookTest {
        WebhookTest {
            delivery_id: self.id(),
            is_successful: self.flag(),
            response_status: self.maybe(|draw| 200 + u16::from(draw.flag())),
            latency_ms: self.maybe(Draw::magnitude),
        }
    }

    fn webhook(&mut self) -> Webhook {
        let subscription = if self.flag() {
            Subscription::All
        } else {
            Subscription::Only(vec![self.one_of(&WebhookEventKind::ALL), self.one_of(&WebhookEventKind::ALL)])
        };
        Webhook {
            id: self.id(),
            name: Name::from_stored(self.text()),
            destination_url: DestinationUrl::from_stored(self.text()),
            subscription,
            api_version: self.text(),
            signature_header: HeaderName::from_stored(self.text()),
            status: self.one_of(&WebhookStatus::ALL),
            connected_after: self.id(),
            created_at: self.millis(),
            disabled_at: self.maybe(Draw::millis),
            secret_slot: self.one_of(&SecretSlot::ALL),
            previous_secrets: self.maybe(Draw::previous_secret).into_iter().collect(),
            redelivery: self.maybe(Draw::redelivery),
        }
    }

    fn effect(&mut self) -> Effect {
        let kinds = [
            EffectKind::Authorize,
            EffectKind::Void,
            EffectKind::Capture,
            EffectKind::Reverse,
            EffectKind::Refund(self.id()),
            EffectKind::VoidLate,
            EffectKind::RefundLate,
        ];
        let kind = self.one_of(&kinds);
        Effect { payment_id: self.id(), kind, opened_at: self.millis() }
    }

    fn timer(&mut self) -> Timer {
        let kind = match self.below(6) {
            3 => TimerKind::CloseStatement,
            4 => TimerKind::EraseTokens(self.id()),
            0 => TimerKind::Lapse(self.id()),
            2 => TimerKind::EvidenceDue(self.id()),
            1 => TimerKind::Settle(self.id()),
            _ => TimerKind::ExpireMetadata(self.id()),
        };
        Timer { due: self.millis(), kind }
    }

    fn metadata_key(&mut self) -> MetadataKey {
        MetadataKey::from_stored(self.text())
    }

    fn set_number(&mut self) -> SetNumber {
        SetNumber(u32::try_from(self.magnitude() % 0xffff_ffff).expect("below 2^32"))
    }

    fn json(&mut self) -> CanonicalJson {
        CanonicalJson::from_canonical(self.text())
    }

    fn document(&mut self) -> Document {
        Document::from_stored(self.text())
    }

    fn metadata_set(&mut self) -> MetadataSet {
        MetadataSet { item_count: self.magnitude(), item_bytes: self.magnitude(), next_position: self.magnitude() }
    }

    fn swept_item(&mut self) -> SweptItem {
        SweptItem { set: self.set_number(), hash: ItemHash(self.bytes()), position: self.magnitude() }
    }

    fn metadata(&mut self) -> MetadataRecord {
        MetadataRecord {
            id: self.id(),
            version: self.magnitude(),
            bytesize: self.magnitude(),
            item_count: self.magnitude(),
            created_at: self.millis(),
            updated_at: self.millis(),
            expires_at: self.millis(),
            ttl_seconds: self.maybe(Draw::magnitude),
            timer_due: self.millis(),
            sets_from: self.set_number(),
            sets_below: self.set_number(),
        }
    }

    fn metadata_event(&mut self) -> Event {
        let (id, number, set) = (self.id(), self.set_number(), self.metadata_set());
        match self.below(8) {
            7 => Event::MetadataRepeatsDropped { id, number, set, array: self.json() },
            0 => Event::MetadataSaved {
                key: self.metadata_key(),
                record: self.metadata(),
                timer_was: self.maybe(Draw::millis),
                document: self.maybe(Draw::document),
                garbage_below: self.maybe(Draw::set_number),
            },
            1 => Event::MetadataSetFormed { id, number, set, items: self.json() },
            2 => Event::MetadataItemAdded { id, number, set, position: self.magnitude(), item: self.json() },
            3 => {
                let hash = ItemHash(self.bytes());
                Event::MetadataItemRemoved { id, number, set, position: self.magnitude(), hash }
            }
            4 => Event::MetadataEnded {
                key: self.metadata_key(),
                id,
                timer_due: self.millis(),
                garbage_below: self.maybe(Draw::set_number),
            },
            5 => Event::MetadataTimerMoved {
                key: self.metadata_key(),
                record: self.metadata(),
                timer_was: self.millis(),
            },
            _ => Event::MetadataSwept {
                id,
                items: self.list(3, Draw::swept_item),
                sets: self.list(3, Draw::set_number),
                finished: self.flag(),
            },
        }
    }

    fn metadata_row(&mut self) -> (AnyKey, AnyRow) {
        let (id, number) = (self.id(), self.set_number());
        match self.below(7) {
            0 => (AnyKey::Metadata(self.metadata_key()), records::Metadata::wrap(self.metadata())),
            1 => (AnyKey::MetadataDocuments(id), records::MetadataDocuments::wrap(self.document())),
            2 => (AnyKey::MetadataSets((id, number)), records::MetadataSets::wrap(self.metadata_set())),
            3 => {
                let key = (id, number, ItemHash(self.bytes()));
                (AnyKey::MetadataItems(key), records::MetadataItems::wrap(self.magnitude()))
            }
            4 => {
                let key = (id, number, self.magnitude());
                (AnyKey::MetadataPositions(key), records::MetadataPositions::wrap(self.json()))
            }
            5 => (AnyKey::MetadataByCreation(id), records::MetadataByCreation::wrap(self.metadata_key())),
            _ => (AnyKey::MetadataGarbage(id), records::MetadataGarbage::wrap(number)),
        }
    }

    fn direction(&mut self) -> Direction {
        self.one_of(&[Direction::Credit, Direction::Debit])
    }

    fn entry_type(&mut self) -> EntryType {
        self.one_of(&EntryType::ALL)
    }

    fn entry_status(&mut self) -> EntryStatus {
        self.one_of(&[EntryStatus::OnHold, EntryStatus::Effective, EntryStatus::Canceled])
    }

    fn cause(&mut self) -> Cause {
        match self.below(6) {
            4 => Cause::Dispute(self.id(), self.id()),
            3 => Cause::Payout(self.id()),
            0 => Cause::Topup(self.id()),
            1 => Cause::Capture(self.id()),
            2 => Cause::Invoice(self.id()),
            _ => Cause::Refund(self.id(), self.id()),
        }
    }

    fn leg(&mut self) -> Leg {
        Leg {
            entry_id: self.id(),
            account: self.one_of(&Account::ALL),
            direction: self.direction(),
            entry_type: self.entry_type(),
            amount: self.amount(),
        }
    }

    fn transaction(&mut self) -> Transaction {
        Transaction {
            id: self.id(),
            cause: self.cause(),
            currency: self.currency(),
            legs: self.list(4, Draw::leg),
            status: self.entry_status(),
            created_at: self.millis(),
            settles_at: self.maybe(Draw::millis),
            effective_at: self.maybe(Draw::millis),
            canceled_at: self.maybe(Draw::millis),
        }
    }

    fn entry(&mut self) -> Entry {
        Entry {
            id: self.id(),
            transaction_id: self.id(),
            direction: self.direction(),
            entry_type: self.entry_type(),
            amount: self.amount(),
            currency: self.currency(),
            status: self.entry_status(),
            cause: self.cause(),
            created_at: self.millis(),
            effective_at: self.maybe(Draw::millis),
            canceled_at: self.maybe(Draw::millis),
        }
    }

    fn topup(&mut self) -> Topup {
        Topup {
            id: self.id(),
            external_id: self.maybe(Draw::external_id),
            amount: self.amount(),
            transaction_id: self.id(),
            created_at: self.millis(),
        }
    }

    fn invoice(&mut self) -> Invoice {
        Invoice {
            id: self.id(),
            external_id: self.maybe(Draw::external_id),
            amount: self.amount(),
            description: self.maybe(|draw| Description::from_stored(draw.text())),
            transaction_id: self.id(),
            created_at: self.millis(),
        }
    }

    fn totals(&mut self) -> BalanceTotals {
        BalanceTotals {
            effective_credit_minor: self.magnitude(),
            effective_debit_minor: self.magnitude(),
            held_credit_minor: self.magnitude(),
            held_debit_minor: self.magnitude(),
            uncovered_debit_minor: if self.flag() { self.magnitude() } else { 0 },
        }
    }

    fn idempotency_key(&mut self) -> IdempotencyKey {
        IdempotencyKey::from_stored(self.text())
    }

    fn scope(&mut self) -> IdempotencyScope {
        IdempotencyScope { installation_id: self.maybe(Draw::id), endpoint: self.text(), key: self.idempotency_key() }
    }

    fn answer(&mut self) -> Answer {
        match self.below(20) {
            19 => Answer::WebhookTested(self.webhook_test()),
            18 => Answer::Redelivery { events: self.magnitude() },
            17 => Answer::Card(self.id()),
            16 => Answer::Contact(self.id()),
            14 => Answer::Dispute(self.id()),
            13 => Answer::Payout(self.id()),
            12 => Answer::Invoice(self.id()),
            11 => Answer::Webhook(self.id()),
            0 => Answer::Merchant(self.id()),
            1 => Answer::Key { key_id: self.id(), created_at: self.millis() },
            2 => Answer::Installation(self.id()),
            3 => Answer::Topup(self.id()),
            4 => Answer::Token(self.id()),
            5 => Answer::Session(self.id()),
            6 => Answer::Payment(self.id()),
            7 => Answer::Changed(self.flag()),
            8 => Answer::Invitation(self.id()),
            9 => Answer::User(self.id()),
            10 => Answer::Refund(self.id()),
            _ => Answer::Metadata {
                version: self.magnitude(),
                created_at: self.millis(),
                updated_at: self.millis(),
                expires_at: self.millis(),
            },
        }
    }

    fn stored_answer(&mut self) -> StoredAnswer {
        StoredAnswer { fingerprint: self.bytes(), answer: self.answer(), expires_at: self.millis() }
    }

    fn caller(&mut self) -> Caller {
        match self.below(4) {
            0 => Caller::ApiKey(self.id()),
            1 => Caller::Sdk(self.id()),
            2 => Caller::Operator,
            _ => Caller::System,
        }
    }

    fn event(&mut self) -> Event {
        match self.below(59) {
            0 => Event::MerchantCreated {
                merchant_id: self.id(),
                profile: self.profile(),
                integrations: self.list(3, |draw| (draw.method(), draw.integration())),
            },
            1 => Event::SuspensionChanged { suspended: self.flag() },
            2 => Event::KeyGenerated { merchant_id: self.id(), key: self.api_key() },
            3 => Event::KeyRevoked { key_id: self.id(), at: self.millis() },
            4 => Event::InstallationAdded(self.installation()),
            5 => Event::PaymentMethodConfigured { method: self.method(), integration: self.integration() },
            6 => Event::BalanceOpened,
            7 => Event::TopupAdded { topup: self.topup(), transaction: self.transaction() },
            8 => Event::CardTokenized(self.token()),
            9 => Event::SessionCreated { session: self.session(), token_used_up: self.maybe(Draw::id) },
            10 => Event::CustomerCreated(self.customer()),
            11 => Event::CustomerUpdated { before: self.customer(), after: self.customer() },
            12 => Event::PaymentInitiated { payment: self.payment(), effect: self.effect() },
            13 => Event::PaymentAuthorized { payment_id: self.id(), authorization: self.authorization() },
            14 => Event::PaymentFailed {
                payment_id: self.id(),
                released_minor: self.magnitude(),
                failure: self.failure(),
            },
            15 => Event::PaymentCaptured {
                payment_id: self.id(),
                released_minor: self.magnitude(),
                capture: self.capture(),
                transaction: self.transaction(),
                activity: self.activity(),
            },
            16 => Event::CardSaved { card: self.card(), is_default: self.flag(), at: self.millis() },
            17 => Event::DefaultCardSet { customer_id: self.id(), card_id: self.id(), at: self.millis() },
            18 => Event::BalanceOpened,
            19 => Event::PaymentVoided {
                payment_id: self.id(),
                released_minor: self.magnitude(),
                activity: self.activity(),
            },
            20 => Event::TransactionSettled {
                transaction_id: self.id(),
                settles_at: self.millis(),
                credit_minor: self.magnitude(),
                debit_minor: self.magnitude(),
                at: self.millis(),
            },
            21 => Event::KeyRenamed { key_id: self.id(), name: Name::from_stored(self.text()) },
            22 => Event::UserInvited { invitation: self.invitation(), activity: self.activity() },
            23 => Event::InvitationAccepted { user: self.user(), activity: self.activity() },
            24 => Event::UserRemoved { user_id: self.id(), activity: self.activity() },
            25 => Event::PlanSwitched { choice: self.plan_choice(), activity: self.activity() },
            26 => Event::SessionsSwept { session_ids: self.list(3, Draw::id) },
            27 => Event::TokensSwept { token_ids: self.list(3, Draw::id) },
            28 => Event::AnswersSwept {
                scopes: self.list(3, Draw::scope),
                created_merchants: self.list(3, Draw::idempotency_key),
            },
            29 => Event::InstallationUpdated(self.installation()),
            30 => Event::InstallationRemoved { installation_id: self.id() },
            31 => Event::TokenQueued {
                token_id: self.id(),
                installation_id: self.id(),
                position: self.magnitude(),
                first: self.magnitude(),
                expires_at: self.millis(),
            },
            32 => Event::TokenKept { token_id: self.id() },
            33 => Event::CardNumbersInIdentifiersChanged { allowed: self.flag() },
            53 => Event::CardRenewed {
                card_id: self.id(),
                expiry: self.card_facts().expiry,
                external_id: self.maybe(Draw::external_id),
            },
            54 => Event::CardForgotten {
                customer_id: self.id(),
                card_id: self.id(),
                default_card_id: self.maybe(Draw::id),
                at: self.millis(),
            },
            55 => {
                Event::CustomerRemoved { customer_id: self.id(), card_ids: self.list(3, Draw::id), at: self.millis() }
            }
            52 => Event::TestClockSet { merchant_id: self.id(), test_clock: self.test_clock() },
            56 => Event::TokenUsed { token_id: self.id(), customer_id: self.maybe(Draw::id) },
            57 => Event::TokensErased { token_ids: self.list(3, Draw::id) },
            58 => Event::CustomerTokensErased {
                customer_id: self.id(),
                token_ids: self.list(3, Draw::id),
                gone: self.list(3, Draw::id),
                rest: self.maybe(Draw::id),
                timer_was: self.maybe(Draw::millis),
                at: self.millis(),
            },
            34..=44 => self.operation_event(),
            _ => self.metadata_event(),
        }
    }

    pub(super) fn mutation(&mut self) -> Mutation {
        Mutation {
            at: self.millis(),
            caller: self.caller(),
            last_id: self.position(),
            answer: self.maybe(|draw| (draw.scope(), draw.stored_answer())),
            events: self.list(4, Draw::event),
        }
    }

    fn position(&mut self) -> IdPosition {
        IdPosition { millis: self.magnitude(), counter: u16::try_from(self.below(65_536)).expect("small") }
    }

    pub(super) fn state(&mut self) -> MerchantState {
        MerchantState {
            profile: self.maybe(Draw::profile),
            keys: self.list(3, Draw::api_key).into_iter().map(|key| (key.id, key)).collect(),
            installations: self.list(3, Draw::installation).into_iter().map(|made| (made.id, made)).collect(),
            integrations: self.list(3, |draw| (draw.method(), draw.integration())).into_iter().collect(),
            balance: self.maybe(Draw::totals),
            statement_period: self.maybe(Draw::statement_period),
            reserved_minor: self.magnitude(),
            users: self.list(3, Draw::user).into_iter().map(|user| (user.id, user)).collect(),
            invitations: self.list(3, Draw::invitation).into_iter().map(|made| (made.id, made)).collect(),
            plan: self.maybe(Draw::plan_choice),
            webhook_events: if self.flag() { self.magnitude() } else { 0 },
            connected_webhooks: self.list(3, Draw::id).into_iter().collect(),
            test_clock: self.maybe(Draw::test_clock),
            last_at: self.millis(),
            last_id: self.position(),
        }
    }

    pub(super) fn row(&mut self) -> (AnyKey, AnyRow) {
        /// A row that contains its key in the given field.
        macro_rules! under {
            ($table:ident, $row:expr, $id:ident) => {{
                let row = $row;
                (AnyKey::$table(row.$id), records::$table::wrap(row))
            }};
        }
        match self.below(68) {
            60 => {
                let key = (self.one_of(&PaymentStatus::ALL), self.method(), self.id());
                (AnyKey::PaymentsByStatus(key), records::PaymentsByStatus::wrap(Present))
            }
            61 => {
                let key = (self.magnitude(), self.id());
                (AnyKey::PaymentsByAmount(key), records::PaymentsByAmount::wrap(Present))
            }
            62 => (AnyKey::PaymentsByCustomer((self.id(), self.id())), records::PaymentsByCustomer::wrap(Present)),
            63 => {
                (AnyKey::PaymentsByLastDigits((self.bytes(), self.id())), records::PaymentsByLastDigits::wrap(Present))
            }
            64 => {
                let at_once = self.below(2) == 0;
                let day = u32::from_be_bytes(self.bytes()).max(1);
                let time = if at_once { CaptureTime::AtOnce } else { CaptureTime::Day(day) };
                (AnyKey::PaymentsByCapture((time, self.id())), records::PaymentsByCapture::wrap(Present))
            }
            59 => (AnyKey::CustomerCards(self.id()), records::CustomerCards::wrap(self.list(3, Draw::id))),
            65 => {
                let token_use = TokenUse { customer_id: self.maybe(Draw::id), older: self.maybe(Draw::id) };
                (AnyKey::TokenUses(self.id()), records::TokenUses::wrap(token_use))
            }
            66 => (AnyKey::CustomerTokens(self.id()), records::CustomerTokens::wrap(self.id())),
            67 => {
                let key = (self.email(), self.id());
                (AnyKey::CustomersByOtherEmail(key), records::CustomersByOtherEmail::wrap(self.id()))
            }
            54 => (AnyKey::TestClocks(self.id()), records::TestClocks::wrap(self.test_clock())),
            47 => under!(Disputes, self.dispute(), id),
            48 => {
                let key = (self.one_of(&DisputeStatus::ALL), self.id());
                (AnyKey::DisputesByStatus(key), records::DisputesByStatus::wrap(Present))
            }
            49 => (AnyKey::DisputesByPayment((self.id(), self.id())), records::DisputesByPayment::wrap(Present)),
            50 => (AnyKey::OpenEvidence(self.id()), records::OpenEvidence::wrap(Present)),
            55 => under!(Statements, self.statement(), id),
            56 => (AnyKey::StatementsByEnd(self.millis()), records::StatementsByEnd::wrap(self.id())),
            57 => (AnyKey::MonthToDate(Single), records::MonthToDate::wrap(self.month_entries())),
            58 => (AnyKey::EffectiveEntries(self.magnitude()), records::EffectiveEntries::wrap(self.id())),
            43 => under!(Payouts, self.payout(), id),
            44 => (AnyKey::PayoutsByExternalId(self.external_id()), records::PayoutsByExternalId::wrap(self.id())),
            45 => {
                let key = (self.one_of(&PayoutStatus::ALL), self.id());
                (AnyKey::PayoutsByStatus(key), records::PayoutsByStatus::wrap(Present))
            }
            46 => (AnyKey::OpenPayouts(self.id()), records::OpenPayouts::wrap(Present)),
            41 => under!(Invoices, self.invoice(), id),
            42 => (AnyKey::InvoicesByExternalId(self.external_id()), records::InvoicesByExternalId::wrap(self.id())),
            0 => (AnyKey::Profiles(Single), records::Profiles::wrap(self.profile())),
            1 => under!(ApiKeys, self.api_key(), id),
            2 => under!(Installations, self.installation(), id),
            3 => (AnyKey::Integrations(self.method()), records::Integrations::wrap(self.integration())),
            4 => (AnyKey::Balances(Single), records::Balances::wrap(self.totals())),
            5 => under!(Tokens, self.token(), id),
            6 => under!(Sessions, self.session(), id),
            7 => under!(Payments, self.payment(), id),
            8 => under!(Customers, self.customer(), id),
            9 => under!(Cards, self.card(), id),
            10 => under!(Topups, self.topup(), id),
            11 => under!(Transactions, self.transaction(), id),
            12 => under!(Entries, self.entry(), id),
            13 => under!(Activities, self.activity(), id),
            14 => (AnyKey::Answers(self.scope()), records::Answers::wrap(self.stored_answer())),
            15 => (AnyKey::PaymentsByExternalId(self.external_id()), records::PaymentsByExternalId::wrap(self.id())),
            16 => (AnyKey::CustomersByExternalId(self.external_id()), records::CustomersByExternalId::wrap(self.id())),
            17 => (AnyKey::CustomersByEmail(self.email()), records::CustomersByEmail::wrap(self.id())),
            18 => {
                let mobile = Mobile::from_stored(self.text());
                (AnyKey::CustomersByMobile(mobile), records::CustomersByMobile::wrap(self.id()))
            }
            19 => (AnyKey::CardsByExternalId(self.external_id()), records::CardsByExternalId::wrap(self.id())),
            20 => {
                let key = (self.id(), CardFingerprint(self.bytes()));
                (AnyKey::CardsByFingerprint(key), records::CardsByFingerprint::wrap(self.id()))
            }
            21 => (AnyKey::TopupsByExternalId(self.external_id()), records::TopupsByExternalId::wrap(self.id())),
            22 => {
                let effect = self.effect();
                (AnyKey::Effects(effect.id()), records::Effects::wrap(effect))
            }
            23 => (AnyKey::Timers(self.timer()), records::Timers::wrap(Present)),
            24 => {
                let owner = KeyOwner { merchant_id: self.id(), key_id: self.id() };
                (AnyKey::KeyDirectory(KeyDigest(self.bytes())), records::KeyDirectory::wrap(owner))
            }
            25 => (AnyKey::MerchantDirectory(self.id()), records::MerchantDirectory::wrap(self.millis())),
            26 => under!(Users, self.user(), id),
            27 => under!(Invitations, self.invitation(), id),
            28 => (AnyKey::CurrentPlan(Single), records::CurrentPlan::wrap(self.plan_choice())),
            29 => self.activity_index(),
            30 => {
                let created =
                    CreatedMerchant { merchant_id: self.id(), fingerprint: self.bytes(), expires_at: self.millis() };
                (AnyKey::CreatedMerchants(self.idempotency_key()), records::CreatedMerchants::wrap(created))
            }
            31 => {
                let queue = TokenQueue { first: self.magnitude(), next: self.magnitude() };
                (AnyKey::TokenQueues(self.id()), records::TokenQueues::wrap(queue))
            }
            32 => (AnyKey::QueuedTokens((self.id(), self.magnitude())), records::QueuedTokens::wrap(self.id())),
            33 => under!(Refunds, self.refund(), id),
            34 => (AnyKey::RefundsByExternalId(self.external_id()), records::RefundsByExternalId::wrap(self.id())),
            35 => {
                let key = (self.one_of(&RefundStatus::ALL), self.id());
                (AnyKey::RefundsByStatus(key), records::RefundsByStatus::wrap(Present))
            }
            37 => under!(Webhooks, self.webhook(), id),
            38 => under!(WebhookEvents, self.webhook_event(), id),
            39 => {
                let key = (self.id(), self.id());
                (AnyKey::WebhookEventsByPayment(key), records::WebhookEventsByPayment::wrap(Present))
            }
            40 => (AnyKey::WebhookDirectory((self.id(), self.id())), records::WebhookDirectory::wrap(Present)),
            36 => (AnyKey::RefundsByPayment((self.id(), self.id())), records::RefundsByPayment::wrap(Present)),
            _ => self.metadata_row(),
        }
    }
}
