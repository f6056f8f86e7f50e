//! A step's JSON with its references replaced by the values that they find.

use zeroize::Zeroizing;

use super::json_path::JsonPath;
use super::results::{Results, Sink, Unresolved};
use crate::json::Json;

/// The meaning of a string in a step.
pub(super) enum Meaning<'t> {
    /// The value at this path of the results.
    Reference(JsonPath),
    Text(&'t str),
}

impl Meaning<'_> {
    /// A string that is entirely a path is a reference; in any other, `\$` at the beginning stands for `$`.
    pub(super) fn of(text: &str) -> Meaning<'_> {
        match JsonPath::parse(text) {
            Some(path) => Meaning::Reference(path),
            None => Meaning::Text(text.strip_prefix('\\').filter(|rest| rest.starts_with('$')).unwrap_or(text)),
        }
    }
}

/// The first fault of a reference in this value that is known while there are `result_count` results.
pub(super) fn fault_of(value: &Json, result_count: usize) -> Option<String> {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
        Json::String(text) => JsonPath::parse(text).and_then(|path| fault_of_path(&path, result_count)),
        Json::Array(items) => items.iter().find_map(|item| fault_of(item, result_count)),
        Json::Object(members) => members.values().find_map(|member| fault_of(member, result_count)),
    }
}

fn fault_of_path(path: &JsonPath, result_count: usize) -> Option<String> {
    if !path.can_be_reference() {
        let message =
            "is a path that finds more than one value: refer to one, or write \\$ for a text that begins with $";
        return Some(message.to_owned());
    }
    let too_far =
        || format!("refers to something that cannot be there: there are {result_count} results before this step");
    (!path.reaches(result_count)).then(too_far)
}

/// Writes the value with its references replaced.
pub(super) fn write(value: &Json, results: &Results, out: &mut dyn Sink) -> Result<(), Unresolved> {
    match value {
        Json::Null => Ok(out.push("null")?),
        Json::Bool(truth) => Ok(out.push(if *truth { "true" } else { "false" })?),
        Json::Number(number) => Ok(out.push(&number.to_string())?), // Its own literal: a double would lose digits.
        Json::String(text) => match Meaning::of(text) {
            Meaning::Reference(path) => results.write(&path, out),
            Meaning::Text(text) => write_text(text, out),
        },
        Json::Array(items) => {
            for (count, item) in items.iter().enumerate() {
                out.push(if count == 0 { "[" } else { "," })?;
                write(item, results, out)?;
            }
            Ok(out.push(if items.is_empty() { "[]" } else { "]" })?)
        }
        Json::Object(members) => {
            for (count, (name, member)) in members.iter().enumerate() {
                out.push(if count == 0 { "{" } else { "," })?;
                write_text(name, out)?;
                out.push(":")?;
                write(member, results, out)?;
            }
            Ok(out.push(if members.is_empty() { "{}" } else { "}" })?)
        }
    }
}

/// Writes a text between quotation marks. It may be a card number.
pub(super) fn write_text(text: &str, out: &mut dyn Sink) -> Result<(), Unresolved> {
    let quoted = Zeroizing::new(serde_json::to_string(text).expect("a text has a JSON form"));
    Ok(out.push(&quoted)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Object, parse_object};

    fn parsed(body: &str) -> Object {
        parse_object(body.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn written(body: &str) -> Result<String, Unresolved> {
        let mut results = Results::default();
        for text in ["\"pse_1\"", r#"{"page":[{"id":"a\"b"}],"next":null}"#] {
            assert_eq!(results.keep(text.to_owned(), None, false), Ok(()));
        }
        let mut out = String::new();
        write(&Json::Object(parsed(body)), &results, &mut out).map(|()| out)
    }

    #[test]
    fn references_are_replaced_wherever_they_are_and_names_are_not() {
        let body = r#"{"a":"$[0]","b":[{"c":"$[1].page[0].id"},"$[1]['next']"],"$[0]":"$","d":"$[-1:]"}"#;
        let expected = r#"{"$[0]":["pse_1",{"page":[{"id":"a\"b"}],"next":null}],"a":"pse_1","b":[{"c":"a\"b"},null],"d":{"page":[{"id":"a\"b"}],"next":null}}"#;
        assert_eq!(written(body).as_deref(), Ok(expected));
    }

    #[test]
    fn any_other_text_stays_and_an_escaped_dollar_is_one() {
        for (text, expected) in [
            ("$100", "$100"),
            ("$ 5", "$ 5"),
            ("US$[0]", "US$[0]"),
            ("Bearer $[0]", "Bearer $[0]"),
            ("\\\\$[0]", "$[0]"),
            ("\\\\$100", "$100"),
            ("\\\\$", "$"),
            ("\\\\\\\\$", "\\\\\\\\$"),
            ("\\\\a", "\\\\a"),
            ("é\\\"\\u0007", "é\\\"\\u0007"),
        ] {
            assert_eq!(written(&format!("{{\"a\":\"{text}\"}}")), Ok(format!("{{\"a\":\"{expected}\"}}")), "{text}");
        }
    }

    #[test]
    fn values_without_strings_are_written_unchanged() {
        let body = r#"{"a":[],"b":{},"c":[true,false,null,-1,9007199254740991,9007199254740991.4,1e3]}"#;
        assert_eq!(written(body).as_deref(), Ok(body));
    }

    #[test]
    fn a_reference_to_nothing_is_no_value() {
        assert_eq!(written(r#"{"a":{"b":["$[1].nothing"]}}"#), Err(Unresolved::Nothing));
        assert_eq!(written(r#"{"a":"$.b"}"#), Err(Unresolved::Nothing));
    }

    #[test]
    fn a_reference_too_far_is_known_before_there_are_results() {
        let body = |text: &str| Json::Object(parsed(&format!("{{\"a\":[{{\"b\":\"{text}\"}}]}}")));
        for (text, result_count) in [("$[1].c", 1), ("$[-1]", 0), ("$.a", 3)] {
            let fault = fault_of(&body(text), result_count).unwrap_or_default();
            assert!(fault.contains("cannot be there"), "{text}: {fault}");
        }
        for (text, result_count) in [("$[1].c", 2), ("$100", 0), ("$", 0), ("\\\\$[*]", 1)] {
            assert_eq!(fault_of(&body(text), result_count), None, "{text}");
        }
    }

    #[test]
    fn a_reference_to_more_than_one_value_is_a_fault() {
        for text in ["$[*].a", "$..a", "$[0]['a','b']", "$[?@.a]", "$[0][0:4:2]"] {
            let fault = fault_of(&Json::Array(vec![Json::String(text.to_owned())]), 3).unwrap_or_default();
            assert!(fault.contains("more than one value"), "{text}: {fault}");
        }
    }
}
