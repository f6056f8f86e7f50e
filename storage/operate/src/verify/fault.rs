//! A fault that a verification found, in words for an operator. Nothing here is secret or personal.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use till_domain::ids::MerchantId;
use till_domain::ledger::BalanceTotals;
use till_storage::family::Family;
use till_storage::journal::{CommitNumber, RecordError, Sequence};
use till_storage::shapes::ShapeError;
use till_storage::vault::SealedError;

use super::row_name::{self, RowName};

/// A fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The merchant that it belongs to; none for a fault of the store as a whole.
    pub merchant_id: Option<MerchantId>,
    /// The location of the fault.
    pub location: FaultLocation,
    /// The kind of the fault.
    pub wrong: Wrong,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(merchant_id) = self.merchant_id {
            write!(f, "{merchant_id}: ")?;
        }
        write!(f, "{} {}", self.location, self.wrong)
    }
}

/// For programs: its merchant, place and kind by their names, and its text.
impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("Fault", 4)?;
        members.serialize_field("merchant_id", &self.merchant_id.map(|id| id.to_string()))?;
        members.serialize_field("place", &self.location)?;
        members.serialize_field("fault", self.wrong.name())?;
        members.serialize_field("message", &self.to_string())?;
        members.end()
    }
}

/// The location of a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultLocation {
    /// The store as a whole.
    Store,
    /// Records of a log, one after the other.
    Records {
        /// The first.
        first: Sequence,
        /// The last, which may be the first.
        last: Sequence,
    },
    /// The row that says where a log ends.
    Head,
    /// The row that says up to which record rows are derived.
    #[serde(rename = "position")]
    Applied,
    /// The snapshot of a state.
    Snapshot {
        /// The record at which it was taken.
        sequence: Sequence,
    },
    /// One row.
    Row(RowName),
    /// A range of rows.
    Rows {
        /// The family of the rows.
        #[serde(serialize_with = "row_name::family")]
        family: Family,
        /// The last row before it, if there is one.
        #[serde(rename = "behind", serialize_with = "row_name::key")]
        after: Option<RowName>,
        /// The first row after it, if there is one.
        #[serde(serialize_with = "row_name::key")]
        before: Option<RowName>,
        /// The number of rows that belong there by the log, if known.
        expected: Option<u64>,
    },
    /// The deliveries of webhooks as a whole.
    Deliveries,
    /// The sandbox's book as a whole.
    Book,
    /// A line of the sandbox's book.
    BookLine {
        /// Its reference.
        reference: String,
    },
}

impl fmt::Display for FaultLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultLocation::Store => f.write_str("the store"),
            FaultLocation::Records { first, last } if first == last => write!(f, "record {first}"),
            FaultLocation::Records { first, last } => write!(f, "records {first} to {last}"),
            FaultLocation::Head => f.write_str("the head of the log"),
            FaultLocation::Applied => f.write_str("the position of the rows"),
            FaultLocation::Snapshot { sequence } => write!(f, "the snapshot at record {sequence}"),
            FaultLocation::Row(name) => write!(f, "{name}"),
            FaultLocation::Rows { family, after, before, expected } => {
                write!(f, "a range of the family {family}")?;
                if let Some(after) = after {
                    write!(f, " after {after}")?;
                }
                if let Some(before) = before {
                    write!(f, " before {before}")?;
                }
                expected.map_or(Ok(()), |count| write!(f, ", with {count} rows by the log,"))
            }
            FaultLocation::Deliveries => f.write_str("the store of deliveries"),
            FaultLocation::Book => f.write_str("the sandbox's book"),
            FaultLocation::BookLine { reference } => write!(f, "the line {reference} of the sandbox's book"),
        }
    }
}

/// Captures and payouts in the sandbox's book or in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BookSums {
    /// The number of captured payments.
    pub count: u64,
    /// The captured amount of all together, in minor units.
    pub captured_minor: u128,
    /// The number of payouts that were paid or declined.
    pub payouts: u64,
}

impl fmt::Display for BookSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} captures of {} minor units", self.count, self.captured_minor)?;
        if self.payouts == 0 { Ok(()) } else { write!(f, " and {} payouts that have ended", self.payouts) }
    }
}

