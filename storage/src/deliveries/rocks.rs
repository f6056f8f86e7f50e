//! Deliveries on disk.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rocksdb::{DB, SnapshotWithThreadMode, WriteBatch};

use super::contract::DeliveriesError;
use super::keys::{self, ValueKind};
use super::sorted::{Changes, SortedRows, SortedView};
use super::store::DeliveryStore;
use crate::engine::{
    AuxiliaryDatabase, DiskReserve, NoResult, POSITION_KEY, RowReplica, auxiliary_database_options, link_database,
    run_within, walk,
};
use crate::journal::first_commit::FirstRows;
use crate::keys::KeyRange;
use crate::rows::{RowPair, ScanDirection, Visit};

/// Deliveries in a RocksDB of their own.
pub type RocksDeliveries = DeliveryStore<RocksRows>;

impl RocksDeliveries {
    /// Opens the deliveries in a directory, and creates it when it does not exist. Only one process can open it. While
    /// less than `disk_reserve_bytes` are free on its disk, nothing is written.
    ///
    /// # Errors
    /// [`DeliveriesError::Unopened`] when RocksDB does not open it within `limit`: it has damaged logs that RocksDB
    /// reads without end. The message says how to continue without its content.
    pub fn open(
        directory: &Path,
        disk_reserve_bytes: u64,
        limit: Duration,
    ) -> Result<RocksDeliveries, DeliveriesError> {
        let open = |place: PathBuf| {
            let mut options = auxiliary_database_options();
            options.create_if_missing(true);
            DB::open(&options, place)
        };
        Ok(RocksDeliveries::of_database(opened(directory, limit, open)?, directory, disk_reserve_bytes))
    }

    /// Opens the deliveries in a directory for reading, while no server uses them. Nothing is changed.
    ///
    /// # Errors
    /// [`DeliveriesError::Unopened`], as for [`RocksDeliveries::open`].
    pub fn open_read_only(directory: &Path, limit: Duration) -> Result<RocksDeliveries, DeliveriesError> {
        let open = |place: PathBuf| DB::open_for_read_only(&auxiliary_database_options(), place, false);
        Ok(RocksDeliveries::of_database(opened(directory, limit, open)?, directory, 0))
    }

    fn of_database(db: DB, directory: &Path, disk_reserve_bytes: u64) -> RocksDeliveries {
        let disk = Mutex::new(DiskReserve::watch(directory, disk_reserve_bytes));
        DeliveryStore::of(RocksRows { db: AuxiliaryDatabase::new(db), disk })
    }

    /// Waits for a write that is in progress, and prevents further writes of deliveries until the result is dropped or
    /// called: it creates a directory on the same disk with links to the table files and copies of the logs.
    pub fn hold(&self) -> impl FnOnce(&Path) -> Result<(), String> + '_ {
        let no_writer = self.lock();
        move |to| {
            let linked = link_database(&self.rows().db, to);
            drop(no_writer);
            linked
        }
    }
}

fn opened(
    directory: &Path,
    limit: Duration,
    open: impl FnOnce(PathBuf) -> Result<DB, rocksdb::Error> + Send + 'static,
) -> Result<DB, DeliveriesError> {
    let place = directory.to_owned();
    let opened = run_within(limit, move || open(place).map_err(rocksdb::Error::into_string));
    let opened = opened.unwrap_or_else(|reason| Err(no_result(reason, limit)));
    opened.map_err(|reason| DeliveriesError::Unopened { directory: directory.to_owned(), reason })
}

fn no_result(reason: NoResult, limit: Duration) -> String {
    match reason {
        NoResult::TimedOut => format!("it did not end within {} s", limit.as_secs()),
        NoResult::Died => "its thread died".to_owned(),
    }
}

/// The rows of deliveries on disk.
pub struct RocksRows {
    db: AuxiliaryDatabase,
    disk: Mutex<DiskReserve>,
}

impl std::fmt::Debug for RocksRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RocksRows").field(&self.db.path()).finish()
    }
}

impl RocksRows {
    fn admit(&self, byte_count: u64) -> Result<(), DeliveriesError> {
        let admitted = self.disk.lock().admit(byte_count, Instant::now());
        admitted.map_err(|reason| DeliveriesError::NotWritten { reason })
    }
}

impl SortedRows for RocksRows {
    fn view(&self) -> Box<dyn SortedView + '_> {
        Box::new(RocksView(self.db.snapshot()))
    }

    fn write(&self, changes: Changes) -> Result<(), DeliveriesError> {
        let mut batch = WriteBatch::default();
        changes.removed.iter().for_each(|key| batch.delete(key));
        changes.put.iter().for_each(|(key, value)| batch.put(key, value));
        self.admit(u64::try_from(batch.size_in_bytes()).unwrap_or(u64::MAX))?;
        if let Some(first) = self.db.first() {
            let position = write_first(first, changes)?;
            batch.put(POSITION_KEY, position);
        }
        // It is in the log then: safe from the end of the process, but not from a power cut.
        self.db.write(batch).map_err(broken)
    }

    fn check_room(&self) -> Result<(), DeliveriesError> {
        self.admit(0)
    }
}

/// Writes what is not derived from other rows to the place that comes first.
fn write_first(first: &dyn FirstRows, changes: Changes) -> Result<Vec<u8>, DeliveriesError> {
    let Changes { mut put, mut removed } = changes;
    put.retain(|(key, _)| has_value(key));
    removed.retain(|key| has_value(key) && put.iter().all(|(other, _)| other != key));
    first.write(&put, &removed).map_err(|reason| DeliveriesError::NotWritten { reason })
}

/// True for a row that is not derived from another.
fn has_value(key: &[u8]) -> bool {
    keys::value_kind(key).is_some_and(|kind| kind != ValueKind::Nothing)
}

impl RowReplica for RocksDeliveries {
    fn database(&self) -> &AuxiliaryDatabase {
        &self.rows().db
    }

    fn is_sent(&self, key: &[u8]) -> bool {
        has_value(key)
    }

    fn take_over(&self, rows: &[RowPair]) -> Result<(), String> {
        self.add_with_lists(rows).map_err(|error| error.to_string())
    }
}

fn broken(error: rocksdb::Error) -> DeliveriesError {
    DeliveriesError::Broken { reason: error.into_string() }
}

struct RocksView<'a>(SnapshotWithThreadMode<'a, DB>);

impl SortedView for RocksView<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, DeliveriesError> {
        self.0.get(key).map_err(broken)
    }

    fn visit(
        &self,
        (lower, upper): &KeyRange,
        direction: ScanDirection,
        visit: &mut Visit<'_>,
    ) -> Result<(), DeliveriesError> {
        walk(|options| self.0.raw_iterator_opt(options), (lower, upper), direction, visit).map_err(broken)
    }
}
