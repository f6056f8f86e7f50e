//! Keys of rows. Integers and ids are big-endian, so that the order of bytes is theirs.
//!
//! Below a merchant every key is `merchant (16) | table (1) | rest`; in the family directory, which is of all
//! merchants, `table (1) | rest`. A text stands last, exactly and to the end of the key, so that it needs no
//! terminator. Customers' e-mail addresses and mobile numbers are 32-byte keyed digests.
//!
//! | table | family | rest (bytes) | length | value |
//! |---|---|---|---|---|
//! | 0 the applied position, see [`crate::keys`] | rows | | 17 | head |
//! | 1 profile | rows | | 17 | `ProfileV1` |
//! | 2 API keys | rows | key (16) | 33 | `ApiKeyV1` |
//! | 3 installations | rows | installation (16) | 33 | `InstallationV1` |
//! | 4 integrations | rows | payment method (1): 0 card, 1 instalments | 18 | `IntegrationV1` |
//! | 5 balance | rows | | 17 | `BalanceTotalsV1` |
//! | 6 tokens | rows | token (16) | 33 | `TokenV1` |
//! | 7 sessions | rows | session (16) | 33 | `SessionV1` |
//! | 8 payments | rows | payment (16) | 33 | `PaymentV1` |
//! | 9 customers | rows | customer (16) | 33 | `CustomerV1` |
//! | 10 cards | rows | card (16) | 33 | `CardV1` |
//! | 11 top-ups | rows | top-up (16) | 33 | `TopupV1` |
//! | 12 transactions | rows | transaction (16) | 33 | `TransactionV1` |
//! | 13 entries on the balance | rows | entry (16) | 33 | `EntryV1` |
//! | 14 activities | rows | activity (16) | 33 | `ActivityV1` |
//! | 15 kept answers | rows | 0 or 1 (1), installation or zeros (16), length (2) and text of the endpoint, Idempotency-Key | | `StoredAnswerV1` |
//! | 16 users | rows | user (16) | 33 | `UserV1` |
//! | 17 invitations | rows | invitation (16) | 33 | `InvitationV1` |
//! | 18 current plan | rows | | 17 | `PlanChoiceV1` |
//! | 20 metadata records | rows | key, text | | `MetadataRecordV1` |
//! | 21 documents of metadata records | rows | record (16) | 33 | text |
//! | 22 counters of sets of metadata records | rows | record (16), set (4) | 37 | `MetadataSetV1` |
//! | 23 items of sets by hash | rows | record (16), set (4), BLAKE3 of the item (32) | 69 | position |
//! | 24 items of sets by position | rows | record (16), set (4), position (8) | 45 | text |
//! | 25 queues of tokens that wait for their first payment | rows | installation (16) | 33 | `TokenQueueV1` |
//! | 32 payments by external id | indexes | text | | payment (16) |
//! | 33 customers by external id | indexes | text | | customer (16) |
//! | 34 customers by e-mail | indexes | digest (32) | 49 | customer (16) |
//! | 35 customers by mobile | indexes | digest (32) | 49 | customer (16) |
//! | 36 cards by external id | indexes | text | | card (16) |
//! | 37 cards by fingerprint | indexes | customer (16), fingerprint (32) | 65 | card (16) |
//! | 38 top-ups by external id | indexes | text | | top-up (16) |
//! | 39 activities by type | indexes | type (1), activity (16) | 34 | nothing |
//! | 40 activities by actor's key | indexes | key (16), activity (16) | 49 | nothing |
//! | 41 activities by actor's e-mail | indexes | length (1) and text, activity (16) | | nothing |
//! | 42 activities by team member's e-mail | indexes | length (1) and text, activity (16) | | nothing |
//! | 43 activities by object | indexes | kind (1): 0 payment, 1 refund, 2 dispute, 3 payout, 4 merchant, id (16), activity (16) | 50 | nothing |
//! | 44 activities by parent | indexes | payment (16), activity (16) | 49 | nothing |
//! | 45 e-mail addresses of activities | indexes | text | | `EmailUseV1` |
//! | 46 tokens in these queues | indexes | installation (16), position (8) | 41 | token (16) |
//! | 48 metadata records by creation | indexes | record (16) | 33 | key, text |
//! | 64 open effects | effects | payment (16) | 33 | `EffectV1` |
//! | 65 timers | timers | due in ms (8), kind (1): 0 settle, 1 lapse, 16 metadata expires, transaction, payment or record (16) | 42 | nothing |
//! | 66 metadata records with sets to be swept | timers | record (16) | 33 | the sets below this number (4) |
//! | 96 API keys of all merchants | directory | digest (32) | 33 | `KeyOwnerV1` |
//! | 97 all merchants | directory | merchant (16) | 17 | since when, ms |
//! | 98 calls that created merchants | directory | Idempotency-Key | | `CreatedMerchantV1` |
//!
//! Every value has a format byte in front, see [`super::encode_row`].

