//! Amounts as the pages for customers show them: ISO code, a no-break space, Latin digits in every language.

use till_domain::money::{Currency, Money, decimal};

use super::locale::Locale;

/// A no-break space.
const SPACE: char = '\u{a0}';

/// The minus sign of a discount.
const MINUS: &str = "\u{2212}";

/// The amount in its major unit, such as `THB 1,234.50`.
pub(super) fn amount(money: Money, locale: Locale) -> String {
    amount_of(i128::from(money.amount.get()), money.currency, locale)
}

/// The price of several, which may be larger than any amount that is paid.
pub(super) fn amount_of_several(amount_minor: i64, quantity: u64, currency: Currency, locale: Locale) -> String {
    amount_of(i128::from(amount_minor).saturating_mul(i128::from(quantity)), currency, locale)
}

fn amount_of(minor: i128, currency: Currency, locale: Locale) -> String {
    let digits = decimal(minor.saturating_abs(), currency.minor_digits());
    let sign = if minor < 0 { MINUS } else { "" };
    format!("{sign}{}{SPACE}{}", currency.code(), separated(&digits, locale))
}

/// The digits with the separators of the language. Source: CLDR, `decimal` and `group` of the numbering system `latn`.
fn separated(digits: &str, locale: Locale) -> String {
    match locale {
        Locale::English | Locale::Thai | Locale::Japanese | Locale::Arabic => digits.to_owned(),
        Locale::German => digits.chars().map(exchanged).collect(),
    }
}

const fn exchanged(character: char) -> char {
    match character {
        ',' => '.',
        '.' => ',',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use till_domain::money::AmountMinor;

    use super::*;

    fn currency(code: &str) -> Currency {
        code.parse().expect("an ISO code")
    }

    #[test]
    fn an_amount_has_the_separators_of_its_language_and_the_digits_of_its_currency() {
        let money =
            |minor, code| Money { amount: AmountMinor::new(minor).expect("in range"), currency: currency(code) };
        for locale in [Locale::English, Locale::Thai, Locale::Japanese, Locale::Arabic] {
            assert_eq!(amount(money(123_450, "THB"), locale), "THB\u{a0}1,234.50");
        }
        assert_eq!(amount(money(123_456_789, "EUR"), Locale::German), "EUR\u{a0}1.234.567,89");
        assert_eq!(amount(money(1_234_567, "JPY"), Locale::German), "JPY\u{a0}1.234.567");
        assert_eq!(amount(money(1_234, "KWD"), Locale::Arabic), "KWD\u{a0}1.234");
    }

    #[test]
    fn the_price_of_several_does_not_overflow() {
        let text = amount_of_several(i64::MAX, 2, currency("JPY"), Locale::English);
        assert_eq!(text, "JPY\u{a0}18,446,744,073,709,551,614");
        let largest = amount_of_several(i64::MAX, u64::MAX, currency("JPY"), Locale::English);
        assert!(largest.starts_with("JPY\u{a0}170,141"), "{largest}");
    }

    #[test]
    fn a_discount_has_a_minus_sign_before_its_currency() {
        assert_eq!(amount_of_several(-1_050, 2, currency("THB"), Locale::German), "\u{2212}THB\u{a0}21,00");
    }
}
