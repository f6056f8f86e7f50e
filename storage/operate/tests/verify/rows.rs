//! Derived rows and the directory against the log.

use crate::filled::{Filled, ONE, STRANGER, TWO, fault, flipped, name, records};
use crate::shop::FilledMerchant;
use std::fs;
use std::path::Path;
use till_domain::ids::TokenId;
use till_operate::verify::{Fault, FaultLocation, RowName, VerifyOptions, VerifyProgress, Wrong, verify};
use till_storage::family::Family;
use till_storage::journal::{Head, Journal, Sequence};
use till_storage::keys::{AppliedKey, JournalKey, encode_head};
use till_storage::shapes::{self, TableKind};
use till_storage::vault::{CardNumberOf, VaultKey};

#[test]
fn a_store_filled_through_the_rules_has_no_fault() {
    let filled = Filled::new();
    filled.names(&[]);
    let report = filled.report();
    assert!(report.is_clean());
    assert_eq!((report.merchants, report.merchants_not_replayed), (2, 0));
    assert_eq!(report.records, u64::try_from(filled.store.dump(Family::Journal).len()).expect("few"));
    let families = [Family::Rows, Family::Indexes, Family::Effects, Family::Timers, Family::Directory, Family::Vault];
    let rows: usize = families.map(|family| filled.store.dump(family).len()).iter().sum();
    assert_eq!(report.rows, u64::try_from(rows).expect("few"));
    assert!(report.records > 300 && report.rows > 600 && report.book_lines > 60, "{report:?}");
}

#[test]
fn rows_beyond_memory_are_compared_and_the_scratch_is_removed() {
    let filled = Filled::new();
    let (key, value, location) = filled.first(ONE, TableKind::Payments);
    filled.store.damage(Family::Rows, &key, &flipped(value, 20));
    let options = VerifyOptions { memory_bytes_max: 10_000, ..filled.options() };
    let report = filled.report_with(&options);
    assert_eq!(report.faults.len(), 1, "{:?}", report.faults);
    assert_eq!((report.faults[0].merchant_id, &report.faults[0].location), (Some(ONE), &location));
    assert_eq!(fs::read_dir(filled.scratch.path()).expect("readable").count(), 0);
    let nowhere = VerifyOptions { scratch: Path::new("/dev/null/scratch").to_owned(), ..options };
    assert!(verify(&filled.store, &filled.keyring, None, &nowhere, &mut |_| {}).is_err());
}

#[test]
fn progress_is_reported_up_to_the_last_merchant() {
    let filled = Filled::new();
    let mut last = VerifyProgress::default();
    let told = &mut |progress: &VerifyProgress| last = *progress;
    let report = verify(&filled.store, &filled.keyring, None, &filled.options(), told).expect("in memory");
    assert_eq!((last.merchants, last.merchants_total, last.records), (2, 2, report.records));
}

#[test]
fn a_changed_missing_or_extra_row_of_any_table_is_reported() {
    let below_merchants = TableKind::ALL.iter().filter(|table| table.is_below_a_merchant());
    let reference = Filled::new();
    let has_rows = |table: &&TableKind| {
        let (lower, upper) = shapes::table_range(ONE, **table);
        reference.store.dump(table.family()).iter().any(|(key, _)| *key >= lower && *key < upper)
    };
    let tables: Vec<TableKind> = below_merchants.filter(has_rows).copied().collect();
    assert!(tables.len() >= 19, "{tables:?}");
    for table in tables {
        let filled = Filled::new();
        let (key, value, location) = filled.first(ONE, table);
        filled.store.lose(table.family(), &key);
        filled.names(&[fault(ONE, location.clone(), Wrong::Missing)]);
        filled.store.damage(table.family(), &key, &[value.as_slice(), &[0]].concat());
        let report = filled.report();
        assert_eq!(report.faults.len(), 1, "{table:?}: {:?}", report.faults);
        assert_eq!(report.faults[0].location, location, "{table:?}");
    }
}

