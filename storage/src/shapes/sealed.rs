//! Fields that are sealed under the key of a person, see [`Personal`]. The label of a field is part of the format: a
//! text that is sealed with it opens only there.

use till_domain::records::Unreadable;
use till_domain::text::{ActionAddress, Email, HolderName, Mobile, PersonName};

use crate::vault::SubjectId;

use super::codec::{Out, ShapeError, put};
use super::personal::Personal;

/// A shape on disk of the domain's `D` with sealed parts. A struct names it as `field: ContactV1 as OF_PAYMENT`.
pub(super) trait SealedShape<D>: Sized {
    /// A label, or the labels of the parts.
    type Labels;

    /// Writes a value with its parts sealed under the key of `subject`.
    fn seal(
        value: &D,
        subject: SubjectId,
        labels: Self::Labels,
        personal: &mut dyn Personal,
        out: &mut Out,
    ) -> Result<(), Unreadable>;

    /// Opens the sealed parts; those of an erased subject are absent.
    fn open(self, subject: SubjectId, labels: Self::Labels, personal: &dyn Personal) -> Result<D, ShapeError>;
}

/// Declares sealed texts, alone and in lists.
macro_rules! sealed_texts {
    ($($text:ident)+) => {$(
        impl SealedShape<Option<$text>> for Option<Vec<u8>> {
            type Labels = &'static str;

            fn seal(
                text: &Option<$text>,
                subject: SubjectId,
                label: &'static str,
                personal: &mut dyn Personal,
                out: &mut Out,
            ) -> Result<(), Unreadable> {
                let sealed = text.as_ref().map(|text| personal.seal(subject, label, text.as_str())).transpose()?;
                put(&sealed, out)
            }

            fn open(
                self,
                subject: SubjectId,
                label: &'static str,
                personal: &dyn Personal,
            ) -> Result<Option<$text>, ShapeError> {
                let Some(sealed) = self else { return Ok(None) };
                Ok(personal.open(subject, label, &sealed)?.map($text::from_stored))
            }
        }
    )+};
}

sealed_texts! { ActionAddress Email HolderName Mobile PersonName }

impl SealedShape<Vec<Email>> for Vec<Vec<u8>> {
    type Labels = &'static str;

    fn seal(
        emails: &Vec<Email>,
        subject: SubjectId,
        label: &'static str,
        personal: &mut dyn Personal,
        out: &mut Out,
    ) -> Result<(), Unreadable> {
        let sealed = emails.iter().map(|email| personal.seal(subject, label, email.as_str()));
        put(&sealed.collect::<Result<Vec<Vec<u8>>, Unreadable>>()?, out)
    }

    fn open(self, subject: SubjectId, label: &'static str, personal: &dyn Personal) -> Result<Vec<Email>, ShapeError> {
        let opened = self.iter().filter_map(|sealed| personal.open(subject, label, sealed).transpose());
        opened.map(|email| email.map(Email::from_stored)).collect()
    }
}

/// Declares a struct with sealed fields and its conversion, see [`shape_struct!`](super::shape).
macro_rules! sealed_struct {
    ($(#[$doc:meta])* $name:ident of $domain:ident {
        $($field:ident: $kind:ty $(as $labels:expr)?,)+
    } sealed under $subject:expr) => {
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
                let subject = $subject;
                $($crate::shapes::sealed::write_field!($kind, $field, subject, personal, out $(, $labels)?);)+
                Ok(())
            }

            fn unpack(
                self,
                personal: &dyn $crate::shapes::frozen::Personal,
            ) -> Result<$domain, $crate::shapes::frozen::ShapeError> {
                $(let $field = $crate::shapes::sealed::unpack_field!(self.$field, personal $(, $labels)?);)+
                let subject = {
                    $(let $field = &$field;
                    let _ = $field;)+
                    $subject
                };
                let _ = subject;
                Ok($domain {
                    $($field: $crate::shapes::sealed::open_field!($field, subject, personal $(, $labels)?)),+
                })
            }
        }
    };
}

/// Writes a field, sealed when it has labels.
macro_rules! write_field {
    ($kind:ty, $field:ident, $subject:ident, $personal:ident, $out:ident) => {
        <$kind as $crate::shapes::frozen::Shape<_>>::write($field, $personal, $out)?
    };
    ($kind:ty, $field:ident, $subject:ident, $personal:ident, $out:ident, $labels:expr) => {
        <$kind as $crate::shapes::sealed::SealedShape<_>>::seal($field, $subject, $labels, $personal, $out)?
    };
}

/// Reads a field that is not sealed, and leaves one that is.
macro_rules! unpack_field {
    ($shape:expr, $personal:ident) => {
        $crate::shapes::frozen::Shape::unpack($shape, $personal)?
    };
    ($shape:expr, $personal:ident, $labels:expr) => {
        $shape
    };
}

/// Opens a field that is sealed, and leaves one that is not.
macro_rules! open_field {
    ($value:ident, $subject:ident, $personal:ident) => {
        $value
    };
    ($value:ident, $subject:ident, $personal:ident, $labels:expr) => {
        $crate::shapes::sealed::SealedShape::open($value, $subject, $labels, $personal)?
    };
}

pub(super) use {open_field, sealed_struct, unpack_field, write_field};
