//! The data directory is destroyed under load, and the store restored from a checkpoint and an archive that was
//! written before anything was acknowledged: every promise must hold as after a kill.
//!
//! `TILL_ARCHIVE_ROUNDS` sets the number of rounds, `TILL_CRASH_SEED` repeats the random choices of a printed seed.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::harness::{Server, Start, TestDice, directory, from_environment, text};

use super::load;
use super::round::Round;
use super::sandbox::Extent;

/// Lives of one sequence of stores: each but the first runs on a restored directory.
const LIVES: u64 = 2;

/// The longest time of a life under load before the checkpoint, and after it.
const PART_MS_MAX: u64 = 300;

#[test]
fn acknowledged_data_survives_a_destroyed_data_directory() {
    let rounds: u64 = from_environment("TILL_ARCHIVE_ROUNDS", 2);
    let mut seed = TestDice::seed("TILL_CRASH_SEED");
    for number in 1..=rounds {
        println!("round {number} of {rounds}: seed {seed}");
        run(seed);
        seed = TestDice::new(seed).number();
    }
}

fn run(seed: u64) {
    let place = directory();
    let mut round = Round::begin_on(start(place.path(), 0), seed);
    for life in 0..LIVES {
        live(&mut round, place.path(), life);
    }
    round.end();
}

/// Loads, takes a checkpoint meanwhile, kills, destroys, restores, starts, and checks.
fn live(round: &mut Round, place: &Path, life: u64) {
    let parts = [round.dice.between(1, PART_MS_MAX), round.dice.between(1, PART_MS_MAX)].map(Duration::from_millis);
    let callers = load::callers(&round.server, &round.merchants, &format!("life{life}"), &mut round.dice);
    let call_records = load::until(&mut round.server, callers, |server| {
        thread::sleep(parts[0]);
        server.admin("create-checkpoint", &json!({ "name": format!("life{life}") })).ok();
        thread::sleep(parts[1]);
        server.kill();
    });
    fs::remove_dir_all(data(place, life)).expect("it can be destroyed");
    restore(place, life);
    round.book = Extent::Authorizations;
    round.server = start(place, life + 1);
    round.server.admin("resume-effects", &json!({})).ok();
    round.check(&call_records);
}

fn data(place: &Path, life: u64) -> PathBuf {
    place.join(format!("data-{life}"))
}

fn archive(place: &Path, life: u64) -> PathBuf {
    place.join(format!("archive-{life}"))
}

fn start(place: &Path, life: u64) -> Server {
    let start = Start::default()
        .with("TILL_ARCHIVE_DIRECTORY", text(&archive(place, life)))
        .with("TILL_ARCHIVE_BEFORE_ACKNOWLEDGED", "true")
        .with("TILL_ARCHIVE_SEGMENT_BYTES", "100000")
        .with("TILL_CHECKPOINT_DIRECTORY", text(&place.join("checkpoints")));
    let server = start.try_server_on(&data(place, life), None);
    server.unwrap_or_else(|error| panic!("the server does not start: {error}"))
}

fn restore(place: &Path, life: u64) {
    let checkpoint = place.join("checkpoints").join(format!("life{life}"));
    let mut command = Start::default().command(&data(place, life + 1));
    command.args(["restore", "--from", text(&checkpoint), "--archive", text(&archive(place, life))]);
    let output = command.args(["--to", text(&data(place, life + 1))]).output().expect("the binary can be started");
    let printed = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", printed(&output.stdout), printed(&output.stderr));
}
