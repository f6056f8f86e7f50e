//! The vault: data that must be secret on disk, and data that must be deletable without breaking a log.
//!
//! Everything here turns values into bytes and back; except for the key ring's row, none of it reads a store. The bytes
//! are rows of the `vault` column family under [`VaultKey`]s, written in the same batch as the records they belong to,
//! and never derived from the log: a card number or a person is forgotten by deleting a row.
//!
//! One root key ([`RootKey`], the setting `TILL_VAULT_KEY`) wraps the [`Keyring`], the random keys of each
//! purpose; those seal card numbers, kept API keys and the keys of single persons ([`SubjectKey`]). A sealed
//! row names its own key as associated data, so that it opens under that key only.

mod browser_seals;
mod card_number;
mod card_numbers;
mod credentials;
mod keyring;
mod root_key;
mod row_owners;
mod sealed;
mod secret_texts;
mod stored_keyring;
mod subjects;
mod vault_key;
mod webhook_secrets;

pub use card_number::{CardNumber, CardNumberError};
pub use credentials::Credentials;
pub use keyring::{AddressKind, Keyring, KeyringError, LookupKind};
pub use root_key::{RootKey, RootKeyError};
pub use row_owners::{AccountSecretOf, CardNumberOf, SubjectId, SubjectKind, WebhookSecretOf};
pub use sealed::{NoRandomness, SealedError};
pub use secret_texts::ACCOUNT_SECRET_MAX_BYTES;
pub use stored_keyring::{keyring_write, stored_keyring};
pub use subjects::SubjectKey;
pub use vault_key::VaultKey;
pub use webhook_secrets::{WEBHOOK_SECRET_LEN, WebhookSecretBytes};
