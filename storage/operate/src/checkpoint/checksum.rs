//! Checksums of files: BLAKE3-256 of their bytes.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::manifest::ManifestEntry;

/// Bytes read at once.
const BUFFER_BYTES: usize = 1024 * 1024;

/// The fault of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileWrong {
    /// The manifest lists it, and it is not there.
    Missing,
    /// It is shorter or longer.
    Length {
        /// The length in the manifest.
        expected: u64,
        /// The actual length.
        found: u64,
    },
    /// Its bytes are not those that were written.
    Checksum,
    /// The manifest does not list it.
    Unlisted,
    /// The system refuses to read it.
    Unreadable(String),
}

/// A file with a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFault {
    /// The file, from the checkpoint's directory.
    pub path: PathBuf,
    /// The fault.
    pub wrong: FileWrong,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.wrong {
            FileWrong::Missing => write!(f, "is missing"),
            FileWrong::Length { expected, found } => write!(f, "has {found} bytes and had {expected}"),
            FileWrong::Checksum => write!(f, "its bytes are not those that were written"),
            FileWrong::Unlisted => write!(f, "was not there"),
            FileWrong::Unreadable(reason) => write!(f, "cannot be read: {reason}"),
        }
    }
}

/// The length and checksum of a reader's bytes, all of which are written to `sink` as well.
pub(super) fn of(mut source: impl Read, sink: &mut dyn Write) -> io::Result<(u64, blake3::Hash)> {
    let (mut buffer, mut hasher, mut bytes) = (vec![0; BUFFER_BYTES], blake3::Hasher::new(), 0_u64);
    loop {
        let count = match source.read(&mut buffer) {
            Ok(0) => return Ok((bytes, hasher.finalize())),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..count]);
        sink.write_all(&buffer[..count])?;
        bytes = bytes.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
    }
}

/// Checks a file, and returns its fault if it has one.
pub(super) fn fault(directory: &Path, entry: &ManifestEntry) -> Option<FileFault> {
    let wrong = match File::open(directory.join(&entry.path)) {
        Ok(file) => match of(file, &mut io::sink()) {
            Ok((found, _)) if found != entry.bytes => FileWrong::Length { expected: entry.bytes, found },
            Ok((_, hash)) if hash != entry.hash => FileWrong::Checksum,
            Ok(_) => return None,
            Err(error) => FileWrong::Unreadable(error.to_string()),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => FileWrong::Missing,
        Err(error) => FileWrong::Unreadable(error.to_string()),
    };
    Some(FileFault { path: entry.path.clone(), wrong })
}
