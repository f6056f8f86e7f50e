//! Shapes of cards: tokens, saved cards, and the facts of either. They never contain a number.

use till_domain::card::{
    Card, CardExpiry, CardFacts, CardHolder, CardScheme, SaveCard, Token, TokenQueue, TokenUsage, TokenUse,
};
use till_domain::ids::{CardId, CustomerId, TokenId};
use till_domain::records::Unreadable;
use till_domain::text::HolderName;

use crate::vault::SubjectId;

use super::codec::{Decode, Out, ShapeError, put};
use super::personal::Personal;
use super::shape::{Shape, shape_enum, shape_struct};

/// The label of the holder of a token's card: a text that is sealed with it opens only there. Part of the format.
const OF_TOKEN: &str = "token.holder";
/// The same for a saved card.
const OF_CARD: &str = "card.holder";

shape_enum! {
    /// The network of a card.
    CardSchemeV1 of CardScheme {
        Visa,
        Mastercard,
        Amex,
        Jcb,
        UnionPay,
        Discover,
        Diners,
        Other,
    }
}

shape_struct! {
    /// The last month in which a card is valid.
    CardExpiryV1 of CardExpiry {
        year: u16,
        month: u8,
    }
}

shape_struct! {
    /// The facts of a card outside the vault, without a sealed holder: here a name is in clear, as
    /// the first programs wrote it, or is empty.
    CardFactsV1 of CardFacts {
        scheme: CardSchemeV1,
        first_digits: String,
        last_digits: String,
        expiry: CardExpiryV1,
        holder: String,
        fingerprint: [u8; 32],
    }
}

impl CardFactsV1 {
    /// Returns true when the shape holds all of the card.
    pub(super) const fn holds(card: &CardFacts) -> bool {
        !matches!(card.holder, CardHolder::Sealed(_))
    }
}

impl Shape<CardHolder> for String {
    fn write(holder: &CardHolder, _: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        match holder {
            CardHolder::InClear(name) => put(name.as_str(), out),
            CardHolder::Absent => put("", out),
            CardHolder::Sealed(_) => Err(Unreadable { reason: "a holder who is sealed has a later shape".to_owned() }),
        }
    }

    fn unpack(self, _: &dyn Personal) -> Result<CardHolder, ShapeError> {
        let is_absent = self.is_empty();
        Ok(if is_absent { CardHolder::Absent } else { CardHolder::InClear(HolderName::from_stored(self)) })
    }
}

/// The facts of a card outside the vault, with the holder sealed.
#[derive(Debug, Decode)]
pub(super) struct CardFactsV2 {
    scheme: CardSchemeV1,
    first_digits: String,
    last_digits: String,
    expiry: CardExpiryV1,
    holder: Vec<u8>,
    fingerprint: [u8; 32],
}

impl CardFactsV2 {
    /// Writes it with the holder sealed under the key of `subject`.
    fn seal(
        card: &CardFacts,
        subject: SubjectId,
        label: &'static str,
        personal: &mut dyn Personal,
        out: &mut Out,
    ) -> Result<(), Unreadable> {
        let CardFacts { scheme, first_digits, last_digits, expiry, holder, fingerprint } = card;
        let CardHolder::Sealed(name) = holder else {
            return Err(Unreadable { reason: "a holder who is not sealed has an earlier shape".to_owned() });
        };
        CardSchemeV1::write(scheme, personal, out)?;
        String::write(first_digits, personal, out)?;
        String::write(last_digits, personal, out)?;
        CardExpiryV1::write(expiry, personal, out)?;
        put(&personal.seal(subject, label, name.as_str())?, out)?;
        <[u8; 32]>::write(fingerprint, personal, out)
    }

    /// Opens the sealed holder; it is absent when its key was deleted.
    fn open(self, subject: SubjectId, label: &'static str, personal: &dyn Personal) -> Result<CardFacts, ShapeError> {
        let holder = personal.open(subject, label, &self.holder)?.map(HolderName::from_stored);
        Ok(CardFacts {
            scheme: self.scheme.unpack(personal)?,
            first_digits: self.first_digits.unpack(personal)?,
            last_digits: self.last_digits.unpack(personal)?,
            expiry: self.expiry.unpack(personal)?,
            holder: holder.map_or(CardHolder::Absent, CardHolder::Sealed),
            fingerprint: self.fingerprint.unpack(personal)?,
        })
    }
}

shape_enum! {
    /// The number of uses that a token allows.
    TokenUsageV1 of TokenUsage {
        Single,
        Multiple,
    }
}

shape_struct! {
    /// A tokenized card.
    TokenV1 of Token {
        id: [u8; 16],
        installation_id: [u8; 16],
        card: CardFactsV1,
        usage: TokenUsageV1,
        created_at: u64,
        expires_at: Option<u64>,
        used: bool,
    }
}

