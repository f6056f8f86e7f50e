//! Flipped bits, cuts and zeros in the logs and the MANIFEST of a store that was killed: either a start refuses, or no
//! acknowledged commit is missing. It never hangs. After a refusal that allows it, a start that accepts the loss has
//! every commit before the damage.
//!
//! `TILL_DAMAGE_RUNS` sets the number of damages that are tried per kind of file, for longer runs.

mod fixtures;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixtures::{Chain, copy, merchant, open_store};
use tempfile::TempDir;
use till_domain::ids::MerchantId;
use till_storage::disk_store::DiskStore;
use till_storage::engine::high_water::SLOT_LEN;
use till_storage::engine::{EngineOptions, OpenError};
use till_storage::family::Family;
use till_storage::journal::{AppendVerdict, Head, Journal, Sequence, record};
use till_storage::rows::{RowReader, RowStore};

const MERCHANTS: [MerchantId; 3] = [merchant(1), merchant(2), merchant(3)];
const BLOCK_LEN: usize = 32 * 1024;

/// A data directory as a kill left it, with its acknowledged commits.
struct Image {
    directory: TempDir,
    acknowledged: Vec<Head>,
}

fn options(directory: &Path, flushed_at_bytes: usize) -> EngineOptions {
    EngineOptions {
        memtable_bytes: flushed_at_bytes,
        wal_bytes_max: 64 * 1024 * 1024,
        open_limit: Duration::from_secs(5),
        disk_reserve_bytes: 0,
        ..EngineOptions::new(directory)
    }
}

fn append(engine: &DiskStore, batches: usize) -> Vec<Head> {
    let mut chains = MERCHANTS.map(|merchant_id| Chain::claim(engine, merchant_id));
    for number in 0..batches {
        let group = chains.iter_mut().map(|chain| {
            let mut append = chain.batch(&[&vec![u8::try_from(number % 251).expect("below 251"); 40 + number % 700]]);
            append.derived = chain.row(append.new_head.sequence.0, Some(&[3; 100]));
            append
        });
        let verdicts = engine.append(group.collect());
        assert!(verdicts.iter().all(|verdict| matches!(verdict, AppendVerdict::Committed(_))), "{verdicts:?}");
    }
    chains.iter().map(|chain| chain.head).collect()
}

impl Image {
    /// Killed with everything in the log.
    fn unflushed() -> Image {
        Image::killed(64 * 1024 * 1024, &[60])
    }

    /// Killed after several flushes, in the second of three runs of the store, so that the MANIFEST has many records.
    fn flushed() -> Image {
        Image::killed(256 * 1024, &[150, 150, 40])
    }

    fn killed(flushed_at_bytes: usize, lives: &[usize]) -> Image {
        let mut directory = tempfile::tempdir().expect("a temporary directory");
        let mut acknowledged = Vec::new();
        for &batches in lives {
            let engine = open_store(&options(directory.path(), flushed_at_bytes)).expect("nothing is missing");
            acknowledged = append(&engine, batches);
            let image = tempfile::tempdir().expect("a temporary directory");
            copy(directory.path(), image.path());
            drop(engine);
            directory = image;
        }
        Image { directory, acknowledged }
    }

    fn file(&self, wanted: impl Fn(&str) -> bool) -> PathBuf {
        let files = fs::read_dir(self.directory.path().join("db")).expect("readable").flatten();
        let names = files.map(|entry| entry.file_name().into_string().expect("RocksDB's names are ASCII"));
        let mut names: Vec<String> = names.filter(|name| wanted(name)).collect();
        names.sort();
        PathBuf::from("db").join(names.pop().expect("it is there"))
    }

    fn log(&self) -> PathBuf {
        self.file(|name| name.ends_with(".log"))
    }

    fn manifest(&self) -> PathBuf {
        self.file(|name| name.starts_with("MANIFEST-"))
    }

    /// A copy with other bytes in one file.
    fn with(&self, file: &Path, bytes: &[u8]) -> TempDir {
        let image = tempfile::tempdir().expect("a temporary directory");
        copy(self.directory.path(), image.path());
        fs::write(image.path().join(file), bytes).expect("writable");
        image
    }

