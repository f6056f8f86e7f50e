//! Booleans, whole numbers and words.

use std::ops::RangeInclusive;

use crate::json::Json;

/// `true` or `false`, and no value that merely resembles one.
///
/// # Errors
/// The message says what to send.
pub fn boolean(value: &Json) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("send true or false, not {}", value.kind()))
}

/// A whole number within limits, by value: `3.0` is read as 3.
pub fn integer<T>(limits: RangeInclusive<T>) -> impl FnOnce(&Json) -> Result<T, String>
where
    T: TryFrom<i64> + PartialOrd + std::fmt::Display,
{
    move |value| {
        let integer = value.as_integer().ok_or_else(|| match value {
            Json::Number(_) => format!("must be a whole number from {} to {}", limits.start(), limits.end()),
            Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                format!("send a whole number, not {}", value.kind())
            }
        })?;
        let within = T::try_from(integer).ok().filter(|integer| limits.contains(integer));
        within.ok_or_else(|| format!("must be {} to {}", limits.start(), limits.end()))
    }
}

/// One of a few values by its name, in exactly this spelling.
pub fn one_of<T: Copy>(
    values: &'static [T],
    name: impl Fn(T) -> &'static str,
) -> impl FnOnce(&Json) -> Result<T, String> {
    move |value| {
        let chosen = value.as_str().and_then(|text| values.iter().find(|value| name(**value) == text));
        chosen.copied().ok_or_else(|| {
            let words: Vec<&str> = values.iter().map(|value| name(*value)).collect();
            format!("must be one of: {}", words.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use till_domain::card::SaveCard;

    use super::*;
    use crate::json::Number;

    fn number(value: i64) -> Json {
        Json::Number(Number::from(value))
    }

    #[test]
    fn a_boolean_is_not_a_word_or_a_number() {
        assert_eq!(boolean(&Json::Bool(false)), Ok(false));
        assert_eq!(boolean(&Json::String("true".to_owned())), Err("send true or false, not a string".to_owned()));
        assert!(boolean(&number(1)).is_err());
    }

    #[test]
    fn integers_are_held_to_their_limits() {
        assert_eq!(integer(1..=100_u8)(&number(100)), Ok(100));
        assert_eq!(integer(1..=100_u8)(&number(101)), Err("must be 1 to 100".to_owned()));
        assert_eq!(integer(1..=100_u8)(&number(100_000)), Err("must be 1 to 100".to_owned()));
        assert_eq!(integer(0..=u64::MAX)(&number(-1)), Err(format!("must be 0 to {}", u64::MAX)));
        assert!(integer(0..=9_i64)(&Json::String("3".to_owned())).is_err());
    }

    #[test]
    fn a_word_is_one_of_those_allowed_in_its_own_letter_case() {
        let read = one_of(&SaveCard::ALL, SaveCard::name);
        assert_eq!(read(&Json::String("DEFAULT".to_owned())), Ok(SaveCard::Default));
        for value in [Json::String("add".to_owned()), Json::String(String::new()), number(1)] {
            let read = one_of(&SaveCard::ALL, SaveCard::name);
            assert_eq!(read(&value), Err("must be one of: ADD, DEFAULT".to_owned()));
        }
    }
}
