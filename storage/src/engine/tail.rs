//! The end of the log of a store that was not stopped cleanly: a check for a torn end, and for the commits that it
//! loses.
//!
//! RocksDB reads a log up to its first bad record. Records of merchants after it may still be recognized: they have a
//! checksum of their own, and are searched for in the bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use till_domain::ids::MerchantId;

use crate::family::Family;
use crate::journal::record::{self, BODY_LEN_MAX};
use crate::journal::{CommitNumber, Sequence, decode_stored};
use crate::keys::JournalKey;

use super::log_scan::{self, FaultAt, LogFault};
use super::refusal::{FileFault, OpenError};
use super::stopped::{HeldDirectory, StoppedStore};
use super::{endless, manifest};

/// Bytes of the commit number and its checksum before a stored record.
const COMMIT_LEN: usize = 12;

/// The first bytes of a record: magic, format 1, type 1.
const RECORD_BEGINS: [u8; 4] = [b'T', b'L', 1, 1];

/// A record after the end of the usable part of the log.
#[derive(Clone, PartialEq, Eq)]
pub struct LostRecord {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The position in the merchant's log.
    pub sequence: Sequence,
    /// The commit that wrote it, when its number can still be read.
    pub commit: Option<CommitNumber>,
    /// The record after the commit number, as it would be stored.
    pub value: Vec<u8>,
}

/// Shows no body: its content must not appear in a log.
impl std::fmt::Debug for LostRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LostRecord(record {} of {}, commit {:?})", self.sequence, self.merchant_id, self.commit)
    }
}

/// The end of a store's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// The last usable commit.
    pub last: CommitNumber,
    /// The last acknowledged commit, as far as known.
    pub acknowledged: CommitNumber,
    /// The location at which the log is torn; none when it ends after a valid record.
    pub torn: Option<FileFault>,
    /// Bytes after that location.
    pub torn_bytes: u64,
    /// Records that are recognized in those bytes.
    pub lost: Vec<LostRecord>,
}

impl Tail {
    /// Returns true when the log is not torn and no commit is missing.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.torn.is_none() && !self.misses_acknowledged()
    }

    /// Returns true when acknowledged commits are missing.
    #[must_use]
    pub const fn misses_acknowledged(&self) -> bool {
        self.last.0 < self.acknowledged.0
    }
}

