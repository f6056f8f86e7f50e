//! Values for tests, drawn from the shapes: every `shape_struct!` and `shape_enum!` says how its value is drawn, so
//! that a field that is added has values in all tests of bytes at once.
//!
//! [`Draw::new`] draws at random, [`Draw::sample`] always the same: the golden bytes are of such samples.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use till_domain::activity::ActivityObject;
use till_domain::card::{CardFacts, CardFingerprint};
use till_domain::command::IdempotencyScope;
use till_domain::customer::{Contact, CustomerFields, CustomerRef};
use till_domain::effect::{EffectId, Timer, TimerKind};
use till_domain::event::Mutation;
use till_domain::ids::WebhookId;
use till_domain::key::KeyDigest;
use till_domain::merchant::{Color, Integration, PaymentMethod};
use till_domain::metadata::{ItemHash, SetNumber};
use till_domain::money::{AMOUNT_MAX_MINOR, AmountMinor, Currency};
use till_domain::payment::{CaptureTime, Payment};
use till_domain::records::{AnyKey, AnyRow, MerchantState, Single};
use till_domain::text::{
    ActionAddress, Email, ExternalId, HolderName, IdempotencyKey, MetadataKey, Mobile, PersonName,
};
use till_domain::time::Millis;

use super::activity::ActivityObjectV1;
use super::card::{CardExpiryV1, CardFactsV1, InstrumentCardV1};
use super::customer::{ContactV1, CustomerFieldsV1, CustomerRefV1};
use super::mutation::{IdempotencyScopeV1, MutationV1};
use super::payment::PaymentV1;
use super::state::MerchantStateV1;
use super::tables::{TableKind, draw_row};
use super::tag::{Tag, Tagged};

/// A source of values: the choices that proptest made, so that it can shrink them, and zeros after them.
pub(super) struct Draw {
    choices: std::vec::IntoIter<u64>,
    sample: Option<Sample>,
}

/// The values that a source of samples has given so far.
struct Sample {
    /// True when options are there and lists have items.
    is_full: bool,
    /// The number of values of each type.
    counts: BTreeMap<&'static str, u64>,
}

impl Draw {
    pub(super) fn new(choices: Vec<u64>) -> Draw {
        Draw { choices: choices.into_iter(), sample: None }
    }

    /// A source that always gives the same: options are there, and lists have two items. The first text or id of a type
    /// depends on the type alone, so that references between samples fit together; later ones differ, so that a field
    /// that is moved changes the bytes. The first enum with fields has the variant at `position`.
    pub(super) fn sample(position: Option<usize>) -> Draw {
        let position = position.map(|position| u64::try_from(position).expect("few"));
        let sample = Sample { is_full: true, counts: BTreeMap::new() };
        Draw { choices: position.into_iter().collect::<Vec<_>>().into_iter(), sample: Some(sample) }
    }

    /// A source like [`Draw::sample`], of values without what may be missing: options are absent, and lists empty.
    pub(super) fn empty(position: Option<usize>) -> Draw {
        let mut draw = Draw::sample(position);
        draw.sample.as_mut().expect("it gives samples").is_full = false;
        draw
    }

    /// The number of values of a type that a source of samples has given before; none when values are drawn at random.
    fn count(&mut self, name: &'static str) -> Option<u64> {
        let count = self.sample.as_mut()?.counts.entry(name).or_default();
        *count += 1;
        Some(*count - 1)
    }

    /// The sample of a text, after its number unless it is the first of its type.
    fn sample_text(&mut self, name: &'static str, sample: &str) -> Option<String> {
        let count = self.count(name)?;
        Some(if count == 0 { sample.to_owned() } else { format!("{count} {sample}") })
    }

    fn number(&mut self) -> u64 {
        match self.count("number") {
            Some(count) => (count + 1) * 97,
            None => self.choices.next().unwrap_or(0),
        }
    }

    /// A number of every magnitude, so that every length of an encoded number occurs.
    fn magnitude(&mut self) -> u64 {
        let number = self.number();
        if self.sample.is_some() { number } else { number >> (number % 64) }
    }

