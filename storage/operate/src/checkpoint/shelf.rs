//! The directory that checkpoints are kept in.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use till_storage::engine::table_damage;

use crate::durable;

use super::manifest::Manifest;
use super::read::read_manifest;
use super::reading::is_read;
use super::{CheckpointError, UNFINISHED_SUFFIX};

/// Characters of a name.
const NAME_MAX: usize = 64;

/// Lock file, held while a checkpoint is taken or removed. Its dot keeps it apart from names.
const LOCK_FILE: &str = "shelf.lock";

/// The directory that checkpoints are kept in.
#[derive(Debug, Clone)]
pub struct Shelf {
    directory: PathBuf,
    /// The data directory whose checkpoints are kept on it, when its known damaged tables are to be considered.
    data: Option<PathBuf>,
}

/// The status of a directory on the shelf.
#[derive(Debug)]
pub enum CheckpointStatus {
    /// It is whole, as far as its manifest says.
    Complete(Manifest),
    /// It is being taken, or was not finished.
    Unfinished,
    /// Its manifest cannot be used.
    Unusable(CheckpointError),
}

/// A directory on the shelf.
#[derive(Debug)]
pub struct KeptCheckpoint {
    /// Its name.
    pub name: String,
    /// Its status.
    pub status: CheckpointStatus,
}

impl KeptCheckpoint {
    fn manifest(&self) -> Option<&Manifest> {
        match &self.status {
            CheckpointStatus::Complete(manifest) => Some(manifest),
            CheckpointStatus::Unfinished | CheckpointStatus::Unusable(_) => None,
        }
    }

    /// Time at which it was taken, if it is complete.
    #[must_use]
    pub fn taken_at_ms(&self) -> Option<u64> {
        self.manifest().map(|manifest| manifest.taken_at_ms)
    }
}

