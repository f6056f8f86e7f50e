//! Shapes of rows, by table.
//!
//! ```text
//! 0 format (1) = 1 or 2 | 1 the table's shape of that format, see `codec` and the table in `keys`
//! ```
//! A row is written in the lowest format that can hold it, so that a replay of the log gives the bytes that stand there,
//! whichever program wrote them. Both formats are read.

use till_domain::records::{self, AnyKey, AnyRow, Table, Unreadable};

use super::activity::{ActivityV1, EmailUseV1, InvitationV1, PlanChoiceV1, UserV1};
use super::card::{CardFactsV1, CardV1, CardV2, TokenQueueV1, TokenV1, TokenV2};
use super::codec::{self, Out, ShapeError};
use super::customer::CustomerV1;
use super::keys::TableKind;
use super::ledger::{BalanceTotalsV1, EntryV1, TopupV1, TransactionV1};
use super::merchant::{ApiKeyV1, CreatedMerchantV1, InstallationV1, IntegrationV1, KeyOwnerV1, ProfileV1, ProfileV2};
use super::metadata::{MetadataRecordV1, MetadataSetV1};
use super::mutation::StoredAnswerV1;
use super::payment::{EffectV1, PaymentV1};
use super::personal::Personal;
use super::session::SessionV1;
use super::shape::Shape;

/// The highest format of rows.
pub const ROW_FORMAT: u8 = 2;

/// The format that all tables have a shape of.
const FIRST_ROW_FORMAT: u8 = 1;

/// Room for a row that is no entry of an index.
const USUAL_ROW_BYTES: usize = 448;

/// Declares the shape of every table, of some a later one for what the first cannot hold, and by which of its fields a row
/// tells its key.
macro_rules! row_shapes {
    ($($table:ident: $shape:ty $(, if $fits:expr, else $later:ty)? $(, under $id:ident)?;)+) => {
        fn push(row: &AnyRow, personal: &mut dyn Personal, bytes: &mut Vec<u8>) -> Result<(), Unreadable> {
            match row {
                $(AnyRow::$table(row) => {
                    $(let fits: fn(&<records::$table as Table>::Row) -> bool = $fits;
                    if !fits(row) {
                        let write = |out: &mut Out| <$later as Shape<_>>::write(row.as_ref(), personal, out);
                        return codec::push::<$later>(stringify!($table), ROW_FORMAT, bytes, write);
                    })?
                    let write = |out: &mut Out| <$shape as Shape<_>>::write(row.as_ref(), personal, out);
                    codec::push::<$shape>(stringify!($table), FIRST_ROW_FORMAT, bytes, write)
                })+
            }
        }

        fn decode(table: TableKind, bytes: &[u8], personal: &dyn Personal) -> Result<AnyRow, ShapeError> {
            match table {
                $(TableKind::$table => {
                    $(if bytes.first() == Some(&ROW_FORMAT) {
                        let shape: $later = codec::decode(stringify!($table), ROW_FORMAT, bytes)?;
                        return Ok(records::$table::wrap(shape.unpack(personal)?));
                    })?
                    let shape: $shape = codec::decode(stringify!($table), FIRST_ROW_FORMAT, bytes)?;
                    Ok(records::$table::wrap(shape.unpack(personal)?))
                })+
            }
        }

        /// Whether a row may stand under a key, as far as the row tells.
        fn belongs(key: &AnyKey, row: &AnyRow) -> bool {
            match (key, row) {
                $($((AnyKey::$table(key), AnyRow::$table(row)) => *key == row.$id,)?)+
                (key, row) => TableKind::of(key) == TableKind::of_row(row),
            }
        }
    };
}

