//! Parses bytes as a JSON object, strictly, and within limits.

use std::collections::btree_map::{Entry, VacantEntry};
use std::fmt;
use std::str;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::reading::{Bounds, ExpectedValue, Reading};
use super::unread::{Malformed, Unread};
use super::{Json, Number, Object};

/// The limit of the nesting of objects and arrays; the body itself is level 1.
pub(super) const DEPTH_MAX: usize = 64;

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The beginnings of the parser's messages, and the remedy for each.
const REMEDIES: [(&str, &str); 11] = [
    ("trailing comma", "; leave out the comma before the closing bracket"),
    ("key must be a string", "; names of members need double quotes"),
    ("expected value", "; send a JSON object, its texts in double quotes"),
    ("expected ident", "; send a JSON object, its texts in double quotes"),
    ("expected `,`", "; put a comma between members, or close the object"),
    ("expected `:`", "; put a colon between a name and its value"),
    ("EOF while", "; the body ends too early"),
    ("trailing characters", "; send one JSON object and nothing after it"),
    ("an object has the same key twice", "; leave one of the two members out"),
    ("a number is ", "; send it as a string"),
    ("control character", "; write control characters as escapes, a line feed as \\n"),
];

/// Parses a request body into `members`: one JSON object in UTF-8 and nothing after it. Values that were read before a
/// refusal stay in `members`, so that the caller can overwrite them.
///
/// # Errors
/// Everything that the grammar refuses (a lone surrogate, a raw control character, a second value), and further: an
/// empty body, a body that is not an object, nesting deeper than [`DEPTH_MAX`], a duplicate key in any object, a number
/// beyond +-(2^53-1) or too small for a double, and everything that `bounds` refuses.
pub fn read_object(body: &[u8], members: &mut Object, bounds: &mut dyn Bounds) -> Result<(), Unread> {
    let text = object_text(body).map_err(|message| Unread::Malformed(Malformed::new(message)))?;
    let mut reading = Reading::new(text, bounds);
    read_members(text, members, &mut reading)
        .map_err(|error| reading.stopped.take().unwrap_or_else(|| Unread::Malformed(unacceptable(&error))))
}

/// The text of a body that may be an object, or the reason why it is not one.
fn object_text(body: &[u8]) -> Result<&str, String> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err("the body is empty; send a JSON object, {} at least".to_owned());
    }
    if body.starts_with(BYTE_ORDER_MARK) {
        return Err("the body begins with a byte order mark (EF BB BF); send UTF-8 without one".to_owned());
    }
    let text = str::from_utf8(body).map_err(|error| not_utf_8(error.valid_up_to()))?;
    if encoded_twice(text) {
        return Err("the body is JSON text within a string: it was encoded twice; encode it once".to_owned());
    }
    other_kind(text).map_or(Ok(text), |kind| Err(format!("the body is {kind}; send a JSON object")))
}

fn not_utf_8(valid_bytes: usize) -> String {
    format!(
        "the body is not UTF-8 from byte {} on; encode its text as UTF-8, not as Latin-1 or another encoding",
        valid_bytes + 1
    )
}

fn encoded_twice(text: &str) -> bool {
    text.trim_ascii_start().strip_prefix('"').is_some_and(|inner| inner.trim_start().starts_with('{'))
}

/// The parser's message with its position, and with advice where there is some.
fn unacceptable(error: &serde_json::Error) -> Malformed {
    let said = error.to_string();
    let remedy = REMEDIES.iter().find(|(beginning, _)| said.starts_with(beginning));
    let remedy = remedy.map_or("", |(_, remedy)| remedy);
    Malformed::new(format!("the body is not acceptable JSON: {said}{remedy}"))
}

/// Parses a body without a memory limit, in which every argument may be any value.
///
/// # Errors
/// Like [`read_object`].
#[cfg(test)]
pub fn parse_object(body: &[u8]) -> Result<Object, Malformed> {
    let mut members = Object::new();
    match read_object(body, &mut members, &mut super::reading::Unbounded) {
        Ok(()) => Ok(members),
        Err(Unread::Malformed(malformed)) => Err(malformed),
        Err(other @ (Unread::UnknownNames | Unread::NoRoom)) => panic!("{other:?} without bounds"),
    }
}

/// The kind of a text that begins like a value other than an object; None for an object, and for text that is not JSON.
fn other_kind(text: &str) -> Option<&'static str> {
    let text = text.trim_ascii();
    match text.as_bytes().first()? {
        b'[' => Some("an array"),
        b'"' => Some("a string"),
        b'-' | b'0'..=b'9' => Some("a number"),
        _ => match text {
            "null" => Some("null"),
            "true" | "false" => Some("a boolean"),
            _ => None,
        },
    }
}

fn read_members(text: &str, members: &mut Object, reading: &mut Reading<'_>) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_any(ArgumentsVisitor { members, reading })?;
    deserializer.end()
}

/// Reads the members of the body itself.
struct ArgumentsVisitor<'r, 'a> {
    members: &'r mut Object,
    reading: &'r mut Reading<'a>,
}

