//! `till verify`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use till_operate::acquirer_book::AcquirerBook;
use till_operate::checkpoint::compare_heads;
use till_operate::verify::{self, Fault, FaultLocation, Report, VerifyOptions, VerifyProgress, Wrong};
use till_sandbox::book::RocksBook;
use till_storage::deliveries::RocksDeliveries;
use till_storage::engine::{EngineOptions, StoppedStore, refuse_unfit};
use till_storage::vault::{Keyring, RootKey};

use super::exit_code::ExitCode;
use super::progress::{self, Unit};
use crate::configuration::{Configuration, Secrets};
use crate::startup::open_stored_keyring;
use crate::startup::{SANDBOX_DIRECTORY, WEBHOOKS_DIRECTORY};

/// The exit code when the verification could not be carried out. Otherwise it is 1 with faults and 0 without.
pub(super) const CANNOT_VERIFY: u8 = 2;

/// The exit code when there are faults.
const FAULTS_FOUND: u8 = 1;

/// The directory for replayed rows that outgrow memory, below the data directory, whose disk has room for them.
pub(super) const SCRATCH_DIRECTORY: &str = "verify-scratch";

/// A directory with the layout of a data directory, and the settings of its verification.
pub(super) struct VerificationTarget<'a> {
    pub(super) directory: &'a Path,
    /// The directory for replayed rows that outgrow memory. It must not exist, and its disk must have room for them.
    pub(super) scratch: PathBuf,
    /// The longest time that opening it may take.
    pub(super) open_time_max: Duration,
    /// The checkpoint that it is, or was restored from: the heads of the logs must equal the checkpoint's.
    pub(super) checkpoint: Option<&'a Path>,
}

/// The arguments of `till verify`.
#[derive(Debug, Clone, Args)]
pub(super) struct VerifyArguments {
    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Replays every merchant's log, compares the derived rows byte for byte, and prints the faults.
pub(super) fn verify(configuration: &Configuration, arguments: &VerifyArguments) -> anyhow::Result<ExitCode> {
    let directory = &configuration.data;
    if !directory.join("db").exists() {
        refuse_unfit(directory)?;
        bail!("there is no data to verify in {}", directory.display());
    }
    let roots = Secrets::find_vault_keys(configuration)?;
    let report = VerificationTarget::of_data(configuration).verify(&roots)?;
    if !arguments.json {
        return Ok(print(&report));
    }
    let mut shown = serde_json::to_value(&report)?;
    shown["clean"] = report.is_clean().into();
    progress::print(&format!("{shown:#}"));
    Ok(exit_code(&report))
}

/// Prints a report, and returns the exit code.
pub(super) fn print(report: &Report) -> ExitCode {
    progress::print(&text(report));
    exit_code(report)
}

pub(super) fn exit_code(report: &Report) -> ExitCode {
    if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(FAULTS_FOUND) }
}

