//! The archive of a store that is written to: nothing is left out, nothing is there twice, and what was not written whole
//! is told from what was damaged.

mod fixtures;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fixtures::{Chain, copy, merchant};
use rocksdb::{DB, Options};
use tempfile::TempDir;
use till_storage::archive::{
    ArchiveError, ArchiveSettings, ArchivedCommit, Archiver, Line, SegmentState, check_line, each_commit, prune,
};
use till_storage::engine::{Engine, EngineOptions};
use till_storage::family::Family;
use till_storage::journal::{CommitNumber, Journal, RowWrite, Verdict};
use till_storage::keys::UnarchivedKey;
use till_storage::rows::{Direction, RowReader};

/// Large enough that everything of a small test is in one segment.
const ONE_SEGMENT: u64 = 1 << 30;

struct World(TempDir);

impl World {
    fn new() -> World {
        World(tempfile::tempdir().expect("a temporary directory"))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn archive(&self) -> PathBuf {
        self.at("archive")
    }

    fn engine(&self, data: &str) -> Arc<Engine> {
        Arc::new(Engine::open(&options(&self.at(data), true)).expect("nothing is missing"))
    }

    /// An archiver without a thread.
    fn archiver(&self, engine: &Arc<Engine>, segment_bytes: u64) -> Archiver {
        self.try_archiver(engine, segment_bytes, false).unwrap_or_else(|error| panic!("{}", error.chain()))
    }

    fn try_archiver(&self, engine: &Arc<Engine>, segment_bytes: u64, first: bool) -> Result<Archiver, ArchiveError> {
        Archiver::open(Arc::clone(engine), settings(&self.archive(), segment_bytes, first))
    }

    fn commits(&self) -> Vec<ArchivedCommit> {
        let mut commits = Vec::new();
        each_commit(&self.archive(), &mut |commit| commits.push(commit)).unwrap_or_else(|error| panic!("{error}"));
        commits
    }

    fn numbers(&self) -> Vec<u64> {
        self.commits().iter().map(|commit| commit.commit.0).collect()
    }

    fn segments(&self) -> Vec<PathBuf> {
        Line::read(&self.archive()).expect("sound").segments.into_iter().map(|segment| segment.path).collect()
    }
}

fn options(directory: &Path, queues_for_archive: bool) -> EngineOptions {
    EngineOptions { disk_reserve_bytes: 0, queues_for_archive, ..EngineOptions::new(directory) }
}

fn settings(directory: &Path, segment_bytes: u64, before_acknowledged: bool) -> ArchiveSettings {
    let (segment_age, every) = (Duration::from_secs(3_600), Duration::from_secs(3_600));
    ArchiveSettings { directory: directory.to_owned(), segment_bytes, segment_age, every, before_acknowledged }
}

/// Commits so many batches of a merchant, one by one.
fn append(engine: &Engine, number: u8, batches: usize) {
    let mut chain = Chain::claim(engine, merchant(number));
    for _ in 0..batches {
        let verdicts = engine.append(vec![batch(&mut chain)]);
        assert!(matches!(verdicts[..], [Verdict::Committed(_)]), "{verdicts:?}");
    }
}

/// A batch with a record, a row that can be derived, and one of the vault.
fn batch(chain: &mut Chain) -> till_storage::journal::Append {
    let mut append = chain.batch(&[b"body of a record"]);
    append.derived = chain.row(append.new_head.sequence.0, Some(b"row"));
    append.derived.push(RowWrite { family: Family::Vault, key: &[9; 33], value: Some(&[8; 20]) });
    append
}

fn queued(engine: &Engine) -> usize {
    queued_numbers(engine).len()
}

fn queued_numbers(engine: &Engine) -> Vec<u64> {
    let (lower, upper) = UnarchivedKey::range_behind(CommitNumber(0));
    let rows = engine.scan(Family::Meta, &lower, &upper, Direction::Forward, usize::MAX).expect("readable");
    rows.iter().map(|(key, _)| UnarchivedKey::decode(key).expect("its key").0.0).collect()
}

fn is_damaged_at(error: &ArchiveError, wanted: &Path) -> bool {
    matches!(error, ArchiveError::Damaged { file, .. } if file == wanted)
}

#[test]
fn every_commit_is_archived_once_in_order_with_its_records_and_rows_of_the_vault_and_leaves_the_queue() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, 700);
    append(&engine, 1, 7);
    append(&engine, 2, 5);
    assert_eq!((archiver.stats().lag_commits, queued(&engine)), (12, 12));
    archiver.catch_up().expect("it can be written to");
    assert_eq!((archiver.stats().lag_commits, queued(&engine)), (0, 0));
    append(&engine, 1, 1);
    archiver.catch_up().expect("it can be written to");
    let commits = world.commits();
    assert_eq!(commits.iter().map(|commit| commit.commit.0).collect::<Vec<_>>(), (1..=13).collect::<Vec<_>>());
    for (commit, before) in commits.iter().zip(0..) {
        assert_eq!((commit.before.0, commit.records.len(), commit.vault.len()), (before, 1, 1));
    }
    let log = engine.read(merchant(1), till_storage::journal::Sequence(1), usize::MAX).expect("readable");
    let archived = commits.iter().filter(|commit| commit.merchant_id == merchant(1));
    let archived: Vec<_> = archived.map(|commit| (commit.commit, commit.records[0].clone())).collect();
    assert_eq!(archived, log.into_iter().map(|record| (record.commit, record.bytes)).collect::<Vec<_>>());
    let checked = check_line(&world.archive(), &mut |_| {}).expect("sound");
    assert_eq!((checked.commits, checked.last, checked.gaps.len()), (13, CommitNumber(13), 0));
    assert_eq!(checked.segments, 2, "the second catching up began behind a full segment");
}

