//! Amounts as people enter them: in major units, such as `12.50`. They are digits, never floating-point numbers.

use till_domain::money::{AMOUNT_MAX_MINOR, decimal};

/// What stands between the ends of a range of amounts.
const RANGE: &str = "..";

/// The word that takes a limit away.
const NONE: &str = "none";

/// An amount with at most this number of decimals, in minor units.
///
/// # Errors
/// The message says what to enter.
pub(in crate::pages) fn minor_units(entered: &str, digits: u16) -> Result<u64, String> {
    let digits = usize::from(digits);
    let (whole, fraction) = entered.split_once('.').map_or((entered, None), |(whole, part)| (whole, Some(part)));
    let fraction = fraction.unwrap_or("0");
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_fraction = is_number(fraction) && (fraction.len() <= digits || !entered.contains('.'));
    if !is_number(whole) || !is_fraction {
        return Err(match digits {
            0 => "Enter an amount in digits, such as 12".to_owned(),
            digits => format!("Enter an amount such as 12.{:0<digits$}", "50"[..digits.min(2)].to_owned()),
        });
    }
    let fraction = if digits == 0 { "" } else { fraction };
    let minor = format!("{whole}{fraction:0<digits$}").parse::<u64>().ok();
    minor.filter(|minor| *minor <= AMOUNT_MAX_MINOR).ok_or_else(|| "Enter a smaller amount".to_owned())
}

/// The same for an amount, for a range of amounts of which one end may be open, and for the word that takes a limit
/// away: as a call takes it.
///
/// # Errors
/// As [`minor_units`].
pub(in crate::pages) fn argument_of(entered: &str, digits: u16) -> Result<String, String> {
    let end = |text: &str| match text {
        "" => Ok(String::new()),
        text => minor_units(text, digits).map(|minor| minor.to_string()),
    };
    match entered.split_once(RANGE) {
        _ if entered == NONE => Ok(entered.to_owned()),
        None => end(entered),
        Some((first, last)) => Ok([end(first.trim())?, end(last.trim())?].join(RANGE)),
    }
}

/// The text that somebody enters for such an argument.
pub(in crate::pages) fn entered(argument: &str, digits: u16) -> String {
    let major = |text: &str| text.parse().map_or(text.to_owned(), |minor| decimal(minor, digits).replace(',', ""));
    argument.split(RANGE).map(major).collect::<Vec<String>>().join(RANGE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_amount_has_at_most_the_decimals_of_its_currency() {
        for (text, digits, minor) in [
            ("12.50", 2, 1_250),
            ("12.5", 2, 1_250),
            ("12", 2, 1_200),
            ("0.05", 2, 5),
            ("007", 0, 7),
            ("1.234", 3, 1_234),
            ("90071992547409.91", 2, AMOUNT_MAX_MINOR),
        ] {
            assert_eq!(minor_units(text, digits), Ok(minor), "{text}");
        }
        let refused = [
            ("", 2),
            (".5", 2),
            ("12.", 2),
            ("12.505", 2),
            ("12.0", 0),
            ("1,000", 2),
            ("-1", 2),
            ("+1", 2),
            ("1e3", 2),
            ("١٢", 2),
            ("1.2.3", 2),
            ("90071992547409.92", 2),
            ("99999999999999999999999", 2),
        ];
        for (text, digits) in refused {
            assert!(minor_units(text, digits).is_err(), "{text}");
        }
        assert_eq!(minor_units("x", 2), Err("Enter an amount such as 12.50".to_owned()));
        assert_eq!(minor_units("x", 3), Err("Enter an amount such as 12.500".to_owned()));
    }

    #[test]
    fn a_range_of_amounts_is_entered_as_an_amount_is() {
        for (text, argument) in
            [("1..2.50", "100..250"), ("1..", "100.."), ("..2", "..200"), ("3", "300"), ("none", "none")]
        {
            assert_eq!(argument_of(text, 2).as_deref(), Ok(argument));
        }
        assert!(argument_of("1..x", 2).is_err());
        assert_eq!((entered("100..250", 2), entered("100..", 2)), ("1.00..2.50".to_owned(), "1.00..".to_owned()));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_what_is_entered(minor in 0..=AMOUNT_MAX_MINOR, digits in 0_u16..=4) {
            prop_assert_eq!(minor_units(&entered(&minor.to_string(), digits), digits), Ok(minor));
        }

        #[test]
        fn a_text_is_taken_as_it_is_written_or_not_at_all(text in "[0-9.,e+ -]{0,12}", digits in 0_u16..=4) {
            if let Ok(minor) = minor_units(&text, digits) {
                let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
                let padded = format!("{whole}{fraction:0<width$}", width = usize::from(digits));
                prop_assert_eq!(padded.parse::<u64>(), Ok(minor));
            }
        }
    }
}