/// While it lives no other process takes or removes a checkpoint.
pub(super) struct ShelfLock(#[expect(dead_code, reason = "its lock goes with it")] File);

impl Shelf {
    /// The shelf at a directory, which may be missing.
    #[must_use]
    pub fn in_directory(directory: impl Into<PathBuf>) -> Shelf {
        Shelf { directory: directory.into(), data: None }
    }

    /// The same, for the checkpoints of a data directory.
    #[must_use]
    pub fn of(self, data: impl Into<PathBuf>) -> Shelf {
        Shelf { data: Some(data.into()), ..self }
    }

    /// Its directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Every checkpoint, finished or not, the oldest first: in the order of their last commits, not of clocks, which
    /// may be set back. Checkpoints that are not complete come before all others.
    ///
    /// # Errors
    /// An error of the system; a missing shelf is an empty one.
    pub fn list(&self) -> Result<Vec<KeptCheckpoint>, CheckpointError> {
        let failed = || CheckpointError::files("list", &self.directory);
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed())?,
        };
        let mut kept = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed())?;
            kept.extend(entry.file_name().to_str().and_then(|name| self.look_at(name)));
        }
        kept.sort_by_cached_key(|kept| {
            (kept.manifest().map(|manifest| manifest.last_commit), kept.taken_at_ms(), kept.name.clone())
        });
        Ok(kept)
    }

    fn look_at(&self, name: &str) -> Option<KeptCheckpoint> {
        let directory = self.directory.join(name);
        let named = name.strip_suffix(UNFINISHED_SUFFIX).unwrap_or(name);
        if !is_name(named) || !directory.is_dir() {
            return None;
        }
        let status = match read_manifest(&directory) {
            Ok(manifest) => CheckpointStatus::Complete(manifest),
            Err(CheckpointError::Unfinished { .. }) => CheckpointStatus::Unfinished,
            Err(error) => CheckpointStatus::Unusable(error),
        };
        Some(KeptCheckpoint { name: name.to_owned(), status })
    }

    /// Removes the oldest complete checkpoints whose names begin with `prefix` until `keep` of them are left, except
    /// those that are being read ([`super::Reading`]), and all unfinished ones. The one called `newest` was taken just
    /// now: it counts as the newest, even when another store has left some that reach further. It never removes the
    /// newest checkpoint without a table that is known to be damaged. Returns the names of the removed ones.
    ///
    /// # Errors
    /// [`CheckpointError::Busy`] while one is being taken; an error of the system.
    pub fn prune(&self, keep: usize, prefix: &str, newest: Option<&str>) -> Result<Vec<String>, CheckpointError> {
        if self.list()?.is_empty() {
            return Ok(Vec::new()); // Its disk may not be mounted: nothing is created there.
        }
        let _lock = self.lock()?;
        let mut removed = self.remove_unfinished()?;
        let is_complete = |kept: &KeptCheckpoint| matches!(kept.status, CheckpointStatus::Complete(_));
        let mut complete: Vec<KeptCheckpoint> = self.list()?.into_iter().filter(is_complete).collect();
        complete.sort_by_key(|kept| newest == Some(&kept.name)); // Stable: the others keep their order.
        let good = complete.iter().rev().find(|kept| !self.has_known_damage(&kept.name)).map(|kept| kept.name.clone());
        complete.retain(|kept| kept.name.starts_with(prefix));
        let old = complete.iter().take(complete.len().saturating_sub(keep));
        for old in old.filter(|old| Some(&old.name) != good.as_ref()) {
            if is_read(&self.directory.join(&old.name)) {
                tracing::warn!(checkpoint = old.name, "a checkpoint is being read, and is removed later");
                continue;
            }
            self.remove(&old.name)?;
            removed.push(old.name.clone());
        }
        Ok(removed)
    }

    /// True when a checkpoint shares a table with the store that is known to be damaged.
    #[must_use]
    pub fn has_known_damage(&self, name: &str) -> bool {
        let Some(data) = &self.data else { return false };
        let file = |path: PathBuf| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
        let mut damaged = table_damage::noted(data).into_iter().map(|damaged| damaged.table);
        damaged.any(|table| {
            let kept = file(self.directory.join(name).join(&table));
            kept.is_some() && kept == file(data.join(&table))
        })
    }

    /// Removes unfinished checkpoints. The lock must be held.
    pub(super) fn remove_unfinished(&self) -> Result<Vec<String>, CheckpointError> {
        let mut removed = Vec::new();
        for kept in self.list()? {
            if matches!(kept.status, CheckpointStatus::Unfinished) {
                self.remove_directory(&kept.name)?;
                tracing::warn!(checkpoint = kept.name, "a checkpoint that was not finished was removed");
                removed.push(kept.name);
            }
        }
        Ok(removed)
    }

    /// Removes a checkpoint. It is renamed first: a half-removed checkpoint must not look complete.
    fn remove(&self, name: &str) -> Result<(), CheckpointError> {
        let (whole, leaving) = (self.directory.join(name), self.unfinished(name));
        fs::rename(&whole, &leaving).map_err(CheckpointError::files("rename", &whole))?;
        durable::sync_directory(&self.directory).map_err(CheckpointError::files("sync", &self.directory))?;
        self.remove_directory(&format!("{name}{UNFINISHED_SUFFIX}"))
    }

    fn remove_directory(&self, name: &str) -> Result<(), CheckpointError> {
        let path = self.directory.join(name);
        durable::remove_directory(&path).map(drop).map_err(CheckpointError::files("remove", &path))
    }

    /// The directory in which a checkpoint of this name is made.
    pub(super) fn unfinished(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}{UNFINISHED_SUFFIX}"))
    }

    /// True when a checkpoint was ever begun here, or copied here.
    pub(super) fn is_begun(&self) -> bool {
        self.directory.join(LOCK_FILE).exists() || self.list().is_ok_and(|kept| !kept.is_empty())
    }

    /// Creates the shelf when it is missing, and locks it against changes by others.
    pub(super) fn lock(&self) -> Result<ShelfLock, CheckpointError> {
        durable::make_directory(&self.directory).map_err(CheckpointError::files("create", &self.directory))?;
        let path = self.directory.join(LOCK_FILE);
        let lock = durable::lock_file(&path).map_err(CheckpointError::files("open", &path))?;
        lock.map(ShelfLock).ok_or_else(|| CheckpointError::Busy { directory: self.directory.clone() })
    }
}

/// True when a text can be the name of a checkpoint.
pub(super) fn is_name(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= NAME_MAX && text.bytes().all(known) && text.bytes().next().is_some_and(|first| first != b'-')
}