#[test]
fn after_a_crash_at_any_point_of_catching_up_it_goes_on_without_a_gap_and_without_anything_twice() {
    let world = World::new();
    let engine = world.engine("data");
    for round in 1..=6_u64 {
        append(&engine, 1, 3);
        // A crash between the archive's sync and the queue's: the rows are there again.
        let crashed = engine_again(&world, &engine, round);
        drop(world.archiver(&crashed, 400));
        assert_eq!(queued(&crashed), 0, "round {round}");
        assert_eq!(world.numbers(), (1..=round * 3).collect::<Vec<_>>());
    }
}

#[test]
fn rows_of_the_queue_that_a_crash_left_are_removed_at_the_next_start_and_those_not_archived_stay() {
    let world = World::new();
    let engine = world.engine("data");
    append(&engine, 1, 3);
    let crashed = engine_again(&world, &engine, 1);
    drop(world.archiver(&engine, ONE_SEGMENT));
    assert_eq!(world.numbers(), [1, 2, 3]);
    append(&crashed, 1, 2);
    let directory = crashed.directory().to_owned();
    drop(crashed);
    // So that nothing more is archived.
    let whole = swap_row(&directory, CommitNumber(4), b"no row of the queue");
    let crashed = world.engine("copy-1");
    let refused = world.try_archiver(&crashed, ONE_SEGMENT, false).map(drop);
    assert!(matches!(refused, Err(ArchiveError::Store { .. })), "{refused:?}");
    assert_eq!(queued_numbers(&crashed), [4, 5]);
    drop(crashed);
    swap_row(&directory, CommitNumber(4), &whole);
    let crashed = world.engine("copy-1");
    drop(world.archiver(&crashed, ONE_SEGMENT));
    assert_eq!((world.numbers(), queued(&crashed)), (vec![1, 2, 3, 4, 5], 0));
}

/// Puts another value in a row of the queue of a store that is closed, and gives what was there.
fn swap_row(directory: &Path, commit: CommitNumber, value: &[u8]) -> Vec<u8> {
    let names = Family::ALL.map(Family::name);
    let db = DB::open_cf(&Options::default(), directory.join("db"), names).expect("it is closed");
    let meta = db.cf_handle(Family::Meta.name()).expect("it has the family");
    let key = UnarchivedKey(commit).encode();
    let before = db.get_cf(meta, key).expect("readable").expect("it is there");
    db.put_cf(meta, key, value).expect("writable");
    before
}

