//! The bytes that format 1 wrote, in `golden_v1.txt`: one line per event, row, key and snapshot, `name hex`.
//! They are what a release has left on disks. Never change a line; add lines.

use std::collections::BTreeMap;

use till_domain::activity::{ActivityObject, ActivityType, Actor};
use till_domain::card::{CardScheme, SaveCard, TokenUsage};
use till_domain::command::Caller;
use till_domain::customer::CustomerRef;
use till_domain::effect::EffectKind;
use till_domain::event::{Event, Mutation, StoredAnswer};
use till_domain::ids::{CustomerId, IdPosition, InstallationId, KeyId, PaymentId, RefundId, TopupId};
use till_domain::ledger::{Account, Cause, Direction, EntryStatus, EntryType};
use till_domain::merchant::{AcquirerName, PaymentMethod, Platform};
use till_domain::payment::{CaptureMode, OperationKind, PaymentStatus};
use till_domain::records::{AnyKey, AnyRow, MerchantState};
use till_domain::refund::RefundStatus;
use till_domain::session::{InstallmentPlan, Instrument, InterestBearer};
use till_domain::text::ExternalId;
use till_domain::time::Millis;

use super::activity::{ActivityObjectV1, ActivityTypeV1, ActorV1};
use super::card::{CardSchemeV1, SaveCardV1, TokenUsageV1};
use super::codec;
use super::customer::CustomerRefV1;
use super::keys::row_key;
use super::ledger::{AccountV1, CauseV1, DirectionV1, EntryStatusV1, EntryTypeV1};
use super::merchant::{AcquirerNameV1, PaymentMethodV1, PlatformV1};
use super::mutation::{CallerV1, decode_mutation, encode_mutation};
use super::payment::{CaptureModeV1, EffectKindV1, OperationKindV1, PaymentStatusV1, RefundStatusV1};
use super::rows::{decode_row, encode_row};
use super::samples::{self, MERCHANT, TestPersonal};
use super::session::{InstallmentPlanV1, InstrumentV1, InterestBearerV1};
use super::shape::Shape;
use super::state::{STATE_FORMAT, decode_state, encode_state};
use super::tables::{ROW_FORMAT, TableKind};

const CHANGED: &str = "bytes on disk have changed. Records and snapshots of this format stand in stores that are in \
    use: leave the shape as it was, and add a new version beside it (see the head of shapes/mod.rs)";

fn golden() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("golden_v1.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|character| character.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).expect("two digits")).collect()
}

fn check(name: &str, written: &[u8]) -> Vec<u8> {
    let golden = golden().get(name).copied().unwrap_or_default();
    assert!(hex(written) == golden, "{name}: {CHANGED}\nline now: {name} {}", hex(written));
    bytes(golden)
}

