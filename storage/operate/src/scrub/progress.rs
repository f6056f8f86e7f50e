//! The progress of passes, kept in a small file so that a restart continues where the last process ended.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::Value;

use super::position::TablePosition;

/// The progress of the pass that goes on, and the result of the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Progress {
    /// The Unix seconds at which the last pass was complete; before the first one is, those at which it began.
    since: u64,
    /// The place that the pass has reached; none between two passes.
    pub(super) position: Option<TablePosition>,
    /// Faulty tables, such as `db/000021.sst`, that an earlier pass met.
    known: BTreeMap<String, TableFault>,
    /// Those that this pass met.
    met: BTreeMap<String, TableFault>,
}

/// The damage of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TableFault {
    /// A block of it is not what was written.
    Damaged,
    /// It is not there.
    Missing,
}

impl Progress {
    /// Before the first pass.
    pub(super) fn begin() -> Progress {
        Progress { since: now(), position: None, known: BTreeMap::new(), met: BTreeMap::new() }
    }

    /// The progress in a file; the beginning when there is none, or it cannot be read.
    pub(super) fn read(file: &Path) -> Progress {
        let text = fs::read(file).ok();
        let value = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        value.and_then(|value| Progress::from_json(&value)).unwrap_or_else(Progress::begin)
    }

    fn from_json(value: &Value) -> Option<Progress> {
        let position = match &value["position"] {
            Value::Null => None,
            position => Some(TablePosition::from_json(position)?),
        };
        let since = value["since"].as_u64()?;
        Some(Progress { since, position, known: faults(&value["known"])?, met: faults(&value["met"])? })
    }

    /// Writes it. Not synced: after a power cut the older one serves as well.
    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let new = file.with_extension("new");
        fs::write(&new, serde_json::to_vec(self)?)?;
        fs::rename(new, file)
    }

    /// A table is faulty.
    pub(super) fn meet(&mut self, table: String, fault: TableFault) {
        self.met.insert(table, fault);
    }

    /// The pass is over: what it did not meet again is not damaged any more.
    pub(super) fn complete(&mut self) {
        *self = Progress { since: now(), position: None, known: std::mem::take(&mut self.met), met: BTreeMap::new() };
    }

    /// Time since the last complete pass.
    pub(super) fn age(&self) -> Duration {
        Duration::from_secs(now().saturating_sub(self.since))
    }

    /// Tables that are missing, and those that are damaged and still there, below a data directory.
    pub(super) fn damaged(&self, data: &Path) -> usize {
        let all: BTreeMap<&String, TableFault> =
            self.known.iter().chain(&self.met).map(|(table, fault)| (table, *fault)).collect();
        all.into_iter().filter(|(table, fault)| *fault == TableFault::Missing || data.join(table).exists()).count()
    }
}

/// The faults by table, as JSON has them.
fn faults(value: &Value) -> Option<BTreeMap<String, TableFault>> {
    let fault = |(table, fault): (&String, &Value)| {
        let fault = match fault.as_str()? {
            "damaged" => TableFault::Damaged,
            "missing" => TableFault::Missing,
            _ => return None,
        };
        Some((table.clone(), fault))
    };
    value.as_object()?.iter().map(fault).collect()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(data: &Path, name: &str) -> String {
        fs::write(data.join(name), "").expect("writable");
        name.to_owned()
    }

    #[test]
    fn progress_reads_back_and_a_file_that_is_none_is_a_beginning() {
        let data = tempfile::tempdir().expect("a temporary directory can be made");
        let file = data.path().join("progress");
        assert_eq!(Progress::read(&file), Progress::begin());
        let mut progress = Progress { since: 7, ..Progress::begin() };
        progress.meet(table(data.path(), "1.sst"), TableFault::Damaged);
        progress.position = Some(TablePosition::at_family("db", "rows").after_key(b"key"));
        progress.write(&file).expect("writable");
        assert_eq!(Progress::read(&file), progress);
        fs::write(&file, "{").expect("writable");
        assert_eq!(Progress::read(&file).damaged(data.path()), 0);
    }

    #[test]
    fn a_table_counts_until_it_is_gone_or_a_pass_does_not_meet_it() {
        let data = tempfile::tempdir().expect("a temporary directory can be made");
        let data = data.path();
        let mut progress = Progress { since: 7, ..Progress::begin() };
        ["1.sst", "2.sst"].iter().for_each(|name| progress.meet(table(data, name), TableFault::Damaged));
        progress.meet("3.sst".to_owned(), TableFault::Missing);
        assert_eq!(progress.damaged(data), 3);
        progress.complete();
        progress.known.remove("3.sst");
        assert!(progress.age() < Duration::from_secs(60), "{progress:?}");
        assert_eq!(progress.damaged(data), 2, "the next pass has not come to them");
        fs::remove_file(data.join("1.sst")).expect("it is there");
        assert_eq!(progress.damaged(data), 1);
        progress.complete();
        assert_eq!(progress.damaged(data), 0);
    }
}