#[test]
fn rows_of_the_queue_stay_as_long_as_it_is_not_known_what_the_archive_has() {
    let world = World::new();
    let engine = world.engine("data");
    append(&engine, 1, 2);
    let crashed = engine_again(&world, &engine, 1);
    drop(world.archiver(&engine, ONE_SEGMENT));
    let archive = world.segments().remove(0);
    let bytes = fs::read(&archive).expect("readable");
    fs::rename(world.archive(), world.at("elsewhere")).expect("it can be moved");
    fs::write(world.archive(), b"no directory").expect("writable");
    let away = world.try_archiver(&crashed, ONE_SEGMENT, false).map(drop);
    assert!(matches!(away, Err(ArchiveError::Files { .. })), "{away:?}");
    assert_eq!(queued_numbers(&crashed), [1, 2]);
    fs::remove_file(world.archive()).expect("it is there");
    fs::rename(world.at("elsewhere"), world.archive()).expect("it can be moved back");
    // The second was not on the disk yet.
    fs::write(&archive, &bytes[..bytes.len() - 1]).expect("writable");
    assert_eq!(world.numbers(), [1]);
    drop(world.archiver(&crashed, ONE_SEGMENT));
    assert_eq!((world.numbers(), queued(&crashed)), (vec![1, 2], 0));
}

/// The store as a crash right now would leave it, before anything more of it is archived.
fn engine_again(world: &World, engine: &Engine, round: u64) -> Arc<Engine> {
    let data = format!("copy-{round}");
    copy(engine.directory(), &world.at(&data));
    world.engine(&data)
}

#[test]
fn an_end_that_is_torn_anywhere_is_cut_off_and_archived_again_and_nothing_before_it_is_lost() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    append(&engine, 1, 2);
    archiver.catch_up().expect("it can be written to");
    let file = world.segments().remove(0);
    let whole = fs::metadata(&file).expect("it is there").len();
    append(&engine, 1, 2);
    copy(engine.directory(), &world.at("behind"));
    archiver.catch_up().expect("it can be written to");
    drop(archiver);
    let bytes = fs::read(&file).expect("readable");
    for length in (usize::try_from(whole).expect("short")..bytes.len()).step_by(41) {
        fs::write(&file, &bytes[..length]).expect("writable");
        let checked = check_line(&world.archive(), &mut |_| {}).expect("a torn end is none");
        assert!(checked.last >= CommitNumber(2) && checked.last < CommitNumber(4), "{length}: {checked:?}");
        let data = format!("copy-{length}");
        copy(&world.at("behind"), &world.at(&data));
        drop(world.archiver(&world.engine(&data), ONE_SEGMENT));
        assert_eq!(world.numbers(), [1, 2, 3, 4], "{length}");
        fs::remove_dir_all(world.at(&data)).expect("it can be removed");
    }
}

#[test]
fn a_bit_flipped_anywhere_but_in_the_last_write_is_damage_that_is_named_by_file_and_offset() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, 500);
    for _ in 0..4 {
        append(&engine, 1, 2);
        archiver.catch_up().expect("it can be written to");
    }
    drop(archiver);
    let segments = world.segments();
    assert!(segments.len() > 2, "{segments:?}");
    for (at, file) in segments.iter().enumerate() {
        let bytes = fs::read(file).expect("readable");
        // The last segment ends with the last group, whose beginning is the second entry pair's.
        let end = if at + 1 == segments.len() { 92 + 12 } else { bytes.len() };
        for byte in (0..end.min(bytes.len())).step_by(3) {
            let mut flipped = bytes.clone();
            flipped[byte] ^= 1 << (byte % 8);
            fs::write(file, &flipped).expect("writable");
            match check_line(&world.archive(), &mut |_| {}) {
                Err(error) => assert!(
                    is_damaged_at(&error, file) || segments.get(at + 1).is_some_and(|next| is_damaged_at(&error, next)),
                    "byte {byte} of {}: {error}",
                    file.display()
                ),
                Ok(checked) => assert!(at + 1 == segments.len() && checked.torn > 0, "byte {byte}: {checked:?}"),
            }
        }
        fs::write(file, &bytes).expect("writable");
    }
}

