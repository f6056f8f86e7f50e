//! The result of a verification, in words for an operator. Nothing here is secret or personal.

use std::fmt;

use till_domain::ids::MerchantId;
use till_domain::ledger::BalanceTotals;
use till_storage::family::Family;
use till_storage::journal::{CommitNumber, RecordError, Sequence};
use till_storage::shapes::TableKind;
use till_storage::vault::SealedError;

use crate::head::HeadFault;

use super::concern::Concern;
use super::row_name::RowName;

/// The progress of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VerifyProgress {
    /// Merchants that are done.
    pub merchants: u64,
    /// Merchants in all.
    pub merchants_total: u64,
    /// Records read.
    pub records: u64,
    /// Records in all, by the heads of the logs.
    pub records_total: u64,
    /// Rows read.
    pub rows: u64,
    /// Lines of the sandbox's book read.
    pub book_lines: u64,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Merchants with a log.
    pub merchants: u64,
    /// Of those, the ones whose rows could not be compared because the log could not be replayed.
    pub merchants_not_replayed: u64,
    /// Records read.
    pub records: u64,
    /// Rows read: derived ones, of the directory, of the vault.
    pub rows: u64,
    /// Lines of the sandbox's book read.
    pub book_lines: u64,
    /// The first faults found.
    pub faults: Vec<Fault>,
    /// The number of all faults.
    pub fault_count: u64,
    /// The number of faults that a server may run with: [`Concern::Beside`].
    pub harmless_count: u64,
}

impl Report {
    /// True when there is no fault.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.fault_count == 0
    }

    /// True when a server may run with the store: no fault concerns the logs or data that follows from them.
    #[must_use]
    pub const fn is_fit(&self) -> bool {
        self.fault_count == self.harmless_count
    }

    /// Adds a fault that was found outside of the verification, if there is one.
    pub fn add(&mut self, fault: Option<Fault>) {
        self.fault_count += u64::from(fault.is_some());
        self.harmless_count += u64::from(fault.as_ref().is_some_and(is_harmless));
        self.faults.extend(fault);
    }
}

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

/// The location of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    Applied,
    /// The snapshot of a state.
    Snapshot(Sequence),
    /// One row.
    Row(RowName),
    /// A range of rows.
    Rows {
        /// The family of the rows.
        family: Family,
        /// The last row before it, if there is one.
        after: Option<RowName>,
        /// The first row after it, if there is one.
        before: Option<RowName>,
        /// The number of rows that belong there by the log, if known.
        expected: Option<u64>,
    },
    /// The deliveries of webhooks as a whole.
    Deliveries,
    /// The sandbox's book as a whole.
    Book,
    /// A line of the sandbox's book, by its reference.
    BookLine(String),
}

impl fmt::Display for FaultLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultLocation::Store => f.write_str("the store"),
            FaultLocation::Records { first, last } if first == last => write!(f, "record {first}"),
            FaultLocation::Records { first, last } => write!(f, "records {first} to {last}"),
            FaultLocation::Head => f.write_str("the head of the log"),
            FaultLocation::Applied => f.write_str("the position of the rows"),
            FaultLocation::Snapshot(sequence) => write!(f, "the snapshot at record {sequence}"),
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
            FaultLocation::BookLine(reference) => write!(f, "the line {reference} of the sandbox's book"),
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

