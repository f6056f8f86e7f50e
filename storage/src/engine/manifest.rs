//! The files that list the files of the database: CURRENT and its MANIFEST, and the logs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::high_water::ManifestPosition;
use super::log_scan::{self, FaultAt, LogFault, LogScan};
use super::refusal::{FileFault, OpenError};

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

/// Checks CURRENT and its MANIFEST before RocksDB opens them: RocksDB treats a bad length in the last block of a
/// MANIFEST as a torn write, and drops everything after it, including the table files and logs that it lists. `known`
/// is the part that is known to have been durable.
///
/// # Errors
/// [`OpenError::Damaged`], with the place.
pub(super) fn check(db_dir: &Path, known: ManifestPosition) -> Result<(), OpenError> {
    let current = db_dir.join("CURRENT");
    let number = match current_number(db_dir) {
        Ok(Some(number)) if number >= known.number => number,
        Ok(Some(_)) => return Err(damaged(current, 0, LogFault::Text, "CURRENT names an older MANIFEST")),
        Ok(None) => return Err(damaged(current, 0, LogFault::Text, "CURRENT names no MANIFEST")),
        Err(error) => return Err(unread(current, error, "CURRENT cannot be read")),
    };
    let path = manifest_path(db_dir, number);
    let scan = match log_scan::scan(&path) {
        Ok(scan) => scan,
        Err(error) => return Err(unread(path, error, "the MANIFEST that CURRENT names cannot be read")),
    };
    let known_bytes = if number == known.number { known.byte_count } else { 0 };
    check_scan(path, &scan, known_bytes)
}

/// A file that cannot be read counts as damage, unless it belongs to another user.
fn unread(path: PathBuf, source: io::Error, reason: &str) -> OpenError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => OpenError::Files { attempt: "read", path, source },
        _ => damaged(path, 0, LogFault::FileMissing, reason),
    }
}

fn check_scan(path: PathBuf, scan: &LogScan, known_bytes: u64) -> Result<(), OpenError> {
    match scan.fault {
        Some(fault) if fault.offset >= known_bytes && is_torn_write(&fault) => {
            tracing::warn!(file = %path.display(), offset = fault.offset, "the MANIFEST ends in a torn write");
            Ok(())
        }
        Some(fault) => Err(damaged(path, fault.offset, fault.fault, "a record of the MANIFEST is damaged")),
        None if scan.sound_bytes < known_bytes => {
            Err(damaged(path, scan.sound_bytes, LogFault::End, "the MANIFEST was longer"))
        }
        None => Ok(()),
    }
}

/// Returns true when the fault can be a write that a power cut interrupted: the file ends in it.
fn is_torn_write(fault: &FaultAt) -> bool {
    let cut = match fault.fault {
        LogFault::CutOff | LogFault::Length => true,
        LogFault::Checksum
        | LogFault::UnknownType(_)
        | LogFault::OutOfOrder
        | LogFault::FileMissing
        | LogFault::Text
        | LogFault::End => false,
    };
    cut && !fault.followed && !fault.endless
}

fn damaged(file: PathBuf, offset: u64, fault: LogFault, reason: &str) -> OpenError {
    OpenError::Damaged { place: Some(FileFault { file, offset, fault }), reason: reason.to_owned() }
}

/// The first bad record of the write-ahead logs.
pub(super) fn first_log_fault(db_dir: &Path) -> Option<FileFault> {
    let fault = |path: PathBuf| {
        let fault = log_scan::scan(&path).ok()?.fault?;
        Some(FileFault { file: path, offset: fault.offset, fault: fault.fault })
    };
    logs(db_dir).into_iter().find_map(fault)
}

/// The first bad record of any log file.
pub(super) fn first_fault(db_dir: &Path) -> Option<FileFault> {
    let (file, scan) = scan_current(db_dir)?;
    let in_manifest = scan.fault.map(|fault| FileFault { file, offset: fault.offset, fault: fault.fault });
    in_manifest.or_else(|| first_log_fault(db_dir))
}

/// The end of the MANIFEST: the location when RocksDB misses an entry of it.
pub(super) fn manifest_end(db_dir: &Path) -> Option<FileFault> {
    let (file, scan) = scan_current(db_dir)?;
    Some(FileFault { file, offset: scan.sound_bytes, fault: LogFault::End })
}

fn scan_current(db_dir: &Path) -> Option<(PathBuf, LogScan)> {
    let path = manifest_path(db_dir, current_number(db_dir).ok()??);
    let scan = log_scan::scan(&path).ok()?;
    Some((path, scan))
}

/// The end of the sound part of the logs: their first bad record, or their end.
pub(super) fn log_end(db_dir: &Path) -> FileFault {
    let end = || {
        let file = logs(db_dir).pop()?;
        let offset = log_scan::scan(&file).ok()?.sound_bytes;
        Some(FileFault { file, offset, fault: LogFault::End })
    };
    let missing = || FileFault { file: db_dir.join("*.log"), offset: 0, fault: LogFault::FileMissing };
    first_log_fault(db_dir).or_else(end).unwrap_or_else(missing)
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
