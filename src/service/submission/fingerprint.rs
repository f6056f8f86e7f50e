//! The canonical form of a call's arguments: equal for calls with the same meaning.

use till_protocol::declaration::{Argument, Declaration, ValueType};
use till_protocol::field;
use till_protocol::json::{self, Json, Object};

/// The arguments in the order of their names, each in a canonical form: an amount as an integer, an e-mail address in
/// lower case, and no entry for null and for an empty text without meaning.
pub(super) fn canonical(declaration: &Declaration, body: &Object) -> Vec<u8> {
    let mut canonical = Vec::new();
    for (name, value) in body.iter() {
        let declared = declaration.arguments.iter().find(|argument| argument.name == name);
        if is_omitted(declared, value) {
            continue;
        }
        let value = canonical_value(declared.map(|argument| argument.value_type), value);
        let value = value.into_bytes();
        for part in [name.as_bytes(), &value] {
            canonical.extend_from_slice(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            canonical.extend_from_slice(part);
        }
    }
    canonical
}

fn is_omitted(declared: Option<&Argument>, value: &Json) -> bool {
    let empty_is_omitted = declared.is_some_and(|argument| argument.empty_is_omitted);
    value.is_null() || (empty_is_omitted && value.as_str() == Some(""))
}

fn canonical_value(declared: Option<ValueType>, value: &Json) -> String {
    if is_amount(declared)
        && let Ok(amount) = field::amount(value)
    {
        return amount.to_string();
    }
    if let (true, Some(text)) = (declared.is_some_and(|value_type| value_type.is_email()), value.as_str()) {
        return serde_json::to_string(&text.to_lowercase()).expect("a string has a JSON form");
    }
    json::canonical(value)
}

fn is_amount(declared: Option<ValueType>) -> bool {
    matches!(declared, Some(ValueType::Amount))
}

#[cfg(test)]
mod tests {
    use till_protocol::declaration::{Flags, Package, Returns};
    use till_protocol::json::{Bounds, ExpectedValue, Object, read_object};

    use super::*;
    use crate::endpoints::merchants::INITIATE_PAYMENT_FLOW;

    /// Bounds that bind nothing.
    struct Unbounded;

    impl Bounds for Unbounded {
        fn expected(&self, _: &str) -> ExpectedValue {
            ExpectedValue::Container
        }

        fn take(&mut self, _: usize) -> bool {
            true
        }
    }

    fn parsed(body: &str) -> Object {
        let mut members = Object::new();
        read_object(body.as_bytes(), &mut members, &mut Unbounded).unwrap_or_else(|error| panic!("{error:?}"));
        members
    }

    fn of(body: &str) -> Vec<u8> {
        canonical(&INITIATE_PAYMENT_FLOW, &parsed(body))
    }

    #[test]
    fn forms_that_mean_the_same_are_one() {
        let plain = of(r#"{"amount":"100","currency":"THB","customer_email":"a@b.co"}"#);
        assert_eq!(of(r#"{"currency":"THB","amount":100,"customer_email":"a@b.co"}"#), plain);
        assert_eq!(of(r#"{"currency":"THB","amount":1e2,"customer_email":"A@B.co","card_id":null}"#), plain);
    }

    #[test]
    fn nested_values_that_mean_the_same_are_one() {
        let of = |value: &str| of(&format!("{{\"card_id\":{value}}}"));
        assert_eq!(of(r#"{"a":1.0,"b":[10e-1,"\u0041"]}"#), of(r#"{"b":[1,"A"],"a":1}"#));
        assert_ne!(of(r#"[1,2]"#), of(r#"[2,1]"#));
        assert_ne!(of(r#"{"a":null}"#), of("{}"), "null is left out at the top only");
    }

    #[test]
    fn an_empty_text_is_nothing_only_where_its_declaration_says_so() {
        static CALL: Declaration = Declaration {
            name: "add-to-metadata-set",
            package: Package::Merchants,
            group: "metadata",
            summary: "",
            docs: "",
            arguments: &[
                Argument::optional("path", ValueType::STRING, "").or_empty(),
                Argument::required("value", ValueType::ANY, ""),
            ],
            returns: Returns::Boolean,
            errors: &[],
            flags: Flags::COMMAND,
        };
        let of = |body: &str| canonical(&CALL, &parsed(body));
        assert_eq!(of(r#"{"path":"","value":1}"#), of(r#"{"value":1}"#));
        assert_ne!(of(r#"{"path":"a","value":1}"#), of(r#"{"value":1}"#));
        assert_ne!(of(r#"{"value":""}"#), of("{}"));
    }

    #[test]
    fn forms_that_mean_something_else_differ() {
        let plain = of(r#"{"amount":"100","currency":"THB"}"#);
        for other in [
            r#"{"amount":"101","currency":"THB"}"#,
            r#"{"amount":"100","currency":"thb"}"#,
            r#"{"amount":"100"}"#,
            r#"{"amount":"100","currency":"THB","card_id":"x"}"#,
            r#"{"amount":"100","currency":"THB","capture":false}"#,
        ] {
            assert_ne!(of(other), plain, "{other}");
        }
    }
}
