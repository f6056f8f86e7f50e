//! Runs a whole verification.

use std::path::PathBuf;
use std::sync::Arc;

use till_storage::journal::CommitNumber;
use till_storage::journal::layout::read_meta_number;
use till_storage::keys::MetaKey;
use till_storage::rows::{RowError, RowReader};
use till_storage::vault::Keyring;

use crate::acquirer_book::AcquirerBook;

use super::book::{self, Captures};
use super::directory::Directory;
use super::job::Job;
use super::report::{FaultLocation, Faults, Report, VerifyProgress, Wrong};
use super::scratch::ScratchError;
use super::strays::{self, Merchants};
use super::threads;
use super::vault;

/// Limit of the replayed rows of one merchant in memory: some hundred thousand payments. Beyond it they go to the
/// scratch directory, so that memory is bounded for any number of payments. One merchant is checked on each processor
/// at a time.
const MEMORY_BYTES: usize = 256 * 1024 * 1024;

/// Limit of the faults that are kept in full: more of them say nothing new.
const FAULTS_KEPT: usize = 1_000;

/// Options of a verification.
#[derive(Debug, Clone)]
pub struct VerifyOptions {
    /// A directory that does not exist, on a disk with room for the rows of the largest merchant for each processor. It
    /// is made when rows outgrow memory, and removed.
    pub scratch: PathBuf,
    /// Limit of the replayed rows of one merchant in memory.
    pub memory_bytes_max: usize,
    /// Limit of the faults that are kept in full.
    pub faults_kept: usize,
    /// True when derived rows are compared; otherwise only the data that they are derived from is checked.
    pub compares_rows: bool,
    /// The last commit that was acknowledged, if it is known.
    pub acknowledged: Option<CommitNumber>,
}

impl VerifyOptions {
    /// The defaults.
    #[must_use]
    pub fn new(scratch: impl Into<PathBuf>) -> VerifyOptions {
        VerifyOptions {
            scratch: scratch.into(),
            memory_bytes_max: MEMORY_BYTES,
            faults_kept: FAULTS_KEPT,
            compares_rows: true,
            acknowledged: None,
        }
    }

    /// The options for one of several threads, which has a part of the scratch directory.
    pub(super) fn of_thread(&self, number: usize) -> VerifyOptions {
        VerifyOptions { scratch: self.scratch.join(number.to_string()), ..self.clone() }
    }
}

/// Verifies a store that nobody writes to: every log, the rows derived from it, the vault, and an acquirer's book where
/// there is one. Data that cannot be read is a fault, and the rest is verified nevertheless.
///
/// # Errors
/// [`ScratchError`] when rows outgrow memory and the scratch directory cannot be used.
pub fn verify(
    rows: &(dyn RowReader + Sync),
    keyring: &Arc<Keyring>,
    book: Option<&dyn AcquirerBook>,
    options: &VerifyOptions,
    tell: &mut dyn FnMut(&VerifyProgress),
) -> Result<Report, ScratchError> {
    let (faults, progress) = (Faults::new(options.faults_kept), VerifyProgress::default());
    let acquirer = book.map(AcquirerBook::acquirer);
    let mut job =
        Job { rows, keyring, options, acquirer, compares_rows: options.compares_rows, faults, progress, tell };
    check_store(&mut job);
    let merchants = strays::find_merchants(&mut job);
    job.progress.merchants_total = u64::try_from(merchants.len()).unwrap_or(u64::MAX);
    job.progress.records_total = merchants.values().flatten().map(|head| head.sequence.0).sum();
    let mut report = Report::default();
    let captures = check_merchants(rows, &merchants, &mut report, &mut job)?;
    strays::find_strays(&merchants, &mut job);
    vault::check(&merchants, &captures, &mut job);
    if let Some(book) = book {
        book::check(book, rows, &merchants, &captures, &mut job);
    }
    job.tell();
    let Job { faults, progress, .. } = job;
    let (faults, counts) = faults.into_parts();
    (report.faults, report.fault_count, report.harmless_count) = (faults, counts.all, counts.harmless);
    Ok(Report { records: progress.records, rows: progress.rows, book_lines: progress.book_lines, ..report })
}

/// Checks the store's own rows.
fn check_store(job: &mut Job<'_>) {
    let last = read_meta_number(job.rows, MetaKey::LastCommit).map(|last| last.map(u64::from_be_bytes));
    match (last, job.options.acknowledged) {
        (Ok(last), Some(acknowledged)) => {
            let last = CommitNumber(last.unwrap_or(0));
            if last < acknowledged {
                let wrong = Wrong::CommitsMissing { first: last.next(), last: acknowledged };
                job.faults.add(None, FaultLocation::Store, wrong);
            }
        }
        (Ok(_), None) => {}
        (Err(error), _) => unreadable(&error, job),
    }
    if let Err(error) = read_meta_number::<4>(job.rows, MetaKey::RowFormat) {
        unreadable(&error, job);
    }
}

fn unreadable(error: &RowError, job: &mut Job<'_>) {
    job.faults.add(None, FaultLocation::Store, Wrong::Unreadable { reason: error.to_string() });
}

/// Checks every merchant, and the directory of them. Returns the captures of merchants that are complete.
fn check_merchants(
    rows: &(dyn RowReader + Sync),
    merchants: &Merchants,
    report: &mut Report,
    job: &mut Job<'_>,
) -> Result<Captures, ScratchError> {
    let (mut directory, mut captures) = (Directory::default(), Captures::new());
    threads::check_merchants(rows, merchants, job, &mut |merchant_id, checked, seen| {
        directory.absorb(seen);
        report.merchants += u64::from(checked.records > 0);
        report.merchants_not_replayed += u64::from(!checked.replayed);
        if let Some(sums) = checked.captures {
            captures.insert(merchant_id, sums);
        }
    })?;
    if job.compares_rows {
        directory.finish(job);
    }
    Ok(captures)
}
