//! The result of a verification.

use super::concern::is_harmless;
use super::fault::Fault;

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
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
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
