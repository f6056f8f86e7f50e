//! Text.

use std::fmt;
use std::ops::RangeInclusive;

use crate::json::Json;

/// The limits of the characters of a name (of a customer, a key, a merchant).
const NAME_CHARACTERS: RangeInclusive<usize> = 1..=255;

/// Text without control characters whose UTF-8 form has this number of bytes.
pub fn text(bytes: RangeInclusive<usize>) -> impl FnOnce(&Json) -> Result<String, String> {
    move |value| {
        let text = printable(value)?;
        measured(text, text.len(), &bytes, "bytes in UTF-8")
    }
}

/// A name: 1 to 255 characters, no control characters.
///
/// # Errors
/// The message names the limit.
pub fn name(value: &Json) -> Result<String, String> {
    let text = printable(value)?;
    measured(text, text.chars().count(), &NAME_CHARACTERS, "characters")
}

/// A string that a type of the domain parses. `what` describes the value to send, as in "a payment id (pay_...)".
pub fn from_text<T, E>(
    what: impl fmt::Display,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> impl FnOnce(&Json) -> Result<T, String> {
    move |value| {
        let text = value.as_str().ok_or_else(|| format!("send {what} as a string, not {}", value.kind()))?;
        parse(text).map_err(|_| format!("is not {what}"))
    }
}

/// A string without control characters.
pub(super) fn printable(value: &Json) -> Result<&str, String> {
    let text = value.as_str().ok_or_else(|| format!("send a string, not {}", value.kind()))?;
    if has_any(text, char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(text)
}

/// True when a text has a character of this kind. Nearly all texts are ASCII, whose bytes need not be decoded.
pub(super) fn has_any(text: &str, is_meant: impl Fn(char) -> bool) -> bool {
    if text.is_ascii() { text.bytes().any(|byte| is_meant(char::from(byte))) } else { text.chars().any(is_meant) }
}

fn measured(text: &str, length: usize, limits: &RangeInclusive<usize>, unit: &str) -> Result<String, String> {
    if limits.contains(&length) {
        return Ok(text.to_owned());
    }
    Err(format!("must be {} to {} {unit} long, not {length}", limits.start(), limits.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> Json {
        Json::String(text.to_owned())
    }

    #[test]
    fn text_is_measured_in_bytes_and_a_name_in_characters() {
        assert!(text(1..=4)(&string("éé")).is_ok());
        assert_eq!(text(1..=4)(&string("ééé")), Err("must be 1 to 4 bytes in UTF-8 long, not 6".to_owned()));
        assert!(text(1..=4)(&string("")).is_err());
        assert!(name(&string(&"é".repeat(255))).is_ok());
        assert!(name(&string(&"é".repeat(256))).is_err());
    }

    #[test]
    fn control_characters_are_refused_wherever_they_stand() {
        for control in ["\0", "a\nb", "\t", "\u{7f}", "a\u{85}"] {
            assert_eq!(
                text(0..=99)(&string(control)),
                Err("must not contain control characters".to_owned()),
                "{control:?}"
            );
        }
        assert!(text(0..=99)(&string("a b\u{a0}é😀")).is_ok());
    }

    #[test]
    fn a_value_that_is_not_a_string_is_refused_by_its_kind() {
        assert_eq!(text(1..=9)(&Json::Bool(true)), Err("send a string, not a boolean".to_owned()));
        let parse = from_text("a payment id (pay_...)", str::parse::<u8>);
        assert_eq!(
            parse(&Json::Array(vec![])),
            Err("send a payment id (pay_...) as a string, not an array".to_owned())
        );
    }

    #[test]
    fn a_domain_type_parses_its_text_and_faults_do_not_repeat_it() {
        assert_eq!(from_text("a digit", str::parse::<u8>)(&string("7")), Ok(7));
        assert_eq!(from_text("a digit", str::parse::<u8>)(&string("secret")), Err("is not a digit".to_owned()));
    }
}
