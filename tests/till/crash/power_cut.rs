//! Power cuts: a server on a volume of its own that loses everything that was not synced, either while nothing is being
//! written or in the midst of writing. `TILL_POWER_CUTS` sets the number of cuts of either kind, `TILL_CRASH_SEED`
//! repeats the chances of a printed seed. `make test` skips these tests on a machine without root or loop devices.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{Server, Start, TestDice, Volume};

use super::load;
use super::round::Round;

/// Bytes of a volume.
const VOLUME_BYTES: u64 = 1 << 30;

/// Cuts of one volume: a new one begins with a new store.
const CUTS_EACH: u64 = 5;

/// The longest time of the load before a cut.
const LOAD_MS_MAX: u64 = 400;

/// The time for which callers continue after a cut, because a server must acknowledge nothing then.
const AFTER_CUT: Duration = Duration::from_millis(300);

/// The time without a write after which a server counts as at rest.
const REST: Duration = Duration::from_millis(250);

/// The longest time that the test waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// The state of the server at the power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutMoment {
    /// No call is made and nothing is written.
    AtRest,
    /// The server is under load.
    Writing,
}

/// The result of a cut.
#[derive(Debug, PartialEq, Eq)]
enum CutResult {
    /// The server started without help.
    Started,
    /// The start was refused, with a message that names what is missing.
    Refused(String),
}

#[test]
fn a_power_cut_at_rest_loses_nothing_and_the_store_starts() {
    let outcomes = cuts(CutMoment::AtRest);
    assert!(outcomes.iter().all(|outcome| *outcome == CutResult::Started), "{outcomes:?}");
}

#[test]
fn a_power_cut_while_writing_loses_nothing_without_a_message() {
    let outcomes = cuts(CutMoment::Writing);
    for outcome in &outcomes {
        if let CutResult::Refused(reason) = outcome {
            assert!(reason.contains("are missing") || reason.contains("cannot be opened"), "{reason}");
        }
    }
}

/// Makes the cuts that the environment asks for.
fn cuts(moment: CutMoment) -> Vec<CutResult> {
    let asked = std::env::var("TILL_POWER_CUTS");
    let mut left: u64 = asked.map_or(2, |text| text.parse().expect("a number of cuts"));
    let mut dice = TestDice::new(TestDice::seed("TILL_CRASH_SEED"));
    let mut outcomes = Vec::new();
    while left > 0 {
        let mut volume = Volume::made(VOLUME_BYTES);
        let seed = dice.number();
        let ended = cuts_of_a_volume(&mut volume, moment, left.min(CUTS_EACH), seed);
        println!("{moment:?}, {left} cuts left: seed {seed}: {ended:?}");
        left -= u64::try_from(ended.len()).expect("a few");
        outcomes.extend(ended);
    }
    outcomes
}

/// Makes cuts of one volume until a start is refused.
fn cuts_of_a_volume(volume: &mut Volume, moment: CutMoment, cuts: u64, seed: u64) -> Vec<CutResult> {
    let record = tempfile::NamedTempFile::new().expect("a file can be made");
    let server = Start::default().recording(record.path()).server_in(&volume.path().join("data"));
    let mut round = Round::begin_on(server, seed);
    let mut outcomes = Vec::new();
    for cut in 0..cuts {
        let call_records = cut_once(&mut round, volume, moment, cut);
        if moment == CutMoment::Writing {
            assert_last_word(&fs::read_to_string(record.path()).expect("what it said"));
            fs::write(record.path(), "").expect("a record can be emptied");
        }
        volume.mount_again();
        match round.server.try_restart() {
            Ok(()) => outcomes.push(CutResult::Started),
            Err(reason) => {
                outcomes.push(CutResult::Refused(reason));
                return outcomes;
            }
        }
        round.check(&call_records);
    }
    println!("{}", round.end());
    outcomes
}

/// Loads the server and cuts the power; the server has ended afterwards.
fn cut_once(round: &mut Round, volume: &Volume, moment: CutMoment, cut: u64) -> Vec<super::call_record::CallRecord> {
    let lasts = Duration::from_millis(round.dice.between(20, LOAD_MS_MAX));
    let callers = load::callers(&round.server, &round.merchants, &format!("cut{cut}"), &mut round.dice);
    let call_records = load::until(&mut round.server, callers, |server| {
        thread::sleep(lasts);
        if moment == CutMoment::Writing {
            volume.break_off();
            thread::sleep(AFTER_CUT);
            assert!(server.ended_by_itself(PATIENCE), "a server that cannot write ends");
        }
    });
    if moment == CutMoment::AtRest {
        wait_for_rest(&round.server);
        volume.cut_power();
    }
    round.server.kill();
    call_records
}

/// Waits until the server has written nothing for a while.
fn wait_for_rest(server: &Server) {
    let begun = Instant::now();
    let mut written = (server.metric("till_commit_groups_total"), Instant::now());
    while written.1.elapsed() < REST {
        assert!(begun.elapsed() < PATIENCE, "the server does not come to rest");
        thread::sleep(REST / 10);
        let now = server.metric("till_commit_groups_total");
        if now != written.0 || server.metric("till_acquirer_calls_in_flight") != Some(0.0) {
            written = (now, Instant::now());
        }
    }
}

/// Checks that the process printed the reason of its end.
fn assert_last_word(printed: &str) {
    assert!(printed.contains("the process stops. Check the disk and start it again."), "its last words: {printed}");
}
