//! Files and directories that are on the disk when a call returns.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::pace::Pace;

/// Bytes of a copy that are synced together: few enough that a commit which is synced beside it hardly waits.
const PART_BYTES: u64 = 2 * 1024 * 1024;

/// Writes a new file.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes a directory, which may be there, with those above it.
pub(crate) fn make_directory(directory: &Path) -> io::Result<()> {
    let parent = directory.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let Some(parent) = parent else { return Ok(()) };
    if !parent.exists() {
        make_directory(parent)?;
    }
    fs::create_dir_all(directory)?;
    sync_directory(parent)
}

/// Makes what was done to the entries of a directory durable.
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

/// The same without files that are on the disk already, and with a rest behind each of the others.
pub(super) fn sync_rest(directory: &Path, is_synced: fn(&Path) -> bool, pace: &mut Pace<'_>) -> io::Result<()> {
    for file in files(directory)?.into_iter().filter(|file| !is_synced(file)) {
        File::open(directory.join(file))?.sync_all()?;
        pace.rest();
    }
    sync_directories(directory)
}

/// Makes the names of all files and directories below a directory durable.
fn sync_directories(directory: &Path) -> io::Result<()> {
    for below in directories(directory)? {
        sync_directory(&below)?;
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

fn directories(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(directories(&entry.path())?);
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Removes a directory with all that is in it; it may be missing. Says whether it was there.
pub(crate) fn remove_directory(directory: &Path) -> io::Result<bool> {
    match fs::remove_dir_all(directory) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives a file that shares its bytes with another name bytes of its own.
pub(super) fn unshare(path: &Path, pace: &mut Pace<'_>) -> io::Result<()> {
    if fs::metadata(path)?.nlink() < 2 {
        return Ok(());
    }
    let mut own = path.as_os_str().to_owned();
    own.push(".own");
    copy_in_parts(path, Path::new(&own), pace)?;
    fs::rename(&own, path)
}

/// Moves a directory, or copies it where the file system ends in between.
pub(super) fn move_directory(from: &Path, to: &Path, pace: &mut Pace<'_>) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_directory(from, to, pace)?;
            fs::remove_dir_all(from)
        }
        moved => moved,
    }
}

fn copy_directory(from: &Path, to: &Path, pace: &mut Pace<'_>) -> io::Result<()> {
    fs::create_dir(to)?;
    for file in files(from)? {
        let target = to.join(&file);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        copy_in_parts(&from.join(&file), &target, pace)?;
    }
    Ok(())
}

/// Copies a file, and syncs it part by part, with rests: a system that has much to write at once keeps the syncs of
/// others waiting meanwhile.
fn copy_in_parts(from: &Path, to: &Path, pace: &mut Pace<'_>) -> io::Result<()> {
    let (mut source, mut target) = (File::open(from)?, File::create_new(to)?);
    while io::copy(&mut Read::by_ref(&mut source).take(PART_BYTES), &mut target)? > 0 {
        target.sync_data()?;
        pace.rest();
    }
    Ok(())
}
