//! Amounts as pages show them.

use till_domain::money::{Money, decimal};

/// A no-break space.
const SPACE: char = '\u{a0}';

/// The currency's code and the amount in its major unit, such as `THB 1,234.50`, with a no-break space.
pub(super) fn amount(money: Money) -> String {
    let digits = decimal(i128::from(money.amount.get()), money.currency.minor_digits());
    format!("{}{SPACE}{digits}", money.currency.code())
}

#[cfg(test)]
mod tests {
    use till_domain::money::AmountMinor;

    use super::*;

    #[test]
    fn amounts_have_the_digits_of_their_currency() {
        let money = |amount, currency: &str| Money {
            amount: AmountMinor::new(amount).expect("in range"),
            currency: currency.parse().expect("an ISO code"),
        };
        for (money, text) in [
            (money(123_450, "THB"), "THB\u{a0}1,234.50"),
            (money(5, "THB"), "THB\u{a0}0.05"),
            (money(1_234_567, "JPY"), "JPY\u{a0}1,234,567"),
            (money(1_234, "KWD"), "KWD\u{a0}1.234"),
        ] {
            assert_eq!(amount(money), text);
        }
    }
}
