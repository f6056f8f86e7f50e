//! Arguments that are declared once: one line has the name, the type, the parser and the description of an argument.

use std::marker::PhantomData;

use till_domain::ids::Id;

use super::api_error::ApiError;
use super::declaration::{Argument, ValueType, list_page_arguments};
use super::field::{self, ListPageRequest};
use super::fields::Fields;
use super::json::Json;

/// Reads a value, or says what to send instead.
type Parse<T> = fn(&Json) -> Result<T, String>;

/// A kind of value: the type that documents show, and the parser that keeps its limits.
pub struct FieldOf<P> {
    /// The type, for documents.
    pub value_type: ValueType,
    /// The parser. Its message says what to send instead.
    pub parse: P,
}

/// A kind of value that means the same everywhere.
pub type Field<T> = FieldOf<Parse<T>>;

/// A kind of value whose meaning depends on `X`, such as the time zone of a merchant.
pub type FieldIn<T, X> = FieldOf<fn(&Json, &X) -> Result<T, String>>;

impl<P: Copy> FieldOf<P> {
    /// A required argument of this kind. [`arguments!`] gives it its name.
    pub const fn required(self, docs: &'static str) -> Declared<P, true> {
        Declared { argument: Argument::required("", self.value_type, docs), parse: self.parse }
    }

    /// An optional argument of this kind.
    pub const fn optional(self, docs: &'static str) -> Declared<P, false> {
        Declared { argument: Argument::optional("", self.value_type, docs), parse: self.parse }
    }
}

/// An argument with its parser.
pub struct Declared<P, const REQUIRED: bool> {
    /// Its part of a declaration.
    pub argument: Argument,
    parse: P,
}

/// An argument without which a call is refused.
pub type Required<T> = Declared<Parse<T>, true>;

/// An argument that may be left out.
pub type Optional<T> = Declared<Parse<T>, false>;

/// An argument that may be left out, whose meaning depends on `X`.
pub type OptionalIn<T, X> = Declared<fn(&Json, &X) -> Result<T, String>, false>;

impl<P: Copy, const REQUIRED: bool> Declared<P, REQUIRED> {
    /// The same under this name.
    pub const fn with_name(self, name: &'static str) -> Self {
        Declared { argument: Argument { name, ..self.argument }, ..self }
    }

    /// The same under this name, unless it has one.
    pub const fn or_named(self, name: &'static str) -> Self {
        if self.argument.name.is_empty() { self.with_name(name) } else { self }
    }

    /// Like [`Argument::in_examples`].
    pub const fn in_examples(self) -> Self {
        Declared { argument: self.argument.in_examples(), ..self }
    }

    /// Like [`Argument::such_as`].
    pub const fn such_as(self, json: &'static str) -> Self {
        Declared { argument: self.argument.such_as(json), ..self }
    }

    /// Like [`Argument::or_empty`].
    pub const fn or_empty(self) -> Self {
        Declared { argument: self.argument.or_empty(), ..self }
    }

    /// Its part of a declaration.
    pub const fn list(&self) -> ArgumentList {
        ArgumentList::NONE.with(&[self.argument])
    }
}

/// A part of a call's arguments.
pub trait ReadArguments<X = ()> {
    /// The value that it is read as.
    type Value;

    /// Reads it. None when it is faulty; the faults are then with the others in `fields`.
    fn read(&self, fields: &mut Fields<'_>, context: &X) -> Option<Self::Value>;
}

impl<T, X> ReadArguments<X> for Required<T> {
    type Value = T;

    fn read(&self, fields: &mut Fields<'_>, _: &X) -> Option<T> {
        fields.required(self.argument.name, self.parse)
    }
}

impl<T, X> ReadArguments<X> for Optional<T> {
    type Value = Option<T>;

    fn read(&self, fields: &mut Fields<'_>, _: &X) -> Option<Option<T>> {
        Some(fields.optional(self.argument.name, self.parse))
    }
}

impl<T, X> ReadArguments<X> for Declared<fn(&Json, &X) -> Result<T, String>, true> {
    type Value = T;

    fn read(&self, fields: &mut Fields<'_>, context: &X) -> Option<T> {
        fields.required(self.argument.name, |value| (self.parse)(value, context))
    }
}

impl<T, X> ReadArguments<X> for Declared<fn(&Json, &X) -> Result<T, String>, false> {
    type Value = Option<T>;

