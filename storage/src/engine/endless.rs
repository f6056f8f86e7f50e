//! A log with a record that RocksDB's reader would read without end, one flipped bit of its type away from a
//! good one: see [`super::log_scan::FaultAt::endless`]. Opening such a database would end in the time limit and
//! leave a spinning thread. So the log is cut before that record, and RocksDB reads the rest.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::log_scan::{self, FaultAt};
use super::manifest;
use super::refusal::FileFault;

/// The oldest log with such a record.
pub(super) struct Endless {
    log: PathBuf,
    fault: FaultAt,
    sound_bytes: u64,
    /// The logs after it: their content cannot be used without the part that is cut off.
    later: Vec<PathBuf>,
}

/// Finds the oldest such log.
pub(super) fn find(db_dir: &Path) -> Option<Endless> {
    let mut logs = manifest::logs(db_dir).into_iter();
    while let Some(log) = logs.next() {
        let Ok(scan) = log_scan::scan(&log) else { continue };
        if let Some(fault) = scan.fault.filter(|fault| fault.endless) {
            return Some(Endless { log, fault, sound_bytes: scan.sound_bytes, later: logs.collect() });
        }
    }
    None
}

impl Endless {
    pub(super) fn place(&self) -> FileFault {
        FileFault { file: self.log.clone(), offset: self.fault.offset, fault: self.fault.fault }
    }

    /// Returns true when no log follows: then cutting it is the same as a point-in-time recovery.
    pub(super) fn is_newest(&self) -> bool {
        self.later.is_empty()
    }

    /// Creates the database directory as it would be with the log cut: links to its files, and a copy of the
    /// log's sound part.
    pub(super) fn shadow(&self, directory: &Path, db_dir: &Path) -> io::Result<Shadow> {
        let shadow = Shadow(directory.join("db-survey"));
        shadow.remove()?;
        fs::create_dir(&shadow.0)?;
        for entry in fs::read_dir(db_dir)? {
            let entry = entry?;
            let (name, path) = (entry.file_name(), entry.path());
            let is_info_log = name.to_string_lossy().starts_with("LOG");
            if path != self.log && !is_info_log && name != "LOCK" {
                fs::hard_link(&path, shadow.0.join(&name))?;
            }
        }
        let name = self.log.file_name().unwrap_or_default();
        let mut copy = File::create(shadow.0.join(name))?;
        io::copy(&mut File::open(&self.log)?.take(self.sound_bytes), &mut copy)?;
        Ok(shadow)
    }

    /// Cuts the log at the end of its last sound record, and sets the later ones aside.
    pub(super) fn cut(&self) -> io::Result<()> {
        tracing::warn!(place = %self.place(), "a log is truncated after its last valid record");
        for log in &self.later {
            let mut aside = log.clone().into_os_string();
            aside.push(".given-up");
            fs::rename(log, aside)?;
        }
        let log = OpenOptions::new().write(true).open(&self.log)?;
        log.set_len(self.sound_bytes)?;
        log.sync_all()
    }
}

/// A directory that is removed when its handle is dropped.
pub(super) struct Shadow(PathBuf);

impl Shadow {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!(directory = %self.0.display(), %error, "a directory is left over and can be removed");
        }
    }
}