/// The kind of a fault. Its text follows the text of a location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// By the log, or by the store's own order, it exists.
    #[error("is missing")]
    Missing,
    /// The log does not result in it.
    #[error("does not follow from the log")]
    Extra,
    /// It has another content.
    #[error("differs from the log")]
    Different,
    /// The bytes are not what was written.
    #[error("cannot be decoded: {reason}")]
    Undecodable {
        /// The decoder's reason.
        reason: String,
    },
    /// The store did not return the bytes.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// The message of the store.
        reason: String,
    },
    /// A record is damaged or does not follow the one before it.
    #[error("cannot be used: {0}")]
    Record(RecordError),
    /// A record changes something that the log before it has not created.
    #[error("cannot be replayed: {reason}")]
    NotReplayable {
        /// The missing thing.
        reason: String,
    },
    /// There are records after the head.
    #[error("is after record {to}, the last one of the log")]
    LogGoesOn {
        /// The last record.
        to: Sequence,
    },
    /// It names another record than the log has at that position.
    #[error("names another record than the one in the log")]
    OtherRecord,
    /// It is ahead of the log.
    #[error("is ahead of the log")]
    Ahead,
    /// A snapshot's checksum is wrong.
    #[error("is not what was written: its checksum is wrong")]
    WrongChecksum,
    /// It belongs to no merchant that has a log.
    #[error("belongs to no known merchant")]
    NoMerchant,
    /// No table has such a key.
    #[error("has no known key: {reason}")]
    BadKey {
        /// The decoder's reason.
        reason: String,
    },
    /// Credits and debits of a transaction differ.
    #[error("is not balanced: its credits and debits are not equal")]
    Unbalanced,
    /// An entry is not what its transaction says.
    #[error("does not match its transaction")]
    NotAsTransaction,
    /// An entry belongs to no transaction.
    #[error("belongs to no transaction")]
    NoTransaction,
    /// A statement is not the sum of its entries, or does not follow the one before it.
    #[error("does not match the entries of its month and the previous statement")]
    NotAsEntries,
    /// The totals are not the sums of the entries.
    #[error("has other totals ({totals:?}) than the sums of the entries ({sums:?})")]
    Totals {
        /// The stored totals; none when there is no row.
        totals: Option<BalanceTotals>,
        /// The sums.
        sums: BalanceTotals,
    },
    /// A token or card that may still be charged has no number.
    #[error("has no card number in the vault")]
    NumberMissing,
    /// A card number in the vault has no token or card, so that it will never be deleted.
    #[error("is the number of a token or card that does not exist")]
    NumberLeft,
    /// The vault has the key of a customer who was removed: the person is not erased.
    #[error("is the key of a customer who does not exist")]
    KeyLeft,
    /// A row of the vault does not open.
    #[error("does not open: {0}")]
    Sealed(SealedError),
    /// Acknowledged commits are missing.
    #[error("lacks the acknowledged commits {first} to {last}")]
    CommitsMissing {
        /// The first.
        first: CommitNumber,
        /// The last.
        last: CommitNumber,
    },
    /// It is not the store that a head was taken of, or lacks the commit of the head.
    #[error("{0}")]
    Head(HeadFault),
    /// The sandbox was asked for a payment that is in no log.
    #[error("is of a payment that is not in the log")]
    NoPayment,
    /// The sandbox was asked for a payout that is in no log.
    #[error("is of a payout that is not in the log")]
    NoPayout,
    /// The sandbox has answered, the log has no result, and no open effect would record it.
    #[error("has no recorded result, and the payment has no open effect")]
    NoResult,
    /// The log differs from the book.
    #[error("does not match the payment in the log")]
    OtherResult,
    /// The captures or payouts of a merchant differ.
    #[error("holds {book}, the log {log}")]
    OtherSums {
        /// In the book, for the lines that were matched with payments.
        book: BookSums,
        /// In the log.
        log: BookSums,
    },
}

impl Wrong {
    /// The name for programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Wrong::Missing => "missing",
            Wrong::Extra => "extra",
            Wrong::Different => "different",
            Wrong::Undecodable { .. } => "undecodable",
            Wrong::Unreadable { .. } => "unreadable",
            Wrong::Record(_) => "record",
            Wrong::NotReplayable { .. } => "not_replayable",
            Wrong::LogGoesOn { .. } => "log_goes_on",
            Wrong::OtherRecord => "other_record",
            Wrong::Ahead => "ahead",
            Wrong::WrongChecksum => "wrong_checksum",
            Wrong::NoMerchant => "no_merchant",
            Wrong::BadKey { .. } => "bad_key",
            Wrong::Unbalanced => "unbalanced",
            Wrong::NotAsTransaction => "not_as_transaction",
            Wrong::NoTransaction => "no_transaction",
            Wrong::NotAsEntries => "not_as_entries",
            Wrong::Totals { .. } => "totals",
            Wrong::NumberMissing => "number_missing",
            Wrong::NumberLeft => "number_left",
            Wrong::KeyLeft => "key_left",
            Wrong::Sealed(_) => "sealed",
            Wrong::CommitsMissing { .. } => "commits_missing",
            Wrong::Head(_) => "head",
            Wrong::NoPayment => "no_payment",
            Wrong::NoPayout => "no_payout",
            Wrong::NoResult => "no_result",
            Wrong::OtherResult => "other_result",
            Wrong::OtherSums { .. } => "other_sums",
        }
    }
}

