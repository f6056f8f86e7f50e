//! Takes a checkpoint of a store that is written to meanwhile.
//!
//! 1. Wait for the next log, if the current one is long. Stop writes to the books beside the store: the sandbox's, and
//!    the deliveries of webhooks. Commits go on.
//! 2. Link the files of the database, then those of the books, into the data directory, which is on their disk:
//!    table files as links, logs and lists as copies. Nothing is flushed. Let writes to each book go on.
//! 3. Read the tables that were never read whole, or not for long: a damaged one ends it.
//! 4. Move the files to where checkpoints are kept; on another file system they are copied. Wait until the server has
//!    removed logs that were linked.
//! 5. Open the copy for reading, note the heads of its logs, and give it a high-water mark at its last commit.
//! 6. Sync all files, and list each with its checksum.
//! 7. Give the directory its name.
//!
//! Nothing is written to a book from before the database's moment until after its own. So every result that the log has
//! is in the sandbox's book, and everything in the book was requested in the log. Until the last step the directory has
//! a name that no checkpoint has.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use till_storage::engine::{Engine, EngineOptions, HeldDirectory, free_bytes, mark_copy};
use till_storage::family::Family;
use till_storage::journal::CommitNumber;

use crate::durable;
use crate::last_used::LastUsedDirectory;
use crate::priority::with_low_priority;
use crate::scrub::{FaultyTable, InspectionError, TableFault, TableInspector};

use super::beside::BookBeside;
use super::manifest::{Manifest, ManifestEntry};
use super::shelf::{Shelf, is_name};
use super::stage::CheckpointStage;
use super::throttle::Throttle;
use super::{
    CheckpointError, DATABASE_DIRECTORY, HEADS_FILE, MANIFEST_FILE, STAGING_DIRECTORY, checksum, copying, heads,
    log_wait,
};

/// File in the data directory with the path of a shelf that is outside of it.
const KNOWN_FILE: &str = "checkpoints-known";

/// Bytes of the block cache while the copy is read.
const BLOCK_CACHE_BYTES: usize = 8 * 1024 * 1024;

/// A log of at most this size is copied and synced between two commits.
const SHORT_LOG_BYTES: u64 = 4 * 1024 * 1024;

/// The name of a checkpoint to be taken, and the facts that are noted in it.
#[derive(Debug, Clone, Copy)]
pub struct CheckpointRequest<'a> {
    /// Its name: 1 to 64 of a-z, 0-9 and `-`.
    pub name: &'a str,
    /// The present time, milliseconds since the Unix epoch.
    pub taken_at_ms: u64,
    /// The version of the program.
    pub program: &'a str,
}

/// A checkpoint that was taken.
#[derive(Debug, Clone)]
pub struct TakenCheckpoint {
    /// Its directory.
    pub directory: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
}

/// Takes checkpoints of one running store.
pub struct Checkpointer {
    engine: Arc<Engine>,
    books: Vec<BookBeside>,
    shelf: Shelf,
    tables: Arc<TableInspector>,
}

impl Checkpointer {
    /// For this store and these books; checkpoints are kept on this shelf, and their tables are read by the inspector
    /// of the data directory.
    #[must_use]
    pub fn new(engine: Arc<Engine>, books: Vec<BookBeside>, shelf: Shelf, tables: Arc<TableInspector>) -> Checkpointer {
        Checkpointer { engine, books, shelf, tables }
    }

    /// The inspector of the store's tables.
    #[must_use]
    pub fn tables(&self) -> &TableInspector {
        &self.tables
    }

    /// The shelf that its checkpoints are kept on.
    #[must_use]
    pub fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// Removes the unfinished work of an earlier process.
    ///
    /// # Errors
    /// [`CheckpointError`]; the store itself is not affected.
    pub fn clear(&self) -> Result<(), CheckpointError> {
        if !self.shelf.list()?.is_empty() {
            let _lock = self.shelf.lock()?;
            self.shelf.remove_unfinished()?;
        }
        self.clear_staging()
    }

    /// The note in the data directory about a shelf outside of it; a shelf inside has no disk of its own.
    fn note_of_shelf(&self) -> Option<LastUsedDirectory> {
        let data = self.engine.directory();
        let is_inside = self.shelf.directory().starts_with(data);
        (!is_inside).then(|| LastUsedDirectory::of(data, KNOWN_FILE))
    }