/// The reason for which the end of a log is unknown, or may not be dropped.
#[derive(Debug, thiserror::Error)]
pub enum TailError {
    /// Valid records follow the damage: it is not a torn write, and the records would be dropped with it.
    #[error("a log is damaged in the middle ({place}), good records follow: restore a checkpoint")]
    Middle {
        /// The damage.
        place: FileFault,
    },
    /// The store does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A file could not be read.
    #[error("could not read {path}", path = path.display())]
    Files {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl Tail {
    /// Examines the end of the log of a held directory. It changes nothing, except that it creates and removes a
    /// directory `db-survey` when RocksDB would read a log without end.
    ///
    /// # Errors
    /// [`TailError`]: the damage is not at the end, or the store does not open.
    pub fn survey(held: &HeldDirectory) -> Result<Tail, TailError> {
        let db_dir = held.options().directory.join("db");
        let torn = torn(&db_dir)?;
        let store = open(held, &db_dir)?;
        let last = store.last_commit().map_err(|error| unreadable(error.to_string()))?;
        let mut tail = Tail { last, acknowledged: held.acknowledged(), torn: None, torn_bytes: 0, lost: Vec::new() };
        if let Some((file, sound_bytes, fault)) = torn {
            let bytes = fs::read(&file).map_err(failed(&file))?;
            let behind = usize::try_from(sound_bytes).ok().and_then(|from| bytes.get(from..)).unwrap_or_default();
            tail.torn_bytes = u64::try_from(behind.len()).unwrap_or(u64::MAX);
            tail.lost = lost(&bytes, bytes.len() - behind.len());
            tail.torn = Some(FileFault { file, offset: fault.offset, fault: fault.fault });
        } else if tail.misses_acknowledged() {
            tail.torn = Some(cut_off(&db_dir)?);
        }
        tail.lost.retain(|record| !is_there(&store, record));
        Ok(tail)
    }
}

impl Tail {
    /// The location at which the newest log is torn, if it is, without opening the store.
    ///
    /// # Errors
    /// [`TailError::Middle`]: the damage is not at the end.
    pub fn survey_logs(held: &HeldDirectory) -> Result<Option<FileFault>, TailError> {
        let torn = torn(&held.options().directory.join("db"))?;
        Ok(torn.map(|(file, _, fault)| FileFault { file, offset: fault.offset, fault: fault.fault }))
    }

    /// The store with its log cut, for reading.
    ///
    /// # Errors
    /// [`TailError`]: the damage is not at the end, or the store does not open.
    pub fn open(held: &HeldDirectory) -> Result<StoppedStore, TailError> {
        let db_dir = held.options().directory.join("db");
        torn(&db_dir)?;
        open(held, &db_dir)
    }
}

/// The location at which the newest log is torn. A fault in an older log, or one that valid records follow, is not a
/// torn write.
fn torn(db_dir: &Path) -> Result<Option<(PathBuf, u64, FaultAt)>, TailError> {
    let logs = manifest::logs(db_dir);
    for (number, log) in logs.iter().enumerate() {
        let scan = log_scan::scan(log).map_err(failed(log))?;
        let Some(fault) = scan.fault else { continue };
        let is_newest = number + 1 == logs.len();
        if fault.followed || !is_newest {
            let place = FileFault { file: log.clone(), offset: fault.offset, fault: fault.fault };
            return Err(TailError::Middle { place });
        }
        return Ok(Some((log.clone(), scan.sound_bytes, fault)));
    }
    Ok(None)
}

/// The store with its log cut.
fn open(held: &HeldDirectory, db_dir: &Path) -> Result<StoppedStore, TailError> {
    let Some(endless) = endless::find(db_dir) else { return Ok(held.open(db_dir, &Family::ALL)?) };
    let shadow = endless.shadow(&held.options().directory, db_dir).map_err(failed(db_dir))?;
    Ok(held.open(shadow.path(), &Family::ALL)?)
}

/// The location when commits are missing after the last valid record: the file was cut off there.
fn cut_off(db_dir: &Path) -> Result<FileFault, TailError> {
    let place = manifest::log_end(db_dir);
    match place.fault {
        LogFault::FileMissing => Err(unreadable(format!("no log is there that could end early ({place})"))),
        LogFault::CutOff
        | LogFault::Length
        | LogFault::Checksum
        | LogFault::UnknownType(_)
        | LogFault::OutOfOrder
        | LogFault::Text
        | LogFault::End => Ok(place),
    }
}

fn unreadable(reason: String) -> TailError {
    TailError::Open(OpenError::Damaged { place: None, reason })
}

fn failed(path: &Path) -> impl Fn(io::Error) -> TailError {
    move |source| TailError::Files { path: path.to_owned(), source }
}

fn is_there(store: &StoppedStore, lost: &LostRecord) -> bool {
    use crate::rows::RowReader;
    let key = JournalKey { merchant_id: lost.merchant_id, sequence: lost.sequence }.encode();
    store.get(Family::Journal, &key).is_ok_and(|value| value.is_some())
}

/// The records that are recognized in the bytes of a log after a location, in their order.
fn lost(log: &[u8], from: usize) -> Vec<LostRecord> {
    let payload = log_scan::payload_after(log, from);
    let mut lost = Vec::new();
    let mut at = 0;
    while let Some(found) = find(&payload[at..], RECORD_BEGINS) {
        let begins = at + found;
        match recognized(&payload, begins) {
            Some((record, ends)) => {
                lost.push(record);
                at = ends;
            }
            None => at = begins + 1,
        }
    }
    lost
}

fn find(bytes: &[u8], wanted: [u8; 4]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The record that begins at a location, when it is whole, and its end.
fn recognized(bytes: &[u8], begins: usize) -> Option<(LostRecord, usize)> {
    let length = u32::from_be_bytes(*bytes.get(begins + 4..)?.first_chunk()?);
    let length = usize::try_from(length).ok().filter(|length| *length <= BODY_LEN_MAX)?;
    let ends = begins + record::HEADER_LEN + length;
    let header = record::decode(bytes.get(begins..ends)?).ok()?.header;
    let value = bytes[begins.checked_sub(COMMIT_LEN)?..ends].to_vec();
    let (merchant_id, sequence) = (header.merchant_id, header.sequence);
    let key = JournalKey { merchant_id, sequence }.encode();
    let commit = decode_stored(merchant_id, &key, &value).ok().map(|(_, stored)| stored.commit);
    Some((LostRecord { merchant_id, sequence, commit, value }, ends))
}
