//! The bytes that format 1 wrote, in `golden_v1.txt`: one line per event, row, key and snapshot, `name hex`.
//! They are the bytes that releases have left on disks. Never change a line; add lines.

use std::collections::BTreeMap;

use till_domain::activity::{ActivityObject, ActivityType, Actor};
use till_domain::card::{CardScheme, SaveCard, TokenUsage};
use till_domain::command::Caller;
use till_domain::customer::CustomerRef;
use till_domain::dispute::{DisputeOutcome, DisputeStatus};
use till_domain::effect::EffectKind;
use till_domain::event::{Event, Mutation, StoredAnswer};
use till_domain::ids::{
    CustomerId, DisputeId, IdPosition, InstallationId, InvoiceId, KeyId, PaymentId, PayoutId, RefundId, TopupId,
};
use till_domain::ledger::{Account, Cause, Direction, EntryStatus, EntryType};
use till_domain::merchant::{AcquirerName, PaymentMethod, Platform};
use till_domain::payment::{CaptureMode, OperationKind, PaymentStatus};
use till_domain::payout::PayoutStatus;
use till_domain::records::{AnyKey, AnyRow, MerchantState};
use till_domain::refund::RefundStatus;
use till_domain::session::{InstallmentPlan, Instrument, InterestBearer};
use till_domain::text::ExternalId;
use till_domain::time::Millis;
use till_domain::webhook::{SecretSlot, Subscription, WebhookEventKind, WebhookObject, WebhookStatus};

use super::activity::{ActivityObjectV1, ActivityTypeV1, ActorV1};
use super::card::{CardSchemeV1, SaveCardV1, TokenUsageV1};
use super::codec;
use super::customer::CustomerRefV1;
use super::keys::row_key;
use super::ledger::{AccountV1, CauseV1, DirectionV1, EntryStatusV1, EntryTypeV1};
use super::merchant::{AcquirerNameV1, PaymentMethodV1, PlatformV1};
use super::mutation::{CallerV1, decode_mutation, encode_mutation};
use super::payment::{
    CaptureModeV1, DisputeOutcomeV1, DisputeStatusV1, EffectKindV1, OperationKindV1, PaymentStatusV1, PayoutStatusV1,
    RefundStatusV1,
};
use super::rows::{decode_row, encode_row};
use super::samples::{self, MERCHANT, TestPersonal};
use super::session::{InstallmentPlanV1, InstrumentV1, InterestBearerV1};
use super::shape::Shape;
use super::state::{STATE_FORMAT, decode_state, encode_state};
use super::tables::{ROW_FORMAT, TableKind};
use super::webhook::{SecretSlotV1, SubscriptionV1, WebhookEventKindV1, WebhookObjectV1, WebhookStatusV1};

const CHANGED: &str = "bytes on disk have changed. Records and snapshots of this format are in stores that are in \
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

