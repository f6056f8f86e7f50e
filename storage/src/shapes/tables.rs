//! Every kind of rows as it is on disk: the one place where a kind is described, beside `till_domain::records`, which
//! says what it is to the domain. docs/storage-format.md draws keys and values.
//!
//! ```text
//! tag | family | in what way the key's own type does not give its bytes | shape of format 1,
//! the formats and shapes of what the ones before cannot hold, and the field or method that a row tells its key by
//! ```

use till_domain::ids::CustomerId;
use till_domain::records::{self, AnyKey, AnyRow, Table, Unreadable};
use till_domain::text::Email;

use crate::family::Family;

use super::acquirer::{AcquirerAccountV1, AcquirerUseV1};
use super::activity::{ActivityV1, EmailUseV1, InvitationV1, PlanChoiceV1, UserV1};
use super::card::{CardV1, TokenQueueV1, TokenUseV1, TokenV1};
use super::checkout::{CheckoutV1, NeighborsV1};
use super::codec::{self, Out, ShapeError};
use super::customer::CustomerV1;
#[cfg(test)]
use super::drawn::{Draw, Drawn, DrawnKey};
use super::key_bytes::{self, DIGEST_LEN, KeyBytes};
use super::ledger::{BalanceTotalsV1, EntryV1, InvoiceV1, TopupV1, TransactionV1};
use super::merchant::{ApiKeyV1, CreatedMerchantV1, InstallationV1, IntegrationV1, KeyOwnerV1, ProfileV1, TestClockV1};
use super::metadata::{MetadataRecordV1, MetadataSetV1};
use super::mutation::StoredAnswerV1;
use super::payment::{CustomerActionV1, DisputeV1, EffectV1, PaymentV1, PayoutV1, PreparedPaymentV1, RefundV1};
use super::personal::Personal;
use super::session::SessionV1;
use super::shape::Shape;
use super::statement::{MonthEntriesV1, StatementV1};
use super::webhook::{WebhookEventV1, WebhookV1};

/// The highest format of rows.
pub const ROW_FORMAT: u8 = 1;

/// The format that all tables have a shape of.
pub(super) const FIRST_ROW_FORMAT: u8 = 1;

/// A kind of rows as it is on disk.
pub trait StoredTable: Table {
    /// Its description.
    const KIND: TableKind;

    /// The key with these bytes after its table; none when no key has them, or when they are a digest.
    fn decode_key(rest: &[u8]) -> Option<Self::Key>;
}

/// The information in the bytes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyParts {
    /// The key of the applied position, which is no row's.
    AppliedPosition,
    /// The whole key.
    Row(AnyKey),
    /// The digest of an e-mail address or mobile number, which cannot be recovered from it. What follows it is left
    /// out.
    Digest {
        /// The table.
        table: TableKind,
        /// The digest.
        digest: [u8; DIGEST_LEN],
    },
}

/// Writes what follows the table in a key.
macro_rules! push_key {
    ($key:ident, $personal:ident, $bytes:ident) => {
        KeyBytes::push($key, $bytes)
    };
    ($key:ident, $personal:ident, $bytes:ident, email_digest_and_id) => {{
        $bytes.extend_from_slice(&$personal.email_digest(&$key.0));
        KeyBytes::push(&$key.1, $bytes)
    }};
    ($key:ident, $personal:ident, $bytes:ident, text) => {
        $bytes.extend_from_slice($key.as_str().as_bytes())
    };
    ($key:ident, $personal:ident, $bytes:ident, $digest:ident) => {
        $bytes.extend_from_slice(&$personal.$digest($key))
    };
}

/// Reads the key from what follows the table in it.
macro_rules! decode_key {
    ($rest:ident) => {
        key_bytes::decode($rest)
    };
    ($rest:ident, text) => {
        Some(Email::from_stored(std::str::from_utf8($rest).ok()?.to_owned()))
    };
    ($rest:ident, $digest:ident) => {{
        let _: &[u8] = $rest;
        None
    }};
}

