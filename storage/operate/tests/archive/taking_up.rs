//! The findings of a store in an archive that it continues, and its refusals.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crate::fixtures::{Chain, copy, merchant, store_over};
use till_operate::archive::{ArchiveError, ArchivedCommit, Archiver, check_chain, each_commit, prune};
use till_storage::family::Family;
use till_storage::journal::{AppendVerdict, CommitNumber, Journal};
use till_storage::rows::RowWrite;

use super::{ArchiveWorld, ONE_SEGMENT, append, archive, batch, queued, settings};

#[test]
fn an_unsuitable_archive_is_refused() {
    let world = ArchiveWorld::new();
    let engine = world.engine("data");
    append(&engine, 1, 1);
    copy(engine.engine().directory(), &world.at("older"));
    let archiver = world.archiver(&engine, ONE_SEGMENT);
    let in_use = world.refusal(&engine);
    assert!(matches!(in_use, ArchiveError::InUse { .. }), "{in_use:?}");
    archive(&engine, &archiver, 2);
    drop(archiver);
    let other = world.refusal(&world.engine("other"));
    assert!(matches!(other, ArchiveError::OtherStore { .. }), "{other:?}");
    let older = world.engine("older");
    let ahead = world.try_archiver(&older, ONE_SEGMENT, false).map(drop);
    let (archived, last) = (CommitNumber(2), CommitNumber(1));
    assert!(matches!(ahead, Err(ArchiveError::Ahead { archived: a, last: l, .. }) if (a, l) == (archived, last)));
    append(&older, 1, 2);
    let forked = world.refusal(&older);
    assert!(matches!(forked, ArchiveError::OtherHistory { commit: CommitNumber(3), .. }), "{forked:?}");
    let inside =
        Archiver::open(Arc::clone(older.engine()), settings(&older.engine().directory().join("a/b"), 1, false))
            .map(drop);
    assert!(matches!(inside, Err(ArchiveError::Inside { .. })), "{inside:?}");
    assert!(!older.engine().directory().join("a").exists());
}

#[test]
fn an_archived_group_that_was_never_written_is_cut_off_and_kept() {
    let (world, engine, archiver) = ArchiveWorld::archived(ONE_SEGMENT, true);
    append(&engine, 1, 2);
    assert_eq!((queued(&engine), archiver.stats().lag_commits), (0, 0), "nothing waits");
    copy(engine.engine().directory(), &world.at("before"));
    append(&engine, 1, 1);
    assert_eq!(world.numbers(), [1, 2, 3], "it is archived when it is acknowledged");
    drop(archiver);
    let crashed = world.engine("before");
    let archiver = world.try_archiver(&crashed, ONE_SEGMENT, true).expect("nobody was told of the third");
    let crashed = store_over(Arc::clone(crashed.engine()), archiver.archiving());
    append(&crashed, 2, 1);
    let commits = world.commits();
    assert_eq!(commits.iter().map(|commit| commit.commit.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(commits[2].merchant_id, merchant(2));
    assert_eq!(world.cut_off().len(), 1);
    drop(archiver);
}

#[test]
fn an_unwritten_group_is_cut_off_after_commits_without_archive() {
    let (world, engine, archiver) = ArchiveWorld::archived(ONE_SEGMENT, true);
    append(&engine, 1, 2);
    copy(engine.engine().directory(), &world.at("before"));
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
fn an_archived_group_that_was_given_up_later_is_not_cut_off() {
    let (world, engine, archiver) = ArchiveWorld::archived(ONE_SEGMENT, true);
    append(&engine, 1, 2);
    copy(engine.engine().directory(), &world.at("shorter"));
    append(&engine, 1, 1);
    drop((archiver, engine));
    let engine = world.given_up("shorter", 3);
    append(&engine, 1, 1);
    let refused = world.refusal(&engine);
    assert!(matches!(refused, ArchiveError::OtherHistory { commit: CommitNumber(3), .. }), "{refused:?}");
    assert!(world.cut_off().is_empty());
}

#[test]
fn a_shorter_store_is_found_even_if_the_newest_commit_is_empty() {
    let (world, engine, archiver) = ArchiveWorld::archived(ONE_SEGMENT, false);
    append(&engine, 1, 1);
    copy(engine.engine().directory(), &world.at("shorter"));
    let mut chain = Chain::claim(engine.as_ref(), merchant(1));
    let verdicts = engine.append(vec![batch(&mut chain)]);
    assert_eq!(verdicts, [AppendVerdict::Committed(CommitNumber(2))]);
    let mut without_records = chain.batch(&[]);
    without_records.vault.push(RowWrite { family: Family::Vault, key: &[9; 33], value: Some(&[7; 20]) });
    assert_eq!(engine.append(vec![without_records]), [AppendVerdict::Committed(CommitNumber(3))]);
    archiver.catch_up().expect("it can be written to");
    drop((archiver, engine));
    let engine = world.given_up("shorter", 3);
    let refused = world.refusal(&engine);
    assert!(matches!(refused, ArchiveError::OtherHistory { commit: CommitNumber(2), .. }), "{refused:?}");
}

#[test]
fn a_chain_can_be_read_while_segments_are_closed() {
    let (world, engine, archiver) = ArchiveWorld::archived(1, false);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..100 {
                archive(&engine, &archiver, 1);
                std::thread::sleep(Duration::from_millis(2));
            }
            stop.store(true, std::sync::atomic::Ordering::Release);
        });
        let mut checked = 0_u64;
        while !stop.load(std::sync::atomic::Ordering::Acquire) {
            if world.archive().exists() {
                check_chain(&world.archive(), &mut |_| {}).unwrap_or_else(|error| panic!("{checked}: {error}"));
                checked += 1;
            }
        }
        assert!(checked > 0);
    });
}

#[test]
fn a_reader_of_the_open_segment_ends_at_its_initial_length() {
    let (world, engine, archiver) = ArchiveWorld::archived(ONE_SEGMENT, false);
    archive(&engine, &archiver, 3);
    let mut commits = Vec::new();
    let show = &mut |commit: ArchivedCommit| {
        commits.push(commit.commit.0);
        if commits.len() <= 3 {
            archive(&engine, &archiver, 2);
        }
    };
    each_commit(&world.archive(), show).expect("sound");
    assert_eq!(commits, [1, 2, 3]);
    assert_eq!(world.numbers(), (1..=9).collect::<Vec<_>>());
}

#[test]
fn a_second_cut_at_the_same_offset_gets_a_file_of_its_own() {
    let world = ArchiveWorld::new();
    let engine = world.engine("data");
    drop(world.archiver(&engine, ONE_SEGMENT));
    let file = world.segments().remove(0);
    let whole = fs::read(&file).expect("readable");
    for torn in [b"first", b"other", b"third"] {
        fs::write(&file, [&whole, &torn[..]].concat()).expect("writable");
        assert_eq!(check_chain(&world.archive(), &mut |_| {}).expect("a torn end is none").torn, 5);
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
