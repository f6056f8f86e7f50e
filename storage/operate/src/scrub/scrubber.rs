//! The thread that reads all tables again and again, a pass in about a given time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rocksdb::{Error, ErrorKind};
use till_storage::engine::table_damage;
use till_storage::turns::{StopSignal, Turns};

use super::position::TablePosition;
use super::progress::{Progress, TableFault};
use super::table_reader::{Access, Broken, Part, TableReader, is_refusal_of_direct_access};
use crate::durable;

/// The directory of the scrub's own file, below the data directory. It holds no write-ahead logs.
const DIRECTORY: &str = "scrub";

/// The file in it.
const PROGRESS_FILE: &str = "progress.json";

/// By how much the system's priority is lowered.
const NICENESS: i32 = 10;

/// The longest pause before the first part, and after one that could not be read, such as while tables are being replaced.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The system's words for a file that is not there.
const NO_SUCH_FILE: &str = "No such file or directory";

/// The databases that are read, and the time of a pass.
#[derive(Debug, Clone)]
pub struct ScrubSettings {
    /// The data directory.
    pub data: PathBuf,
    /// The databases, by their directories' names below it. The first one is the store.
    pub databases: Vec<&'static str>,
    /// The time that a pass takes, about.
    pub every: Duration,
}

/// The results so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScrubStats {
    /// Time since all tables were read for the last time; before the first time, since the scrub began.
    pub age: Duration,
    /// Damaged tables that were met and are still there.
    pub damaged_tables: u64,
}

/// The running scrub. Dropping it ends it.
pub struct Scrubber {
    thread: Turns,
    data: PathBuf,
    progress: Arc<Mutex<Progress>>,
}

impl Scrubber {
    /// Starts the scrub. It goes on where an earlier process was.
    ///
    /// # Errors
    /// The system's: no thread, or no directory.
    pub fn start(settings: ScrubSettings) -> io::Result<Scrubber> {
        let own = settings.data.join(DIRECTORY);
        durable::make_directory(&own)?;
        let progress = Arc::new(Mutex::new(Progress::read(&own.join(PROGRESS_FILE))));
        let data = settings.data.clone();
        let mut pass = Pass {
            settings,
            own,
            progress: Arc::clone(&progress),
            began: Instant::now(),
            access: Access::Direct,
            missed: None,
        };
        let thread = Turns::start("scrub", move |stop| {
            give_way();
            let mut pause = PAUSE_MAX.min(pass.settings.every);
            while !stop.wait(pause) {
                pause = pass.step(stop);
            }
        })?;
        Ok(Scrubber { thread, data, progress })
    }

    /// Ends it, and waits for the part that is being read.
    pub fn stop(&self) {
        self.thread.stop();
    }

    /// The results so far.
    #[must_use]
    pub fn stats(&self) -> ScrubStats {
        let progress = self.progress.lock();
        let damaged_tables = u64::try_from(progress.damaged(&self.data)).unwrap_or(u64::MAX);
        ScrubStats { age: progress.age(), damaged_tables }
    }
}

fn give_way() {
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::warn!(%error, "the priority of a background thread could not be lowered");
    }
}

/// A pass over all tables.
struct Pass {
    settings: ScrubSettings,
    own: PathBuf,
    progress: Arc<Mutex<Progress>>,
    began: Instant,
    access: Access,
    /// The table that the part before this one did not find.
    missed: Option<String>,
}

/// The end of a part of the pass.
enum Step {
    /// It was read.
    Read(Part),
    /// There is damage, after which the pass goes on after this key, or with the next family.
    Damaged { table: String, reason: String, resume_after: Option<Vec<u8>> },
    /// A table is not there: the server removed it meanwhile, or somebody else did.
    Missing { table: String, reason: String },
    /// It cannot be read now.
    Unavailable(String),
}

impl Pass {
    /// Reads the next part, and gives the pause after it.
    fn step(&mut self, stop: &StopSignal) -> Duration {
        let position = self.progress.lock().position.clone();
        let Some(position) = position.or_else(|| self.next_family(None)) else { return self.complete() };
        let missed = self.missed.take();
        match self.read(&position, stop) {
            Step::Read(Part { last, byte_count }) => {
                self.go_on(&position, last.as_deref(), self.pause_after(byte_count))
            }
            Step::Damaged { table, reason, resume_after } => {
                self.tell_of_fault(&position.database, &table, TableFault::Damaged, &reason);
                let is_further = resume_after.as_ref() > position.key().as_ref();
                self.go_on(&position, resume_after.as_deref().filter(|_| is_further), Duration::ZERO)
            }
            // The list of tables is read again each time, after a pause: one that is listed and missing again was not removed by
            // the server.
            Step::Missing { table, reason } if missed.as_ref() == Some(&table) => {
                self.tell_of_fault(&position.database, &table, TableFault::Missing, &reason);
                self.go_on(&position, None, Duration::ZERO)
            }
            Step::Missing { table, .. } => {
                self.missed = Some(table);
                PAUSE_MAX.min(self.settings.every)
            }
            Step::Unavailable(reason) => {
                tracing::warn!(database = position.database, reason, "tables cannot be read for the scrub now");
                PAUSE_MAX.min(self.settings.every)
            }
        }
    }

