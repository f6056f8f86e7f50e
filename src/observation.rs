//! What the operator's tools see of the running program.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use metrics::{counter, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use till_storage::archive::ArchiveStats;
use till_storage::vitals::Vitals;

use crate::exposition::{ProcessStart, Text, describe, expose_engine, expose_process, expose_store};
use crate::protocol::dispatch::{Observe, PlaceCount, Places};
use crate::service::{Checkpoints, Shared};

/// How often the histograms' raw samples are folded in; without it they would pile up between scrapes.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Upper bounds of the buckets of request times, in seconds: from half a commit to the slowest answer.
const SECONDS_BUCKETS: [f64; 13] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// The program's counters and whether it takes calls.
pub struct Observation {
    counters: PrometheusHandle,
    started: ProcessStart,
    not_ready: Mutex<Option<String>>,
}

impl Observation {
    /// Starts counting for the whole process. Not ready until [`Observation::set_ready`].
    ///
    /// # Errors
    /// When counting was started before in this process.
    pub fn start() -> anyhow::Result<Observation> {
        let seconds = Matcher::Suffix("_seconds".to_owned());
        let builder = PrometheusBuilder::new().set_buckets_for_metric(seconds, &SECONDS_BUCKETS)?;
        let counters = builder.install_recorder().context("failed to start counting")?;
        describe();
        let upkeep = counters.clone();
        thread::Builder::new().name("till-upkeep".to_owned()).spawn(move || {
            loop {
                thread::sleep(UPKEEP_INTERVAL);
                upkeep.run_upkeep();
            }
        })?;
        let started = ProcessStart::now();
        Ok(Observation { counters, started, not_ready: Mutex::new(Some("starting".to_owned())) })
    }

    /// Calls are taken from now on.
    pub fn set_ready(&self) {
        self.set(None);
    }

    /// Calls cannot be taken for now.
    pub fn set_not_ready(&self, reason: &str) {
        self.set(Some(reason.to_owned()));
    }

    fn set(&self, not_ready: Option<String>) {
        *self.not_ready.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = not_ready;
    }
}

/// The program's counters with those of the engine below.
pub struct EngineObservation {
    observation: Arc<Observation>,
    service: Shared,
    store: Arc<dyn Vitals>,
    places: Places,
}

impl EngineObservation {
    /// Observes the engine of `service`, and the store below it, beside everything else.
    #[must_use]
    pub fn new(
        observation: Arc<Observation>,
        service: Shared,
        store: Arc<dyn Vitals>,
        places: Places,
    ) -> EngineObservation {
        EngineObservation { observation, service, store, places }
    }

    /// Brings the exported numbers up to those of the engine.
    fn take_over(&self) {
        let stats = self.service.engine.commit_stats();
        counter!("till_commit_groups_total").absolute(stats.groups());
        counter!("till_commit_batches_total", "verdict" => "committed").absolute(stats.committed());
        counter!("till_commit_batches_total", "verdict" => "fenced").absolute(stats.fenced());
        counter!("till_commit_batches_total", "verdict" => "stale").absolute(stats.stale());
        counter!("till_commit_batches_total", "verdict" => "unavailable").absolute(stats.unavailable());
        counter!("till_commit_batches_total", "verdict" => "ambiguous").absolute(stats.ambiguous());
        for (kind, rows) in self.service.engine.swept_rows().by_kind() {
            counter!("till_swept_rows_total", "kind" => kind).absolute(rows);
        }
        let newest_checkpoint = self.service.checkpoints.as_ref().map_or(0, Checkpoints::newest_taken_at_seconds);
        let PlaceCount { places, taken, crowd } = self.places.count();
        if let Some(archiver) = &self.service.archiver {
            show_archive(&archiver.stats());
        }
        let gauges = [
            ("till_calls_places", as_gauge(places as u64)),
            ("till_calls_places_taken", as_gauge(taken as u64)),
            ("till_calls_waiting", as_gauge(crowd as u64)),
            ("till_commit_queued", as_gauge(stats.queued())),
            ("till_commit_queued_bytes", as_gauge(stats.queued_bytes())),
            ("till_effects_paused", as_gauge(u64::from(self.service.engine.is_paused()))),
            ("till_live_actors", as_gauge(self.service.engine.live_actors() as u64)),
            ("till_requests_in_flight", as_gauge(self.service.engine.in_flight() as u64)),
            ("till_acquirer_calls_running", as_gauge(self.service.engine.running_effects() as u64)),
            ("till_checkpoint_newest_timestamp_seconds", as_gauge(newest_checkpoint)),
        ];
        for (name, value) in gauges {
            gauge!(name).set(value);
        }
    }
}

fn show_archive(stats: &ArchiveStats) {
    counter!("till_archive_segments_closed_total").absolute(stats.segments_closed);
    counter!("till_archive_failures_total").absolute(stats.failures);
    gauge!("till_archive_lag_commits").set(as_gauge(stats.lag_commits));
    gauge!("till_archive_lag_seconds").set(stats.lag.as_secs_f64());
}

/// A count as Prometheus holds it. Exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a double by its format")]
fn as_gauge(count: u64) -> f64 {
    count as f64
}

impl Observe for EngineObservation {
    fn metrics(&self) -> String {
        self.take_over();
        let mut text = Text::behind(self.observation.metrics());
        expose_engine(&self.service.engine, &mut text);
        expose_store(self.store.as_ref(), &mut text);
        expose_process(self.observation.started, &mut text);
        text.finish()
    }

    fn not_ready(&self) -> Option<String> {
        self.observation.not_ready()
    }

    fn is_paused(&self) -> bool {
        self.service.engine.is_paused()
    }
}

impl Observe for Observation {
    fn metrics(&self) -> String {
        self.counters.render()
    }

    fn not_ready(&self) -> Option<String> {
        self.not_ready.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}
