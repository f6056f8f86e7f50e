//! Opens the data directory and starts the engine. No other file of the edge names the store's implementation.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use till_actors::clock::{Clock, SystemClock};
use till_actors::security_codes::SecurityCodes;
use till_actors::webhooks::{AddressPolicy, Sender, WebhookDelivery};
use till_actors::{Acquirers, Dependencies, EXPIRY_PAUSE, Engine, EngineOptions, StartError, Store};
use till_domain::ids::MerchantId;
use till_domain::merchant::AcquirerName;
use till_operate::archive::{Archiver, check_place};
use till_operate::checkpoint::{BookBeside, Checkpointer, PAUSED_FILE, Shelf};
use till_operate::scrub::{Scrubber, TableInspector};
use till_sandbox::SandboxAcquirer;
use till_sandbox::book::RocksBook;
use till_shared::{RowsOf, SharedJournal};
use till_storage::commit::GROUP_COMMIT_DELAY;
use till_storage::deliveries::RocksDeliveries;
use till_storage::engine::{
    Engine as DiskEngine, EngineOptions as DiskOptions, FileWatch, check_synced_logs, is_new, refuse_unfit,
};
use till_storage::journal::{Append, AppendVerdict, CommitNumber, Journal};
use till_storage::statistics::StatisticsSource;
use till_storage::turns::Turns;
use till_storage::vault::{Keyring, RootKey, keyring_write, stored_keyring};
use tokio::sync::Mutex;

use super::data_directory::check_data_directory;
use super::running_mark::RunningMark;
use super::shared_log::{Filling, SharedLog, follow, watch};
use super::vault_keys;
use crate::configuration::{Configuration, JournalConfiguration, Secrets, processors};
use crate::process::descriptors::DescriptorShares;
use crate::service::{
    CheckpointSchedule, Checkpoints, LastUsed, NoteFiles, Notes, Operations, Reloads, RewrapKeyring, SdkRate,
    SdkWrites, Service,
};

/// The directory of the store's database, below the data directory.
const DATABASE_DIRECTORY: &str = "db";

/// The directory of the sandbox's book, below the data directory.
pub(crate) const SANDBOX_DIRECTORY: &str = "sandbox";

/// The directory of the store of deliveries, below the data directory.
pub(crate) const WEBHOOKS_DIRECTORY: &str = "webhooks";

/// The time after which an idle actor is retired.
const IDLE_BEFORE_RETIRING: Duration = Duration::from_secs(60);

/// The limit of live actors. Each uses at most about a megabyte.
const LIVE_ACTORS_MAX: usize = 10_000;

/// The time limit for writing the abort message: standard error may be a full pipe that nobody reads.
const ABORT_MESSAGE_MAX: Duration = Duration::from_secs(2);

/// The log of no merchant. Data of the store as a whole is written under it, without records.
const STORE_ITSELF: MerchantId = MerchantId::from_bytes([0; 16]);

/// A started service, and the parts that must be closed after it.
pub(super) struct Started {
    pub service: Arc<Service>,
    schedule: Option<CheckpointSchedule>,
    disk: Arc<DiskEngine>,
    file_watch: FileWatch,
    tables: Arc<TableInspector>,
    scrubber: Option<Scrubber>,
    running_mark: Option<RunningMark>,
    journal: Option<Arc<SharedJournal>>,
    journal_watch: Option<Turns>,
}

/// An open data directory, with nothing running on it.
pub struct Opened {
    disk: Arc<DiskEngine>,
    /// The keys of each purpose.
    pub keyring: Arc<Keyring>,
    book: RocksBook,
    deliveries: Arc<RocksDeliveries>,
    sandbox: Arc<SandboxAcquirer>,
}

/// The buffers of an open store.
#[derive(Debug, Clone, Copy)]
pub struct Buffers {
    /// Bytes of table blocks cached in memory.
    pub block_cache_bytes: usize,
    /// Bytes of rows that are not in tables yet.
    pub memtable_bytes: usize,
    /// The limit of bytes of the log: a start after a crash reads it twice.
    pub wal_bytes_max: u64,
}

