//! The files that list the files of the database: CURRENT and its MANIFEST, and the logs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::high_water::ManifestPosition;
use super::record_headers::dropped_end;
use super::refusal::OpenError;

const MANIFEST_PREFIX: &str = "MANIFEST-";

/// Returns true when the directory holds a file of a database.
pub(super) fn is_database(db_dir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(db_dir) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name == "CURRENT" || name.starts_with(MANIFEST_PREFIX) || name.ends_with(".log") || name.ends_with(".sst")
    })
}

/// The number and the length of the MANIFEST that CURRENT names.
pub(super) fn position(db_dir: &Path) -> io::Result<ManifestPosition> {
    let number = current_number(db_dir)?.ok_or_else(|| io::Error::other("CURRENT names no MANIFEST"))?;
    let byte_count = fs::metadata(manifest_path(db_dir, number))?.len();
    Ok(ManifestPosition { number, byte_count })
}

/// The same position, durable: a MANIFEST that has changed since it was `known` is synced here. RocksDB syncs it, too,
/// but at an unknown time, and the position may be claimed only after the bytes are on the disk.
///
/// # Errors
/// The error of the system. A MANIFEST that is being replaced at this moment stays as it is known.
pub(super) fn synced_position(db_dir: &Path, known: ManifestPosition) -> io::Result<ManifestPosition> {
    let Ok(seen) = position(db_dir) else { return Ok(known) };
    if seen == known {
        return Ok(known);
    }
    let Ok(manifest) = fs::File::open(manifest_path(db_dir, seen.number)) else { return Ok(known) };
    manifest.sync_all()?;
    // A new MANIFEST counts once CURRENT names it, which is a rename.
    fs::File::open(db_dir)?.sync_all()?;
    Ok(seen)
}

/// Checks that CURRENT names a MANIFEST of which RocksDB drops no more than a torn write. `known` is the part that is
/// known to have been durable.
///
/// # Errors
/// [`OpenError::Damaged`], with the file.
pub(super) fn check(db_dir: &Path, known: ManifestPosition) -> Result<(), OpenError> {
    let current = db_dir.join("CURRENT");
    let named = current_number(db_dir).map_err(|error| unread(&current, error, "CURRENT cannot be read"))?;
    let number = named.ok_or_else(|| damaged(&current, "CURRENT names no MANIFEST"))?;
    if number < known.number {
        return Err(damaged(&current, "CURRENT names an older MANIFEST"));
    }
    let path = manifest_path(db_dir, number);
    let cannot_be_read = |error| unread(&path, error, "the MANIFEST that CURRENT names cannot be read");
    let manifest = fs::read(&path).map_err(cannot_be_read)?;
    let known_bytes = if number == known.number { known.byte_count } else { 0 };
    if (manifest.len() as u64) < known_bytes {
        return Err(damaged(&path, "the MANIFEST was longer"));
    }
    match dropped_end(&manifest, known_bytes) {
        Some(at) => Err(damaged(&path, &format!("the record at offset {at} of the MANIFEST is damaged"))),
        None => Ok(()),
    }
}

/// A file that cannot be read counts as damage, unless it belongs to another user.
fn unread(path: &Path, source: io::Error, what: &str) -> OpenError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => OpenError::Files { attempt: "read", path: path.to_owned(), source },
        _ => damaged(path, what),
    }
}

fn damaged(path: &Path, what: &str) -> OpenError {
    OpenError::Damaged { reason: format!("{what} ({})", path.display()) }
}

/// The MANIFEST that CURRENT names.
pub(super) fn current(db_dir: &Path) -> io::Result<PathBuf> {
    let position = position(db_dir)?;
    Ok(manifest_path(db_dir, position.number))
}

/// Returns true when a log is not empty: a clean stop leaves empty logs, any other end of the process does not.
pub(super) fn has_log_records(db_dir: &Path) -> bool {
    logs(db_dir).iter().any(|log| log.metadata().is_ok_and(|log| log.len() > 0))
}

/// The write-ahead logs, oldest first; none when the directory cannot be read.
pub(super) fn logs(db_dir: &Path) -> Vec<PathBuf> {
    readable_logs(db_dir).unwrap_or_default()
}

/// The same; fails when the directory cannot be read.
pub(super) fn readable_logs(db_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let numbered = fs::read_dir(db_dir)?.flatten().filter_map(|entry| {
        let number = entry.file_name().to_str()?.strip_suffix(".log")?.parse::<u64>().ok()?;
        Some((number, entry.path()))
    });
    let mut logs: Vec<(u64, PathBuf)> = numbered.collect();
    logs.sort();
    Ok(logs.into_iter().map(|(_, path)| path).collect())
}

fn current_number(db_dir: &Path) -> io::Result<Option<u32>> {
    let text = fs::read(db_dir.join("CURRENT"))?;
    let text = std::str::from_utf8(&text).ok();
    let number = text.and_then(|text| text.strip_prefix(MANIFEST_PREFIX)?.strip_suffix('\n')?.parse().ok());
    Ok(number)
}

fn manifest_path(db_dir: &Path, number: u32) -> PathBuf {
    db_dir.join(format!("{MANIFEST_PREFIX}{number:06}"))
}
