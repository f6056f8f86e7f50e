//! Money: minor units with their currency. There are only whole numbers and checked sums.

use std::fmt;
use std::str::FromStr;

/// The largest amount and the largest total of an account: 2^53 - 1, the largest integer that every JSON
/// reader keeps exactly.
pub const AMOUNT_MAX_MINOR: u64 = (1 << 53) - 1;

/// An ISO 4217 currency.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// The error of a text that is no currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an upper-case ISO 4217 currency code")]
pub struct CurrencyError;

impl Currency {
    /// The code, three upper-case letters.
    #[must_use]
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("???")
    }

    /// Returns true when people pay with it. ISO 4217 also has codes for metals, bonds, units of account, tests and "no
    /// currency".
    ///
    /// Source: ISO 4217, list one.
    #[must_use]
    pub fn is_money(self) -> bool {
        const NO_MONEY: [&str; 13] =
            ["XAG", "XAU", "XBA", "XBB", "XBC", "XBD", "XDR", "XPD", "XPT", "XSU", "XTS", "XUA", "XXX"];
        !NO_MONEY.contains(&self.code())
    }

    /// Digits of an amount after the decimal point: 2 for THB, 0 for JPY. 0 when the currency has
    /// no minor unit.
    ///
    /// Source: ISO 4217, list one.
    #[must_use]
    pub fn minor_digits(self) -> u16 {
        iso_currency::Currency::from_code(self.code()).and_then(iso_currency::Currency::exponent).unwrap_or(0)
    }

    /// The three letters as they are stored on disk.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 3] {
        self.0
    }

    /// The currency with exactly these letters, read from disk.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 3]) -> Currency {
        Currency(bytes)
    }
}

impl FromStr for Currency {
    type Err = CurrencyError;

    fn from_str(text: &str) -> Result<Currency, CurrencyError> {
        // The library also knows lower-case spellings; callers must send upper case.
        let known =
            text.bytes().all(|byte| byte.is_ascii_uppercase()) && iso_currency::Currency::from_code(text).is_some();
        let bytes: [u8; 3] = text.as_bytes().try_into().map_err(|_| CurrencyError)?;
        if known { Ok(Currency(bytes)) } else { Err(CurrencyError) }
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// An amount that is paid: 1 to [`AMOUNT_MAX_MINOR`] minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AmountMinor(u64);

impl AmountMinor {
    /// The amount, or `None` when it is zero or beyond [`AMOUNT_MAX_MINOR`].
    #[must_use]
    pub const fn new(minor: u64) -> Option<AmountMinor> {
        if minor >= 1 && minor <= AMOUNT_MAX_MINOR { Some(AmountMinor(minor)) } else { None }
    }

    /// The number of minor units.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// An amount in a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    /// The amount, in minor units.
    pub amount: AmountMinor,
    /// The currency.
    pub currency: Currency,
}

/// The fee rate of a captured payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeeRate {
    /// The proportional part in hundredths of a percent of the captured amount, 0 to 10,000.
    pub basis_points: u16,
    /// The fixed part in minor units, at most [`AMOUNT_MAX_MINOR`].
    pub fixed_minor: u64,
}

impl FeeRate {
    /// The largest rate: the whole amount.
    pub const BASIS_POINTS_MAX: u16 = 10_000;

    /// The fee on `amount` in minor units: the proportional part rounded half up, plus the fixed part, at
    /// most the amount itself. Zero when there is no fee.
    #[must_use]
    pub fn fee_minor(self, amount: AmountMinor) -> u64 {
        let gross = u128::from(amount.get());
        // At most 2^53 * 10,000 + 5,000 + 2^53: far below 2^128, so nothing here can saturate.
        let scaled = gross.saturating_mul(u128::from(self.basis_points)).saturating_add(5_000);
        let fee = (scaled / 10_000).saturating_add(u128::from(self.fixed_minor));
        u64::try_from(fee.min(gross)).unwrap_or(AMOUNT_MAX_MINOR)
    }
}

/// An amount in minor units as a decimal number with this number of digits after the point, and commas between
/// thousands.
#[must_use]
pub fn decimal(minor: i128, digits: u16) -> String {
    let sign = if minor < 0 { "-" } else { "" };
    let (digits, minor) = (usize::from(digits), minor.unsigned_abs().to_string());
    let padded = format!("{minor:0>width$}", width = digits.saturating_add(1));
    let (whole, fraction) = padded.split_at(padded.len().saturating_sub(digits));
    let whole = grouped(whole);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Digits with commas between thousands.
fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len().saturating_mul(2));
    for (index, digit) in digits.chars().enumerate() {
        let left = digits.len().saturating_sub(index);
        if index > 0 && left.is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(minor: u64) -> AmountMinor {
        AmountMinor::new(minor).expect("a test amount in range")
    }

    #[test]
    fn an_amount_is_between_one_and_two_to_the_53_less_one() {
        assert_eq!(AmountMinor::new(0), None);
        assert_eq!(AmountMinor::new(AMOUNT_MAX_MINOR + 1), None);
        assert_eq!(amount(1).get(), 1);
        assert_eq!(amount(AMOUNT_MAX_MINOR).get(), 9_007_199_254_740_991);
    }

    #[test]
    fn a_currency_is_an_upper_case_iso_code() {
        assert_eq!("THB".parse::<Currency>().map(|currency| currency.to_string()), Ok("THB".to_owned()));
        for text in ["thb", "Thb", "ZZQ", "TH", "THBB", "", "TH1", "฿"] {
            assert!(text.parse::<Currency>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn metals_tests_and_no_currency_are_no_money() {
        let is_money = |code: &str| code.parse::<Currency>().map(Currency::is_money);
        for code in ["THB", "EUR", "XAF", "XCD", "XOF", "XPF", "CLF"] {
            assert_eq!(is_money(code), Ok(true), "{code}");
        }
        for code in ["XXX", "XTS", "XAU", "XAG", "XPT", "XPD", "XDR", "XUA", "XBA"] {
            assert_eq!(is_money(code), Ok(false), "{code}");
        }
    }

    #[test]
    fn a_fee_rounds_half_up_and_never_exceeds_the_amount() {
        let rate = FeeRate { basis_points: 250, fixed_minor: 10 };
        assert_eq!(rate.fee_minor(amount(10_000)), 260);
        assert_eq!(FeeRate { basis_points: 250, fixed_minor: 0 }.fee_minor(amount(20)), 1, "0.5 rounds up");
        assert_eq!(FeeRate { basis_points: 250, fixed_minor: 0 }.fee_minor(amount(19)), 0, "0.475 rounds down");
        assert_eq!(rate.fee_minor(amount(5)), 5, "at most the amount");
        assert_eq!(FeeRate::default().fee_minor(amount(100)), 0);
        let all = FeeRate { basis_points: 10_000, fixed_minor: AMOUNT_MAX_MINOR };
        assert_eq!(all.fee_minor(amount(AMOUNT_MAX_MINOR)), AMOUNT_MAX_MINOR);
    }

    #[test]
    fn a_decimal_number_has_its_point_and_commas() {
        assert_eq!(decimal(123_456, 2), "1,234.56");
        assert_eq!(decimal(-5, 2), "-0.05");
        assert_eq!(decimal(0, 2), "0.00");
        assert_eq!(decimal(99_999, 2), "999.99");
        assert_eq!(decimal(-100_000, 2), "-1,000.00");
        assert_eq!(decimal(12_000_000, 0), "12,000,000");
        assert_eq!(decimal(1, 3), "0.001");
    }
}
