//! Divides work into slices, with pauses between them while commits go on.

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use till_storage::journal::CommitNumber;

/// A pause lasts this many times as long as the work before it: the work gets a tenth of a processor, or of a disk.
const REST_FACTOR: u32 = 9;

/// Limit of a pause. On a machine so busy that a slice takes long, pauses would take for ever without it.
const REST_MAX: Duration = Duration::from_millis(100);

/// Work that pauses after each slice if there was a commit since its last pause, and goes on at once if there was none.
pub(super) struct Pace<'c> {
    commits: &'c dyn Fn() -> CommitNumber,
    seen: CommitNumber,
    rested: Instant,
}

impl<'c> Pace<'c> {
    /// Begins the work; `commits` returns the last commit.
    pub(super) fn beside(commits: &'c dyn Fn() -> CommitNumber) -> Pace<'c> {
        Pace { commits, seen: commits(), rested: Instant::now() }
    }

    /// Must be called after each slice.
    pub(super) fn rest(&mut self) {
        if (self.commits)() == self.seen {
            return;
        }
        thread::sleep(rest_behind(self.rested.elapsed()));
        (self.seen, self.rested) = ((self.commits)(), Instant::now());
    }
}

fn rest_behind(worked: Duration) -> Duration {
    worked.saturating_mul(REST_FACTOR).min(REST_MAX)
}

/// Takes the bytes that are read, keeps nothing, and pauses after each piece.
impl Write for Pace<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.rest();
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
    fn work_beside_commits_rests_nine_times_as_long_as_it_took_and_never_very_long() {
        assert_eq!(rest_behind(Duration::from_millis(3)), Duration::from_millis(27));
        assert_eq!(rest_behind(Duration::from_secs(3)), REST_MAX);
        let last = Cell::new(0);
        let commits = || CommitNumber(last.get());
        let mut pace = Pace::beside(&commits);
        for number in 1..=3 {
            let begun = Instant::now();
            thread::sleep(Duration::from_millis(2));
            last.set(number);
            pace.rest();
            assert!(begun.elapsed() >= Duration::from_millis(20), "{:?}", begun.elapsed());
        }
    }

    #[test]
    fn without_a_commit_nothing_rests() {
        let mut pace = Pace::beside(&|| CommitNumber(7));
        thread::sleep(Duration::from_millis(1));
        let rested = pace.rested;
        pace.rest();
        assert_eq!(pace.rested, rested);
    }

    #[test]
    fn what_is_read_or_copied_rests_behind_each_part_and_loses_nothing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (shared, name) = (directory.path().join("shared"), directory.path().join("name"));
        let bytes: Vec<u8> = (0..5 * 1024 * 1024_u32).map(|at| at.to_le_bytes()[1]).collect();
        fs::write(&shared, &bytes).expect("writable");
        fs::hard_link(&shared, &name).expect("one file system");
        let rests = Cell::new(0);
        let commits = || {
            rests.set(rests.get() + 1);
            CommitNumber(0)
        };
        let mut pace = Pace::beside(&commits);
        rests.set(0);
        let read = checksum::of(File::open(&shared).expect("it is there"), &mut pace).expect("readable");
        assert_eq!((read, rests.replace(0)), ((5 * 1024 * 1024, blake3::hash(&bytes)), 5));
        copying::unshare(&name, &mut pace).expect("writable");
        assert_eq!((fs::read(&name).expect("readable") == bytes, rests.get()), (true, 3));
    }
}
