//! A bit flipped in one file after another, of every kind: a start, `till verify` or `till restore` finds it, or it is
//! harmless: everything is served as before, and `till verify` finds nothing. No answer is wrong, and nothing hangs.
//! A start that is refused for missing commits has everything before the flip once the loss is accepted.
//! After each flip that is found in a data directory or a checkpoint, everything that was acknowledged is there again
//! when an earlier checkpoint is restored with the archive.
//!
//! `TILL_DAMAGE_ROUNDS` sets the number of flipped bits, `TILL_DAMAGE_SEED` repeats the choices of a printed seed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use super::image::{Copy, Image, dice};
use super::kinds::{Damage, FileKind, Home, KINDS};
use super::restored::{Restored, assert_all_restored, restore, run};
use super::{archive, given_up};
use crate::harness::{Server, from_environment};

/// The default number of flipped bits.
const ROUNDS: usize = 10;

/// The detection of a flipped bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Detection {
    /// A start was refused.
    Start,
    /// The server started, and `till verify` finds the flip; reads of its place failed, or no read touched it.
    Verify,
    /// A checkpoint was not restored, or not with the archive.
    Restore,
    /// The last write of the archive counts as torn, which a message says; everything before it is there.
    Torn,
    /// Everything is as before, and no fault is found.
    Harmless,
}

#[test]
fn a_flipped_bit_in_any_kind_of_file_is_found_or_harmless() {
    let rounds = from_environment("TILL_DAMAGE_ROUNDS", ROUNDS);
    let mut dice = dice();
    let [killed, stopped] = Image::killed_and_stopped();
    let first = dice.index(KINDS.len());
    let mut tally = DetectionCounts::default();
    for round in 0..rounds {
        let kind = &KINDS[(first + round) % KINDS.len()];
        let image = if kind.home == Home::Stopped { &stopped } else { &killed };
        let (copy, begun) = (image.copy(), Instant::now());
        let home = home(&copy, kind);
        let Some(damage) = kind.flip(&home, &mut dice) else { continue };
        let outcome = judge(image, &copy, kind, &damage);
        println!("round {}: {}: {outcome:?}, {} ms", round + 1, damage.what, begun.elapsed().as_millis());
        tally.add(kind.name, outcome);
    }
    println!("{tally}");
}

fn home(copy: &Copy, kind: &FileKind) -> PathBuf {
    match kind.home {
        Home::Killed | Home::Stopped => copy.data(),
        Home::Checkpoint => copy.data().join("checkpoints/one"),
        Home::Archive => copy.archive(),
    }
}

/// Checks the promise. A flip that is found is repaired from checkpoint and archive.
fn judge(image: &Image, copy: &Copy, kind: &FileKind, damage: &Damage) -> Detection {
    let outcome = match kind.home {
        Home::Killed | Home::Stopped => judge_data(image, copy, &damage.what),
        Home::Checkpoint => judge_checkpoint(image, copy, &damage.what),
        Home::Archive => return archive::judge(image, copy, damage),
    };
    if outcome != Detection::Harmless {
        assert_all_restored(image, copy, &damage.what);
    }
    outcome
}

fn judge_data(image: &Image, copy: &Copy, damage: &str) -> Detection {
    let verified = run(&["verify"], copy, damage);
    let is_clean = verified.code == Some(0);
    match copy.start(damage) {
        Err(message) => {
            assert!(message.contains("till: "), "{damage}: no reason is said: {message}");
            given_up::check(image, copy, &message, damage);
            Detection::Start
        }
        Ok(server) if is_clean => {
            image.assert_whole(&server, damage);
            Detection::Harmless
        }
        Ok(server) => {
            // Every call that is answered has the same answer as before.
            ask_all(image, &server, damage);
            assert!(verified.text.contains("fault") || verified.text.contains("till: "), "{damage}: {}", verified.text);
            Detection::Verify
        }
    }
}

fn judge_checkpoint(image: &Image, copy: &Copy, damage: &str) -> Detection {
    match restore(copy, "one", "restored", &[], damage) {
        Restored::Refused(_) => Detection::Restore,
        Restored::Serves(server, _) => {
            assert_eq!(ask_all(image, &server, damage), 0, "{damage}: calls were refused");
            Detection::Harmless
        }
    }
}

/// Reads everything; returns the number of calls that were refused.
fn ask_all(image: &Image, server: &Server, damage: &str) -> usize {
    image.witnesses.iter().map(|witness| witness.ask_all(&witness.shop.on(server), damage)).sum()
}

/// The counts of each detection by kind of file.
#[derive(Default)]
struct DetectionCounts(BTreeMap<&'static str, BTreeMap<Detection, usize>>);

impl DetectionCounts {
    fn add(&mut self, kind: &'static str, outcome: Detection) {
        *self.0.entry(kind).or_default().entry(outcome).or_default() += 1;
    }
}

impl fmt::Display for DetectionCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, flips) = ("kind of file", "flips");
        writeln!(f, "{name:42} {flips:>6}  start verify restore   torn harmless")?;
        for (kind, outcomes) in &self.0 {
            let of = |outcome| outcomes.get(&outcome).copied().unwrap_or(0);
            let flips: usize = outcomes.values().sum();
            let all = [Detection::Start, Detection::Verify, Detection::Restore, Detection::Torn, Detection::Harmless];
            let [start, verify, restore, torn, harmless] = all.map(of);
            writeln!(f, "{kind:42} {flips:>6} {start:>6} {verify:>6} {restore:>7} {torn:>6} {harmless:>8}")?;
        }
        Ok(())
    }
}
