//! Texts from callers. Each is checked once, where it enters.

use crate::card_number::holds_card_number;
use std::fmt;

/// The reason for which a text is refused. The message states the requirement and never repeats the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TextError(pub &'static str);

/// Declares a type for one kind of text with the check that it must pass. `personal` kinds hide their
/// content from debug output.
macro_rules! text_type {
    ($($(#[$doc:meta])* $name:ident, $shown:ident, $check:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Checks the text.
            ///
            /// # Errors
            /// The requirement that the text does not meet, without the text itself.
            pub fn new(text: impl Into<String>) -> Result<Self, TextError> {
                let text = text.into();
                let check: fn(&str) -> Result<(), TextError> = $check;
                check(&text).map(|()| Self(text))
            }

            /// The text read back from disk, where all texts are checked ones.
            #[must_use]
            pub fn from_stored(text: String) -> Self {
                Self(text)
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                text_type!(@debug $shown, self, f)
            }
        }
    )+};
    (@debug public, $self:ident, $f:ident) => { write!($f, "{:?}", $self.0) };
    (@debug personal, $self:ident, $f:ident) => { $f.write_str("(personal)") };
}

/// Longest identifier that a merchant brings along, in bytes.
pub const EXTERNAL_ID_MAX_BYTES: usize = 255;
/// Longest name, in characters.
pub const NAME_MAX_CHARACTERS: usize = 255;
/// Longest evidence in a dispute, in characters.
pub const EVIDENCE_MAX_CHARACTERS: usize = 20_000;
/// Longest return URL, in bytes.
pub const RETURN_URL_MAX_BYTES: usize = 2_048;
/// Longest text of a QR code, in bytes.
pub const QR_TEXT_MAX_BYTES: usize = 512;
/// Longest name of a header, in characters.
pub const HEADER_NAME_MAX: usize = 64;
/// Longest Idempotency-Key, in characters.
pub const IDEMPOTENCY_KEY_MAX: usize = 255;
/// Longest word of an acquirer for a failure, in bytes.
pub const ACQUIRER_CODE_MAX_BYTES: usize = 64;
/// Longest name of a time zone, in bytes.
pub const TIME_ZONE_MAX_BYTES: usize = 64;
/// Longest e-mail address, in bytes (RFC 5321, section 4.5.3.1.3, less the angle brackets).
pub const EMAIL_MAX_BYTES: usize = 254;

