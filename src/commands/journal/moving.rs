//! The log, moved between a data directory and a database, and verified.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use till_operate::acquirer_book::AcquirerBook;
use till_operate::checkpoint::PAUSED_FILE;
use till_operate::repair::{Rebuild, Workshop};
use till_operate::verify::{Report, VerifyOptions};
use till_sandbox::book::RocksBook;
use till_shared::{JournalCopy, JournalReader, RowsOf, SharedJournal, SharedRows, import as import_log, note_exported};
use till_storage::deliveries::RocksDeliveries;
use till_storage::engine::{Engine, EngineOptions, RowReplica, is_new};

use crate::commands::exit_code::ExitCode;
use crate::commands::progress::{ProgressDisplay, Unit, say};
use crate::commands::repair::open_keyring;
use crate::commands::verify::{SCRATCH_DIRECTORY, print, progress_display};
use crate::configuration::{Configuration, JournalConfiguration, Secrets};
use crate::service::{NOTES, NoteFiles, Notes};
use crate::startup::{SANDBOX_DIRECTORY, WEBHOOKS_DIRECTORY, check_directory, open_stored_keyring};

/// Copies the log of a stopped server's data directory into an empty log.
pub(super) fn import(configuration: &Configuration, journal: &JournalConfiguration) -> anyhow::Result<ExitCode> {
    let data = &configuration.data;
    check_directory(configuration)?;
    if is_new(data) {
        bail!("there is no data in {}", data.display());
    }
    let store = Engine::open(&options(configuration, data))?;
    // The key must be at hand before the directory is only a repetition of the log.
    open_stored_keyring(&Secrets::find_vault_keys(configuration)?, &store)?;
    let (deliveries, book) = (open_deliveries(configuration, data)?, RocksBook::open(&data.join(SANDBOX_DIRECTORY))?);
    let beside: [(RowsOf, &dyn RowReplica); 2] = [(RowsOf::Deliveries, &deliveries), (RowsOf::Book, &book)];
    let notes = notes(&NoteFiles(data.clone()))?;
    let mut shown = ProgressDisplay::begin("copied", Unit::Things("records"), None);
    let records = import_log(&journal.database, &store, &beside, &notes, &mut |records| shown.show(records))?;
    drop(shown);
    store.close()?;
    say(&format!(
        "{records} records were copied; {} repeats the log in the database from now on, and may be removed",
        data.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Makes an embedded store of the log.
pub(super) fn export(configuration: &Configuration, journal: &JournalConfiguration) -> anyhow::Result<ExitCode> {
    let data = &configuration.data;
    refuse_existing(data)?;
    // The claim ends a server that uses the log, and the note keeps it from starting again: what it acknowledged is
    // there, and nothing more comes.
    let claimed = SharedJournal::open(&journal.database, Arc::new(|| {}))?;
    note_exported(&journal.database, Some(&data.display().to_string()))?;
    let exported = export_claimed(configuration, journal, &claimed);
    if exported.is_err() {
        note_exported(&journal.database, None)?;
    }
    Ok(print(&exported?))
}

fn export_claimed(
    configuration: &Configuration,
    journal: &JournalConfiguration,
    claimed: &SharedJournal,
) -> anyhow::Result<Report> {
    let data = &configuration.data;
    let report = embedded(configuration, JournalCopy::open(&journal.database)?, data, None)?;
    let deliveries = open_deliveries(configuration, data)?;
    copy_rows(journal, RowsOf::Deliveries, &deliveries)?;
    copy_rows(journal, RowsOf::Book, &RocksBook::open(&data.join(SANDBOX_DIRECTORY))?)?;
    let files = NoteFiles(data.clone());
    notes(claimed)?.iter().try_for_each(|(name, note)| files.keep(name, Some(note)))?;
    Ok(report)
}

/// Makes a copy of the log beside a server that uses it. A server that starts on the copy calls no acquirer.
pub(super) fn copy(configuration: &Configuration, journal: &JournalConfiguration) -> anyhow::Result<ExitCode> {
    let data = &configuration.data;
    refuse_existing(data)?;
    let log = JournalCopy::open(&journal.database)?;
    let report = embedded(configuration, log, data, None)?;
    std::fs::write(data.join(PAUSED_FILE), "")
        .with_context(|| format!("failed to mark {} as a copy", data.display()))?;
    Ok(print(&report))
}

fn refuse_existing(data: &Path) -> anyhow::Result<()> {
    if data.exists() {
        bail!("{} exists: name a directory that does not", data.display());
    }
    Ok(())
}

/// Verifies a copy of the log, and compares a copy of the sandbox's book with it.
pub(super) fn verify(configuration: &Configuration, journal: &JournalConfiguration) -> anyhow::Result<ExitCode> {
    let made = tempfile::tempdir()?;
    let log = JournalCopy::open(&journal.database)?;
    let book = RocksBook::open(&made.path().join(SANDBOX_DIRECTORY))?;
    let reader = JournalReader::new(journal.database.clone());
    RowsOf::Book.each_page(&reader, &mut |page| book.take_over(&page).map_err(anyhow::Error::msg))?;
    Ok(print(&embedded(configuration, log, &made.path().join("data"), Some(&book))?))
}

/// Makes a store of the log in a new directory, derives its rows and verifies it, with the sandbox's book when it is
/// given. The databases beside it are not made.
fn embedded(
    configuration: &Configuration,
    log: JournalCopy,
    to: &Path,
    book: Option<&dyn AcquirerBook>,
) -> anyhow::Result<Report> {
    let options = options(configuration, to);
    let engine = Engine::open(&EngineOptions { replica_of: Some(log.replicated_log()), ..options.clone() })?;
    let engine = Arc::new(engine);
    let mut shown = ProgressDisplay::begin("copied", Unit::Things("merchants"), None);
    log.copy_to(&engine, &mut |merchants| shown.show(merchants))?;
    drop(shown);
    engine.close()?;
    drop(engine);
    let workshop = Workshop::open(&options)?;
    let keyring = open_keyring(&workshop, &Secrets::find_vault_keys(configuration)?)?;
    let acknowledged = Some(workshop.held().acknowledged());
    let options = VerifyOptions { acknowledged, ..VerifyOptions::new(options.directory.join(SCRATCH_DIRECTORY)) };
    let rebuild = Rebuild { workshop: &workshop, keyring: &keyring, merchant_id: None, options };
    Ok(rebuild.run(book, &mut progress_display("read"))?)
}

fn options(configuration: &Configuration, directory: &Path) -> EngineOptions {
    let (open_limit, disk_reserve_bytes) = (configuration.open_time_max, configuration.disk_reserve_bytes);
    EngineOptions { open_limit, disk_reserve_bytes, ..EngineOptions::new(directory) }
}

fn open_deliveries(configuration: &Configuration, data: &Path) -> anyhow::Result<RocksDeliveries> {
    let directory = data.join(WEBHOOKS_DIRECTORY);
    Ok(RocksDeliveries::open(&directory, configuration.disk_reserve_bytes, configuration.open_time_max)?)
}

fn copy_rows(journal: &JournalConfiguration, of: RowsOf, to: &dyn RowReplica) -> anyhow::Result<()> {
    let rows = SharedRows::open(&journal.database, of, Arc::new(|| {}))?;
    rows.each_page(&mut |page| to.take_over(&page).map_err(anyhow::Error::msg))
}

fn notes(from: &dyn Notes) -> anyhow::Result<Vec<(&'static str, Vec<u8>)>> {
    let read = |name| Ok(from.read(name)?.map(|note| (name, note)));
    NOTES.into_iter().filter_map(|name| read(name).transpose()).collect()
}