impl<'a> VerificationTarget<'a> {
    /// The data directory.
    pub(super) fn of_data(configuration: &'a Configuration) -> VerificationTarget<'a> {
        let (directory, open_time_max) = (configuration.data.as_path(), configuration.open_time_max);
        VerificationTarget { directory, scratch: directory.join(SCRATCH_DIRECTORY), open_time_max, checkpoint: None }
    }

    /// The options for opening its store.
    pub(super) fn options(&self) -> EngineOptions {
        EngineOptions { open_limit: self.open_time_max, ..EngineOptions::new(self.directory) }
    }

    /// Opens its store for reading.
    pub(super) fn open_store(&self) -> anyhow::Result<StoppedStore> {
        Ok(StoppedStore::open(&self.options())?)
    }

    /// Opens its store for reading, and its vault with one of these keys.
    pub(super) fn open(&self, roots: &[RootKey]) -> anyhow::Result<(StoppedStore, Arc<Keyring>)> {
        let store = self.open_store()?;
        let keyring = open_stored_keyring(roots, &store)?;
        Ok((store, Arc::new(keyring)))
    }

    /// Verifies the whole directory.
    pub(super) fn verify(&self, roots: &[RootKey]) -> anyhow::Result<Report> {
        let (store, keyring) = self.open(roots)?;
        self.compare_heads(&store)?;
        let (book, book_fault) = self.open_book();
        let acknowledged = Some(store.acknowledged());
        let options = VerifyOptions { acknowledged, ..VerifyOptions::new(&self.scratch) };
        let book = book.as_ref().map(|book| book as &dyn AcquirerBook);
        let mut report = verify::verify(&store, &keyring, book, &options, &mut progress_display("verified"))?;
        report.add(book_fault);
        report.add(self.deliveries_fault());
        Ok(report)
    }

    fn compare_heads(&self, store: &StoppedStore) -> anyhow::Result<()> {
        let different = self.checkpoint.map(|checkpoint| compare_heads(checkpoint, store)).transpose()?.flatten();
        match different {
            Some(merchant) => bail!("the log of {merchant} does not end where the checkpoint says"),
            None => Ok(()),
        }
    }

    /// The first damage of the deliveries of webhooks, if there are any.
    fn deliveries_fault(&self) -> Option<Fault> {
        let directory = self.directory.join(WEBHOOKS_DIRECTORY);
        if !directory.exists() {
            return None;
        }
        let deliveries = RocksDeliveries::open_read_only(&directory, self.open_time_max);
        let error = deliveries.and_then(|deliveries| deliveries.check()).err()?;
        let wrong = Wrong::Unreadable { reason: error.advice(&directory) };
        Some(Fault { merchant_id: None, location: FaultLocation::Deliveries, wrong })
    }

    /// The sandbox's book, when there is one. A book that cannot be opened is a fault, but the store is still verified.
    pub(super) fn open_book(&self) -> (Option<RocksBook>, Option<Fault>) {
        let directory = self.directory.join(SANDBOX_DIRECTORY);
        if !directory.exists() {
            return (None, None);
        }
        match RocksBook::open_read_only_within(self.open_time_max, &directory) {
            Ok(book) => (Some(book), None),
            Err(error) => {
                let wrong = Wrong::Unreadable { reason: format!("{:#}", anyhow::Error::new(error)) };
                (None, Some(Fault { merchant_id: None, location: FaultLocation::Book, wrong }))
            }
        }
    }
}

/// Shows the progress of a pass over records. `what` is the participle of its work, such as `verified`.
pub(super) fn progress_display(what: &'static str) -> impl FnMut(&VerifyProgress) {
    let mut shown = progress::ProgressDisplay::begin(what, Unit::Things("records"), None);
    move |progress| {
        let VerifyProgress { merchants, merchants_total, records, records_total, rows, book_lines: _ } = progress;
        shown.detail(format!("({merchants} of {merchants_total} merchants, {rows} rows)"));
        shown.show_of(*records, *records_total);
    }
}

fn text(report: &Report) -> String {
    let Report { merchants, records, rows, book_lines, .. } = report;
    let mut lines = vec![format!(
        "read {merchants} merchants, {records} records, {rows} rows, {book_lines} lines of the sandbox's book"
    )];
    if report.merchants_not_replayed > 0 {
        let count = report.merchants_not_replayed;
        lines.push(format!(
            "the logs of {count} merchants cannot be replayed, and their rows were not compared with them"
        ));
    }
    lines.push(if report.is_clean() { "no faults".to_owned() } else { format!("{} faults:", report.fault_count) });
    lines.extend(report.faults.iter().map(ToString::to_string));
    let shown = u64::try_from(report.faults.len()).unwrap_or(u64::MAX);
    if report.fault_count > shown {
        lines.push(format!("and {} more", report.fault_count - shown));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_lists_its_faults_and_the_number_of_omitted_ones() {
        let clean = Report { merchants: 2, records: 30, rows: 400, book_lines: 5, ..Report::default() };
        assert_eq!(text(&clean), "read 2 merchants, 30 records, 400 rows, 5 lines of the sandbox's book\nno faults\n");
        let fault = Fault { merchant_id: None, location: FaultLocation::Head, wrong: Wrong::Missing };
        let faulty = Report { faults: vec![fault], fault_count: 3, ..clean };
        assert!(
            text(&faulty).ends_with("\n3 faults:\nthe head of the log is missing\nand 2 more\n"),
            "{}",
            text(&faulty)
        );
    }
}
