//! JSON in canonical form, as text: no white space, members of objects in order, numbers in one form.
//!
//! Two values are equal when their texts are. The edge makes the text; this module only takes it apart.
//!
//! Source: RFC 8785.

use std::cmp::Ordering;
use std::fmt;
use std::fmt::Write;
use std::sync::Arc;

/// A JSON value in canonical form. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct CanonicalJson(Arc<str>);

impl CanonicalJson {
    /// The value with this text, which is canonical: made so at the edge, or read back from disk.
    #[must_use]
    pub fn from_canonical(text: impl Into<Arc<str>>) -> CanonicalJson {
        CanonicalJson(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Bytes of the text.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        byte_count(&self.0)
    }

    /// Its strings without their quotes, including keys of objects, and its numbers and literals, as they are written.
    pub fn plain_parts(&self) -> impl Iterator<Item = &str> {
        let mut rest = &*self.0;
        std::iter::from_fn(move || {
            let (part, behind) = first_plain_part(rest)?;
            rest = behind;
            Some(part)
        })
    }

    /// The items, when this is an array; none else.
    #[must_use]
    pub fn items(&self) -> Items<'_> {
        Items::of(&self.0)
    }
}

/// Values are the merchant's data and must not appear in a log.
impl fmt::Debug for CanonicalJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CanonicalJson({} bytes)", self.0.len())
    }
}

pub(super) fn byte_count(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// The position of a reader in a text: inside or outside of a string.
#[derive(Clone, Copy)]
enum Within {
    Value,
    String,
    Escape,
}

/// The value that a text begins with, and the rest of the text.
pub(super) fn split_value(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let mut within = Within::Value;
    for (index, byte) in text.bytes().enumerate() {
        let behind = index.saturating_add(1);
        match (within, byte) {
            (Within::Escape, _) => within = Within::String,
            (Within::String, b'\\') => within = Within::Escape,
            (Within::String, b'"') if depth == 0 => return text.split_at_checked(behind),
            (Within::String, b'"') => within = Within::Value,
            (Within::String, _) => {}
            (Within::Value, b'"') => within = Within::String,
            (Within::Value, b'{' | b'[') => depth = depth.saturating_add(1),
            (Within::Value, b'}' | b']') if depth == 1 => return text.split_at_checked(behind),
            (Within::Value, b'}' | b']' | b',') if depth == 0 => return text.split_at_checked(index),
            (Within::Value, b'}' | b']') => depth = depth.saturating_sub(1),
            (Within::Value, _) => {}
        }
    }
    (depth == 0).then_some((text, ""))
}

/// The first string, number or literal in a text, and the rest of the text.
fn first_plain_part(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(['{', '}', '[', ']', ',', ':']);
    let Some(string) = text.strip_prefix('"') else {
        let end = text.find(['}', ']', ',']).unwrap_or(text.len());
        return text.split_at_checked(end).filter(|(part, _)| !part.is_empty());
    };
    let mut is_escaped = false;
    let end = string.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    let (part, behind) = string.split_at_checked(end)?;
    Some((part, behind.strip_prefix('"')?))
}

/// The items of an array, each a canonical text.
#[derive(Debug, Clone)]
pub struct Items<'a> {
    rest: &'a str,
}

impl<'a> Items<'a> {
    pub(super) fn of(array: &'a str) -> Items<'a> {
        Items { rest: array.strip_prefix('[').unwrap_or("") }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest.strip_prefix(',').unwrap_or(self.rest);
        let (item, rest) = split_value(text).filter(|(item, _)| !item.is_empty())?;
        self.rest = rest;
        Some(item)
    }
}

/// The members of an object: keys in quotes, as they are written, and values.
#[derive(Debug, Clone)]
pub(super) struct Members<'a> {
    rest: &'a str,
}

