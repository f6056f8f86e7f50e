//! Adds to an archive: groups of commits, each with one sync, to the open segment.
//!
//! Synced bytes are never changed. After a failure the segment is cut back to its synced end before anything else is
//! written: the bytes of a failed write or sync are not relied upon, and never synced again. A closed segment has only
//! commits that the store has for sure.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use till_storage::engine::{Engine, StoreIdentity};
use till_storage::journal::layout::read_record;
use till_storage::journal::{CommitNumber, record};

use crate::durable;
use crate::time::now_ms;

use super::ArchiveError;
use super::chain::{SegmentChain, SegmentInfo, SegmentState, name};
use super::commit::{ArchivedCommit, GroupPosition};
use super::queue::was_any_given_up;
use super::reading::{SegmentItem, SegmentReader, ValidPrefix};
use super::segment::{End, Header, encode_commit};

/// Lock file of the server that writes to the archive.
const LOCK_FILE: &str = "archive.lock";

/// Limit of the files with bytes cut off a segment at one offset: each is from a start after a kill with nothing
/// archived in between.
const CUTS_MAX: u32 = 10_000;

/// The end of the chain without its open segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClosedEnd {
    number: u64,
    last: CommitNumber,
    checksum: [u8; 32],
}

/// The open segment.
struct OpenSegment {
    file: File,
    path: PathBuf,
    number: u64,
    /// The part that is synced.
    synced: ValidPrefix,
    opened: Instant,
}

impl OpenSegment {
    /// A segment that was moved away or deleted takes writes and syncs without an error.
    fn check_in_place(&self) -> Result<(), ArchiveError> {
        let file = |metadata: Metadata| (metadata.dev(), metadata.ino());
        let place = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(file(found.map_err(ArchiveError::files("look at", &self.path))?)),
        };
        let written = self.file.metadata().map_err(ArchiveError::files("look at", &self.path))?;
        if place == Some(file(written)) { Ok(()) } else { Err(ArchiveError::Replaced { file: self.path.clone() }) }
    }
}

/// The facts about the store that the writer needs.
pub(super) struct StoreSide<'a> {
    pub(super) engine: &'a Engine,
    /// Its last commit.
    pub(super) last: CommitNumber,
    /// The commit after which a new archive begins.
    pub(super) base: CommitNumber,
    /// True when the store was archived to this directory before.
    pub(super) was_there: bool,
}

/// Writes to one archive, under the archive's lock.
pub(super) struct Writer {
    directory: PathBuf,
    store: StoreIdentity,
    segment_bytes: u64,
    closed: ClosedEnd,
    current: Option<OpenSegment>,
    needs_repair: bool,
    segments_closed: u64,
    _lock: File,
}

impl Writer {
    /// Opens an archive that the store can continue, or begins one.
    pub(super) fn open(directory: &Path, segment_bytes: u64, side: &StoreSide<'_>) -> Result<Writer, ArchiveError> {
        if side.was_there {
            refuse_empty_directory(directory)?;
        }
        durable::make_directory(directory).map_err(ArchiveError::files("create", directory))?;
        let lock = lock(directory)?;
        let chain = SegmentChain::read(directory)?;
        if let Some(found) = chain.store.filter(|found| *found != side.engine.identity()) {
            return Err(ArchiveError::OtherStore {
                archive: directory.to_owned(),
                found,
                store: side.engine.identity(),
            });
        }
        let mut writer = Writer {
            directory: directory.to_owned(),
            store: side.engine.identity(),
            segment_bytes,
            closed: ClosedEnd { number: 0, last: side.base, checksum: [0; 32] },
            current: None,
            needs_repair: false,
            segments_closed: 0,
            _lock: lock,
        };
        writer.continue_chain(&chain, side)?;
        if writer.current.is_none() {
            writer.begin(writer.closed.last)?;
        }
        Ok(writer)
    }

    /// The last commit in the chain, or the one after which the chain begins. Everything up to it is on the disk.
    pub(super) fn last(&self) -> CommitNumber {
        self.current.as_ref().map_or(self.closed.last, |current| current.synced.last)
    }

    /// The number of segments that it has closed.
    pub(super) fn segments_closed(&self) -> u64 {
        self.segments_closed
    }

