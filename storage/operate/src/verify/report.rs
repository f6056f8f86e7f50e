//! What a verification found, in words for an operator. Nothing here holds a secret or anything personal.

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

/// How far a verification has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
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

/// What a verification found.
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
    /// The rows' format, when it is an older one: then the next start writes what they lack, and they were not compared.
    pub older_row_format: Option<u32>,
    /// The first faults found.
    pub faults: Vec<Fault>,
    /// How many there are in all.
    pub fault_count: u64,
    /// How many of them a server may run with: [`Concern::Beside`].
    pub harmless_count: u64,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.fault_count == 0
    }

    /// Whether a server may run with the store: nothing is wrong, or only what is beside the logs and what follows from
    /// them.
    #[must_use]
    pub const fn is_fit(&self) -> bool {
        self.fault_count == self.harmless_count
    }

    /// Adds a fault that was found beside the verification, if there is one.
    pub fn add(&mut self, fault: Option<Fault>) {
        self.fault_count += u64::from(fault.is_some());
        self.harmless_count += u64::from(fault.as_ref().is_some_and(is_harmless));
        self.faults.extend(fault);
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Whose; none where it is of the store as a whole.
    pub merchant_id: Option<MerchantId>,
    /// Where.
    pub place: Place,
    /// What.
    pub wrong: Wrong,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(merchant_id) = self.merchant_id {
            write!(f, "{merchant_id}: ")?;
        }
        write!(f, "{} {}", self.place, self.wrong)
    }
}

/// Where something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
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
    /// The row that says up to where rows are derived.
    Applied,
    /// The snapshot of a state.
    Snapshot(Sequence),
    /// One row.
    Row(RowName),
    /// A stretch of rows.
    Rows {
        /// Of which family.
        family: Family,
        /// The last row before it, if there is one.
        behind: Option<RowName>,
        /// The first row behind it, if there is one.
        before: Option<RowName>,
        /// How many rows belong there by the log, if known.
        expected: Option<u64>,
    },
    /// The sandbox's book as a whole.
    Book,
    /// A line of the sandbox's book, by its reference.
    BookLine(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Store => f.write_str("the store"),
            Place::Records { first, last } if first == last => write!(f, "record {first}"),
            Place::Records { first, last } => write!(f, "records {first} to {last}"),
            Place::Head => f.write_str("the head of the log"),
            Place::Applied => f.write_str("the position of the rows"),
            Place::Snapshot(sequence) => write!(f, "the snapshot at record {sequence}"),
            Place::Row(name) => write!(f, "{name}"),
            Place::Rows { family, behind, before, expected } => {
                write!(f, "a stretch of the family {family}")?;
                if let Some(behind) = behind {
                    write!(f, " behind {behind}")?;
                }
                if let Some(before) = before {
                    write!(f, " before {before}")?;
                }
                expected.map_or(Ok(()), |count| write!(f, ", with {count} rows by the log,"))
            }
            Place::Book => f.write_str("the sandbox's book"),
            Place::BookLine(reference) => write!(f, "the line {reference} of the sandbox's book"),
        }
    }
}

/// Captures in the sandbox's book or in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BookSums {
    /// How many payments were captured.
    pub count: u64,
    /// How much in all, in minor units.
    pub captured_minor: u128,
}

impl fmt::Display for BookSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} captures of {} minor units", self.count, self.captured_minor)
    }
}

