//! Directories outside a data directory that it has used, so that a disk that is not mounted is not taken for a new
//! one.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::durable;

/// The data directory's note about such a directory, in a file of its own: the path that was used last.
pub(crate) struct LastUsedDirectory {
    file: PathBuf,
    path: Option<PathBuf>,
}

impl LastUsedDirectory {
    /// A file that cannot be read counts as an empty note.
    pub(crate) fn of(data: &Path, name: &str) -> LastUsedDirectory {
        let file = data.join(name);
        let path = fs::read(&file).ok().map(|bytes| PathBuf::from(std::ffi::OsString::from_vec(bytes)));
        LastUsedDirectory { file, path }
    }

    /// The file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// True when this directory was used last.
    pub(crate) fn is(&self, directory: &Path) -> bool {
        self.path.as_deref() == Some(absolute(directory).as_path())
    }

    /// Notes that this directory is used.
    pub(crate) fn remember(&self, directory: &Path) -> io::Result<()> {
        if self.is(directory) {
            return Ok(());
        }
        let beside = self.file.with_extension("new");
        let _ = fs::remove_file(&beside); // One that a crash left.
        durable::write_new(&beside, absolute(directory).as_os_str().as_bytes())?;
        fs::rename(&beside, &self.file)?;
        self.file.parent().map_or(Ok(()), durable::sync_directory)
    }
}

fn absolute(directory: &Path) -> PathBuf {
    std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned())
}
