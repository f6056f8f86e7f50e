//! Shapes of cards: tokens, saved cards, and the facts of either. They never contain a number.

use till_domain::card::{Card, CardAtAcquirer, CardExpiry, CardFacts, Token, TokenQueue, TokenUse};
use till_domain::records::Unreadable;

use crate::vault::SubjectId;

use super::codec::{Decode, Out, ShapeError};
use super::declared::shape_struct;
use super::personal::Personal;
use super::sealed::SealedShape;
use super::shape::Shape;
use super::tag::Tag;

shape_struct! {
    /// The last month in which a card is valid.
    CardExpiryV1 of CardExpiry {
        year: u16,
        month: u8,
    }
}

shape_struct! {
    /// A card that was entered at the acquirer.
    CardAtAcquirerV1 of CardAtAcquirer {
        scheme: Tag,
        last_digits: String,
        expiry: CardExpiryV1,
    }
}

/// The facts of a card outside the vault, with the holder sealed.
#[derive(Debug, Decode)]
pub(super) struct CardFactsV1 {
    facts: InstrumentCardV1,
    holder: Option<Vec<u8>>,
}

impl SealedShape<CardFacts> for CardFactsV1 {
    type Labels = &'static str;

    fn seal(
        card: &CardFacts,
        subject: SubjectId,
        label: &'static str,
        personal: &mut dyn Personal,
        out: &mut Out,
    ) -> Result<(), Unreadable> {
        InstrumentCardV1::write_facts(card, personal, out)?;
        Option::<Vec<u8>>::seal(&card.holder, subject, label, personal, out)
    }

    fn open(self, subject: SubjectId, label: &'static str, personal: &dyn Personal) -> Result<CardFacts, ShapeError> {
        let holder = self.holder.open(subject, label, personal)?;
        Ok(CardFacts { holder, ..self.facts.unpack(personal)? })
    }
}

/// The facts of the card of a session or a payment, which do not keep the holder.
#[derive(Debug, Decode)]
pub(super) struct InstrumentCardV1 {
    scheme: Tag,
    first_digits: String,
    last_digits: String,
    expiry: CardExpiryV1,
    fingerprint: [u8; 32],
}

impl InstrumentCardV1 {
    fn write_facts(card: &CardFacts, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        let CardFacts { scheme, first_digits, last_digits, expiry, holder: _, fingerprint } = card;
        Tag::write(scheme, personal, out)?;
        String::write(first_digits, personal, out)?;
        String::write(last_digits, personal, out)?;
        CardExpiryV1::write(expiry, personal, out)?;
        <[u8; 32]>::write(fingerprint, personal, out)
    }
}

impl Shape<CardFacts> for InstrumentCardV1 {
    fn write(card: &CardFacts, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        if card.holder.is_some() {
            return Err(Unreadable { reason: "the card of a session or payment keeps no holder".to_owned() });
        }
        InstrumentCardV1::write_facts(card, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<CardFacts, ShapeError> {
        Ok(CardFacts {
            scheme: self.scheme.unpack(personal)?,
            first_digits: self.first_digits.unpack(personal)?,
            last_digits: self.last_digits.unpack(personal)?,
            expiry: self.expiry.unpack(personal)?,
            holder: None,
            fingerprint: self.fingerprint.unpack(personal)?,
        })
    }
}

crate::shapes::shown::shown_struct! { CardFacts { scheme, first_digits, last_digits, expiry, holder, fingerprint } }

shape_struct! {
    /// A tokenized card. The subject of its holder is the token.
    TokenV1 of Token {
        id: [u8; 16],
        installation_id: [u8; 16],
        card: CardFactsV1 as "token.holder",
        usage: Tag,
        created_at: u64,
        expires_at: Option<u64>,
        used: bool,
    } sealed under SubjectId::token(*id)
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

shape_struct! {
    /// A card that a customer saved. The subject of its holder is the customer. One that was forgotten has no holder.
    CardV1 of Card {
        id: [u8; 16],
        customer_id: [u8; 16],
        external_id: Option<String>,
        card: CardFactsV1 as "card.holder",
        created_at: u64,
        deleted_at: Option<u64>,
    } sealed under SubjectId::customer(*customer_id)
}