impl Opened {
    /// The journal with its rows.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.disk) as _
    }

    /// The acquirers, by name.
    #[must_use]
    pub fn acquirers(&self) -> Acquirers {
        acquirers(&self.sandbox)
    }

    /// Closes the stores.
    ///
    /// # Errors
    /// Fails when a store does not close. Acknowledged commits are durable nevertheless.
    pub fn close(self) -> anyhow::Result<()> {
        drop(self.sandbox);
        self.disk.close().context("failed to close the store")
    }
}

/// Opens the data directory, or creates it, with other buffers than those of a server.
///
/// # Errors
/// A reason that the operator must know: the store is damaged, in use or of a newer format, or the vault key is wrong.
pub fn open_with(configuration: &Configuration, vault_keys: &[RootKey], buffers: &Buffers) -> anyhow::Result<Opened> {
    let Buffers { block_cache_bytes, memtable_bytes, wal_bytes_max } = *buffers;
    let options = DiskOptions { block_cache_bytes, memtable_bytes, wal_bytes_max, ..disk_options(configuration) };
    open_as(configuration, &options, vault_keys, None).map(|(opened, _)| opened)
}

/// Opens the data directory, with its log in a database where one is named.
fn open_as(
    configuration: &Configuration,
    options: &DiskOptions,
    vault_keys: &[RootKey],
    journal: Option<&JournalConfiguration>,
) -> anyhow::Result<(Opened, Option<Arc<SharedJournal>>)> {
    let (disk, keyring, log) = match journal {
        Some(journal) => open_repeating(options, vault_keys, journal)?,
        None => {
            let disk = DiskEngine::open(options)?;
            let stored = stored_keyring(&disk).context("failed to read the key ring")?;
            let keyring = open_keyring(stored, vault_keys, disk.last_commit() > CommitNumber(0))?;
            (disk, keyring, None)
        }
    };
    let (disk, log) = (Arc::new(disk), log.as_ref());
    let keyring = Arc::new(keyring.map_or_else(|| create_keyring(&disk, vault_keys), Ok)?);
    let (book, filling) = open_book(configuration, log).context("failed to open the sandbox's book")?;
    let deliveries = open_deliveries(configuration, log).context("failed to open the deliveries of webhooks")?;
    let filled = book.clone();
    let fill = move || filling.map_or(Ok(()), |filling| filling.fill(&filled)).map_err(|error| format!("{error:#}"));
    let sandbox =
        SandboxAcquirer::start_or_end(book.clone(), fill, abort_with_message).context("failed to start the sandbox")?;
    let opened = Opened { disk, keyring, book, deliveries: Arc::new(deliveries), sandbox: Arc::new(sandbox) };
    Ok((opened, log.map(|log| Arc::clone(&log.journal))))
}

/// Opens a data directory that repeats the log in a database. The log is claimed last: a start with a directory or a
/// vault key that does not fit takes it from nobody.
fn open_repeating(
    options: &DiskOptions,
    vault_keys: &[RootKey],
    journal: &JournalConfiguration,
) -> anyhow::Result<(DiskEngine, Option<Keyring>, Option<SharedLog>)> {
    let found = SharedLog::find(journal).context("failed to find the log")?;
    let repeats = Some(found.to_repeat());
    let disk = DiskEngine::open(&DiskOptions { repeats, ..options.clone() }).with_context(|| {
        let directory = options.directory.display();
        format!("{directory} only repeats the log in the database: if it is damaged, remove it, and start again")
    })?;
    let stored = found.keyring().context("failed to read the key ring")?;
    let keyring = open_keyring(stored, vault_keys, !found.is_empty())?;
    let log = SharedLog::claim(journal, &found).context("failed to claim the log")?;
    log.lead(&disk)?;
    Ok((disk, keyring, Some(log)))
}

/// Does something on a thread of its own, and waits for it: a database elsewhere is waited for, and the server's
/// threads must not wait.
fn apart<T: Send>(work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|_| Err(anyhow!("a thread of the start panicked")))
}

