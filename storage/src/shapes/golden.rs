//! The bytes that format 1 wrote, in `golden_v1.txt`: one line per event, row, key and snapshot, `name hex`, of a
//! sample with all that may be there, and of one without (`.empty`). They are the bytes that releases have left on
//! disks. Never change a line; add lines.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use till_domain::command::Caller;
use till_domain::event::{Event, Mutation, StoredAnswer};
use till_domain::ids::IdPosition;
use till_domain::time::Millis;

use super::acquirer::AcquirerRefV1;
use super::activity::{ActivityObjectV1, ActorV1, SeatChangeV1, SignInCodeV1};
use super::codec::{self, Decode};
use super::customer::CustomerRefV1;
use super::drawn::{Draw, Drawn};
use super::keys::row_key;
use super::ledger::CauseV1;
use super::mutation::{AnswerV1, CallerV1, EventV1, decode_mutation, encode_mutation};
use super::payment::{EffectKindV1, EffectV1};
use super::rows::{decode_row, encode_row};
use super::samples::{self, MERCHANT, TestPersonal};
use super::session::InstrumentV1;
use super::shape::Shape;
use super::state::{decode_state, encode_state};
use super::tables::{TableKind, draw_row};
use super::tag;
use super::webhook::{SubscriptionV1, WebhookObjectV1};

const CHANGED: &str = "bytes on disk have changed. Records and snapshots of this format are in stores that are in \
    use: leave the shape as it was, and add a new version beside it (see the head of shapes/mod.rs)";

/// A source of samples, whose first enum with fields has the variant at this position.
type Source = fn(Option<usize>) -> Draw;

/// The sources, with what the names of their lines end in.
const SOURCES: [(&str, Source); 2] = [("", Draw::sample), (".empty", Draw::empty)];

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
    for (suffix, source) in SOURCES {
        for (position, name) in EventV1::VARIANTS.iter().enumerate() {
            let mutation = bare(EventV1::draw(&mut source(Some(position))));
            check_mutation(&format!("event.{name}{suffix}"), &mutation);
            let written = encode_mutation(&mutation, &mut TestPersonal::default()).expect("samples encode");
            assert_eq!(written[..7], [1, 1, 3, 0, 0, 0, 1], "{name}");
            assert_eq!(usize::from(written[7]), position, "{name} is out of place");
        }
    }
}

#[test]
fn every_kind_of_answer_is_the_bytes_that_format_1_wrote() {
    for (suffix, source) in SOURCES {
        for (position, name) in AnswerV1::VARIANTS.iter().enumerate() {
            let mut mutation = samples::mutation(vec![]);
            let (scope, stored) = mutation.answer.take().expect("the sample has one");
            let answer = AnswerV1::draw(&mut source(Some(position)));
            mutation.answer = Some((scope, StoredAnswer { answer, ..stored }));
            check_mutation(&format!("answer.{name}{suffix}"), &mutation);
        }
    }
}

#[test]
fn a_mutation_without_events_is_the_bytes_that_format_1_wrote() {
    check_mutation("mutation.without_events", &samples::mutation(vec![]));
}

#[test]
fn a_payment_without_a_customer_is_sealed_under_its_own_key() {
    let (payment, effect) = (Arc::new(samples::payment_without_customer()), samples::sample::<EffectV1, _>());
    check_mutation("event.PaymentInitiated.without_customer", &bare(Event::PaymentInitiated { payment, effect }));
}

#[test]
fn every_kind_of_row_and_key_is_the_bytes_that_format_1_wrote() {
    for ((suffix, source), table) in
        SOURCES.iter().flat_map(|source| TableKind::ALL.iter().map(move |table| (source, table)))
    {
        let (key, row) = draw_row(*table, &mut source(None));
        assert_eq!(TableKind::of(&key), *table);
        let written = encode_row(&row, &key, &mut TestPersonal::default()).expect("samples encode");
        let golden = check(&format!("row.{}{suffix}", table.name()), &written);
        assert_eq!(decode_row(&key, &golden, &TestPersonal::default()), Ok(row));
        let (family, key) = row_key(MERCHANT, &key, &TestPersonal::default());
        assert_eq!(family, table.family());
        check(&format!("key.{}.{family}{suffix}", table.name()), &key);
    }
}

#[test]
fn a_snapshot_is_the_bytes_that_format_1_wrote() {
    for (suffix, source) in SOURCES {
        let state = source(None).state();
        let golden = check(&format!("state{suffix}"), &encode_state(&state).expect("samples encode"));
        assert_eq!(decode_state(&golden), Ok(state));
    }
}

#[test]
fn the_words_of_every_enum_are_in_the_order_of_format_1() {
    for (name, words) in tag::words() {
        let golden = golden().get(format!("words.{name}").as_str()).copied().unwrap_or_default();
        assert!(words.join(" ") == golden, "{CHANGED}\nline now: words.{name} {}", words.join(" "));
    }
}

fn check_variants<S, D>(name: &str, variants: &[&str]) -> usize
where
    S: Shape<D> + Decode<()> + Drawn<D>,
    D: Debug + PartialEq,
{
    for (position, variant) in variants.iter().enumerate() {
        let value = S::draw(&mut Draw::sample(Some(position)));
        let write = |out: &mut codec::Out| S::write(&value, &mut TestPersonal::default(), out);
        let golden = check(&format!("{name}.{variant}"), &codec::encode::<S>("enum", 1, write).expect("small"));
        assert_eq!(usize::from(golden[1]), position, "{name}.{variant} is out of place");
        let read = codec::decode::<S>("enum", 1, &golden).and_then(|shape| shape.unpack(&TestPersonal::default()));
        assert_eq!(read, Ok(value), "{name}.{variant}");
    }
    variants.len()
}

/// Checks every variant of each enum that has fields, and gives their number.
macro_rules! check_all_variants {
    ($($shape:ident)+) => {
        [$(check_variants::<$shape, _>(stringify!($shape), $shape::VARIANTS)),+].iter().sum::<usize>()
    };
}

#[test]
fn every_variant_is_the_bytes_that_format_1_wrote_and_every_line_is_checked_by_a_test() {
    let variants = check_all_variants!(
        AcquirerRefV1 ActivityObjectV1 ActorV1 CallerV1 CauseV1 CustomerRefV1 EffectKindV1 InstrumentV1
        SeatChangeV1 SignInCodeV1 SubscriptionV1 WebhookObjectV1
    );
    let kinds = EventV1::VARIANTS.len() + AnswerV1::VARIANTS.len() + 2 * TableKind::ALL.len() + 1; // And the state.
    let others = 2; // No events, a payment without a customer.
    assert_eq!(golden().len(), variants + SOURCES.len() * kinds + tag::words().len() + others);
}
