//! Flipped bits in the write-ahead log and in the MANIFEST.

use std::fs;

use crate::harness::TestDice;

use super::given_up;
use super::image::{Image, dice, flip, flips, name_of};

/// Bytes of a block of a log file: see RocksDB's `db/log_format.h`.
const BLOCK_LEN: usize = 32 * 1024;

/// Bytes of a record's header: checksum (4), length (2), type (1).
const HEADER_LEN: usize = 7;

/// The offsets of the records of a log file.
fn record_starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    while at + HEADER_LEN <= bytes.len() {
        let left = BLOCK_LEN - at % BLOCK_LEN;
        if left < HEADER_LEN || bytes[at + 6] == 0 {
            at += left;
        } else {
            starts.push(at);
            at += HEADER_LEN + usize::from(u16::from_le_bytes([bytes[at + 4], bytes[at + 5]]));
        }
    }
    starts
}

/// A byte of a log file: most often of a header or in the last block, where a torn write would be.
pub(super) fn place(dice: &mut TestDice, bytes: &[u8]) -> usize {
    let starts = record_starts(bytes);
    let last_block = (bytes.len() - 1) / BLOCK_LEN * BLOCK_LEN;
    let last: Vec<usize> = starts.iter().copied().filter(|start| *start >= last_block).collect();
    let place = match dice.between(0, 10) {
        0..4 => dice.pick(&starts) + dice.index(HEADER_LEN),
        4..7 if !last.is_empty() => dice.pick(&last) + dice.index(HEADER_LEN),
        4..9 => last_block + dice.index(bytes.len() - last_block),
        _ => dice.index(bytes.len()),
    };
    place.min(bytes.len() - 1)
}

/// Flips a bit in each of several copies of an image, and checks the promise for every start; returns the number of
/// refused starts.
fn refusals(image: &Image, count: usize, is_wanted: fn(&str) -> bool) -> usize {
    let mut dice = dice();
    let mut refused = 0;
    for _ in 0..count {
        let copy = image.copy();
        let file = copy.file(is_wanted);
        let damage = flip(&file, place(&mut dice, &fs::read(&file).expect("readable")), dice.index(8));
        match copy.start(&damage) {
            Ok(server) => image.assert_whole(&server, &damage),
            Err(message) => {
                let names_file = message.contains(&name_of(&file));
                let names_loss = message.contains("acknowledged") || message.contains("accept_loss_up_to = ");
                assert!(names_file || names_loss, "{damage}: {message}");
                given_up::check(image, &copy, &message, &damage);
                refused += 1;
            }
        }
    }
    println!("{refused} of {count} starts refused, the others had everything");
    refused
}

fn is_log(name: &str) -> bool {
    name.ends_with(".log")
}

fn is_manifest(name: &str) -> bool {
    name.starts_with("MANIFEST-")
}

#[test]
fn flipped_bits_of_a_killed_servers_log_are_never_silent() {
    let count = flips(14);
    // The whole log was acknowledged, so that no bit of it is harmless.
    assert_eq!(refusals(&Image::killed(), count, is_log), count);
}

#[test]
fn flipped_bits_of_a_killed_servers_manifest_are_never_silent() {
    refusals(&Image::killed(), flips(8), is_manifest);
}

#[test]
fn flipped_bits_of_a_stopped_servers_manifest_are_never_silent() {
    refusals(&Image::stopped(), flips(8), is_manifest);
}

#[test]
fn a_missing_log_is_detected() {
    let copy = Image::killed().copy();
    let log = copy.file(is_log);
    fs::remove_file(&log).expect("it is there");
    let message = copy.start("the log is gone").err().expect("everything acknowledged is gone");
    assert!(message.contains("acknowledged commits"), "{message}");
}

/// Bit 2 of a type makes it one with which RocksDB's reader never returns; after a damaged row it drops all others.
#[test]
fn a_damaged_log_of_the_sandbox_is_refused_by_name_and_in_time() {
    let image = Image::killed();
    for (byte, bit, verified) in
        [(6, 2, "the sandbox's book cannot be read"), (HEADER_LEN + 20, 0, "the sandbox's book holds")]
    {
        refused_with_damage(&image, byte, bit, verified);
    }
}

/// Flips a bit of a record in the middle of the log.
fn refused_with_damage(image: &Image, byte: usize, bit: usize, verified: &str) {
    let copy = image.copy();
    let files = fs::read_dir(copy.data().join("sandbox")).expect("a book").map(|file| file.expect("it lists").path());
    let logs = files.filter(|file| file.extension().is_some_and(|extension| extension == "log"));
    let log = logs.max().expect("its log");
    let starts = record_starts(&fs::read(&log).expect("readable"));
    let at = starts[starts.len() / 2];
    let damage = flip(&log, at + byte, bit);
    let (is_clean, text) = copy.verify();
    assert!(!is_clean && text.contains(verified), "{damage}: {text}");
    let message = copy.start(&damage).err().expect("it cannot be read");
    let told = format!("{} is damaged at offset {at}; if it is damaged, it can be moved away", name_of(&log));
    assert!(message.contains(&told), "{damage}: {message}");
}
