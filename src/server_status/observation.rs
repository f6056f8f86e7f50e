//! The state of the running program, for the operator's tools.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use till_operate::scrub::TableInspector;
#[cfg(feature = "pages")]
use till_protocol::dispatch::CallCount;
use till_protocol::dispatch::{CallLimits, Observe, WorkerPool};
use till_shared::SharedJournal;
use till_storage::statistics::StatisticsSource;

use super::conditions::conditions;
use super::last_minute::LastMinute;
use super::status::{ServerState, ServerStatus};
use crate::exposition::{
    Families, ProcessStart, expose_archive, expose_calls, expose_engine, expose_journal, expose_log_file,
    expose_process, expose_store, expose_tables,
};
use crate::process::logging::LogFile;
use crate::service::{Checkpoints, Shared};

/// Why a program that was never ready is not ready.
const STARTING: &str = "starting";

/// The start time of the program, and its readiness.
pub(crate) struct Observation {
    started: ProcessStart,
    log_file: Option<LogFile>,
    not_ready: Mutex<Option<String>>,
}

impl Observation {
    /// The state of a program that is not ready until [`Observation::set_ready`].
    #[must_use]
    pub(crate) fn start(data: &Path) -> Observation {
        Observation {
            started: ProcessStart::now(data),
            log_file: LogFile::of_standard_error(),
            not_ready: Mutex::new(Some(STARTING.to_owned())),
        }
    }

    /// Marks the program as ready for calls.
    pub(crate) fn set_ready(&self) {
        *self.not_ready.lock() = None;
    }

    /// Marks the program as not ready, for this reason.
    pub(crate) fn set_not_ready(&self, reason: &str) {
        *self.not_ready.lock() = Some(reason.to_owned());
    }
}

/// The state of the program, with its engine and its store.
pub(crate) struct EngineObservation {
    observation: Arc<Observation>,
    service: Shared,
    store: Arc<dyn StatisticsSource>,
    tables: Arc<TableInspector>,
    journal: Option<Arc<SharedJournal>>,
    calls: Calls,
    last_minute: Arc<LastMinute>,
}

/// The limits on calls.
pub(crate) struct Calls {
    /// The limits of the threads that read requests.
    pub limits: CallLimits,
    /// The pool for large calls.
    pub pool: WorkerPool,
}

impl EngineObservation {
    /// Adds the engine of `service` and the store below it to the observation. Must be called within an actix system.
    #[must_use]
    pub(crate) fn new(
        observation: Arc<Observation>,
        service: Shared,
        store: Arc<dyn StatisticsSource>,
        tables: Arc<TableInspector>,
        journal: Option<Arc<SharedJournal>>,
        calls: Calls,
    ) -> EngineObservation {
        let last_minute = LastMinute::start(&service);
        EngineObservation { observation, service, store, tables, journal, calls, last_minute }
    }

    /// The status of the server. Reads the lists of files of checkpoints.
    #[must_use]
    pub(crate) fn status(&self) -> ServerStatus {
        let statistics = self.store.statistics();
        let archiver = self.service.archiver();
        let now = self.service.now().unix_seconds();
        let last_minute = self.last_minute.counts(&self.service);
        ServerStatus {
            state: self.state(),
            store_id: self.store.store_identity(),
            started_at: self.observation.started.since_epoch().as_secs(),
            disk_free_bytes: statistics.disk_free_bytes,
            disk_reserve_bytes: statistics.disk_reserve_bytes,
            last_checkpoint: self.service.checkpoints().and_then(Checkpoints::newest),
            journal: self.journal.as_ref().map(|journal| journal.stats()),
            archive_lag_seconds: archiver.map(|archiver| archiver.stats().lag.as_secs()),
            damaged_tables: self.damaged_tables(),
            merchants_not_loaded: self.service.engine().not_loaded().iter().map(ToString::to_string).collect(),
            conditions: conditions(&self.families(), Duration::from_secs(now).as_secs_f64(), &last_minute),
            last_minute,
        }
    }

    /// The calls that are worked on, and those that wait.
    #[cfg(feature = "pages")]
    #[must_use]
    pub(crate) fn calls(&self) -> CallCount {
        self.calls.limits.count()
    }

    fn state(&self) -> ServerState {
        let statistics = self.store.statistics();
        let is_short = statistics.disk_free_bytes.is_some_and(|free| free < statistics.disk_reserve_bytes);
        match self.not_ready().as_deref() {
            Some(STARTING) => ServerState::Starting,
            Some(_) => ServerState::RefusingWrites,
            None if is_short || self.service.store().is_short_of_space() => ServerState::RefusingWrites,
            None if self.service.store().refusal().is_some() => ServerState::RefusingWrites,
            None if self.service.engine().commit_stats().writes_fail() => ServerState::RefusingWrites,
            None if self.journal.as_ref().is_some_and(|journal| !journal.stats().can_write()) => {
                ServerState::RefusingWrites
            }
            None if self.is_paused() => ServerState::Paused,
            None => ServerState::Ready,
        }
    }

    fn families(&self) -> Families {
        let mut families = Families::counted();
        expose_engine(self.service.engine(), &mut families);
        expose_calls(self.calls.limits.count(), self.calls.pool.count(), &mut families);
        if let Some(archiver) = self.service.archiver() {
            expose_archive(&archiver.stats(), &mut families);
        }
        expose_tables(&self.tables, &mut families);
        match &self.journal {
            Some(journal) => expose_journal(journal, &mut families),
            None => {
                let newest = self.service.checkpoints().map_or(0, Checkpoints::newest_taken_at_seconds);
                let help = "Time of the newest checkpoint, 0 for none.";
                families.gauge("till_checkpoint_newest_timestamp_seconds", help, newest);
            }
        }
        expose_store(self.store.as_ref(), &mut families);
        expose_process(self.observation.started, &mut families);
        expose_log_file(self.observation.log_file.as_ref(), &mut families);
        families
    }
}

impl Observe for EngineObservation {
    fn metrics(&self) -> String {
        self.families().text()
    }

    fn not_ready(&self) -> Option<String> {
        self.observation.not_ready.lock().clone()
    }

    fn is_paused(&self) -> bool {
        self.service.engine().is_paused()
    }

    fn damaged_tables(&self) -> Vec<String> {
        self.tables.damaged().into_iter().map(|damaged| damaged.table).collect()
    }
}
