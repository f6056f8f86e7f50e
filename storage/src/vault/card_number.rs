//! A card number in memory.

use std::fmt;

use till_domain::card_number::is_card_number;
use zeroize::Zeroizing;

/// A card number, for which [`is_card_number`] returned true.
///
/// It lives on the heap, so that moving it leaves no copy behind, and is zeroized there. `Debug` shows the
/// first six and the last four digits, the part that may be shown anywhere; there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct CardNumber(Zeroizing<Box<str>>);

/// The text is not a card number. The message does not repeat any part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a card number: 12 to 19 digits, the last of which is the check digit")]
pub struct CardNumberError;

impl CardNumber {
    /// Reads a card number from its digits, without spaces.
    ///
    /// # Errors
    /// [`CardNumberError`] when the text is not a card number.
    pub fn parse(text: &str) -> Result<CardNumber, CardNumberError> {
        is_card_number(text).then(|| CardNumber(Zeroizing::new(Box::from(text)))).ok_or(CardNumberError)
    }

    /// All digits: only for sealing and for the acquirer.
    #[must_use]
    pub fn expose_digits(&self) -> &str {
        &self.0
    }

    /// The first six digits, which name the issuer.
    #[must_use]
    pub fn first_six(&self) -> [u8; 6] {
        *self.0.as_bytes().first_chunk().expect("a card number has at least 12 digits")
    }

    /// The last four digits, by which people recognize the card.
    #[must_use]
    pub fn last_four(&self) -> [u8; 4] {
        *self.0.as_bytes().last_chunk().expect("a card number has at least 12 digits")
    }
}

impl fmt::Debug for CardNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CardNumber({}..{})", &self.0[..6], &self.0[self.0.len() - 4..])
    }
}