#[test]
fn a_bad_entry_of_the_open_segment_before_good_ones_of_a_later_write_is_damage_and_no_torn_end() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    for _ in 0..3 {
        append(&engine, 1, 2);
        archiver.catch_up().expect("it can be written to");
    }
    drop(archiver);
    let file = world.segments().remove(0);
    let bytes = fs::read(&file).expect("readable");
    let entries = entries_of(&bytes);
    assert_eq!(entries.len(), 6);
    for (number, at) in entries.iter().enumerate() {
        let mut flipped = bytes.clone();
        flipped[at + 20] ^= 0x10;
        fs::write(&file, &flipped).expect("writable");
        let checked = check_line(&world.archive(), &mut |_| {});
        if number < 4 {
            let refused = world.try_archiver(&world.engine_copy(&engine, number), ONE_SEGMENT, false);
            assert!(
                matches!(checked, Err(ArchiveError::Damaged { offset, .. }) if offset == *at as u64),
                "{checked:?}"
            );
            assert!(matches!(refused, Err(ArchiveError::Damaged { .. })), "entry {number}");
        } else {
            assert_eq!(checked.expect("it is of the last write").last, CommitNumber(number as u64));
        }
        fs::write(&file, &bytes).expect("writable");
    }
}

/// Where the entries of commits begin in a segment.
fn entries_of(bytes: &[u8]) -> Vec<usize> {
    (92..bytes.len() - 1).filter(|at| bytes[*at..].starts_with(b"TA\x01\0")).collect()
}

#[test]
fn a_write_that_is_torn_right_behind_what_was_kept_of_a_torn_one_is_cut_off_and_damage_before_it_is_still_refused() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    append(&engine, 1, 1);
    archiver.catch_up().expect("it can be written to");
    append(&engine, 1, 3);
    let crashed = world.engine_copy(&engine, 0);
    archiver.catch_up().expect("it can be written to");
    drop(archiver);
    let file = world.segments().remove(0);
    let bytes = fs::read(&file).expect("readable");
    fs::write(&file, &bytes[..bytes.len() - 1]).expect("writable");
    append(&crashed, 1, 2);
    let again = world.engine_copy(&crashed, 1);
    drop(world.archiver(&crashed, ONE_SEGMENT));
    assert_eq!(world.numbers(), [1, 2, 3, 4, 5, 6]);
    let bytes = fs::read(&file).expect("readable");
    for (number, at) in entries_of(&bytes).into_iter().enumerate() {
        let mut flipped = bytes.clone();
        flipped[at + 20] ^= 0x10;
        fs::write(&file, &flipped).expect("writable");
        let restarted = world.engine_copy(&again, 2 + number);
        let opened = world.try_archiver(&restarted, ONE_SEGMENT, false).map(drop);
        if number < 3 {
            assert!(matches!(&opened, Err(ArchiveError::Damaged { offset, .. }) if *offset == at as u64), "{opened:?}");
        } else {
            opened.unwrap_or_else(|error| panic!("entry {number}: {error}"));
            assert_eq!(world.numbers(), [1, 2, 3, 4, 5, 6]);
        }
    }
}

impl World {
    fn engine_copy(&self, engine: &Engine, number: usize) -> Arc<Engine> {
        let data = format!("engine-copy-{number}");
        copy(engine.directory(), &self.at(&data));
        self.engine(&data)
    }
}

#[test]
fn a_segment_that_is_missing_or_of_another_line_is_noticed() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, 100);
    for _ in 0..4 {
        append(&engine, 1, 1);
        archiver.catch_up().expect("it can be written to");
    }
    drop(archiver);
    let segments = world.segments();
    let aside = world.at("aside");
    fs::rename(&segments[1], &aside).expect("it can be moved");
    let missing = Line::read(&world.archive());
    assert!(matches!(missing, Err(ArchiveError::SegmentMissing { number: 2, .. })), "{missing:?}");
    fs::copy(&segments[2], &segments[1]).expect("it can be copied");
    let wrong = Line::read(&world.archive()).expect_err("it is the third");
    assert!(is_damaged_at(&wrong, &segments[1]), "{wrong}");
    // One of the same store and number, of another line.
    let other = world.at("other-line");
    for commits in [3, 3, 1] {
        append(&engine, 1, commits);
        drop(Archiver::open(Arc::clone(&engine), settings(&other, 1, false)).expect("it is new, or its own"));
    }
    let name = segments[1].file_name().expect("a name");
    fs::copy(other.join(name), &segments[1]).expect("it has a second segment too");
    let strange = Line::read(&world.archive()).expect_err("it follows another first segment");
    assert!(matches!(&strange, ArchiveError::Damaged { file, offset: 48, .. } if *file == segments[1]), "{strange}");
    fs::rename(&aside, &segments[1]).expect("it can be moved back");
    assert_eq!(world.numbers(), [1, 2, 3, 4]);
}

