//! Amounts of money in requests.

use crate::declaration::AMOUNT_MAX;
use crate::json::Json;

/// The message about an amount that cannot be read.
const REMEDY: &str = "is not a whole number of minor units; send a string of digits without sign, leading zero or \
    fraction, or an integer";

/// An amount in minor units, 1 to 2^53-1: a string of digits with no sign, leading zero, exponent or
/// fraction, or a JSON integer (by value, so `100.0` is 100).
///
/// # Errors
/// The message says what form to send.
pub fn amount(value: &Json) -> Result<u64, String> {
    let positive = u64::try_from(minor_units(value)?).ok().filter(|amount| (1..=AMOUNT_MAX).contains(amount));
    positive.ok_or_else(|| format!("must be 1 to {AMOUNT_MAX} minor units"))
}

/// Reads an amount, or a discount: the same with a minus sign before it.
///
/// # Errors
/// The message says what form to send.
pub fn signed_amount(value: &Json) -> Result<i64, String> {
    let amount = Some(minor_units(value)?).filter(|minor| (1..=AMOUNT_MAX).contains(&minor.unsigned_abs()));
    amount.ok_or_else(|| format!("must be 1 to {AMOUNT_MAX} minor units, or less than 0 for a discount"))
}

/// A whole number of minor units of any size.
fn minor_units(value: &Json) -> Result<i64, String> {
    let minor = match value {
        Json::String(text) => match text.strip_prefix('-') {
            Some(digits) => plain_digits(digits).map(i64::saturating_neg),
            None => plain_digits(text),
        },
        Json::Number(number) => number.as_integer(),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
    };
    minor.ok_or_else(|| REMEDY.to_owned())
}

/// The integer of a plain run of digits. A run that is too long for 64 bits becomes the largest integer: it is
/// well-formed, and out of range like any other.
fn plain_digits(text: &str) -> Option<i64> {
    let is_plain =
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_plain.then(|| text.parse().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse_object;

    fn read(literal: &str) -> Result<u64, String> {
        let body = parse_object(format!("{{\"amount\":{literal}}}").as_bytes()).map_err(|error| error.to_string())?;
        amount(&body["amount"])
    }

    #[test]
    fn digits_in_a_string_and_integers_are_the_same_amount() {
        for literal in ["\"100\"", "100", "100.0", "1e2"] {
            assert_eq!(read(literal), Ok(100), "{literal}");
        }
        assert_eq!(read("\"1\""), Ok(1));
        assert_eq!(read("\"9007199254740991\""), Ok(AMOUNT_MAX));
        assert_eq!(read("9007199254740991"), Ok(AMOUNT_MAX));
    }

    #[test]
    fn a_discount_is_an_amount_with_a_minus_sign() {
        let read = |literal: &str| {
            let body = parse_object(format!("{{\"amount\":{literal}}}").as_bytes()).expect("an object");
            signed_amount(&body["amount"])
        };
        for (literal, minor) in [("-100", -100), ("\"-100\"", -100), ("100", 100), ("\"100\"", 100), ("-1e2", -100)] {
            assert_eq!(read(literal), Ok(minor), "{literal}");
        }
        for wrong in ["0", "\"-0\"", "\"--1\"", "\"-01\"", "\"+1\"", "\"-9007199254740992\"", "1.5", "null"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_amount_out_of_range_is_refused_with_the_range() {
        for literal in ["0", "\"0\"", "-1", "\"-1\"", "\"9007199254740992\"", "\"99999999999999999999999999\"", "-0.0"]
        {
            assert!(read(literal).is_err_and(|message| message.contains("9007199254740991")), "{literal}");
        }
        assert!(read("9007199254740992").is_err());
    }

    #[test]
    fn any_other_form_is_refused_with_the_form_to_send() {
        for literal in [
            "\"\"",
            "\"+1\"",
            "\"01\"",
            "\"00\"",
            "\"1.0\"",
            "\"1e2\"",
            "\" 1\"",
            "\"1 \"",
            "\"1,000\"",
            "\"0x10\"",
            "\"१\"",
            "1.5",
            "100.00000000000000000001",
            "true",
            "[]",
            "{}",
            "null",
        ] {
            assert_eq!(read(literal), Err(REMEDY.to_owned()), "{literal}");
        }
    }
}