/// The name and position of an event. A kind added to the domain must be added here, in `samples` and in
/// `golden_v1.txt`.
fn kind(event: &Event) -> (&'static str, u8) {
    match event {
        Event::MerchantCreated { .. } => ("MerchantCreated", 0),
        Event::SuspensionChanged { .. } => ("SuspensionChanged", 1),
        Event::KeyGenerated { .. } => ("KeyGenerated", 2),
        Event::KeyRevoked { .. } => ("KeyRevoked", 3),
        Event::InstallationAdded(_) => ("InstallationAdded", 4),
        Event::PaymentMethodConfigured { .. } => ("PaymentMethodConfigured", 5),
        Event::BalanceOpened => ("BalanceOpened", 6),
        Event::TopupAdded { .. } => ("TopupAdded", 7),
        Event::CardTokenized(_) => ("CardTokenized", 8),
        Event::SessionCreated { .. } => ("SessionCreated", 9),
        Event::CustomerCreated(_) => ("CustomerCreated", 10),
        Event::CustomerUpdated { .. } => ("CustomerUpdated", 11),
        Event::PaymentInitiated { .. } => ("PaymentInitiated", 12),
        Event::PaymentAuthorized { .. } => ("PaymentAuthorized", 13),
        Event::PaymentFailed { .. } => ("PaymentFailed", 14),
        Event::PaymentCaptured { .. } => ("PaymentCaptured", 15),
        Event::CardSaved { .. } => ("CardSaved", 16),
        Event::DefaultCardSet { .. } => ("DefaultCardSet", 17),
        Event::AuthorizationLapsed { .. } => ("AuthorizationLapsed", 18),
        Event::PaymentVoided { .. } => ("PaymentVoided", 19),
        Event::TransactionSettled { .. } => ("TransactionSettled", 20),
        Event::KeyRenamed { .. } => ("KeyRenamed", 21),
        Event::UserInvited { .. } => ("UserInvited", 22),
        Event::InvitationAccepted { .. } => ("InvitationAccepted", 23),
        Event::UserRemoved { .. } => ("UserRemoved", 24),
        Event::PlanSwitched { .. } => ("PlanSwitched", 25),
        Event::MetadataSaved { .. } => ("MetadataSaved", 26),
        Event::MetadataSetFormed { .. } => ("MetadataSetFormed", 27),
        Event::MetadataItemAdded { .. } => ("MetadataItemAdded", 28),
        Event::MetadataItemRemoved { .. } => ("MetadataItemRemoved", 29),
        Event::MetadataEnded { .. } => ("MetadataEnded", 30),
        Event::MetadataTimerMoved { .. } => ("MetadataTimerMoved", 31),
        Event::MetadataSwept { .. } => ("MetadataSwept", 32),
        Event::SessionsSwept { .. } => ("SessionsSwept", 33),
        Event::TokensSwept { .. } => ("TokensSwept", 34),
        Event::AnswersSwept { .. } => ("AnswersSwept", 35),
        Event::InstallationUpdated(_) => ("InstallationUpdated", 36),
        Event::InstallationRemoved { .. } => ("InstallationRemoved", 37),
        Event::TokenQueued { .. } => ("TokenQueued", 38),
        Event::TokenKept { .. } => ("TokenKept", 39),
        Event::CardNumbersInIdentifiersChanged { .. } => ("CardNumbersInIdentifiersChanged", 40),
        Event::OperationRequested { .. } => ("OperationRequested", 44),
        Event::OperationRefused { .. } => ("OperationRefused", 45),
        Event::PaymentReversed { .. } => ("PaymentReversed", 46),
        Event::PaymentExpired { .. } => ("PaymentExpired", 47),
        Event::LateSuccess { .. } => ("LateSuccess", 48),
        Event::LateCallEnded { .. } => ("LateCallEnded", 49),
        Event::RefundRequested { .. } => ("RefundRequested", 50),
        Event::RefundConfirmed { .. } => ("RefundConfirmed", 51),
        Event::RefundFailed { .. } => ("RefundFailed", 52),
        Event::RefundsUncovered { .. } => ("RefundsUncovered", 53),
        Event::RefundSettled { .. } => ("RefundSettled", 54),
    }
}

/// Kinds in front of the later shapes.
const EVENT_KINDS: usize = 41;

/// Kinds behind the later shapes.
const NEWER_EVENT_KINDS: usize = 11;

/// Names of later shapes of events, at the positions behind the kinds.
const LATER_EVENTS: [&str; 3] = ["MerchantCreatedV2", "CardTokenizedV2", "CardSavedV2"];

fn check_mutation(name: &str, mutation: &Mutation) {
    let written = encode_mutation(mutation, &mut TestPersonal::default()).expect("samples encode");
    let golden = check(name, &written);
    assert_eq!(decode_mutation(&golden, &TestPersonal::default()).as_ref(), Ok(mutation), "{name}");
}

/// A mutation whose bytes are those of its one event, behind a head of seven bytes.
fn bare(event: Event) -> Mutation {
    let last_id = IdPosition::default();
    Mutation { at: Millis(1), caller: Caller::System, last_id, answer: None, events: vec![event] }
}

#[test]
fn every_kind_of_event_is_the_bytes_that_format_1_wrote() {
    let (events, newer) = (samples::events(), samples::newer_events());
    assert_eq!((events.len(), newer.len()), (EVENT_KINDS, NEWER_EVENT_KINDS));
    let behind = u8::try_from(EVENT_KINDS + LATER_EVENTS.len()).expect("below 251, where a position takes a byte");
    for (position, event) in (0..).zip(events).chain((behind..).zip(newer)) {
        let (name, expected) = kind(&event);
        assert_eq!(expected, position, "{name} is out of place");
        let mutation = bare(event);
        check_mutation(&format!("event.{name}"), &mutation);
        let written = encode_mutation(&mutation, &mut TestPersonal::default()).expect("samples encode");
        assert_eq!(written[..7], [1, 1, 3, 0, 0, 0, 1], "{name}");
        assert_eq!(written[7], position, "{name}");
    }
}

#[test]
fn what_the_first_shape_of_an_event_cannot_hold_is_the_bytes_of_its_later_one() {
    let events = samples::later_events();
    assert_eq!(events.len(), LATER_EVENTS.len());
    for (position, (name, event)) in (EVENT_KINDS..).zip(LATER_EVENTS.into_iter().zip(events)) {
        let mutation = bare(event);
        check_mutation(&format!("event.{name}"), &mutation);
        let written = encode_mutation(&mutation, &mut TestPersonal::default()).expect("samples encode");
        assert_eq!(usize::from(written[7]), position, "{name}");
    }
}

