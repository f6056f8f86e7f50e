//! Shapes of cards: tokens, saved cards, and what is known of either. Never a number.

use till_domain::card::{Card, CardExpiry, CardFacts, CardScheme, SaveCard, Token, TokenQueue, TokenUsage};

use super::shape::{shape_enum, shape_struct};

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
    /// The last month in which a card is good.
    CardExpiryV1 of CardExpiry {
        year: u16,
        month: u8,
    }
}

shape_struct! {
    /// All that is known of a card outside the vault.
    CardFactsV1 of CardFacts {
        scheme: CardSchemeV1,
        first_digits: String,
        last_digits: String,
        expiry: CardExpiryV1,
        holder: String,
        fingerprint: [u8; 32],
    }
}

shape_enum! {
    /// For how many uses a token is.
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

shape_struct! {
    /// The queue of an installation's tokens that wait for their first payment.
    TokenQueueV1 of TokenQueue {
        first: u64,
        next: u64,
    }
}

shape_struct! {
    /// A card that a customer saved.
    CardV1 of Card {
        id: [u8; 16],
        customer_id: [u8; 16],
        external_id: Option<String>,
        card: CardFactsV1,
        created_at: u64,
    }
}

shape_enum! {
    /// What the merchant asked to become of the card of a payment.
    SaveCardV1 of SaveCard {
        Add,
        Default,
    }
}
