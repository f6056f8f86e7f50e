//! Names of rows, without anything personal or secret: ids and references in clear, digests cut short.

use std::fmt;

use serde::{Serialize, Serializer};
use till_domain::ids::{CheckoutId, CustomerId, PaymentId, SessionId, TokenId};
use till_domain::records::AnyKey;
use till_storage::family::Family;
use till_storage::keys::{HeadKey, JournalKey};
use till_storage::shapes::{KeyParts, TableKind, decode_key};
use till_storage::vault::{AccountSecretOf, CardNumberOf, SubjectId, SubjectKind, VaultKey, WebhookSecretOf};

/// Bytes shown of a digest, or of an unknown key.
const SHOWN_BYTES: usize = 4;

/// A row, by family and decoded key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowName {
    /// Its family.
    #[serde(serialize_with = "family")]
    pub family: Family,
    /// Its key within the merchant, such as `Payments(pay_01h2e8kqvbfwea724h75qc655w)`.
    #[serde(rename = "row")]
    pub key: String,
}

/// The name of a family, for programs.
pub(super) fn family<S: Serializer>(family: &Family, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(family.name())
}

/// The key of a row alone, for programs.
pub(super) fn key<S: Serializer>(row: &Option<RowName>, serializer: S) -> Result<S::Ok, S::Error> {
    row.as_ref().map(|row| &row.key).serialize(serializer)
}

impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.key, self.family)
    }
}

impl RowName {
    /// True when it is a row of the table.
    pub(super) fn is_of(&self, table: TableKind) -> bool {
        let arguments = self.key.strip_prefix(table.name());
        self.family == table.family() && arguments.is_some_and(|rest| rest.starts_with('('))
    }

    /// The name of the row under these bytes.
    pub(super) fn of(family: Family, key: &[u8]) -> RowName {
        let key = match family {
            Family::Rows | Family::Indexes | Family::Effects | Family::Timers | Family::Directory => {
                derived(family, key)
            }
            Family::Journal | Family::Snapshots => {
                JournalKey::decode(key).map(|key| format!("record {}", key.sequence))
            }
            Family::Vault => VaultKey::decode(key).map(of_vault),
            Family::Meta => HeadKey::decode(key).map(|key| format!("head of {}", key.0)),
        }
        .unwrap_or_else(|| format!("a key of {} bytes, {}", key.len(), cut_short(key)));
        RowName { family, key }
    }
}

fn derived(family: Family, key: &[u8]) -> Option<String> {
    let (_, parts) = decode_key(family, key).ok()?;
    Some(match parts {
        KeyParts::AppliedPosition => "the applied position".to_owned(),
        KeyParts::Row(AnyKey::KeyDirectory(digest)) => {
            format!("{}({})", TableKind::KeyDirectory.name(), cut_short(&digest.0))
        }
        KeyParts::Row(key) => format!("{key:?}"),
        KeyParts::Digest { table, digest } => format!("{}({})", table.name(), cut_short(&digest)),
    })
}

fn of_vault(key: VaultKey) -> String {
    match key {
        VaultKey::Keyring => "the key ring".to_owned(),
        VaultKey::CardNumber { merchant: _, of: CardNumberOf::Token(id) } => format!("card number of {id}"),
        VaultKey::CardNumber { merchant: _, of: CardNumberOf::Card(id) } => format!("card number of {id}"),
        VaultKey::SubjectKey { merchant: _, subject } => format!("key of {}", of_subject(subject)),
        VaultKey::ApiKeySecret { merchant: _, key } => format!("text of {key}"),
        VaultKey::WebhookSecret { merchant: _, of: WebhookSecretOf { webhook_id, slot: _ } } => {
            format!("secret of {webhook_id}")
        }
        VaultKey::AccountSecret { merchant: _, of: AccountSecretOf { acquirer_id, secret: _ } } => {
            format!("secret of {acquirer_id}")
        }
        VaultKey::Credentials { merchant: _, user } => format!("credentials of {user}"),
    }
}

fn of_subject(subject: SubjectId) -> String {
    match subject.kind {
        SubjectKind::Customer => CustomerId::from_bytes(subject.id).to_string(),
        SubjectKind::Session => SessionId::from_bytes(subject.id).to_string(),
        SubjectKind::Payment | SubjectKind::AcquirerPage => PaymentId::from_bytes(subject.id).to_string(),
        SubjectKind::Token => TokenId::from_bytes(subject.id).to_string(),
        SubjectKind::Checkout => CheckoutId::from_bytes(subject.id).to_string(),
    }
}

fn cut_short(bytes: &[u8]) -> String {
    let shown: String = bytes.iter().take(SHOWN_BYTES).map(|byte| format!("{byte:02x}")).collect();
    format!("{shown}..")
}