row_shapes! {
    Profiles: ProfileV1, if ProfileV1::holds, else ProfileV2;
    ApiKeys: ApiKeyV1, under id;
    Installations: InstallationV1, under id;
    Integrations: IntegrationV1;
    Balances: BalanceTotalsV1;
    Tokens: TokenV1, if |token| CardFactsV1::holds(&token.card), else TokenV2, under id;
    Sessions: SessionV1, under id;
    Payments: PaymentV1, under id;
    Customers: CustomerV1, under id;
    Cards: CardV1, if |card| CardFactsV1::holds(&card.card), else CardV2, under id;
    Topups: TopupV1, under id;
    Transactions: TransactionV1, under id;
    Entries: EntryV1, under id;
    Activities: ActivityV1, under id;
    Answers: StoredAnswerV1;
    Users: UserV1, under id;
    Invitations: InvitationV1, under id;
    CurrentPlan: PlanChoiceV1;
    Effects: EffectV1, under payment_id;
    Timers: ();
    TokenQueues: TokenQueueV1;
    PaymentsByExternalId: [u8; 16];
    CustomersByExternalId: [u8; 16];
    CustomersByEmail: [u8; 16];
    CustomersByMobile: [u8; 16];
    CardsByExternalId: [u8; 16];
    CardsByFingerprint: [u8; 16];
    TopupsByExternalId: [u8; 16];
    ActivitiesByType: ();
    ActivitiesByActorKey: ();
    ActivitiesByActorEmail: ();
    ActivitiesByUserEmail: ();
    ActivitiesByObject: ();
    ActivitiesByParent: ();
    ActivityEmails: EmailUseV1;
    KeyDirectory: KeyOwnerV1;
    MerchantDirectory: u64;
    CreatedMerchants: CreatedMerchantV1;
    Metadata: MetadataRecordV1;
    MetadataDocuments: String;
    MetadataSets: MetadataSetV1;
    MetadataItems: u64;
    MetadataPositions: String;
    QueuedTokens: [u8; 16];
    MetadataByCreation: String;
    MetadataGarbage: u32;
}

/// The bytes of a row that is to stand under `key`: equal rows give equal bytes. Personal texts are sealed;
/// the keys made for them on the way must be stored in the same write.
///
/// # Errors
/// [`Unreadable`] when a key to seal with cannot be read or made, or when the row does not belong under
/// `key`. Nothing may be written then.
pub fn encode_row(row: &AnyRow, key: &AnyKey, personal: &mut dyn Personal) -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::with_capacity(USUAL_ROW_BYTES);
    push_row(row, key, personal, &mut bytes)?;
    Ok(bytes)
}

/// As [`encode_row`], pushed to bytes that are there.
///
/// # Errors
/// As [`encode_row`]; a part of the row may stand behind the bytes then.
pub fn push_row(
    row: &AnyRow,
    key: &AnyKey,
    personal: &mut dyn Personal,
    bytes: &mut Vec<u8>,
) -> Result<(), Unreadable> {
    if !belongs(key, row) {
        return Err(ShapeError::OtherKey { table: TableKind::of(key).name() }.into());
    }
    push(row, personal, bytes)
}

/// The row with these bytes under `key`. What was sealed of an erased person is gone.
///
/// # Errors
/// [`ShapeError::UnknownFormat`] means "derive the rows again, or upgrade the program";
/// [`ShapeError::OtherKey`] that the row was stored under a wrong key; every other error that the bytes are
/// not what was written, or that the vault cannot be read.
pub fn decode_row(key: &AnyKey, bytes: &[u8], personal: &dyn Personal) -> Result<AnyRow, ShapeError> {
    let table = TableKind::of(key);
    let row = decode(table, bytes, personal)?;
    belongs(key, &row).then_some(row).ok_or(ShapeError::OtherKey { table: table.name() })
}

/// As [`decode_row`], for a row whose key cannot be recovered from its bytes.
///
/// # Errors
/// As [`decode_row`], without the check of the key.
pub fn decode_row_of(table: TableKind, bytes: &[u8], personal: &dyn Personal) -> Result<AnyRow, ShapeError> {
    decode(table, bytes, personal)
}

/// Whether the bytes on disk say the same as those of a row replayed from the log: byte for byte, unless a
/// person was erased since they were written, of whom a replay has nothing left.
///
/// # Errors
/// As [`decode_row`].
pub fn is_same_row(key: &AnyKey, stored: &[u8], replayed: &[u8], personal: &dyn Personal) -> Result<bool, ShapeError> {
    if stored == replayed {
        return Ok(true);
    }
    let (stored, again) = (decode_row(key, stored, personal)?, decode_row(key, replayed, personal)?);
    Ok(has_personal_data(TableKind::of(key)) && stored == again)
}

/// Whether rows of a table hold sealed fields.
const fn has_personal_data(table: TableKind) -> bool {
    matches!(
        table,
        TableKind::Customers | TableKind::Sessions | TableKind::Payments | TableKind::Tokens | TableKind::Cards
    )
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