    fn number_below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % u64::try_from(end).expect("small")).expect("small")
    }

    /// One of all values of a type: of samples the first and the second by turns, so that a value added at the end
    /// leaves them as they are.
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        match self.count(std::any::type_name::<T>()) {
            Some(count) => all[usize::from(count % 2 == 1 && all.len() > 1)],
            None => all[self.number_below(all.len())],
        }
    }

    /// The position of one of so many variants: of samples the second, unless one was asked for.
    pub(super) fn variant(&mut self, count: usize) -> usize {
        match self.sample {
            Some(_) => self.choices.next().map_or(1, |position| usize::try_from(position).expect("small")),
            None => self.number_below(count),
        }
    }

    fn text(&mut self) -> String {
        let alphabet = ['a', 'Z', '0', '@', '|', ' ', 'é', '\u{1F4B3}', '\0'];
        (0..self.number_below(12)).map(|_| self.one_of(&alphabet)).collect()
    }

    fn flag(&mut self) -> bool {
        self.count("bool").unwrap_or_else(|| self.number()) % 2 == 1
    }

    /// True when a value that may be missing is there.
    fn is_there(&mut self) -> bool {
        let is_full = self.sample.as_ref().map(|sample| sample.is_full);
        is_full.unwrap_or_else(|| self.flag())
    }

    fn list<T>(&mut self, value: impl Fn(&mut Draw) -> T) -> Vec<T> {
        let count = self.sample.as_ref().map(|sample| if sample.is_full { 2 } else { 0 });
        (0..count.unwrap_or_else(|| self.number_below(4))).map(|_| value(self)).collect()
    }

    pub(super) fn mutation(&mut self) -> Mutation {
        MutationV1::draw(self)
    }

    pub(super) fn state(&mut self) -> MerchantState {
        MerchantStateV1::draw(self)
    }

    pub(super) fn row(&mut self) -> (AnyKey, AnyRow) {
        let table = self.one_of(TableKind::ALL);
        draw_row(table, self)
    }
}

/// A shape whose values of the domain's `D` can be drawn.
pub(super) trait Drawn<D> {
    fn draw(draw: &mut Draw) -> D;
}

