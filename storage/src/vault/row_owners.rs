//! The objects to which rows of the vault belong, as the keys of these rows name them.

use till_domain::acquirer::AccountSecret;
use till_domain::ids::{AcquirerId, CardId, CheckoutId, CustomerId, PaymentId, SessionId, TokenId, WebhookId};
use till_domain::webhook::SecretSlot;

/// The object that a sealed card number belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CardNumberOf {
    /// A token, until it is used up or swept.
    Token(TokenId),
    /// A customer's saved card, until it is forgotten.
    Card(CardId),
}

/// The kind of object that a person's data belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubjectKind {
    /// A customer.
    Customer,
    /// A payment session without a customer.
    Session,
    /// A payment without a customer.
    Payment,
    /// A card token: the name on the card is its holder's.
    Token,
    /// A checkout.
    Checkout,
    /// The acquirer's page for a payment: on it whoever has its address may pay.
    AcquirerPage,
}

/// The owner of personal data, within a merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubjectId {
    /// The kind of object.
    pub kind: SubjectKind,
    /// The bytes of its id.
    pub id: [u8; 16],
}

impl SubjectId {
    /// A customer as subject.
    #[must_use]
    pub const fn customer(id: CustomerId) -> SubjectId {
        SubjectId { kind: SubjectKind::Customer, id: id.to_bytes() }
    }

    /// A payment session as subject.
    #[must_use]
    pub const fn session(id: SessionId) -> SubjectId {
        SubjectId { kind: SubjectKind::Session, id: id.to_bytes() }
    }

    /// A payment as subject.
    #[must_use]
    pub const fn payment(id: PaymentId) -> SubjectId {
        SubjectId { kind: SubjectKind::Payment, id: id.to_bytes() }
    }

    /// A checkout as subject.
    #[must_use]
    pub const fn checkout(id: CheckoutId) -> SubjectId {
        SubjectId { kind: SubjectKind::Checkout, id: id.to_bytes() }
    }

    /// The acquirer's page for a payment as subject.
    #[must_use]
    pub const fn acquirer_page(id: PaymentId) -> SubjectId {
        SubjectId { kind: SubjectKind::AcquirerPage, id: id.to_bytes() }
    }

    /// A card token as subject.
    #[must_use]
    pub const fn token(id: TokenId) -> SubjectId {
        SubjectId { kind: SubjectKind::Token, id: id.to_bytes() }
    }
}

/// A secret of a webhook. The webhook's row has the slots of those that sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WebhookSecretOf {
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The slot of the secret.
    pub slot: SecretSlot,
}

/// A secret of an account at an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AccountSecretOf {
    /// The account.
    pub acquirer_id: AcquirerId,
    /// The kind of secret.
    pub secret: AccountSecret,
}