/// Reads what follows the table in a key.
macro_rules! decode_parts {
    ($name:ident, $rest:ident $(, text)?) => {
        KeyParts::Row(AnyKey::$name(records::$name::decode_key($rest)?))
    };
    ($name:ident, $rest:ident, email_digest_and_id) => {{
        let (digest, id) = $rest.split_first_chunk()?;
        let _: CustomerId = key_bytes::decode(id)?;
        KeyParts::Digest { table: TableKind::$name, digest: *digest }
    }};
    ($name:ident, $rest:ident, $digest:ident) => {
        KeyParts::Digest { table: TableKind::$name, digest: $rest.try_into().ok()? }
    };
}

/// Draws the key of a row, or takes it from the row.
#[cfg(test)]
macro_rules! draw_key {
    ($row:ident, $draw:ident) => {
        DrawnKey::draw_key($draw)
    };
    ($row:ident, $draw:ident, $($id:tt)+) => {
        $row.$($id)+
    };
}

/// Writes a row in the lowest format that can hold it: `V1, if V1::holds, else 2 V2` is `V2`, after the byte 2, for a
/// row that `V1` cannot hold. So a replay of the log gives the stored bytes, whichever program wrote them.
macro_rules! push_form {
    ($name:ident, $row:expr, $personal:ident, $bytes:expr; $first:ty $(, if $fits:expr,
        else $format:literal $later:ty)*) => {{
        let row = $row;
        let formats = [FIRST_ROW_FORMAT $(, if $fits(row) { FIRST_ROW_FORMAT } else { $format })*];
        let format = formats.into_iter().fold(FIRST_ROW_FORMAT, u8::max);
        $(if format == $format {
            let write = |out: &mut Out| <$later as Shape<_>>::write(row, $personal, out);
            codec::push::<$later>(stringify!($name), format, $bytes, write)
        } else)* {
            let write = |out: &mut Out| <$first as Shape<_>>::write(row, $personal, out);
            codec::push::<$first>(stringify!($name), format, $bytes, write)
        }
    }};
}

/// Reads a row of any of its formats.
macro_rules! decode_form {
    ($name:ident, $bytes:ident, $personal:ident; $first:ty $(, else $format:literal $later:ty)*) => {
        $(if $bytes.first() == Some(&$format) {
            codec::decode::<$later>(stringify!($name), $format, $bytes)?.unpack($personal)
        } else)* {
            codec::decode::<$first>(stringify!($name), FIRST_ROW_FORMAT, $bytes)?.unpack($personal)
        }
    };
}

#[cfg(test)]
pub(super) use {decode_form, push_form};

