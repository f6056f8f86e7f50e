//! The record of which table was read whole, and when. A small file keeps it over restarts.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

/// The readings of all tables of a data directory, by their paths below it, such as `db/000021.sst`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(super) struct Readings {
    tables: BTreeMap<String, TableReading>,
}

/// The last reading of a table. Table files never change, and another file has another inode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct TableReading {
    inode: u64,
    /// The Unix milliseconds at which it was read last, or else seen first.
    tried_at_ms: u64,
    /// Those at which it was read last and was good.
    good_at_ms: Option<u64>,
    /// BLAKE3-256 of its bytes, in hexadecimal digits, once a checkpoint has taken it.
    hash: Option<String>,
}

impl TableReading {
    fn from_json(value: &Value) -> Option<TableReading> {
        Some(TableReading {
            inode: value["inode"].as_u64()?,
            tried_at_ms: value["tried_at_ms"].as_u64()?,
            good_at_ms: value["good_at_ms"].as_u64(),
            hash: value["hash"].as_str().map(str::to_owned),
        })
    }
}

impl Readings {
    /// The record in a file; an empty one when there is none, or it cannot be read: then all tables are read again.
    pub(super) fn read(file: &Path) -> Readings {
        let text = fs::read(file).ok();
        let value = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        value.and_then(|value| Readings::from_json(&value)).unwrap_or_default()
    }

    fn from_json(value: &Value) -> Option<Readings> {
        let tables = value["tables"].as_object()?.iter();
        let reading = |(table, value): (&String, &Value)| Some((table.clone(), TableReading::from_json(value)?));
        Some(Readings { tables: tables.map(reading).collect::<Option<_>>()? })
    }

    /// Writes it. Not synced: after a power cut the older one serves as well.
    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let new = file.with_extension("new");
        fs::write(&new, serde_json::to_vec(self)?)?;
        fs::rename(new, file)
    }

    /// Notes that a table is there. Another file of the same name was not read yet.
    pub(super) fn see(&mut self, table: &str, inode: u64, now_ms: u64) {
        if self.tables.get(table).is_none_or(|reading| reading.inode != inode) {
            let reading = TableReading { inode, tried_at_ms: now_ms, good_at_ms: None, hash: None };
            self.tables.insert(table.to_owned(), reading);
        }
    }

    /// Notes that a table was read, and whether it was good.
    pub(super) fn tried(&mut self, table: &str, now_ms: u64, good_at_ms: Option<u64>) {
        if let Some(reading) = self.tables.get_mut(table) {
            reading.tried_at_ms = now_ms;
            reading.good_at_ms = good_at_ms;
        }
    }

    /// Forgets tables that are not there any more.
    pub(super) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.tables.retain(|table, _| is_there(table));
    }

    /// The time at which a table was read last, if it was good.
    pub(super) fn good_at_ms(&self, table: &str) -> Option<u64> {
        self.tables.get(table)?.good_at_ms
    }

    /// True when a table was never read, or not within the time that is given.
    pub(super) fn is_due(&self, table: &str, within: Option<Duration>, now_ms: u64) -> bool {
        let age = self.good_at_ms(table).map(|at_ms| Duration::from_millis(now_ms.saturating_sub(at_ms)));
        age.is_none_or(|age| within.is_some_and(|within| age >= within))
    }

    /// The tables in the order of their last readings.
    pub(super) fn oldest_first(&self) -> Vec<&str> {
        let mut tables: Vec<(&String, &TableReading)> = self.tables.iter().collect();
        tables.sort_by_key(|(_, reading)| reading.tried_at_ms);
        tables.into_iter().map(|(table, _)| table.as_str()).collect()
    }

    /// The time since which each table was read, or is there.
    pub(super) fn since_ms(&self) -> Option<u64> {
        self.tables.values().map(|reading| reading.tried_at_ms).min()
    }

    /// The checksum of a table, and the inode of the file.
    pub(super) fn hash(&self, table: &str) -> Option<(u64, &str)> {
        let reading = self.tables.get(table)?;
        Some((reading.inode, reading.hash.as_deref()?))
    }

    /// Keeps the checksum of a table that was read.
    pub(super) fn keep_hash(&mut self, table: &str, hash: String) {
        if let Some(reading) = self.tables.get_mut(table) {
            reading.hash = Some(hash);
        }
    }

    /// Forgets the reading of a table: it is read again.
    pub(super) fn forget(&mut self, table: &str) {
        self.tables.remove(table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEEK: Option<Duration> = Some(Duration::from_secs(604_800));

    #[test]
    fn readings_read_back_and_a_broken_file_has_none() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let file = place.path().join("tables.json");
        let mut readings = Readings::read(&file);
        assert_eq!(readings.since_ms(), None);
        readings.see("db/1.sst", 7, 1_000);
        readings.tried("db/1.sst", 2_000, Some(2_000));
        readings.keep_hash("db/1.sst", "00ff".to_owned());
        readings.write(&file).expect("writable");
        assert_eq!(Readings::read(&file), readings);
        fs::write(&file, "{").expect("writable");
        assert_eq!(Readings::read(&file).since_ms(), None);
    }

    #[test]
    fn a_table_is_due_until_it_is_good_and_when_that_is_long_ago() {
        let mut readings = Readings::default();
        assert!(readings.is_due("db/1.sst", None, 0));
        readings.see("db/1.sst", 7, 0);
        readings.tried("db/1.sst", 1, None);
        assert!(readings.is_due("db/1.sst", WEEK, 2), "it was not good");
        readings.tried("db/1.sst", 5, Some(5));
        assert!(!readings.is_due("db/1.sst", WEEK, 604_800_004));
        assert!(readings.is_due("db/1.sst", WEEK, 604_800_005) && !readings.is_due("db/1.sst", None, u64::MAX));
        readings.see("db/1.sst", 7, 9);
        assert!(!readings.is_due("db/1.sst", WEEK, 9), "it is the same file");
        readings.see("db/1.sst", 8, 9);
        assert!(readings.is_due("db/1.sst", WEEK, 9), "it is another file");
    }

    #[test]
    fn the_oldest_reading_counts_for_all_tables() {
        let mut readings = Readings::default();
        ["a", "b", "c"].iter().zip([3, 1, 2]).for_each(|(table, at_ms)| readings.see(table, 7, at_ms));
        assert_eq!((readings.oldest_first(), readings.since_ms()), (vec!["b", "c", "a"], Some(1)));
        readings.tried("b", 9, Some(9));
        assert_eq!(readings.oldest_first(), ["c", "a", "b"]);
        readings.retain(|table| table != "c");
        assert_eq!(readings.since_ms(), Some(3));
    }
}