#[test]
fn an_entry_that_was_replaced_by_another_good_one_is_noticed_by_the_checksum_of_the_segment() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, 100);
    for _ in 0..3 {
        append(&engine, 1, 1);
        archiver.catch_up().expect("it can be written to");
    }
    drop(archiver);
    let file = world.segments().remove(0);
    let mut bytes = fs::read(&file).expect("readable");
    let (head, rest) = bytes[92..].split_at_mut(12);
    let length = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    let body = &mut rest[..usize::try_from(length).expect("it is short")];
    *body.last_mut().expect("it ends with a row of the vault") ^= 1;
    let crc = crc32c::crc32c_append(crc32c::crc32c(&head[..8]), body);
    head[8..].copy_from_slice(&crc.to_be_bytes());
    fs::write(&file, &bytes).expect("writable");
    let replaced = check_line(&world.archive(), &mut |_| {}).expect_err("it is not what was archived");
    assert!(is_damaged_at(&replaced, &file), "{replaced}");
}

#[test]
fn an_archive_of_another_store_in_use_inside_the_data_or_ahead_of_the_store_is_refused() {
    let world = World::new();
    let engine = world.engine("data");
    append(&engine, 1, 1);
    copy(engine.directory(), &world.at("older"));
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    let in_use = world.try_archiver(&engine, ONE_SEGMENT, false).map(drop);
    assert!(matches!(in_use, Err(ArchiveError::InUse { .. })), "{in_use:?}");
    append(&engine, 1, 2);
    archiver.catch_up().expect("it can be written to");
    drop(archiver);
    let other = world.try_archiver(&world.engine("other"), ONE_SEGMENT, false).map(drop);
    assert!(matches!(other, Err(ArchiveError::OtherStore { .. })), "{other:?}");
    let older = world.engine("older");
    let ahead = world.try_archiver(&older, ONE_SEGMENT, false).map(drop);
    let (archived, last) = (CommitNumber(2), CommitNumber(1));
    assert!(matches!(ahead, Err(ArchiveError::Ahead { archived: a, last: l, .. }) if (a, l) == (archived, last)));
    append(&older, 1, 2);
    let forked = world.try_archiver(&older, ONE_SEGMENT, false).map(drop);
    assert!(matches!(forked, Err(ArchiveError::OtherHistory { commit: CommitNumber(3), .. })), "{forked:?}");
    let inside = Archiver::open(Arc::clone(&older), settings(&older.directory().join("a/b"), 1, false)).map(drop);
    assert!(matches!(inside, Err(ArchiveError::Inside { .. })), "{inside:?}");
    assert!(!older.directory().join("a").exists());
}

#[test]
fn what_was_archived_first_and_then_never_written_is_cut_off_and_kept_beside() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.try_archiver(&engine, ONE_SEGMENT, true).expect("it is new");
    append(&engine, 1, 2);
    assert_eq!((queued(&engine), archiver.stats().lag_commits), (0, 0), "nothing waits");
    copy(engine.directory(), &world.at("before"));
    append(&engine, 1, 1);
    assert_eq!(world.numbers(), [1, 2, 3], "it is archived when it is acknowledged");
    drop(archiver);
    let crashed = world.engine("before");
    let archiver = world.try_archiver(&crashed, ONE_SEGMENT, true).expect("nobody was told of the third");
    append(&crashed, 2, 1);
    let commits = world.commits();
    assert_eq!(commits.iter().map(|commit| commit.commit.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(commits[2].merchant_id, merchant(2));
    assert_eq!(world.cut_off().len(), 1);
    drop(archiver);
}

#[test]
fn what_was_archived_first_and_never_written_is_cut_off_when_the_store_went_on_without_the_archive_too() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.try_archiver(&engine, ONE_SEGMENT, true).expect("it is new");
    append(&engine, 1, 2);
    copy(engine.directory(), &world.at("before"));
    append(&engine, 1, 1);
    drop(archiver);
    fs::rename(world.archive(), world.at("elsewhere")).expect("it can be moved");
    let crashed = world.engine("before");
    append(&crashed, 2, 2);
    fs::rename(world.at("elsewhere"), world.archive()).expect("it can be moved back");
    let archiver = world.archiver(&crashed, ONE_SEGMENT);
    let commits = world.commits();
    let found: Vec<_> = commits.iter().map(|commit| (commit.commit.0, commit.merchant_id)).collect();
    let (one, two) = (merchant(1), merchant(2));
    assert_eq!(found, [(1, one), (2, one), (3, two), (4, two)]);
    assert_eq!(world.cut_off().len(), 1, "nobody was told of it, and it is kept");
    drop(archiver);
}

