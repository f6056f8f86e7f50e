//! Reads segments from the first to the last byte, and compares every checksum.

use std::fs::File;
use std::io::{self, BufReader, Read, Take};
use std::path::{Path, PathBuf};

use till_storage::engine::StoreIdentity;
use till_storage::journal::CommitNumber;

use super::ArchiveError;
use super::chain::{SegmentChain, SegmentInfo, SegmentState, read_header_of};
use super::commit::{ArchivedCommit, GroupPosition};
use super::segment::{ENTRY_HEAD_LEN, ENTRY_MAGIC, End, EntryKind, HEADER_LEN, body_len, entry, kind_of};

const BUFFER_BYTES: usize = 256 * 1024;

/// The next item of a segment.
#[derive(Debug)]
pub(super) enum SegmentItem {
    /// A commit.
    Commit(ArchivedCommit),
    /// The end. The `torn` bytes after it belong to a write that was cut off.
    Ended { torn: u64 },
}

/// Reads one segment up to its length when it was opened: a commit that a server adds meanwhile is not read in part.
pub(super) struct SegmentReader {
    file: BufReader<Take<File>>,
    path: PathBuf,
    is_open: bool,
    valid: ValidPrefix,
    position: GroupPosition,
    body: Vec<u8>,
}

/// The part of a segment from its beginning in which everything is valid.
#[derive(Debug, Clone)]
pub(super) struct ValidPrefix {
    /// Its end.
    pub(super) offset: u64,
    /// The checksum of all of it.
    pub(super) hasher: blake3::Hasher,
    pub(super) commits: u64,
    /// The last group.
    pub(super) group: u64,
    pub(super) last: CommitNumber,
}

impl ValidPrefix {
    /// A header, after which the segment begins.
    pub(super) fn of_header(bytes: &[u8; HEADER_LEN], base: CommitNumber) -> ValidPrefix {
        let mut hasher = blake3::Hasher::new();
        hasher.update(bytes);
        ValidPrefix { offset: HEADER_LEN as u64, hasher, commits: 0, group: 0, last: base }
    }
}

impl SegmentReader {
    /// Starts after the header. The end of an open segment may be torn.
    pub(super) fn open(segment: &SegmentInfo) -> Result<SegmentReader, ArchiveError> {
        let (file, path) = open_as_named_now(&segment.path)?;
        let bytes = file.metadata().map_err(ArchiveError::files("read", &path))?.len();
        let mut file = BufReader::with_capacity(BUFFER_BYTES, file.take(bytes));
        let (header, front) = read_header_of(&mut file, &path)?;
        Ok(SegmentReader {
            file,
            path,
            is_open: segment.state == SegmentState::Open,
            valid: ValidPrefix::of_header(&front, header.base),
            position: GroupPosition::default(),
            body: Vec::new(),
        })
    }

    /// The part that was read.
    pub(super) fn valid(&self) -> &ValidPrefix {
        &self.valid
    }

    /// Calls `show` with every commit up to the end. Returns the number of torn bytes after it.
    pub(super) fn each(&mut self, show: &mut dyn FnMut(ArchivedCommit)) -> Result<u64, ArchiveError> {
        loop {
            match self.next()? {
                SegmentItem::Commit(commit) => show(commit),
                SegmentItem::Ended { torn } => return Ok(torn),
            }
        }
    }

    /// The next commit, or the end.
    pub(super) fn next(&mut self) -> Result<SegmentItem, ArchiveError> {
        let mut head = [0; ENTRY_HEAD_LEN];
        let got = self.fill(&mut head)?;
        if got == 0 {
            return if self.is_open {
                Ok(SegmentItem::Ended { torn: 0 })
            } else {
                Err(self.damaged("its end is missing"))
            };
        }
        let length = (got == ENTRY_HEAD_LEN).then(|| body_len(&head)).flatten();
        let Some(length) = length else { return self.broken(&head[..got]) };
        let mut body = std::mem::take(&mut self.body);
        let whole = self.fill_body(&mut body, length)?;
        let kind = if whole { kind_of(&head, &body) } else { None };
        let next = match kind {
            None => self.broken(&[head.as_slice(), &body].concat()),
            Some(EntryKind::Commit) => self.commit(&head, &body),
            Some(EntryKind::End) => self.end(&body),
        };
        self.body = body;
        next
    }

