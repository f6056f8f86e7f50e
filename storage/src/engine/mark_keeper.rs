//! The thread that syncs the high-water mark about once a second.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;

use super::high_water::{HighWater, ManifestPosition};
use super::manifest;
use crate::positions::CommitNumber;
use crate::turns::{StopSignal, Turns};

/// The maximum age of the mark after a power cut.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The high-water mark of an open store, and the thread that syncs it.
pub(super) struct KeptMark {
    high_water: Arc<HighWater>,
    db_dir: PathBuf,
    thread: Mutex<Option<Turns>>,
}

impl KeptMark {
    /// Starts the thread. If a sync fails, the error is put into `failure` and the thread ends: a failed sync must not
    /// be repeated.
    pub(super) fn keep(
        high_water: HighWater,
        db_dir: PathBuf,
        failure: Arc<OnceLock<String>>,
    ) -> std::io::Result<KeptMark> {
        let high_water = Arc::new(high_water);
        let (synced, in_dir) = (Arc::clone(&high_water), db_dir.clone());
        let keep = move |stop: &StopSignal| keep(stop, &synced, &in_dir, &failure);
        let thread = Mutex::new(Some(Turns::start("high-water", keep)?));
        Ok(KeptMark { high_water, db_dir, thread })
    }

    /// Moves the mark. It is on the disk within a second.
    pub(super) fn advance(&self, last: CommitNumber) -> std::io::Result<()> {
        self.high_water.advance(last)
    }

    /// Brings the mark to the disk.
    pub(super) fn sync(&self) -> std::io::Result<()> {
        self.high_water.sync()
    }

    /// Ends the thread, without a last sync.
    pub(super) fn end(&self) {
        let thread = self.thread.lock().take();
        drop(thread);
    }

    /// Brings the mark to the disk once the database is flushed.
    pub(super) fn sync_at_end(&self) -> std::io::Result<()> {
        self.high_water.advance_manifest(manifest::position(&self.db_dir)?)?;
        self.sync()
    }

    /// The file of the mark.
    pub(super) fn file(&self) -> &Path {
        self.high_water.path()
    }

    /// The directory of the database.
    pub(super) fn database_directory(&self) -> &Path {
        &self.db_dir
    }
}

fn keep(stop: &StopSignal, high_water: &HighWater, db_dir: &Path, failure: &OnceLock<String>) {
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