#[test]
fn a_payment_without_a_customer_is_the_bytes_that_format_1_wrote() {
    let payment = samples::payment_without_customer();
    let mutation = samples::mutation(vec![]);
    let Event::PaymentInitiated { effect, .. } = samples::events().swap_remove(12) else { panic!("out of place") };
    check_mutation("event.PaymentInitiated.without_customer", &bare(Event::PaymentInitiated { payment, effect }));
    check_mutation("mutation.without_events", &mutation);
}

#[test]
fn every_kind_of_answer_is_the_bytes_that_format_1_wrote() {
    for (position, answer) in (0_u8..).zip(samples::answers()) {
        let mut mutation = samples::mutation(vec![]);
        let (scope, stored) = mutation.answer.take().expect("the sample has one");
        mutation.answer = Some((scope, StoredAnswer { answer, ..stored }));
        check_mutation(&format!("answer.{position}"), &mutation);
    }
}

#[test]
fn a_mutation_with_every_event_is_the_bytes_that_format_1_wrote() {
    check_mutation("mutation.with_every_event", &samples::mutation(samples::payment_events()));
}

#[test]
fn every_kind_of_row_and_key_is_the_bytes_that_format_1_wrote() {
    let rows: Vec<(AnyKey, AnyRow)> = samples::rows();
    assert_eq!(rows.len(), TableKind::ALL.len());
    for ((key, row), table) in rows.into_iter().zip(TableKind::ALL) {
        assert_eq!(TableKind::of(&key), *table);
        let written = encode_row(&row, &key, &mut TestPersonal::default()).expect("samples encode");
        let golden = check(&format!("row.{}", table.name()), &written);
        assert_eq!(decode_row(&key, &golden, &TestPersonal::default()), Ok(row));
        let (family, key) = row_key(MERCHANT, &key, &TestPersonal::default());
        assert_eq!(family, table.family());
        check(&format!("key.{}.{family}", table.name()), &key);
    }
}

#[test]
fn what_the_first_format_of_a_row_cannot_hold_is_the_bytes_of_its_later_one() {
    for (key, row) in samples::later_rows() {
        let written = encode_row(&row, &key, &mut TestPersonal::default()).expect("samples encode");
        let golden = check(&format!("row.{}.{}", TableKind::of(&key).name(), written[0]), &written);
        assert!((2..=ROW_FORMAT).contains(&golden[0]), "{key:?}");
        assert_eq!(decode_row(&key, &golden, &TestPersonal::default()), Ok(row));
    }
}

#[test]
fn the_state_of_a_merchant_that_takes_card_numbers_is_the_bytes_of_format_2() {
    let state = MerchantState { profile: Some(samples::profile_with_card_numbers()), ..samples::state() };
    let golden = check("state.2", &encode_state(&state).expect("samples encode"));
    assert_eq!(golden[0], 2);
    assert_eq!(decode_state(&golden), Ok(state));
}

#[test]
fn the_state_of_a_merchant_with_uncovered_debits_is_the_bytes_of_format_3() {
    let state = MerchantState { balance: Some(samples::totals_with_uncovered_debits()), ..samples::state() };
    let golden = check("state.3", &encode_state(&state).expect("samples encode"));
    assert_eq!(golden[0], STATE_FORMAT);
    assert_eq!(decode_state(&golden), Ok(state));
}

#[test]
fn a_snapshot_is_the_bytes_that_format_1_wrote() {
    let golden = check("state", &encode_state(&samples::state()).expect("samples encode"));
    assert_eq!(decode_state(&golden), Ok(samples::state()));
}

/// The positions of an enum's values as bytes.
fn positions<S, D>(values: &[D]) -> Vec<u8>
where
    S: Shape<D> + codec::Decode<()>,
{
    let position = |value: &D| {
        let write = |out: &mut codec::Out| S::write(value, &mut TestPersonal::default(), out);
        codec::encode::<S>("enum", 1, write).expect("nothing to seal, and small")[1]
    };
    values.iter().map(position).collect()
}

