//! Checkpoints under full load, by links and as copies on another file system: the server's throughput meanwhile, and a
//! check that each of them is restored whole and has exactly a prefix of every merchant's log.
//!
//! `TILL_CHECKPOINT_ROUNDS` sets the number of rounds of both kinds (`make checkpoint-load`). In a round, checkpoints
//! are taken in the middle of one load: the rate while one is taken is compared with the rates directly before and
//! after it, over times of the same length. Without the variable a short round makes only the checks, under a light
//! load.

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

use crate::harness::{Server, Start, directory, text};

use super::background_load::BackgroundLoad;
use super::throughput::Throughput;

/// A directory of Linux on a file system in memory.
const ELSEWHERE: &str = "/dev/shm";

/// The time after which the last payments have been counted.
const SETTLING: Duration = Duration::from_millis(300);

/// The size of the test.
struct Extent {
    rounds: u32,
    /// The measured checkpoints of a round. If there is time for several, the first one is not measured, because it
    /// cannot reuse files of an earlier one.
    checkpoints: usize,
    /// The least time that is measured before, during and after a checkpoint.
    stretch_min: Duration,
    /// The length of the load of a round.
    span: Duration,
    load: &'static [&'static str],
}

impl Extent {
    fn of_this_run() -> Extent {
        let seconds = Duration::from_secs;
        match std::env::var("TILL_CHECKPOINT_ROUNDS") {
            Ok(rounds) => Extent {
                rounds: rounds.parse().expect("a number of rounds"),
                checkpoints: 12,
                stretch_min: seconds(1),
                span: seconds(75),
                load: &["--merchants=64", "--connections=256"],
            },
            Err(_) => Extent {
                rounds: 1,
                checkpoints: 1,
                stretch_min: Duration::from_millis(300),
                span: seconds(4),
                load: &["--merchants=8", "--connections=16", "--rate=500"],
            },
        }
    }

    fn load(&self, span: Duration) -> Vec<String> {
        let spans = [format!("--duration={}ms", span.as_millis()), "--warm-up=1s".to_owned()];
        self.load.iter().map(|&text| text.to_owned()).chain(spans).collect()
    }
}

/// A checkpoint that was taken in the middle of a load.
struct Taking {
    /// The time since which no other work was done.
    since: Instant,
    begun: Instant,
    taken: Instant,
    /// The time at which earlier checkpoints were removed, too, and the cost of a short one shows.
    ended: Instant,
    /// The time until which no other work was done.
    until: Instant,
}

impl Taking {
    fn span(&self) -> Duration {
        self.ended - self.begun
    }

    /// Payments a second meanwhile, and directly before and after it, over the same length of time.
    fn rates(&self, throughput: &Throughput) -> (f64, f64) {
        let half = self.span() / 2;
        let before = throughput.rate(self.since.max(self.begun - half), self.begun);
        let after = throughput.rate(self.ended, self.until.min(self.ended + half));
        (throughput.rate(self.begun, self.ended), f64::midpoint(before, after))
    }
}

/// The ratios of all checkpoints.
#[derive(Default)]
struct Ratios {
    each: Vec<f64>,
    with: f64,
    without: f64,
}

impl Ratios {
    fn add(&mut self, (with, without): (f64, f64), span: Duration) -> f64 {
        self.with += with * span.as_secs_f64();
        self.without += without * span.as_secs_f64();
        self.each.push(with / without);
        with / without
    }

    /// The median ratio, and that of all payments.
    fn middle_and_total(mut self) -> (f64, f64) {
        self.each.sort_by(f64::total_cmp);
        (self.each[self.each.len() / 2], self.with / self.without)
    }
}

/// The head of a merchant's log.
#[derive(Deserialize)]
struct LogHead {
    merchant_id: String,
    records: u64,
    hash: String,
}

