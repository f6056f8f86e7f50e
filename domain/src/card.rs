//! Cards, tokens and saved cards. They never carry the card number, which is in the vault.

use crate::ids::{CardId, CustomerId, InstallationId, TokenId};
use crate::text::{ExternalId, HolderName};
use crate::time::Millis;

/// The time for which a session can be used: 30 minutes.
pub const SESSION_LIFETIME_SECONDS: u64 = 1_800;
/// The lifetime of a single-use token, which is that of a session.
pub const SINGLE_TOKEN_LIFETIME_SECONDS: u64 = SESSION_LIFETIME_SECONDS;
/// A multi-use token that no payment uses ends after this time: 30 days.
pub const UNUSED_TOKEN_LIFETIME_SECONDS: u64 = 30 * 86_400;
/// The maximum number of multi-use tokens of one installation that no payment has used. Anybody who knows the
/// installation's public id can make them: at some 800 bytes each, 80 MB. Above the limit the oldest ones are removed.
pub const UNUSED_TOKENS_MAX: u64 = 100_000;

/// The maximum number of saved cards of a customer: all of them are forgotten in one record when the customer is
/// removed.
pub const SAVED_CARDS_MAX: usize = 100;

/// The maximum number of a customer's tokens that one step passes when it erases tokens: each is a row to be read.
pub const TOKENS_PASSED_MAX: usize = 128;

word_enum! {
    /// The network of a card, told from its first digits.
    pub enum CardScheme: name, display_name {
        /// Visa: 4.
        Visa => "VISA" | "Visa",
        /// Mastercard: 51 to 55, 2221 to 2720.
        Mastercard => "MASTERCARD" | "Mastercard",
        /// American Express: 34, 37.
        Amex => "AMEX" | "American Express",
        /// JCB: 3528 to 3589.
        Jcb => "JCB" | "JCB",
        /// UnionPay: 62.
        UnionPay => "UNIONPAY" | "UnionPay",
        /// Discover: 6011, 644 to 649, 65.
        Discover => "DISCOVER" | "Discover",
        /// Diners Club: 300 to 305, 36, 38, 39.
        Diners => "DINERS" | "Diners Club",
        /// Any other.
        Other => "OTHER" | "Card",
    }
}

impl CardScheme {
    /// The scheme of a card number's first digits.
    ///
    /// Source: ISO/IEC 7812 issuer ranges as the schemes publish them.
    #[must_use]
    pub fn of_digits(digits: &str) -> CardScheme {
        let leading = |length: usize| digits.get(..length).and_then(|text| text.parse::<u32>().ok()).unwrap_or(0);
        match (leading(1), leading(2), leading(3), leading(4)) {
            (4, _, _, _) => CardScheme::Visa,
            (_, 51..=55, _, _) | (_, _, _, 2221..=2720) => CardScheme::Mastercard,
            (_, 34 | 37, _, _) => CardScheme::Amex,
            (_, _, _, 3528..=3589) => CardScheme::Jcb,
            (_, 62, _, _) => CardScheme::UnionPay,
            (_, 65, _, _) | (_, _, 644..=649, _) | (_, _, _, 6011) => CardScheme::Discover,
            (_, 36 | 38 | 39, _, _) | (_, _, 300..=305, _) => CardScheme::Diners,
            (_, _, _, _) => CardScheme::Other,
        }
    }

    /// The number of digits of the security code that the scheme prints on its cards.
    #[must_use]
    pub const fn security_code_digits(self) -> usize {
        match self {
            CardScheme::Amex => 4,
            CardScheme::Visa
            | CardScheme::Mastercard
            | CardScheme::Jcb
            | CardScheme::UnionPay
            | CardScheme::Discover
            | CardScheme::Diners
            | CardScheme::Other => 3,
        }
    }
}

/// The last month in which a card is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardExpiry {
    /// Four digits.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
}

/// A keyed fingerprint of a card number: equal for equal numbers of one merchant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardFingerprint(pub [u8; 32]);

impl std::fmt::Debug for CardFingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CardFingerprint(..)")
    }
}

/// All facts about a card that are kept outside the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFacts {
    /// Its network.
    pub scheme: CardScheme,
    /// The first six digits.
    pub first_digits: String,
    /// The last four digits.
    pub last_digits: String,
    /// The last month in which it is valid.
    pub expiry: CardExpiry,
    /// The name on it, while it is kept with this object and its key exists. It is a person's name, so on disk it is
    /// sealed, under the key of the token or of the customer who saved the card.
    pub holder: Option<HolderName>,
    /// It recognizes the same number again.
    pub fingerprint: CardFingerprint,
}

/// A card that was entered at the acquirer, as far as the acquirer tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardAtAcquirer {
    /// Its network.
    pub scheme: CardScheme,
    /// The last four digits.
    pub last_digits: String,
    /// The last month in which it is valid.
    pub expiry: CardExpiry,
}

