//! A field of a form, made from the argument that it gives.

use till_protocol::declaration::{Argument, Integer, Text, TextKind, ValueType};

use super::cell::Merchant;
use super::given::{Faults, Given, field_name, is_amount};
use super::words::{plain, words};

/// The characters of a text above which it has a field of several lines.
const LINE_CHARACTERS_MAX: usize = 1_000;

/// The name of the field for a code of the authenticator.
pub(in crate::pages) const CODE: &str = "code";

/// A field.
#[derive(Debug, Default)]
pub(in crate::pages) struct Field {
    /// The argument that it gives.
    pub(in crate::pages) argument: &'static str,
    pub(in crate::pages) name: String,
    pub(in crate::pages) label: String,
    /// `select`, `checkboxes`, `lines`, `decimal` or `code`, else the type of an input.
    pub(in crate::pages) kind: &'static str,
    pub(in crate::pages) value: String,
    /// The chosen ones of several.
    pub(in crate::pages) chosen: Vec<String>,
    /// The values that can be chosen, with their words.
    pub(in crate::pages) choices: Vec<(String, String)>,
    pub(in crate::pages) hint: String,
    pub(in crate::pages) fault: Option<String>,
    pub(in crate::pages) is_required: bool,
}

impl Field {
    /// The field of an argument, with what was entered.
    pub(in crate::pages) fn of(argument: &Argument, merchant: &Merchant, given: &Given, faults: &Faults) -> Field {
        let currency = if is_amount(argument) { format!(" ({})", merchant.currency) } else { String::new() };
        Field {
            argument: argument.name,
            name: field_name(argument),
            label: words(argument.name) + &currency,
            kind: kind(argument),
            value: given.entered(argument, merchant),
            chosen: given.all(argument.name).map(str::to_owned).collect(),
            choices: choices(argument.value_type),
            hint: plain(argument.docs),
            fault: faults.get(argument.name).cloned(),
            is_required: argument.required,
        }
    }

    /// The field for a code of the authenticator.
    pub(in crate::pages) fn code(faults: &Faults) -> Field {
        let (name, label) = (CODE.to_owned(), "Authentication code".to_owned());
        let hint = "Six digits of your authenticator, or a recovery code.".to_owned();
        let (fault, is_required) = (faults.get(CODE).cloned(), true);
        Field { argument: CODE, name, label, kind: CODE, hint, fault, is_required, ..Field::default() }
    }

    /// The field of a filter, whose label has no currency and which has no long explanation.
    pub(in crate::pages) fn filter(argument: &Argument, merchant: &Merchant, given: &Given, faults: &Faults) -> Field {
        let hint = match argument.name {
            "amount" => "12.50, or 10..20",
            name if name.ends_with("_at") => "today, 2025-04, or a..b",
            _ => "",
        };
        let field = Field::of(argument, merchant, given, faults);
        Field { label: words(argument.name), hint: hint.to_owned(), ..field }
    }

    /// The ids of what explains it.
    pub(in crate::pages) fn described_by(&self) -> String {
        let parts = [("hint", !self.hint.is_empty()), ("fault", self.fault.is_some())].into_iter();
        let ids = parts.filter(|(_, is_there)| *is_there).map(|(part, _)| format!("{}-{part}", self.name));
        ids.collect::<Vec<String>>().join(" ")
    }
}

fn kind(argument: &Argument) -> &'static str {
    match argument.value_type {
        _ if is_amount(argument) => "decimal",
        ValueType::Words(_) | ValueType::Boolean => "select",
        ValueType::Array(_) => "checkboxes",
        ValueType::Integer(Integer { is_time: true, .. }) => "datetime-local",
        ValueType::Text(Text { kind: TextKind::Email, .. }) => "email",
        ValueType::Text(Text { kind: TextKind::Phone, .. }) => "tel",
        ValueType::Text(Text { kind: TextKind::Url, .. }) => "url",
        ValueType::Text(Text { length: Some((_, most)), .. }) if most > LINE_CHARACTERS_MAX => "lines",
        _ => "text",
    }
}

fn choices(value_type: ValueType) -> Vec<(String, String)> {
    match value_type {
        ValueType::Boolean => [("true", "Yes"), ("false", "No")].map(|(is, word)| (is.into(), word.into())).into(),
        ValueType::Array(of) => choices(*of),
        of => of.choices().iter().map(|word| ((*word).to_owned(), word.replace('*', "All"))).collect(),
    }
}
