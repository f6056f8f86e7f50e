//! The context that all parts of a verification share.

use std::sync::Arc;

use till_domain::acquirer::AcquirerRef;
use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::rows::RowReader;
use till_storage::vault::Keyring;

use super::fault::{FaultLocation, Wrong};
use super::faults::Faults;
use super::options::VerifyOptions;
use super::report::VerifyProgress;
use super::row_name::RowName;
use super::walk::Gap;

/// Rows and records between two reports of progress.
const PROGRESS_EVERY: u64 = 4_096;

/// One verification.
pub(super) struct Job<'a> {
    pub(super) rows: &'a dyn RowReader,
    pub(super) keyring: &'a Arc<Keyring>,
    pub(super) options: &'a VerifyOptions,
    /// The acquirer whose book is compared with the payments, if there is one.
    pub(super) acquirer: Option<AcquirerRef>,
    pub(super) compares_rows: bool,
    pub(super) faults: Faults,
    pub(super) progress: VerifyProgress,
    pub(super) tell: &'a mut dyn FnMut(&VerifyProgress),
}

impl<'a> Job<'a> {
    /// Without an acquirer.
    pub(super) fn new(
        rows: &'a dyn RowReader,
        keyring: &'a Arc<Keyring>,
        options: &'a VerifyOptions,
        tell: &'a mut dyn FnMut(&VerifyProgress),
    ) -> Job<'a> {
        let (faults, progress) = (Faults::new(options.faults_kept), VerifyProgress::default());
        Job { rows, keyring, options, acquirer: None, compares_rows: true, faults, progress, tell }
    }

    /// Notes a fault of a merchant.
    pub(super) fn fault(&mut self, merchant_id: MerchantId, location: FaultLocation, wrong: Wrong) {
        self.faults.add(Some(merchant_id), location, wrong);
    }

    /// Notes a fault of a row.
    pub(super) fn row_fault(&mut self, merchant_id: Option<MerchantId>, family: Family, key: &[u8], wrong: Wrong) {
        self.faults.add(merchant_id, FaultLocation::Row(RowName::of(family, key)), wrong);
    }

    /// Notes a range that cannot be read.
    pub(super) fn gap(&mut self, merchant_id: Option<MerchantId>, family: Family, gap: Gap, expected: Option<u64>) {
        let name = |key: Vec<u8>| RowName::of(family, &key);
        let location =
            FaultLocation::Rows { family, after: gap.after.map(name), before: gap.before.map(name), expected };
        self.faults.add(merchant_id, location, Wrong::Unreadable { reason: gap.reason });
    }

    /// Counts a record.
    pub(super) fn count_record(&mut self) {
        self.progress.records += 1;
        self.tell_now_and_then(self.progress.records);
    }

    /// Counts a row.
    pub(super) fn count_row(&mut self) {
        self.progress.rows += 1;
        self.tell_now_and_then(self.progress.rows);
    }

    /// Counts a line of the book.
    pub(super) fn count_book_line(&mut self) {
        self.progress.book_lines += 1;
        self.tell_now_and_then(self.progress.book_lines);
    }

    /// Reports the progress.
    pub(super) fn tell(&mut self) {
        (self.tell)(&self.progress);
    }

    fn tell_now_and_then(&mut self, count: u64) {
        if count.is_multiple_of(PROGRESS_EVERY) {
            self.tell();
        }
    }
}
