//! Torn ends, which are cut off, and damage, which is reported.

use std::fs;
use std::sync::Arc;

use crate::fixtures::copy;
use till_operate::archive::{ArchiveError, Archiver, SegmentChain, check_chain};
use till_storage::journal::CommitNumber;

use super::{ArchiveWorld, ONE_SEGMENT, append, archive, archive_groups, is_damaged_at, settings};

#[test]
fn a_torn_end_is_cut_off_and_its_commits_are_archived_again() {
    let (world, engine, archiver) = ArchiveWorld::archived(ONE_SEGMENT, false);
    archive(&engine, &archiver, 2);
    let file = world.segments().remove(0);
    let whole = fs::metadata(&file).expect("it is there").len();
    append(&engine, 1, 2);
    copy(engine.engine().directory(), &world.at("later"));
    archiver.catch_up().expect("it can be written to");
    drop(archiver);
    let bytes = fs::read(&file).expect("readable");
    for length in (usize::try_from(whole).expect("short")..bytes.len()).step_by(41) {
        fs::write(&file, &bytes[..length]).expect("writable");
        let checked = check_chain(&world.archive(), &mut |_| {}).expect("a torn end is none");
        assert!(checked.last >= CommitNumber(2) && checked.last < CommitNumber(4), "{length}: {checked:?}");
        let data = format!("copy-{length}");
        copy(&world.at("later"), &world.at(&data));
        drop(world.archiver(&world.engine(&data), ONE_SEGMENT));
        assert_eq!(world.numbers(), [1, 2, 3, 4], "{length}");
        fs::remove_dir_all(world.at(&data)).expect("it can be removed");
    }
}

#[test]
fn a_flipped_bit_before_the_last_write_is_reported_with_offset() {
    let (world, engine, archiver) = ArchiveWorld::archived(500, false);
    archive_groups(&engine, archiver, 4, 2);
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
            match check_chain(&world.archive(), &mut |_| {}) {
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
fn an_invalid_entry_before_a_later_write_is_damage() {
    let (world, engine, archiver) = ArchiveWorld::archived(ONE_SEGMENT, false);
    archive_groups(&engine, archiver, 3, 2);
    let file = world.segments().remove(0);
    let bytes = fs::read(&file).expect("readable");
    let entries = entries_of(&bytes);
    assert_eq!(entries.len(), 6);
    for (number, at) in entries.iter().enumerate() {
        let mut flipped = bytes.clone();
        flipped[at + 20] ^= 0x10;
        fs::write(&file, &flipped).expect("writable");
        let checked = check_chain(&world.archive(), &mut |_| {});
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

/// The offsets at which the entries of commits begin in a segment.
fn entries_of(bytes: &[u8]) -> Vec<usize> {
    (92..bytes.len() - 1).filter(|at| bytes[*at..].starts_with(b"TA\x01\0")).collect()
}

#[test]
fn a_second_torn_write_is_cut_off_and_earlier_damage_is_refused() {
    let (world, engine, archiver) = ArchiveWorld::archived(ONE_SEGMENT, false);
    archive(&engine, &archiver, 1);
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

#[test]
fn a_segment_that_is_missing_or_of_another_line_is_noticed() {
    let (world, engine, archiver) = ArchiveWorld::archived(100, false);
    archive_groups(&engine, archiver, 4, 1);
    let segments = world.segments();
    let aside = world.at("aside");
    fs::rename(&segments[1], &aside).expect("it can be moved");
    let missing = SegmentChain::read(&world.archive());
    assert!(matches!(missing, Err(ArchiveError::SegmentMissing { number: 2, .. })), "{missing:?}");
    fs::copy(&segments[2], &segments[1]).expect("it can be copied");
    let wrong = SegmentChain::read(&world.archive()).expect_err("it is the third");
    assert!(is_damaged_at(&wrong, &segments[1]), "{wrong}");
    // A segment of the same store and number, of another chain.
    let other = world.at("other-line");
    for commits in [3, 3, 1] {
        append(&engine, 1, commits);
        drop(Archiver::open(Arc::clone(engine.engine()), settings(&other, 1, false)).expect("it is new, or its own"));
    }
    let name = segments[1].file_name().expect("a name");
    fs::copy(other.join(name), &segments[1]).expect("it has a second segment too");
    let strange = SegmentChain::read(&world.archive()).expect_err("it follows another first segment");
    assert!(matches!(&strange, ArchiveError::Damaged { file, offset: 48, .. } if *file == segments[1]), "{strange}");
    fs::rename(&aside, &segments[1]).expect("it can be moved back");
    assert_eq!(world.numbers(), [1, 2, 3, 4]);
}

#[test]
fn a_replaced_entry_is_found_by_the_checksum_of_the_segment() {
    let (world, engine, archiver) = ArchiveWorld::archived(100, false);
    archive_groups(&engine, archiver, 3, 1);
    let file = world.segments().remove(0);
    let mut bytes = fs::read(&file).expect("readable");
    let (head, rest) = bytes[92..].split_at_mut(12);
    let length = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    let body = &mut rest[..usize::try_from(length).expect("it is short")];
    *body.last_mut().expect("it ends with a row of the vault") ^= 1;
    let crc = crc32c::crc32c_append(crc32c::crc32c(&head[..8]), body);
    head[8..].copy_from_slice(&crc.to_be_bytes());
    fs::write(&file, &bytes).expect("writable");
    let replaced = check_chain(&world.archive(), &mut |_| {}).expect_err("it is not what was archived");
    assert!(is_damaged_at(&replaced, &file), "{replaced}");
}
