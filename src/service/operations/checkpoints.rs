//! Checkpoints of the running server: on the operator's request, and by schedule.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use till_domain::time::Millis;
use till_operate::checkpoint::{CheckpointError, CheckpointRequest, Checkpointer, KeptCheckpoint, TakenCheckpoint};

use crate::counted::CHECKPOINTS;

/// The prefix of the names of scheduled checkpoints. The schedule removes only these.
const SCHEDULED_PREFIX: &str = "scheduled-";

/// The newest checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewestCheckpoint {
    pub directory: PathBuf,
    /// In Unix seconds.
    pub taken_at: u64,
    /// True when one of its tables is known to be damaged.
    pub known_damage: bool,
}

/// Takes checkpoints of the running server.
#[derive(Clone)]
pub struct Checkpoints {
    checkpointer: Arc<Checkpointer>,
    /// Locked while a checkpoint is taken. True once the server stops, after which no more are taken.
    stops: Arc<Mutex<bool>>,
    /// The time of the newest checkpoint, in milliseconds; 0 for none.
    newest_ms: Arc<AtomicU64>,
}

impl Checkpoints {
    /// Creates it with the checkpointer.
    #[must_use]
    pub fn new(checkpointer: Checkpointer) -> Checkpoints {
        let newest =
            checkpointer.shelf().list().ok().and_then(|kept| kept.iter().rev().find_map(KeptCheckpoint::taken_at_ms));
        let newest_ms = Arc::new(AtomicU64::new(newest.unwrap_or(0)));
        for outcome in ["taken", "damaged", "failed"] {
            // So that the series exists from the start.
            CHECKPOINTS.with_label_values(&[outcome]);
        }
        Checkpoints { checkpointer: Arc::new(checkpointer), stops: Arc::default(), newest_ms }
    }

    /// Removes checkpoints that an earlier process left unfinished. The server also runs when this fails.
    pub fn clear(&self) {
        if let Err(error) = self.checkpointer.clear() {
            tracing::warn!(error = error_chain(&error), "the rest of an unfinished checkpoint could not be removed");
        }
    }

    /// Takes a checkpoint, named after the time when no name is given. Blocks.
    ///
    /// # Errors
    /// [`CheckpointError`]. No part of the checkpoint remains.
    pub fn take(&self, name: Option<&str>, now: Millis) -> Result<TakenCheckpoint, CheckpointError> {
        let name = name.map_or_else(|| name_of(now), str::to_owned);
        let wanted = CheckpointRequest { name: &name, taken_at_ms: now.0, program: env!("CARGO_PKG_VERSION") };
        let taken = self.take_unless_stopped(&wanted);
        let outcome = match &taken {
            Ok(_) => "taken",
            Err(CheckpointError::TableDamaged { .. }) => "damaged",
            Err(_) => "failed",
        };
        CHECKPOINTS.with_label_values(&[outcome]).inc();
        match &taken {
            Ok(taken) => {
                // The last one taken, not the one with the latest time: after the clock was set back, an older one
                // would hide that no more are taken.
                self.newest_ms.store(taken.manifest.taken_at_ms, Ordering::Relaxed);
                let (bytes, last_commit) = (taken.manifest.byte_count(), taken.manifest.last_commit.0);
                tracing::info!(checkpoint = name, bytes, last_commit, "a checkpoint was taken");
            }
            Err(error) => tracing::error!(checkpoint = name, error = error_chain(error), "a checkpoint was not taken"),
        }
        taken
    }

    fn take_unless_stopped(&self, wanted: &CheckpointRequest<'_>) -> Result<TakenCheckpoint, CheckpointError> {
        match self.stops.try_lock() {
            Some(stops) if !*stops => self.checkpointer.take(wanted),
            Some(_) | None => {
                Err(CheckpointError::Busy { directory: self.checkpointer.shelf().directory().to_owned() })
            }
        }
    }

    /// The newest checkpoint that is kept; none when there is none, or their directory cannot be read. Reads the lists
    /// of files of all checkpoints.
    #[must_use]
    pub fn newest(&self) -> Option<NewestCheckpoint> {
        let shelf = self.checkpointer.shelf();
        let kept = shelf.list().ok()?;
        let (name, taken_at_ms) = kept.iter().rev().find_map(|kept| Some((&kept.name, kept.taken_at_ms()?)))?;
        let known_damage = shelf.has_known_damage(name);
        Some(NewestCheckpoint { directory: shelf.directory().join(name), taken_at: taken_at_ms / 1_000, known_damage })
    }

    /// The time of the newest checkpoint, in Unix seconds; 0 when there was none at the start and none has been taken
    /// since.
    #[must_use]
    pub fn newest_taken_at_seconds(&self) -> u64 {
        self.newest_ms.load(Ordering::Relaxed) / 1_000
    }

    /// Waits for the checkpoint in progress, and takes no more.
    pub fn stop(&self) {
        *self.stops.lock() = true;
    }

    /// The age of the newest scheduled checkpoint; zero when the clock was set back since. None when there is none.
    pub(super) fn scheduled_age(&self, now: Millis) -> Option<Duration> {
        let kept = self.checkpointer.shelf().list().ok()?;
        let mut scheduled = kept.iter().rev().filter(|kept| kept.name.starts_with(SCHEDULED_PREFIX));
        let taken_at_ms = scheduled.find_map(KeptCheckpoint::taken_at_ms)?;
        Some(Duration::from_millis(now.0.saturating_sub(taken_at_ms)))
    }

    /// Takes a scheduled checkpoint and, on success, removes all scheduled ones but the newest `kept`. True on success.
    pub(super) fn take_scheduled(&self, now: Millis, kept: usize) -> bool {
        let name = format!("{SCHEDULED_PREFIX}{}", name_of(now));
        if self.take(Some(&name), now).is_err() {
            return false; // The error is logged; the older ones are kept.
        }
        match self.checkpointer.shelf().prune(kept, SCHEDULED_PREFIX, Some(&name)) {
            Ok(removed) => {
                removed.iter().for_each(|name| tracing::info!(checkpoint = name, "a checkpoint was removed"))
            }
            Err(error) => tracing::error!(error = error_chain(&error), "old checkpoints could not be removed"),
        }
        true
    }
}

/// The error with its sources.
#[must_use]
pub(crate) fn error_chain(error: &CheckpointError) -> String {
    std::iter::successors(std::error::Error::source(error), |error| error.source())
        .fold(error.to_string(), |text, source| format!("{text}: {source}"))
}

/// A time as a name, such as `20260131t235959999z`. Names sort in the order of time.
fn name_of(now: Millis) -> String {
    let millis = i64::try_from(now.0).unwrap_or(i64::MAX);
    let moment = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX);
    format!("{}{:03}z", moment.strftime("%Y%m%dt%H%M%S"), now.0 % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_name_in_the_order_of_time() {
        assert_eq!(name_of(Millis(1_763_661_789_007)), "20251120t180309007z");
        assert!(name_of(Millis(999)) < name_of(Millis(1_000)));
        assert!(name_of(Millis(u64::MAX)).len() < 40);
    }
}