text_type! {
    /// A merchant's own identifier of a payment, customer, card or top-up: 1 to 255 bytes without control
    /// characters. Code that knows the kind of object checks that it does not look like an id of that kind.
    ExternalId, public, |text| {
        plain(text, EXTERNAL_ID_MAX_BYTES, "must be 1 to 255 bytes without control characters")
    };
    /// A name that a person reads: 1 to 255 characters without control characters and without a card number.
    Name, public, name;
    /// The reason for a refund or a dispute, which a person wrote: as [`Name`].
    Reason, public, name;
    /// The evidence of a merchant in a dispute: 1 to 20,000 characters without control characters other than line
    /// breaks and tabs, and without a card number.
    Evidence, public, evidence;
    /// The purpose of a payout or an invoice in a person's words: as [`Name`].
    Description, public, name;
    /// The name of a customer: as [`Name`].
    PersonName, personal, name;
    /// The name on a card: as [`Name`].
    HolderName, personal, name;
    /// An e-mail address in lower case, in which form addresses are compared. Its syntax is checked at the
    /// edge by a library.
    Email, personal, |text| {
        if text.chars().any(char::is_uppercase) || !text.contains('@') {
            return Err(TextError("must be an e-mail address"));
        }
        plain(text, EMAIL_MAX_BYTES, "must be an e-mail address of at most 254 bytes")
    };
    /// A mobile number in E.164 form: `+` and 8 to 15 digits, the first not 0.
    Mobile, personal, |text| {
        let digits = text.strip_prefix('+').unwrap_or("");
        let plausible = (8..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        if plausible && !digits.starts_with('0') {
            Ok(())
        } else {
            Err(TextError("must be a mobile number in E.164 form: + and 8 to 15 digits"))
        }
    };
    /// The address to which the customer is sent after the payment: an absolute http(s) URL, checked at the edge by a
    /// library.
    ReturnUrl, public, |text| {
        plain(text, RETURN_URL_MAX_BYTES, "must be an absolute http or https URL of at most 2048 bytes")
    };
    /// The address that a customer is sent to for an action: an absolute URL of the acquirer's, or the path of a page
    /// of this server, which is made absolute when it is read.
    ActionAddress, public, |text| plain(text, RETURN_URL_MAX_BYTES, "must be an address of at most 2048 bytes");
    /// The text of a QR code that a customer pays by: 1 to 512 bytes.
    QrText, public, |text| plain(text, QR_TEXT_MAX_BYTES, "must be 1 to 512 bytes without control characters");
    /// The address that a webhook's events are posted to: an absolute URL, checked at the edge by a library.
    DestinationUrl, public, |text| {
        plain(text, RETURN_URL_MAX_BYTES, "must be an absolute https URL of at most 2048 bytes")
    };
    /// The name of an HTTP header: 1 to 64 token characters (RFC 9110, section 5.6.2).
    HeaderName, public, |text| {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if (1..=HEADER_NAME_MAX).contains(&text.len()) && text.bytes().all(is_token) {
            Ok(())
        } else {
            Err(TextError("must be 1 to 64 characters that names of headers are made of"))
        }
    };
    /// The name that a caller gives a call, so that it is carried out once: 1 to 255 visible ASCII characters and
    /// spaces.
    IdempotencyKey, public, |text| {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if visible && (1..=IDEMPOTENCY_KEY_MAX).contains(&text.len()) {
            Ok(())
        } else {
            Err(TextError("must be 1 to 255 visible ASCII characters and spaces"))
        }
    };
    /// An acquirer's own word for a failure: 1 to 64 printable ASCII characters. A word of any other form is not kept.
    AcquirerCode, public, |text| {
        let is_printable = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if is_printable && (1..=ACQUIRER_CODE_MAX_BYTES).contains(&text.len()) {
            Ok(())
        } else {
            Err(TextError("must be 1 to 64 printable ASCII characters"))
        }
    };
    /// An IANA time zone such as `Asia/Bangkok`. A library at the edge checks that it exists.
    TimeZone, public, |text| plain(text, TIME_ZONE_MAX_BYTES, "must be an IANA time zone name");
    /// The key of a metadata record: 1 to 255 bytes without control characters.
    MetadataKey, public, |text| {
        plain(text, EXTERNAL_ID_MAX_BYTES, "must be 1 to 255 bytes without control characters")
    };
    /// The identifier of an installation on its platform: an origin, a bundle id, a terminal's serial number.
    InstallationIdentifier, public, |text| {
        plain(text, EXTERNAL_ID_MAX_BYTES, "must be 1 to 255 bytes without control characters")
    };
}

fn plain(text: &str, bytes_max: usize, rule: &'static str) -> Result<(), TextError> {
    let fits = !text.is_empty() && text.len() <= bytes_max;
    if fits && !text.chars().any(char::is_control) { Ok(()) } else { Err(TextError(rule)) }
}

fn name(text: &str) -> Result<(), TextError> {
    let length = text.chars().count();
    let fits = (1..=NAME_MAX_CHARACTERS).contains(&length);
    if !fits || text.chars().any(char::is_control) {
        return Err(TextError("must be 1 to 255 characters without control characters"));
    }
    without_card_number(text)
}

fn evidence(text: &str) -> Result<(), TextError> {
    let fits = (1..=EVIDENCE_MAX_CHARACTERS).contains(&text.chars().count());
    let is_refused = |character: char| character.is_control() && !matches!(character, '\n' | '\r' | '\t');
    if !fits || text.chars().any(is_refused) {
        return Err(TextError(
            "must be 1 to 20000 characters without control characters other than line breaks and tabs",
        ));
    }
    without_card_number(text)
}

/// The check of every text that a person writes, since it is kept in clear, or shown to others.
fn without_card_number(text: &str) -> Result<(), TextError> {
    if holds_card_number(text) {
        return Err(TextError("holds a card number: leave it out, cards are given to tokenize-card only"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_external_id_has_1_to_255_bytes_and_no_control_characters() {
        assert!(ExternalId::new("inv_1001").is_ok());
        assert!(ExternalId::new("ä".repeat(127)).is_ok());
        for text in [String::new(), "ä".repeat(128), "a\nb".to_owned(), "\u{7f}".to_owned(), "\u{85}".to_owned()] {
            assert!(ExternalId::new(text).is_err());
        }
    }

    #[test]
    fn the_word_of_an_acquirer_has_1_to_64_printable_ascii_characters() {
        for text in ["do_not_honor", "51 ~", &"x".repeat(64)] {
            assert!(AcquirerCode::new(text).is_ok(), "{text:?}");
        }
        for text in ["", "refus\u{e9}", "a\nb", "\u{7f}", &"x".repeat(65)] {
            assert!(AcquirerCode::new(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_name_is_counted_in_characters() {
        assert!(Name::new("ä".repeat(255)).is_ok());
        assert!(Name::new("a".repeat(256)).is_err());
        assert!(Name::new("").is_err());
    }

    #[test]
    fn a_name_holds_no_card_number_and_the_fault_does_not_repeat_it() {
        for text in ["4242424242424242", "card 4242 4242 4242 4242 of Ada", "5555-5555-5555-4444"] {
            let refused = [
                Name::new(text).map(drop).expect_err(text),
                PersonName::new(text).map(drop).expect_err(text),
                HolderName::new(text).map(drop).expect_err(text),
            ];
            assert!(refused.iter().all(|error| error.0.starts_with("holds a card number")), "{refused:?}");
            assert!(refused.iter().all(|error| !error.0.contains(|digit: char| digit.is_ascii_digit())));
        }
        assert!(Name::new("Shop 4242424242424243").is_ok(), "a wrong check digit");
    }

    #[test]
    fn a_mobile_number_has_e164_form() {
        assert!(Mobile::new("+66812345678").is_ok());
        for text in ["66812345678", "+1234567", "+1234567890123456", "+6681234567a", "+06681234567", "+", ""] {
            assert!(Mobile::new(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn personal_texts_do_not_show_in_debug_output() {
        let email = Email::new("somchai@example.com").expect("a plain address");
        assert_eq!(format!("{email:?}"), "(personal)");
    }
}
