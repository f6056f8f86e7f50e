//! The state of the running program, for the operator's tools.

use std::sync::Arc;

use parking_lot::Mutex;
use till_operate::scrub::TableInspector;
use till_storage::statistics::StatisticsSource;

use crate::exposition::{
    Families, ProcessStart, expose_archive, expose_calls, expose_engine, expose_log_file, expose_process, expose_store,
    expose_tables,
};
use crate::logging::LogFile;
use crate::protocol::dispatch::{CallLimits, Observe, WorkerPool};
use crate::service::{Checkpoints, Shared};

/// The start time of the program, and its readiness.
pub struct Observation {
    started: ProcessStart,
    log_file: Option<LogFile>,
    not_ready: Mutex<Option<String>>,
}

impl Observation {
    /// The state of a program that is not ready until [`Observation::set_ready`].
    #[must_use]
    pub fn start() -> Observation {
        Observation {
            started: ProcessStart::now(),
            log_file: LogFile::of_standard_error(),
            not_ready: Mutex::new(Some("starting".to_owned())),
        }
    }

    /// Marks the program as ready for calls.
    pub fn set_ready(&self) {
        *self.not_ready.lock() = None;
    }

    /// Marks the program as not ready, for this reason.
    pub fn set_not_ready(&self, reason: &str) {
        *self.not_ready.lock() = Some(reason.to_owned());
    }
}

/// The state of the program, with its engine and its store.
pub struct EngineObservation {
    observation: Arc<Observation>,
    service: Shared,
    store: Arc<dyn StatisticsSource>,
    tables: Arc<TableInspector>,
    calls: Calls,
}

/// The limits on calls.
pub struct Calls {
    /// The limits of the threads that read requests.
    pub limits: CallLimits,
    /// The pool for large calls.
    pub pool: WorkerPool,
}

impl EngineObservation {
    /// Adds the engine of `service` and the store below it to the observation.
    #[must_use]
    pub fn new(
        observation: Arc<Observation>,
        service: Shared,
        store: Arc<dyn StatisticsSource>,
        tables: Arc<TableInspector>,
        calls: Calls,
    ) -> EngineObservation {
        EngineObservation { observation, service, store, tables, calls }
    }
}

impl Observe for EngineObservation {
    fn metrics(&self) -> String {
        let mut families = Families::counted();
        expose_engine(&self.service.engine, &mut families);
        expose_calls(self.calls.limits.count(), self.calls.pool.count(), &mut families);
        if let Some(archiver) = &self.service.archiver {
            expose_archive(&archiver.stats(), &mut families);
        }
        expose_tables(&self.tables, &mut families);
        let newest = self.service.checkpoints.as_ref().map_or(0, Checkpoints::newest_taken_at_seconds);
        let help = "Time of the newest checkpoint, 0 for none.";
        families.gauge("till_checkpoint_newest_timestamp_seconds", help, newest);
        expose_store(self.store.as_ref(), &mut families);
        expose_process(self.observation.started, &mut families);
        expose_log_file(self.observation.log_file.as_ref(), &mut families);
        families.text()
    }

    fn not_ready(&self) -> Option<String> {
        self.observation.not_ready.lock().clone()
    }

    fn is_paused(&self) -> bool {
        self.service.engine.is_paused()
    }

    fn damaged_tables(&self) -> Vec<String> {
        self.tables.damaged().into_iter().map(|damaged| damaged.table).collect()
    }
}
