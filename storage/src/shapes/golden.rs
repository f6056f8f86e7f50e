//! The bytes that format 1 wrote, in `golden_v1.txt`: one line per event, row, key and snapshot, `name hex`.
//! They are the bytes that releases have left on disks. Never change a line; add lines.

use std::collections::BTreeMap;

use till_domain::activity::{ActivityObject, Actor};
use till_domain::command::Caller;
use till_domain::customer::CustomerRef;
use till_domain::effect::EffectKind;
use till_domain::event::{Event, Mutation, StoredAnswer};
use till_domain::ids::{
    CustomerId, DisputeId, IdPosition, InstallationId, InvoiceId, KeyId, PaymentId, PayoutId, RefundId, TopupId,
};
use till_domain::ledger::Cause;
use till_domain::payment::PaymentStatus;
use till_domain::records::{AnyKey, AnyRow};
use till_domain::session::Instrument;
use till_domain::text::ExternalId;
use till_domain::time::Millis;
use till_domain::webhook::{Subscription, WebhookObject};

use super::activity::{ActivityObjectV1, ActorV1};
use super::codec;
use super::customer::CustomerRefV1;
use super::keys::row_key;
use super::ledger::CauseV1;
use super::mutation::{CallerV1, decode_mutation, encode_mutation};
use super::payment::EffectKindV1;
use super::rows::{decode_row, encode_row};
use super::samples::{self, MERCHANT, TestPersonal};
use super::session::InstrumentV1;
use super::shape::Shape;
use super::state::{decode_state, encode_state};
use super::tables::TableKind;
use super::tag;
use super::webhook::{SubscriptionV1, WebhookObjectV1};

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
    let events = samples::events();
    let next = u8::try_from(events.len()).expect("below 251, where a position takes a byte");
    for (position, event) in (0..).zip(events) {
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
fn the_words_of_every_enum_are_in_the_order_of_format_1() {
    for (name, words) in tag::words() {
        let golden = golden().get(format!("words.{name}").as_str()).copied().unwrap_or_default();
        assert!(words.join(" ") == golden, "{CHANGED}\nline now: words.{name} {}", words.join(" "));
    }
}

#[test]
fn the_position_of_every_variant_is_the_one_of_format_1() {
    let up_to = |count: usize| (0..).take(count).collect::<Vec<u8>>();
    let (id, text) = ([1; 16], ExternalId::from_stored("x".to_owned()));
    let (payment_id, refund_id) = (PaymentId::from_bytes(id), RefundId::from_bytes(id));
    let effects = [
        EffectKind::Authorize,
        EffectKind::Void,
        EffectKind::Capture,
        EffectKind::Reverse,
        EffectKind::Refund(refund_id),
        EffectKind::VoidLate,
        EffectKind::RefundLate,
    ];
    assert_eq!(positions::<EffectKindV1, _>(&effects), up_to(effects.len()));
    let objects = [
        WebhookObject::Payment(PaymentStatus::Failed),
        samples::webhook_event().object,
        samples::webhook_event_of_a_payout().object,
        samples::webhook_event_of_a_dispute().object,
    ];
    assert_eq!(positions::<WebhookObjectV1, _>(&objects), up_to(objects.len()));
    let subscriptions = [Subscription::All, samples::webhook().subscription];
    assert_eq!(positions::<SubscriptionV1, _>(&subscriptions), up_to(2));
    let causes = [
        Cause::Topup(TopupId::from_bytes(id)),
        Cause::Capture(payment_id),
        Cause::Refund(payment_id, refund_id),
        Cause::Invoice(InvoiceId::from_bytes(id)),
        Cause::Payout(PayoutId::from_bytes(id)),
        Cause::Dispute(payment_id, DisputeId::from_bytes(id)),
    ];
    assert_eq!(positions::<CauseV1, _>(&causes), up_to(causes.len()));
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
    let others = 5 + tag::words().len(); // Two webhook events, a payment without a customer, no events, the state.
    let lines = samples::events().len() + samples::answers().len() + 2 * TableKind::ALL.len() + others;
    assert_eq!(golden().len(), lines);
}