/// The members of a record that are compared: its hash covers all records before it.
#[derive(Deserialize)]
struct ExportedRecord {
    merchant_id: String,
    sequence: u64,
    hash: String,
}

/// A server with the directory of its checkpoints.
struct CheckpointServer {
    server: Server,
    shelf: PathBuf,
    what: &'static str,
    /// The merchant that was created directly before the newest checkpoint.
    newest_merchant: Option<String>,
}

impl CheckpointServer {
    fn take(&self, name: &str) -> Duration {
        let begun = Instant::now();
        self.server.admin("create-checkpoint", &json!({ "name": name })).ok();
        begun.elapsed()
    }

    /// Takes a checkpoint, removes all others, and then only lets the load run, for half of the time that this took.
    fn take_among(&mut self, name: &str, since: Instant, stretch_min: Duration) -> Taking {
        self.newest_merchant = Some(self.server.shop().merchant_id);
        let begun = Instant::now();
        let taken = begun + self.take(name);
        succeeds(&self.server, &["checkpoint", "prune", "--keep", "1"]);
        thread::sleep(stretch_min.saturating_sub(begun.elapsed()));
        let ended = Instant::now();
        thread::sleep((ended - begun) / 2);
        Taking { since, begun, taken, ended, until: Instant::now() }
    }

    /// The newest checkpoint.
    fn kept(&self) -> PathBuf {
        let entries = std::fs::read_dir(&self.shelf).expect("it is there").flatten().map(|entry| entry.path());
        let mut directories: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        assert_eq!(directories.len(), 1, "{directories:?}");
        directories.remove(0)
    }

    /// Takes checkpoints in the middle of a load, and compares the rate meanwhile with the rates around them. When a
    /// load ends before the first checkpoint is taken, a longer load follows.
    fn load(&mut self, extent: &Extent, ratios: &mut Ratios) {
        let (throughput, takings) = [1, 4, 16]
            .into_iter()
            .find_map(|times| self.take_in_load(extent, extent.span * times))
            .expect("the load ended before the first checkpoint did");
        // The first one cannot reuse files of an earlier one: it counts only when there was no time for another.
        for taking in takings.iter().skip(usize::from(takings.len() > 1)) {
            self.tell(taking, taking.rates(&throughput), ratios);
        }
    }

    /// The checkpoints taken in the middle of a load of this length; none when it ended before the first one did.
    fn take_in_load(&mut self, extent: &Extent, span: Duration) -> Option<(Throughput, Vec<Taking>)> {
        let mut load = BackgroundLoad::begin(&self.server, &extent.load(span));
        let (begun, throughput) = (Instant::now(), Throughput::of(&self.server));
        let mut takings: Vec<Taking> = Vec::new();
        while takings.len() <= extent.checkpoints && goes_on(&takings, begun + span) {
            let since = takings.last().map_or(begun, |last| last.until);
            let taking = self.take_among(&format!("c-{}-{}", span.as_secs(), takings.len()), since, extent.stretch_min);
            if !load.is_running() {
                println!("{}: the load ended before a checkpoint did", self.what);
                self.server.shop(); // The log must continue after the last checkpoint.
                break;
            }
            takings.push(taking);
        }
        thread::sleep(SETTLING);
        load.end();
        (!takings.is_empty()).then_some((throughput, takings))
    }

    fn tell(&self, taking: &Taking, rates: (f64, f64), ratios: &mut Ratios) {
        let ratio = ratios.add(rates, taking.span());
        println!(
            "{}: {:.0}/s with a checkpoint of {} ms, {:.0}/s around it: {ratio:.2}",
            self.what,
            rates.0,
            (taking.taken - taking.begun).as_millis(),
            rates.1,
        );
    }