use till_domain::card::CardFingerprint;
use till_domain::command::IdempotencyScope;
use till_domain::effect::{Timer, TimerKind};
use till_domain::ids::{CustomerId, InstallationId, MerchantId, MetadataId, PaymentId, TransactionId};
use till_domain::key::KeyDigest;
use till_domain::merchant::PaymentMethod;
use till_domain::metadata::{ItemHash, SetNumber};
use till_domain::records::{AnyKey, AnyRow, Single};
use till_domain::text::{Email, ExternalId, IdempotencyKey, MetadataKey};
use till_domain::time::Millis;

use crate::family::Family;
use crate::keys::{FIRST_TYPED_TABLE, KeyRange, MERCHANT_LEN};

use super::activity_keys::{
    ActivityIndex, decode_email, decode_id, decode_index, decode_object, decode_type, push_index,
};
use super::personal::Personal;

const ID_LEN: usize = 16;
const DIGEST_LEN: usize = 32;
const TABLE_LEN: usize = 1;
/// Bytes in front of every key below a merchant: merchant and table.
const HEAD_LEN: usize = MERCHANT_LEN + TABLE_LEN;
const TIMER_LEN: usize = HEAD_LEN + 8 + 1 + ID_LEN;
const SET_LEN: usize = 4;
const POSITION_LEN: usize = 8;

const _: () = assert!(HEAD_LEN == 17, "on disk since format 1: a change needs new tables");
const _: () = assert!(HEAD_LEN + ID_LEN == 33, "on disk since format 1: a change needs new tables");
const _: () = assert!(HEAD_LEN + DIGEST_LEN == 49, "on disk since format 1: a change needs new tables");
const _: () = assert!(HEAD_LEN + ID_LEN + DIGEST_LEN == 65, "on disk since format 1: a change needs new tables");
const _: () = assert!(TIMER_LEN == 42, "on disk since format 1: a change needs new tables");
const _: () = assert!(HEAD_LEN + ID_LEN + SET_LEN == 37, "on disk since format 1: a change needs new tables");
const _: () =
    assert!(HEAD_LEN + ID_LEN + SET_LEN + DIGEST_LEN == 69, "on disk since format 1: a change needs new tables");
const _: () =
    assert!(HEAD_LEN + ID_LEN + SET_LEN + POSITION_LEN == 45, "on disk since format 1: a change needs new tables");
const _: () = assert!(HEAD_LEN + ID_LEN + POSITION_LEN == 41, "on disk since format 1: a change needs new tables");
const _: () = assert!(FIRST_TYPED_TABLE == 1, "table 0 is the applied position's");

