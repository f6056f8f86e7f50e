//! Values of answered objects as pages show them: by the type that is declared.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use till_domain::money::{Currency, decimal};
use till_protocol::declaration::{Attribute, Integer, ObjectType, Text, TextKind, ValueType};

use super::words::words;
use crate::pages::answered::AnsweredObject;

/// The looks of the words of states: each word has one colour on every page.
const STATES: [(&str, &str); 4] = [
    ("state good", "SUCCESSFUL COMPLETED WON CONNECTED ACCEPTED EFFECTIVE READY"),
    ("state open", "PENDING AUTHORIZED OPEN ON_HOLD CHALLENGED ESCALATED PAUSED STARTING"),
    ("state bad", "FAILED LOST DISPUTED DISABLED REFUSING_WRITES"),
    ("state over", "EXPIRED VOIDED REVERSED REFUNDED PARTIALLY_REFUNDED CONCEDED CANCELED DISCONNECTED"),
];

/// What a page knows of its merchant.
#[derive(Debug, Clone)]
pub(in crate::pages) struct Merchant {
    /// The path of the first page.
    pub(in crate::pages) base: String,
    /// The prefixes of ids whose objects have a page, with the list that it is below.
    pub(in crate::pages) pages: &'static [(&'static str, &'static str)],
    pub(in crate::pages) name: String,
    /// The currency of its account.
    pub(in crate::pages) currency: Currency,
    /// The time zone in which its days begin.
    pub(in crate::pages) zone: TimeZone,
}

/// A value on a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::pages) struct Cell {
    /// What is read.
    pub(in crate::pages) text: String,
    /// How it is drawn: the names of classes of the style.
    pub(in crate::pages) look: &'static str,
    /// The page that it leads to.
    pub(in crate::pages) href: Option<String>,
}

/// A value with the name of its member in words.
pub(in crate::pages) type Labelled = (String, Cell);

impl Merchant {
    /// The value of a member of an object.
    pub(in crate::pages) fn cell(&self, member: &Attribute, object: &Value) -> Cell {
        let value = &object[member.name];
        let look = look(member, value);
        let text = if value.is_null() { "–".to_owned() } else { self.text(member.value_type, value, object) };
        Cell { href: self.page_of(member.name, &text), text, look }
    }

    /// These members of an object, with spaces between their names.
    pub(in crate::pages) fn members(&self, of: &ObjectType, names: &str, object: &Value) -> Vec<Labelled> {
        members(of, names).map(|member| (words(member.name), self.cell(member, object))).collect()
    }

    /// The members of an object that have a value; an object within it has one for each of its own.
    pub(in crate::pages) fn details(&self, of: &ObjectType, object: &Value) -> Vec<Labelled> {
        let mut details = Vec::new();
        for member in of.attributes {
            let (label, value) = (words(member.name), &object[member.name]);
            match member.value_type {
                _ if value.is_null() || value.as_array().is_some_and(Vec::is_empty) => {}
                ValueType::Object(within) => {
                    let rows = self.details(within, value).into_iter();
                    details.extend(rows.map(|(of_member, cell)| (format!("{label}: {of_member}"), cell)));
                }
                _ => details.push((label, self.cell(member, object))),
            }
        }
        details
    }

    /// The value of a member as a column of a file: as calls answer it, but times in ISO 8601 by the merchant's clock.
    pub(in crate::pages) fn column(&self, member: &Attribute, object: &Value) -> String {
        match (&object[member.name], time_of(member.value_type, &object[member.name])) {
            (_, Some(time)) => self.local(time, "%Y-%m-%dT%H:%M:%S%:z"),
            (Value::Null, None) => String::new(),
            (Value::String(text), None) => text.clone(),
            (value, None) => value.to_string(),
        }
    }

    /// An amount in minor units, with the code of its currency and a no-break space.
    pub(in crate::pages) fn money(&self, minor: i64) -> String {
        amount(minor, self.currency)
    }

    fn local(&self, time: Timestamp, format: &str) -> String {
        time.to_zoned(self.zone.clone()).strftime(format).to_string()
    }

    fn text(&self, value_type: ValueType, value: &Value, object: &Value) -> String {
        let joined = |texts: Vec<String>, between| texts.join(between);
        match (value_type, value) {
            (ValueType::Integer(Integer { is_amount: true, .. }), Value::Number(minor)) => {
                let currency = object.text("currency").parse().unwrap_or(self.currency);
                amount(minor.as_i64().unwrap_or_default(), currency)
            }
            (ValueType::Boolean, Value::Bool(is)) => if *is { "Yes" } else { "No" }.to_owned(),
            (ValueType::Array(of), Value::Array(values)) => {
                joined(values.iter().map(|value| self.text(*of, value, object)).collect(), ", ")
            }
            (ValueType::Object(of), Value::Object(_)) => {
                let shown = of.attributes.iter().filter(|member| member.name != "currency");
                joined(shown.map(|member| self.text(member.value_type, &value[member.name], value)).collect(), " ")
            }
            (_, Value::String(text)) => text.clone(),
            (of, value) => {
                time_of(of, value).map_or_else(|| value.to_string(), |time| self.local(time, "%Y-%m-%d %H:%M"))
            }
        }
    }