impl<'a> Members<'a> {
    pub(super) fn of(object: &'a str) -> Members<'a> {
        Members { rest: object.strip_prefix('{').unwrap_or("") }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        let text = self.rest.strip_prefix(',').unwrap_or(self.rest);
        let (key, rest) = split_value(text).filter(|(key, _)| !key.is_empty())?;
        let (value, rest) = split_value(rest.strip_prefix(':')?)?;
        self.rest = rest;
        Some((key, value))
    }
}

/// A text as a canonical JSON string.
///
/// Source: RFC 8785, section 3.2.2.2.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len().saturating_add(2));
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            control if control < ' ' => {
                let _infallible = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// The text of a canonical JSON string.
pub(super) fn unquoted(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('b') => text.push('\u{8}'),
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('f') => text.push('\u{c}'),
            Some('r') => text.push('\r'),
            Some('u') => {
                let digits: String = characters.by_ref().take(4).collect();
                text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some(escaped) => text.push(escaped),
            None => {}
        }
    }
    text
}

/// The order of two quoted keys in an object: that of their UTF-16 code units.
///
/// Source: RFC 8785, section 3.2.3.
pub(super) fn compare_keys(one: &str, other: &str) -> Ordering {
    unquoted(one).encode_utf16().cmp(unquoted(other).encode_utf16())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_where_the_next_begins() {
        for (text, value, rest) in [
            ("1,2]", "1", ",2]"),
            ("true}", "true", "}"),
            (r#""a,]}\"":1"#, r#""a,]}\"""#, ":1"),
            (r#"{"a":[1,{"b":"}"}]},2"#, r#"{"a":[1,{"b":"}"}]}"#, ",2"),
            ("[[],{}]", "[[],{}]", ""),
            ("#12,", "#12", ","),
            ("null", "null", ""),
            ("\"\u{e9}\\\\\"x", "\"\u{e9}\\\\\"", "x"),
        ] {
            assert_eq!(split_value(text), Some((value, rest)), "{text}");
        }
    }

    #[test]
    fn plain_parts_are_keys_strings_numbers_and_words_at_any_depth() {
        let json = CanonicalJson::from_canonical(r#"{"":[],"a\"b":[1.5,"x,]\\",true],"c":{"d":-2,"e":"\u{e9}"}}"#);
        let parts: Vec<&str> = json.plain_parts().collect();
        assert_eq!(parts, ["", r#"a\"b"#, "1.5", r"x,]\\", "true", "c", "d", "-2", "e", r"\u{e9}"]);
        for (text, only) in [("7", "7"), ("\"7\"", "7"), ("null", "null")] {
            assert_eq!(CanonicalJson::from_canonical(text).plain_parts().collect::<Vec<&str>>(), [only]);
        }
        assert_eq!(CanonicalJson::from_canonical("[{}]").plain_parts().count(), 0);
    }

    #[test]
    fn items_and_members_are_taken_apart_in_order() {
        let items: Vec<&str> = Items::of(r#"[1,"a,b",[2,3],{"c":[]}]"#).collect();
        assert_eq!(items, ["1", r#""a,b""#, "[2,3]", r#"{"c":[]}"#]);
        let stored: Vec<&str> = Items::of("[1e+30,100000000000000000000]").collect();
        assert_eq!(stored, ["1e+30", "100000000000000000000"], "no body may hold these, and some did");
        assert_eq!(Items::of("[]").count(), 0);
        assert_eq!(Items::of("7").count(), 0);
        let members: Vec<(&str, &str)> = Members::of(r#"{"":{},"a:b":#3,"z":"x"}"#).collect();
        assert_eq!(members, [(r#""""#, "{}"), (r#""a:b""#, "#3"), (r#""z""#, r#""x""#)]);
        assert_eq!(Members::of("{}").count(), 0);
    }

    #[test]
    fn strings_are_quoted_as_rfc_8785_says_and_read_back() {
        let text = "\u{20ac}$\u{f}\nA'B\"\\\\\"/\u{7f}\u{8}\t\u{c}\r\u{1F4B3}";
        let expected = "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\\b\\t\\f\\r\u{1F4B3}\"";
        assert_eq!(quoted(text), expected);
        assert_eq!(unquoted(expected), text);
    }

    #[test]
    fn keys_are_ordered_by_utf_16_code_units() {
        // The example of RFC 8785, section 3.2.3.
        let keys = ["\r", "1", "\u{80}", "\u{f6}", "\u{20ac}", "\u{1F600}", "\u{fb33}"].map(quoted);
        assert!(keys.is_sorted_by(|one, other| compare_keys(one, other).is_lt()));
    }

    #[test]
    fn debug_output_shows_no_value() {
        assert_eq!(format!("{:?}", CanonicalJson::from_canonical("\"secret\"")), "CanonicalJson(8 bytes)");
    }
}