/// Declares the kinds of faults that [`Wrong`] has: `Missing = "missing", "is missing";` is a variant with its name for
/// programs and its text. The text may name the fields of the variant.
macro_rules! wrongs {
    ($($(#[$doc:meta])* $variant:ident $(($($part:tt)+))? $({ $($fields:tt)+ })? = $name:literal, $text:literal;)+) => {
        /// The kind of a fault. Its text follows the text of a location.
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
        pub enum Wrong {
            $($(#[$doc])* #[error($text)] $variant $(($($part)+))? $({ $($fields)+ })?,)+
        }

        impl Wrong {
            /// The name for programs.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Wrong::$variant { .. } => $name,)+
                }
            }
        }
    };
}

wrongs! {
    /// By the log, or by the store's own order, it exists.
    Missing = "missing", "is missing";
    /// The log does not result in it.
    Extra = "extra", "does not follow from the log";
    /// It has another content.
    Different = "different", "differs from the log";
    /// The bytes are not what was written.
    Undecodable {
        /// The decoder's reason.
        reason: String,
    } = "undecodable", "cannot be decoded: {reason}";
    /// The store did not return the bytes.
    Unreadable {
        /// The message of the store.
        reason: String,
    } = "unreadable", "cannot be read: {reason}";
    /// A record is damaged or does not follow the one before it.
    Record(#[from] RecordError) = "record", "cannot be used: {0}";
    /// A record changes something that the log before it has not created.
    NotReplayable {
        /// The missing thing.
        reason: String,
    } = "not_replayable", "cannot be replayed: {reason}";
    /// There are records after the head.
    LogGoesOn {
        /// The last record.
        to: Sequence,
    } = "log_goes_on", "is after record {to}, the last one of the log";
    /// It names another record than the log has at that position.
    OtherRecord = "other_record", "names another record than the one in the log";
    /// It is ahead of the log.
    Ahead = "ahead", "is ahead of the log";
    /// A snapshot's checksum is wrong.
    WrongChecksum = "wrong_checksum", "is not what was written: its checksum is wrong";
    /// It belongs to no merchant that has a log.
    NoMerchant = "no_merchant", "belongs to no known merchant";
    /// No table has such a key.
    BadKey {
        /// The decoder's reason.
        reason: String,
    } = "bad_key", "has no known key: {reason}";
    /// Credits and debits of a transaction differ.
    Unbalanced = "unbalanced", "is not balanced: its credits and debits are not equal";
    /// An entry is not what its transaction says.
    NotAsTransaction = "not_as_transaction", "does not match its transaction";
    /// An entry belongs to no transaction.
    NoTransaction = "no_transaction", "belongs to no transaction";
    /// A statement is not the sum of its entries, or does not follow the one before it.
    NotAsEntries = "not_as_entries", "does not match the entries of its month and the previous statement";
    /// The totals are not the sums of the entries.
    Totals {
        /// The stored totals; none when there is no row.
        totals: Option<BalanceTotals>,
        /// The sums.
        sums: BalanceTotals,
    } = "totals", "has other totals ({totals:?}) than the sums of the entries ({sums:?})";
    /// A token or card that may still be charged has no number.
    NumberMissing = "number_missing", "has no card number in the vault";
    /// A card number in the vault has no token or card, so that it will never be deleted.
    NumberLeft = "number_left", "is the number of a token or card that does not exist";
    /// The vault has the key of a customer who was removed: the person is not erased.
    KeyLeft = "key_left", "is the key of a customer, or the credentials of a member, who does not exist";
    /// A row of the vault does not open.
    Sealed(SealedError) = "sealed", "does not open: {0}";
    /// Acknowledged commits are missing.
    CommitsMissing {
        /// The first.
        first: CommitNumber,
        /// The last.
        last: CommitNumber,
    } = "commits_missing", "lacks the acknowledged commits {first} to {last}";
    /// The sandbox was asked for a payment that is in no log.
    NoPayment = "no_payment", "is of a payment that is not in the log";
    /// The sandbox was asked for a payout that is in no log.
    NoPayout = "no_payout", "is of a payout that is not in the log";
    /// The sandbox has answered, the log has no result, and no open effect would record it.
    NoResult = "no_result", "has no recorded result, and the payment has no open effect";
    /// The log differs from the book.
    OtherResult = "other_result", "does not match the payment in the log";
    /// The captures or payouts of a merchant differ.
    OtherSums {
        /// In the book, for the lines that were matched with payments.
        book: BookSums,
        /// In the log.
        log: BookSums,
    } = "other_sums", "holds {book}, the log {log}";
}

impl From<ShapeError> for Wrong {
    fn from(error: ShapeError) -> Wrong {
        Wrong::Undecodable { reason: error.to_string() }
    }
}