/// Opens the data directory and starts the service. Must be called within an actix system.
///
/// # Errors
/// Like [`open_with`]; or when the service does not start.
pub(super) fn start(configuration: &Configuration, secrets: &Secrets) -> anyhow::Result<Started> {
    let is_new = is_new(&configuration.data);
    let beside = [SANDBOX_DIRECTORY, WEBHOOKS_DIRECTORY].map(|directory| configuration.data.join(directory));
    let missing: Vec<PathBuf> = beside.into_iter().filter(|directory| !directory.exists()).collect();
    let (options, place) = (disk_options(configuration), configuration.journal.as_ref());
    let (opened, journal) = apart(|| open_as(configuration, &options, &secrets.vault_keys, place))?;
    let Opened { disk, keyring, book, deliveries, sandbox } = opened;
    if is_new {
        tracing::warn!(directory = %configuration.data.display(), "a new, empty store was created");
    } else {
        missing.iter().for_each(|directory| tell_of_missing(directory));
    }
    let archiver = start_archiver(configuration, &disk)?;
    let shelf = Shelf::at(&configuration.checkpoints.directory).of(&configuration.data);
    let tables = open_tables(configuration).context("failed to read what is known of tables")?;
    let books = vec![
        BookBeside { directory: SANDBOX_DIRECTORY, book: Box::new(book) },
        BookBeside { directory: WEBHOOKS_DIRECTORY, book: Box::new(Arc::clone(&deliveries)) },
    ];
    let checkpoints = Checkpoints::new(Checkpointer::new(Arc::clone(&disk), books, shelf, Arc::clone(&tables)));
    checkpoints.clear();
    let store: Arc<dyn Store> = Arc::clone(&disk) as _;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let security_codes = Arc::new(SecurityCodes::new());
    let dependencies = Dependencies {
        store: Arc::clone(&store),
        keyring: Arc::clone(&keyring),
        acquirers: acquirers(&sandbox),
        clock: Arc::clone(&clock),
        security_codes: Arc::clone(&security_codes),
        webhooks: webhook_delivery(configuration, deliveries),
    };
    let files = || Arc::new(NoteFiles(configuration.data.clone())) as Arc<dyn Notes>;
    let notes = journal.as_ref().map_or_else(files, |journal| Arc::clone(journal) as _);
    // A copy of a directory that only repeats a log elsewhere is as good as its original.
    let running_mark = journal.is_none().then(|| mark_as_running(&configuration.data, &*notes)).transpose()?;
    let read = || Ok((LastUsed::among(Arc::clone(&notes)), notes.read(PAUSED_FILE)?.is_some()));
    let (last_used, is_paused) = apart(read)?;
    let engine = Engine::start(dependencies, engine_options(configuration, is_paused));
    let engine = engine.map_err(|error| with_remedy(error, configuration))?;
    if engine.is_paused() {
        tracing::warn!("the server is paused: no acquirer is called and no timer fires before `till resume`");
    }
    let rates = &configuration.limits;
    let sdk_rate = SdkRate::new(rates.sdk_calls_per_second, "one address for one installation");
    let sdk_writes =
        SdkWrites::new(rates.sdk_writes_per_second_per_address, rates.sdk_writes_per_second_per_installation);
    let last_used = Arc::new(last_used);
    let creation = Arc::new(Mutex::new(()));
    let schedule = start_schedule(configuration, &checkpoints, &clock)?;
    let checkpoints = Some(checkpoints).filter(|_| journal.is_none());
    let running = RunningKeyring {
        disk: Arc::clone(&disk),
        keyring: Arc::clone(&keyring),
        rewrapping: parking_lot::Mutex::new(()),
    };
    let file_watch = watch_files(configuration, &disk).context("failed to start the watch over files")?;
    let scrubber = start_scrub(&tables).context("failed to start the scrub of tables")?;
    let operations = Operations { reloads: Arc::new(Reloads::default()), keyring: Arc::new(running) };
    let service = Service {
        engine,
        store,
        keyring,
        clock,
        security_codes,
        last_used,
        sdk_rate,
        sdk_writes,
        webhook_addresses: webhook_addresses(configuration),
        webhook_tests: Arc::default(),
        sandbox,
        checkpoints,
        operations: Some(operations),
        archiver,
        notes,
        creation,
    };
    let service = Arc::new(service);
    let journal_watch = journal.as_ref().map(|journal| watch(Arc::clone(journal))).transpose()?;
    if let Some(journal) = &journal {
        let waiting = Arc::downgrade(&service);
        let refuse =
            move |reason: &str| waiting.upgrade().iter().for_each(|service| service.engine.refuse_waiting(reason));
        journal.when_refusing(Box::new(refuse));
        actix_web::rt::spawn(follow(Arc::downgrade(&service), Arc::clone(journal)));
    }
    Ok(Started { service, schedule, disk, file_watch, tables, scrubber, running_mark, journal, journal_watch })
}