    fn read(&self, fields: &mut Fields<'_>, context: &X) -> Option<Option<T>> {
        Some(fields.optional(self.argument.name, |value| (self.parse)(value, context)))
    }
}

/// The arguments of an endpoint, or several that belong together; [`arguments!`] makes it.
pub struct ArgumentSet<T, X = ()> {
    /// Their part of a declaration.
    pub declared: &'static [Argument],
    read: fn(&mut Fields<'_>, &X) -> Option<T>,
}

impl<T, X> ArgumentSet<T, X> {
    /// The result of [`arguments!`].
    pub const fn new(declared: &'static [Argument], read: fn(&mut Fields<'_>, &X) -> Option<T>) -> ArgumentSet<T, X> {
        ArgumentSet { declared, read }
    }

    /// The same: each of several arguments has its own name.
    pub const fn or_named(self, _: &'static str) -> ArgumentSet<T, X> {
        self
    }

    /// Their part of a declaration.
    pub const fn list(&self) -> ArgumentList {
        ArgumentList::NONE.with(self.declared)
    }
}

impl<T, X> ReadArguments<X> for ArgumentSet<T, X> {
    type Value = T;

    fn read(&self, fields: &mut Fields<'_>, context: &X) -> Option<T> {
        (self.read)(fields, context)
    }
}

/// An id of one kind.
pub const fn id<T: Id>() -> Field<T> {
    Field {
        value_type: ValueType::Id(T::PREFIX),
        parse: |value| field::from_text(T::DESCRIPTION, str::parse::<T>)(value),
    }
}

/// The three arguments that select a page of a list.
pub struct ListPageArguments<K> {
    kind: PhantomData<fn() -> K>,
}

/// The page of a list of objects with ids of this kind.
pub const fn list_page<K: Id>() -> ListPageArguments<K> {
    ListPageArguments { kind: PhantomData }
}

impl<K: Id> ListPageArguments<K> {
    /// The same: the arguments have names of their own.
    pub const fn or_named(self, _: &'static str) -> ListPageArguments<K> {
        self
    }

    /// Their part of a declaration.
    pub const fn list(&self) -> ArgumentList {
        ArgumentList::NONE.with(&list_page_arguments(K::PREFIX))
    }
}

impl<K: Id, X> ReadArguments<X> for ListPageArguments<K> {
    type Value = ListPageRequest<K>;

    fn read(&self, fields: &mut Fields<'_>, _: &X) -> Option<ListPageRequest<K>> {
        field::list_page(fields, |value| field::from_text(K::DESCRIPTION, str::parse::<K>)(value))
    }
}

/// A list of arguments that is put together while the program is compiled.
#[derive(Clone, Copy)]
pub struct ArgumentList {
    arguments: [Argument; ArgumentList::LEN_MAX],
    len: usize,
}

impl ArgumentList {
    /// The limit of arguments of one endpoint.
    const LEN_MAX: usize = 24;

    /// No arguments.
    pub const NONE: ArgumentList =
        ArgumentList { arguments: [Argument::optional("", ValueType::ANY, ""); ArgumentList::LEN_MAX], len: 0 };

    /// The number of arguments.
    pub const fn count(&self) -> usize {
        self.len
    }

    /// The list with more at its end.
    pub const fn with(mut self, more: &[Argument]) -> ArgumentList {
        let mut at = 0;
        while at < more.len() {
            self.arguments[self.len] = more[at];
            (self.len, at) = (self.len + 1, at + 1);
        }
        self
    }

    /// The list with another at its end.
    pub const fn with_list(self, more: &ArgumentList) -> ArgumentList {
        self.with(more.arguments.split_at(more.len).0)
    }

    /// The list as an array of its length.
    pub const fn array<const LEN: usize>(self) -> [Argument; LEN] {
        let mut array = [self.arguments[0]; LEN];
        let mut at = 0;
        while at < LEN {
            array[at] = self.arguments[at];
            at += 1;
        }
        array
    }
}

impl Fields<'_> {
    /// Reads all arguments of a call.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS` with every fault.
    pub fn parse<A: ReadArguments>(self, arguments: &A) -> Result<A::Value, ApiError> {
        self.parse_in(arguments, &())
    }

    /// Reads all arguments of a call, of which some depend on `context`.
    ///
    /// # Errors
    /// As [`Fields::parse`].
    pub fn parse_in<X, A: ReadArguments<X>>(mut self, arguments: &A, context: &X) -> Result<A::Value, ApiError> {
        let value = arguments.read(&mut self, context);
        self.finish(|| value)
    }
}

