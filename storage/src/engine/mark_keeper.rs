//! The thread that syncs the high-water mark about once a second.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::high_water::{HighWater, ManifestPosition};
use super::manifest;
use crate::turns::{StopSignal, Turns};

/// The maximum age of the mark after a power cut.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The running thread. Dropping it ends the thread, without a last sync.
pub(super) struct MarkKeeper {
    _thread: Turns,
}

impl MarkKeeper {
    /// Starts the thread. If a sync fails, the error is put into `failure` and the thread ends: a failed sync must not
    /// be repeated.
    pub(super) fn start(
        high_water: Arc<HighWater>,
        db_dir: PathBuf,
        failure: Arc<OnceLock<String>>,
    ) -> std::io::Result<MarkKeeper> {
        let keep = move |stop: &StopSignal| keep(stop, &high_water, &db_dir, &failure);
        Ok(MarkKeeper { _thread: Turns::start("high-water", keep)? })
    }
}

fn keep(stop: &StopSignal, high_water: &HighWater, db_dir: &std::path::Path, failure: &OnceLock<String>) {
    let mut durable = ManifestPosition::default();
    while !stop.wait(SYNC_EVERY) {
        let kept = manifest::synced_position(db_dir, durable).and_then(|position| {
            durable = position;
            high_water.advance_manifest(durable)?;
            high_water.sync()
        });
        if let Err(error) = kept {
            tracing::error!(%error, "the high-water mark could not be synced");
            // Only this thread sets it, once.
            drop(failure.set(format!("the high-water mark could not be synced: {error}")));
            return;
        }
    }
}