/// Collects faults: the first ones in full, the others by number only.
#[derive(Debug)]
pub(super) struct Faults {
    kept: Vec<Fault>,
    kept_max: usize,
    counts: FaultCounts,
}

/// Numbers of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FaultCounts {
    /// All faults.
    pub(super) all: u64,
    /// The harmless ones.
    pub(super) harmless: u64,
}

impl FaultCounts {
    pub(super) const NONE: FaultCounts = FaultCounts { all: 0, harmless: 0 };

    /// The numbers of these faults.
    pub(super) fn of<'a>(faults: impl IntoIterator<Item = &'a Fault>) -> FaultCounts {
        let mut counts = FaultCounts::NONE;
        faults.into_iter().for_each(|fault| counts.note(fault));
        counts
    }

    /// Adds one fault.
    pub(super) fn note(&mut self, fault: &Fault) {
        self.all += 1;
        self.harmless += u64::from(is_harmless(fault));
    }

    /// The sum of both.
    pub(super) const fn with(self, others: FaultCounts) -> FaultCounts {
        FaultCounts { all: self.all + others.all, harmless: self.harmless + others.harmless }
    }

    /// The difference of both.
    pub(super) const fn without(self, others: FaultCounts) -> FaultCounts {
        FaultCounts {
            all: self.all.saturating_sub(others.all),
            harmless: self.harmless.saturating_sub(others.harmless),
        }
    }
}

fn is_harmless(fault: &Fault) -> bool {
    Concern::of(fault).is_harmless()
}

impl Faults {
    pub(super) const fn new(kept_max: usize) -> Faults {
        Faults { kept: Vec::new(), kept_max, counts: FaultCounts::NONE }
    }

    /// Notes a fault, unless a fault at this location is known already.
    pub(super) fn add(&mut self, merchant_id: Option<MerchantId>, location: FaultLocation, wrong: Wrong) {
        let fault = Fault { merchant_id, location, wrong };
        if self.knows(merchant_id, &fault.location) {
            return;
        }
        self.counts.note(&fault);
        if self.kept.len() < self.kept_max {
            self.kept.push(fault);
        }
    }

    /// The first one.
    pub(super) fn first(&self) -> Option<&Fault> {
        self.kept.first()
    }

    /// True when a fault at this location is known.
    pub(super) fn knows(&self, merchant_id: Option<MerchantId>, location: &FaultLocation) -> bool {
        self.kept.iter().any(|known| known.merchant_id == merchant_id && known.location == *location)
    }

    /// True when a fault in a row of a merchant's table is known.
    pub(super) fn knows_rows_of(&self, merchant_id: MerchantId, table: TableKind) -> bool {
        let is_of_table = |location: &FaultLocation| matches!(location, FaultLocation::Row(name) if name.is_of(table));
        self.kept.iter().any(|known| known.merchant_id == Some(merchant_id) && is_of_table(&known.location))
    }

    /// The numbers of faults.
    pub(super) const fn counts(&self) -> FaultCounts {
        self.counts
    }

    /// The number of faults that are kept in full.
    pub(super) const fn kept_count(&self) -> usize {
        self.kept.len()
    }

    /// Adds other faults after its own.
    pub(super) fn absorb(&mut self, others: Faults) {
        self.add_counted_only(others.counts.without(FaultCounts::of(&others.kept)));
        others.kept.into_iter().for_each(|fault| self.add(fault.merchant_id, fault.location, fault.wrong));
    }

    /// Adds faults by number only.
    pub(super) const fn add_counted_only(&mut self, counted_only: FaultCounts) {
        self.counts = self.counts.with(counted_only);
    }

    pub(super) fn into_parts(self) -> (Vec<Fault>, FaultCounts) {
        (self.kept, self.counts)
    }
}
