//! Positions: of a record in its merchant's log, of a commit in the store, of a claim.

use std::fmt;

/// Position of a record in its merchant's log. The first record is 1; 0 is the position of an empty log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize)]
pub struct Sequence(pub u64);

impl Sequence {
    /// The position after this one. 2^64 records are out of reach: at a million a second they would take
    /// half a million years.
    #[must_use]
    pub const fn next(self) -> Sequence {
        Sequence(self.0.saturating_add(1))
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of one claim of a merchant's log. A later claim has a greater epoch, and fences the earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(pub u64);

/// Position of a commit in the store, over all merchants. It is assigned when the batch is written and
/// is not part of the record's hash. The first commit is 1; 0 means that there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CommitNumber(pub u64);

impl CommitNumber {
    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> CommitNumber {
        CommitNumber(self.0.saturating_add(1))
    }
}

impl fmt::Display for CommitNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of one batch, drawn at random by its producer: it tells if an uncertain append was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct BatchId(pub [u8; 16]);

/// The end of a merchant's log: the position and the hash of the last record. The hash covers the previous
/// hash, so equal heads mean equal logs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Head {
    /// Position of the last record.
    pub sequence: Sequence,
    /// BLAKE3-256 of the last record.
    pub hash: [u8; 32],
}

impl Head {
    /// The head of a log without records.
    pub const EMPTY: Head = Head { sequence: Sequence(0), hash: [0; 32] };
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.sequence)?;
        self.hash[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