/// A store that is not new has both databases beside its own, unless it was restored without them.
fn tell_of_missing(directory: &Path) {
    tracing::warn!(directory = %directory.display(), "a directory of the store was missing and is made anew, empty");
}

/// Makes a copy of a directory that a server was running on start paused, like a restored one, so that it does not call
/// the acquirer.
fn mark_as_running(data: &Path, notes: &dyn Notes) -> anyhow::Result<RunningMark> {
    if RunningMark::is_of_a_copy(data).context("failed to read the mark of a running server")? {
        tracing::warn!(
            directory = %data.display(),
            "this directory is a plain copy of one that a server was running on: it may have files of different \
                moments. Run `till verify` on it, and `till resume` when its original does not run any more. To copy a \
                store, take a checkpoint, or stop the server first."
        );
        notes.keep(PAUSED_FILE, Some(&[])).context("failed to pause the server")?;
    }
    RunningMark::make(data).context("failed to make the mark of a running server")
}

/// Refuses a directory that no server may write to, before any file is created in it.
///
/// # Errors
/// Fails when it is not a directory, may not be written to, is a checkpoint, or is not fully restored.
pub fn check_directory(configuration: &Configuration) -> anyhow::Result<()> {
    check_data_directory(&configuration.data)?;
    if let Some(archive) = &configuration.archive.directory {
        check_place(archive, &configuration.data).context("failed to start the archive")?;
    }
    Ok(refuse_unfit(&configuration.data)?)
}

/// Before any other write, since the archive must not have a gap.
fn start_archiver(configuration: &Configuration, disk: &Arc<DiskEngine>) -> anyhow::Result<Option<Archiver>> {
    let start = |settings| Archiver::start(Arc::clone(disk), settings);
    configuration.archive.of_store().map(start).transpose().context("failed to start the archive")
}

/// Ends the process when a file that it writes to is not in its place any more.
fn watch_files(configuration: &Configuration, disk: &Arc<DiskEngine>) -> std::io::Result<FileWatch> {
    let beside = [SANDBOX_DIRECTORY, WEBHOOKS_DIRECTORY].map(|directory| configuration.data.join(directory));
    let on_gone = |reason: String| end_process(&reason, &format!("till: {reason}; the process stops, start it again."));
    FileWatch::start(Arc::clone(disk), beside.to_vec(), Box::new(on_gone))
}

fn open_tables(configuration: &Configuration) -> std::io::Result<Arc<TableInspector>> {
    let databases = vec![DATABASE_DIRECTORY, SANDBOX_DIRECTORY, WEBHOOKS_DIRECTORY];
    Ok(Arc::new(TableInspector::open(&configuration.data, databases, configuration.scrub_every)?))
}

fn start_scrub(tables: &Arc<TableInspector>) -> std::io::Result<Option<Scrubber>> {
    tables.every().map(|every| Scrubber::start(Arc::clone(tables), every)).transpose()
}

