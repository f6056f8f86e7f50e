//! Keys of the `vault` column family.
//!
//! Every key is 33 bytes, `merchant (16) | kind (1) | id (16)`, so that one merchant's rows are one contiguous
//! range, and byte order is merchant, then kind, then age. The key ring belongs to no merchant: its merchant
//! and id are zero.
//!
//! | kind | row | id | value |
//! |---|---|---|---|
//! | 0 | the key ring | zero | see `keyring.rs`, 614 bytes |
//! | 1 | card number of a token | token | sealed row of 12 to 19 digits, 53 to 60 bytes |
//! | 2 | card number of a saved card | card | sealed row of 12 to 19 digits, 53 to 60 bytes |
//! | 3 | key of a customer | customer | sealed row of 32 bytes, 73 bytes |
//! | 4 | key of a payment session without a customer | session | sealed row of 32 bytes, 73 bytes |
//! | 5 | key of a payment without a customer | payment | sealed row of 32 bytes, 73 bytes |
//! | 6 | an API key kept for a replay of the call that made it | API key uid | sealed row of its text, + 41 bytes |
//! | 7 | key of a card token, for the name on the card | token | sealed row of 32 bytes, 73 bytes |
//! | 8, 9, 10, 11 | secret of a webhook in the first, second, third or fourth slot | webhook | sealed row of 64 bytes, 105 bytes |
//! | 12 | key of a checkout, for its customer fields | checkout | sealed row of 32 bytes, 73 bytes |
//! | 13 | secret for calls of an account at an acquirer | account | sealed row of its text, + 41 bytes |
//! | 14 | secret for notices of an account at an acquirer | account | sealed row of its text, + 41 bytes |
//! | 15 | key of the acquirer's page for a payment, for its address | payment | sealed row of 32 bytes, 73 bytes |
//! | 16 | credentials of a member of the team | user | sealed row of 389 bytes, see `credentials.rs`, 430 bytes |
//!
//! The shape of a sealed row is described in `sealed.rs`; its associated data is the row's key as above.

use till_domain::acquirer::AccountSecret;
use till_domain::ids::{
    AcquirerId, CardId, CheckoutId, CustomerId, KeyId, MerchantId, PaymentId, SessionId, TokenId, UserId, WebhookId,
};
use till_domain::webhook::SecretSlot;

use super::row_owners::{AccountSecretOf, CardNumberOf, SubjectId, SubjectKind, WebhookSecretOf};

const KEYRING: u8 = 0;
const TOKEN_CARD_NUMBER: u8 = 1;
const SAVED_CARD_NUMBER: u8 = 2;
const CUSTOMER_KEY: u8 = 3;
const SESSION_KEY: u8 = 4;
const PAYMENT_KEY: u8 = 5;
const API_KEY_SECRET: u8 = 6;
const TOKEN_KEY: u8 = 7;
const FIRST_WEBHOOK_SECRET: u8 = 8;
const SECOND_WEBHOOK_SECRET: u8 = 9;
const THIRD_WEBHOOK_SECRET: u8 = 10;
const FOURTH_WEBHOOK_SECRET: u8 = 11;
const CHECKOUT_KEY: u8 = 12;
const ACCOUNT_SECRET_FOR_CALLS: u8 = 13;
const ACCOUNT_SECRET_FOR_NOTICES: u8 = 14;
const PAGE_KEY: u8 = 15;
const CREDENTIALS: u8 = 16;

/// The key of a row of the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VaultKey {
    /// The wrapped keys of each purpose: the one row without a merchant.
    Keyring,
    /// The card number of a token or a saved card.
    CardNumber {
        /// The merchant that the token or card belongs to.
        merchant: MerchantId,
        /// The token or card.
        of: CardNumberOf,
    },
    /// The wrapped key under which one person's data is sealed.
    SubjectKey {
        /// The merchant whose customer, session, payment, card token, checkout or page it is.
        merchant: MerchantId,
        /// The customer, session, payment, card token, checkout or page.
        subject: SubjectId,
    },
    /// An API key in sealed form, kept while the answer of the call that made it may be replayed.
    ApiKeySecret {
        /// The merchant that the API key belongs to.
        merchant: MerchantId,
        /// The uid of the API key.
        key: KeyId,
    },
    /// The secret that signs the deliveries of a webhook.
    WebhookSecret {
        /// The merchant that the webhook belongs to.
        merchant: MerchantId,
        /// The webhook, and the slot of the secret.
        of: WebhookSecretOf,
    },
    /// A secret of an account at an acquirer.
    AccountSecret {
        /// The merchant whose account it is.
        merchant: MerchantId,
        /// The account, and the kind of secret.
        of: AccountSecretOf,
    },
    /// What a member of the team signs in with.
    Credentials {
        /// The merchant whose team it is.
        merchant: MerchantId,
        /// The member.
        user: UserId,
    },
}