/// A tokenized card whose holder is sealed. The subject is the token.
#[derive(Debug, Decode)]
pub(super) struct TokenV2 {
    id: [u8; 16],
    installation_id: [u8; 16],
    card: CardFactsV2,
    usage: TokenUsageV1,
    created_at: u64,
    expires_at: Option<u64>,
    used: bool,
}

impl Shape<Token> for TokenV2 {
    fn write(token: &Token, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        let Token { id, installation_id, card, usage, created_at, expires_at, used } = token;
        <[u8; 16]>::write(id, personal, out)?;
        <[u8; 16]>::write(installation_id, personal, out)?;
        CardFactsV2::seal(card, SubjectId::token(*id), OF_TOKEN, personal, out)?;
        TokenUsageV1::write(usage, personal, out)?;
        u64::write(created_at, personal, out)?;
        Option::<u64>::write(expires_at, personal, out)?;
        bool::write(used, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Token, ShapeError> {
        let id: TokenId = self.id.unpack(personal)?;
        Ok(Token {
            id,
            installation_id: self.installation_id.unpack(personal)?,
            card: self.card.open(SubjectId::token(id), OF_TOKEN, personal)?,
            usage: self.usage.unpack(personal)?,
            created_at: self.created_at.unpack(personal)?,
            expires_at: self.expires_at.unpack(personal)?,
            used: self.used,
        })
    }
}

shape_struct! {
    /// The queue of an installation's tokens that wait for their first payment.
    TokenQueueV1 of TokenQueue {
        first: u64,
        next: u64,
    }
}

shape_struct! {
    /// The customer who used a token.
    TokenUseV1 of TokenUse {
        customer_id: Option<[u8; 16]>,
        older: Option<[u8; 16]>,
    }
}

/// A card that a customer saved.
#[derive(Debug, Decode)]
pub(super) struct CardV1 {
    id: [u8; 16],
    customer_id: [u8; 16],
    external_id: Option<String>,
    card: CardFactsV1,
    created_at: u64,
}

impl CardV1 {
    /// Returns true when the shape, or the second one, holds all of the card.
    pub(super) const fn holds_but_for_a_holder(card: &Card) -> bool {
        card.deleted_at.is_none()
    }
}

impl Shape<Card> for CardV1 {
    fn write(card: &Card, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        let Card { id, customer_id, external_id, card, created_at, deleted_at: _ } = card;
        <[u8; 16]>::write(id, personal, out)?;
        <[u8; 16]>::write(customer_id, personal, out)?;
        Option::<String>::write(external_id, personal, out)?;
        CardFactsV1::write(card, personal, out)?;
        u64::write(created_at, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Card, ShapeError> {
        Ok(Card {
            id: self.id.unpack(personal)?,
            customer_id: self.customer_id.unpack(personal)?,
            external_id: self.external_id.unpack(personal)?,
            card: self.card.unpack(personal)?,
            created_at: self.created_at.unpack(personal)?,
            deleted_at: None,
        })
    }
}

shape_struct! {
    /// A saved card that was forgotten, and has no holder any more.
    CardV3 of Card {
        id: [u8; 16],
        customer_id: [u8; 16],
        external_id: Option<String>,
        card: CardFactsV1,
        created_at: u64,
        deleted_at: Option<u64>,
    }
}

/// A card that a customer saved, its holder sealed. The subject is the customer.
#[derive(Debug, Decode)]
pub(super) struct CardV2 {
    id: [u8; 16],
    customer_id: [u8; 16],
    external_id: Option<String>,
    card: CardFactsV2,
    created_at: u64,
}

impl Shape<Card> for CardV2 {
    fn write(card: &Card, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        let Card { id, customer_id, external_id, card, created_at, deleted_at: _ } = card;
        <[u8; 16]>::write(id, personal, out)?;
        <[u8; 16]>::write(customer_id, personal, out)?;
        Option::<String>::write(external_id, personal, out)?;
        CardFactsV2::seal(card, SubjectId::customer(*customer_id), OF_CARD, personal, out)?;
        u64::write(created_at, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Card, ShapeError> {
        let id: CardId = self.id.unpack(personal)?;
        let customer_id: CustomerId = self.customer_id.unpack(personal)?;
        Ok(Card {
            id,
            customer_id,
            external_id: self.external_id.unpack(personal)?,
            card: self.card.open(SubjectId::customer(customer_id), OF_CARD, personal)?,
            created_at: self.created_at.unpack(personal)?,
            deleted_at: None,
        })
    }
}

shape_enum! {
    /// The instruction of the merchant to save the card of a payment.
    SaveCardV1 of SaveCard {
        Add,
        Default,
    }
}