    /// Checks that the newest checkpoint can be restored, which verifies it, and has a prefix of every log.
    fn check(&mut self) {
        let (checkpoint, place) = (self.kept(), directory());
        assert!(self.server.stop(), "a stop ends well");
        let restored = place.path().join("restored");
        succeeds(&self.server, &["restore", "--from", text(&checkpoint), "--to", text(&restored)]);
        let heads = heads(&restored, place.path());
        let (passed, found) = compare(&heads, self.server.data(), place.path());
        let newest_merchant = self.newest_merchant.take().expect("one was made before each checkpoint");
        assert!(heads.contains_key(&newest_merchant), "{}: what was acknowledged before is in it", self.what);
        assert_eq!(passed, heads.len(), "{}: every merchant's log goes through where the checkpoint ends", self.what);
        let kept: u64 = heads.values().map(|head| head.records).sum();
        println!("{}: restored and verified, {kept} records of {found}, a beginning of {passed} logs", self.what);
        assert!(kept > 0 && kept < found, "the load went on before and afterwards");
    }
}

/// True when there is time for one more that takes not much longer than the last.
fn goes_on(takings: &[Taking], end: Instant) -> bool {
    takings.len() < 2 || takings.last().is_some_and(|last| last.until + last.span() * 2 < end)
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

/// The head of each log in a data directory that no server uses.
fn heads(data: &Path, place: &Path) -> BTreeMap<String, LogHead> {
    let head = |line: String| -> LogHead { serde_json::from_str(&line).expect("a JSON object a line") };
    let heads = exported(data, place, "merchants").map(head);
    heads.map(|head| (head.merchant_id.clone(), head)).collect()
}

/// Checks that the logs contain these heads, and returns the numbers of logs and of records.
fn compare(heads: &BTreeMap<String, LogHead>, data: &Path, place: &Path) -> (usize, u64) {
    let (mut passed, mut found) = (0, 0);
    for line in exported(data, place, "log") {
        let record: ExportedRecord = serde_json::from_str(&line).expect("a JSON object a line");
        let head = heads.get(&record.merchant_id).filter(|head| head.records == record.sequence);
        passed += usize::from(head.is_some_and(|head| head.hash == record.hash));
        found += 1;
    }
    (passed, found)
}

fn by_links() -> (CheckpointServer, Option<TempDir>) {
    let server = Server::start();
    let shelf = server.data().join("checkpoints");
    (CheckpointServer { server, shelf, what: "links", newest_merchant: None }, None)
}

/// A server that copies its checkpoints to another file system; None where there is none.
fn as_copies() -> Option<(CheckpointServer, Option<TempDir>)> {
    let shelf = TempDir::new_in(ELSEWHERE).ok()?;
    let here = directory();
    let device = |path: &Path| std::fs::metadata(path).expect("it is there").dev();
    if device(shelf.path()) == device(here.path()) {
        return None;
    }
    let server = Start::default().with("TILL_CHECKPOINT_DIRECTORY", text(shelf.path())).server();
    Some((
        CheckpointServer { server, shelf: shelf.path().to_owned(), what: "copies", newest_merchant: None },
        Some(shelf),
    ))
}

fn run(what: &str, begin: impl Fn() -> Option<(CheckpointServer, Option<TempDir>)>) {
    let extent = Extent::of_this_run();
    let mut ratios = Ratios::default();
    for _ in 0..extent.rounds {
        let Some((mut stand, _shelf)) = begin() else {
            println!("skipped: {ELSEWHERE} is no other file system here");
            return;
        };
        stand.load(&extent, &mut ratios);
        stand.check();
    }
    let (count, (middle, total)) = (ratios.each.len(), ratios.middle_and_total());
    println!("{what}: {count} checkpoints, {middle:.2} of the rate around each, {total:.2} in all (aim: at least 0.9)");
}

#[test]
fn a_checkpoint_by_links_under_load_is_a_beginning_of_every_log() {
    run("links", || Some(by_links()));
}

#[test]
fn a_copied_checkpoint_under_load_is_a_prefix_of_every_log() {
    run("copies", as_copies);
}
