//! The time of each API key's last use. It changes without an event, so it is not kept in rows, but in memory, and
//! regularly in a note of lines `key_... seconds`. A crash loses at most the uses of a minute.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
use parking_lot::Mutex;
use till_domain::ids::KeyId;
use till_domain::time::Millis;

use crate::service::operations::{LAST_USED_NOTE, Notes};

/// Seconds between two writes of the note.
const SAVED_EVERY_SECONDS: u64 = 60;

/// The limit of keys in the note, those used last: about 8 MiB.
const KEPT_MAX: usize = 200_000;

/// The time of each key's last use, in Unix seconds.
pub struct LastUsed {
    seconds: DashMap<KeyId, u64>,
    saved_at: AtomicU64,
    /// Locked while the note is written, every minute and at the stop.
    saving: Mutex<()>,
    notes: Arc<dyn Notes>,
}

impl LastUsed {
    /// Reads the note among these. A missing note and unreadable lines count as no use.
    #[must_use]
    pub fn read(notes: Arc<dyn Notes>) -> LastUsed {
        let lines = notes.read(LAST_USED_NOTE).ok().flatten().unwrap_or_default();
        let seconds = String::from_utf8_lossy(&lines).lines().filter_map(parse).collect();
        LastUsed { seconds, saved_at: AtomicU64::new(0), saving: Mutex::default(), notes }
    }

    /// The time of a key's last use.
    #[must_use]
    pub fn of(&self, key: KeyId) -> Option<u64> {
        self.seconds.get(&key).map(|seconds| *seconds)
    }

    /// Records the use of a key. Must be called within a tokio runtime, on another thread of which the note is written.
    pub fn note(self: &Arc<Self>, key: KeyId, now: Millis) {
        let now = now.unix_seconds();
        self.seconds.insert(key, now);
        if self.is_due(now) {
            let last_used = Arc::clone(self);
            tokio::task::spawn_blocking(move || last_used.save());
        }
    }

    /// True when the note is to be written, for one caller only.
    fn is_due(&self, now: u64) -> bool {
        let saved_at = self.saved_at.load(Ordering::Relaxed);
        let is_old = now >= saved_at.saturating_add(SAVED_EVERY_SECONDS);
        is_old && self.saved_at.compare_exchange(saved_at, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Writes the note. A failure does not stop the service, since last uses are not guaranteed.
    pub fn save(&self) {
        if let Err(error) = self.try_save() {
            tracing::warn!(%error, "the times of the last use of keys could not be written");
        }
    }

    fn try_save(&self) -> std::io::Result<()> {
        let _one_at_a_time = self.saving.lock();
        let mut used: Vec<(u64, KeyId)> = self.seconds.iter().map(|entry| (*entry.value(), *entry.key())).collect();
        used.sort_unstable_by(|one, other| other.cmp(one));
        for (_, key) in used.drain(KEPT_MAX.min(used.len())..) {
            self.seconds.remove(&key);
        }
        let mut lines = String::with_capacity(used.len() * 42);
        for (seconds, key) in used {
            writeln!(lines, "{key} {seconds}").expect("writing to a string cannot fail");
        }
        self.notes.keep(LAST_USED_NOTE, Some(lines.as_bytes()))
    }
}

fn parse(line: &str) -> Option<(KeyId, u64)> {
    let (key, seconds) = line.split_once(' ')?;
    Some((key.parse().ok()?, seconds.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::NoteFiles;

    const KEY: KeyId = KeyId::from_bytes([7; 16]);

    fn opened(directory: &tempfile::TempDir) -> LastUsed {
        LastUsed::read(Arc::new(NoteFiles(directory.path().to_owned())))
    }

    #[tokio::test]
    async fn noted_times_are_known_again_after_a_stop() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let last_used = Arc::new(opened(&directory));
        assert_eq!(last_used.of(KEY), None);
        last_used.note(KEY, Millis(1_750_000_000_999));
        assert_eq!(last_used.of(KEY), Some(1_750_000_000));
        last_used.save();
        assert_eq!(opened(&directory).of(KEY), Some(1_750_000_000));
    }

    #[test]
    fn saves_at_the_same_time_leave_a_whole_file() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let last_used = opened(&directory);
        last_used.seconds.insert(KEY, 12);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..50).for_each(|_| last_used.try_save().expect("the file can be written")));
            }
        });
        assert_eq!(opened(&directory).of(KEY), Some(12));
    }

    #[test]
    fn the_file_is_written_by_one_caller_a_minute() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let last_used = opened(&directory);
        assert!(last_used.is_due(1_000) && !last_used.is_due(1_000) && !last_used.is_due(1_059));
        assert!(last_used.is_due(1_060));
    }

    #[test]
    fn lines_that_cannot_be_read_are_passed_over() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let lines = format!("nonsense\n{KEY} twelve\n{KEY} 12\n");
        std::fs::write(directory.path().join(LAST_USED_NOTE), lines).expect("a file can be written");
        assert_eq!(opened(&directory).of(KEY), Some(12));
    }
}
