//! The thread that looks whether the files that are written to are still where the next start looks for them.
//!
//! A write-ahead log that somebody moves away or deletes goes on to take writes and syncs without an error: what it
//! takes is acknowledged, and missing at the next start. RocksDB never looks at the name again. It begins a log with a
//! greater number before it removes an older one, so that the newest log of a directory is there for as long as the
//! database is open, keeps its inode, and only grows.
//!
//! The thread also notes the damage that RocksDB's own background work has met: nothing else would tell of it before
//! the next write.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::local::Engine;
use super::manifest;
use crate::turns::{StopSignal, Turns};

/// The time between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The time until a fault is looked for again before it counts: a list of a directory is not of one moment.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The end of the process that is to come, with its reason: the file that is gone, and what to do before the next
/// start.
pub type OnFileGone = Box<dyn Fn(String) + Send>;

/// The running thread. Dropping it ends it.
pub struct FileWatch {
    _thread: Turns,
}

impl FileWatch {
    /// Starts the thread. It looks at the logs of the store and of the databases in the directories `beside`, and at
    /// the high-water mark. When one of them is gone, the thread writes the store's rows in memory to tables, so
    /// that nothing is lost with the log, then calls `on_gone` once, and ends.
    ///
    /// # Errors
    /// The system's, when it gives no thread.
    pub fn start(engine: Arc<Engine>, beside: Vec<PathBuf>, on_gone: OnFileGone) -> io::Result<FileWatch> {
        let mut files = WatchedFiles::of(&engine, beside);
        let watch = move |stop: &StopSignal| {
            while !stop.wait(LOOK_EVERY) {
                engine.note_background_damage();
                if let Some(gone) = files.first_gone() {
                    on_gone(format!("{}; {}", gone.fault, gone.remedy(engine.write_out())));
                    return;
                }
            }
        };
        Ok(FileWatch { _thread: Turns::start("files", watch)? })
    }
}

/// A file that is not where it was.
struct Gone {
    fault: String,
    is_log_of_the_store: bool,
}

impl Gone {
    /// The operator's remedy before the next start.
    fn remedy(&self, written: Result<(), String>) -> String {
        match written {
            Ok(()) if self.is_log_of_the_store => "everything acknowledged was written to tables".to_owned(),
            Ok(()) => "put it back before the next start".to_owned(),
            Err(error) => format!("put it back before the next start (writing tables failed: {error})"),
        }
    }
}

/// The files that are looked at.
struct WatchedFiles {
    log: WatchedLog,
    logs_beside: Vec<WatchedLog>,
    mark: PathBuf,
    mark_inode: Option<u64>,
}

impl WatchedFiles {
    fn of(engine: &Engine, beside: Vec<PathBuf>) -> WatchedFiles {
        let mark = engine.mark().file().to_owned();
        WatchedFiles {
            log: WatchedLog::of(engine.mark().database_directory().to_owned()),
            logs_beside: beside.into_iter().map(WatchedLog::of).collect(),
            mark_inode: inode(&mark),
            mark,
        }
    }

    /// The first file that is not where it was.
    fn first_gone(&mut self) -> Option<Gone> {
        self.look()?;
        thread::sleep(LOOK_AGAIN_AFTER);
        self.look()
    }

    fn look(&mut self) -> Option<Gone> {
        if let Some(fault) = self.log.look() {
            return Some(Gone { fault, is_log_of_the_store: true });
        }
        let mark = (inode(&self.mark) != self.mark_inode).then(|| gone("the high-water mark", &self.mark));
        let fault = mark.or_else(|| self.logs_beside.iter_mut().find_map(WatchedLog::look))?;
        Some(Gone { fault, is_log_of_the_store: false })
    }
}

fn inode(file: &Path) -> Option<u64> {
    fs::metadata(file).ok().map(|metadata| metadata.ino())
}

fn gone(what: &str, file: &Path) -> String {
    format!("{what} {} was moved away, deleted or replaced while it was written to", file.display())
}