    /// Adds commits that follow the last one, synced.
    pub(super) fn write(&mut self, commits: &mut [ArchivedCommit]) -> Result<(), ArchiveError> {
        self.repair()?;
        let is_full = |synced: &ValidPrefix| synced.commits > 0 && synced.offset >= self.segment_bytes;
        if self.current.as_ref().is_some_and(|current| is_full(&current.synced)) {
            self.close()?;
        }
        if self.current.is_none() {
            self.begin(self.closed.last)?;
        }
        // After the sync: what was written to a file that is not there any more is archived nowhere.
        let written = self.add(commits);
        if let Err(error) = &written {
            self.needs_repair = true;
            // At once, while it may still be possible: the callers that wait are told that nothing was done.
            if !matches!(error, ArchiveError::Replaced { .. }) {
                drop(self.repair());
            }
        }
        written
    }

    /// Refuses to go on with a segment that is not where a start would look for it.
    pub(super) fn check_in_place(&self) -> Result<(), ArchiveError> {
        self.current.as_ref().map_or(Ok(()), OpenSegment::check_in_place)
    }

    /// Leaves out commits that the store cannot give any more: the next segment begins after `base`.
    pub(super) fn leave_gap(&mut self, base: CommitNumber) -> Result<(), ArchiveError> {
        self.repair()?;
        match &self.current {
            Some(current) if current.synced.commits > 0 => self.close()?,
            Some(_) => self.current = None, // Nothing is in it: it is begun again.
            None => {}
        }
        self.begin(base)
    }

    /// Closes the open segment when something is in it, it is old enough, and the store has all of it.
    pub(super) fn close_if_older(&mut self, age: Duration, stored: CommitNumber) -> Result<(), ArchiveError> {
        let is_due = |OpenSegment { synced, opened, .. }: &OpenSegment| {
            synced.commits > 0 && synced.last <= stored && opened.elapsed() >= age
        };
        if !self.current.as_ref().is_some_and(is_due) {
            return Ok(());
        }
        self.repair()?;
        self.close()?;
        self.begin(self.closed.last)
    }

    /// Cuts off the bytes that a failed write left after the synced end.
    pub(super) fn repair(&mut self) -> Result<(), ArchiveError> {
        if !self.needs_repair {
            return Ok(());
        }
        if let Some(current) = &mut self.current {
            current.file = cut(&current.path, current.synced.offset)?;
        }
        self.needs_repair = false;
        Ok(())
    }