/// The arguments of an endpoint, each in one line: an [`ArgumentSet`], whose `declared` belongs in the declaration.
///
/// A line has the name under which the value is used, and the argument: its kind, required or optional, and its
/// description. It is also the name in the body unless the argument has one (`with_name`). A line may also be an
/// argument that several endpoints share, a whole [`ArgumentSet`] or a [`list_page`].
///
/// ```ignore
/// const CAPTURE: ArgumentSet<CapturePayment> = arguments!(CapturePayment {
///     payment: PAYMENT,
///     amount: AMOUNT.optional("The amount in minor units; the whole authorized amount when left out."),
/// });
/// ```
///
/// makes the struct `CapturePayment { payment, amount }` when no argument is faulty. Any other value is made by an
/// expression, which has a required argument as its value and an optional one as an `Option`:
///
/// ```ignore
/// const ADD: ArgumentSet<(MerchantId, AddTopup)> = arguments!({
///     merchant_id: MERCHANT,
///     amount: AMOUNT.required("The amount in minor units of the merchant's currency."),
/// } => (merchant_id, AddTopup { amount }));
/// ```
///
/// Between the two, `judged by |fields| ...` may add faults of several arguments together. It has each value in a
/// further `Option`, none when it is faulty. `with name;` in front of the lines gives both expressions the context by
/// this name.
#[macro_export]
macro_rules! arguments {
    ($target:ident { $($name:ident : $part:expr),* $(,)? }) => {
        $crate::arguments!({ $($name: $part),* } => $target { $($name),* })
    };
    ($(with $given:ident;)? { $($name:ident : $part:expr),* $(,)? } $(judged by $judge:expr)? => $value:expr) => {{
        use $crate::arguments::{ArgumentList, ArgumentSet, ReadArguments};
        const LIST: ArgumentList = ArgumentList::NONE
            $(.with_list(&$part.or_named(stringify!($name)).list()))*;
        const DECLARED: [$crate::declaration::Argument; LIST.count()] = LIST.array();
        ArgumentSet::new(&DECLARED, |fields, context| {
            $(let $name = ReadArguments::read(&const { $part.or_named(stringify!($name)) }, fields, context);)*
            $(let $given = context;)?
            $(($judge)(fields);)?
            Some({
                $(let $name = $name?;)*
                $value
            })
        })
    }};
}

pub use arguments;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::{Declaration, Package};
    use crate::fault::Fault;
    use crate::json::parse_object;

    const BYTE: Field<u8> =
        Field { value_type: ValueType::integer(0, 255, 7), parse: |value| field::integer(0..=255)(value) };
    const SHARED: Required<u8> = BYTE.required("Shared.").with_name("shared_by_all");
    const PAIR: ArgumentSet<(Option<u8>, u8), u8> = arguments!({
        first: BYTE.optional("The first.").in_examples(),
        second: BYTE.required("The second."),
    } => (first, second));
    const SUM: ArgumentSet<u8, u8> = arguments!(with base; {
        shared: SHARED,
        pair: PAIR,
    } judged by |fields: &mut Fields<'_>| if shared.is_some_and(|shared| shared < *base) {
        fields.fault(Fault::invalid("shared_by_all", "is too small"));
    } => *base + shared + pair.1);

    static SUMMED: Declaration =
        Declaration { name: "sum", arguments: SUM.declared, ..Declaration::query(Package::Merchants, "sums") };

    fn read(body: &str) -> Result<u8, ApiError> {
        let body = parse_object(body.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        Fields::new(&SUMMED, &body).parse_in(&SUM, &10)
    }

    #[test]
    fn arguments_are_declared_in_the_order_of_their_lines() {
        let names = SUM.declared.iter().map(|argument| (argument.name, argument.required, argument.shown));
        let expected = [("shared_by_all", true, false), ("first", false, true), ("second", true, false)];
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_value_is_made_of_good_arguments_and_all_faults_are_reported() {
        assert_eq!(read(r#"{"shared_by_all":20,"second":3}"#).ok(), Some(33));
        let faults = read(r#"{"shared_by_all":1,"first":true}"#).expect_err("three faults");
        let faults = faults.details().map(ToString::to_string).unwrap_or_default();
        let positions = ["too small", "not a boolean", "is required"].map(|message| faults.find(message));
        assert!(positions.is_sorted() && positions[0].is_some(), "{faults}");
    }
}
