//! Objects of answers, each attribute of which is declared once.

use std::collections::BTreeMap;

use serde::Serialize;

/// A value in the form in which answers have it: an id as a text, a time in Unix seconds, a word by its name.
pub(crate) trait AnswerValue {
    /// The form.
    fn form(&self) -> impl Serialize;
}

/// Declares the forms of types, several types to each form.
macro_rules! answer_values {
    ($($($kind:ty)+ => |$value:ident| $form:expr;)+) => {$($(
        impl $crate::endpoints::shapes::object::AnswerValue for $kind {
            fn form(&self) -> impl serde::Serialize {
                let $value = self;
                $form
            }
        }
    )+)+};
}

answer_values! {
    bool u8 u16 u32 u64 i64 str String BTreeMap<&'static str, u64> => |value| value;
}

impl<V: AnswerValue + ?Sized> AnswerValue for &V {
    fn form(&self) -> impl Serialize {
        V::form(self)
    }
}

impl<V: AnswerValue> AnswerValue for Option<V> {
    fn form(&self) -> impl Serialize {
        self.as_ref().map(V::form)
    }
}

impl<V: AnswerValue> AnswerValue for Vec<V> {
    fn form(&self) -> impl Serialize {
        self.iter().map(V::form).collect::<Vec<_>>()
    }
}

/// Declares an object of answers, an attribute a line: key, type, value, description, and further methods of
/// [`Attribute`](till_protocol::declaration::Attribute).
///
/// ```text
/// object! {
///     /// A top-up of a merchant with this currency.
///     pub(crate) TOPUP "topup" as TopupShape<'a> of (topup: &'a Topup, currency: Currency) {
///         topup_id: Id(TopupId::PREFIX) = topup.id, "The top-up's id (`tup_...`).";
///         external_id: STRING or null = topup.external_id, "The operator's own reference.", such_as("wire-1001");
///         currency: STRING = currency, "The ISO 4217 code.", such_as("THB");
///     }
/// }
/// ```
///
/// makes the declaration `static TOPUP: ObjectType`, whose name in documents is `topup`, and `struct TopupShape`, which
/// `TopupShape::new(topup, currency)` makes and which serializes to the object. A value is an expression over
/// references to what `of` names; its type is an [`AnswerValue`]. A type is one of
/// [`ValueType`](till_protocol::declaration::ValueType), the words of a domain type as `words_of(PaymentStatus)`, or a
/// constant as `type(EVENT_WORDS)`.
///
/// Without `as`, and with the values left out, only the declaration is made, for an object that is serialized
/// elsewhere.
macro_rules! object {
    (@type words_of($($named:tt)+)) => { till_protocol::declaration::words_of!($($named)+) };
    (@type type($constant:expr)) => { $constant };
    (@type $kind:ident $(($of:expr))?) => { till_protocol::declaration::ValueType::$kind $(($of))? };
    ($vis:vis $declared:ident $name:literal { $(
        $key:ident: $kind:ident $(($($of:tt)+))? $(or $null:ident)?, $docs:tt $(, $method:ident $(($given:expr))?)*;
    )+ }) => {
        $vis static $declared: till_protocol::declaration::ObjectType = till_protocol::declaration::ObjectType {
            name: $name,
            attributes: &[$(till_protocol::declaration::Attribute::of(
                stringify!($key),
                $crate::endpoints::shapes::object::object!(@type $kind $(($($of)+))?),
                $docs,
            )$(.$null())? $(.$method($($given)?))*),+],
        };
    };
    ($(#[$doc:meta])* $vis:vis $declared:ident $name:literal
        as $shape:ident $(<$life:lifetime>)? of ($($source:ident: $source_type:ty),+) { $(
        $key:ident: $kind:ident $(($($of:tt)+))? $(or $null:ident)? = $value:expr,
        $docs:tt $(, $method:ident $(($given:expr))?)*;
    )+ }) => {
        $crate::endpoints::shapes::object::object! { $vis $declared $name { $(
            $key: $kind $(($($of)+))? $(or $null)?, $docs $(, $method $(($given))?)*;
        )+ } }

        $(#[$doc])*
        $vis struct $shape $(<$life>)? {
            $($source: $source_type),+
        }

        impl $(<$life>)? $shape $(<$life>)? {
            /// The object of these.
            $vis fn new($($source: $source_type),+) -> Self {
                Self { $($source),+ }
            }
        }

        impl $(<$life>)? serde::Serialize for $shape $(<$life>)? {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct as _;
                let Self { $($source),+ } = self;
                let mut object = serializer.serialize_struct($name, $declared.attributes.len())?;
                $(object.serialize_field(
                    stringify!($key),
                    &$crate::endpoints::shapes::object::AnswerValue::form(&$value),
                )?;)+
                object.end()
            }
        }

        impl $(<$life>)? $crate::endpoints::shapes::object::AnswerValue for $shape $(<$life>)? {
            fn form(&self) -> impl serde::Serialize {
                self
            }
        }
    };
}

pub(in crate::endpoints) use {answer_values, object};
