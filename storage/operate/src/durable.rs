//! Files and directories that are on the disk when a call returns.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a new file.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Creates a directory, which may exist, and those above it.
pub(crate) fn make_directory(directory: &Path) -> io::Result<()> {
    let parent = directory.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let Some(parent) = parent else { return Ok(()) };
    if !parent.exists() {
        make_directory(parent)?;
    }
    fs::create_dir_all(directory)?;
    sync_directory(parent)
}

/// Makes changes to the entries of a directory durable.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Syncs every file and directory below a directory, and the directory.
pub(crate) fn sync_tree(directory: &Path) -> io::Result<()> {
    for file in files(directory)? {
        File::open(directory.join(file))?.sync_all()?;
    }
    sync_directories(directory)
}

/// Makes the names of all files and directories below a directory durable.
pub(crate) fn sync_directories(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_directories(&entry.path())?;
        }
    }
    sync_directory(directory)
}

/// Every file below a directory, by its path from there, in order.
pub(crate) fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = PathBuf::from(entry.file_name());
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path())?.into_iter().map(|file| name.join(file)));
        } else {
            found.push(name);
        }
    }
    found.sort();
    Ok(found)
}

/// Locks a file, which is made when it is missing, against other processes; none when another one has it.
pub(crate) fn lock_file(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes a directory and its contents; it may be missing. Returns true when it existed.
pub(crate) fn remove_directory(directory: &Path) -> io::Result<bool> {
    match fs::remove_dir_all(directory) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
