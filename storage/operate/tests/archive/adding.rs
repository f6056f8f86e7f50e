//! Adding to an archive: no commit is left out, no commit is added twice, and the archiver continues after a crash.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::fixtures::{Chain, copy, merchant, open_store, store_over};
use rocksdb::{DB, Options};
use till_operate::archive::{ArchiveError, ArchiveSettings, Archiver, SegmentChain, SegmentState, check_chain, prune};
use till_storage::disk_store::DiskStore;
use till_storage::family::Family;
use till_storage::journal::{AppendVerdict, CommitNumber, Journal};
use till_storage::keys::UnarchivedKey;

use super::{
    ArchiveWorld, ONE_SEGMENT, append, archive, archive_groups, batch, options, queued, queued_numbers, settings,
};

#[test]
fn every_commit_is_archived_once_in_order_and_leaves_the_queue() {
    let (world, engine, archiver) = ArchiveWorld::archived(700, false);
    append(&engine, 1, 7);
    append(&engine, 2, 5);
    assert_eq!((archiver.stats().lag_commits, queued(&engine)), (12, 12));
    archiver.catch_up().expect("it can be written to");
    assert_eq!((archiver.stats().lag_commits, queued(&engine)), (0, 0));
    archive(&engine, &archiver, 1);
    let commits = world.commits();
    assert_eq!(commits.iter().map(|commit| commit.commit.0).collect::<Vec<_>>(), (1..=13).collect::<Vec<_>>());
    for (commit, before) in commits.iter().zip(0..) {
        assert_eq!((commit.before.0, commit.records.len(), commit.vault.len()), (before, 1, 1));
    }
    let log = engine.read(merchant(1), till_storage::journal::Sequence(1), usize::MAX).expect("readable");
    let archived = commits.iter().filter(|commit| commit.merchant_id == merchant(1));
    let archived: Vec<_> = archived.map(|commit| (commit.commit, commit.records[0].clone())).collect();
    assert_eq!(archived, log.into_iter().map(|record| (record.commit, record.bytes)).collect::<Vec<_>>());
    let checked = check_chain(&world.archive(), &mut |_| {}).expect("sound");
    assert_eq!((checked.commits, checked.last, checked.gaps.len()), (13, CommitNumber(13), 0));
    assert_eq!(checked.segments, 2, "the second catching up began after a full segment");
}

#[test]
fn a_crash_while_catching_up_causes_no_gap_and_no_duplicate() {
    let world = ArchiveWorld::new();
    let engine = world.engine("data");
    for round in 1..=6_u64 {
        append(&engine, 1, 3);
        // A crash between the archive's sync and the queue's: the rows are in the queue again.
        let crashed = engine_again(&world, &engine, round);
        drop(world.archiver(&crashed, 400));
        assert_eq!(queued(&crashed), 0, "round {round}");
        assert_eq!(world.numbers(), (1..=round * 3).collect::<Vec<_>>());
    }
}

#[test]
fn a_start_removes_archived_queue_rows_and_keeps_the_others() {
    let world = ArchiveWorld::new();
    let engine = world.engine("data");
    append(&engine, 1, 3);
    let crashed = engine_again(&world, &engine, 1);
    drop(world.archiver(&engine, ONE_SEGMENT));
    assert_eq!(world.numbers(), [1, 2, 3]);
    append(&crashed, 1, 2);
    let directory = crashed.engine().directory().to_owned();
    drop(crashed);
    // So that the archiver stops there.
    let whole = swap_row(&directory, CommitNumber(4), b"no row of the queue");
    let crashed = world.engine("copy-1");
    let refused = world.refusal(&crashed);
    assert!(matches!(refused, ArchiveError::Store { .. }), "{refused:?}");
    assert_eq!(queued_numbers(&crashed), [4, 5]);
    drop(crashed);
    swap_row(&directory, CommitNumber(4), &whole);
    let crashed = world.engine("copy-1");
    drop(world.archiver(&crashed, ONE_SEGMENT));
    assert_eq!((world.numbers(), queued(&crashed)), (vec![1, 2, 3, 4, 5], 0));
}

