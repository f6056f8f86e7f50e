//! Checkpoints under full load, by links and as copies on another file system: how much the server does meanwhile, and
//! that each of them is restored whole and has exactly a beginning of every merchant's log.
//!
//! `TILL_CHECKPOINT_ROUNDS` sets how often both are done (`make checkpoint-load`). Each round has stretches without
//! checkpoints and stretches in which one is taken after the other, in turns; their rates are printed. Without it a short
//! round checks what must hold, under a light load.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Server, Start};

use super::background_load::{BackgroundLoad, initiated};

/// Where Linux has a file system that is no disk's.
const ELSEWHERE: &str = "/dev/shm";

/// How much is done.
struct Extent {
    rounds: u32,
    /// Stretches without checkpoints, and as many with them, in turns.
    pairs: u32,
    stretch: Duration,
    load: Vec<String>,
}

impl Extent {
    fn of_this_run() -> Extent {
        let rounds = std::env::var("TILL_CHECKPOINT_ROUNDS").ok();
        let rounds = rounds.map(|text| text.parse().expect("a number of rounds"));
        match rounds {
            Some(rounds) => Extent::new(rounds, 2, Duration::from_secs(4), &["--merchants=64", "--connections=256"]),
            None => Extent::new(1, 1, Duration::from_secs(1), &["--merchants=8", "--connections=16", "--rate=500"]),
        }
    }

    fn new(rounds: u32, pairs: u32, stretch: Duration, load: &[&str]) -> Extent {
        // A stretch ends behind the last checkpoint of it, so there must be some time to spare.
        let span = (stretch * 2 * pairs).mul_f64(1.5);
        let spans = [format!("--duration={}ms", span.as_millis()), "--warm-up=1s".to_owned()];
        Extent { rounds, pairs, stretch, load: load.iter().map(|&text| text.to_owned()).chain(spans).collect() }
    }
}

/// A stretch: how many payments were answered, in which time, and how long the checkpoints took that were taken.
struct Stretch {
    rate: f64,
    taken: Vec<Duration>,
}

impl Stretch {
    /// Measures while `act` does what is to be done meanwhile.
    fn measure(server: &Server, act: impl FnOnce() -> Vec<Duration>) -> Stretch {
        let (before, begun) = (initiated(server), Instant::now());
        let taken = act();
        let seconds = begun.elapsed().as_secs_f64();
        let count = u32::try_from(initiated(server) - before).expect("a stretch has not so many");
        Stretch { rate: f64::from(count) / seconds, taken }
    }
}

/// Where a merchant's log ends.
#[derive(Deserialize)]
struct Head {
    merchant_id: String,
    records: u64,
    hash: String,
}

/// What of a record is compared: its hash covers all that is before it.
#[derive(Deserialize)]
struct Record {
    merchant_id: String,
    sequence: u64,
    hash: String,
}

/// A server whose checkpoints are kept in one place.
struct Stand {
    server: Server,
    shelf: PathBuf,
    what: &'static str,
}

impl Stand {
    fn take(&self, name: &str) -> Duration {
        let begun = Instant::now();
        self.server.admin("create-checkpoint", &json!({ "name": name })).ok();
        begun.elapsed()
    }

    /// Takes one checkpoint after the other, and keeps only the last.
    fn take_for(&self, span: Duration, pair: u32) -> Vec<Duration> {
        let (begun, mut taken) = (Instant::now(), Vec::new());
        while taken.is_empty() || begun.elapsed() < span {
            taken.push(self.take(&format!("pair-{pair}-{}", taken.len())));
            succeeds(&self.server, &["checkpoint", "prune", "--keep", "1"]);
        }
        taken
    }

    /// The newest checkpoint.
    fn kept(&self) -> PathBuf {
        let entries = std::fs::read_dir(&self.shelf).expect("it is there").flatten().map(|entry| entry.path());
        let mut directories: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        assert_eq!(directories.len(), 1, "{directories:?}");
        directories.remove(0)
    }

    /// Stretches without and with checkpoints, in turns, under load; gives the ratios of their rates.
    fn load(&self, extent: &Extent) -> Vec<f64> {
        let mut load = BackgroundLoad::begin(&self.server, &extent.load);
        thread::sleep(Duration::from_secs(1)); // Its warm-up.
        let mut ratios = Vec::new();
        for pair in 0..extent.pairs {
            let without = Stretch::measure(&self.server, || {
                thread::sleep(extent.stretch);
                Vec::new()
            });
            let with = Stretch::measure(&self.server, || self.take_for(extent.stretch, pair));
            assert!(load.is_running(), "the load ended before the checkpoints did");
            ratios.push(with.rate / without.rate);
            println!(
                "{}: {:.0}/s without, {:.0}/s with checkpoints, {:.2}; {} taken, the slowest in {} ms",
                self.what,
                without.rate,
                with.rate,
                with.rate / without.rate,
                with.taken.len(),
                with.taken.iter().max().map_or(0, Duration::as_millis),
            );
        }
        load.end();
        ratios
    }