#[test]
fn a_different_row_is_told_from_an_undecodable_one() {
    let filled = Filled::new();
    let (key, value, location) = filled.first(ONE, TableKind::Activities);
    let object = value.len() - 4; // The object is followed by three absent fields, a byte each.
    filled.store.damage(Family::Rows, &key, &flipped(value.clone(), object));
    filled.names(&[fault(ONE, location.clone(), Wrong::Different)]);
    filled.store.damage(Family::Rows, &key, &value[..5]);
    let report = filled.report();
    assert!(matches!(report.faults.as_slice(), [Fault { wrong: Wrong::Undecodable { .. }, .. }]), "{report:?}");
}

#[test]
fn extra_rows_extra_indexes_and_unknown_keys_are_reported() {
    let filled = Filled::new();
    let (key, value, _) = filled.first(ONE, TableKind::PaymentsByExternalId);
    let extra = [key.as_slice(), b"-x"].concat();
    filled.store.damage(Family::Indexes, &extra, &value);
    let unknown = [&ONE.to_bytes()[..], &[90]].concat();
    filled.store.damage(Family::Rows, &unknown, &value);
    let faults = filled.faults(2);
    assert!(matches!(faults[0].wrong, Wrong::BadKey { .. }), "{:?}", faults);
    assert_eq!(faults[1], fault(ONE, FaultLocation::Row(name(Family::Indexes, &extra)), Wrong::Extra));
}

#[test]
fn an_index_that_leads_to_another_row_is_reported() {
    let filled = Filled::new();
    let (key, value, location) = filled.first(ONE, TableKind::CustomersByEmail);
    filled.store.damage(Family::Indexes, &key, &flipped(value, 9));
    filled.names(&[fault(ONE, location, Wrong::Different)]);
}

#[test]
fn a_timer_and_an_effect_without_a_record_are_reported() {
    let filled = Filled::new();
    let (timer, none, _) = filled.first(ONE, TableKind::Timers);
    let timer = flipped(timer, 20);
    filled.store.damage(Family::Timers, &timer, &none);
    let (effect, _, location) = filled.first(ONE, TableKind::Effects);
    filled.store.lose(Family::Effects, &effect);
    let extra = FaultLocation::Row(name(Family::Timers, &timer));
    filled.names(&[fault(ONE, location, Wrong::Missing), fault(ONE, extra, Wrong::Extra)]);
}

#[test]
fn a_changed_missing_or_extra_directory_row_is_reported() {
    let directory = [TableKind::KeyDirectory, TableKind::MerchantDirectory, TableKind::CreatedMerchants];
    for table in directory {
        let filled = Filled::new();
        let (key, value, location) = filled.first(ONE, table);
        filled.store.lose(Family::Directory, &key);
        filled.names(&[fault(ONE, location.clone(), Wrong::Missing)]);
        let last = value.len() - 1;
        filled.store.damage(Family::Directory, &key, &flipped(value.clone(), last));
        filled.names(&[fault(ONE, location, Wrong::Different)]);
        filled.store.damage(Family::Directory, &key, &value);
        let extra = flipped(key, 5);
        filled.store.damage(Family::Directory, &extra, &value);
        let report = filled.report();
        assert_eq!(report.fault_count, 1, "{table:?}: {:?}", report.faults);
        assert_eq!(report.faults[0].location, FaultLocation::Row(name(Family::Directory, &extra)));
        assert_eq!(report.faults[0].wrong, Wrong::Extra);
    }
}

#[test]
fn a_wrong_position_of_the_rows_is_reported() {
    let filled = Filled::new();
    let head = filled.store.head(ONE).expect("readable");
    let key = AppliedKey(ONE).encode();
    filled.store.damage(Family::Rows, &key, &encode_head(Head { hash: [3; 32], ..head }));
    filled.names(&[fault(ONE, FaultLocation::Applied, Wrong::OtherRecord)]);
    let ahead = Head { sequence: Sequence(head.sequence.0 + 1), ..head };
    filled.store.damage(Family::Rows, &key, &encode_head(ahead));
    filled.names(&[fault(ONE, FaultLocation::Applied, Wrong::Ahead)]);
}