impl VaultKey {
    /// Bytes of every key.
    pub const LEN: usize = 1 + 16 + 16;

    /// The key as it is stored on disk.
    #[must_use]
    pub fn encode(self) -> [u8; Self::LEN] {
        match self {
            VaultKey::Keyring => [KEYRING; Self::LEN],
            VaultKey::CardNumber { merchant, of: CardNumberOf::Token(token) } => {
                key_bytes(TOKEN_CARD_NUMBER, merchant, token.to_bytes())
            }
            VaultKey::CardNumber { merchant, of: CardNumberOf::Card(card) } => {
                key_bytes(SAVED_CARD_NUMBER, merchant, card.to_bytes())
            }
            VaultKey::SubjectKey { merchant, subject } => {
                key_bytes(subject_kind_byte(subject.kind), merchant, subject.id)
            }
            VaultKey::ApiKeySecret { merchant, key } => key_bytes(API_KEY_SECRET, merchant, key.to_bytes()),
            VaultKey::WebhookSecret { merchant, of: WebhookSecretOf { webhook_id, slot } } => {
                key_bytes(slot_kind_byte(slot), merchant, webhook_id.to_bytes())
            }
            VaultKey::AccountSecret { merchant, of: AccountSecretOf { acquirer_id, secret } } => {
                key_bytes(account_secret_byte(secret), merchant, acquirer_id.to_bytes())
            }
            VaultKey::Credentials { merchant, user } => key_bytes(CREDENTIALS, merchant, user.to_bytes()),
        }
    }

    /// The key with these bytes, or none when no version of this program so far has written them.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<VaultKey> {
        let (merchant, rest) = bytes.split_first_chunk::<16>()?;
        let (kind, id) = rest.split_first()?;
        let id = <[u8; 16]>::try_from(id).ok()?;
        let of = |of| VaultKey::CardNumber { merchant: MerchantId::from_bytes(*merchant), of };
        let of_subject = |subject| VaultKey::SubjectKey { merchant: MerchantId::from_bytes(*merchant), subject };
        let of_webhook = |slot| {
            let of = WebhookSecretOf { webhook_id: WebhookId::from_bytes(id), slot };
            Some(VaultKey::WebhookSecret { merchant: MerchantId::from_bytes(*merchant), of })
        };
        let of_account = |secret| {
            let of = AccountSecretOf { acquirer_id: AcquirerId::from_bytes(id), secret };
            Some(VaultKey::AccountSecret { merchant: MerchantId::from_bytes(*merchant), of })
        };
        match *kind {
            KEYRING => (bytes == [KEYRING; Self::LEN]).then_some(VaultKey::Keyring),
            TOKEN_CARD_NUMBER => Some(of(CardNumberOf::Token(TokenId::from_bytes(id)))),
            SAVED_CARD_NUMBER => Some(of(CardNumberOf::Card(CardId::from_bytes(id)))),
            CUSTOMER_KEY => Some(of_subject(SubjectId::customer(CustomerId::from_bytes(id)))),
            SESSION_KEY => Some(of_subject(SubjectId::session(SessionId::from_bytes(id)))),
            PAYMENT_KEY => Some(of_subject(SubjectId::payment(PaymentId::from_bytes(id)))),
            TOKEN_KEY => Some(of_subject(SubjectId::token(TokenId::from_bytes(id)))),
            API_KEY_SECRET => {
                Some(VaultKey::ApiKeySecret { merchant: MerchantId::from_bytes(*merchant), key: KeyId::from_bytes(id) })
            }
            FIRST_WEBHOOK_SECRET => of_webhook(SecretSlot::First),
            SECOND_WEBHOOK_SECRET => of_webhook(SecretSlot::Second),
            THIRD_WEBHOOK_SECRET => of_webhook(SecretSlot::Third),
            FOURTH_WEBHOOK_SECRET => of_webhook(SecretSlot::Fourth),
            CHECKOUT_KEY => Some(of_subject(SubjectId::checkout(CheckoutId::from_bytes(id)))),
            ACCOUNT_SECRET_FOR_CALLS => of_account(AccountSecret::Calls),
            ACCOUNT_SECRET_FOR_NOTICES => of_account(AccountSecret::Notices),
            PAGE_KEY => Some(of_subject(SubjectId::acquirer_page(PaymentId::from_bytes(id)))),
            CREDENTIALS => {
                let (merchant, user) = (MerchantId::from_bytes(*merchant), UserId::from_bytes(id));
                Some(VaultKey::Credentials { merchant, user })
            }
            _ => None,
        }
    }
}

const _: () = assert!(VaultKey::LEN == 33, "on disk since format 1: a change needs new key kinds");
const _: () = assert!(KEYRING == 0, "the key ring's key is the kind repeated, and documented as zeros");