    /// Opens a copy with one file changed, and checks the promise.
    fn check(&self, file: &Path, damage: &str, change: impl FnOnce(&mut Vec<u8>)) -> Result<(), OpenError> {
        let sound = fs::read(self.directory.path().join(file)).expect("readable");
        let mut bytes = sound.clone();
        change(&mut bytes);
        let image = self.with(file, &bytes);
        match open_store(&options(image.path(), 64 * 1024 * 1024)) {
            Ok(engine) => {
                assert_reaches(&heads(&engine, damage), &self.acknowledged, damage);
                Ok(())
            }
            Err(error) => {
                if let OpenError::CommitsMissing { .. } | OpenError::TimedOut { .. } = error {
                    let before = sound.iter().zip(&bytes).take_while(|(sound, damaged)| sound == damaged).count();
                    let cut = || heads_with_loss(self.with(file, &sound[..before]).path(), damage);
                    // In a MANIFEST it is a type that hid the rest, and that alone.
                    let least = if *file == self.log() { cut() } else { self.acknowledged.clone() };
                    assert_reaches(&heads_with_loss(image.path(), damage), &least, damage);
                }
                Err(error)
            }
        }
    }
}

/// The heads of a store that is opened although commits are missing.
fn heads_with_loss(directory: &Path, damage: &str) -> Vec<Head> {
    let accept_loss_up_to = Some(fixtures::read_mark(directory).commit);
    let accepting = EngineOptions { accept_loss_up_to, ..options(directory, 64 * 1024 * 1024) };
    heads(&open_store(&accepting).unwrap_or_else(|error| panic!("{damage}: {error}")), damage)
}

fn assert_reaches(heads: &[Head], least: &[Head], damage: &str) {
    for (head, least) in heads.iter().zip(least) {
        assert!(head.sequence >= least.sequence, "{damage}: {head:?} of {least:?}");
        assert!(head.sequence != least.sequence || head == least, "{damage}: another log");
    }
}

/// The heads of a store whose logs have no gap, and whose rows are those of the logs.
fn heads(engine: &DiskStore, damage: &str) -> Vec<Head> {
    let head = |merchant_id| {
        let records = engine.read(merchant_id, Sequence(1), usize::MAX).expect("readable");
        let mut head = Head::EMPTY;
        for stored in &records {
            let record = record::decode(&stored.bytes).unwrap_or_else(|error| panic!("{damage}: {error}"));
            head = record.follow(merchant_id, head).unwrap_or_else(|error| panic!("{damage}: {error}"));
            let chain = Chain { merchant_id, epoch: record.header.epoch, head };
            let row = engine.get(Family::Rows, &chain.row_key(head.sequence.0)).expect("readable");
            assert!(row.is_some(), "{damage}: the row of {head:?} is missing");
        }
        assert_eq!(engine.head(merchant_id), Ok(head), "{damage}");
        assert_eq!(engine.applied(merchant_id), Ok(head), "{damage}");
        head
    };
    MERCHANTS.into_iter().map(head).collect()
}

/// The offsets at which the physical records of a log file begin.
fn record_starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    while at + 7 <= bytes.len() {
        let left = BLOCK_LEN - at % BLOCK_LEN;
        let length = 7 + usize::from(u16::from_le_bytes([bytes[at + 4], bytes[at + 5]]));
        if left < 7 || bytes[at + 6] == 0 {
            at += left;
        } else {
            starts.push(at);
            at += length;
        }
    }
    starts
}

/// A generator of numbers that are the same in every run.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    fn pick(&mut self, of: &[usize]) -> usize {
        of[self.below(of.len())]
    }
}

