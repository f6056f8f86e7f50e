//! The thread that syncs the high-water mark about once a second.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::high_water::{HighWater, ManifestPosition};
use super::manifest;

/// How old the mark may be after a power cut.
const SYNC_EVERY: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Waits for the next turn; whether there is none.
    fn wait(&self) -> bool {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(asked, SYNC_EVERY, |asked| !*asked);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The running thread. Dropping it ends it, without a last sync.
pub(super) struct MarkKeeper {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

impl MarkKeeper {
    /// Starts the thread. A sync that fails is put into `failure`, and the thread ends: a sync must not be
    /// tried again.
    pub(super) fn start(
        high_water: Arc<HighWater>,
        db_dir: PathBuf,
        failure: Arc<OnceLock<String>>,
    ) -> std::io::Result<MarkKeeper> {
        let stop = Arc::new(Stop::default());
        let keep = {
            let stop = Arc::clone(&stop);
            move || keep(&stop, &high_water, &db_dir, &failure)
        };
        let thread = std::thread::Builder::new().name("high-water".to_owned()).spawn(keep)?;
        Ok(MarkKeeper { stop, thread: Some(thread) })
    }
}

impl Drop for MarkKeeper {
    fn drop(&mut self) {
        *self.stop.asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It ends by itself within one sync; if it panicked, there is nothing to wait for.
            drop(thread.join());
        }
    }
}

fn keep(stop: &Stop, high_water: &HighWater, db_dir: &std::path::Path, failure: &OnceLock<String>) {
    let mut seen = ManifestPosition::default();
    while !stop.wait() {
        // RocksDB syncs a MANIFEST right after it wrote to it: what was there a turn ago is durable.
        let durable = seen;
        seen = manifest::position(db_dir).unwrap_or(seen);
        let kept = high_water.advance_manifest(durable).and_then(|()| high_water.sync());
        if let Err(error) = kept {
            tracing::error!(%error, "the high-water mark could not be synced");
            // Set once, here.
            drop(failure.set(format!("the high-water mark could not be synced: {error}")));
            return;
        }
    }
}
