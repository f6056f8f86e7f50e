//! Starts the service on an open data directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use till_actors::clock::{Clock, SystemClock};
use till_actors::security_codes::SecurityCodes;
use till_actors::webhooks::{AddressPolicy, Sender, WebhookDelivery};
use till_actors::{Dependencies, EXPIRY_PAUSE, Engine, EngineOptions};
use till_operate::checkpoint::{BookBeside, Checkpointer, PAUSED_FILE, Shelf};
use till_operate::scrub::{Scrubber, TableInspector};
use till_shared::SharedJournal;
use till_storage::commit::GROUP_COMMIT_DELAY;
use till_storage::deliveries::RocksDeliveries;
use till_storage::disk_store::DiskStore;
use till_storage::engine::{Engine as DiskEngine, FileWatch, is_new};
use till_storage::statistics::StatisticsSource;
use till_storage::turns::Turns;

use super::beside::{SANDBOX_DIRECTORY, WEBHOOKS_DIRECTORY, with_remedy};
use super::ending::{abort_with_message, end_process};
use super::log_place::OpenStore;
use super::opening::{DATABASE_DIRECTORY, Opened, acquirers, disk_options, open_beside};
use super::running_mark::RunningMark;
use super::stored_keyring::RunningKeyring;
use crate::configuration::{Configuration, Secrets, processors};
use crate::process::descriptors::DescriptorShares;
use crate::service::{
    CheckpointSchedule, Checkpoints, LastUsed, OnDisk, Operations, Reloads, SdkRate, SdkWrites, Service, ServiceParts,
};

/// The time after which an idle actor is retired.
const IDLE_BEFORE_RETIRING: Duration = Duration::from_secs(60);

/// The limit of live actors. Each uses at most about a megabyte.
const LIVE_ACTORS_MAX: usize = 10_000;

/// A started service, and the parts that must be closed after it.
pub(super) struct Started {
    pub service: Arc<Service>,
    schedule: Option<CheckpointSchedule>,
    store: Arc<DiskStore>,
    file_watch: FileWatch,
    tables: Arc<TableInspector>,
    scrubber: Option<Scrubber>,
    running_mark: Option<RunningMark>,
    journal: Option<Arc<SharedJournal>>,
    journal_watch: Option<Turns>,
}

/// Does something on a thread of its own, and waits for it: a database elsewhere is waited for, and the server's
/// threads must not wait.
fn on_own_thread<T: Send>(work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
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
    let (opened, place, archiver) = on_own_thread(|| {
        let beside = |place: &_| open_beside(configuration, place);
        let options = disk_options(configuration);
        OpenStore::of_server(configuration, &options, &secrets.vault_keys, beside).map(Opened::of)
    })?;
    let Opened { store, keyring, book, deliveries, sandbox } = opened;
    let disk = store.engine();
    if is_new {
        tracing::warn!(directory = %configuration.data.display(), "a new, empty store was created");
    } else {
        missing.iter().for_each(|directory| warn_of_missing_directory(directory));
    }
    let shelf = Shelf::in_directory(&configuration.checkpoints.directory).of(&configuration.data);
    let tables = open_tables(configuration).context("failed to read what is known of tables")?;
    let books = vec![
        BookBeside { directory: SANDBOX_DIRECTORY, book: Box::new(book) },
        BookBeside { directory: WEBHOOKS_DIRECTORY, book: Box::new(Arc::clone(&deliveries)) },
    ];
    let checkpoints = Checkpoints::new(Checkpointer::new(Arc::clone(disk), books, shelf, Arc::clone(&tables)));
    checkpoints.clear();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let security_codes = Arc::new(SecurityCodes::new());
    let dependencies = Dependencies {
        store: Arc::clone(&store) as _,
        keyring: Arc::clone(&keyring),
        acquirers: acquirers(configuration, &sandbox)?,
        clock: Arc::clone(&clock),
        security_codes: Arc::clone(&security_codes),
        webhooks: webhook_delivery(configuration, deliveries),
    };
    let notes = place.notes(&configuration.data);
    let running_mark = place.mark_as_running(&configuration.data, &*notes)?;
    let read = || Ok((LastUsed::read(Arc::clone(&notes)), notes.read(PAUSED_FILE)?.is_some()));
    let (last_used, is_paused) = on_own_thread(read)?;
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
    let schedule = start_schedule(configuration, &checkpoints, &clock)?;
    let checkpoints = place.checkpoints(checkpoints);
    let running = RunningKeyring {
        store: Arc::clone(&store),
        keyring: Arc::clone(&keyring),
        rewrapping: parking_lot::Mutex::new(()),
    };
    let file_watch = watch_files(configuration, disk).context("failed to start the watch over files")?;
    let scrubber = start_scrub(&tables).context("failed to start the scrub of tables")?;
    let operations = Operations { reloads: Arc::new(Reloads::default()), keyring: Arc::new(running) };
    let service = Service::new(ServiceParts {
        engine,
        store: Arc::clone(&store) as _,
        keyring,
        clock,
        security_codes,
        last_used,
        sdk_rate,
        sdk_writes,
        webhook_addresses: webhook_addresses(configuration),
        sandbox,
        public_url: configuration.public_url.clone(),
        notes,
        dashboard_idle_seconds: configuration.dashboard_idle_seconds,
        on_disk: OnDisk { checkpoints, operations: Some(operations), archiver },
    });
    let service = Arc::new(service);
    let journal_watch = place.attend(&service)?;
    let journal = place.journal();
    Ok(Started { service, schedule, store, file_watch, tables, scrubber, running_mark, journal, journal_watch })
}

/// A store that is not new has both databases beside its own, unless it was restored without them.
fn warn_of_missing_directory(directory: &Path) {
    tracing::warn!(directory = %directory.display(), "a directory of the store was missing and is made anew, empty");
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
        Arc::clone(self.store.engine()) as _
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
        self.service.checkpoints().inspect(|checkpoints| checkpoints.stop());
        self.service.engine().stop(patience);
        self.service.archiver().inspect(|archiver| archiver.stop());
        self.service.last_used().save();
        self.store.close().context("failed to close the store")?;
        let unmarked = self.running_mark.map(RunningMark::remove).transpose();
        unmarked.context("failed to remove the mark of a running server")?;
        tracing::info!("closed: everything is on the disk");
        Ok(())
    }
}

fn engine_options(configuration: &Configuration, paused: bool) -> EngineOptions {
    EngineOptions {
        arbiters: processors().get(),
        live_actors_max: LIVE_ACTORS_MAX,
        idle_before_retiring: IDLE_BEFORE_RETIRING,
        expiry_pause: EXPIRY_PAUSE,
        lifetimes: configuration.lifetimes,
        call_times: configuration.call_times,
        group_commit_delay: GROUP_COMMIT_DELAY,
        paused,
        on_fatal: Box::new(abort_with_message),
    }
}

fn webhook_addresses(configuration: &Configuration) -> AddressPolicy {
    AddressPolicy::allowing(configuration.webhooks.allowed_networks.clone())
}

fn webhook_delivery(configuration: &Configuration, deliveries: Arc<RocksDeliveries>) -> WebhookDelivery {
    let addresses = webhook_addresses(configuration);
    let schedule = configuration.webhooks.retry_schedule.clone();
    let sockets = usize::try_from(DescriptorShares::current().webhook_sockets).unwrap_or(usize::MAX);
    WebhookDelivery { deliveries, sender: Sender::with_sockets(addresses.clone(), sockets), addresses, schedule }
}