/// The name of an event's kind.
fn name(event: &Event) -> String {
    format!("{event:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// Names of later shapes of events, at the positions after the kinds.
const LATER_EVENTS: [&str; 3] = ["MerchantCreatedV2", "CardTokenizedV2", "CardSavedV2"];

fn check_mutation(name: &str, mutation: &Mutation) {
    let written = encode_mutation(mutation, &mut TestPersonal::default()).expect("samples encode");
    let golden = check(name, &written);
    assert_eq!(decode_mutation(&golden, &TestPersonal::default()).as_ref(), Ok(mutation), "{name}");
}

/// A mutation whose bytes are those of its one event, after a head of seven bytes.
fn bare(event: Event) -> Mutation {
    let last_id = IdPosition::default();
    Mutation { at: Millis(1), caller: Caller::System, last_id, answer: None, events: vec![event] }
}

#[test]
fn every_kind_of_event_is_the_bytes_that_format_1_wrote() {
    let (events, newer) = (samples::events(), samples::newer_events());
    let byte = |count: usize| u8::try_from(count).expect("below 251, where a position takes a byte");
    let behind = byte(events.len() + LATER_EVENTS.len());
    let next = behind + byte(newer.len());
    for (position, event) in (0..).zip(events).chain((behind..).zip(newer)) {
        let name = name(&event);
        let mutation = bare(event);
        check_mutation(&format!("event.{name}"), &mutation);
        let written = encode_mutation(&mutation, &mut TestPersonal::default()).expect("samples encode");
        assert_eq!(written[..7], [1, 1, 3, 0, 0, 0, 1], "{name}");
        assert_eq!(written[7], position, "{name} is out of place");
    }
    let unknown = decode_mutation(&[1, 1, 3, 0, 0, 0, 1, next], &TestPersonal::default());
    let reason = unknown.expect_err("it has no fields").to_string();
    assert!(reason.contains("UnexpectedVariant"), "a kind of event has no sample: {reason}");
}

#[test]
fn a_value_too_new_for_an_events_first_shape_uses_the_later_one() {
    let events = samples::later_events();
    assert_eq!(events.len(), LATER_EVENTS.len());
    for (position, (name, event)) in (samples::events().len()..).zip(LATER_EVENTS.into_iter().zip(events)) {
        let mutation = bare(event);
        check_mutation(&format!("event.{name}"), &mutation);
        let written = encode_mutation(&mutation, &mut TestPersonal::default()).expect("samples encode");
        assert_eq!(usize::from(written[7]), position, "{name}");
    }
}

#[test]
fn an_event_about_a_payout_has_zeros_as_the_payment() {
    let event = samples::webhook_event_of_a_payout();
    check_mutation("event.WebhookEventRecorded.of_a_payout", &bare(Event::WebhookEventRecorded(event)));
}

#[test]
fn an_event_about_a_dispute_names_its_payment_too() {
    let event = samples::webhook_event_of_a_dispute();
    check_mutation("event.WebhookEventRecorded.of_a_dispute", &bare(Event::WebhookEventRecorded(event)));
}

#[test]
fn a_payment_without_a_customer_has_the_bytes_of_format_1() {
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
fn a_value_too_new_for_a_rows_first_format_uses_the_later_one() {
    for (key, row) in samples::later_rows() {
        let written = encode_row(&row, &key, &mut TestPersonal::default()).expect("samples encode");
        let golden = check(&format!("row.{}.{}", TableKind::of(&key).name(), written[0]), &written);
        assert!((2..=ROW_FORMAT).contains(&golden[0]), "{key:?}");
        assert_eq!(decode_row(&key, &golden, &TestPersonal::default()), Ok(row));
    }
}

#[test]
fn a_state_that_allows_card_numbers_has_the_bytes_of_format_2() {
    let state = MerchantState { profile: Some(samples::profile_with_card_numbers()), ..samples::state() };
    let golden = check("state.2", &encode_state(&state).expect("samples encode"));
    assert_eq!(golden[0], 2);
    assert_eq!(decode_state(&golden), Ok(state));
}

#[test]
fn a_state_with_uncovered_debits_has_the_bytes_of_format_3() {
    let state = MerchantState { balance: Some(samples::totals_with_uncovered_debits()), ..samples::state() };
    let golden = check("state.3", &encode_state(&state).expect("samples encode"));
    assert_eq!(golden[0], 3);
    assert_eq!(decode_state(&golden), Ok(state));
}

#[test]
fn a_state_with_webhooks_has_the_bytes_of_format_4() {
    let connected_webhooks = [samples::webhook().id].into();
    let state = MerchantState { webhook_events: 300, connected_webhooks, ..samples::state() };
    let golden = check("state.4", &encode_state(&state).expect("samples encode"));
    assert_eq!(golden[0], 4);
    assert_eq!(decode_state(&golden), Ok(state));
}

#[test]
fn a_state_with_a_test_clock_has_the_bytes_of_format_5() {
    let state = MerchantState {
        test_clock: Some(samples::test_clock()),
        statement_period: Some(samples::statement_period()),
        ..samples::state()
    };
    let golden = check("state.5", &encode_state(&state).expect("samples encode"));
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
    let up_to = |count: usize| (0..).take(count).collect::<Vec<u8>>();
    let (id, text) = ([1; 16], ExternalId::from_stored("x".to_owned()));
    assert_eq!(positions::<PaymentStatusV1, _>(&PaymentStatus::ALL), up_to(PaymentStatus::ALL.len()));
    assert_eq!(positions::<CaptureModeV1, _>(&[CaptureMode::Automatic, CaptureMode::Manual]), up_to(2));
    let effects = [EffectKind::Authorize, EffectKind::Void, EffectKind::Capture, EffectKind::Reverse];
    assert_eq!(positions::<EffectKindV1, _>(&effects), up_to(4));
    let effects = [EffectKind::Refund(RefundId::from_bytes(id)), EffectKind::VoidLate, EffectKind::RefundLate];
    assert_eq!(positions::<EffectKindV1, _>(&effects), [4, 5, 6]);
    assert_eq!(positions::<OperationKindV1, _>(&OperationKind::ALL), up_to(OperationKind::ALL.len()));
    assert_eq!(positions::<RefundStatusV1, _>(&RefundStatus::ALL), up_to(RefundStatus::ALL.len()));
    assert_eq!(positions::<DisputeStatusV1, _>(&DisputeStatus::ALL), up_to(DisputeStatus::ALL.len()));
    let outcomes = [DisputeOutcome::Won, DisputeOutcome::Lost, DisputeOutcome::Conceded];
    assert_eq!(positions::<DisputeOutcomeV1, _>(&outcomes), up_to(outcomes.len()));
    assert_eq!(positions::<PayoutStatusV1, _>(&PayoutStatus::ALL), up_to(PayoutStatus::ALL.len()));
    assert_eq!(positions::<WebhookStatusV1, _>(&WebhookStatus::ALL), up_to(WebhookStatus::ALL.len()));
    assert_eq!(positions::<SecretSlotV1, _>(&SecretSlot::ALL), up_to(SecretSlot::ALL.len()));
    assert_eq!(positions::<WebhookEventKindV1, _>(&WebhookEventKind::ALL), up_to(WebhookEventKind::ALL.len()));
    let objects = [
        WebhookObject::Payment(PaymentStatus::Failed),
        samples::webhook_event().object,
        samples::webhook_event_of_a_payout().object,
        samples::webhook_event_of_a_dispute().object,
    ];
    assert_eq!(positions::<WebhookObjectV1, _>(&objects), up_to(objects.len()));
    let subscriptions = [Subscription::All, samples::webhook().subscription];
    assert_eq!(positions::<SubscriptionV1, _>(&subscriptions), up_to(2));
    assert_eq!(positions::<SaveCardV1, _>(&SaveCard::ALL), up_to(SaveCard::ALL.len()));
    assert_eq!(positions::<TokenUsageV1, _>(&TokenUsage::ALL), up_to(TokenUsage::ALL.len()));
    let schemes = [CardScheme::Visa, CardScheme::Mastercard, CardScheme::Amex, CardScheme::Jcb];
    assert_eq!(positions::<CardSchemeV1, _>(&schemes), up_to(4));
    let schemes = [CardScheme::UnionPay, CardScheme::Discover, CardScheme::Diners, CardScheme::Other];
    assert_eq!(positions::<CardSchemeV1, _>(&schemes), [4, 5, 6, 7]);
    assert_eq!(positions::<InterestBearerV1, _>(&InterestBearer::ALL), up_to(InterestBearer::ALL.len()));
    assert_eq!(positions::<InstallmentPlanV1, _>(&InstallmentPlan::ALL), up_to(InstallmentPlan::ALL.len()));
    assert_eq!(positions::<PlatformV1, _>(&Platform::ALL), up_to(Platform::ALL.len()));
    assert_eq!(positions::<PaymentMethodV1, _>(&PaymentMethod::ALL), up_to(PaymentMethod::ALL.len()));
    assert_eq!(positions::<AcquirerNameV1, _>(&[AcquirerName::Sandbox]), up_to(1));
    let accounts = [
        Account::Balance,
        Account::AcquirerClearing,
        Account::BankClearing,
        Account::Fees,
        Account::Invoices,
        Account::Interest,
    ];
    assert_eq!(positions::<AccountV1, _>(&accounts), up_to(accounts.len()));
    assert_eq!(positions::<DirectionV1, _>(&[Direction::Credit, Direction::Debit]), up_to(2));
    assert_eq!(positions::<EntryTypeV1, _>(&EntryType::ALL), up_to(EntryType::ALL.len()));
    let statuses = [EntryStatus::OnHold, EntryStatus::Effective, EntryStatus::Canceled];
    assert_eq!(positions::<EntryStatusV1, _>(&statuses), up_to(3));
    let payment_id = PaymentId::from_bytes(id);
    let refunded = Cause::Refund(payment_id, RefundId::from_bytes(id));
    let invoiced = Cause::Invoice(InvoiceId::from_bytes(id));
    let paid_out = Cause::Payout(PayoutId::from_bytes(id));
    let disputed = Cause::Dispute(payment_id, DisputeId::from_bytes(id));
    let topped_up = Cause::Topup(TopupId::from_bytes(id));
    let causes = [topped_up, Cause::Capture(payment_id), refunded, invoiced, paid_out, disputed];
    assert_eq!(positions::<CauseV1, _>(&causes), up_to(causes.len()));
    assert_eq!(positions::<ActivityTypeV1, _>(&ActivityType::ALL), up_to(ActivityType::ALL.len()));
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
    let events = samples::events().len() + samples::newer_events().len();
    let later = LATER_EVENTS.len() + samples::later_rows().len() + 4;
    assert_eq!(lines, events + 4 + samples::answers().len() + 1 + 2 * TableKind::ALL.len() + 1 + later);
}
