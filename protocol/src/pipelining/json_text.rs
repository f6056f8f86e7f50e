//! Look-ups in JSON text, whose results are parts of that text.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The text of a value. This program has written it, so it is well-formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JsonText<'t>(&'t str);

impl<'t> JsonText<'t> {
    pub(super) fn new(text: &'t str) -> JsonText<'t> {
        JsonText(text.trim_ascii())
    }

    pub(super) fn as_str(self) -> &'t str {
        self.0
    }

    /// The member of that name, if this is an object that has one.
    pub(super) fn member(self, name: &str) -> Option<JsonText<'t>> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(self.0).ok()?;
        members.get(name).map(|member| JsonText(member.get()))
    }

    /// The items of an array, or the values of an object's members.
    pub(super) fn children(self) -> Vec<JsonText<'t>> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(self.0).unwrap_or_default();
        if members.is_empty() {
            self.items()
        } else {
            members.into_values().map(|member| JsonText(member.get())).collect()
        }
    }

    /// The items of an array; nothing for any other value.
    pub(super) fn items(self) -> Vec<JsonText<'t>> {
        let items: Vec<&RawValue> = serde_json::from_str(self.0).unwrap_or_default();
        items.into_iter().map(|item| JsonText(item.get())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = r#" {"a" : [ 1 , "]}\"" , {"b":null} ],"\u0061b":-1.5e3,"":{},"\\":true , "é":"😀"} "#;

    fn member(name: &str) -> Option<&'static str> {
        JsonText::new(OBJECT).member(name).map(JsonText::as_str)
    }

    #[test]
    fn a_member_is_its_very_text() {
        assert_eq!(member("a"), Some(r#"[ 1 , "]}\"" , {"b":null} ]"#));
        assert_eq!((member("ab"), member(""), member("\\")), (Some("-1.5e3"), Some("{}"), Some("true")));
        assert_eq!((member("é"), member("b"), member("\"a\"")), (Some("\"😀\""), None, None));
    }

    #[test]
    fn items_come_in_order_and_only_of_arrays() {
        let items =
            |text: &'static str| JsonText::new(text).items().into_iter().map(JsonText::as_str).collect::<Vec<_>>();
        assert_eq!(items(r#"[1, [2,[3]],"4,]",{"5":"}"},null]"#), ["1", "[2,[3]]", "\"4,]\"", "{\"5\":\"}\"}", "null"]);
        for text in ["[]", "[ ]", "{}", "{\"a\":1}", "\"[1]\"", "true", "12"] {
            assert_eq!(items(text), [""; 0], "{text}");
            assert_eq!(JsonText::new(text).member("b"), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn everything_is_found_where_a_parser_finds_it(name in ".*", text in ".*",
            number in proptest::num::f64::NORMAL) {
            let value = serde_json::json!({ "first": [text, { name.clone(): [number, text] }], name.clone(): text });
            let written = value.to_string();
            let found = JsonText::new(&written).member(&name);
            let found = found.and_then(|found| serde_json::from_str(found.as_str()).ok());
            proptest::prop_assert_eq!(found, value.get(&name).cloned());
            let items = JsonText::new(&written).member("first").map_or(0, |first| first.items().len());
            proptest::prop_assert_eq!(items, value["first"].as_array().map_or(0, Vec::len));
        }
    }
}