    fn commit(&mut self, head: &[u8; ENTRY_HEAD_LEN], body: &[u8]) -> Result<SegmentItem, ArchiveError> {
        let commit = ArchivedCommit::decode(body).ok_or_else(|| self.damaged("a commit cannot be read"))?;
        if commit.before != self.valid.last || commit.commit <= self.valid.last {
            return Err(self.damaged("a commit does not follow the one before"));
        }
        self.valid.hasher.update(head).update(body);
        self.valid.offset += (ENTRY_HEAD_LEN + body.len()) as u64;
        self.valid.last = commit.commit;
        self.valid.commits += 1;
        self.valid.group = commit.position.group;
        self.position = commit.position;
        Ok(SegmentItem::Commit(commit))
    }

    fn end(&mut self, body: &[u8]) -> Result<SegmentItem, ArchiveError> {
        let end = End::decode(body).ok_or_else(|| self.damaged("its end cannot be read"))?;
        if end.checksum != *self.valid.hasher.finalize().as_bytes() {
            return Err(self.damaged("its checksum is not that of what is before it"));
        }
        if (end.last, end.commits) != (self.valid.last, self.valid.commits) {
            return Err(self.damaged("its end names other commits than there are"));
        }
        let mut byte = [0; 1];
        match self.fill(&mut byte)? {
            0 => Ok(SegmentItem::Ended { torn: 0 }),
            _ => Err(self.damaged("there are bytes after its end")),
        }
    }

    /// Judges bytes that cannot be read: the end is torn when they are the last write; else the segment is damaged.
    fn broken(&mut self, bytes_read: &[u8]) -> Result<SegmentItem, ArchiveError> {
        if !self.is_open {
            return Err(self.damaged("an entry is not what was written"));
        }
        let mut rest = bytes_read.to_vec();
        self.file.read_to_end(&mut rest).map_err(ArchiveError::files("read", &self.path))?;
        match self.is_torn(&rest) {
            true => Ok(SegmentItem::Ended { torn: rest.len() as u64 }),
            false => Err(self.damaged("an entry is not what was written, and valid ones follow it")),
        }
    }

    /// True when all valid entries in these bytes are of one write: of the group that the reader is in the middle of,
    /// or of the next one.
    fn is_torn(&self, rest: &[u8]) -> bool {
        let GroupPosition { group, index, size } = self.position;
        let is_unfinished = index + 1 < size;
        let is_of_this = |found: &EntryAfterFault| is_unfinished && found.position.group == group;
        let is_of_next = |found: &EntryAfterFault| {
            found.position.group == group + 1 && (!is_unfinished || found.is_in_group_after(self.valid.last))
        };
        all_in(rest, is_of_this) || all_in(rest, is_of_next)
    }

    fn damaged(&self, what: &'static str) -> ArchiveError {
        ArchiveError::Damaged { file: self.path.clone(), offset: self.valid.offset, what }
    }

    /// Reads as many bytes as there are, up to the length of the buffer.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ArchiveError> {
        let mut got = 0;
        while got < buffer.len() {
            match self.file.read(&mut buffer[got..]) {
                Ok(0) => break,
                Ok(count) => got += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(ArchiveError::files("read", &self.path)(source)),
            }
        }
        Ok(got)
    }

    /// Reads a body into the buffer, and returns false when the file ends before. The buffer never gets larger than the
    /// file.
    fn fill_body(&mut self, body: &mut Vec<u8>, length: usize) -> Result<bool, ArchiveError> {
        body.clear();
        let read = self.file.by_ref().take(length as u64).read_to_end(body);
        Ok(read.map_err(ArchiveError::files("read", &self.path))? == length)
    }
}