/// Declares the tables with their bytes and families.
macro_rules! table_kinds {
    ($($name:ident = $tag:literal in $family:ident;)+) => {
        /// A kind of rows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum TableKind {
            $(
                #[doc = concat!("[`till_domain::records::", stringify!($name), "`]")]
                $name,
            )+
        }

        impl TableKind {
            /// Every kind, in the order of its bytes.
            pub const ALL: &[TableKind] = &[$(TableKind::$name),+];

            /// The byte on disk.
            #[must_use]
            pub const fn tag(self) -> u8 {
                match self {
                    $(TableKind::$name => $tag,)+
                }
            }

            /// Where its rows stand.
            #[must_use]
            pub const fn family(self) -> Family {
                match self {
                    $(TableKind::$name => Family::$family,)+
                }
            }

            /// The name of the table.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(TableKind::$name => stringify!($name),)+
                }
            }

            /// The kind with this byte, if there is one.
            #[must_use]
            pub const fn from_tag(tag: u8) -> Option<TableKind> {
                match tag {
                    $($tag => Some(TableKind::$name),)+
                    _ => None,
                }
            }

            /// Of which kind a key is.
            #[must_use]
            pub const fn of(key: &AnyKey) -> TableKind {
                match key {
                    $(AnyKey::$name(_) => TableKind::$name,)+
                }
            }

            /// Of which kind a row is.
            #[must_use]
            pub const fn of_row(row: &AnyRow) -> TableKind {
                match row {
                    $(AnyRow::$name(_) => TableKind::$name,)+
                }
            }
        }
    };
}

table_kinds! {
    Profiles = 1 in Rows;
    ApiKeys = 2 in Rows;
    Installations = 3 in Rows;
    Integrations = 4 in Rows;
    Balances = 5 in Rows;
    Tokens = 6 in Rows;
    Sessions = 7 in Rows;
    Payments = 8 in Rows;
    Customers = 9 in Rows;
    Cards = 10 in Rows;
    Topups = 11 in Rows;
    Transactions = 12 in Rows;
    Entries = 13 in Rows;
    Activities = 14 in Rows;
    Answers = 15 in Rows;
    Users = 16 in Rows;
    Invitations = 17 in Rows;
    CurrentPlan = 18 in Rows;
    Metadata = 20 in Rows;
    MetadataDocuments = 21 in Rows;
    MetadataSets = 22 in Rows;
    MetadataItems = 23 in Rows;
    MetadataPositions = 24 in Rows;
    TokenQueues = 25 in Rows;
    PaymentsByExternalId = 32 in Indexes;
    CustomersByExternalId = 33 in Indexes;
    CustomersByEmail = 34 in Indexes;
    CustomersByMobile = 35 in Indexes;
    CardsByExternalId = 36 in Indexes;
    CardsByFingerprint = 37 in Indexes;
    TopupsByExternalId = 38 in Indexes;
    ActivitiesByType = 39 in Indexes;
    ActivitiesByActorKey = 40 in Indexes;
    ActivitiesByActorEmail = 41 in Indexes;
    ActivitiesByUserEmail = 42 in Indexes;
    ActivitiesByObject = 43 in Indexes;
    ActivitiesByParent = 44 in Indexes;
    ActivityEmails = 45 in Indexes;
    QueuedTokens = 46 in Indexes;
    MetadataByCreation = 48 in Indexes;
    Effects = 64 in Effects;
    Timers = 65 in Timers;
    MetadataGarbage = 66 in Timers;
    KeyDirectory = 96 in Directory;
    MerchantDirectory = 97 in Directory;
    CreatedMerchants = 98 in Directory;
}

impl TableKind {
    /// Whether its keys begin with a merchant.
    #[must_use]
    pub fn is_below_a_merchant(self) -> bool {
        self.family() != Family::Directory
    }

    /// What its keys begin with.
    fn head(self, merchant: MerchantId) -> Vec<u8> {
        let mut key = Vec::with_capacity(HEAD_LEN + DIGEST_LEN);
        self.push_head(merchant, &mut key);
        key
    }

    fn push_head(self, merchant: MerchantId, bytes: &mut Vec<u8>) {
        if self.is_below_a_merchant() {
            bytes.extend_from_slice(&merchant.to_bytes());
        }
        bytes.push(self.tag());
    }
}

