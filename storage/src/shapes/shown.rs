//! Display of stored values to an operator: [`Shown`] of a value serializes its parts under the names of the shape
//! that [`shape_struct!`](super::shape) and [`shape_enum!`](super::shape) declare. Ids and texts are shown as text,
//! instants in Unix seconds, and everything else as a number. Personal data is shown only when it is opened, and
//! digests and fingerprints never.

use std::fmt::Display;
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};
use till_domain::card::CardFingerprint;
use till_domain::customer::{Contact, CustomerFields};
use till_domain::ids::{Id, TokenId};
use till_domain::key::KeyDigest;
use till_domain::merchant::Color;
use till_domain::metadata::{CanonicalJson, Document, ItemHash, SetNumber};
use till_domain::money::{AmountMinor, Currency};
use till_domain::records::Present;
use till_domain::text::{
    AcquirerCode, ActionAddress, Description, DestinationUrl, Email, Evidence, ExternalId, HeaderName, HolderName,
    IdempotencyKey, InstallationIdentifier, MetadataKey, Mobile, Name, PersonName, QrText, Reason, ReturnUrl, TimeZone,
};
use till_domain::time::Millis;

/// The text in place of a value that is not shown.
pub const SEALED: &str = "[sealed]";

till_domain::word_enum! {
    /// The disclosure of personal data: names, addresses, mobile numbers, the values of merchants' metadata, and the
    /// ids of tokens, with which anybody who knows them may pay. Card numbers are never shown: they are in no log and
    /// in no row.
    pub enum Disclosure: name {
        /// It is hidden; no key is needed.
        Sealed => "sealed",
        /// It is shown.
        Opened => "opened",
    }
}

impl Disclosure {
    /// A personal text, or [`SEALED`].
    #[must_use]
    pub const fn text(self, text: &str) -> &str {
        match self {
            Disclosure::Sealed => SEALED,
            Disclosure::Opened => text,
        }
    }
}

/// A value of the domain as it is shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a, T> {
    value: &'a T,
    disclosure: Disclosure,
}

impl<'a, T> Shown<'a, T> {
    /// A value, with its personal data as `disclosure` says.
    #[must_use]
    pub const fn new(value: &'a T, disclosure: Disclosure) -> Shown<'a, T> {
        Shown { value, disclosure }
    }

    pub(super) const fn value(&self) -> &'a T {
        self.value
    }

    /// A part of the value, with the same disclosure.
    pub(super) const fn part<'b, U>(&self, part: &'b U) -> Shown<'b, U> {
        Shown { value: part, disclosure: self.disclosure }
    }
}

impl<'a, T> Serialize for Shown<'a, Option<T>>
where
    Shown<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Some(value) => self.part(value).serialize(serializer),
            None => serializer.serialize_none(),
        }
    }
}

impl<'a, T> Serialize for Shown<'a, Arc<T>>
where
    Shown<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shared: &'a Arc<T> = self.value;
        self.part(&**shared).serialize(serializer)
    }
}

impl<'a, T> Serialize for Shown<'a, Vec<T>>
where
    Shown<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values: &'a [T] = self.value;
        serializer.collect_seq(values.iter().map(|value| self.part(value)))
    }
}

impl<'a, A, B> Serialize for Shown<'a, (A, B)>
where
    Shown<'a, A>: Serialize,
    Shown<'a, B>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (a, b): &'a (A, B) = self.value;
        (self.part(a), self.part(b)).serialize(serializer)
    }
}

/// Shows the fields of a struct under their names.
macro_rules! shown_struct {
    ($domain:ident { $($field:ident),+ $(,)? }) => {
        impl serde::Serialize for $crate::shapes::shown::Shown<'_, $domain> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let $domain { $($field),+ } = self.value();
                let mut members = serializer.serialize_map(None)?;
                $(serde::ser::SerializeMap::serialize_entry(&mut members, stringify!($field), &self.part($field))?;)+
                serde::ser::SerializeMap::end(members)
            }
        }
    };
}

/// Shows an enum as [`shape_enum!`](super::shape) declares it: the names of its variants and of their parts. A later
/// form is shown as the variant that it is a form of.
macro_rules! shown_enum {
    ($(#[$doc:meta])* $name:ident of $domain:ident {
        $($variant:ident $(of $first:ident)? $(( $($place:ident: $part:ty),+ ))? $({ $($field:ident: $kind:ty),+ })?
            $(if $fits:expr)?,)+
    }) => {
        impl serde::Serialize for $crate::shapes::shown::Shown<'_, $domain> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.value() {
                    $($crate::domain_variant!(
                        $domain $variant $($first)? $(( $($place),+ ))? $({ $($field),+ })?
                    ) $(if $fits)? => {
                        let name = [$(stringify!($first),)? stringify!($variant)][0];
                        $crate::shapes::shown::shown_variant!(self, serializer, name; $($($place)+)? $($($field)+)?)
                    })+
                }
            }
        }
    };
}

