//! `till verify`

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use till_storage::engine::{EngineOptions, StoppedStore};
use till_storage::family::Family;
use till_storage::rows::RowReader;
use till_storage::sandbox_book::{Book, RocksBook};
use till_storage::vault::{Keyring, VaultKey};
use till_storage::verify::{self, Fault, Place, Progress, Report, VerifyOptions, Wrong};

use crate::bootstrap::{SANDBOX_DIRECTORY, root_key};
use crate::configuration::{Configuration, Secrets};

/// How the process ends when nothing could be verified. With faults it ends with 1, without with 0.
pub(super) const CANNOT_VERIFY: u8 = 2;

/// How the process ends when there are faults.
const FAULTS_FOUND: u8 = 1;

/// Where replayed rows go that outgrow memory, below the data directory: on its disk there is room for them.
const SCRATCH_DIRECTORY: &str = "verify-scratch";

/// Time between two words of progress on a terminal.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// Replays every merchant's log, compares what was derived from it byte for byte, and prints what is wrong.
pub(super) fn verify(configuration: &Configuration) -> anyhow::Result<ExitCode> {
    if !configuration.data.join("db").exists() {
        bail!("there is no data to verify in {}", configuration.data.display());
    }
    let root = root_key(&Secrets::find_vault_key(configuration)?)?;
    let store = StoppedStore::open(&store_options(configuration))?;
    let stored = store.get(Family::Vault, &VaultKey::Keyring.encode()).context("failed to read the key ring")?;
    let keyring = Arc::new(Keyring::open(&root, &stored.context("the store has no key ring")?)?);
    let (book, book_fault) = open_book(configuration);
    let options = VerifyOptions {
        acknowledged: Some(store.acknowledged()),
        ..VerifyOptions::new(configuration.data.join(SCRATCH_DIRECTORY))
    };
    let book = book.as_ref().map(|book| book as &dyn Book);
    let mut report = verify::verify(&store, &keyring, book, &options, &mut teller())?;
    if let Some(fault) = book_fault {
        report.fault_count += 1;
        report.faults.push(fault);
    }
    let _ = std::io::stdout().write_all(text(&report).as_bytes()); // A reader that has gone away wants no more.
    Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(FAULTS_FOUND) })
}

fn store_options(configuration: &Configuration) -> EngineOptions {
    EngineOptions { open_limit: configuration.open_time_max, ..EngineOptions::new(&configuration.data) }
}

/// The sandbox's book, where there is one; one that does not open is a fault, and the store is verified all the
/// same.
fn open_book(configuration: &Configuration) -> (Option<RocksBook>, Option<Fault>) {
    let directory = configuration.data.join(SANDBOX_DIRECTORY);
    if !directory.exists() {
        return (None, None);
    }
    match RocksBook::open_read_only(&directory) {
        Ok(book) => (Some(book), None),
        Err(error) => {
            let wrong = Wrong::Unreadable { reason: format!("{:#}", anyhow::Error::new(error)) };
            (None, Some(Fault { merchant_id: None, place: Place::Book, wrong }))
        }
    }
}

/// Tells a person at a terminal how far it has come.
fn teller() -> impl FnMut(&Progress) {
    let is_terminal = std::io::stderr().is_terminal();
    let mut told = Instant::now();
    move |progress| {
        if is_terminal && told.elapsed() >= PROGRESS_EVERY {
            told = Instant::now();
            let Progress { merchants, merchants_total, records, rows, book_lines: _ } = progress;
            eprintln!("{merchants} of {merchants_total} merchants, {records} records, {rows} rows");
        }
    }
}

fn text(report: &Report) -> String {
    let Report { merchants, records, rows, book_lines, .. } = report;
    let mut lines = vec![format!(
        "read {merchants} merchants, {records} records, {rows} rows, {book_lines} lines of the sandbox's book"
    )];
    if let Some(format) = report.older_row_format {
        lines.push(format!(
            "the rows have the older format {format}: they are derived again at the next start, and were not compared"
        ));
    }
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
    fn a_clean_report_ends_with_no_faults_and_another_with_each_fault_and_how_many_are_left_out() {
        let clean = Report { merchants: 2, records: 30, rows: 400, book_lines: 5, ..Report::default() };
        assert_eq!(text(&clean), "read 2 merchants, 30 records, 400 rows, 5 lines of the sandbox's book\nno faults\n");
        let fault = Fault { merchant_id: None, place: Place::Head, wrong: Wrong::Missing };
        let faulty = Report { faults: vec![fault], fault_count: 3, ..clean };
        assert!(
            text(&faulty).ends_with("\n3 faults:\nthe head of the log is missing\nand 2 more\n"),
            "{}",
            text(&faulty)
        );
    }
}
