//! What a person gave: the query of an address, or the fields of a form.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use serde_json::{Map, Value};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::declaration::{Argument, Integer, ValueType};
use till_protocol::dispatch::PostedForm;
use url::form_urlencoded;

use super::cell::Merchant;
use super::entered_amount;
use crate::pages::answered::AnsweredObject;

/// The names of arguments whose text is an amount, or a range of amounts, though their type does not say so.
const AMOUNTS: [&str; 3] = ["amount", "refund_limit", "fee_fixed"];

/// What stands before the name of a field for an amount, which is entered in major units.
const ENTERED: &str = "entered_";

/// What is wrong, by argument.
pub(in crate::pages) type Faults = BTreeMap<String, String>;

/// Names with texts; a name may have several.
#[derive(Debug, Default)]
pub(in crate::pages) struct Given(Vec<(String, String)>);

impl Given {
    /// Those of a query, without the question mark.
    pub(in crate::pages) fn of_query(query: &str) -> Given {
        Given(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// Those of a form.
    pub(in crate::pages) fn of_form(form: &PostedForm) -> Given {
        Given(form.fields().map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
    }

    /// The members of an object that have the names of these arguments, which may have the object's name in front.
    pub(in crate::pages) fn of_object(object: &Value, arguments: &str) -> Given {
        let mut given = Vec::new();
        for name in arguments.split(' ') {
            let member = &object[name.trim_start_matches("contact_")];
            let values = member.as_array().map_or(std::slice::from_ref(member), Vec::as_slice);
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let values = values.iter().filter(|value| !value.is_null() && !value.is_object());
            given.extend(values.map(|value| (name.to_owned(), text(value))));
        }
        Given(given)
    }

    /// The texts of a name that are not empty.
    pub(in crate::pages) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, text)| known == name && !text.is_empty()).map(|(_, text)| text.as_str())
    }

    /// The first text of a name; empty without one.
    pub(in crate::pages) fn text(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// True when a browser made the names of a form for filters, which has empty fields and amounts in major units.
    pub(in crate::pages) fn is_of_filters(&self) -> bool {
        self.0.iter().any(|(name, text)| text.is_empty() || name.starts_with(ENTERED))
    }

    /// The text of an argument as a person enters it.
    pub(in crate::pages) fn entered(&self, argument: &Argument, merchant: &Merchant) -> String {
        match (self.text(argument.name), self.text(&field_name(argument))) {
            (own, "") if is_amount(argument) => entered_amount::entered(own, merchant.currency.minor_digits()),
            (_, entered) => entered.to_owned(),
        }
    }

    /// The values of these arguments that are given, and what is wrong with others.
    pub(in crate::pages) fn arguments<'a>(
        &self,
        of: impl Iterator<Item = &'a Argument>,
        merchant: &Merchant,
    ) -> (Map<String, Value>, Faults) {
        let (mut values, mut faults) = (Map::new(), Faults::new());
        for argument in of {
            let name = || argument.name.to_owned();
            match self.value(argument, merchant) {
                Ok(value) => values.extend(value.map(|value| (name(), value))),
                Err(fault) => faults.extend([(name(), fault)]),
            }
        }
        (values, faults)
    }

    fn value(&self, argument: &Argument, merchant: &Merchant) -> Result<Option<Value>, String> {
        let (text, entered) = (self.text(argument.name), self.text(&field_name(argument)));
        Ok(Some(match argument.value_type {
            _ if text.is_empty() && entered.is_empty() => return Ok(None),
            _ if is_amount(argument) && !entered.is_empty() => {
                let minor = entered_amount::argument_of(entered, merchant.currency.minor_digits())?;
                let number = minor.parse::<u64>().ok().filter(|_| matches!(argument.value_type, ValueType::Integer(_)));
                number.map_or_else(|| minor.into(), Value::from)
            }
            ValueType::Array(_) => self.all(argument.name).collect(),
            ValueType::Boolean => (text == "true").into(),
            ValueType::Integer(Integer { is_time: true, .. }) => seconds(text, merchant)?.into(),
            ValueType::Integer(_) => text.parse::<u64>().map_or(text.into(), Value::from),
            _ => text.into(),
        }))
    }
}