    /// The page of the object that an id names, or an address of this server's.
    fn page_of(&self, name: &str, text: &str) -> Option<String> {
        if name == "url" && text.contains("://") {
            return Some(text.to_owned());
        }
        let (prefix, rest) = text.split_once('_').filter(|_| is_of_id(name))?;
        let (_, list) = self.pages.iter().find(|(known, _)| *known == prefix)?;
        rest.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| format!("{}/{list}/{text}", self.base))
    }
}

/// True for a member that is an id of ours. The merchant's own never look like them.
fn is_of_id(name: &str) -> bool {
    name.ends_with("_id") && name != "external_id"
}

/// These members of a kind of object, in this order.
pub(in crate::pages) fn members<'t>(of: &'t ObjectType, names: &str) -> impl Iterator<Item = &'t Attribute> {
    names.split(' ').filter_map(|name| of.attributes.iter().find(|member| member.name == name))
}

fn amount(minor: i64, currency: Currency) -> String {
    format!("{currency}\u{a0}{}", decimal(i128::from(minor), currency.minor_digits()))
}

fn time_of(value_type: ValueType, value: &Value) -> Option<Timestamp> {
    let is_time = matches!(value_type, ValueType::Integer(Integer { is_time: true, .. }));
    value.as_i64().filter(|_| is_time).and_then(|seconds| Timestamp::from_second(seconds).ok())
}

fn look(member: &Attribute, value: &Value) -> &'static str {
    match member.value_type {
        _ if member.name == "status" => state(value.as_str().unwrap_or_default()),
        ValueType::Integer(Integer { is_time: true, .. }) => "time",
        ValueType::Integer(_) => "number",
        ValueType::Id(_) | ValueType::Text(Text { kind: TextKind::Url, .. }) => "id",
        ValueType::Words(_) => "word",
        _ if is_of_id(member.name) => "id",
        _ => "",
    }
}

/// The look of a state's word.
pub(in crate::pages) fn state(word: &str) -> &'static str {
    STATES.iter().find(|(_, words)| words.split(' ').any(|known| known == word)).map_or("", |(look, _)| *look)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merchant() -> Merchant {
        Merchant {
            base: "/dashboard/mer_1".to_owned(),
            pages: &[("pay", "payments"), ("dsp", "disputes")],
            name: "Tea house".to_owned(),
            currency: "THB".parse().expect("an ISO code"),
            zone: TimeZone::get("Asia/Bangkok").expect("a zone"),
        }
    }

    fn cell(attribute: Attribute, value: Value) -> Cell {
        merchant().cell(&attribute, &json!({ attribute.name: value, "currency": "JPY" }))
    }

    #[test]
    fn a_value_is_shown_by_its_declared_type() {
        let of = |value_type, value| cell(Attribute::of("a", value_type, ""), value);
        assert_eq!(of(ValueType::MINOR_UNITS, json!(-1_234_567)).text, "JPY\u{a0}-1,234,567");
        assert_eq!(of(ValueType::INTEGER, json!(1_234)).text, "1234");
        assert_eq!(of(ValueType::TIMESTAMP, json!(1_767_225_600)).text, "2026-01-01 07:00");
        assert_eq!(of(ValueType::BOOLEAN, json!(true)).text, "Yes");
        assert_eq!(of(ValueType::STRING, Value::Null).text, "–");
        assert_eq!(of(ValueType::Array(&ValueType::STRING), json!(["a", "b"])).text, "a, b");
    }

    #[test]
    fn an_id_leads_to_the_page_of_its_object_and_an_external_one_nowhere() {
        let href = |name, text: &str| cell(Attribute::of(name, ValueType::STRING, ""), json!(text)).href;
        assert_eq!(href("payment_id", "pay_01h2").as_deref(), Some("/dashboard/mer_1/payments/pay_01h2"));
        assert_eq!(href("object_id", "dsp_01h2").as_deref(), Some("/dashboard/mer_1/disputes/dsp_01h2"));
        for (name, text) in [
            ("external_id", "pay_01h2"),
            ("refund_id", "rfn_01h2"),
            ("customer_id", "ctc_/../../x"),
            ("customer_id", "customer"),
            ("name", "pay_01h2"),
        ] {
            assert_eq!(href(name, text), None, "{text}");
        }
    }

    #[test]
    fn a_column_of_a_file_is_what_calls_answer_but_for_times() {
        let of = |value_type, value| merchant().column(&Attribute::of("a", value_type, ""), &json!({ "a": value }));
        assert_eq!(of(ValueType::MINOR_UNITS, json!(1_250)), "1250");
        assert_eq!(of(ValueType::TIMESTAMP, json!(1_767_225_600)), "2026-01-01T07:00:00+07:00");
        assert_eq!(
            (of(ValueType::STRING, Value::Null), of(ValueType::STRING, json!("a"))),
            (String::new(), "a".into())
        );
    }
}
