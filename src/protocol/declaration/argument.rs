//! An argument of an endpoint.

use super::ValueType;

/// One argument, as documents show it and as bodies are checked against it.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// Its key in the body.
    pub name: &'static str,
    /// What is sent.
    pub value_type: ValueType,
    /// Whether leaving it out is a fault.
    pub required: bool,
    /// Whether the empty text means the same as leaving it out.
    pub empty_is_omitted: bool,
    /// What it means, in Markdown.
    pub docs: &'static str,
}

impl Argument {
    /// An argument that must be sent.
    #[must_use]
    pub const fn required(name: &'static str, value_type: ValueType, docs: &'static str) -> Argument {
        Argument { name, value_type, required: true, empty_is_omitted: false, docs }
    }

    /// An argument that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, value_type: ValueType, docs: &'static str) -> Argument {
        Argument { name, value_type, required: false, empty_is_omitted: false, docs }
    }

    /// The same, and its empty text means that it is left out.
    #[must_use]
    pub const fn or_empty(self) -> Argument {
        Argument { empty_is_omitted: true, ..self }
    }
}

/// The arguments of a list without filters; `field::page` reads them.
pub const PAGE_ARGUMENTS: [Argument; 3] = [
    Argument::optional("per_page", ValueType::INTEGER, "Entries per page, 1 to 100; 25 when left out."),
    Argument::optional(
        "after",
        ValueType::STRING,
        "Return what was created before this id. Not together with `before`.",
    ),
    Argument::optional(
        "before",
        ValueType::STRING,
        "Return what was created after this id. Not together with `after`.",
    ),
];
