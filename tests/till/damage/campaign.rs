//! A bit flipped in one file after another, of every kind: a start, `till verify` or `till restore` finds it, or it is
//! harmless: everything is served as before, and `till verify` finds nothing. Never is anything else answered, and
//! nothing hangs.
//!
//! `TILL_DAMAGE_ROUNDS` sets how many bits are flipped, `TILL_DAMAGE_SEED` repeats the chances of a printed seed.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::image::{Copy, Image, dice, start};
use super::kinds::{Home, KINDS, Kind};
use crate::harness::{Dice, Server};

/// Bits that are flipped when nothing else is said.
const ROUNDS: usize = 10;

/// How long a command may take until it counts as hanging.
const COMMAND_MAX: Duration = Duration::from_secs(120);

/// What became of a flipped bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// A start was refused.
    Start,
    /// The server started, and `till verify` finds it; reads of the place failed, or none touched it.
    Verify,
    /// A checkpoint was not restored.
    Restore,
    /// Everything is as before, and nothing is wrong.
    Harmless,
}

/// What a command did.
struct Said {
    code: Option<i32>,
    text: String,
}

#[test]
fn a_flipped_bit_in_any_kind_of_file_is_found_or_harmless() {
    let rounds = std::env::var("TILL_DAMAGE_ROUNDS").ok();
    let rounds = rounds.map_or(ROUNDS, |text| text.parse().expect("a number of rounds"));
    let mut dice = dice();
    let [killed, stopped] = Image::killed_and_stopped();
    let first = dice.index(KINDS.len());
    let mut tally = Tally::default();
    for round in 0..rounds {
        let kind = &KINDS[(first + round) % KINDS.len()];
        let image = if kind.home == Home::Stopped { &stopped } else { &killed };
        let begun = Instant::now();
        if let Some((damage, outcome)) = judge(image, kind, &mut dice) {
            println!("round {}: {damage}: {outcome:?}, {} ms", round + 1, begun.elapsed().as_millis());
            tally.add(kind.name, outcome);
        }
    }
    println!("{tally}");
}

/// Flips a bit, and holds everything to the promise.
fn judge(image: &Image, kind: &Kind, dice: &mut Dice) -> Option<(String, Outcome)> {
    let copy = image.copy();
    let home = match kind.home {
        Home::Killed | Home::Stopped => copy.data(),
        Home::Checkpoint => copy.data().join("checkpoints/one"),
    };
    let damage = kind.flip(&home, dice)?;
    let outcome = match kind.home {
        Home::Killed | Home::Stopped => judge_data(image, &copy, &damage),
        Home::Checkpoint => judge_checkpoint(image, &copy, &home, &damage),
    };
    Some((damage, outcome))
}

fn judge_data(image: &Image, copy: &Copy, damage: &str) -> Outcome {
    let verified = run(&copy.data(), &["verify"], copy, damage);
    let is_clean = verified.code == Some(0);
    match copy.start(damage) {
        Err(message) => {
            assert!(message.contains("till: "), "{damage}: no reason is said: {message}");
            Outcome::Start
        }
        Ok(server) if is_clean => {
            image.assert_whole(&server, damage);
            Outcome::Harmless
        }
        Ok(server) => {
            // What is answered at all is as before.
            ask_all(image, &server, damage);
            assert!(verified.text.contains("fault") || verified.text.contains("till: "), "{damage}: {}", verified.text);
            Outcome::Verify
        }
    }
}

fn judge_checkpoint(image: &Image, copy: &Copy, checkpoint: &Path, damage: &str) -> Outcome {
    let to = copy.data().with_file_name("restored");
    let (from, target) = (checkpoint.to_str().expect("ASCII"), to.to_str().expect("ASCII"));
    let restored = run(&copy.data(), &["restore", "--from", from, "--to", target], copy, damage);
    if restored.code != Some(0) {
        assert!(restored.text.contains("till: "), "{damage}: no reason is said: {}", restored.text);
        let starts = to.join("db").exists() && start().try_server_on(&to, None).is_ok();
        assert!(!starts, "{damage}: what was not restored must not start");
        return Outcome::Restore;
    }
    let started = start().try_server_on(&to, Some(Arc::clone(&copy.directory)));
    let server = started.unwrap_or_else(|message| panic!("{damage}: restored, and does not start: {message}"));
    assert_eq!(ask_all(image, &server, damage), 0, "{damage}: calls were refused");
    Outcome::Harmless
}

/// Asks for everything; returns how many calls were refused.
fn ask_all(image: &Image, server: &Server, damage: &str) -> usize {
    image.witnesses.iter().map(|witness| witness.ask_all(&witness.shop.on(server), damage)).sum()
}

/// Runs a command, which must come to its end.
fn run(data: &Path, arguments: &[&str], copy: &Copy, damage: &str) -> Said {
    let record = copy.data().with_file_name("output");
    let output = File::create(&record).expect("writable");
    let mut command: Command = start().command(data);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(output.try_clone().expect("it is open")).stderr(output);
    let mut child = command.spawn().expect("the binary can be started");
    let until = Instant::now() + COMMAND_MAX;
    let code = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status.code();
        }
        if Instant::now() > until {
            child.kill().expect("a child can be killed");
            panic!("{damage}: {arguments:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = String::from_utf8_lossy(&std::fs::read(&record).expect("readable")).into_owned();
    assert!(code.is_some() && !text.contains("panicked"), "{damage}: {arguments:?} ended badly: {text}");
    Said { code, text }
}

/// How often what came of which kind.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, BTreeMap<Outcome, usize>>);

impl Tally {
    fn add(&mut self, kind: &'static str, outcome: Outcome) {
        *self.0.entry(kind).or_default().entry(outcome).or_default() += 1;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:42} {:>6} {:>6} {:>6} {:>8} {:>8}",
            "kind of file", "flips", "start", "verify", "restore", "harmless"
        )?;
        for (kind, outcomes) in &self.0 {
            let of = |outcome| outcomes.get(&outcome).copied().unwrap_or(0);
            let flips: usize = outcomes.values().sum();
            let [start, verify, restore, harmless] =
                [Outcome::Start, Outcome::Verify, Outcome::Restore, Outcome::Harmless].map(of);
            writeln!(f, "{kind:42} {flips:>6} {start:>6} {verify:>6} {restore:>8} {harmless:>8}")?;
        }
        Ok(())
    }
}
