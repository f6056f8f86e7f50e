//! Reads tables of a data directory whole, remembers which were good and when, and notes the damaged ones.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use till_storage::engine::table_damage::{self, DamagedTable, NO_SUCH_FILE};

use super::live_tables::live_tables;
use super::readings::Readings;
use super::table_check::{TableFault, check_tables};
use crate::durable;
use crate::time::now_ms;

/// The directory of the inspector's own files, below the data directory. It holds no write-ahead logs.
const DIRECTORY: &str = "scrub";

/// The record in it.
const READINGS_FILE: &str = "tables.json";

/// The links to tables that are being read, in it.
const SCRATCH_DIRECTORY: &str = "reading";

/// Bytes of tables that are read with one opening, unless a single table has more.
const BATCH_BYTES: u64 = 16 << 20;

/// Bytes that are read in a second, at most, while commits go on.
const BYTES_PER_SECOND: u64 = 50_000_000;

/// A table that could not be read as good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultyTable {
    /// Its path below the data directory, such as `db/000021.sst`.
    pub table: String,
    /// The fault.
    pub fault: TableFault,
    /// The message of RocksDB or of the system.
    pub reason: String,
}

/// The reason that tables cannot be taken for good.
#[derive(Debug, thiserror::Error)]
pub enum InspectionError {
    /// One of them is faulty.
    #[error("the table {}: {}", .0.table, .0.reason)]
    Faulty(FaultyTable),
    /// The system refuses.
    #[error("tables could not be read")]
    Files(#[from] io::Error),
}

/// Reads the tables of a data directory, for the scrub and for checkpoints.
pub struct TableInspector {
    data: PathBuf,
    own: PathBuf,
    /// The time after which a table is read again; none when that is never.
    every: Option<Duration>,
    databases: Vec<&'static str>,
    readings: Mutex<Readings>,
    /// Held while tables are read: there is one directory for their links.
    reading: Mutex<()>,
}

impl TableInspector {
    /// For the databases of these names below a data directory. Readings of an earlier process count.
    ///
    /// # Errors
    /// The system's, when its own directory cannot be made.
    pub fn open(data: &Path, databases: Vec<&'static str>, every: Option<Duration>) -> io::Result<TableInspector> {
        let own = data.join(DIRECTORY);
        durable::make_directory(&own)?;
        let readings = Mutex::new(Readings::read(&own.join(READINGS_FILE)));
        Ok(TableInspector { data: data.to_owned(), own, every, databases, readings, reading: Mutex::new(()) })
    }

    /// The time after which a table is read again.
    #[must_use]
    pub fn every(&self) -> Option<Duration> {
        self.every
    }

    /// The damaged tables that anything has met.
    #[must_use]
    pub fn damaged(&self) -> Vec<DamagedTable> {
        table_damage::noted(&self.data)
    }

    /// Time since all tables were read for the last time; one that was never read counts from when it was seen first.
    #[must_use]
    pub fn age(&self) -> Duration {
        let since_ms = self.readings.lock().since_ms();
        since_ms.map_or(Duration::ZERO, |since_ms| Duration::from_millis(now_ms().saturating_sub(since_ms)))
    }

    /// Reads those tables of a copied database that were never read as good, or not for long. `rest` is called with the
    /// time that the reading may take by its pace. Returns the oldest time at which one of all these tables was read as
    /// good.
    ///
    /// # Errors
    /// [`InspectionError`]: the first table that is faulty.
    pub fn inspect_copy(
        &self,
        database: &str,
        copy: &Path,
        rest: &mut dyn FnMut(Duration),
    ) -> Result<Option<u64>, InspectionError> {
        let names = table_names(copy)?;
        self.see(database, copy, &names);
        let due = |name: &&String| self.readings.lock().is_due(&key(database, name), self.every, now_ms());
        let due: Vec<String> = names.iter().filter(due).cloned().collect();
        for batch in batches(copy, &due) {
            if let Some(faulty) = self.read(database, copy, &batch)?.into_iter().next() {
                return Err(InspectionError::Faulty(faulty));
            }
            rest(Duration::from_millis(byte_count(copy, &batch).saturating_mul(1_000) / BYTES_PER_SECOND));
        }
        let readings = self.readings.lock();
        Ok(names.iter().filter_map(|name| readings.good_at_ms(&key(database, name))).min())
    }