#[test]
fn the_position_of_every_variant_is_the_one_of_format_1() {
    let up_to = |end: u8| (0..end).collect::<Vec<u8>>();
    let (id, text) = ([1; 16], ExternalId::from_stored("x".to_owned()));
    assert_eq!(positions::<PaymentStatusV1, _>(&PaymentStatus::ALL), up_to(10));
    assert_eq!(positions::<CaptureModeV1, _>(&[CaptureMode::Automatic, CaptureMode::Manual]), up_to(2));
    let effects = [EffectKind::Authorize, EffectKind::Void, EffectKind::Capture, EffectKind::Reverse];
    assert_eq!(positions::<EffectKindV1, _>(&effects), up_to(4));
    let effects = [EffectKind::Refund(RefundId::from_bytes(id)), EffectKind::VoidLate, EffectKind::RefundLate];
    assert_eq!(positions::<EffectKindV1, _>(&effects), [4, 5, 6]);
    assert_eq!(positions::<OperationKindV1, _>(&OperationKind::ALL), up_to(3));
    assert_eq!(positions::<RefundStatusV1, _>(&RefundStatus::ALL), up_to(3));
    assert_eq!(positions::<SaveCardV1, _>(&SaveCard::ALL), up_to(2));
    assert_eq!(positions::<TokenUsageV1, _>(&TokenUsage::ALL), up_to(2));
    let schemes = [CardScheme::Visa, CardScheme::Mastercard, CardScheme::Amex, CardScheme::Jcb];
    assert_eq!(positions::<CardSchemeV1, _>(&schemes), up_to(4));
    let schemes = [CardScheme::UnionPay, CardScheme::Discover, CardScheme::Diners, CardScheme::Other];
    assert_eq!(positions::<CardSchemeV1, _>(&schemes), [4, 5, 6, 7]);
    assert_eq!(positions::<InterestBearerV1, _>(&InterestBearer::ALL), up_to(2));
    assert_eq!(positions::<InstallmentPlanV1, _>(&InstallmentPlan::ALL), up_to(1));
    assert_eq!(positions::<PlatformV1, _>(&Platform::ALL), up_to(4));
    assert_eq!(positions::<PaymentMethodV1, _>(&PaymentMethod::ALL), up_to(2));
    assert_eq!(positions::<AcquirerNameV1, _>(&[AcquirerName::Sandbox]), up_to(1));
    let accounts = [Account::Balance, Account::AcquirerClearing, Account::BankClearing, Account::Fees];
    assert_eq!(positions::<AccountV1, _>(&accounts), up_to(4));
    assert_eq!(positions::<DirectionV1, _>(&[Direction::Credit, Direction::Debit]), up_to(2));
    assert_eq!(positions::<EntryTypeV1, _>(&EntryType::ALL), up_to(4));
    let statuses = [EntryStatus::OnHold, EntryStatus::Effective, EntryStatus::Canceled];
    assert_eq!(positions::<EntryStatusV1, _>(&statuses), up_to(3));
    let payment_id = PaymentId::from_bytes(id);
    let refunded = Cause::Refund(payment_id, RefundId::from_bytes(id));
    let causes = [Cause::Topup(TopupId::from_bytes(id)), Cause::Capture(payment_id), refunded];
    assert_eq!(positions::<CauseV1, _>(&causes), up_to(3));
    assert_eq!(positions::<ActivityTypeV1, _>(&ActivityType::ALL), up_to(12));
    let suffix = "01h2e8kqvbfwea724h75qc655w";
    let objects =
        ["pay", "rfn", "dsp", "pyo", "mer"].map(|kind| ActivityObject::from_id_text(&format!("{kind}_{suffix}")));
    assert_eq!(positions::<ActivityObjectV1, _>(&objects.map(|object| object.expect("an id"))), up_to(5));
    let actors = [Actor::User { email: None }, Actor::ApiKey(KeyId::from_bytes(id)), Actor::System];
    assert_eq!(positions::<ActorV1, _>(&actors), up_to(3));
    let callers = [Caller::ApiKey(KeyId::from_bytes(id)), Caller::Sdk(InstallationId::from_bytes(id))];
    assert_eq!(positions::<CallerV1, _>(&callers), up_to(2));
    assert_eq!(positions::<CallerV1, _>(&[Caller::Operator, Caller::System]), [2, 3]);
    let references = [CustomerRef::Own(CustomerId::from_bytes(id)), CustomerRef::External(text)];
    assert_eq!(positions::<CustomerRefV1, _>(&references), up_to(2));
}

#[test]
fn the_position_of_every_instrument_is_the_one_of_format_1() {
    let saved = samples::payment().instrument;
    let token = samples::session().instrument;
    let installment = samples::payment_without_customer().instrument;
    let instruments = [Instrument::UnnamedCard, token, saved, installment];
    assert_eq!(positions::<InstrumentV1, _>(&instruments), [0, 1, 2, 3]);
}

#[test]
fn every_golden_line_is_checked_by_a_test() {
    let lines = golden().len();
    let later = LATER_EVENTS.len() + NEWER_EVENT_KINDS + samples::later_rows().len() + 2;
    assert_eq!(lines, EVENT_KINDS + 2 + samples::answers().len() + 1 + 2 * TableKind::ALL.len() + 1 + later);
}