/// Puts another value in a row of the queue of a store that is closed, and returns the value that it had.
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
fn queue_rows_stay_while_the_content_of_the_archive_is_unknown() {
    let world = ArchiveWorld::new();
    let engine = world.engine("data");
    append(&engine, 1, 2);
    let crashed = engine_again(&world, &engine, 1);
    drop(world.archiver(&engine, ONE_SEGMENT));
    let archive = world.segments().remove(0);
    let bytes = fs::read(&archive).expect("readable");
    fs::rename(world.archive(), world.at("elsewhere")).expect("it can be moved");
    fs::write(world.archive(), b"no directory").expect("writable");
    let away = world.refusal(&crashed);
    assert!(matches!(away, ArchiveError::Files { .. }), "{away:?}");
    assert_eq!(queued_numbers(&crashed), [1, 2]);
    fs::remove_file(world.archive()).expect("it is there");
    fs::rename(world.at("elsewhere"), world.archive()).expect("it can be moved back");
    // The second commit was not on the disk yet.
    fs::write(&archive, &bytes[..bytes.len() - 1]).expect("writable");
    assert_eq!(world.numbers(), [1]);
    drop(world.archiver(&crashed, ONE_SEGMENT));
    assert_eq!((world.numbers(), queued(&crashed)), (vec![1, 2], 0));
}

/// The store as a crash right now would leave it, before more of it is archived.
fn engine_again(world: &ArchiveWorld, engine: &DiskStore, round: u64) -> Arc<DiskStore> {
    let data = format!("copy-{round}");
    copy(engine.engine().directory(), &world.at(&data));
    world.engine(&data)
}

#[test]
fn a_commit_that_cannot_be_archived_first_is_not_written() {
    let (world, engine, archiver) = ArchiveWorld::archived(1, true);
    append(&engine, 1, 1);
    fs::rename(world.archive(), world.at("elsewhere")).expect("it can be moved");
    let mut chain = Chain::claim(engine.as_ref(), merchant(1));
    for _ in 0..2 {
        let verdicts = engine.append(vec![batch(&mut chain.clone())]);
        assert!(
            matches!(&verdicts[..], [AppendVerdict::Unavailable(reason)] if reason.contains("archive")),
            "{verdicts:?}"
        );
        assert_eq!(engine.last_commit(), CommitNumber(1));
    }
    assert!(archiver.stats().failures > 0);
    fs::rename(world.at("elsewhere"), world.archive()).expect("it can be moved back");
    archiver.turn();
    let verdicts = engine.append(vec![batch(&mut chain)]);
    assert_eq!(verdicts, [AppendVerdict::Committed(CommitNumber(2))]);
    assert_eq!(world.numbers(), [1, 2]);
}

#[test]
fn commits_that_were_not_queued_leave_a_reported_gap() {
    let world = ArchiveWorld::new();
    let engine = world.engine("data");
    drop(world.archiver(&engine, ONE_SEGMENT));
    append(&engine, 1, 2);
    drop(world.archiver(&world.engine_copy(&engine, 0), ONE_SEGMENT));
    drop(engine);
    let unqueued = open_store(&options(&world.at("engine-copy-0"))).expect("nothing is missing");
    append(&unqueued, 1, 3);
    drop(unqueued);
    let engine = world.engine("engine-copy-0");
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    archive(&engine, &archiver, 1);
    assert_eq!(world.numbers(), [1, 2, 6]);
    let checked = check_chain(&world.archive(), &mut |_| {}).expect("sound");
    assert_eq!(checked.gaps, [(CommitNumber(3), CommitNumber(5))]);
}

