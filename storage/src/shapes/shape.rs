//! Conversion between shapes on disk and values of the domain.
//!
//! [`frozen_struct!`] and [`frozen_enum!`] declare a frozen shape together with its conversion; those of `declared.rs`
//! also declare how its value is shown to an operator. The shape is written out, field by field with
//! its type on disk; the conversion takes the domain's value apart by name, so that a field or variant added to the
//! domain does not compile before it has a shape.

use till_domain::card::CardFingerprint;
use till_domain::ids::PaymentId;
use till_domain::key::KeyDigest;
use till_domain::merchant::Color;
use till_domain::metadata::{CanonicalJson, Document, ItemHash, SetNumber};
use till_domain::money::{AmountMinor, Currency};
use till_domain::records::{Present, Unreadable};
use till_domain::text::{
    AcquirerCode, ActionAddress, Description, DestinationUrl, Email, Evidence, ExternalId, HeaderName, IdempotencyKey,
    InstallationIdentifier, MetadataKey, Name, QrText, Reason, ReturnUrl, TimeZone,
};
use till_domain::time::Millis;

use super::codec::{Out, ShapeError, put};
#[cfg(test)]
use super::drawn::{Draw, Drawn, Raw};
use super::personal::Personal;

/// A shape on disk of the domain's `D`.
pub trait Shape<D>: Sized {
    /// Writes a value in its shape. The shape is written from the value's own parts and never exists in memory.
    /// Personal texts are sealed.
    ///
    /// # Errors
    /// [`Unreadable`] when the library cannot encode it, or the key to seal a text with is not available.
    fn write(value: &D, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable>;

    /// The value of a shape. Personal texts are opened; those of an erased person are absent.
    ///
    /// # Errors
    /// [`ShapeError`] when a part is out of range, or a sealed text cannot be opened.
    fn unpack(self, personal: &dyn Personal) -> Result<D, ShapeError>;
}

/// Declares a frozen struct and its conversion, field by field.
#[macro_export]
macro_rules! frozen_struct {
    ($(#[$doc:meta])* $name:ident of $domain:ident { $($field:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, $crate::shapes::frozen::Decode)]
        pub(super) struct $name {
            $($field: $kind,)+
        }

        impl $crate::shapes::frozen::Shape<$domain> for $name {
            fn write(
                value: &$domain,
                personal: &mut dyn $crate::shapes::frozen::Personal,
                out: &mut $crate::shapes::frozen::Out,
            ) -> Result<(), till_domain::records::Unreadable> {
                let $domain { $($field),+ } = value;
                $(<$kind as $crate::shapes::frozen::Shape<_>>::write($field, personal, out)?;)+
                Ok(())
            }

            fn unpack(
                self,
                personal: &dyn $crate::shapes::frozen::Personal,
            ) -> Result<$domain, $crate::shapes::frozen::ShapeError> {
                Ok($domain { $($field: $crate::shapes::frozen::Shape::unpack(self.$field, personal)?,)+ })
            }
        }
    };
}

/// Declares a frozen enum and its conversion, variant by variant. The position of a variant is on disk. Fields with
/// names are encoded by position, as those without are: bincode writes both alike. A variant whose parts cannot hold
/// every value states the condition after `if`; a later form of it, `TokenizedV2 of Tokenized(..)`, holds the other
/// values. It comes at the end, as a new kind does.
#[macro_export]
macro_rules! frozen_enum {
    ($(#[$doc:meta])* $name:ident of $domain:ident {
        $($variant:ident $(of $first:ident)? $(( $($place:ident: $part:ty),+ ))? $({ $($field:ident: $kind:ty),+ })?
            $(if $fits:expr)?,)+
    }) => {
        $(#[$doc])*
        #[derive(Debug, $crate::shapes::frozen::Decode)]
        pub(super) enum $name {
            $($variant $(( $($part),+ ))? $(( $($kind),+ ))?,)+
        }

        impl $crate::shapes::frozen::Shape<$domain> for $name {
            fn write(
                value: &$domain,
                personal: &mut dyn $crate::shapes::frozen::Personal,
                out: &mut $crate::shapes::frozen::Out,
            ) -> Result<(), till_domain::records::Unreadable> {
                /// The positions on disk.
                enum Position { $($variant,)+ }
                let _ = &personal; // Not every enum has a field.
                match value {
                    $($crate::domain_variant!(
                        $domain $variant $($first)? $(( $($place),+ ))? $({ $($field),+ })?
                    ) $(if $fits)? => {
                        $crate::shapes::frozen::put(&(Position::$variant as u32), out)?;
                        $($(<$part as $crate::shapes::frozen::Shape<_>>::write($place, personal, out)?;)+)?
                        $($(<$kind as $crate::shapes::frozen::Shape<_>>::write($field, personal, out)?;)+)?
                    })+
                }
                Ok(())
            }

            fn unpack(
                self,
                personal: &dyn $crate::shapes::frozen::Personal,
            ) -> Result<$domain, $crate::shapes::frozen::ShapeError> {
                let _ = personal; // Not every enum has a field.
                Ok(match self {
                    $($name::$variant $(( $($place),+ ))? $(( $($field),+ ))? => $crate::domain_variant!(
                        $domain $variant $($first)?
                        $(( $($crate::shapes::frozen::Shape::unpack($place, personal)?),+ ))?
                        $({ $($field: $crate::shapes::frozen::Shape::unpack($field, personal)?),+ })?
                    ),)+
                })
            }
        }
    };
}

/// The variant of the domain that a frozen variant stands for: its own name, or the one that it is a later form of.
#[doc(hidden)]
#[macro_export]
macro_rules! domain_variant {
    ($domain:ident $variant:ident $first:ident $($parts:tt)?) => { $domain::$first $($parts)? };
    ($domain:ident $variant:ident $($parts:tt)?) => { $domain::$variant $($parts)? };
}

/// [`frozen_struct!`], of which tests draw values.
macro_rules! unshown_struct {
    ($(#[$doc:meta])* $name:ident of $domain:ident { $($field:ident: $kind:ty,)+ }) => {
        $crate::frozen_struct! { $(#[$doc])* $name of $domain { $($field: $kind,)+ } }
        #[cfg(test)]
        $crate::shapes::drawn::drawn_struct! { $name of $domain { $($field: $kind,)+ } }
    };
}

pub(super) use unshown_struct;

impl<D, S: Shape<D>> Shape<Option<D>> for Option<S> {
    fn write(value: &Option<D>, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        put(&u8::from(value.is_some()), out)?;
        value.as_ref().map_or(Ok(()), |value| S::write(value, personal, out))
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Option<D>, ShapeError> {
        self.map(|shape| shape.unpack(personal)).transpose()
    }
}

impl<D, S: Shape<D>> Shape<Vec<D>> for Vec<S> {
    fn write(value: &Vec<D>, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        put(&value.len(), out)?;
        value.iter().try_for_each(|value| S::write(value, personal, out))
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Vec<D>, ShapeError> {
        self.into_iter().map(|shape| shape.unpack(personal)).collect()
    }
}

impl<C, D, R: Shape<C>, S: Shape<D>> Shape<(C, D)> for (R, S) {
    fn write(value: &(C, D), personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        R::write(&value.0, personal, out)?;
        S::write(&value.1, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<(C, D), ShapeError> {
        Ok((self.0.unpack(personal)?, self.1.unpack(personal)?))
    }
}

/// Declares conversions that neither fail nor contain anything personal. The bytes are those of the named type.
macro_rules! plain_shapes {
    ($($kind:ty as $domain:ty: |$value:pat_param| $written:expr, |$shape:pat_param| $unpack:expr;)+) => {$(
        impl Shape<$domain> for $kind {
            #[inline]
            fn write(value: &$domain, _: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
                let $value = value;
                put(&$written, out)
            }

            fn unpack(self, _: &dyn Personal) -> Result<$domain, ShapeError> {
                let $shape = self;
                Ok($unpack)
            }
        }

        #[cfg(test)]
        impl Drawn<$domain> for $kind {
            fn draw(draw: &mut Draw) -> $domain {
                let $shape = <$kind as Raw>::raw(draw, stringify!($domain));
                $unpack
            }
        }
    )+};
}

/// An id is its 16 bytes.
macro_rules! id_shapes {
    ($($id:ty)+) => {
        plain_shapes! {
            $([u8; 16] as $id: |id| id.to_bytes(), |bytes| <$id>::from_bytes(bytes);)+
        }
    };
}

/// A text is its UTF-8 bytes.
macro_rules! text_shapes {
    ($($text:ident)+) => {
        plain_shapes! {
            $(String as $text: |text| text.as_str(), |text| $text::from_stored(text);)+
        }
    };
}

plain_shapes! {
    bool as bool: |value| *value, |value| value;
    u8 as u8: |value| *value, |value| value;
    u16 as u16: |value| *value, |value| value;
    u32 as u32: |value| *value, |value| value;
    u64 as u64: |value| *value, |value| value;
    i64 as i64: |value| *value, |value| value;
    u64 as Millis: |millis| millis.0, |millis| Millis(millis);
    String as String: |text| text.as_str(), |text| text;
    [u8; 4] as [u8; 4]: |bytes| *bytes, |bytes| bytes;
    [u8; 6] as [u8; 6]: |bytes| *bytes, |bytes| bytes;
    [u8; 32] as [u8; 32]: |bytes| *bytes, |bytes| bytes;
    [u8; 32] as KeyDigest: |digest| digest.0, |bytes| KeyDigest(bytes);
    [u8; 32] as CardFingerprint: |fingerprint| fingerprint.0, |bytes| CardFingerprint(bytes);
    [u8; 16] as Option<PaymentId>: |id| id.map_or([0; 16], PaymentId::to_bytes),
        |bytes| (bytes != [0; 16]).then(|| PaymentId::from_bytes(bytes));
    () as Present: |_| (), |()| Present;
    [u8; 32] as ItemHash: |hash| hash.0, |bytes| ItemHash(bytes);
    u32 as SetNumber: |number| number.0, |number| SetNumber(number);
    String as CanonicalJson: |json| json.as_str(), |text| CanonicalJson::from_canonical(text);
    String as Document: |document| document.as_str(), |text| Document::from_stored(text);
}

till_domain::each_id! { id_shapes }

// `PersonName`, `HolderName` and `Mobile` are missing, since they are never stored in clear, as is the `Email` of
// customers. The `Email` here is of the operator's staff and of dashboard users.
text_shapes! {
    AcquirerCode ActionAddress Description DestinationUrl Email Evidence ExternalId HeaderName IdempotencyKey
    InstallationIdentifier MetadataKey Name QrText Reason ReturnUrl TimeZone
}

impl Shape<AmountMinor> for u64 {
    fn write(amount: &AmountMinor, _: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        put(&amount.get(), out)
    }

    fn unpack(self, _: &dyn Personal) -> Result<AmountMinor, ShapeError> {
        AmountMinor::new(self).ok_or(ShapeError::OutOfRange { what: "an amount" })
    }
}

impl Shape<Currency> for [u8; 3] {
    fn write(currency: &Currency, _: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        put(&currency.to_bytes(), out)
    }

    fn unpack(self, _: &dyn Personal) -> Result<Currency, ShapeError> {
        // The set of codes changes over time, so only the form is checked.
        let is_code = self.iter().all(u8::is_ascii_uppercase);
        is_code.then(|| Currency::from_bytes(self)).ok_or(ShapeError::OutOfRange { what: "a currency" })
    }
}

impl Shape<Color> for [u8; 3] {
    fn write(color: &Color, _: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        put(&color.0, out)
    }

    fn unpack(self, _: &dyn Personal) -> Result<Color, ShapeError> {
        Ok(Color(self))
    }
}