/// Declares the kinds of rows.
macro_rules! tables {
    ($($name:ident = $tag:literal in $family:ident $(by $how:ident)?:
        $shape:ty $(, if $fits:expr, else $format:literal $later:ty)* $(,
            under $id:ident $(($($arguments:ident)?))?)?;)+) => {
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

            /// The family of its rows.
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

            /// The kind of a key.
            #[must_use]
            pub const fn of(key: &AnyKey) -> TableKind {
                match key {
                    $(AnyKey::$name(_) => TableKind::$name,)+
                }
            }

            /// The kind of a row.
            #[must_use]
            pub const fn of_row(row: &AnyRow) -> TableKind {
                match row {
                    $(AnyRow::$name(_) => TableKind::$name,)+
                }
            }
        }

        $(impl StoredTable for records::$name {
            const KIND: TableKind = TableKind::$name;

            fn decode_key(rest: &[u8]) -> Option<Self::Key> {
                decode_key!(rest $(, $how)?)
            }
        })+

        /// Writes what follows the table in a key.
        pub(super) fn push_rest(key: &AnyKey, personal: &dyn Personal, bytes: &mut Vec<u8>) {
            match key {
                $(AnyKey::$name(key) => push_key!(key, personal, bytes $(, $how)?),)+
            }
        }

        /// Reads what follows the table in a key.
        pub(super) fn decode_rest(table: TableKind, rest: &[u8]) -> Option<KeyParts> {
            Some(match table {
                $(TableKind::$name => decode_parts!($name, rest $(, $how)?),)+
            })
        }

        /// Writes a row in the lowest format that can hold it.
        pub(super) fn push_value(row: &AnyRow, personal: &mut dyn Personal, bytes: &mut Vec<u8>) -> Result<(),
            Unreadable> {
            match row {
                $(AnyRow::$name(row) => {
                    push_form!($name, row.as_ref(), personal, bytes; $shape $(, if $fits, else $format $later)*)
                })+
            }
        }

        /// Reads a row.
        pub(super) fn decode_value(table: TableKind, bytes: &[u8], personal: &dyn Personal) -> Result<AnyRow,
            ShapeError> {
            match table {
                $(TableKind::$name => {
                    let row = decode_form!($name, bytes, personal; $shape $(, else $format $later)*)?;
                    Ok(records::$name::wrap(row))
                })+
            }
        }

        /// Draws a row of a table, with its key.
        #[cfg(test)]
        pub(super) fn draw_row(table: TableKind, draw: &mut Draw) -> (AnyKey, AnyRow) {
            match table {
                $(TableKind::$name => {
                    let row: <records::$name as Table>::Row = <$shape as Drawn<_>>::draw(draw);
                    let key = draw_key!(row, draw $(, $id $(($($arguments)?))?)?);
                    (AnyKey::$name(key), records::$name::wrap(row))
                })+
            }
        }

        /// Returns true when a row may be stored under a key, as far as the row tells.
        pub(super) fn belongs(key: &AnyKey, row: &AnyRow) -> bool {
            match (key, row) {
                $($((AnyKey::$name(key), AnyRow::$name(row)) => *key == row.$id $(($($arguments)?))?,)?)+
                (key, row) => TableKind::of(key) == TableKind::of_row(row),
            }
        }
    };
}