/// Shows a variant: its name, or a struct of its parts with the name as `kind`.
macro_rules! shown_variant {
    ($shown:expr, $serializer:expr, $variant:expr;) => {
        $serializer.serialize_str(&$crate::shapes::shown::snake_case($variant))
    };
    ($shown:expr, $serializer:expr, $variant:expr; $($part:ident)+) => {{
        let mut members = $serializer.serialize_map(None)?;
        let kind = $crate::shapes::shown::snake_case($variant);
        serde::ser::SerializeMap::serialize_entry(&mut members, "kind", &kind)?;
        $(serde::ser::SerializeMap::serialize_entry(&mut members, stringify!($part), &$shown.part($part))?;)+
        serde::ser::SerializeMap::end(members)
    }};
}

pub(super) use {shown_enum, shown_struct, shown_variant};

/// `PaymentCaptured` as `payment_captured`.
pub(super) fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}

/// Declares the display of values without parts.
macro_rules! shown_as {
    ($($domain:ty: |$value:ident, $disclosure:pat_param| $shown:expr;)+) => {$(
        impl Serialize for Shown<'_, $domain> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let ($value, $disclosure) = (self.value, self.disclosure);
                $shown.serialize(serializer)
            }
        }
    )+};
}

macro_rules! shown_ids {
    ($($id:ty)+) => {
        shown_as! { $($id: |id, disclosure| shown_id(*id, disclosure);)+ }
    };
}

/// An id as text; that of a token only when it is disclosed.
fn shown_id<I: Id + Display>(id: I, disclosure: Disclosure) -> String {
    let text = id.to_string();
    if I::PREFIX == TokenId::PREFIX { disclosure.text(&text).to_owned() } else { text }
}

macro_rules! shown_texts {
    ($($text:ident)+) => {
        shown_as! { $($text: |text, _| text.as_str();)+ }
    };
}

macro_rules! personal_texts {
    ($($text:ident)+) => {
        shown_as! { $($text: |text, disclosure| disclosure.text(text.as_str());)+ }
    };
}

macro_rules! never_shown {
    ($($domain:ty),+) => {
        shown_as! { $($domain: |_digest, _| SEALED;)+ }
    };
}

shown_as! {
    bool: |value, _| value;
    u8: |number, _| number;
    u16: |number, _| number;
    u32: |number, _| number;
    u64: |number, _| number;
    i64: |number, _| number;
    String: |text, _| text;
    Millis: |millis, _| millis.unix_seconds();
    SetNumber: |number, _| number.0;
    AmountMinor: |amount, _| amount.get();
    Currency: |currency, _| currency.code();
    Color: |color, _| color.to_string();
    Present: |_present, _| ();
}

till_domain::each_id! { shown_ids }

shown_texts! {
    AcquirerCode ActionAddress Description DestinationUrl Evidence ExternalId HeaderName IdempotencyKey
    InstallationIdentifier MetadataKey Name QrText Reason ReturnUrl TimeZone
}

personal_texts! { CanonicalJson Document Email HolderName Mobile PersonName }

never_shown! { [u8; 32], CardFingerprint, ItemHash, KeyDigest }

// The shapes of these are written by hand, because their parts are sealed.
shown_struct! { Contact { email, mobile, name } }
shown_struct! { CustomerFields { id, contact } }

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    /// Every event and answer, as text.
    fn show_event(disclosure: Disclosure) -> String {
        let events = samples::events();
        let answers = samples::answers();
        let shown = serde_json::json!([Shown::new(&events, disclosure), Shown::new(&answers, disclosure)]);
        shown.to_string()
    }

    #[test]
    fn personal_data_is_shown_when_it_is_opened_only() {
        let (sealed, opened) = (show_event(Disclosure::Sealed), show_event(Disclosure::Opened));
        for personal in ["@", "+66812345678", "Somchai Jaidee", "S JAIDEE", "tok_", "CanonicalJson", "Document"] {
            assert!(!sealed.contains(personal) && opened.contains(personal), "{personal}");
        }
    }

    #[test]
    fn digests_are_shown_never_and_ids_amounts_and_variants_are() {
        let key = serde_json::to_value(Shown::new(&samples::api_key(), Disclosure::Opened)).expect("a JSON form");
        assert_eq!(key["digest"], SEALED);
        let payment = serde_json::to_value(Shown::new(&samples::payment(), Disclosure::Opened)).expect("a JSON form");
        assert_eq!(payment["id"], samples::payment().id.to_string());
        assert_eq!(payment["money"]["amount"], 10_000);
        assert_eq!((&payment["acquirer"]["kind"], &payment["capture_mode"]), (&"account".into(), &"automatic".into()));
        assert_eq!(snake_case("TerminalCard"), "terminal_card");
    }
}