    fn add(&mut self, commits: &mut [ArchivedCommit]) -> Result<(), ArchiveError> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let size = u32::try_from(commits.len()).expect("a group has some thousands of commits at most");
        let (mut last, mut bytes, mut body) = (current.synced.last, Vec::new(), Vec::new());
        for (index, commit) in (0..size).zip(commits.iter_mut()) {
            commit.before = last;
            commit.position = GroupPosition { group: current.synced.group + 1, index, size };
            last = commit.commit;
            encode_commit(commit, &mut body, &mut bytes);
        }
        let written = current.file.write_all(&bytes).and_then(|()| current.file.sync_data());
        written.map_err(ArchiveError::files("write to", &current.path))?;
        current.check_in_place()?;
        current.synced.hasher.update(&bytes);
        current.synced.offset += bytes.len() as u64;
        current.synced.commits += u64::from(size);
        current.synced.group += 1;
        current.synced.last = last;
        Ok(())
    }

    fn close(&mut self) -> Result<(), ArchiveError> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let checksum = *current.synced.hasher.finalize().as_bytes();
        let end = End { last: current.synced.last, commits: current.synced.commits, checksum };
        let closed_path = self.directory.join(name(current.number, false));
        let ended = current.file.write_all(&end.encode()).and_then(|()| current.file.sync_all());
        let renamed = ended.and_then(|()| fs::rename(&current.path, &closed_path));
        if let Err(source) = renamed {
            self.needs_repair = true;
            return Err(ArchiveError::files("close", &current.path)(source));
        }
        self.closed = ClosedEnd { number: current.number, last: end.last, checksum };
        self.current = None;
        self.segments_closed += 1;
        durable::sync_directory(&self.directory).map_err(ArchiveError::files("sync", &self.directory))
    }

    /// Opens the next segment. A file that has its name already holds nothing that counts.
    fn begin(&mut self, base: CommitNumber) -> Result<(), ArchiveError> {
        let number = self.closed.number + 1;
        let path = self.directory.join(name(number, true));
        let header = Header { store: self.store, number, base, before: self.closed.checksum, opened_at_ms: now_ms() };
        let bytes = header.encode();
        let made = || {
            let mut file = File::create(&path)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            durable::sync_directory(&self.directory)?;
            Ok(file)
        };
        let file = made().map_err(ArchiveError::files("begin", &path))?;
        let (synced, opened) = (ValidPrefix::of_header(&bytes, base), Instant::now());
        self.current = Some(OpenSegment { file, path, number, synced, opened });
        self.needs_repair = false;
        Ok(())
    }

    /// Continues the chain at its end.
    fn continue_chain(&mut self, chain: &SegmentChain, side: &StoreSide<'_>) -> Result<(), ArchiveError> {
        let Some((last, earlier)) = chain.segments.split_last() else { return Ok(()) };
        if let Some(SegmentState::Closed { last: commit, .. }) = earlier.last().map(|segment| segment.state) {
            self.check_not_ahead(commit, side)?;
        }
        match last.state {
            SegmentState::Closed { last: commit, .. } => {
                self.check_not_ahead(commit, side)?;
                self.check_newest(None, &chain.segments, side)?;
                self.finish_closing(last)
            }
            SegmentState::Open => {
                if let Some(before) = earlier.last() {
                    self.remember_closed(before);
                }
                self.continue_open_segment(last, earlier, side)
            }
        }
    }

    fn check_not_ahead(&self, archived: CommitNumber, side: &StoreSide<'_>) -> Result<(), ArchiveError> {
        match archived > side.last {
            true => Err(ArchiveError::Ahead { archive: self.directory.clone(), archived, last: side.last }),
            false => Ok(()),
        }
    }

    fn remember_closed(&mut self, segment: &SegmentInfo) {
        if let (SegmentState::Closed { last, .. }, Some(checksum)) = (segment.state, segment.checksum) {
            self.closed = ClosedEnd { number: segment.number, last, checksum };
        }
    }

    /// Closes a segment that has its end entry, if a crash came before it was renamed.
    fn finish_closing(&mut self, segment: &SegmentInfo) -> Result<(), ArchiveError> {
        let closed_path = self.directory.join(name(segment.number, false));
        if segment.path != closed_path {
            let file = File::open(&segment.path).map_err(ArchiveError::files("open", &segment.path))?;
            self.sync_found(&file, &segment.path)?;
            fs::rename(&segment.path, &closed_path).map_err(ArchiveError::files("rename", &segment.path))?;
        }
        self.remember_closed(segment);
        Ok(())
    }

    fn continue_open_segment(
        &mut self,
        segment: &SegmentInfo,
        earlier: &[SegmentInfo],
        side: &StoreSide<'_>,
    ) -> Result<(), ArchiveError> {
        let mut reader = SegmentReader::open(segment)?;
        let mut scanned = ScannedSegment { valid: reader.valid().clone(), newest: None, last_group: None };
        let torn = loop {
            match reader.next()? {
                SegmentItem::Ended { torn } => break torn,
                SegmentItem::Commit(commit) if commit.commit <= side.last => scanned.add(&reader, commit),
                // It was archived before it was written, and the write never happened: nobody was told of it.
                SegmentItem::Commit(commit) if commit.stored == side.last => {}
                SegmentItem::Commit(commit) => return self.check_not_ahead(commit.commit, side),
            }
        };
        let valid = self.agreed_part(scanned, earlier, side)?;
        if segment.bytes > valid.offset {
            save_cut_bytes(&segment.path, valid.offset, torn)?;
        }
        let (path, opened) = (segment.path.clone(), opened_at(segment.opened_at_ms));
        let file = cut(&path, valid.offset)?;
        self.sync_found(&file, &path)?;
        self.current = Some(OpenSegment { file, path, number: segment.number, synced: valid, opened });
        Ok(())
    }

    /// Syncs a file that was found: bytes of a killed server may be readable and not yet on the disk. They count as
    /// archived from now on.
    fn sync_found(&self, file: &File, path: &Path) -> Result<(), ArchiveError> {
        file.sync_all().map_err(ArchiveError::files("sync", path))?;
        durable::sync_directory(&self.directory).map_err(ArchiveError::files("sync", &self.directory))
    }

    /// The part of the open segment that the store has. That is all of it, or all but the last group: the group was
    /// archived before it was written, the write never happened, nobody was told of it, and the store went on without
    /// the archive.
    fn agreed_part(
        &self,
        scanned: ScannedSegment,
        earlier: &[SegmentInfo],
        side: &StoreSide<'_>,
    ) -> Result<ValidPrefix, ArchiveError> {
        let ScannedSegment { valid, newest, last_group } = scanned;
        match (self.check_newest(newest.as_ref(), earlier, side), last_group) {
            (Err(ArchiveError::OtherHistory { .. }), Some(group))
                if group.stored == group.valid.last
                    && !was_any_given_up(side.engine, group.valid.last, valid.last)? =>
            {
                self.check_newest(group.newest.as_ref(), earlier, side)?;
                Ok(group.valid)
            }
            (checked, _) => checked.map(|()| valid),
        }
    }

    /// Checks that the store has the newest commit, or else the newest one of these segments. A commit without records
    /// proves nothing: a store that lost it looks the same.
    fn check_newest(
        &self,
        newest: Option<&ArchivedCommit>,
        earlier: &[SegmentInfo],
        side: &StoreSide<'_>,
    ) -> Result<(), ArchiveError> {
        if let Some(commit) = newest {
            return self.check_same(commit, side);
        }
        for segment in earlier.iter().rev() {
            if let Some(commit) = newest_of(segment)? {
                return self.check_same(&commit, side);
            }
        }
        Ok(())
    }

    fn check_same(&self, commit: &ArchivedCommit, side: &StoreSide<'_>) -> Result<(), ArchiveError> {
        match has(side.engine, commit)? {
            true => Ok(()),
            false => Err(ArchiveError::OtherHistory { archive: self.directory.clone(), commit: commit.commit }),
        }
    }
}