    /// Reads a part. Damage counts when the database is opened anew and the same table is damaged again.
    fn read(&mut self, position: &TablePosition, stop: &StopSignal) -> Step {
        match (self.read_once(position, stop), self) {
            (Step::Read(part), _) => Step::Read(part),
            (Step::Damaged { table: first, .. }, pass) => match pass.read_once(position, stop) {
                Step::Damaged { table, reason, .. } if table != first => Step::Unavailable(reason),
                again => again,
            },
            (Step::Missing { .. } | Step::Unavailable(_), pass) => match pass.read_once(position, stop) {
                Step::Damaged { reason, .. } => Step::Unavailable(reason),
                again => again,
            },
        }
    }

    fn read_once(&mut self, position: &TablePosition, stop: &StopSignal) -> Step {
        let directory = self.settings.data.join(&position.database);
        let opened = TableReader::open(&directory, &self.own, self.access);
        let reader = match opened {
            Ok(reader) => reader,
            Err(error) => return self.failure(&error, None),
        };
        match reader.read(&position.family, position.key().as_deref(), stop) {
            Ok(part) => Step::Read(part),
            Err(Broken { last, error }) => match self.failure(&error, last) {
                Step::Damaged { table, reason, resume_after } => {
                    let resume_after = reader.last_key_of(&table).or(resume_after);
                    Step::Damaged { table, reason, resume_after }
                }
                other => other,
            },
        }
    }

    fn failure(&mut self, error: &Error, resume_after: Option<Vec<u8>>) -> Step {
        if self.access == Access::Direct && is_refusal_of_direct_access(error) {
            self.access = Access::Cached;
        }
        let reason = error.to_string();
        match table_damage::tables_in(&reason).first() {
            Some(table) if reason.contains(NO_SUCH_FILE) => Step::Missing { table: (*table).to_owned(), reason },
            Some(table) if matches!(error.kind(), ErrorKind::Corruption | ErrorKind::IOError) => {
                Step::Damaged { table: (*table).to_owned(), reason, resume_after }
            }
            Some(_) | None => Step::Unavailable(reason),
        }
    }

    /// Damage in the store keeps tables from being rewritten and checkpoints from being taken, as when RocksDB meets it.
    fn tell_of_fault(&self, database: &str, table: &str, fault: TableFault, reason: &str) {
        self.progress.lock().meet(format!("{database}/{table}"), fault);
        let file = self.settings.data.join(database).join(table);
        tracing::error!(
            file = %file.display(),
            reason,
            "a table at rest is damaged: stop the server and run `till verify`; when rows are affected, run `till repair \
             rows`, or restore the directory (docs/operations.md, \"A damaged table\")"
        );
        let is_of_the_store = self.settings.databases.first() == Some(&database);
        if is_of_the_store
            && table_damage::read_note(&self.settings.data).is_none()
            && let Err(error) = table_damage::leave_note(&self.settings.data, reason)
        {
            tracing::error!(%error, "the note about a damaged table could not be written");
        }
    }

    /// Goes on after a key, or with the next family.
    fn go_on(&mut self, position: &TablePosition, after: Option<&[u8]>, pause: Duration) -> Duration {
        match after.map(|key| position.after_key(key)).or_else(|| self.next_family(Some(position))) {
            Some(next) => {
                self.progress.lock().position = Some(next);
                self.keep(pause)
            }
            None => self.complete(),
        }
    }

    /// The next pass begins when the time of this one is over.
    fn complete(&mut self) -> Duration {
        self.progress.lock().complete();
        let pause = self.settings.every.saturating_sub(self.began.elapsed());
        self.began = Instant::now() + pause;
        self.keep(pause)
    }

    /// The first family after one, or the first of all; none after the last.
    fn next_family(&self, position: Option<&TablePosition>) -> Option<TablePosition> {
        let databases = self.settings.databases.iter();
        let of = |database: &&'static str| {
            let directory = self.settings.data.join(database);
            let families = TableReader::families(&directory, &self.own).unwrap_or_default();
            families.into_iter().map(|family| TablePosition::at_family(database, &family)).collect::<Vec<_>>()
        };
        let mut all = databases.flat_map(of);
        let Some(position) = position else { return all.next() };
        all.find(|family| (&family.database, &family.family) == (&position.database, &position.family));
        all.next()
    }

    /// The part's share of the time of a pass.
    fn pause_after(&self, byte_count: u64) -> Duration {
        let total = self.settings.databases.iter().map(|database| table_bytes(&self.settings.data.join(database)));
        let total = u128::from(total.sum::<u64>().max(1));
        let share = self.settings.every.as_millis() * u128::from(byte_count) / total;
        Duration::from_millis(u64::try_from(share).unwrap_or(u64::MAX)).min(self.settings.every)
    }

    /// Keeps the progress for the next process.
    fn keep(&self, pause: Duration) -> Duration {
        let kept = self.progress.lock().write(&self.own.join(PROGRESS_FILE));
        if let Err(error) = kept {
            tracing::warn!(%error, "the progress of the scrub could not be kept");
        }
        pause
    }
}

/// Bytes of the tables in a directory.
fn table_bytes(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let is_table = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().ends_with(".sst");
    let tables = entries.flatten().filter(is_table);
    tables.filter_map(|table| table.metadata().ok()).map(|table| table.len()).sum()
}
