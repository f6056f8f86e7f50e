//! Divides work into slices, with pauses between them while commits go on.

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use till_storage::journal::CommitNumber;

/// A pause lasts this many times as long as the work before it: the work gets a tenth of a processor, or of a disk.
const PAUSE_FACTOR: u32 = 9;

/// Limit of a pause. On a machine so busy that a slice takes long, pauses would take for ever without it.
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// Work that pauses after each slice if there was a commit since its last pause, and goes on at once if there was none.
pub(super) struct Throttle<'c> {
    commits: &'c dyn Fn() -> CommitNumber,
    seen: CommitNumber,
    paused_at: Instant,
}

impl<'c> Throttle<'c> {
    /// Begins the work; `commits` returns the last commit.
    pub(super) fn new(commits: &'c dyn Fn() -> CommitNumber) -> Throttle<'c> {
        Throttle { commits, seen: commits(), paused_at: Instant::now() }
    }

    /// Must be called after each slice.
    pub(super) fn pause(&mut self) {
        self.pause_for(pause_after(self.paused_at.elapsed()));
    }

    /// Pauses for this time, if there was a commit since the last pause.
    pub(super) fn pause_for(&mut self, pause: Duration) {
        if (self.commits)() == self.seen {
            return;
        }
        thread::sleep(pause);
        (self.seen, self.paused_at) = ((self.commits)(), Instant::now());
    }
}

fn pause_after(worked: Duration) -> Duration {
    worked.saturating_mul(PAUSE_FACTOR).min(PAUSE_MAX)
}

/// Takes the bytes that are read, keeps nothing, and pauses after each piece.
impl Write for Throttle<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.pause();
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs::{self, File};

    use super::super::checksum;
    use super::super::copying;
    use super::*;

    #[test]
    fn pauses_last_nine_times_as_long_as_work_up_to_a_limit() {
        assert_eq!(pause_after(Duration::from_millis(3)), Duration::from_millis(27));
        assert_eq!(pause_after(Duration::from_secs(3)), PAUSE_MAX);
        let last = Cell::new(0);
        let commits = || CommitNumber(last.get());
        let mut throttle = Throttle::new(&commits);
        for number in 1..=3 {
            let begun = Instant::now();
            thread::sleep(Duration::from_millis(2));
            last.set(number);
            throttle.pause();
            assert!(begun.elapsed() >= Duration::from_millis(20), "{:?}", begun.elapsed());
        }
    }

    #[test]
    fn without_a_commit_there_is_no_pause() {
        let mut throttle = Throttle::new(&|| CommitNumber(7));
        thread::sleep(Duration::from_millis(1));
        let paused_at = throttle.paused_at;
        throttle.pause();
        assert_eq!(throttle.paused_at, paused_at);
    }

    #[test]
    fn reading_and_copying_pause_after_each_part() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (shared, name) = (directory.path().join("shared"), directory.path().join("name"));
        let bytes: Vec<u8> = (0..5 * 1024 * 1024_u32).map(|at| at.to_le_bytes()[1]).collect();
        fs::write(&shared, &bytes).expect("writable");
        fs::hard_link(&shared, &name).expect("one file system");
        let pauses = Cell::new(0);
        let commits = || {
            pauses.set(pauses.get() + 1);
            CommitNumber(0)
        };
        let mut throttle = Throttle::new(&commits);
        pauses.set(0);
        let read = checksum::of(File::open(&shared).expect("it is there"), &mut throttle).expect("readable");
        assert_eq!((read, pauses.replace(0)), ((5 * 1024 * 1024, blake3::hash(&bytes)), 5));
        copying::unshare(&name, &mut throttle).expect("writable");
        assert_eq!((fs::read(&name).expect("readable") == bytes, pauses.get()), (true, 3));
    }
}