/// The facts that are shown of the card of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownCard<'a> {
    /// Its network.
    pub scheme: CardScheme,
    /// The first six digits; none for a card that was entered at the acquirer.
    pub first_digits: Option<&'a str>,
    /// The last four digits.
    pub last_digits: &'a str,
    /// The last month in which it is valid.
    pub expiry: CardExpiry,
}

impl<'a> From<&'a CardFacts> for ShownCard<'a> {
    fn from(card: &'a CardFacts) -> ShownCard<'a> {
        let CardFacts { scheme, first_digits, last_digits, expiry, holder: _, fingerprint: _ } = card;
        ShownCard { scheme: *scheme, first_digits: Some(first_digits), last_digits, expiry: *expiry }
    }
}

impl<'a> From<&'a CardAtAcquirer> for ShownCard<'a> {
    fn from(card: &'a CardAtAcquirer) -> ShownCard<'a> {
        let CardAtAcquirer { scheme, last_digits, expiry } = card;
        ShownCard { scheme: *scheme, first_digits: None, last_digits, expiry: *expiry }
    }
}

impl CardFacts {
    /// These facts for a session or a payment, which do not keep the name: the token or the customer keeps it.
    #[must_use]
    pub fn without_holder(self) -> CardFacts {
        CardFacts { holder: None, ..self }
    }
}

word_enum! {
    /// The number of uses that a token allows.
    pub enum TokenUsage: name {
        /// One selection of a payment method.
        Single => "SINGLE",
        /// Any number of uses. Only the card of such a token can be saved.
        Multiple => "MULTIPLE",
    }
}

/// A tokenized card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its id. It is a capability: every caller that knows it may select the token.
    pub id: TokenId,
    /// The installation where it was made.
    pub installation_id: InstallationId,
    /// The facts of its card.
    pub card: CardFacts,
    /// The number of uses that it allows.
    pub usage: TokenUsage,
    /// The time at which it was made.
    pub created_at: Millis,
    /// It can be selected until then. A multi-use token has no end once a payment has used it.
    pub expires_at: Option<Millis>,
    /// Of a single-use token: true when it is used up. Of a multi-use token: true when a payment has used it.
    pub used: bool,
}

impl Token {
    /// Returns true for a single-use token that is used up.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        self.used && self.usage == TokenUsage::Single
    }

    /// Returns true for a multi-use token that no payment has used.
    #[must_use]
    pub fn awaits_first_payment(&self) -> bool {
        !self.used && self.usage == TokenUsage::Multiple
    }

    /// Returns true when it can be selected at `now`.
    #[must_use]
    pub fn can_be_selected(&self, now: Millis) -> bool {
        !self.is_used_up() && !self.has_ended(now)
    }

    /// Returns true when it ended so long ago that no session can be paid with it any more.
    #[must_use]
    pub fn is_forgotten(&self, now: Millis) -> bool {
        self.expires_at.is_some_and(|end| end.plus_seconds(SESSION_LIFETIME_SECONDS) <= now)
    }

    /// Returns true when it is too old to be selected.
    #[must_use]
    pub fn has_ended(&self, now: Millis) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// The queue of an installation's multi-use tokens that wait for their first payment, the oldest first. Tokens that
/// were used or swept leave their positions empty until the queue has moved past them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenQueue {
    /// Its first position.
    pub first: u64,
    /// The position of the next token.
    pub next: u64,
}

impl TokenQueue {
    /// The number of positions.
    #[must_use]
    pub const fn len(self) -> u64 {
        self.next.saturating_sub(self.first)
    }

    /// Returns true when it has no position.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// The customer who used a multi-use token, by a payment or a saved card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenUse {
    /// The only one who used it; none when it was used for another customer, too, or for nobody who is known.
    pub customer_id: Option<CustomerId>,
    /// The token that its first customer was the first to use before.
    pub older: Option<TokenId>,
}

/// A card that a customer saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its id.
    pub id: CardId,
    /// The customer who saved it.
    pub customer_id: CustomerId,
    /// The merchant's own identifier for it.
    pub external_id: Option<ExternalId>,
    /// The facts of the card.
    pub card: CardFacts,
    /// The time at which it was saved.
    pub created_at: Millis,
    /// The time at which it was forgotten. It has neither a number nor a holder since then, and cannot pay.
    pub deleted_at: Option<Millis>,
}

word_enum! {
    /// The instruction of the merchant to save the card of a payment.
    pub enum SaveCard: name {
        /// Save it.
        Add => "ADD",
        /// Save it and make it the customer's default.
        Default => "DEFAULT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_is_told_from_the_first_digits() {
        for (digits, scheme) in [
            ("4242424242424242", CardScheme::Visa),
            ("5555555555554444", CardScheme::Mastercard),
            ("2223003122003222", CardScheme::Mastercard),
            ("378282246310005", CardScheme::Amex),
            ("3566002020360505", CardScheme::Jcb),
            ("6200000000000005", CardScheme::UnionPay),
            ("6011111111111117", CardScheme::Discover),
            ("3056930009020004", CardScheme::Diners),
            ("9999999999999995", CardScheme::Other),
        ] {
            assert_eq!(CardScheme::of_digits(digits), scheme, "{digits}");
        }
    }
}