/// Where the row under `key` of a merchant stands. `personal` is that merchant's.
#[must_use]
pub fn row_key(merchant: MerchantId, key: &AnyKey, personal: &dyn Personal) -> (Family, Vec<u8>) {
    let mut bytes = Vec::with_capacity(HEAD_LEN + DIGEST_LEN);
    let family = push_row_key(merchant, key, personal, &mut bytes);
    (family, bytes)
}

/// As [`row_key`], pushed to bytes that are there.
pub fn push_row_key(merchant: MerchantId, key: &AnyKey, personal: &dyn Personal, bytes: &mut Vec<u8>) -> Family {
    let table = TableKind::of(key);
    table.push_head(merchant, bytes);
    push_rest(key, personal, bytes);
    table.family()
}

fn push_rest(key: &AnyKey, personal: &dyn Personal, bytes: &mut Vec<u8>) {
    match key {
        AnyKey::Profiles(Single) | AnyKey::Balances(Single) | AnyKey::CurrentPlan(Single) => {}
        AnyKey::ApiKeys(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Installations(id) | AnyKey::TokenQueues(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::QueuedTokens((id, position)) => {
            bytes.extend_from_slice(&id.to_bytes());
            bytes.extend_from_slice(&position.to_be_bytes());
        }
        AnyKey::Integrations(method) => bytes.push(method_byte(*method)),
        AnyKey::Tokens(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Sessions(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Payments(id) | AnyKey::Effects(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Customers(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Cards(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Topups(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Transactions(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Entries(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Activities(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Users(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Invitations(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::MerchantDirectory(id) => bytes.extend_from_slice(&id.to_bytes()),
        AnyKey::Answers(scope) => push_scope(scope, bytes),
        AnyKey::Timers(timer) => push_timer(*timer, bytes),
        AnyKey::PaymentsByExternalId(text)
        | AnyKey::CustomersByExternalId(text)
        | AnyKey::CardsByExternalId(text)
        | AnyKey::TopupsByExternalId(text) => bytes.extend_from_slice(text.as_str().as_bytes()),
        AnyKey::CustomersByEmail(email) => bytes.extend_from_slice(&personal.email_digest(email)),
        AnyKey::CustomersByMobile(mobile) => bytes.extend_from_slice(&personal.mobile_digest(mobile)),
        AnyKey::CardsByFingerprint((customer_id, fingerprint)) => {
            bytes.extend_from_slice(&customer_id.to_bytes());
            bytes.extend_from_slice(&fingerprint.0);
        }
        AnyKey::ActivitiesByType((value, id)) => push_index(&ActivityIndex::Type(*value), *id, bytes),
        AnyKey::ActivitiesByActorKey((value, id)) => push_index(&ActivityIndex::ActorKey(*value), *id, bytes),
        AnyKey::ActivitiesByActorEmail((value, id)) => {
            push_index(&ActivityIndex::ActorEmail(value.clone()), *id, bytes);
        }
        AnyKey::ActivitiesByUserEmail((value, id)) => push_index(&ActivityIndex::UserEmail(value.clone()), *id, bytes),
        AnyKey::ActivitiesByObject((value, id)) => push_index(&ActivityIndex::Object(*value), *id, bytes),
        AnyKey::ActivitiesByParent((value, id)) => push_index(&ActivityIndex::Parent(*value), *id, bytes),
        AnyKey::ActivityEmails(email) => bytes.extend_from_slice(email.as_str().as_bytes()),
        AnyKey::KeyDirectory(digest) => bytes.extend_from_slice(&digest.0),
        AnyKey::CreatedMerchants(text) => bytes.extend_from_slice(text.as_str().as_bytes()),
        AnyKey::Metadata(text) => bytes.extend_from_slice(text.as_str().as_bytes()),
        AnyKey::MetadataDocuments(id) | AnyKey::MetadataByCreation(id) | AnyKey::MetadataGarbage(id) => {
            bytes.extend_from_slice(&id.to_bytes());
        }
        AnyKey::MetadataSets((id, number)) => push_set(*id, *number, bytes),
        AnyKey::MetadataItems((id, number, hash)) => {
            push_set(*id, *number, bytes);
            bytes.extend_from_slice(&hash.0);
        }
        AnyKey::MetadataPositions((id, number, position)) => {
            push_set(*id, *number, bytes);
            bytes.extend_from_slice(&position.to_be_bytes());
        }
    }
}

fn push_set(id: MetadataId, number: SetNumber, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&id.to_bytes());
    bytes.extend_from_slice(&number.0.to_be_bytes());
}

fn push_scope(scope: &IdempotencyScope, bytes: &mut Vec<u8>) {
    let IdempotencyScope { installation_id, endpoint, key } = scope;
    bytes.push(u8::from(installation_id.is_some()));
    bytes.extend_from_slice(&installation_id.map_or([0; ID_LEN], InstallationId::to_bytes));
    let length = u16::try_from(endpoint.len()).expect("an endpoint is named by this program, in a few words");
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(endpoint.as_bytes());
    bytes.extend_from_slice(key.as_str().as_bytes());
}

fn push_timer(timer: Timer, bytes: &mut Vec<u8>) {
    let (kind, id) = match timer.kind {
        TimerKind::Settle(transaction_id) => (0, transaction_id.to_bytes()),
        TimerKind::Lapse(payment_id) => (1, payment_id.to_bytes()),
        TimerKind::ExpireMetadata(id) => (16, id.to_bytes()),
    };
    bytes.extend_from_slice(&timer.due.0.to_be_bytes());
    bytes.push(kind);
    bytes.extend_from_slice(&id);
}

const fn method_byte(method: PaymentMethod) -> u8 {
    match method {
        PaymentMethod::Card => 0,
        PaymentMethod::Installment => 1,
    }
}

/// The keys of a table; of a merchant's part of it, where the table is below a merchant.
#[must_use]
pub fn table_range(merchant: MerchantId, table: TableKind) -> KeyRange {
    let lower = table.head(merchant);
    let mut upper = lower.clone();
    if let Some(tag) = upper.last_mut() {
        *tag = tag.saturating_add(1); // Far below 255, see the table.
    }
    (lower, upper)
}

/// Of a merchant's table whose keys are ids: those behind `after` and before `before`, both excluded.
#[must_use]
pub fn id_range(
    merchant: MerchantId,
    table: TableKind,
    after: Option<[u8; ID_LEN]>,
    before: Option<[u8; ID_LEN]>,
) -> KeyRange {
    let (mut lower, mut upper) = table_range(merchant, table);
    if let Some(before) = before {
        upper = [lower.as_slice(), &before].concat();
    }
    if let Some(after) = after {
        lower.extend_from_slice(&after);
        lower.push(0); // The smallest key that is greater.
    }
    (lower, upper)
}

/// A merchant's timers that are due at `now`, the earliest first.
#[must_use]
pub fn due_timers_range(merchant: MerchantId, now: Millis) -> KeyRange {
    let (lower, mut upper) = table_range(merchant, TableKind::Timers);
    if let Some(later) = now.0.checked_add(1) {
        upper = [lower.as_slice(), &later.to_be_bytes()].concat();
    }
    (lower, upper)
}

/// The counters of a metadata record's sets, from `from` up to `below`, which is left out.
#[must_use]
pub fn metadata_sets_range(merchant: MerchantId, id: MetadataId, from: SetNumber, below: SetNumber) -> KeyRange {
    sets_range(merchant, TableKind::MetadataSets, id, from, below)
}

/// The same for the items of these sets by hash: by set, then in no order that means anything.
#[must_use]
pub fn metadata_items_range(merchant: MerchantId, id: MetadataId, from: SetNumber, below: SetNumber) -> KeyRange {
    sets_range(merchant, TableKind::MetadataItems, id, from, below)
}

/// The same for the items of these sets by position: by set, then in the order in which they were added.
#[must_use]
pub fn metadata_positions_range(merchant: MerchantId, id: MetadataId, from: SetNumber, below: SetNumber) -> KeyRange {
    sets_range(merchant, TableKind::MetadataPositions, id, from, below)
}

fn sets_range(merchant: MerchantId, table: TableKind, id: MetadataId, from: SetNumber, below: SetNumber) -> KeyRange {
    let end = |number: SetNumber| {
        let mut key = table.head(merchant);
        push_set(id, number, &mut key);
        key
    };
    (end(from), end(below))
}

/// Every merchant's open effects, in the family effects.
#[must_use]
pub fn all_effects_range() -> KeyRange {
    below_all_merchants()
}

/// Every merchant's timers and what is to be swept, in the family timers: by merchant, then timers by time.
#[must_use]
pub fn all_timers_range() -> KeyRange {
    below_all_merchants()
}

/// A whole family of keys below merchants: no table is 255, so every key is less than the upper end.
fn below_all_merchants() -> KeyRange {
    (Vec::new(), vec![u8::MAX; HEAD_LEN])
}

/// All merchants behind `after` in the family directory.
#[must_use]
pub fn all_merchants_range(after: Option<MerchantId>) -> KeyRange {
    let nobody = MerchantId::from_bytes([0; ID_LEN]); // The directory is not below a merchant.
    id_range(nobody, TableKind::MerchantDirectory, after.map(MerchantId::to_bytes), None)
}

/// What a key in bytes tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyParts {
    /// The key of the applied position, which is no row's.
    AppliedPosition,
    /// The whole key.
    Row(AnyKey),
    /// The digest of an e-mail address or mobile number, which cannot be recovered from it.
    Digest {
        /// Which table.
        table: TableKind,
        /// The digest.
        digest: [u8; DIGEST_LEN],
    },
}

impl KeyParts {
    /// Of which kind the row under the key is, if it is a row's key.
    #[must_use]
    pub const fn table(&self) -> Option<TableKind> {
        match self {
            KeyParts::AppliedPosition => None,
            KeyParts::Row(key) => Some(TableKind::of(key)),
            KeyParts::Digest { table, digest: _ } => Some(*table),
        }
    }
}

/// Why bytes are no key of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No rows stand in the family.
    #[error("the family {family} holds no rows")]
    NoRows {
        /// Which.
        family: Family,
    },
    /// Merchant and table do not fit in.
    #[error("a key of {found_len} bytes is too short for one of {family}")]
    TooShort {
        /// Where it stands.
        family: Family,
        /// Its length.
        found_len: usize,
    },
    /// The family has no such table: a later version of the program wrote it, or it is damaged.
    #[error("the family {family} has no table {tag}")]
    UnknownTable {
        /// Where it stands.
        family: Family,
        /// The byte of the table.
        tag: u8,
    },
    /// What follows the table is not what the table's keys have.
    #[error("a key of the table {table} does not have its layout", table = table.name())]
    Malformed {
        /// Which table.
        table: TableKind,
    },
}

/// The merchant, where there is one, and the rest of a key.
///
/// # Errors
/// [`KeyError`] when no version of this program so far has written these bytes.
pub fn decode_key(family: Family, bytes: &[u8]) -> Result<(Option<MerchantId>, KeyParts), KeyError> {
    let too_short = KeyError::TooShort { family, found_len: bytes.len() };
    let (merchant, rest) = match family {
        Family::Rows | Family::Indexes | Family::Effects | Family::Timers => {
            let (merchant, rest) = bytes.split_first_chunk::<MERCHANT_LEN>().ok_or(too_short)?;
            (Some(MerchantId::from_bytes(*merchant)), rest)
        }
        Family::Directory => (None, bytes),
        Family::Journal | Family::Snapshots | Family::Vault | Family::Meta => return Err(KeyError::NoRows { family }),
    };
    let (&tag, rest) = rest.split_first().ok_or(too_short)?;
    if family == Family::Rows && tag < FIRST_TYPED_TABLE && rest.is_empty() {
        return Ok((merchant, KeyParts::AppliedPosition));
    }
    let table = TableKind::from_tag(tag).filter(|table| table.family() == family);
    let table = table.ok_or(KeyError::UnknownTable { family, tag })?;
    let parts = decode_rest(table, rest).ok_or(KeyError::Malformed { table })?;
    Ok((merchant, parts))
}

fn decode_rest(table: TableKind, rest: &[u8]) -> Option<KeyParts> {
    /// The key of a table whose keys are ids.
    macro_rules! id {
        ($table:ident) => {
            AnyKey::$table(till_domain::ids::Id::from_raw(till_domain::ids::RawId::from_bytes(rest.try_into().ok()?)))
        };
    }
    let digest = || rest.try_into().ok().map(|digest| KeyParts::Digest { table, digest });
    let external_id = || std::str::from_utf8(rest).ok().map(|text| ExternalId::from_stored(text.to_owned()));
    Some(KeyParts::Row(match table {
        TableKind::Profiles => AnyKey::Profiles(single(rest)?),
        TableKind::Balances => AnyKey::Balances(single(rest)?),
        TableKind::CurrentPlan => AnyKey::CurrentPlan(single(rest)?),
        TableKind::Users => id!(Users),
        TableKind::Invitations => id!(Invitations),
        TableKind::ApiKeys => id!(ApiKeys),
        TableKind::Installations => id!(Installations),
        TableKind::TokenQueues => id!(TokenQueues),
        TableKind::QueuedTokens => AnyKey::QueuedTokens(decode_place(rest)?),
        TableKind::Integrations => AnyKey::Integrations(decode_method(rest)?),
        TableKind::Tokens => id!(Tokens),
        TableKind::Sessions => id!(Sessions),
        TableKind::Payments => id!(Payments),
        TableKind::Customers => id!(Customers),
        TableKind::Cards => id!(Cards),
        TableKind::Topups => id!(Topups),
        TableKind::Transactions => id!(Transactions),
        TableKind::Entries => id!(Entries),
        TableKind::Activities => id!(Activities),
        TableKind::Effects => id!(Effects),
        TableKind::MerchantDirectory => id!(MerchantDirectory),
        TableKind::Answers => AnyKey::Answers(decode_scope(rest)?),
        TableKind::Timers => AnyKey::Timers(decode_timer(rest)?),
        TableKind::PaymentsByExternalId => AnyKey::PaymentsByExternalId(external_id()?),
        TableKind::CustomersByExternalId => AnyKey::CustomersByExternalId(external_id()?),
        TableKind::CardsByExternalId => AnyKey::CardsByExternalId(external_id()?),
        TableKind::TopupsByExternalId => AnyKey::TopupsByExternalId(external_id()?),
        TableKind::CustomersByEmail | TableKind::CustomersByMobile => return digest(),
        TableKind::CardsByFingerprint => AnyKey::CardsByFingerprint(decode_fingerprint(rest)?),
        TableKind::ActivitiesByType => AnyKey::ActivitiesByType(decode_index(rest, decode_type)?),
        TableKind::ActivitiesByActorKey => AnyKey::ActivitiesByActorKey(decode_index(rest, decode_id)?),
        TableKind::ActivitiesByActorEmail => AnyKey::ActivitiesByActorEmail(decode_index(rest, decode_email)?),
        TableKind::ActivitiesByUserEmail => AnyKey::ActivitiesByUserEmail(decode_index(rest, decode_email)?),
        TableKind::ActivitiesByObject => AnyKey::ActivitiesByObject(decode_index(rest, decode_object)?),
        TableKind::ActivitiesByParent => AnyKey::ActivitiesByParent(decode_index(rest, decode_id)?),
        TableKind::ActivityEmails => AnyKey::ActivityEmails(Email::from_stored(external_id()?.as_str().to_owned())),
        TableKind::KeyDirectory => AnyKey::KeyDirectory(KeyDigest(rest.try_into().ok()?)),
        TableKind::CreatedMerchants => AnyKey::CreatedMerchants(decode_idempotency_key(rest)?),
        TableKind::Metadata => {
            let text = std::str::from_utf8(rest).ok()?;
            AnyKey::Metadata(MetadataKey::from_stored(text.to_owned()))
        }
        TableKind::MetadataDocuments => id!(MetadataDocuments),
        TableKind::MetadataByCreation => id!(MetadataByCreation),
        TableKind::MetadataGarbage => id!(MetadataGarbage),
        TableKind::MetadataSets => {
            let (id, number, rest) = decode_set(rest)?;
            rest.is_empty().then_some(AnyKey::MetadataSets((id, number)))?
        }
        TableKind::MetadataItems => {
            let (id, number, hash) = decode_set(rest)?;
            AnyKey::MetadataItems((id, number, ItemHash(hash.try_into().ok()?)))
        }
        TableKind::MetadataPositions => {
            let (id, number, position) = decode_set(rest)?;
            AnyKey::MetadataPositions((id, number, u64::from_be_bytes(position.try_into().ok()?)))
        }
    }))
}

fn single(rest: &[u8]) -> Option<Single> {
    rest.is_empty().then_some(Single)
}

fn decode_method(rest: &[u8]) -> Option<PaymentMethod> {
    PaymentMethod::ALL.into_iter().find(|method| rest == [method_byte(*method)])
}

fn decode_idempotency_key(rest: &[u8]) -> Option<IdempotencyKey> {
    std::str::from_utf8(rest).ok().map(|text| IdempotencyKey::from_stored(text.to_owned()))
}

fn decode_scope(rest: &[u8]) -> Option<IdempotencyScope> {
    let (&is_given, rest) = rest.split_first()?;
    let (id, rest) = rest.split_first_chunk::<ID_LEN>()?;
    let (length, rest) = rest.split_first_chunk::<2>()?;
    let (endpoint, key) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    let installation_id = match is_given {
        0 => (*id == [0; ID_LEN]).then_some(None)?,
        1 => Some(InstallationId::from_bytes(*id)),
        _ => return None,
    };
    let endpoint = std::str::from_utf8(endpoint).ok()?.to_owned();
    Some(IdempotencyScope { installation_id, endpoint, key: decode_idempotency_key(key)? })
}

fn decode_timer(rest: &[u8]) -> Option<Timer> {
    let (due, rest) = rest.split_first_chunk::<8>()?;
    let (&kind, id) = rest.split_first()?;
    let id = id.try_into().ok()?;
    let kind = match kind {
        0 => TimerKind::Settle(TransactionId::from_bytes(id)),
        1 => TimerKind::Lapse(PaymentId::from_bytes(id)),
        16 => TimerKind::ExpireMetadata(MetadataId::from_bytes(id)),
        _ => return None,
    };
    Some(Timer { due: Millis(u64::from_be_bytes(*due)), kind })
}

fn decode_set(rest: &[u8]) -> Option<(MetadataId, SetNumber, &[u8])> {
    let (id, rest) = rest.split_first_chunk::<ID_LEN>()?;
    let (number, rest) = rest.split_first_chunk::<SET_LEN>()?;
    Some((MetadataId::from_bytes(*id), SetNumber(u32::from_be_bytes(*number)), rest))
}

fn decode_place(rest: &[u8]) -> Option<(InstallationId, u64)> {
    let (id, position) = rest.split_first_chunk::<ID_LEN>()?;
    Some((InstallationId::from_bytes(*id), u64::from_be_bytes(position.try_into().ok()?)))
}

fn decode_fingerprint(rest: &[u8]) -> Option<(CustomerId, CardFingerprint)> {
    let (customer_id, fingerprint) = rest.split_first_chunk::<ID_LEN>()?;
    Some((CustomerId::from_bytes(*customer_id), CardFingerprint(fingerprint.try_into().ok()?)))
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