/// What is wrong. Reads on behind a place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// The log, or the store's own order, says that it is there.
    #[error("is missing")]
    Missing,
    /// The log knows nothing of it.
    #[error("does not follow from the log")]
    Extra,
    /// It is there with another content.
    #[error("differs from what the log says")]
    Different,
    /// The bytes are not what was written.
    #[error("cannot be decoded: {reason}")]
    Undecodable {
        /// What does not fit.
        reason: String,
    },
    /// The store did not hand the bytes out.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// What it said.
        reason: String,
    },
    /// A record is damaged or does not follow the one before it.
    #[error("cannot be used: {0}")]
    Record(RecordError),
    /// A record changes what the log before it has not made.
    #[error("cannot be replayed: {reason}")]
    NotReplayable {
        /// What is missing.
        reason: String,
    },
    /// Records stand behind the head.
    #[error("is behind record {to}, the last one of the log")]
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
    /// Nobody with a log owns it.
    #[error("belongs to no known merchant")]
    NoMerchant,
    /// No table has such a key.
    #[error("has no known key: {reason}")]
    BadKey {
        /// What does not fit.
        reason: String,
    },
    /// Credits and debits of a transaction differ.
    #[error("is not balanced: its credits and debits are not equal")]
    Unbalanced,
    /// An entry is not what its transaction says.
    #[error("is not as its transaction says")]
    NotAsTransaction,
    /// An entry belongs to no transaction.
    #[error("belongs to no transaction")]
    NoTransaction,
    /// A statement is not the sum of its entries, or does not follow the one before it.
    #[error("is not as the entries of its month and the statement before it say")]
    NotAsEntries,
    /// The totals are not the sums of the entries.
    #[error("has other totals ({totals:?}) than the sums of the entries ({sums:?})")]
    Totals {
        /// As stored; none when there is no row.
        totals: Option<BalanceTotals>,
        /// The sums.
        sums: BalanceTotals,
    },
    /// A token or card that may still be charged has no number.
    #[error("has no card number in the vault")]
    NumberMissing,
    /// A card number stands in the vault for nothing: nobody will ever delete it.
    #[error("is the number of a token or card that is not there")]
    NumberLeft,
    /// The key of a customer stands in the vault who was removed: the person is not erased.
    #[error("is the key of a customer who is not there")]
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
    /// The sandbox has answered, the log does not say so, and nothing is open that would record it.
    #[error("has no recorded result, and the payment has no open effect")]
    NoResult,
    /// The log says something else than the book.
    #[error("is not as the payment in the log")]
    OtherResult,
    /// The captures of a merchant differ.
    #[error("holds {book}, the log {log}")]
    OtherSums {
        /// In the book, as far as its lines were matched with payments.
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

/// Collects faults: the first ones in full, the others by number.
#[derive(Debug)]
pub(super) struct Faults {
    kept: Vec<Fault>,
    kept_max: usize,
    counts: FaultCounts,
}

/// How many faults there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FaultCounts {
    /// In all.
    pub(super) all: u64,
    /// Of those, the harmless ones.
    pub(super) harmless: u64,
}

impl FaultCounts {
    pub(super) const NONE: FaultCounts = FaultCounts { all: 0, harmless: 0 };

    /// Of these faults.
    pub(super) fn of<'a>(faults: impl IntoIterator<Item = &'a Fault>) -> FaultCounts {
        let mut counts = FaultCounts::NONE;
        faults.into_iter().for_each(|fault| counts.note(fault));
        counts
    }

    /// One more.
    pub(super) fn note(&mut self, fault: &Fault) {
        self.all += 1;
        self.harmless += u64::from(is_harmless(fault));
    }

    /// With these.
    pub(super) const fn with(self, others: FaultCounts) -> FaultCounts {
        FaultCounts { all: self.all + others.all, harmless: self.harmless + others.harmless }
    }

    /// Without these.
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

    /// Notes a fault, unless the place is known to be faulty already.
    pub(super) fn add(&mut self, merchant_id: Option<MerchantId>, place: Place, wrong: Wrong) {
        let fault = Fault { merchant_id, place, wrong };
        if self.knows(merchant_id, &fault.place) {
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

    /// Whether the place is known to be faulty.
    pub(super) fn knows(&self, merchant_id: Option<MerchantId>, place: &Place) -> bool {
        self.kept.iter().any(|known| known.merchant_id == merchant_id && known.place == *place)
    }

    /// Whether a row of a merchant's table is known to be faulty.
    pub(super) fn knows_rows_of(&self, merchant_id: MerchantId, table: TableKind) -> bool {
        let is_of_table = |place: &Place| matches!(place, Place::Row(name) if name.is_of(table));
        self.kept.iter().any(|known| known.merchant_id == Some(merchant_id) && is_of_table(&known.place))
    }

    /// How many of each kind.
    pub(super) const fn counts(&self) -> FaultCounts {
        self.counts
    }

    /// How many are kept in full.
    pub(super) const fn kept_count(&self) -> usize {
        self.kept.len()
    }

    /// Adds others behind its own.
    pub(super) fn absorb(&mut self, others: Faults) {
        self.add_untold(others.counts.without(FaultCounts::of(&others.kept)));
        others.kept.into_iter().for_each(|fault| self.add(fault.merchant_id, fault.place, fault.wrong));
    }

    /// Adds to their number alone.
    pub(super) const fn add_untold(&mut self, untold: FaultCounts) {
        self.counts = self.counts.with(untold);
    }

    pub(super) fn into_parts(self) -> (Vec<Fault>, FaultCounts) {
        (self.kept, self.counts)
    }
}
