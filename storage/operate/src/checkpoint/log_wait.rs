//! Waits for the moment at which a checkpoint delays commits least.
//!
//! The engine copies the current log and syncs the copy in one piece: tens of mebibytes, and the syncs of commits wait
//! for it. Full logs are linked, and need no copy once the engine has removed its own name for them. Under load a log
//! is soon full and soon removed; without load no commit waits.

use std::thread;
use std::time::{Duration, Instant};

use till_storage::journal::CommitNumber;

/// Time between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Limit of the wait. A store that writes so little that no log is full by then has few commits to delay.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Waits while `is_early` says that there will be a better moment and commits go on, up to the limit.
pub(super) fn wait_while(is_early: &dyn Fn() -> bool, last_commit: &dyn Fn() -> CommitNumber) {
    let begun = Instant::now();
    while is_early() && begun.elapsed() < WAIT_MAX {
        let seen = last_commit();
        thread::sleep(LOOK_EVERY);
        if last_commit() == seen {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The number of looks until the moment comes, which it does at the look `comes_at`.
    fn looks(comes_at: u64, goes_on: bool) -> u64 {
        let (looks, commits) = (Cell::new(0), Cell::new(0));
        let is_early = || {
            looks.set(looks.get() + 1);
            looks.get() < comes_at
        };
        let last_commit = || {
            commits.set(commits.get() + u64::from(goes_on));
            CommitNumber(commits.get())
        };
        wait_while(&is_early, &last_commit);
        looks.get()
    }

    #[test]
    fn the_moment_is_waited_for_as_long_as_commits_go_on() {
        assert_eq!((looks(1, true), looks(4, true)), (1, 4));
        assert_eq!(looks(4, false), 1, "there is no wait");
    }
}