#[test]
fn numbers_that_an_operator_gave_up_leave_no_gap() {
    let (world, engine, archiver) = ArchiveWorld::archived(ONE_SEGMENT, false);
    archive(&engine, &archiver, 2);
    drop(archiver);
    copy(engine.engine().directory(), &world.at("shorter"));
    append(&engine, 1, 2);
    drop(engine);
    let engine = world.given_up("shorter", 4);
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    archive(&engine, &archiver, 1);
    let commits = world.commits();
    assert_eq!(commits.iter().map(|commit| commit.commit.0).collect::<Vec<_>>(), [1, 2, 5]);
    assert_eq!(commits[2].before, CommitNumber(2));
    assert!(check_chain(&world.archive(), &mut |_| {}).expect("sound").gaps.is_empty());
}

#[test]
fn pruning_keeps_the_open_and_the_last_closed_segment() {
    let (world, engine, archiver) = ArchiveWorld::archived(100, false);
    for _ in 0..5 {
        archive(&engine, &archiver, 1);
    }
    assert_eq!(prune(&world.archive(), CommitNumber(2)).expect("removable").len(), 2);
    assert_eq!(world.numbers(), [3, 4, 5]);
    assert_eq!(prune(&world.archive(), CommitNumber(5)).expect("removable").len(), 1);
    let line = SegmentChain::read(&world.archive()).expect("sound");
    assert_eq!((line.segments[0].number, line.segments[1].state), (4, SegmentState::Open));
    drop(archiver);
    let archiver = world.archiver(&engine, 100);
    archive(&engine, &archiver, 1);
    assert_eq!(world.numbers(), [4, 5, 6]);
}

#[test]
fn a_segment_that_is_old_enough_is_closed_unless_it_is_empty() {
    let world = ArchiveWorld::new();
    let engine = world.engine("data");
    let due = ArchiveSettings { segment_age: Duration::ZERO, ..settings(&world.archive(), ONE_SEGMENT, false) };
    let archiver = Archiver::open(Arc::clone(engine.engine()), due).expect("it is new");
    archiver.turn();
    assert_eq!(archiver.stats().segments_closed, 0, "nothing is in it");
    append(&engine, 1, 2);
    archiver.turn();
    archiver.turn();
    let line = SegmentChain::read(&world.archive()).expect("sound");
    let states: Vec<SegmentState> = line.segments.iter().map(|segment| segment.state).collect();
    assert_eq!(states, [SegmentState::Closed { last: CommitNumber(2), commits: 2 }, SegmentState::Open]);
}

#[test]
fn a_crash_while_a_segment_is_closed_is_repaired() {
    let (world, engine, archiver) = ArchiveWorld::archived(1, false);
    archive_groups(&engine, archiver, 2, 1);
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
fn a_start_waits_for_a_missing_archive_and_refuses_an_empty_one() {
    let (world, engine, archiver) = ArchiveWorld::archived(ONE_SEGMENT, false);
    archive(&engine, &archiver, 1);
    drop(archiver);
    fs::rename(world.archive(), world.at("elsewhere")).expect("it can be moved");
    append(&engine, 1, 1);
    let settings = settings(&world.archive(), ONE_SEGMENT, true);
    let archiver = Archiver::start(Arc::clone(engine.engine()), settings).expect("it waits");
    let engine = store_over(Arc::clone(engine.engine()), archiver.archiving());
    assert!(archiver.stats().failures > 0);
    let verdicts = engine.append(vec![batch(&mut Chain::claim(&engine, merchant(1)))]);
    assert!(
        matches!(&verdicts[..], [AppendVerdict::Unavailable(reason)] if reason.contains("mount its disk")),
        "{verdicts:?}"
    );
    assert!(!world.archive().exists(), "where its disk is to be mounted, nothing is made");
    fs::rename(world.at("elsewhere"), world.archive()).expect("it can be moved back");
    archiver.turn();
    append(&engine, 1, 1);
    assert_eq!(world.numbers(), [1, 2, 3]);
}