/// True for an argument that is an amount.
pub(in crate::pages) fn is_amount(argument: &Argument) -> bool {
    matches!(argument.value_type, ValueType::Amount) || AMOUNTS.contains(&argument.name)
}

/// The name of an argument's field.
pub(in crate::pages) fn field_name(argument: &Argument) -> String {
    [if is_amount(argument) { ENTERED } else { "" }, argument.name].concat()
}

/// The faults that a call's refusal names: those of arguments, or the one that names nothing that exists.
pub(in crate::pages) fn faults_of(error: &ApiError) -> Faults {
    let named = |argument: &Value, message: &str| (argument.as_str().unwrap_or_default().to_owned(), sentence(message));
    match (error.code(), error.details()) {
        (Code::InvalidArguments, Some(Value::Array(faults))) => {
            faults.iter().map(|fault| named(&fault["argument"], fault.text("message"))).collect()
        }
        (Code::NotFound, Some(details)) => [named(&details["argument"], error.message())].into(),
        _ => Faults::new(),
    }
}

fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The Unix seconds of a local time, as browsers send it.
fn seconds(text: &str, merchant: &Merchant) -> Result<i64, String> {
    let local = text.parse::<DateTime>().and_then(|local| local.to_zoned(merchant.zone.clone()));
    local.map(|time| time.timestamp().as_second()).map_err(|_| "Enter a date and a time".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::endpoints::pages::declared;

    fn merchant() -> Merchant {
        Merchant {
            base: String::new(),
            pages: &[],
            name: String::new(),
            currency: "THB".parse().expect("an ISO code"),
            zone: jiff::tz::TimeZone::get("Asia/Bangkok").expect("a zone"),
        }
    }

    fn arguments(call: &str, query: &str) -> (Value, Faults) {
        let (declaration, _) = declared(call).expect("declared");
        let (values, faults) = Given::of_query(query).arguments(declaration.arguments.iter(), &merchant());
        (values.into(), faults)
    }

    #[test]
    fn a_query_has_the_arguments_of_the_call() {
        let query = "status=FAILED&amount=100..250&per_page=50&created_at=&utm=x&terms=a+b";
        let expected = json!({ "status": "FAILED", "amount": "100..250", "per_page": 50, "terms": "a b" });
        assert_eq!(arguments("list-payments", query), (expected, Faults::new()));
    }

    #[test]
    fn amounts_are_entered_in_major_units() {
        let (values, faults) = arguments("refund-payment", "entered_amount=12.5&reason=%20x");
        assert_eq!((values["amount"].as_str(), faults.len()), (Some("1250"), 0));
        let (values, faults) = arguments("refund-payment", "entered_amount=12.505");
        assert_eq!((&values["amount"], faults["amount"].as_str()), (&Value::Null, "Enter an amount such as 12.50"));
        let (values, _) = arguments("list-payments", "entered_amount=1..2");
        assert_eq!(values, json!({ "amount": "100..200" }));
    }

    #[test]
    fn several_values_booleans_and_times_are_read_by_their_types() {
        let (values, _) = arguments("connect-webhook", "events=PAYMENT_COMPLETED&events=REFUND_COMPLETED&events=");
        assert_eq!(values, json!({ "events": ["PAYMENT_COMPLETED", "REFUND_COMPLETED"] }));
        assert_eq!(arguments("start-checkout", "capture=false").0, json!({ "capture": false }));
        let (values, faults) = arguments("generate-key", "expires_at=2026-01-01T07:00");
        assert_eq!((values, faults.len()), (json!({ "expires_at": 1_767_225_600 }), 0));
        assert_eq!(arguments("generate-key", "expires_at=soon").1["expires_at"], "Enter a date and a time");
    }

    #[test]
    fn the_faults_of_a_refusal_stand_by_their_arguments() {
        let faults = [
            till_protocol::fault::Fault::missing("amount"),
            till_protocol::fault::Fault::invalid("reason", "is empty"),
        ];
        let told = faults_of(&ApiError::invalid_arguments(&faults));
        assert_eq!((told["amount"].as_str(), told["reason"].as_str()), ("Is required", "Is empty"));
        let unknown = faults_of(&ApiError::not_found("actor_email", "No user."));
        assert_eq!((unknown["actor_email"].as_str(), faults_of(&ApiError::unhandled())), ("No user.", Faults::new()));
    }
}