/// True when the store has exactly this commit.
fn has(engine: &Engine, commit: &ArchivedCommit) -> Result<bool, ArchiveError> {
    for bytes in &commit.records {
        let Ok(record) = record::decode(bytes) else { return Ok(false) };
        let (merchant_id, sequence) = (record.header.merchant_id, record.header.sequence);
        let stored = read_record(engine, merchant_id, sequence)?;
        if stored.is_none_or(|stored| (stored.commit, &stored.bytes) != (commit.commit, bytes)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The newest commit of a segment that has records.
fn newest_of(segment: &SegmentInfo) -> Result<Option<ArchivedCommit>, ArchiveError> {
    let mut newest = None;
    SegmentReader::open(segment)?.each(&mut |commit| {
        if !commit.records.is_empty() {
            newest = Some(commit);
        }
    })?;
    Ok(newest)
}

/// The part of an open segment that was read, up to the store's last commit.
struct ScannedSegment {
    valid: ValidPrefix,
    /// The newest commit that has records.
    newest: Option<ArchivedCommit>,
    last_group: Option<LastGroup>,
}

/// The part before the last group.
struct LastGroup {
    valid: ValidPrefix,
    newest: Option<ArchivedCommit>,
    /// The store's last commit when the group was archived.
    stored: CommitNumber,
}

impl ScannedSegment {
    fn add(&mut self, reader: &SegmentReader, commit: ArchivedCommit) {
        let valid = std::mem::replace(&mut self.valid, reader.valid().clone());
        if commit.position.index == 0 {
            self.last_group = Some(LastGroup { valid, newest: self.newest.clone(), stored: commit.stored });
        }
        if !commit.records.is_empty() {
            self.newest = Some(commit);
        }
    }
}

/// Saves the bytes that are cut off an open segment in a file beside it: nobody was told of those commits, but no bytes
/// are thrown away.
fn save_cut_bytes(path: &Path, offset: u64, torn: u64) -> Result<(), ArchiveError> {
    let failed = || ArchiveError::files("keep the end of", path);
    // For writing: a file that cannot be opened for it cannot be cut either, and each attempt would leave another copy.
    let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(failed())?;
    let (beside, mut kept) = begin_cut(path, offset).map_err(failed())?;
    if let Err(source) = copy_end(&mut file, offset, &mut kept).and_then(|()| sync_name(&beside)) {
        // All bytes are still in the segment, and the next attempt copies them again.
        drop(fs::remove_file(&beside));
        return Err(failed()(source));
    }
    let file = path.display();
    tracing::warn!(
        %file, offset, torn,
        "the end of the archive was cut off: a torn write, or commits that were archived and never written"
    );
    Ok(())
}

/// Creates a file beside a segment for the bytes cut off at this offset. The number in its name keeps earlier files.
fn begin_cut(path: &Path, offset: u64) -> io::Result<(PathBuf, File)> {
    for number in 1..=CUTS_MAX {
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".cut-at-{offset}"));
        if number > 1 {
            beside.push(format!("-{number}"));
        }
        match File::create_new(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (PathBuf::from(beside), file)),
        }
    }
    Err(io::Error::other(format!("there are {CUTS_MAX} files of bytes cut off at that offset: move them away")))
}

