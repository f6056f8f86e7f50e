//! Merchants: their profile, their payment methods and their installations.

use std::fmt;

use crate::acquirer::AcquirerRef;
use crate::ids::InstallationId;
use crate::money::{Currency, FeeRate};
use crate::text::{Email, InstallationIdentifier, Name, TimeZone};
use crate::time::Millis;

pub use crate::payment_method::{PROMPT_PAY_MAX_MINOR, PaymentMethod};

/// The settlement delay of a merchant for which the operator gives none: two days.
pub const SETTLEMENT_DELAY_DEFAULT_SECONDS: u64 = 172_800;
/// The longest settlement delay: a year.
pub const SETTLEMENT_DELAY_MAX_SECONDS: u64 = 31_536_000;
/// The longest time by which one call advances a test clock: 400 days.
pub const ADVANCE_MAX_SECONDS: u64 = 400 * 86_400;
/// The maximum number of installations of one merchant: they are part of its bounded state.
pub const INSTALLATIONS_MAX: usize = 1_000;

/// The data that the operator gave about a merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: Name,
    /// The one currency of its account.
    pub currency: Currency,
    /// The time zone in which its days begin.
    pub time_zone: TimeZone,
    /// The time for which captured money is held before it is effective, in seconds.
    pub settlement_delay_seconds: u64,
    /// The address that the activity log shows as the actor of an operator's action.
    pub support_email: Option<Email>,
    /// The time at which it was created.
    pub created_at: Millis,
    /// True when its calls that change something are refused.
    pub suspended: bool,
    /// True when its identifiers may look like card numbers.
    pub card_numbers_in_identifiers: bool,
    /// The colour of its pages for customers.
    pub color: Option<Color>,
}

/// A colour of the sRGB colour space: red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub [u8; 3]);

impl Color {
    /// The colour that `#` and six lower-case hexadecimal digits name; None for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Color> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
        if !digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        let channel = |place: usize| u8::from_str_radix(digits.get(place..place.saturating_add(2))?, 16).ok();
        Some(Color([channel(0)?, channel(2)?, channel(4)?]))
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// The clock of a merchant whose time the operator advances in tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TestClock {
    /// The difference by which the merchant's time is ahead of the wall clock, in milliseconds. It only grows.
    pub offset_ms: u64,
}

/// The settings by which a merchant's payments of one method are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integration {
    /// The acquirer that processes them.
    pub acquirer: AcquirerRef,
    /// True when customers can choose the method now.
    pub enabled: bool,
    /// True when a payment can be authorized without being captured.
    pub authorizes_without_capture: bool,
    /// The fee of a captured payment.
    pub fee: FeeRate,
}

impl Integration {
    /// The setting of a new merchant for a method that is on at first: enabled on the sandbox, no fee.
    #[must_use]
    pub const fn initial() -> Integration {
        Integration {
            acquirer: AcquirerRef::Sandbox,
            enabled: true,
            authorizes_without_capture: true,
            fee: FeeRate { basis_points: 0, fixed_minor: 0 },
        }
    }
}

word_enum! {
    /// The platform on which a client SDK runs.
    pub enum Platform: name {
        /// A web site.
        Web => "WEB",
        /// An iOS app.
        Ios => "IOS",
        /// An Android app.
        Android => "ANDROID",
        /// A payment terminal.
        Terminal => "TERMINAL",
    }
}

/// One installation of a client SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Its id.
    pub id: InstallationId,
    /// The name that the merchant gives it.
    pub name: Name,
    /// The platform on which it runs.
    pub platform: Platform,
    /// Its identifier on that platform: for `Web` the origin that may call from a browser.
    pub identifier: InstallationIdentifier,
    /// The time at which it was added.
    pub created_at: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_color_is_a_number_sign_and_six_digits() {
        assert_eq!(Color::parse("#0a7fff"), Some(Color([0x0a, 0x7f, 0xff])));
        assert_eq!(Color([0x0a, 0x7f, 0xff]).to_string(), "#0a7fff");
        for text in ["", "#", "0a7fff", "#0A7FFF", "#0a7ff", "#0a7fff0", "#0a7fg0", "#+a7fff", "#\u{e9}\u{e9}\u{e9}"] {
            assert_eq!(Color::parse(text), None, "{text}");
        }
    }
}
