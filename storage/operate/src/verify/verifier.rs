//! Runs a whole verification.

use std::sync::Arc;

use till_storage::journal::CommitNumber;
use till_storage::journal::layout::read_meta_number;
use till_storage::keys::MetaKey;
use till_storage::rows::{RowError, RowReader};
use till_storage::vault::Keyring;

use crate::acquirer_book::AcquirerBook;

use super::book::{self, Captures};
use super::directory::Directory;
use super::fault::{FaultLocation, Wrong};
use super::job::Job;
use super::options::VerifyOptions;
use super::report::{Report, VerifyProgress};
use super::scratch::ScratchError;
use super::strays::{self, Merchants};
use super::threads;
use super::vault;

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
    let acquirer = book.map(AcquirerBook::acquirer);
    let mut job = Job { acquirer, ..Job::new(rows, keyring, options, tell) };
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
