//! Numbers that keep their literal.

use std::fmt;

use serde::{Serialize, Serializer};
use zeroize::Zeroize;

/// The largest integer that every JSON implementation reads exactly: 2^53-1.
const INTEGER_MAX: i64 = (1 << 53) - 1;

/// Digits of [`INTEGER_MAX`]; a longer run of digits cannot be within it.
const INTEGER_DIGITS_MAX: usize = 16;

/// The message about a number beyond [`INTEGER_MAX`].
const BEYOND_INTEGERS: &str = "a number is beyond 2^53-1";

/// A JSON number, exact.
///
/// An integer literal is kept as an integer; anything with a fraction or an exponent keeps its text,
/// so that `9007199254740991.4` is never mistaken for the integer that a double would round it to.
#[derive(Clone, PartialEq, Eq)]
pub struct Number(Exact);

#[derive(Clone, PartialEq, Eq)]
enum Exact {
    Integer(i64),
    Decimal(Box<str>),
}

impl Number {
    /// Reads a number literal that the JSON grammar has already accepted.
    ///
    /// # Errors
    /// The message names the limit: +-(2^53-1), in any spelling, since every double beyond it is an integer that not
    /// all readers keep exactly; or the smallest double, since a smaller number would silently become zero.
    pub(super) fn from_literal(text: &str) -> Result<Number, &'static str> {
        if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            return Number::from_decimal(text);
        }
        text.parse::<i64>()
            .ok()
            .filter(|integer| (-INTEGER_MAX..=INTEGER_MAX).contains(integer))
            .map(|integer| Number(Exact::Integer(integer)))
            .ok_or(BEYOND_INTEGERS)
    }

    fn from_decimal(text: &str) -> Result<Number, &'static str> {
        let double: f64 = text.parse().map_err(|_| "a number is not in JSON's form")?;
        if double.abs() > INTEGER_MAX as f64 {
            return Err(BEYOND_INTEGERS);
        }
        let vanishes = double == 0.0 && significant_digits(text).bytes().any(|digit| matches!(digit, b'1'..=b'9'));
        if vanishes {
            return Err("a number is too small for a double");
        }
        Ok(Number(Exact::Decimal(text.into())))
    }

    /// The integer value of this number, in any spelling: `3`, `3.0` and `3e0` are all 3. None when it has a fraction
    /// or is beyond +-(2^53-1).
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match &self.0 {
            Exact::Integer(integer) => Some(*integer),
            Exact::Decimal(text) => integer_of_decimal(text),
        }
    }

    /// The nearest double. For values that are doubles by meaning (metadata), never for money.
    #[must_use]
    pub fn as_double(&self) -> f64 {
        match &self.0 {
            Exact::Integer(integer) => *integer as f64, // Within +-(2^53-1), so exact.
            Exact::Decimal(text) => text.parse().expect("the text was read as a double when the number was made"),
        }
    }
}

/// A card number may have been sent as a JSON number.
impl Zeroize for Number {
    fn zeroize(&mut self) {
        match &mut self.0 {
            Exact::Integer(integer) => integer.zeroize(),
            Exact::Decimal(text) => text.zeroize(),
        }
    }
}

impl From<i64> for Number {
    fn from(integer: i64) -> Number {
        Number(Exact::Integer(integer))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Exact::Integer(integer) => write!(formatter, "{integer}"),
            Exact::Decimal(text) => formatter.write_str(text),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Exact::Integer(integer) => serializer.serialize_i64(*integer),
            Exact::Decimal(_) => serializer.serialize_f64(self.as_double()),
        }
    }
}

/// The part of a literal before its exponent.
fn significant_digits(text: &str) -> &str {
    text.split(['e', 'E']).next().unwrap_or(text)
}

/// The integer that a decimal literal denotes, computed from its digits.
fn integer_of_decimal(text: &str) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let trailing_zeros = digits.len() - significant.len();
    let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let scale =
        exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(i64::try_from(trailing_zeros).ok()?)?;
    let zeros = usize::try_from(scale).ok()?;
    if significant.len().checked_add(zeros)? > INTEGER_DIGITS_MAX {
        return None;
    }
    let magnitude: i64 = format!("{significant}{}", "0".repeat(zeros)).parse().ok()?;
    (magnitude <= INTEGER_MAX).then_some(sign * magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::from_literal(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_spelling_of_three_is_the_integer_three() {
        for text in ["3", "3.0", "3e0", "3.000", "0.3e1", "30e-1", "300E-2", "0.0003e+4"] {
            assert_eq!(number(text).as_integer(), Some(3), "{text}");
        }
        assert_eq!(number("-3.0").as_integer(), Some(-3));
        for zero in ["0", "-0", "0.0", "-0.0", "0e99"] {
            assert_eq!(number(zero).as_integer(), Some(0), "{zero}");
        }
    }

    #[test]
    fn a_number_that_a_double_would_round_to_an_integer_is_not_one() {
        for text in ["9007199254740991.4", "3.0000000000000000000001", "0.5", "1e-3", "2.99999999999999999999999"] {
            assert_eq!(number(text).as_integer(), None, "{text}");
        }
    }

    #[test]
    fn integers_end_at_two_to_the_fifty_third_less_one() {
        assert_eq!(number("9007199254740991").as_integer(), Some(INTEGER_MAX));
        assert_eq!(number("-9007199254740991.0").as_integer(), Some(-INTEGER_MAX));
        assert_eq!(number("9007199254740991e0").as_integer(), Some(INTEGER_MAX));
        for text in ["9007199254740992", "-9007199254740992", "18446744073709551616", "99999999999999999999999999"] {
            assert!(Number::from_literal(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_double_beyond_the_integer_limit_is_refused_in_any_form() {
        for text in ["9007199254740992.0", "9007199254740992.5", "-9007199254740991.6", "1e16", "-1e20", "1e300"] {
            assert!(Number::from_literal(text) == Err(BEYOND_INTEGERS), "{text}");
        }
        for text in ["9007199254740991.4", "900719925474099.1e1", "4503599627370495.5"] {
            assert!(Number::from_literal(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn every_number_that_is_answered_can_be_sent_back() {
        for text in ["9007199254740991.4", "-9007199254740990.5e0", "5e-324", "-0.0", "1e15", "1.5e-300", "123456.789"]
        {
            let answered = serde_json::to_string(&number(text)).unwrap_or_else(|error| panic!("{error}"));
            assert!(Number::from_literal(&answered).is_ok(), "{text} is answered as {answered}");
        }
    }

    #[test]
    fn a_number_outside_a_double_is_refused_at_both_ends() {
        for text in ["1e309", "-1e309", "1.0e400", "1e-400", "0.1e-999999999999"] {
            assert!(Number::from_literal(text).is_err(), "{text}");
        }
        assert!(Number::from_literal("0e-400").is_ok());
    }
}