fn subject_kind_byte(kind: SubjectKind) -> u8 {
    match kind {
        SubjectKind::Customer => CUSTOMER_KEY,
        SubjectKind::Session => SESSION_KEY,
        SubjectKind::Payment => PAYMENT_KEY,
        SubjectKind::Token => TOKEN_KEY,
        SubjectKind::Checkout => CHECKOUT_KEY,
        SubjectKind::AcquirerPage => PAGE_KEY,
    }
}

const fn slot_kind_byte(slot: SecretSlot) -> u8 {
    match slot {
        SecretSlot::First => FIRST_WEBHOOK_SECRET,
        SecretSlot::Second => SECOND_WEBHOOK_SECRET,
        SecretSlot::Third => THIRD_WEBHOOK_SECRET,
        SecretSlot::Fourth => FOURTH_WEBHOOK_SECRET,
    }
}

const fn account_secret_byte(secret: AccountSecret) -> u8 {
    match secret {
        AccountSecret::Calls => ACCOUNT_SECRET_FOR_CALLS,
        AccountSecret::Notices => ACCOUNT_SECRET_FOR_NOTICES,
    }
}

fn key_bytes(kind: u8, merchant: MerchantId, id: [u8; 16]) -> [u8; VaultKey::LEN] {
    let mut key = [0; VaultKey::LEN];
    key[..16].copy_from_slice(&merchant.to_bytes());
    key[16] = kind;
    key[17..].copy_from_slice(&id);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    const MERCHANT: MerchantId = MerchantId::from_bytes([0xaa; 16]);

    fn one_of_each_kind() -> [VaultKey; 17] {
        let webhook_id = WebhookId::from_bytes([0xbb; 16]);
        let of_webhook =
            |slot| VaultKey::WebhookSecret { merchant: MERCHANT, of: WebhookSecretOf { webhook_id, slot } };
        let acquirer_id = AcquirerId::from_bytes([0xbb; 16]);
        let of_account =
            |secret| VaultKey::AccountSecret { merchant: MERCHANT, of: AccountSecretOf { acquirer_id, secret } };
        let of = |of| VaultKey::CardNumber { merchant: MERCHANT, of };
        let of_subject = |subject| VaultKey::SubjectKey { merchant: MERCHANT, subject };
        [
            VaultKey::Keyring,
            of(CardNumberOf::Token(TokenId::from_bytes([0xbb; 16]))),
            of(CardNumberOf::Card(CardId::from_bytes([0xbb; 16]))),
            of_subject(SubjectId::customer(CustomerId::from_bytes([0xbb; 16]))),
            of_subject(SubjectId::session(SessionId::from_bytes([0xbb; 16]))),
            of_subject(SubjectId::payment(PaymentId::from_bytes([0xbb; 16]))),
            VaultKey::ApiKeySecret { merchant: MERCHANT, key: KeyId::from_bytes([0xbb; 16]) },
            of_subject(SubjectId::token(TokenId::from_bytes([0xbb; 16]))),
            of_webhook(SecretSlot::First),
            of_webhook(SecretSlot::Second),
            of_webhook(SecretSlot::Third),
            of_webhook(SecretSlot::Fourth),
            of_subject(SubjectId::checkout(CheckoutId::from_bytes([0xbb; 16]))),
            of_account(AccountSecret::Calls),
            of_account(AccountSecret::Notices),
            of_subject(SubjectId::acquirer_page(PaymentId::from_bytes([0xbb; 16]))),
            VaultKey::Credentials { merchant: MERCHANT, user: UserId::from_bytes([0xbb; 16]) },
        ]
    }

    #[test]
    fn the_bytes_of_every_kind_are_those_on_disk_since_format_1() {
        for (kind, key) in (0_u8..).zip(one_of_each_kind()) {
            let mut expected = if kind == 0 { vec![0; 16] } else { vec![0xaa; 16] };
            expected.push(kind);
            expected.extend(if kind == 0 { [0; 16] } else { [0xbb; 16] });
            assert_eq!(key.encode().as_slice(), expected, "{key:?}");
        }
    }

    #[test]
    fn every_kind_reads_back_as_it_was_written() {
        for key in one_of_each_kind() {
            assert_eq!(VaultKey::decode(&key.encode()), Some(key));
        }
    }

    #[test]
    fn other_kinds_and_lengths_and_an_owned_key_ring_are_not_keys() {
        let mut unknown = one_of_each_kind()[1].encode();
        unknown[16] = 17;
        let mut owned_keyring = VaultKey::Keyring.encode();
        owned_keyring[20] = 1;
        let key = one_of_each_kind()[1].encode();
        let longer = [key.as_slice(), &[0]].concat();
        for bytes in [&unknown[..], &owned_keyring, &key[..32], &longer, &[], &[0]] {
            assert_eq!(VaultKey::decode(bytes), None, "{bytes:?}");
        }
    }
}
