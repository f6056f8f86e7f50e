//! Where a store was archived to last, so that a disk that is not mounted is not taken for a new archive.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::checkpoint::durable;

use super::ArchiveError;

/// In the data directory: the path of the archive.
const FILE: &str = "archive-known";

/// What a data directory knows of its archive.
pub(super) struct Known {
    file: PathBuf,
    archive: Option<PathBuf>,
}

impl Known {
    /// A file that cannot be read knows nothing.
    pub(super) fn of(data: &Path) -> Known {
        let file = data.join(FILE);
        let archive = fs::read(&file).ok().map(|bytes| PathBuf::from(std::ffi::OsString::from_vec(bytes)));
        Known { file, archive }
    }

    /// Whether it was archived to this directory last.
    pub(super) fn is(&self, directory: &Path) -> bool {
        self.archive.as_deref() == Some(whole(directory).as_path())
    }

    /// Notes that it is archived to this directory.
    pub(super) fn remember(&self, directory: &Path) -> Result<(), ArchiveError> {
        if self.is(directory) {
            return Ok(());
        }
        let written = || -> io::Result<()> {
            let beside = self.file.with_extension("new");
            let _ = fs::remove_file(&beside); // One that a crash left.
            durable::write_new(&beside, whole(directory).as_os_str().as_bytes())?;
            fs::rename(&beside, &self.file)
        };
        written().map_err(ArchiveError::files("write", &self.file))
    }
}

fn whole(directory: &Path) -> PathBuf {
    std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned())
}