/// The newest log of a database, as it was last seen.
struct WatchedLog {
    directory: PathBuf,
    seen: Option<SeenLog>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SeenLog {
    file: PathBuf,
    number: u64,
    inode: u64,
    byte_count: u64,
}

impl WatchedLog {
    fn of(directory: PathBuf) -> WatchedLog {
        WatchedLog { seen: SeenLog::newest(&directory).ok().flatten(), directory }
    }

    /// The fault of the log that was the newest one, if it should still be there.
    fn look(&mut self) -> Option<String> {
        // A directory that cannot be listed, for want of file descriptors, is not a log that is gone.
        let newest = SeenLog::newest(&self.directory).ok()?;
        let fault = self.seen.as_ref().and_then(|before| before.fault(newest.as_ref()));
        if fault.is_none() {
            self.seen = newest;
        }
        fault
    }
}

impl SeenLog {
    /// The newest log of a directory. Fails when the directory is there and cannot be listed.
    fn newest(directory: &Path) -> io::Result<Option<SeenLog>> {
        let logs = match manifest::readable_logs(directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            logs => logs.unwrap_or_default(),
        };
        Ok(logs.last().and_then(|file| SeenLog::of(file)))
    }

    fn of(file: &Path) -> Option<SeenLog> {
        let number = file.file_stem()?.to_str()?.parse().ok()?;
        let metadata = fs::metadata(file).ok()?;
        Some(SeenLog { file: file.to_owned(), number, inode: metadata.ino(), byte_count: metadata.len() })
    }

    fn fault(&self, newest: Option<&SeenLog>) -> Option<String> {
        let newest = newest.filter(|newest| newest.number >= self.number);
        match newest {
            Some(newest) if newest.number > self.number => None,
            Some(newest) if newest.inode == self.inode && newest.byte_count >= self.byte_count => None,
            Some(newest) if newest.inode == self.inode => {
                Some(format!("the write-ahead log {} was cut short while it was written to", self.file.display()))
            }
            Some(_) | None => Some(gone("the write-ahead log", &self.file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(number: u64, inode: u64, byte_count: u64) -> SeenLog {
        SeenLog { file: PathBuf::from(format!("/data/db/{number:06}.log")), number, inode, byte_count }
    }

    #[test]
    fn a_log_that_grows_and_a_later_log_are_no_faults() {
        let before = log(12, 7, 100);
        for newest in [log(12, 7, 100), log(12, 7, 200), log(13, 7, 0), log(15, 9, 0)] {
            assert_eq!(before.fault(Some(&newest)), None, "{newest:?}");
        }
    }

    #[test]
    fn a_log_that_is_missing_replaced_or_cut_short_is_named() {
        let before = log(12, 7, 100);
        for newest in [None, Some(log(11, 5, 900)), Some(log(12, 8, 100))] {
            let fault = before.fault(newest.as_ref()).expect("it is gone");
            assert!(fault.starts_with("the write-ahead log /data/db/000012.log was moved away"), "{fault}");
        }
        let fault = before.fault(Some(&log(12, 7, 99))).expect("it is shorter");
        assert_eq!(fault, "the write-ahead log /data/db/000012.log was cut short while it was written to");
    }

    #[test]
    fn the_newest_log_has_the_greatest_number() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let newest = || SeenLog::newest(directory.path()).expect("a directory can be listed");
        assert_eq!(newest(), None);
        for (name, bytes) in [("000009.log", "nine"), ("000010.log", "ten"), ("LOG", ""), ("000011.sst", "")] {
            fs::write(directory.path().join(name), bytes).expect("writable");
        }
        let newest = newest().expect("there are two");
        assert_eq!((newest.number, newest.byte_count), (10, 3));
    }

    #[test]
    fn a_directory_that_cannot_be_listed_is_an_error() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        assert!(SeenLog::newest(&directory.path().join("gone")).is_ok_and(|newest| newest.is_none()));
        let file = directory.path().join("file");
        fs::write(&file, "").expect("writable");
        assert!(SeenLog::newest(&file).is_err(), "it cannot be listed");
    }
}