#[test]
fn what_was_archived_first_and_given_up_later_is_not_cut_off_since_somebody_may_have_been_told_of_it() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.try_archiver(&engine, ONE_SEGMENT, true).expect("it is new");
    append(&engine, 1, 2);
    copy(engine.directory(), &world.at("shorter"));
    append(&engine, 1, 1);
    drop((archiver, engine));
    fs::copy(world.at("data/high-water"), world.at("shorter/high-water")).expect("it can be copied");
    let accepted = EngineOptions { accept_loss_up_to: Some(CommitNumber(3)), ..options(&world.at("shorter"), true) };
    let engine = Arc::new(Engine::open(&accepted).expect("it is given up"));
    append(&engine, 1, 1);
    let refused = world.try_archiver(&engine, ONE_SEGMENT, false).map(drop);
    assert!(matches!(refused, Err(ArchiveError::OtherHistory { commit: CommitNumber(3), .. })), "{refused:?}");
    assert!(world.cut_off().is_empty());
}

#[test]
fn a_store_that_lost_what_the_archive_has_is_found_although_the_newest_commit_there_has_no_records() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    append(&engine, 1, 1);
    copy(engine.directory(), &world.at("shorter"));
    let mut chain = Chain::claim(engine.as_ref(), merchant(1));
    let verdicts = engine.append(vec![batch(&mut chain)]);
    assert_eq!(verdicts, [Verdict::Committed(CommitNumber(2))]);
    let mut without_records = chain.batch(&[]);
    without_records.derived.push(RowWrite { family: Family::Vault, key: &[9; 33], value: Some(&[7; 20]) });
    assert_eq!(engine.append(vec![without_records]), [Verdict::Committed(CommitNumber(3))]);
    archiver.catch_up().expect("it can be written to");
    drop((archiver, engine));
    fs::copy(world.at("data/high-water"), world.at("shorter/high-water")).expect("it can be copied");
    let accepted = EngineOptions { accept_loss_up_to: Some(CommitNumber(3)), ..options(&world.at("shorter"), true) };
    let engine = Arc::new(Engine::open(&accepted).expect("they are given up"));
    let refused = world.try_archiver(&engine, ONE_SEGMENT, false).map(drop);
    assert!(matches!(refused, Err(ArchiveError::OtherHistory { commit: CommitNumber(2), .. })), "{refused:?}");
}

#[test]
fn a_line_is_whole_whenever_it_is_read_while_segments_are_closed() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, 1);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..100 {
                append(&engine, 1, 1);
                archiver.catch_up().expect("it can be written to");
                std::thread::sleep(Duration::from_millis(2));
            }
            stop.store(true, std::sync::atomic::Ordering::Release);
        });
        let mut checked = 0_u64;
        while !stop.load(std::sync::atomic::Ordering::Acquire) {
            if world.archive().exists() {
                check_line(&world.archive(), &mut |_| {}).unwrap_or_else(|error| panic!("{checked}: {error}"));
                checked += 1;
            }
        }
        assert!(checked > 0);
    });
}

#[test]
fn what_is_cut_off_at_the_same_offset_again_is_kept_beside_what_was_cut_off_before() {
    let world = World::new();
    let engine = world.engine("data");
    drop(world.archiver(&engine, ONE_SEGMENT));
    let file = world.segments().remove(0);
    let whole = fs::read(&file).expect("readable");
    for torn in [b"first", b"other", b"third"] {
        fs::write(&file, [&whole, &torn[..]].concat()).expect("writable");
        assert_eq!(check_line(&world.archive(), &mut |_| {}).expect("a torn end is none").torn, 5);
        drop(world.archiver(&engine, ONE_SEGMENT));
        assert_eq!(fs::read(&file).expect("readable"), whole);
    }
    let cut_off = world.cut_off();
    let names: Vec<&str> = cut_off.iter().map(|(name, _)| name.as_str()).collect();
    let name = "segment-00000000000000000001.open.cut-at-92";
    assert_eq!(names, [name.to_owned(), format!("{name}-2"), format!("{name}-3")]);
    assert_eq!(cut_off.iter().map(|(_, bytes)| bytes.as_slice()).collect::<Vec<_>>(), [b"first", b"other", b"third"]);
    assert!(prune(&world.archive(), CommitNumber(0)).expect("readable").is_empty());
    assert_eq!(world.segments(), [file]);
}

