//! An argument of an endpoint.

use serde_json::Value;

use super::ValueType;

/// The default number of entries on a page.
pub const PER_PAGE_DEFAULT: u16 = 25;

/// The limit of entries on a page.
pub const PER_PAGE_MAX: u16 = 100;

/// One argument, for documents and for the check of bodies.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// Its key in the body.
    pub name: &'static str,
    /// Its type, with limits and an example.
    pub value_type: ValueType,
    /// True when a call without it is refused.
    pub required: bool,
    /// True when an empty text means the same as leaving it out.
    pub empty_is_omitted: bool,
    /// The description, in Markdown.
    pub docs: &'static str,
    /// An example value as JSON, where that of its type does not fit.
    pub own_example: Option<&'static str>,
    /// True when the example of a whole body has it although it is optional.
    pub shown: bool,
}

impl Argument {
    /// A required argument.
    #[must_use]
    pub const fn required(name: &'static str, value_type: ValueType, docs: &'static str) -> Argument {
        Argument { required: true, ..Argument::optional(name, value_type, docs) }
    }

    /// An optional argument.
    #[must_use]
    pub const fn optional(name: &'static str, value_type: ValueType, docs: &'static str) -> Argument {
        let (required, empty_is_omitted, own_example, shown) = (false, false, None, false);
        Argument { name, value_type, required, empty_is_omitted, docs, own_example, shown }
    }

    /// The same, and an empty text means that it is left out.
    #[must_use]
    pub const fn or_empty(self) -> Argument {
        Argument { empty_is_omitted: true, ..self }
    }

    /// The same with an example value as JSON.
    #[must_use]
    pub const fn such_as(self, json: &'static str) -> Argument {
        Argument { own_example: Some(json), ..self }
    }

    /// The same, and the example of a whole body has it.
    #[must_use]
    pub const fn in_examples(self) -> Argument {
        Argument { shown: true, ..self }
    }

    /// An example value.
    #[must_use]
    pub fn example(&self) -> Option<Value> {
        let own = self.own_example.map(|json| serde_json::from_str(json).expect("an example is written as JSON"));
        own.or_else(|| self.value_type.example())
    }
}

/// The arguments of a list without filters, whose entries have ids with this prefix; `field::page` reads them.
#[must_use]
pub const fn list_page_arguments(prefix: &'static str) -> [Argument; 3] {
    let per_page = ValueType::integer(1, PER_PAGE_MAX as u64, PER_PAGE_DEFAULT as u64);
    [
        Argument::optional("per_page", per_page, "Entries per page, 1 to 100; 25 when left out.").in_examples(),
        Argument::optional(
            "after",
            ValueType::Id(prefix),
            "Return what was created before this id. Not together with `before`.",
        ),
        Argument::optional(
            "before",
            ValueType::Id(prefix),
            "Return what was created after this id. Not together with `after`.",
        ),
    ]
}
