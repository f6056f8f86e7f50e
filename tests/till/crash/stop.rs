//! A stop under load loses nothing and leaves nothing to recover.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::harness::TestDice;

use super::round::Round;

/// The duration of the load before the stop.
const LIFE: Duration = Duration::from_millis(400);

fn log_bytes(data: &Path) -> u64 {
    let files = fs::read_dir(data.join("db")).expect("a database").map(|file| file.expect("it lists"));
    let logs = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "log"));
    logs.map(|log| log.metadata().expect("it is there").len()).sum()
}

#[test]
fn a_stop_under_load_loses_nothing_and_empties_the_log() {
    let mut round = Round::begin(TestDice::seed("TILL_CRASH_SEED"));
    round.load_until("stop", |server| {
        thread::sleep(LIFE);
        assert!(log_bytes(server.data()) > 0, "the load went to the log");
        assert!(server.stop(), "a stop under load ends well");
        assert_eq!(log_bytes(server.data()), 0, "a stop leaves an empty log");
    });
    round.end();
}