    /// Refuses a shelf that existed and is missing: its disk is not mounted.
    fn refuse_missing_shelf(&self, known: Option<&LastUsedDirectory>) -> Result<(), CheckpointError> {
        let directory = self.shelf.directory();
        match known.filter(|known| known.is(directory) && !self.shelf.is_begun()) {
            Some(known) => {
                Err(CheckpointError::Gone { directory: directory.to_owned(), note: known.file().to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Takes a checkpoint. Blocks while the files are linked and read.
    ///
    /// # Errors
    /// [`CheckpointError`]. Nothing is left of the checkpoint then, and the store goes on.
    pub fn take(&self, wanted: &CheckpointRequest<'_>) -> Result<TakenCheckpoint, CheckpointError> {
        self.take_until(wanted, &mut |_| true)
    }

    /// Takes a checkpoint, and stops after the first stage for which `goes_on` returns false: files are left as a crash
    /// would leave them.
    ///
    /// # Errors
    /// The errors of [`Checkpointer::take`], and [`CheckpointError::Stopped`].
    pub fn take_until(
        &self,
        wanted: &CheckpointRequest<'_>,
        goes_on: &mut (dyn FnMut(CheckpointStage) -> bool + Send),
    ) -> Result<TakenCheckpoint, CheckpointError> {
        if !is_name(wanted.name) {
            return Err(CheckpointError::Name { name: wanted.name.to_owned() });
        }
        self.refuse_damage()?;
        // The reserved disk space is not for copies.
        self.engine.admit(0).map_err(|reason| CheckpointError::Copy { what: "the database", reason })?;
        let known = self.note_of_shelf();
        self.refuse_missing_shelf(known.as_ref())?;
        let _lock = self.shelf.lock()?;
        if let Some(known) = known {
            known.remember(self.shelf.directory()).map_err(CheckpointError::files("write", known.file()))?;
        }
        if self.shelf.directory().join(wanted.name).exists() {
            return Err(CheckpointError::NameTaken { name: wanted.name.to_owned() });
        }
        self.shelf.remove_unfinished()?;
        self.clear_staging()?;
        let mut done = |step| if goes_on(step) { Ok(()) } else { Err(CheckpointError::Stopped { step }) };
        let taken = self.make(wanted, &mut done);
        if let Err(error) = &taken
            && !matches!(error, CheckpointError::Stopped { .. })
        {
            self.clean_up(wanted.name);
        }
        taken
    }

    /// Refuses while damage is known, RocksDB's own included.
    fn refuse_damage(&self) -> Result<(), CheckpointError> {
        self.engine.note_background_damage();
        let tables: Vec<String> = self.tables.damaged().into_iter().map(|damaged| damaged.table).collect();
        if tables.is_empty() { Ok(()) } else { Err(CheckpointError::TableDamaged { tables: tables.join(", ") }) }
    }

    fn make(&self, wanted: &CheckpointRequest<'_>, done: &mut Done<'_>) -> Result<TakenCheckpoint, CheckpointError> {
        let (staging, unfinished) = (self.staging(), self.shelf.unfinished(wanted.name));
        for directory in [&staging, &unfinished] {
            fs::create_dir(directory).map_err(CheckpointError::files("create", directory))?;
        }
        done(CheckpointStage::Begun)?;
        log_wait::wait_while(&|| self.engine.log_bytes() > SHORT_LOG_BYTES, &|| self.engine.last_commit());
        let acknowledged = self.engine.last_commit();
        self.link(&staging, done)?;
        // From here on no caller waits: the work gets the processor time that calls leave.
        let manifest = with_low_priority(|| self.complete(wanted, acknowledged, done))?;
        let directory = self.name(&unfinished, wanted.name)?;
        done(CheckpointStage::Named)?;
        Ok(TakenCheckpoint { directory, manifest })
    }

    /// Moves the links to where checkpoints are kept, reads the copy and lists its files.
    fn complete(
        &self,
        wanted: &CheckpointRequest<'_>,
        acknowledged: CommitNumber,
        done: &mut Done<'_>,
    ) -> Result<Manifest, CheckpointError> {
        let (staging, unfinished) = (self.staging(), self.shelf.unfinished(wanted.name));
        let commits = || self.engine.last_commit();
        let mut throttle = Throttle::new(&commits);
        self.refuse_without_space(&staging)?;
        let tables_read_at_ms = self.inspect(&staging, &mut throttle)?.unwrap_or(wanted.taken_at_ms);
        let moved = move_all(&staging, &unfinished, &mut throttle);
        moved.map_err(CheckpointError::files("move the files to", &unfinished))?;
        log_wait::wait_while(&|| shares_a_log(&unfinished), &commits);
        let unshared = unshare_all(&unfinished, &mut throttle);
        unshared.map_err(CheckpointError::files("copy the files in", &unfinished))?;
        done(CheckpointStage::Moved)?;
        let (last_commit, merchants) = survey(&unfinished, acknowledged, done)?;
        let files = self.list(&unfinished, &mut throttle)?;
        let (taken_at_ms, program) = (wanted.taken_at_ms, wanted.program.to_owned());
        let manifest = Manifest { taken_at_ms, program, last_commit, merchants, tables_read_at_ms, files };
        let written = write_manifest(&unfinished, &manifest, &mut throttle);
        written.map_err(CheckpointError::files("write", &unfinished.join(MANIFEST_FILE)))?;
        done(CheckpointStage::Listed)?;
        Ok(manifest)
    }

    /// Reads the tables of all databases that were never read whole, or not for long. Returns the oldest time at which
    /// one of them was read.
    fn inspect(&self, staging: &Path, throttle: &mut Throttle<'_>) -> Result<Option<u64>, CheckpointError> {
        let mut oldest = None;
        let databases = self.books.iter().map(|beside| beside.directory);
        for database in std::iter::once(DATABASE_DIRECTORY).chain(databases) {
            let read =
                self.tables.inspect_copy(database, &staging.join(database), &mut |rest| throttle.pause_for(rest));
            let read_at_ms = read.map_err(|error| refusal_of(error, staging))?;
            oldest = [oldest, read_at_ms].into_iter().flatten().min();
        }
        Ok(oldest)
    }

    /// Lists the files with their checksums. A table keeps the one that it had in an earlier checkpoint if it is the
    /// same file; a copy must have it, too.
    fn list(&self, directory: &Path, throttle: &mut Throttle<'_>) -> Result<Vec<ManifestEntry>, CheckpointError> {
        let failed = || CheckpointError::files("list", directory);
        let mut entries = Vec::new();
        for path in durable::files(directory).map_err(failed())? {
            let known = path.to_str().filter(|_| is_table(&path)).and_then(|table| self.tables.hash(table));
            let entry = entry_of(directory, path, known, throttle).map_err(failed())?;
            if is_table(&entry.path) {
                self.check_copy(&entry, known.map(|(_, hash)| hash))?;
            }
            entries.push(entry);
        }
        self.tables.keep();
        Ok(entries)
    }

    /// Compares the checksum of a table with the one of an earlier checkpoint, and keeps it for later ones.
    fn check_copy(&self, entry: &ManifestEntry, known: Option<blake3::Hash>) -> Result<(), CheckpointError> {
        let table = entry.path.display().to_string();
        if known.is_none_or(|known| known == entry.hash) {
            self.tables.keep_hash(&table, &entry.hash);
            return Ok(());
        }
        self.tables.inspect_again(&table).map_err(|error| refusal_of(error, &entry.path))?;
        Err(CheckpointError::Copy { what: "a table", reason: format!("{table} is not what was copied before") })
    }

    /// Refuses a copy that would take another disk below the reserve: an archive may be on it, too.
    fn refuse_without_space(&self, staging: &Path) -> Result<(), CheckpointError> {
        let directory = self.shelf.directory();
        let asked = || -> io::Result<Option<(u64, u64)>> {
            if fs::metadata(directory)?.dev() == fs::metadata(staging)?.dev() {
                return Ok(None);
            }
            let sizes = durable::files(staging)?.into_iter().map(|file| Ok(fs::metadata(staging.join(file))?.len()));
            let bytes = sizes.sum::<io::Result<u64>>()?;
            Ok(Some((free_bytes(directory)?, bytes.saturating_add(self.engine.disk_reserve_bytes()))))
        };
        match asked().map_err(CheckpointError::files("measure", directory))? {
            Some((free, needed)) if free < needed => {
                Err(CheckpointError::NoSpace { directory: directory.to_owned(), free, needed })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Links the files of the database and the books as of one moment of the books.
    fn link(&self, staging: &Path, done: &mut Done<'_>) -> Result<(), CheckpointError> {
        let held: Vec<_> = self.books.iter().map(|beside| (beside.directory, beside.book.hold())).collect();
        let linked = self.engine.link_files(&staging.join(DATABASE_DIRECTORY));
        linked.map_err(|reason| CheckpointError::Copy { what: "the database", reason })?;
        done(CheckpointStage::DatabaseLinked)?;
        for (directory, link_files) in held {
            let linked = link_files(&staging.join(directory));
            linked.map_err(|reason| CheckpointError::Copy { what: directory, reason })?;
        }
        done(CheckpointStage::BooksLinked)
    }

    fn name(&self, unfinished: &Path, name: &str) -> Result<PathBuf, CheckpointError> {
        let directory = self.shelf.directory().join(name);
        let named = fs::rename(unfinished, &directory).and_then(|()| durable::sync_directory(self.shelf.directory()));
        named.map_err(CheckpointError::files("rename", unfinished))?;
        Ok(directory)
    }

    fn staging(&self) -> PathBuf {
        self.engine.directory().join(STAGING_DIRECTORY)
    }

    fn clear_staging(&self) -> Result<(), CheckpointError> {
        let staging = self.staging();
        if durable::remove_directory(&staging).map_err(CheckpointError::files("remove", &staging))? {
            tracing::warn!(directory = %staging.display(), "links of a checkpoint that was not finished were removed");
        }
        Ok(())
    }

    fn clean_up(&self, name: &str) {
        for directory in [self.staging(), self.shelf.unfinished(name)] {
            if let Err(error) = durable::remove_directory(&directory) {
                tracing::warn!(directory = %directory.display(), %error, "the files of an unfinished checkpoint could \
                    not be removed yet");
            }
        }
    }
}

/// Is called after each stage; an error ends the checkpoint there.
type Done<'d> = dyn FnMut(CheckpointStage) -> Result<(), CheckpointError> + Send + 'd;

fn move_all(staging: &Path, unfinished: &Path, throttle: &mut Throttle<'_>) -> io::Result<()> {
    for entry in fs::read_dir(staging)? {
        let name = entry?.file_name();
        copying::move_directory(&staging.join(&name), &unfinished.join(&name), throttle)?;
    }
    fs::remove_dir(staging)
}

/// True when the server still has a log that was linked.
fn shares_a_log(directory: &Path) -> bool {
    let is_log = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "log");
    let logs = durable::files(directory).unwrap_or_default().into_iter().filter(is_log);
    logs.into_iter().any(|log| fs::metadata(directory.join(log)).is_ok_and(|log| log.nlink() > 1))
}

/// Gives all files but table files bytes of their own. Table files never change; the server may change the others.
fn unshare_all(unfinished: &Path, throttle: &mut Throttle<'_>) -> io::Result<()> {
    for file in durable::files(unfinished)? {
        if !is_table(&file) {
            copying::unshare(&unfinished.join(file), throttle)?;
        }
    }
    Ok(())
}

/// Opens the copy, marks its last commit and notes the heads of its logs; returns that commit and the number of heads.
///
/// Only the family with the heads is opened: the log's rows of other families are then not put into memory again, which
/// would cost calls more than all the rest of a checkpoint.
fn survey(
    directory: &Path,
    acknowledged: CommitNumber,
    done: &mut Done<'_>,
) -> Result<(CommitNumber, u64), CheckpointError> {
    mark_copy(directory, acknowledged)?;
    let options = EngineOptions { block_cache_bytes: BLOCK_CACHE_BYTES, ..EngineOptions::new(directory) };
    let store = HeldDirectory::hold(&options)?.open(&directory.join(DATABASE_DIRECTORY), &[Family::Meta])?;
    let found = store.last_commit().map_err(|error| CheckpointError::Read { reason: error.to_string() })?;
    if found < acknowledged {
        return Err(CheckpointError::Behind { found, acknowledged });
    }
    let merchants = heads::write(&store, &directory.join(HEADS_FILE))?;
    done(CheckpointStage::HeadsNoted)?;
    drop(store); // It holds the mark's lock.
    mark_copy(directory, found)?;
    done(CheckpointStage::Marked)?;
    Ok((found, merchants))
}

/// A file with its length and checksum. One that is the file whose checksum is known is not read.
fn entry_of(
    directory: &Path,
    path: PathBuf,
    known: Option<(u64, blake3::Hash)>,
    throttle: &mut Throttle<'_>,
) -> io::Result<ManifestEntry> {
    let file = File::open(directory.join(&path))?;
    let metadata = file.metadata()?;
    let (bytes, hash) = match known {
        Some((inode, hash)) if inode == metadata.ino() => (metadata.len(), hash),
        Some(_) | None => checksum::of(file, throttle)?,
    };
    Ok(ManifestEntry { path, bytes, hash })
}

fn refusal_of(error: InspectionError, path: &Path) -> CheckpointError {
    match error {
        InspectionError::Faulty(FaultyTable { fault: TableFault::Unavailable, reason, .. }) => {
            CheckpointError::Copy { what: "a table", reason }
        }
        InspectionError::Faulty(FaultyTable { table, .. }) => CheckpointError::TableDamaged { tables: table },
        InspectionError::Files(source) => CheckpointError::files("read the tables of", path)(source),
    }
}

fn write_manifest(directory: &Path, manifest: &Manifest, throttle: &mut Throttle<'_>) -> io::Result<()> {
    // The engine synced its tables before it relied on them; tables that were copied were synced part by part.
    copying::sync_with_pauses(directory, is_table, throttle)?;
    durable::write_new(&directory.join(MANIFEST_FILE), manifest.encode().as_bytes())?;
    durable::sync_directory(directory)
}

fn is_table(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "sst")
}