tables! {
    Profiles = 1 in Rows: ProfileV1;
    ApiKeys = 2 in Rows: ApiKeyV1, under id;
    Installations = 3 in Rows: InstallationV1, under id;
    Integrations = 4 in Rows: IntegrationV1;
    Balances = 5 in Rows: BalanceTotalsV1;
    Tokens = 6 in Rows: TokenV1, under id;
    Sessions = 7 in Rows: SessionV1, under id;
    Payments = 8 in Rows: PaymentV1, under id;
    Customers = 9 in Rows: CustomerV1, under id;
    Cards = 10 in Rows: CardV1, under id;
    Topups = 11 in Rows: TopupV1, under id;
    Transactions = 12 in Rows: TransactionV1, under id;
    Entries = 13 in Rows: EntryV1, under id;
    Activities = 14 in Rows: ActivityV1, under id;
    Answers = 15 in Rows: StoredAnswerV1;
    Users = 16 in Rows: UserV1, under id;
    Invitations = 17 in Rows: InvitationV1, under id;
    CurrentPlan = 18 in Rows: PlanChoiceV1;
    Statements = 19 in Rows: StatementV1, under id;
    Metadata = 20 in Rows: MetadataRecordV1;
    MetadataDocuments = 21 in Rows: String;
    MetadataSets = 22 in Rows: MetadataSetV1;
    MetadataItems = 23 in Rows: u64;
    MetadataPositions = 24 in Rows: String;
    TokenQueues = 25 in Rows: TokenQueueV1;
    Refunds = 26 in Rows: RefundV1, under id;
    Webhooks = 27 in Rows: WebhookV1, under id;
    WebhookEvents = 28 in Rows: WebhookEventV1, under id;
    Invoices = 29 in Rows: InvoiceV1, under id;
    Payouts = 30 in Rows: PayoutV1, under id;
    Disputes = 31 in Rows: DisputeV1, under id;
    PaymentsByExternalId = 32 in Indexes: [u8; 16];
    CustomersByExternalId = 33 in Indexes: [u8; 16];
    CustomersByEmail = 34 in Indexes by email_digest: [u8; 16];
    CustomersByMobile = 35 in Indexes by mobile_digest: [u8; 16];
    CardsByExternalId = 36 in Indexes: [u8; 16];
    CardsByFingerprint = 37 in Indexes: [u8; 16];
    TopupsByExternalId = 38 in Indexes: [u8; 16];
    ActivitiesByType = 39 in Indexes: ();
    ActivitiesByActorKey = 40 in Indexes: ();
    ActivitiesByActorEmail = 41 in Indexes: ();
    ActivitiesByEmail = 42 in Indexes: ();
    ActivitiesByObject = 43 in Indexes: ();
    ActivitiesByParent = 44 in Indexes: ();
    ActivityEmails = 45 in Indexes by text: EmailUseV1;
    QueuedTokens = 46 in Indexes: [u8; 16];
    CustomerCards = 47 in Indexes: Vec<[u8; 16]>;
    MetadataByCreation = 48 in Indexes: String;
    RefundsByExternalId = 49 in Indexes: [u8; 16];
    RefundsByStatus = 50 in Indexes: ();
    RefundsByPayment = 51 in Indexes: ();
    WebhookEventsByPayment = 52 in Indexes: ();
    InvoicesByExternalId = 53 in Indexes: [u8; 16];
    PayoutsByExternalId = 54 in Indexes: [u8; 16];
    PayoutsByStatus = 55 in Indexes: ();
    DisputesByStatus = 56 in Indexes: ();
    DisputesByPayment = 57 in Indexes: ();
    EffectiveEntries = 58 in Indexes: [u8; 16];
    StatementsByEnd = 59 in Indexes: [u8; 16];
    MonthToDate = 60 in Rows: MonthEntriesV1;
    Effects = 61 in Effects: EffectV1, under id();
    Timers = 62 in Timers: ();
    MetadataGarbage = 63 in Timers: u32;
    OpenPayouts = 64 in Effects: ();
    OpenEvidence = 65 in Effects: ();
    PaymentsByStatus = 66 in Indexes: ();
    PaymentsByAmount = 67 in Indexes: ();
    PaymentsByCustomer = 68 in Indexes: ();
    PaymentsByLastDigits = 69 in Indexes: ();
    PaymentsByCapture = 70 in Indexes: ();
    ActivitiesWithEmail = 71 in Indexes: ();
    TokenUses = 72 in Rows: TokenUseV1;
    CustomerTokens = 73 in Indexes: [u8; 16];
    CustomersByOtherEmail = 74 in Indexes by email_digest_and_id: [u8; 16];
    CustomerActions = 75 in Rows: CustomerActionV1;
    Checkouts = 76 in Rows: CheckoutV1, under id;
    CheckoutsByExternalId = 77 in Indexes: [u8; 16];
    CheckoutsByStatus = 78 in Indexes: ();
    NewestCheckoutsByCustomer = 79 in Indexes: [u8; 16];
    NewestCheckoutsByEmail = 80 in Indexes by email_digest: [u8; 16];
    NewestCheckoutsByMobile = 81 in Indexes by mobile_digest: [u8; 16];
    CheckoutNeighbors = 82 in Indexes: NeighborsV1;
    AcquirerAccounts = 83 in Rows: AcquirerAccountV1, under id;
    AcquirerUses = 84 in Rows: AcquirerUseV1;
    Preparations = 85 in Rows: PreparedPaymentV1, under payment_id;
    KeyDirectory = 96 in Directory: KeyOwnerV1;
    MerchantDirectory = 97 in Directory: u64;
    CreatedMerchants = 98 in Directory: CreatedMerchantV1;
    WebhookDirectory = 99 in Directory: ();
    TestClocks = 100 in Directory: TestClockV1;
    AcquirerDirectory = 101 in Directory: [u8; 16];
}

impl TableKind {
    /// Returns true when its keys begin with a merchant.
    #[must_use]
    pub fn is_below_a_merchant(self) -> bool {
        self.family() != Family::Directory
    }
}

impl KeyParts {
    /// The kind of the row under the key, if it is the key of a row.
    #[must_use]
    pub const fn table(&self) -> Option<TableKind> {
        match self {
            KeyParts::AppliedPosition => None,
            KeyParts::Row(key) => Some(TableKind::of(key)),
            KeyParts::Digest { table, digest: _ } => Some(*table),
        }
    }
}
