//! Records, heads and snapshots.

use crate::filled::{Filled, ONE, fault, flipped, records};
use till_operate::verify::{Fault, FaultLocation, VerifyOptions, Wrong};
use till_storage::family::Family;
use till_storage::journal::record::RecordError;
use till_storage::journal::{CommitNumber, Head, Journal, Sequence, record};
use till_storage::keys::{HeadKey, SnapshotKey, encode_head};
use till_storage::rows::RowReader;
use till_storage::shapes;

#[test]
fn records_after_a_damaged_one_are_still_checked() {
    let filled = Filled::new();
    filled.damage_record(40, 150);
    filled.damage_record(90, 3);
    let report = filled.report();
    assert_eq!(report.fault_count, 2, "{:?}", report.faults);
    assert_eq!(report.faults[0], fault(ONE, records(40, 40), Wrong::Record(RecordError::WrongChecksum)));
    assert_eq!(report.faults[1].location, records(90, 90));
    assert!(matches!(report.faults[1].wrong, Wrong::Undecodable { .. }));
    assert_eq!((report.merchants, report.merchants_not_replayed), (2, 1));
}

#[test]
fn a_replaced_record_breaks_the_chain_after_it() {
    let filled = Filled::new();
    let (key, value) = filled.record(50);
    let sound = record::decode(&value[12..]).expect("sound");
    let header = record::RecordHeader { at_ms: sound.header.at_ms + 1, ..sound.header };
    let forged = record::encode(&header, sound.body).expect("small");
    filled.store.damage(Family::Journal, &key, &[&value[..12], &forged.bytes].concat());
    let broken = RecordError::ChainBroken { expected: Sequence(51), found: Sequence(51) };
    let report = filled.report();
    assert_eq!(report.faults, [fault(ONE, records(51, 51), Wrong::Record(broken))]);
}

#[test]
fn missing_records_in_the_middle_and_at_the_end_are_reported() {
    let filled = Filled::new();
    let head = filled.store.head(ONE).expect("readable").sequence.0;
    for sequence in [60, 61, head - 1, head] {
        filled.store.lose(Family::Journal, &filled.record(sequence).0);
    }
    filled.names(&[fault(ONE, records(60, 61), Wrong::Missing), fault(ONE, records(head - 1, head), Wrong::Missing)]);
}

#[test]
fn an_older_missing_or_different_head_is_reported() {
    let filled = Filled::new();
    let head = filled.store.head(ONE).expect("readable");
    let key = HeadKey(ONE).encode();
    let other = Head { hash: [3; 32], ..head };
    filled.store.damage(Family::Meta, &key, &encode_head(other));
    filled.names(&[fault(ONE, FaultLocation::Head, Wrong::OtherRecord)]);
    let older_head = Head { sequence: Sequence(head.sequence.0 - 1), ..head };
    filled.store.damage(Family::Meta, &key, &encode_head(older_head));
    filled.names(&[fault(ONE, FaultLocation::Head, Wrong::LogGoesOn { to: head.sequence })]);
    filled.store.lose(Family::Meta, &key);
    filled.names(&[fault(ONE, FaultLocation::Head, Wrong::Missing)]);
}

#[test]
fn a_wrong_snapshot_is_reported() {
    let filled = Filled::new();
    let snapshots = filled.store.newest_snapshots(ONE, 2).expect("readable");
    let at = snapshots[0].at.sequence;
    let key = SnapshotKey { merchant_id: ONE, sequence: at }.encode();
    let value = filled.store.get(Family::Snapshots, &key).expect("readable").expect("it is there");
    filled.store.damage(Family::Snapshots, &key, &flipped(value.clone(), 60));
    filled.names(&[fault(ONE, FaultLocation::Snapshot { sequence: at }, Wrong::WrongChecksum)]);
    let mut state = shapes::decode_state(&snapshots[0].bytes).expect("decodes");
    state.reserved_minor += 1;
    let bytes = shapes::encode_state(&state).expect("small");
    filled.store.damage(Family::Snapshots, &key, &snapshot(&key, &value, &bytes));
    filled.names(&[fault(ONE, FaultLocation::Snapshot { sequence: at }, Wrong::Different)]);
    filled.store.damage(Family::Snapshots, &key, &value);
    let ahead = SnapshotKey { merchant_id: ONE, sequence: Sequence(9_999) }.encode();
    filled.store.damage(Family::Snapshots, &ahead, &snapshot(&ahead, &value, &bytes));
    filled.names(&[fault(ONE, FaultLocation::Snapshot { sequence: Sequence(9_999) }, Wrong::Ahead)]);
}

#[test]
fn missing_acknowledged_commits_are_reported() {
    let filled = Filled::new();
    let last = filled.store.last_commit();
    let known = |acknowledged| VerifyOptions { acknowledged: Some(acknowledged), ..filled.options() };
    assert!(filled.report_with(&known(last)).is_clean());
    let report = filled.report_with(&known(CommitNumber(last.0 + 2)));
    let wrong = Wrong::CommitsMissing { first: last.next(), last: CommitNumber(last.0 + 2) };
    assert_eq!(report.faults, [Fault { merchant_id: None, location: FaultLocation::Store, wrong }]);
}

/// A stored snapshot with another content and a right checksum, in the layout of `journal/snapshot.rs`.
fn snapshot(key: &[u8], stored: &[u8], state: &[u8]) -> Vec<u8> {
    let mut value = [&stored[..40], state].concat();
    let crc = crc32c::crc32c_append(crc32c::crc32c_append(crc32c::crc32c(key), &value[..4]), &value[8..]);
    value[4..8].copy_from_slice(&crc.to_be_bytes());
    value
}
