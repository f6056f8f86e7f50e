//! Copies and syncs files beside a running store, with pauses.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::durable::{files, sync_directories};

use super::throttle::Throttle;

/// Bytes of a copy that are synced together: few enough that a commit which is synced at the same time hardly waits.
const PART_BYTES: u64 = 2 * 1024 * 1024;

/// Syncs every file and directory below a directory, except files that are on the disk already, and pauses after each
/// file.
pub(super) fn sync_with_pauses(
    directory: &Path,
    is_synced: fn(&Path) -> bool,
    throttle: &mut Throttle<'_>,
) -> io::Result<()> {
    for file in files(directory)?.into_iter().filter(|file| !is_synced(file)) {
        File::open(directory.join(file))?.sync_all()?;
        throttle.pause();
    }
    sync_directories(directory)
}

/// Gives a file that shares its bytes with another name bytes of its own.
pub(super) fn unshare(path: &Path, throttle: &mut Throttle<'_>) -> io::Result<()> {
    if fs::metadata(path)?.nlink() < 2 {
        return Ok(());
    }
    let mut own = path.as_os_str().to_owned();
    own.push(".own");
    copy_in_parts(path, Path::new(&own), throttle)?;
    fs::rename(&own, path)
}

/// Moves a directory, or copies it when the target is on another file system.
pub(super) fn move_directory(from: &Path, to: &Path, throttle: &mut Throttle<'_>) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_directory(from, to, throttle)?;
            fs::remove_dir_all(from)
        }
        moved => moved,
    }
}

fn copy_directory(from: &Path, to: &Path, throttle: &mut Throttle<'_>) -> io::Result<()> {
    fs::create_dir(to)?;
    for file in files(from)? {
        let target = to.join(&file);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        copy_in_parts(&from.join(&file), &target, throttle)?;
    }
    Ok(())
}

/// Copies a file, and syncs it part by part, with pauses: a system that has much to write at once delays the syncs of
/// others.
fn copy_in_parts(from: &Path, to: &Path, throttle: &mut Throttle<'_>) -> io::Result<()> {
    let (mut source, mut target) = (File::open(from)?, File::create_new(to)?);
    while io::copy(&mut Read::by_ref(&mut source).take(PART_BYTES), &mut target)? > 0 {
        target.sync_data()?;
        throttle.pause();
    }
    Ok(())
}