/// The bytes on disk of a value without fields. A sample's texts and digests follow from the name of the type.
pub(super) trait Raw {
    fn raw(draw: &mut Draw, name: &'static str) -> Self;
}

macro_rules! raw {
    ($($kind:ty: |$draw:ident, $name:pat_param| $value:expr;)+) => {$(
        impl Raw for $kind {
            fn raw($draw: &mut Draw, $name: &'static str) -> $kind {
                $value
            }
        }
    )+};
}

raw! {
    (): |_draw, _| ();
    bool: |draw, _| draw.flag();
    u8: |draw, _| u8::try_from(draw.number() % 256).expect("small");
    u16: |draw, _| u16::try_from(draw.magnitude() % 65_536).expect("small");
    u32: |draw, _| u32::try_from(draw.magnitude() % 0xffff_ffff).expect("below 2^32");
    u64: |draw, _| draw.magnitude();
    i64: |draw, _| {
        let minor = (draw.magnitude() >> 1).cast_signed();
        if draw.number() % 2 == 1 { -minor } else { minor }
    };
    String: |draw, name| draw.sample_text(name, name).unwrap_or_else(|| draw.text());
}

impl<const N: usize> Raw for [u8; N] {
    fn raw(draw: &mut Draw, name: &'static str) -> [u8; N] {
        if name.starts_with("Option") && !draw.is_there() {
            return [0; N]; // Zeros are no id.
        }
        if let Some(sample) = draw.sample_text(name, name) {
            let hash = blake3::hash(sample.as_bytes());
            return std::array::from_fn(|index| hash.as_bytes()[index]);
        }
        let word = draw.number().to_be_bytes();
        std::array::from_fn(|index| word[index % 8].wrapping_add(u8::try_from(index / 8).expect("small")))
    }
}

/// Draws a struct field by field.
macro_rules! drawn_struct {
    ($name:ident of $domain:ident { $($field:ident: $kind:ty $(as $labels:expr)?,)+ }) => {
        impl $crate::shapes::drawn::Drawn<$domain> for $name {
            fn draw(draw: &mut $crate::shapes::drawn::Draw) -> $domain {
                $domain { $($field: <$kind as $crate::shapes::drawn::Drawn<_>>::draw(draw),)+ }
            }
        }
    };
}

/// Draws a variant of an enum.
macro_rules! drawn_enum {
    ($(#[$doc:meta])* $name:ident of $domain:ident {
        $($variant:ident $(of $first:ident)? $(( $($place:ident: $part:ty),+ ))? $({ $($field:ident: $kind:ty),+ })?
            $(if $fits:expr)?,)+
    }) => {
        impl $name {
            /// The names of its variants.
            pub(in crate::shapes) const VARIANTS: &[&str] = &[$(stringify!($variant)),+];
        }

        impl $crate::shapes::drawn::Drawn<$domain> for $name {
            fn draw(draw: &mut $crate::shapes::drawn::Draw) -> $domain {
                let (drawn, mut position) = (draw.variant($name::VARIANTS.len()), 0..);
                $(if Some(drawn) == position.next() {
                    return $crate::domain_variant!(
                        $domain $variant $($first)?
                        $(( $(<$part as $crate::shapes::drawn::Drawn<_>>::draw(draw)),+ ))?
                        $({ $($field: <$kind as $crate::shapes::drawn::Drawn<_>>::draw(draw)),+ })?
                    );
                })+
                panic!("{} has no variant {drawn}", stringify!($name))
            }
        }
    };
}

pub(super) use {drawn_enum, drawn_struct};

impl<D, S: Drawn<D>> Drawn<Option<D>> for Option<S> {
    fn draw(draw: &mut Draw) -> Option<D> {
        draw.is_there().then(|| S::draw(draw))
    }
}

impl Drawn<Arc<Payment>> for PaymentV1 {
    fn draw(draw: &mut Draw) -> Arc<Payment> {
        Arc::new(<PaymentV1 as Drawn<Payment>>::draw(draw))
    }
}

impl<D, S: Drawn<D>> Drawn<Vec<D>> for Vec<S> {
    fn draw(draw: &mut Draw) -> Vec<D> {
        draw.list(S::draw)
    }
}

impl<C, D, R: Drawn<C>, S: Drawn<D>> Drawn<(C, D)> for (R, S) {
    fn draw(draw: &mut Draw) -> (C, D) {
        (R::draw(draw), S::draw(draw))
    }
}

impl<R: Drawn<PaymentMethod>, S: Drawn<Integration>> Drawn<BTreeMap<PaymentMethod, Integration>> for Vec<(R, S)> {
    fn draw(draw: &mut Draw) -> BTreeMap<PaymentMethod, Integration> {
        draw.list(<(R, S)>::draw).into_iter().collect()
    }
}

impl Drawn<BTreeSet<WebhookId>> for Vec<[u8; 16]> {
    fn draw(draw: &mut Draw) -> BTreeSet<WebhookId> {
        draw.list(<[u8; 16]>::draw).into_iter().collect()
    }
}

impl<D: Tagged> Drawn<D> for Tag {
    fn draw(draw: &mut Draw) -> D {
        draw.one_of(D::ALL)
    }
}

impl Drawn<AmountMinor> for u64 {
    fn draw(draw: &mut Draw) -> AmountMinor {
        let minor = match draw.count("AmountMinor") {
            Some(count) => 10_000 * (count + 1),
            None => draw.magnitude() % AMOUNT_MAX_MINOR + 1,
        };
        AmountMinor::new(minor).expect("in range")
    }
}

impl Drawn<Currency> for [u8; 3] {
    fn draw(draw: &mut Draw) -> Currency {
        Currency::from_bytes(draw.one_of(&[*b"THB", *b"JPY", *b"EUR"]))
    }
}

impl Drawn<Color> for [u8; 3] {
    fn draw(draw: &mut Draw) -> Color {
        Color(draw.one_of(&[[0x0a, 0x7f, 0xff], [0, 0, 0], [0xff, 0xff, 0xff]]))
    }
}

drawn_struct! { ContactV1 of Contact { email: Option<Vec<u8>>, mobile: Option<Vec<u8>>, name: Option<Vec<u8>>, } }
drawn_struct! { CustomerFieldsV1 of CustomerFields { id: Option<CustomerRefV1>, contact: ContactV1, } }

impl Drawn<CardFacts> for InstrumentCardV1 {
    fn draw(draw: &mut Draw) -> CardFacts {
        CardFacts {
            scheme: Tag::draw(draw),
            first_digits: String::draw(draw),
            last_digits: String::draw(draw),
            expiry: CardExpiryV1::draw(draw),
            holder: None,
            fingerprint: <[u8; 32]>::draw(draw),
        }
    }
}

impl Drawn<CardFacts> for CardFactsV1 {
    fn draw(draw: &mut Draw) -> CardFacts {
        CardFacts { holder: Option::<Vec<u8>>::draw(draw), ..InstrumentCardV1::draw(draw) }
    }
}

/// Texts about a person, by which a test finds them in bytes and output.
macro_rules! drawn_texts {
    ($($text:ident: $sample:literal;)+) => {$(
        impl Drawn<$text> for Vec<u8> {
            fn draw(draw: &mut Draw) -> $text {
                let text = draw.sample_text(stringify!($text), $sample);
                $text::from_stored(text.unwrap_or_else(|| draw.text()))
            }
        }
    )+};
}

drawn_texts! {
    ActionAddress: "https://acquirer.example/pay";
    Email: "somchai@example.com";
    HolderName: "S JAIDEE";
    Mobile: "+66812345678";
    PersonName: "Somchai Jaidee";
}

/// A key that can be drawn.
pub(super) trait DrawnKey {
    fn draw_key(draw: &mut Draw) -> Self;
}

/// Draws keys as the values of a shape.
macro_rules! drawn_keys {
    ($($kind:ty as $($key:ty)+;)+) => {$($(
        impl DrawnKey for $key {
            fn draw_key(draw: &mut Draw) -> $key {
                <$kind as Drawn<$key>>::draw(draw)
            }
        }
    )+)+};
}

macro_rules! drawn_ids {
    ($($id:ty)+) => {
        drawn_keys! { [u8; 16] as $($id)+; }
    };
}

till_domain::each_id! { drawn_ids }

drawn_keys! {
    u64 as u64 Millis;
    u32 as SetNumber;
    [u8; 4] as [u8; 4];
    [u8; 32] as KeyDigest CardFingerprint ItemHash;
    String as ExternalId IdempotencyKey MetadataKey;
    Vec<u8> as Email Mobile;
    CustomerRefV1 as CustomerRef;
    IdempotencyScopeV1 as IdempotencyScope;
    ActivityObjectV1 as ActivityObject;
}

impl<T: Tagged> DrawnKey for T {
    fn draw_key(draw: &mut Draw) -> T {
        Tag::draw(draw)
    }
}

impl<A: DrawnKey, B: DrawnKey> DrawnKey for (A, B) {
    fn draw_key(draw: &mut Draw) -> (A, B) {
        (A::draw_key(draw), B::draw_key(draw))
    }
}

impl<A: DrawnKey, B: DrawnKey, C: DrawnKey> DrawnKey for (A, B, C) {
    fn draw_key(draw: &mut Draw) -> (A, B, C) {
        (A::draw_key(draw), B::draw_key(draw), C::draw_key(draw))
    }
}

impl DrawnKey for Single {
    fn draw_key(_: &mut Draw) -> Single {
        Single
    }
}

impl DrawnKey for EffectId {
    fn draw_key(draw: &mut Draw) -> EffectId {
        EffectId { payment_id: <[u8; 16]>::draw(draw), refund_id: Option::<[u8; 16]>::draw(draw) }
    }
}

impl DrawnKey for CaptureTime {
    fn draw_key(draw: &mut Draw) -> CaptureTime {
        let day: u32 = u32::draw(draw);
        if day == 0 { CaptureTime::AtOnce } else { CaptureTime::Day(day) }
    }
}

impl DrawnKey for Timer {
    fn draw_key(draw: &mut Draw) -> Timer {
        let kind = match draw.variant(6) {
            0 => TimerKind::Settle(DrawnKey::draw_key(draw)),
            1 => TimerKind::Lapse(DrawnKey::draw_key(draw)),
            2 => TimerKind::EvidenceDue(DrawnKey::draw_key(draw)),
            3 => TimerKind::ExpireMetadata(DrawnKey::draw_key(draw)),
            4 => TimerKind::CloseStatement,
            _ => TimerKind::EraseTokens(DrawnKey::draw_key(draw)),
        };
        Timer { due: u64::draw(draw), kind }
    }
}