    /// Reads a table of the data directory again, of which a checkpoint got other bytes than an earlier one.
    ///
    /// # Errors
    /// [`InspectionError`]: it is faulty.
    pub fn inspect_again(&self, table: &str) -> Result<(), InspectionError> {
        self.readings.lock().forget(table);
        let Some((database, name)) = table.split_once('/') else { return Ok(()) };
        let (directory, names) = (self.data.join(database), [name.to_owned()]);
        self.see(database, &directory, &names);
        let faulty = self.read(database, &directory, &names)?.into_iter().next();
        faulty.map_or(Ok(()), |faulty| Err(InspectionError::Faulty(faulty)))
    }

    /// Reads the tables whose turn it is. Returns how many bytes they have, and how many all tables have; none when
    /// there are no tables.
    pub(super) fn inspect_next(&self) -> Option<(u64, u64)> {
        let live: Vec<(&'static str, Vec<String>)> =
            self.databases.iter().filter_map(|database| Some((*database, self.live(database)?))).collect();
        self.keep_up(&live);
        let (database, names) = self.next_of(&live)?;
        let directory = self.data.join(database);
        let batch = batches(&directory, &names).into_iter().next()?;
        if let Err(error) = self.read(database, &directory, &batch) {
            tracing::warn!(database, %error, "tables cannot be read for the scrub now");
        }
        let total: u64 = live.iter().map(|(database, names)| byte_count(&self.data.join(database), names)).sum();
        Some((byte_count(&directory, &batch), total))
    }

    /// The checksum of a table that was read before, and the inode of the file.
    pub(crate) fn hash(&self, table: &str) -> Option<(u64, blake3::Hash)> {
        let readings = self.readings.lock();
        let (inode, hash) = readings.hash(table)?;
        Some((inode, blake3::Hash::from_hex(hash).ok()?))
    }

    /// Keeps the checksum of a table for later checkpoints.
    pub(crate) fn keep_hash(&self, table: &str, hash: &blake3::Hash) {
        self.readings.lock().keep_hash(table, hash.to_hex().to_string());
    }

    /// Keeps the record for the next process.
    pub(crate) fn keep(&self) {
        let kept = self.readings.lock().write(&self.own.join(READINGS_FILE));
        if let Err(error) = kept {
            tracing::warn!(%error, "the record of tables that were read could not be kept");
        }
    }

    /// The tables that a database has now; none when that cannot be said.
    fn live(&self, database: &str) -> Option<Vec<String>> {
        let directory = self.data.join(database);
        // Twice: tables may be replaced meanwhile.
        match live_tables(&directory, &self.own).or_else(|_| live_tables(&directory, &self.own)) {
            Ok(names) => Some(names),
            Err(error) => {
                // A table that is damaged may keep the database from being opened.
                let noted = self.damaged();
                let is_new = |name: &&str| !noted.iter().any(|noted| noted.table == key(database, name));
                let named = table_damage::tables_in(error.as_ref()).into_iter().filter(is_new);
                let named: Vec<String> = named.map(str::to_owned).take(1).collect();
                if named.is_empty() || self.read(database, &directory, &named).is_err() {
                    tracing::warn!(database, %error, "tables cannot be read for the scrub now");
                }
                None
            }
        }
    }

    /// Notes which tables are there, and forgets those that are not.
    fn keep_up(&self, live: &[(&'static str, Vec<String>)]) {
        for (database, names) in live {
            let is_live = |table: &str| {
                let name = table.strip_prefix(database).and_then(|name| name.strip_prefix('/'));
                name.is_none_or(|name| names.iter().any(|live| live == name))
            };
            self.readings.lock().retain(is_live);
            if self.databases.first() != Some(database)
                && let Err(error) = table_damage::forget(&self.data, |table| !is_live(table))
            {
                tracing::warn!(%error, "the note about damaged tables could not be changed");
            }
            self.see(database, &self.data.join(database), names);
        }
    }

    /// The database whose turn it is, and its tables in the order of their last readings.
    fn next_of(&self, live: &[(&'static str, Vec<String>)]) -> Option<(&'static str, Vec<String>)> {
        let (readings, noted) = (self.readings.lock(), self.damaged());
        let order = readings.oldest_first();
        let known_of = |database: &str| -> Vec<String> {
            let name = |table: &&str| table.strip_prefix(database)?.strip_prefix('/').map(str::to_owned);
            order.iter().filter_map(name).collect()
        };
        // A table that is not there was not seen, and is looked at until it is noted.
        let is_missing =
            |table: &String| !order.contains(&table.as_str()) && !noted.iter().any(|noted| noted.table == *table);
        let missing_of = |database: &str, names: &[String]| -> Option<Vec<String>> {
            let missing: Vec<String> = names.iter().filter(|name| is_missing(&key(database, name))).cloned().collect();
            (!missing.is_empty()).then_some(missing)
        };
        let missing = live.iter().find_map(|(database, names)| Some((*database, missing_of(database, names)?)));
        let is_live = |table: &&str| live.iter().find(|(database, _)| table.starts_with(&key(database, "")));
        missing.or_else(|| order.iter().find_map(is_live).map(|(database, _)| (*database, known_of(database))))
    }

    /// Notes which of these tables are there.
    fn see(&self, database: &str, directory: &Path, names: &[String]) {
        let now_ms = now_ms();
        for name in names {
            if let Ok(table) = fs::metadata(directory.join(name)) {
                self.readings.lock().see(&key(database, name), table.ino(), now_ms);
            }
        }
    }

    /// Reads tables, and returns those that are not good. Damage counts when it is found twice.
    fn read(&self, database: &str, directory: &Path, names: &[String]) -> io::Result<Vec<FaultyTable>> {
        let _one_at_a_time = self.reading.lock();
        let scratch = self.own.join(SCRATCH_DIRECTORY);
        let mut faulty = Vec::new();
        for (name, verdict) in names.iter().zip(check_tables(directory, names, &scratch)?) {
            let verdict = match verdict {
                // The server removes a table after the MANIFEST has stopped listing it.
                Some((TableFault::Missing, _)) if !self.is_listed(directory, name) => continue,
                Some((TableFault::Damaged | TableFault::Unavailable, _)) => {
                    check_tables(directory, std::slice::from_ref(name), &scratch)?.remove(0)
                }
                verdict @ (None | Some((TableFault::Missing, _))) => verdict,
            };
            let (table, now_ms) = (key(database, name), now_ms());
            self.readings.lock().tried(&table, now_ms, verdict.is_none().then_some(now_ms));
            faulty.extend(verdict.map(|(fault, reason)| FaultyTable { table, fault, reason }));
        }
        faulty.iter().for_each(|faulty| self.tell(faulty));
        self.keep();
        Ok(faulty)
    }

    fn is_listed(&self, directory: &Path, name: &str) -> bool {
        match live_tables(directory, &self.own) {
            Ok(names) => names.iter().any(|live| live == name),
            Err(error) => table_damage::tables_in(error.as_ref()).contains(&name),
        }
    }

    /// Damage keeps tables of the store from being rewritten and checkpoints from being taken, as when RocksDB meets
    /// it.
    fn tell(&self, FaultyTable { table, fault, reason }: &FaultyTable) {
        let file = self.data.join(table);
        let file = file.display();
        let noted = match fault {
            TableFault::Unavailable => {
                tracing::warn!(%file, reason, "a table cannot be read now");
                return;
            }
            TableFault::Damaged => table_damage::note(&self.data, table, reason),
            TableFault::Missing => table_damage::note(&self.data, table, &format!("{NO_SUCH_FILE}: {reason}")),
        };
        tracing::error!(
            %file,
            reason,
            "a table at rest is damaged: stop the server and run `till verify`; when rows are affected, run `till \
                repair rows`, or restore the directory (docs/repair.md, \"A damaged table\")"
        );
        if let Err(error) = noted {
            tracing::error!(%error, "the note about a damaged table could not be written");
        }
    }
}

fn key(database: &str, name: &str) -> String {
    format!("{database}/{name}")
}

/// The tables in a directory that nothing adds to, or removes from.
fn table_names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".sst") {
            names.push(name);
        }
    }
    Ok(names)
}

/// The tables in groups that are read together.
fn batches(directory: &Path, names: &[String]) -> Vec<Vec<String>> {
    let (mut batches, mut bytes) = (Vec::<Vec<String>>::new(), BATCH_BYTES);
    for name in names {
        let length = byte_count(directory, std::slice::from_ref(name));
        match batches.last_mut() {
            Some(batch) if bytes.saturating_add(length) <= BATCH_BYTES => {
                batch.push(name.clone());
                bytes = bytes.saturating_add(length);
            }
            _ => {
                batches.push(vec![name.clone()]);
                bytes = length;
            }
        }
    }
    batches
}

fn byte_count(directory: &Path, names: &[String]) -> u64 {
    let lengths = names.iter().filter_map(|name| fs::metadata(directory.join(name)).ok());
    lengths.map(|table| table.len()).sum()
}
