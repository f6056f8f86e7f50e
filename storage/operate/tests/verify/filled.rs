//! A filled store in memory, and names of its faults.

use crate::shop::{FilledMerchant, keyring};
use std::sync::Arc;
use tempfile::TempDir;
use till_domain::ids::MerchantId;
use till_domain::records::AnyKey;
use till_operate::verify::{Fault, FaultLocation, Report, RowName, VerifyOptions, Wrong, verify};
use till_sandbox::book::MemoryBook;
use till_storage::family::Family;
use till_storage::journal::Sequence;
use till_storage::keys::JournalKey;
use till_storage::memory::MemoryStore;
use till_storage::rows::RowReader;
use till_storage::shapes::{self, KeyParts, MerchantReader, TableKind, decode_key};
use till_storage::vault::{Keyring, VaultKey};

pub(crate) const ONE: MerchantId = MerchantId::from_bytes([1; 16]);
pub(crate) const TWO: MerchantId = MerchantId::from_bytes([2; 16]);
pub(crate) const STRANGER: MerchantId = MerchantId::from_bytes([9; 16]);

/// A filled store in memory and everything beside it.
pub(crate) struct Filled {
    pub(crate) store: MemoryStore,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) book: MemoryBook,
    pub(crate) scratch: TempDir,
}

impl Filled {
    /// Two merchants with some 350 records between them.
    pub(crate) fn new() -> Filled {
        let filled = Filled::empty();
        let Filled { store, keyring, mut book, scratch } = filled;
        FilledMerchant::open(&store, &keyring, 1).trade(14, &mut book);
        FilledMerchant::open(&store, &keyring, 2).trade(4, &mut book);
        Filled { store, keyring, book, scratch }
    }

    /// One merchant that acts, and what its acts return.
    pub(crate) fn one<T>(act: impl FnOnce(&mut FilledMerchant<'_, MemoryStore>, &mut MemoryBook) -> T) -> (Filled, T) {
        let Filled { store, keyring, mut book, scratch } = Filled::empty();
        let done = act(&mut FilledMerchant::open(&store, &keyring, 1), &mut book);
        (Filled { store, keyring, book, scratch }, done)
    }

    pub(crate) fn empty() -> Filled {
        let (keyring, bytes) = keyring();
        let store = MemoryStore::new();
        store.damage(Family::Vault, &VaultKey::Keyring.encode(), &bytes);
        Filled { store, keyring, book: MemoryBook::new(), scratch: directory() }
    }

    pub(crate) fn options(&self) -> VerifyOptions {
        VerifyOptions::new(self.scratch.path().join("scratch"))
    }

    pub(crate) fn report(&self) -> Report {
        self.report_with(&self.options())
    }

    pub(crate) fn report_with(&self, options: &VerifyOptions) -> Report {
        verify(&self.store, &self.keyring, Some(&self.book), options, &mut |_| {}).expect("the scratch works")
    }

    #[track_caller]
    pub(crate) fn names(&self, expected: &[Fault]) {
        let report = self.report();
        assert_eq!(report.faults, expected, "{:#?}", report.faults.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(report.fault_count, u64::try_from(expected.len()).expect("few"));
    }

    /// The faults of a store that has this number of them.
    #[track_caller]
    pub(crate) fn faults(&self, count: u64) -> Vec<Fault> {
        let report = self.report();
        assert_eq!(report.fault_count, count, "{:#?}", report.faults);
        report.faults
    }

    /// Flips a bit of a byte of a record.
    pub(crate) fn damage_record(&self, sequence: u64, at: usize) {
        let (key, value) = self.record(sequence);
        self.store.damage(Family::Journal, &key, &flipped(value, at));
    }

    /// The first row of a table, and its name.
    pub(crate) fn first(&self, merchant_id: MerchantId, table: TableKind) -> (Vec<u8>, Vec<u8>, FaultLocation) {
        let (lower, upper) = shapes::table_range(merchant_id, table);
        let pairs = self.store.dump(table.family()).into_iter();
        let (key, value) = pairs.filter(|(key, _)| *key >= lower && *key < upper).nth(0).expect("there is one");
        let location = FaultLocation::Row(name(table.family(), &key));
        (key, value, location)
    }

    pub(crate) fn row(&self, key: &AnyKey) -> (Family, Vec<u8>, Vec<u8>) {
        let personal = MerchantReader::new(ONE, Some(Arc::clone(&self.keyring)), &self.store);
        let (family, bytes) = shapes::row_key(ONE, key, &personal);
        let value = self.store.get(family, &bytes).expect("readable").expect("it is there");
        (family, bytes, value)
    }

    pub(crate) fn record(&self, sequence: u64) -> (Vec<u8>, Vec<u8>) {
        let key = JournalKey { merchant_id: ONE, sequence: Sequence(sequence) }.encode().to_vec();
        let value = self.store.get(Family::Journal, &key).expect("readable").expect("it is there");
        (key, value)
    }
}

pub(crate) fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// The name that a report gives a row.
pub(crate) fn name(family: Family, key: &[u8]) -> RowName {
    let (_, parts) = decode_key(family, key).expect("a known key");
    let short = |bytes: &[u8]| format!("{:02x}{:02x}{:02x}{:02x}..", bytes[0], bytes[1], bytes[2], bytes[3]);
    let key = match parts {
        KeyParts::Row(AnyKey::KeyDirectory(digest)) => format!("KeyDirectory({})", short(&digest.0)),
        KeyParts::Row(key) => format!("{key:?}"),
        KeyParts::Digest { table, digest } => format!("{}({})", table.name(), short(&digest)),
        KeyParts::AppliedPosition => "the applied position".to_owned(),
    };
    RowName { family, key }
}

pub(crate) fn fault(merchant_id: MerchantId, location: FaultLocation, wrong: Wrong) -> Fault {
    Fault { merchant_id: Some(merchant_id), location, wrong }
}

pub(crate) fn records(first: u64, last: u64) -> FaultLocation {
    FaultLocation::Records { first: Sequence(first), last: Sequence(last) }
}

pub(crate) fn flipped(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
    bytes[at] ^= 1;
    bytes
}