fn start_schedule(
    configuration: &Configuration,
    checkpoints: &Checkpoints,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Option<CheckpointSchedule>> {
    let settings = &configuration.checkpoints;
    let start = |every| CheckpointSchedule::start(checkpoints.clone(), Arc::clone(clock), every, settings.kept);
    settings.every.map(start).transpose().context("failed to start the schedule of checkpoints")
}

impl Started {
    /// The statistics of the store.
    #[must_use]
    pub(super) fn store_statistics(&self) -> Arc<dyn StatisticsSource> {
        Arc::clone(&self.disk) as _
    }

    /// The log in a database, if it is in one.
    #[must_use]
    pub(super) fn journal(&self) -> Option<Arc<SharedJournal>> {
        self.journal.clone()
    }

    /// The inspector of the tables of all databases.
    #[must_use]
    pub(super) fn tables(&self) -> Arc<TableInspector> {
        Arc::clone(&self.tables)
    }

    /// Stops the service and closes the data, once no call is in progress any more.
    ///
    /// # Errors
    /// Fails when the store does not close. Acknowledged commits are durable nevertheless.
    pub(super) fn stop(self, patience: Duration) -> anyhow::Result<()> {
        drop(self.schedule);
        drop(self.file_watch);
        drop(self.journal_watch);
        self.scrubber.iter().for_each(Scrubber::stop);
        // The store must not be closed while a checkpoint is being taken.
        self.service.checkpoints.iter().for_each(Checkpoints::stop);
        self.service.engine.stop(patience);
        self.service.archiver.iter().for_each(Archiver::stop);
        self.service.last_used.save();
        self.disk.close().context("failed to close the store")?;
        let unmarked = self.running_mark.map(RunningMark::remove).transpose();
        unmarked.context("failed to remove the mark of a running server")?;
        tracing::info!("closed: everything is on the disk");
        Ok(())
    }
}

fn disk_options(configuration: &Configuration) -> DiskOptions {
    DiskOptions {
        open_files_max: u16::try_from(DescriptorShares::current().tables).unwrap_or(u16::MAX),
        open_limit: configuration.open_time_max,
        disk_reserve_bytes: configuration.disk_reserve_bytes,
        queues_for_archive: configuration.archive.directory.is_some(),
        accept_loss_up_to: configuration.accept_loss_up_to.map(CommitNumber),
        ..DiskOptions::new(&configuration.data)
    }
}

fn engine_options(configuration: &Configuration, paused: bool) -> EngineOptions {
    EngineOptions {
        arbiters: processors().get(),
        live_actors_max: LIVE_ACTORS_MAX,
        idle_before_retiring: IDLE_BEFORE_RETIRING,
        expiry_pause: EXPIRY_PAUSE,
        lifetimes: configuration.lifetimes,
        group_commit_delay: GROUP_COMMIT_DELAY,
        paused,
        on_fatal: Box::new(abort_with_message),
    }
}

/// Ends the process after a write with an unknown result: continuing could acknowledge a commit that is not on the
/// disk. The next start reads the commits that are.
pub fn abort_with_message(reason: String) {
    // The text of EMFILE, by which RocksDB names it.
    let check = if reason.contains("Too many open files") {
        "It has no file descriptor left: raise the limit (ulimit -n, LimitNOFILE)"
    } else {
        "Check the disk"
    };
    let word =
        format!("till: the outcome of a write is unknown ({reason}); the process stops. {check} and start it again.");
    end_process(&format!("the outcome of a write is unknown: {reason}"), &word);
}

/// Ends the process at once, with a line in the log and a message on standard error.
fn end_process(reason: &str, word: &str) {
    let abort_after_limit = || {
        thread::sleep(ABORT_MESSAGE_MAX);
        std::process::abort()
    };
    // Without this thread a blocked message would keep the process alive.
    let _ender = thread::Builder::new().name("last-word".to_owned()).spawn(abort_after_limit);
    tracing::error!(reason, "the process stops, start it again");
    let _ = writeln!(std::io::stderr(), "{word}"); // The process ends even when this cannot be written.
    std::process::abort();
}

fn acquirers(sandbox: &Arc<SandboxAcquirer>) -> Acquirers {
    Acquirers::from([(AcquirerName::Sandbox, Arc::clone(sandbox) as _)])
}

fn open_deliveries(configuration: &Configuration, log: Option<&SharedLog>) -> anyhow::Result<RocksDeliveries> {
    let directory = configuration.data.join(WEBHOOKS_DIRECTORY);
    let (reserve, limit) = (configuration.disk_reserve_bytes, configuration.open_time_max);
    let open = || Ok(RocksDeliveries::open(&directory, reserve, limit)?);
    let Some(log) = log else { return open() };
    let (deliveries, filling) = log.lead_rows(RowsOf::Deliveries, &directory, open)?;
    filling.fill(&deliveries)?;
    Ok(deliveries)
}

/// Damaged deliveries can be moved away.
fn with_remedy(error: StartError, configuration: &Configuration) -> anyhow::Error {
    match error {
        StartError::Deliveries(error) => anyhow!(error.advice(&configuration.data.join(WEBHOOKS_DIRECTORY))),
        StartError::Thread(_) | StartError::Unreadable(_) => error.into(),
    }
}

fn webhook_addresses(configuration: &Configuration) -> AddressPolicy {
    AddressPolicy::allowing(configuration.webhooks.allowed_networks.clone())
}

fn webhook_delivery(configuration: &Configuration, deliveries: Arc<RocksDeliveries>) -> WebhookDelivery {
    let addresses = webhook_addresses(configuration);
    let schedule = configuration.webhooks.retry_schedule.clone();
    let sockets = usize::try_from(DescriptorShares::current().webhook_sockets).unwrap_or(usize::MAX);
    WebhookDelivery { deliveries, sender: Sender::within(addresses.clone(), sockets), addresses, schedule }
}

/// The book, and what fills it where it repeats rows elsewhere. Its thread does that: the server need not wait for a
/// book of millions of lines.
fn open_book(configuration: &Configuration, log: Option<&SharedLog>) -> anyhow::Result<(RocksBook, Option<Filling>)> {
    let directory = configuration.data.join(SANDBOX_DIRECTORY);
    let open = || open_book_within(&directory, configuration);
    let open_first = || {
        check_synced_logs(&directory).map_err(|error| anyhow!("{error}; {}", book_remedy(&directory)))?;
        open()
    };
    // A book that repeats the rows of a database gets those again that its log has lost.
    let Some(log) = log else { return Ok((open_first()?, None)) };
    let (book, filling) = log.lead_rows(RowsOf::Book, &directory, open)?;
    Ok((book, Some(filling)))
}

/// Opens the book on a thread of its own, since RocksDB never returns from some damaged logs.
fn open_book_within(directory: &Path, configuration: &Configuration) -> anyhow::Result<RocksBook> {
    let (limit, reserve_bytes) = (configuration.open_time_max, configuration.disk_reserve_bytes);
    let place = directory.display().to_string();
    let (sender, receiver) = mpsc::channel();
    let book = directory.to_owned();
    let open = move || drop(sender.send(RocksBook::open_with_reserve(&book, reserve_bytes)));
    thread::Builder::new().name("open-book".to_owned()).spawn(open)?;
    match receiver.recv_timeout(limit) {
        Ok(Ok(book)) => Ok(book),
        Ok(Err(error)) => bail!("{:#}; {}", anyhow::Error::new(error).context(place), book_remedy(directory)),
        Err(_) => bail!("opening {place} did not end within {} s; {}", limit.as_secs(), book_remedy(directory)),
    }
}

/// The book contains only the sandbox's side, which is play money: without it no payment is lost.
fn book_remedy(directory: &Path) -> String {
    let directory = directory.display();
    format!(
        "if it is damaged, it can be moved away, and the server starts with a new one: mv {directory} \
         {directory}.damaged (docs/refused-starts.md, \"The sandbox's book\")"
    )
}

/// Opens the stored key ring; there is none before the first start.
fn open_keyring(stored: Option<Vec<u8>>, roots: &[RootKey], has_records: bool) -> anyhow::Result<Option<Keyring>> {
    match stored {
        Some(stored) => vault_keys::open_keyring(roots, &stored).map(Some),
        None if has_records => {
            bail!(
                "the store has records but no key ring: it cannot be used. Restore it from a checkpoint, or the \
                    database of the log from its backup."
            )
        }
        None => Ok(None),
    }
}

/// Creates the key ring at the first start.
fn create_keyring(disk: &DiskEngine, roots: &[RootKey]) -> anyhow::Result<Keyring> {
    let (keyring, bytes) = Keyring::create(roots.last().expect("root keys are one or two"))?;
    keep_keyring(disk, &bytes)?;
    Ok(keyring)
}

/// The key ring of a running store.
struct RunningKeyring {
    disk: Arc<DiskEngine>,
    keyring: Arc<Keyring>,
    /// Allows one rewrap at a time.
    rewrapping: parking_lot::Mutex<()>,
}

impl RewrapKeyring for RunningKeyring {
    fn rewrap(&self, root: &RootKey) -> anyhow::Result<bool> {
        let _one_at_a_time = self.rewrapping.lock();
        let stored = stored_keyring(&*self.disk).context("failed to read the key ring")?;
        let stored = stored.context("the store has no key ring")?;
        let (before, key) = (Keyring::root_key_name(&stored).unwrap_or_default(), root.name());
        // Compares the key itself, not only its name, since the answer must be true of the key.
        if Keyring::open(root, &stored).is_ok() {
            return Ok(false);
        }
        keep_keyring(&self.disk, &self.keyring.rewrap(root)?)?;
        tracing::warn!(key, before, "the key ring is wrapped under another vault key from now on");
        Ok(true)
    }
}

/// Writes the key ring, durably and as a whole.
fn keep_keyring(disk: &DiskEngine, bytes: &[u8]) -> anyhow::Result<()> {
    let claim = disk.claim(STORE_ITSELF).context("failed to claim the store")?;
    let nothing = Append::nothing(STORE_ITSELF, claim.epoch, claim.head);
    let append = Append { vault: keyring_write(bytes), may_use_reserve: true, ..nothing };
    let verdicts = disk.append(vec![append]);
    disk.release(STORE_ITSELF, claim.epoch);
    match verdicts.as_slice() {
        [AppendVerdict::Committed(_)] => Ok(()),
        [AppendVerdict::Ambiguous(reason)] => {
            abort_with_message(reason.clone());
            bail!("the outcome of writing the key ring is unknown: {reason}")
        }
        other => bail!("failed to write the key ring: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::pipe;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, ExitStatus, Stdio};

    use super::*;

    /// The variable that tells a process of this test to end itself.
    const ENDING: &str = "TILL_TEST_LAST_WORD";
    /// The capacity of a pipe on Linux (`pipe(7)`).
    const PIPE_BYTES: usize = 64 * 1024;
    /// The signal of a process that ended itself.
    const SIGABRT: i32 = 6;

    /// The exit status of a process whose abort message goes there.
    fn ended(name: &str, standard_error: impl Into<Stdio>) -> ExitStatus {
        if std::env::var_os(ENDING).is_some() {
            abort_with_message("a test says so".to_owned());
        }
        let test = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(test);
        // Without capture, so that the message goes to the real standard error.
        command.args(["--exact", &format!("startup::bootstrap::tests::{name}"), "--nocapture"]).env(ENDING, "1");
        command.stdout(Stdio::null()).stderr(standard_error).status().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_failed_abort_message_still_ends_the_process() {
        let full = File::options().write(true).open("/dev/full").unwrap_or_else(|error| panic!("{error}"));
        let ended = ended("a_failed_abort_message_still_ends_the_process", full);
        assert_eq!(ended.signal(), Some(SIGABRT), "{ended}");
    }

    #[test]
    fn an_unread_abort_message_still_ends_the_process() {
        let (unread, mut full) = pipe().unwrap_or_else(|error| panic!("{error}"));
        full.write_all(&[b' '; PIPE_BYTES]).unwrap_or_else(|error| panic!("{error}"));
        let ended = ended("an_unread_abort_message_still_ends_the_process", full);
        assert_eq!(ended.signal(), Some(SIGABRT), "{ended}");
        drop(unread);
    }
}