impl World {
    /// The names and bytes of what was cut off, in the order of names.
    fn cut_off(&self) -> Vec<(String, Vec<u8>)> {
        let files = fs::read_dir(self.archive()).expect("readable").map(|file| file.expect("readable").path());
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        let kept = files.filter(|path| name(path).contains(".cut-at-"));
        let mut kept: Vec<_> = kept.map(|path| (name(&path), fs::read(&path).expect("readable"))).collect();
        kept.sort();
        kept
    }
}

#[test]
fn a_commit_that_cannot_be_archived_first_is_not_written_and_later_ones_are_once_it_can() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.try_archiver(&engine, 1, true).expect("it is new");
    append(&engine, 1, 1);
    fs::rename(world.archive(), world.at("elsewhere")).expect("it can be moved");
    let mut chain = Chain::claim(engine.as_ref(), merchant(1));
    for _ in 0..2 {
        let verdicts = engine.append(vec![batch(&mut chain.clone())]);
        assert!(matches!(&verdicts[..], [Verdict::Unavailable(reason)] if reason.contains("archive")), "{verdicts:?}");
        assert_eq!(engine.last_commit(), CommitNumber(1));
    }
    assert!(archiver.stats().failures > 0);
    fs::rename(world.at("elsewhere"), world.archive()).expect("it can be moved back");
    archiver.turn();
    let verdicts = engine.append(vec![batch(&mut chain)]);
    assert_eq!(verdicts, [Verdict::Committed(CommitNumber(2))]);
    assert_eq!(world.numbers(), [1, 2]);
}

#[test]
fn commits_that_were_not_queued_leave_a_gap_that_is_named() {
    let world = World::new();
    let engine = world.engine("data");
    drop(world.archiver(&engine, ONE_SEGMENT));
    append(&engine, 1, 2);
    drop(world.archiver(&world.engine_copy(&engine, 0), ONE_SEGMENT));
    drop(engine);
    let unqueued = Engine::open(&options(&world.at("engine-copy-0"), false)).expect("nothing is missing");
    append(&unqueued, 1, 3);
    drop(unqueued);
    let engine = world.engine("engine-copy-0");
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    append(&engine, 1, 1);
    archiver.catch_up().expect("it can be written to");
    assert_eq!(world.numbers(), [1, 2, 6]);
    let checked = check_line(&world.archive(), &mut |_| {}).expect("sound");
    assert_eq!(checked.gaps, [(CommitNumber(3), CommitNumber(5))]);
}

#[test]
fn numbers_that_an_operator_gave_up_leave_no_gap() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    append(&engine, 1, 2);
    archiver.catch_up().expect("it can be written to");
    drop(archiver);
    copy(engine.directory(), &world.at("shorter"));
    append(&engine, 1, 2);
    drop(engine);
    fs::copy(world.at("data/high-water"), world.at("shorter/high-water")).expect("it can be copied");
    let accepted = EngineOptions { accept_loss_up_to: Some(CommitNumber(4)), ..options(&world.at("shorter"), true) };
    let engine = Arc::new(Engine::open(&accepted).expect("they are given up"));
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    append(&engine, 1, 1);
    archiver.catch_up().expect("it can be written to");
    let commits = world.commits();
    assert_eq!(commits.iter().map(|commit| commit.commit.0).collect::<Vec<_>>(), [1, 2, 5]);
    assert_eq!(commits[2].before, CommitNumber(2));
    assert!(check_line(&world.archive(), &mut |_| {}).expect("sound").gaps.is_empty());
}

