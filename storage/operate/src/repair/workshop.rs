//! The directories of a repair: the database, the copy that is being repaired, the repaired copy, and the database as
//! it was before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use till_storage::engine::table_damage;
use till_storage::engine::{
    BEFORE_DIRECTORY, EngineOptions, HeldDirectory, OpenError, REPAIRED_DIRECTORY, is_repair_unfinished, refuse_unfit,
};

use crate::durable::{remove_directory, sync_directory, sync_tree};

const DB: &str = "db";
const REPAIRING: &str = "db-repairing";

/// A data directory that is being repaired. No server can start on it meanwhile.
pub struct Workshop {
    held: HeldDirectory,
    directory: PathBuf,
}

impl Workshop {
    /// Locks a data directory, and completes a repair that was interrupted while the databases changed places.
    ///
    /// # Errors
    /// [`OpenError`]: it is in use, is a copy, or its mark cannot be read.
    pub fn open(options: &EngineOptions) -> Result<Workshop, OpenError> {
        let held = HeldDirectory::hold(options)?;
        let workshop = Workshop { held, directory: options.directory.clone() };
        if is_repair_unfinished(&workshop.directory) {
            workshop.put_in_place().map_err(workshop.failed("finish the repair of"))?;
        }
        refuse_unfit(&options.directory)?;
        Ok(workshop)
    }

    /// The locked directory.
    #[must_use]
    pub const fn held(&self) -> &HeldDirectory {
        &self.held
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.directory.join(DB)
    }

    /// The copy that is being repaired.
    pub(super) fn copy(&self) -> PathBuf {
        self.directory.join(REPAIRING)
    }

    /// Makes the copy: it shares table files, which never change, and has copies of the others.
    pub(super) fn make_copy(&self) -> Result<(), OpenError> {
        let made = remove_directory(&self.directory.join(REPAIRED_DIRECTORY))
            .and_then(|_| remove_directory(&self.copy()))
            .and_then(|_| link(&self.database(), &self.copy()));
        made.map_err(self.failed("copy the database of"))
    }

    /// Removes the copy.
    pub(super) fn drop_copy(&self) -> Result<(), OpenError> {
        remove_directory(&self.copy()).map(drop).map_err(self.failed("remove the copy in"))
    }

    /// Makes the copy durable, and puts it in the database's place.
    pub(super) fn adopt_copy(&self) -> Result<(), OpenError> {
        let adopted = sync_tree(&self.copy())
            .and_then(|()| fs::rename(self.copy(), self.directory.join(REPAIRED_DIRECTORY)))
            .and_then(|()| remove_directory(&self.directory.join(BEFORE_DIRECTORY)))
            .and_then(|_| sync_directory(&self.directory))
            .and_then(|()| fs::rename(self.database(), self.directory.join(BEFORE_DIRECTORY)))
            .and_then(|()| sync_directory(&self.directory))
            .and_then(|()| self.put_in_place());
        adopted.map_err(self.failed("put the repaired database in its place in"))
    }

    fn put_in_place(&self) -> io::Result<()> {
        fs::rename(self.directory.join(REPAIRED_DIRECTORY), self.database())?;
        self.drop_note_of_gone_tables()?;
        sync_directory(&self.directory)
    }

    /// Removes from the note the tables of the database that do not exist any more.
    fn drop_note_of_gone_tables(&self) -> io::Result<()> {
        let is_gone = |table: &str| table.starts_with("db/") && !self.directory.join(table).exists();
        table_damage::forget(&self.directory, is_gone)
    }

    fn failed(&self, attempt: &'static str) -> impl Fn(io::Error) -> OpenError + use<> {
        let path = self.directory.clone();
        move |source| OpenError::Files { attempt, path: path.clone(), source }
    }
}

fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let (path, name) = {
            let entry = entry?;
            (entry.path(), entry.file_name())
        };
        let text = name.to_string_lossy();
        if text.ends_with(".sst") {
            fs::hard_link(&path, to.join(&name))?;
        } else if text != "LOCK" && !text.starts_with("LOG") && path.is_file() {
            fs::copy(&path, to.join(&name))?;
        }
    }
    Ok(())
}