/// Opens a segment that had the name of an open one when it was listed, with or without its end entry: it may have been
/// closed and renamed since.
fn open_as_named_now(path: &Path) -> Result<(File, PathBuf), ArchiveError> {
    let (file, path) = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let closed = path.with_extension("");
            (File::open(&closed), closed)
        }
        file => (file, path.to_owned()),
    };
    Ok((file.map_err(ArchiveError::files("open", &path))?, path))
}

/// A valid commit after an invalid entry.
struct EntryAfterFault {
    commit: CommitNumber,
    position: GroupPosition,
}

impl EntryAfterFault {
    /// True when its group begins directly after a commit, by its number: nothing else is between them.
    ///
    /// A start keeps the valid part of a torn group, and the next group goes on from there. When an entry of a complete
    /// group is damaged later, there is at least one commit between the valid part before it and the next group.
    fn is_in_group_after(&self, last: CommitNumber) -> bool {
        self.commit.0 == last.next().0 + u64::from(self.position.index)
    }
}

/// True when all valid entries in these bytes are commits that `is_wanted` accepts.
fn all_in(bytes: &[u8], is_wanted: impl Fn(&EntryAfterFault) -> bool) -> bool {
    found_in(bytes).all(|found| found.is_some_and(|found| is_wanted(&found)))
}

/// The valid entries anywhere in these bytes; none for an end.
fn found_in(bytes: &[u8]) -> impl Iterator<Item = Option<EntryAfterFault>> {
    let starts = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(&ENTRY_MAGIC));
    starts.filter_map(|at| {
        let (kind, body, _) = entry(&bytes[at..])?;
        match kind {
            EntryKind::Commit => Some(
                ArchivedCommit::decode(body).map(|it| EntryAfterFault { commit: it.commit, position: it.position }),
            ),
            EntryKind::End => Some(None),
        }
    })
}

/// Calls `show` with every commit of an archive, in order.
///
/// # Errors
/// The errors of [`check_chain`].
pub fn each_commit(directory: &Path, show: &mut dyn FnMut(ArchivedCommit)) -> Result<(), ArchiveError> {
    for segment in &SegmentChain::read(directory)?.segments {
        SegmentReader::open(segment)?.each(show)?;
    }
    Ok(())
}

/// The result of checking a whole archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveCheck {
    /// The store that the archive belongs to.
    pub store: StoreIdentity,
    /// The number of segments.
    pub segments: u64,
    /// The number of commits.
    pub commits: u64,
    /// The commit after which it begins.
    pub base: CommitNumber,
    /// The last commit.
    pub last: CommitNumber,
    /// Bytes of an unfinished write at the end of the open segment.
    pub torn: u64,
    /// Commits that are not in it, as ranges with the first and the last: it was not written to at that time.
    pub gaps: Vec<(CommitNumber, CommitNumber)>,
}

/// Reads a whole archive and compares every checksum; `tell` is called with the number of bytes read.
///
/// # Errors
/// [`ArchiveError`], naming the first file and offset that is not what was written.
pub fn check_chain(directory: &Path, tell: &mut dyn FnMut(u64)) -> Result<ArchiveCheck, ArchiveError> {
    let chain = SegmentChain::read(directory)?;
    let store = chain.store()?;
    let base = chain.base();
    let mut checked = ArchiveCheck { store, segments: 0, commits: 0, base, last: base, torn: 0, gaps: Vec::new() };
    for segment in &chain.segments {
        if segment.base > checked.last {
            checked.gaps.push((checked.last.next(), segment.base));
        }
        let mut reader = SegmentReader::open(segment)?;
        checked.torn = reader.each(&mut |_| {})?;
        checked.last = reader.valid().last;
        checked.segments += 1;
        checked.commits += reader.valid().commits;
        tell(segment.bytes);
    }
    Ok(checked)
}