impl<'de> Visitor<'de> for ArgumentsVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let ArgumentsVisitor { members, reading } = self;
        while let Some(name) = access.next_key::<String>()? {
            reading.take_member(members.len())?;
            let expected = reading.bounds.expected(&name);
            let member = vacant(members, name)?;
            if expected == ExpectedValue::Nothing && reading.is_last_unknown_name() {
                member.insert(Json::Null);
                return Err(reading.stop(Unread::UnknownNames));
            }
            member.insert(access.next_value_seed(ValueSeed { depth: 1, expected, reading: &mut *reading })?);
        }
        Ok(())
    }
}

/// The vacant entry of a new member; an error for a duplicate key.
fn vacant<E: serde::de::Error>(members: &mut Object, name: String) -> Result<VacantEntry<'_, String, Json>, E> {
    match members.entry(name) {
        Entry::Vacant(member) => Ok(member),
        Entry::Occupied(_) => Err(E::custom("an object has the same key twice")),
    }
}

/// Parses one value at `depth` containers below the start.
struct ValueSeed<'r, 'a> {
    depth: usize,
    expected: ExpectedValue,
    reading: &'r mut Reading<'a>,
}

impl<'a> ValueSeed<'_, 'a> {
    fn number<E: serde::de::Error>(self) -> Result<Json, E> {
        let literal = self.reading.literals.next().ok_or_else(|| E::custom("a number could not be read"))?;
        Number::from_literal(literal).map(Json::Number).map_err(E::custom)
    }

    fn inner(&mut self) -> ValueSeed<'_, 'a> {
        ValueSeed { depth: self.depth, expected: self.expected, reading: &mut *self.reading }
    }

    fn descend<E: serde::de::Error>(&mut self) -> Result<(), E> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(E::custom(format_args!("it nests deeper than {DEPTH_MAX} levels")));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_, '_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        self.reading.count_value(self.expected)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_, '_> {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Json, E> {
        self.number()
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Json, E> {
        self.number()
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Json, E> {
        self.number()
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Json, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Json, E> {
        self.reading.take_text()?;
        Ok(Json::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<Json, A::Error> {
        self.descend()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.inner())? {
            self.reading.take_item(items.len())?;
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<Json, A::Error> {
        self.descend()?;
        let mut members = Object::new();
        while let Some(name) = access.next_key::<String>()? {
            self.reading.take_member(members.len())?;
            let member = vacant(&mut members, name)?;
            member.insert(access.next_value_seed(self.inner())?);
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(body: &str) -> Object {
        parse_object(body.as_bytes()).unwrap_or_else(|error| panic!("{body}: {error}"))
    }

    fn refusal(body: impl AsRef<[u8]>) -> String {
        match parse_object(body.as_ref()) {
            Ok(_) => panic!("accepted {:?}", String::from_utf8_lossy(body.as_ref())),
            Err(error) => error.to_string(),
        }
    }

    /// A body whose innermost array is at level `depth`, the body itself being level 1.
    fn nested(depth: usize) -> String {
        format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1))
    }

    #[test]
    fn an_object_is_read_with_every_kind_of_value() {
        let body =
            parsed(" {\"n\":null,\"t\":true,\"i\":12,\"s\":\"\\u00e9\\ud83d\\ude00\\n\",\"a\":[1,{\"b\":2.5}]} ");
        assert_eq!(body["n"], Json::Null);
        assert_eq!(body["t"].as_bool(), Some(true));
        assert_eq!(body["i"].as_integer(), Some(12));
        assert_eq!(body["s"].as_str(), Some("é😀\n"));
        assert_eq!(serde_json::to_string(&body["a"]).ok().as_deref(), Some("[1,{\"b\":2.5}]"));
    }

    #[test]
    fn a_number_keeps_its_literal_among_strings_of_digits() {
        let body = parsed("{\"1\":\"2\\\"3\",\"a\\\\\":[-4,5.50,\"6\",{\"7\":8e0}],\"z\":9007199254740991.4}");
        let Json::Array(items) = &body["a\\"] else { panic!("not an array") };
        assert_eq!(items[0].as_integer(), Some(-4));
        assert_eq!(items[1].as_integer(), None);
        let Json::Object(inner) = &items[3] else { panic!("not an object") };
        assert_eq!(inner["7"].as_integer(), Some(8));
        assert_eq!(body["z"].as_integer(), None);
    }

    #[test]
    fn a_body_that_is_no_object_is_refused_and_says_what_it_is() {
        assert!(refusal("").contains("empty"));
        assert!(refusal(" \n").contains("empty"));
        assert!(refusal("[]").contains("an array"));
        assert!(refusal("null").contains("null"));
        assert!(refusal("3").contains("a number"));
        assert!(refusal("\"text\"").contains("a string"));
    }

    #[test]
    fn common_mistakes_are_told_with_their_place_and_remedy() {
        for (body, expected) in [
            ("{\"a\":1,}", "trailing comma at line 1 column 8; leave out the comma before the closing bracket"),
            ("{'a':1}", "key must be a string at line 1 column 2; names of members need double quotes"),
            ("{\"a\":'b'}", "expected value at line 1 column 6; send a JSON object, its texts in double quotes"),
            (
                "{\"a\":1\n\"b\":2}",
                "expected `,` or `}` at line 2 column 1; put a comma between members, or close the object",
            ),
            ("{\"a\" 1}", "expected `:` at line 1 column 6; put a colon between a name and its value"),
            ("{\"a\":1", "EOF while parsing an object at line 1 column 6; the body ends too early"),
            ("{} {}", "trailing characters at line 1 column 4; send one JSON object and nothing after it"),
            (
                "{\"a\":1,\"a\":2}",
                "an object has the same key twice at line 1 column 10; leave one of the two members out",
            ),
            (
                "{\"a\":\"\n\"}",
                "control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0; write control \
                    characters as escapes, a line feed as \\n",
            ),
            ("{\"a\":1e16}", "a number is beyond 2^53-1 at line 1 column 9; send it as a string"),
        ] {
            assert_eq!(refusal(body), format!("the body is not acceptable JSON: {expected}"), "{body}");
        }
        assert!(refusal("\u{feff}{}").contains("byte order mark"));
        assert!(refusal(b"{\"a\":\"\xe9\"}").contains("not UTF-8 from byte 7 on"));
        assert!(refusal("\"{\\\"a\\\":1}\"").contains("encoded twice"));
    }

    #[test]
    fn nesting_of_sixty_four_levels_is_read_and_sixty_five_is_not() {
        assert!(parse_object(nested(64).as_bytes()).is_ok());
        assert!(refusal(nested(65)).contains("deeper than 64"));
        assert!(refusal(format!("{{\"a\":{}", "[".repeat(1_000_000))).contains("deeper than 64"));
    }

    #[test]
    fn a_key_twice_is_refused_in_any_object_however_it_is_spelt() {
        for body in ["{\"a\":1,\"a\":1}", "{\"x\":[{\"a\":1,\"\\u0061\":2}]}", "{\"\":1,\"\":2}"] {
            assert!(refusal(body).contains("twice"), "{body}");
        }
        assert!(parse_object(b"{\"a\":{\"a\":1},\"A\":2}").is_ok());
    }

    #[test]
    fn numbers_out_of_range_are_refused_anywhere() {
        for body in [
            "{\"a\":9007199254740992}",
            "{\"a\":[-9007199254740992]}",
            "{\"a\":123456789012345678901234567890}",
            "{\"a\":1e400}",
            "{\"a\":-1e400}",
            "{\"a\":1e-400}",
            "{\"a\":[{\"b\":1e16}]}",
            "{\"a\":9007199254740992.5}",
        ] {
            refusal(body);
        }
    }

    #[test]
    fn text_that_the_grammar_forbids_is_refused() {
        for body in [
            "{\"a\":1} {}",
            "{\"a\":1},",
            "{\"a\":1}x",
            "{'a':1}",
            "{a:1}",
            "{\"a\":01}",
            "{\"a\":+1}",
            "{\"a\":.5}",
            "{\"a\":1.}",
            "{\"a\":NaN}",
            "{\"a\":Infinity}",
            "{\"a\":1,}",
            "{\"a\":[1,]}",
            "{\"a\"}",
            "{\"a\":}",
            "{",
            "{\"a\":\"\\x41\"}",
            "{\"a\":\"\\ud800\"}",
            "{\"a\":\"\\udc00\\ud800\"}",
            "{\"\\ud800\":1}",
            "{\"a\":\"\t\"}",
            "{\"a\":\"\0\"}",
            "{\"a\":1}\0",
            "\u{feff}{}",
            "{\"a\":tru}",
            "// c\n{}",
            "{\"a\":1e}",
            "{\"a\":--1}",
        ] {
            refusal(body);
        }
        refusal(b"{\"a\":\"\xff\"}");
        refusal(b"{\"a\":\"\xed\xa0\x80\"}");
    }

    #[test]
    fn a_refusal_repeats_nothing_of_the_body() {
        for body in ["{\"number\":\"4242424242424242\" \"x\"}", "{\"4242424242424242\":1,\"4242424242424242\":2}"] {
            assert!(!refusal(body).contains("4242"), "{body}");
        }
    }

    #[test]
    fn debug_output_shows_no_text_of_the_body() {
        let body = parsed("{\"number\":\"4242424242424242\"}");
        assert!(!format!("{:?}", body["number"]).contains("4242"));
    }

    proptest::proptest! {
        #[test]
        fn text_that_serde_json_writes_is_read_back_the_same(text in ".*",
            integer in -9_007_199_254_740_991_i64..=9_007_199_254_740_991, double in -9e15..9e15_f64) {
            let written = serde_json::json!({ "text": text, "list": [integer, { "double": double }] });
            let read = parsed(&written.to_string());
            proptest::prop_assert_eq!(serde_json::to_value(&read).ok(), Some(written));
        }

        #[test]
        fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let _ = parse_object(&bytes);
        }

        #[test]
        fn no_text_of_json_characters_makes_the_parser_panic(text in "[\\[\\]{}\",:0-9eE.+\\\\ tru-]{0,60}") {
            let _ = parse_object(text.as_bytes());
        }
    }
}