    /// Checks that the newest checkpoint can be restored, which verifies it, and has a beginning of every log.
    fn check(&mut self) {
        let (checkpoint, place) = (self.kept(), directory());
        assert!(self.server.stop(), "a stop ends well");
        let restored = place.path().join("restored");
        succeeds(&self.server, &["restore", "--from", text(&checkpoint), "--to", text(&restored)]);
        let heads = heads(&restored, place.path());
        let (passed, found) = compare(&heads, self.server.data(), place.path());
        assert_eq!(passed, heads.len(), "{}: every merchant's log goes through where the checkpoint ends", self.what);
        let kept: u64 = heads.values().map(|head| head.records).sum();
        println!("{}: restored and verified, {kept} records of {found}, a beginning of {passed} logs", self.what);
        assert!(kept > 0 && kept < found, "the load went on before and afterwards");
    }
}

fn directory() -> TempDir {
    TempDir::new().expect("a temporary directory can be made")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary directories are ASCII")
}

#[track_caller]
fn succeeds(server: &Server, arguments: &[&str]) {
    let output = server.command().args(arguments).output().expect("the binary can be started");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The lines of one file of an export.
fn exported(data: &Path, place: &Path, what: &str) -> impl Iterator<Item = String> + use<> {
    let to = place.join(what);
    let mut command = Start::default().command(data);
    let output = command.args(["export", "--what", what, "--to"]).arg(&to).output();
    let output = output.expect("the binary can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = File::open(to.join(format!("{what}.jsonl"))).expect("it was written");
    BufReader::new(file).lines().map(|line| line.expect("it can be read"))
}

/// Where each log ends in a data directory that no server uses.
fn heads(data: &Path, place: &Path) -> BTreeMap<String, Head> {
    let head = |line: String| -> Head { serde_json::from_str(&line).expect("a JSON object a line") };
    let heads = exported(data, place, "merchants").map(head);
    heads.map(|head| (head.merchant_id.clone(), head)).collect()
}

/// How many logs go through these heads, and how many records there are in all.
fn compare(heads: &BTreeMap<String, Head>, data: &Path, place: &Path) -> (usize, u64) {
    let (mut passed, mut found) = (0, 0);
    for line in exported(data, place, "log") {
        let record: Record = serde_json::from_str(&line).expect("a JSON object a line");
        let head = heads.get(&record.merchant_id).filter(|head| head.records == record.sequence);
        passed += usize::from(head.is_some_and(|head| head.hash == record.hash));
        found += 1;
    }
    (passed, found)
}

fn by_links() -> (Stand, Option<TempDir>) {
    let server = Server::start();
    let shelf = server.data().join("checkpoints");
    (Stand { server, shelf, what: "links" }, None)
}

/// A server that copies its checkpoints to another file system; None where there is none.
fn as_copies() -> Option<(Stand, Option<TempDir>)> {
    let shelf = TempDir::new_in(ELSEWHERE).ok()?;
    let here = directory();
    let device = |path: &Path| std::fs::metadata(path).expect("it is there").dev();
    if device(shelf.path()) == device(here.path()) {
        return None;
    }
    let server = Start::default().with("TILL_CHECKPOINT_DIRECTORY", text(shelf.path())).server();
    Some((Stand { server, shelf: shelf.path().to_owned(), what: "copies" }, Some(shelf)))
}

fn middle(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn run(what: &str, begin: impl Fn() -> Option<(Stand, Option<TempDir>)>) {
    let extent = Extent::of_this_run();
    let mut ratios = Vec::new();
    for _ in 0..extent.rounds {
        let Some((mut stand, _shelf)) = begin() else {
            println!("skipped: {ELSEWHERE} is no other file system here");
            return;
        };
        ratios.extend(stand.load(&extent));
        stand.check();
    }
    println!("{what}: with checkpoints {:.2} of the rate without (aim: at least 0.9)", middle(ratios));
}

#[test]
fn a_checkpoint_by_links_under_load_is_a_beginning_of_every_log() {
    run("links", || Some(by_links()));
}

#[test]
fn a_checkpoint_copied_to_another_file_system_under_load_is_a_beginning_of_every_log() {
    run("copies", as_copies);
}