#[test]
fn what_a_checkpoint_has_is_pruned_from_the_front_but_for_the_open_segment_and_the_last_closed_one() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, 100);
    for _ in 0..5 {
        append(&engine, 1, 1);
        archiver.catch_up().expect("it can be written to");
    }
    assert_eq!(prune(&world.archive(), CommitNumber(2)).expect("removable").len(), 2);
    assert_eq!(world.numbers(), [3, 4, 5]);
    assert_eq!(prune(&world.archive(), CommitNumber(5)).expect("removable").len(), 1);
    let line = Line::read(&world.archive()).expect("sound");
    assert_eq!((line.segments[0].number, line.segments[1].state), (4, SegmentState::Open));
    drop(archiver);
    let archiver = world.archiver(&engine, 100);
    append(&engine, 1, 1);
    archiver.catch_up().expect("it can be written to");
    assert_eq!(world.numbers(), [4, 5, 6]);
}

#[test]
fn a_segment_that_is_old_enough_is_closed_when_something_is_in_it() {
    let world = World::new();
    let engine = world.engine("data");
    let due = ArchiveSettings { segment_age: Duration::ZERO, ..settings(&world.archive(), ONE_SEGMENT, false) };
    let archiver = Archiver::open(Arc::clone(&engine), due).expect("it is new");
    archiver.turn();
    assert_eq!(archiver.stats().segments_closed, 0, "nothing is in it");
    append(&engine, 1, 2);
    archiver.turn();
    archiver.turn();
    let line = Line::read(&world.archive()).expect("sound");
    let states: Vec<SegmentState> = line.segments.iter().map(|segment| segment.state).collect();
    assert_eq!(states, [SegmentState::Closed { last: CommitNumber(2), commits: 2 }, SegmentState::Open]);
}

#[test]
fn a_crash_between_the_end_of_a_segment_and_its_name_or_in_the_next_header_is_made_good() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, 1);
    for _ in 0..2 {
        append(&engine, 1, 1);
        archiver.catch_up().expect("it can be written to");
    }
    drop(archiver);
    let segments = world.segments();
    let bytes = fs::read(&segments[1]).expect("readable");
    for cut in [None, Some(0), Some(50), Some(92)] {
        match cut {
            None => {
                // The store had not been told yet that its second commit was archived.
                fs::remove_file(&segments[1]).expect("it is there");
                let named = segments[0].with_extension("open");
                fs::rename(&segments[0], &named).expect("it can be renamed");
                assert_eq!(world.numbers(), [1]);
                fs::rename(&named, &segments[0]).expect("it can be renamed");
            }
            Some(92) => fs::write(&segments[1], [0; 92]).expect("writable"),
            Some(length) => fs::write(&segments[1], &bytes[..length]).expect("writable"),
        }
        assert_eq!(world.numbers(), [1], "{cut:?}");
    }
    fs::write(&segments[1], &bytes).expect("writable");
    append(&engine, 1, 1);
    fs::rename(&segments[0], segments[0].with_extension("open")).expect("it can be renamed");
    fs::remove_file(&segments[1]).expect("it is there");
    let archiver = world.archiver(&engine, 1);
    assert_eq!(world.segments()[0], segments[0], "it has its name");
    drop(archiver);
}

#[test]
fn an_archive_that_is_away_at_a_start_is_waited_for_and_an_empty_one_is_not_begun_anew() {
    let world = World::new();
    let engine = world.engine("data");
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    append(&engine, 1, 1);
    archiver.catch_up().expect("it can be written to");
    drop(archiver);
    fs::rename(world.archive(), world.at("elsewhere")).expect("it can be moved");
    append(&engine, 1, 1);
    let archiver =
        Archiver::start(Arc::clone(&engine), settings(&world.archive(), ONE_SEGMENT, true)).expect("it waits");
    assert!(archiver.stats().failures > 0);
    let verdicts = engine.append(vec![batch(&mut Chain::claim(engine.as_ref(), merchant(1)))]);
    assert!(
        matches!(&verdicts[..], [Verdict::Unavailable(reason)] if reason.contains("mount its disk")),
        "{verdicts:?}"
    );
    assert!(!world.archive().exists(), "where its disk is to be mounted, nothing is made");
    fs::rename(world.at("elsewhere"), world.archive()).expect("it can be moved back");
    archiver.turn();
    append(&engine, 1, 1);
    assert_eq!(world.numbers(), [1, 2, 3]);
}