fn copy_end(file: &mut File, offset: u64, kept: &mut File) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    io::copy(file, kept)?;
    kept.sync_all()
}

/// Makes the name of a new file durable.
fn sync_name(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), durable::sync_directory)
}

/// Opens a segment for writing at `offset`, and removes bytes after it.
fn cut(path: &Path, offset: u64) -> Result<File, ArchiveError> {
    let open = || {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let bytes = file.metadata()?.len();
        if bytes > offset {
            file.set_len(offset)?;
            file.sync_all()?;
        }
        file.seek(SeekFrom::Start(offset))?;
        Ok((file, bytes))
    };
    let (file, bytes) = open().map_err(ArchiveError::files("go on with", path))?;
    if bytes < offset {
        let what = "synced bytes are missing";
        return Err(ArchiveError::Damaged { file: path.to_owned(), offset: bytes, what });
    }
    Ok(file)
}

/// Refuses a directory in which nothing is left of the archive, before anything is created in it: the archive's disk
/// may not be mounted there.
fn refuse_empty_directory(directory: &Path) -> Result<(), ArchiveError> {
    match SegmentChain::read(directory)?.segments.is_empty() {
        true => Err(ArchiveError::Gone { archive: directory.to_owned() }),
        false => Ok(()),
    }
}

fn lock(directory: &Path) -> Result<File, ArchiveError> {
    let path = directory.join(LOCK_FILE);
    let lock = durable::lock_file(&path).map_err(ArchiveError::files("open", &path))?;
    lock.ok_or_else(|| ArchiveError::InUse { archive: directory.to_owned() })
}

/// The instant of a wall-clock time; an approximation.
fn opened_at(at_ms: u64) -> Instant {
    let age = Duration::from_millis(now_ms().saturating_sub(at_ms));
    Instant::now().checked_sub(age).unwrap_or_else(Instant::now)
}

/// Refuses an archive that would be lost with the data directory, and one whose disk does not seem to be mounted.
///
/// # Errors
/// [`ArchiveError::Inside`] and [`ArchiveError::NoParent`], or the file system's reason.
pub fn check_place(archive: &Path, data: &Path) -> Result<(), ArchiveError> {
    let is_inside = || -> io::Result<bool> { Ok(real_path(archive)?.starts_with(real_path(data)?)) };
    let above = archive.parent().filter(|above| !above.as_os_str().is_empty());
    let has_place = archive.exists() || above.is_none_or(Path::exists);
    match is_inside() {
        Ok(false) if !has_place => Err(ArchiveError::NoParent { archive: archive.to_owned() }),
        Ok(true) => Err(ArchiveError::Inside { archive: archive.to_owned(), data: data.to_owned() }),
        Ok(false) => Ok(()),
        Err(source) => Err(ArchiveError::Files { attempt: "look at", path: archive.to_owned(), source }),
    }
}

/// The real path of the part that exists, followed by the part that does not exist yet.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            let rest = path.strip_prefix(ancestor).expect("an ancestor is a prefix");
            return Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) });
        }
    }
    Ok(path)
}