#[test]
fn rows_that_lag_are_compared_up_to_their_position() {
    let Filled { store, keyring, mut book, scratch } = Filled::empty();
    let mut shop = FilledMerchant::open(&store, &keyring, 1);
    shop.trade(3, &mut book);
    let before = store.reopened();
    shop.trade(2, &mut book);
    for family in [Family::Rows, Family::Indexes, Family::Effects, Family::Timers] {
        store.dump(family).iter().for_each(|(key, _)| store.lose(family, key));
        before.dump(family).iter().for_each(|(key, value)| store.damage(family, key, value));
    }
    let filled = Filled { store, keyring, book, scratch };
    filled.names(&[]);
    let (key, _, location) = filled.first(ONE, TableKind::Sessions);
    filled.store.lose(Family::Rows, &key);
    filled.names(&[fault(ONE, location, Wrong::Missing)]);
}

#[test]
fn rows_without_a_log_are_reported_once_for_each_family() {
    let filled = Filled::new();
    let mut expected = Vec::new();
    for (table, wrong) in
        [(TableKind::Payments, Wrong::NoMerchant), (TableKind::PaymentsByExternalId, Wrong::NoMerchant)]
    {
        let (key, value, _) = filled.first(ONE, table);
        let key = [&STRANGER.to_bytes()[..], &key[16..]].concat();
        filled.store.damage(table.family(), &key, &value);
        filled.store.damage(table.family(), &[key.as_slice(), &[1]].concat(), &value);
        expected.push(fault(STRANGER, FaultLocation::Row(name(table.family(), &key)), wrong));
    }
    let of = CardNumberOf::Token(TokenId::from_bytes([4; 16]));
    let key = VaultKey::CardNumber { merchant: STRANGER, of }.encode();
    filled.store.damage(Family::Vault, &key, &[1]);
    let vault = RowName { family: Family::Vault, key: format!("card number of {}", TokenId::from_bytes([4; 16])) };
    expected.push(fault(STRANGER, FaultLocation::Row(vault), Wrong::NoMerchant));
    filled.names(&expected);
}

#[test]
fn an_unreadable_range_is_reported_and_the_rest_is_verified() {
    let filled = Filled::new();
    let (payment, _, _) = filled.first(ONE, TableKind::Payments);
    filled.store.fail_reads(Family::Rows, &payment);
    let (record, _) = {
        let key = JournalKey { merchant_id: TWO, sequence: Sequence(30) }.encode().to_vec();
        (key, ())
    };
    filled.store.fail_reads(Family::Journal, &record);
    let (index, value, location) = filled.first(ONE, TableKind::CustomersByEmail);
    filled.store.damage(Family::Indexes, &index, &flipped(value, 9));
    let faults = filled.faults(3);
    assert!(matches!(
        &faults[0],
        Fault {
            location: FaultLocation::Rows { expected: Some(1), after: Some(_), before: Some(_), .. },
            wrong: Wrong::Unreadable { .. },
            ..
        }
    ));
    assert_eq!(faults[1], fault(ONE, location, Wrong::Different));
    assert_eq!((faults[2].merchant_id, &faults[2].location), (Some(TWO), &records(30, 30)));
}

#[test]
fn faults_beyond_the_limit_are_counted() {
    let filled = Filled::new();
    filled.store.dump(Family::Indexes).iter().for_each(|(key, _)| filled.store.lose(Family::Indexes, key));
    let report = filled.report_with(&VerifyOptions { faults_kept: 7, ..filled.options() });
    assert_eq!(report.faults.len(), 7);
    assert_eq!(report.fault_count, u64::try_from(Filled::new().store.dump(Family::Indexes).len()).expect("few"));
}