fn runs(default: usize) -> usize {
    std::env::var("TILL_DAMAGE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(default)
}

/// One damage of many kinds to a log file, and its name.
fn damage(dice: &mut SeededRandom, bytes: &mut Vec<u8>) -> String {
    let starts = record_starts(bytes);
    let last_block = bytes.len().saturating_sub(1) / BLOCK_LEN * BLOCK_LEN;
    let in_last_block: Vec<usize> = starts.iter().copied().filter(|&start| start >= last_block).collect();
    let length = bytes.len();
    let mut flip = |at: usize, bit: usize| {
        bytes[at] ^= 1 << bit;
        format!("bit {bit} of byte {at} of {length} flipped")
    };
    match dice.below(8) {
        0 | 1 => flip(dice.pick(&starts) + dice.below(7), dice.below(8)),
        2 | 3 => flip(dice.pick(&in_last_block) + dice.below(7), dice.below(8)),
        4 => flip(last_block + dice.below(length - last_block), dice.below(8)),
        5 => flip(dice.below(length), dice.below(8)),
        6 => {
            let cut = dice.below(length);
            bytes.truncate(cut);
            format!("cut off at {cut}")
        }
        _ => {
            let zeros = 1 + dice.below(length.min(2 * BLOCK_LEN));
            let from = length - zeros;
            bytes[from..].fill(0);
            format!("zeros from {from} on")
        }
    }
}

/// Tries many damages of one file and returns how many of them were refused.
fn refusals(image: &Image, file: &Path, runs: usize, seed: u64) -> usize {
    let mut dice = SeededRandom(seed);
    let mut refused = 0;
    for run in 0..runs {
        let mut bytes = fs::read(image.directory.path().join(file)).expect("readable");
        let damage = format!("run {run}, {}: {}", file.display(), damage(&mut dice, &mut bytes));
        let checked = image.check(file, &damage, |contents| *contents = bytes);
        refused += usize::from(checked.is_err());
    }
    refused
}

#[test]
fn an_undamaged_image_opens_with_everything() {
    for image in [Image::unflushed(), Image::flushed()] {
        assert!(image.check(&image.log(), "no damage", |_| {}).is_ok());
    }
}

#[test]
fn no_damage_of_the_log_silently_loses_a_commit() {
    let image = Image::unflushed();
    // Everything in this log was acknowledged, so no damage of it is harmless.
    assert_eq!(refusals(&image, &image.log(), runs(20), 1), runs(20));
}

#[test]
fn no_damage_of_the_last_of_many_logs_silently_loses_a_commit() {
    let image = Image::flushed();
    refusals(&image, &image.log(), runs(12), 2);
}

#[test]
fn no_damage_of_the_manifest_silently_loses_a_commit() {
    let image = Image::flushed();
    refusals(&image, &image.manifest(), runs(20), 3);
    let image = Image::unflushed();
    refusals(&image, &image.manifest(), runs(8), 4);
}

/// The bytes of both slots, and some of those between.
fn bytes_of_the_mark() -> impl Iterator<Item = usize> {
    (0..SLOT_LEN + 2).chain([2_000]).chain(4_096..4_096 + SLOT_LEN)
}

#[test]
fn no_flipped_bit_of_the_mark_hides_a_cut_log() {
    let image = Image::unflushed();
    let directory = tempfile::tempdir().expect("a temporary directory");
    copy(image.directory.path(), directory.path());
    let (log, mark) = (directory.path().join(image.log()), directory.path().join("high-water"));
    let (sound_log, sound_mark) = (fs::read(&log).expect("readable"), fs::read(&mark).expect("readable"));
    let last = *record_starts(&sound_log).last().expect("it has records");
    // Cut off at the end of a record, and inside of one: a start may not rely on the log to detect it.
    for end in [last, last + 9] {
        fs::write(&log, &sound_log[..end]).expect("writable");
        for at in bytes_of_the_mark() {
            let mut flipped = sound_mark.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&mark, flipped).expect("writable");
            let opened = open_store(&options(directory.path(), 64 * 1024 * 1024)).map(drop);
            assert!(matches!(opened, Err(OpenError::CommitsMissing { .. })), "byte {at}, cut at {end}: {opened:?}");
        }
    }
}

#[test]
fn a_flipped_bit_of_a_sound_stores_mark_is_repaired_by_a_start() {
    let image = Image::unflushed();
    for at in [3, 12, 31, 4_096, 4_096 + 15, 4_096 + 30] {
        let image_of_start = tempfile::tempdir().expect("a temporary directory");
        copy(image.directory.path(), image_of_start.path());
        let mark = image_of_start.path().join("high-water");
        let mut bytes = fs::read(&mark).expect("readable");
        bytes[at] ^= 4;
        fs::write(&mark, &bytes).expect("writable");
        let engine = open_store(&options(image_of_start.path(), 64 * 1024 * 1024)).expect("nothing is missing");
        assert_reaches(&heads(&engine, "a mark"), &image.acknowledged, "a mark");
        let bytes = fs::read(&mark).expect("readable");
        assert_eq!(bytes[..SLOT_LEN], bytes[4_096..], "both slots are good again");
    }
}
#[test]
fn a_damaged_current_is_refused_by_name() {
    let image = Image::flushed();
    let current = PathBuf::from("db/CURRENT");
    for bit in [0, 37, 75, 80, 100, 120] {
        let damage = format!("bit {bit} flipped");
        let refused = image.check(&current, &damage, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        let message = refused.expect_err("no MANIFEST has that name").to_string();
        assert!(message.contains("db/CURRENT") || message.contains("db/MANIFEST-"), "{damage}: {message}");
    }
    assert!(image.check(&current, "emptied", Vec::clear).is_err());
}
