//! Waiting for moments at which a checkpoint keeps commits waiting least.
//!
//! The engine copies the log that is written to, and syncs the copy in one piece: tens of mebibytes, behind which the syncs
//! of commits wait. Logs that are full are linked, and need no copy once the engine has removed its own name for them. Under
//! load a log is soon full and soon removed; without load nobody waits.

use std::thread;
use std::time::{Duration, Instant};

use till_storage::journal::CommitNumber;

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long is waited at most. Who writes so little that no log is full by then is not much in the way.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Waits as long as `is_early` says that there will be a better moment, commits go on, and there is patience.
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

    /// How often was looked until the moment came, which it does at that look.
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
        assert_eq!(looks(4, false), 1, "nobody is kept waiting");
    }
}
