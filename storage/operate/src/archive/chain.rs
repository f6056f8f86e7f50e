//! The chain of an archive's segments: each follows the one before.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use till_storage::engine::StoreIdentity;
use till_storage::journal::CommitNumber;

use super::ArchiveError;
use super::segment::{END_LEN, End, HEADER_LEN, Header, HeaderFault};

const PREFIX: &str = "segment-";
const OPEN_SUFFIX: &str = ".open";

/// Limit of the attempts to list and read the segments without another one being closed meanwhile.
const LIST_TRIES: u32 = 100;

/// Digits of a segment's number in its name.
const DIGITS: usize = 20;

/// The state of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentState {
    /// It ends with an end entry.
    Closed {
        /// The last commit in it.
        last: CommitNumber,
        /// The number of commits in it.
        commits: u64,
    },
    /// Commits are added to it.
    Open,
}

/// A segment, by its header and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentInfo {
    /// Its file.
    pub path: PathBuf,
    /// Its number in the chain, from 1.
    pub number: u64,
    /// The commit after which it begins.
    pub base: CommitNumber,
    /// Time at which it was opened, milliseconds since the Unix epoch.
    pub opened_at_ms: u64,
    /// Its length.
    pub bytes: u64,
    /// Open or closed.
    pub state: SegmentState,
    pub(super) checksum: Option<[u8; 32]>,
}

impl SegmentInfo {
    /// The last commit, of a closed one.
    #[must_use]
    pub fn last(&self) -> Option<CommitNumber> {
        match self.state {
            SegmentState::Closed { last, .. } => Some(last),
            SegmentState::Open => None,
        }
    }
}

/// An archive, as its directory lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentChain {
    /// Its directory.
    pub directory: PathBuf,
    /// The store that it belongs to; none when it is empty.
    pub store: Option<StoreIdentity>,
    /// Its segments, in order.
    pub segments: Vec<SegmentInfo>,
}

impl SegmentChain {
    /// Reads the headers and ends of all segments, and checks that each follows the one before. The first may have any
    /// number: those before it were pruned.
    ///
    /// # Errors
    /// [`ArchiveError`], naming the file.
    pub fn read(directory: &Path) -> Result<SegmentChain, ArchiveError> {
        for _ in 1..LIST_TRIES {
            let files = list(directory).map_err(ArchiveError::files("list", directory))?;
            let read = SegmentChain::of(directory, &files);
            // A server may close its segment meanwhile: then a name that was listed is missing, or both names are.
            if list(directory).is_ok_and(|now| now.starts_with(&files)) {
                return read;
            }
        }
        SegmentChain::of(directory, &list(directory).map_err(ArchiveError::files("list", directory))?)
    }

    /// The chain of these segments.
    fn of(directory: &Path, files: &[(u64, bool)]) -> Result<SegmentChain, ArchiveError> {
        let mut chain = SegmentChain { directory: directory.to_owned(), store: None, segments: Vec::new() };
        for (at, (number, is_open)) in files.iter().enumerate() {
            chain.add(*number, *is_open, at + 1 == files.len())?;
        }
        Ok(chain)
    }

    /// The store that the archive belongs to.
    ///
    /// # Errors
    /// [`ArchiveError::Empty`].
    pub fn store(&self) -> Result<StoreIdentity, ArchiveError> {
        self.store.ok_or_else(|| ArchiveError::Empty { archive: self.directory.clone() })
    }

    /// The commit after which it begins.
    pub(crate) fn base(&self) -> CommitNumber {
        self.segments.first().map_or(CommitNumber(0), |first| first.base)
    }

    fn add(&mut self, number: u64, is_open: bool, is_last: bool) -> Result<(), ArchiveError> {
        let path = self.directory.join(name(number, is_open));
        let damaged = |offset, what| ArchiveError::Damaged { file: path.clone(), offset, what };
        let bytes = fs::metadata(&path).map_err(ArchiveError::files("read", &path))?.len();
        let may_be_cut_off = is_open && is_last && bytes <= HEADER_LEN as u64;
        let header = match read_header(&path) {
            // A crash came before its header was on the disk: the segment is empty.
            Err(ArchiveError::Damaged { .. }) if may_be_cut_off => return Ok(()),
            header => header?,
        };
        self.check(&header, number, &path)?;
        let end = read_end(&path).map_err(ArchiveError::files("read", &path))?;
        if is_open && !is_last {
            return Err(damaged(0, "it is open, and another follows it"));
        }
        let Header { base, opened_at_ms, .. } = header;
        let (state, checksum) = match end {
            Some(End { last, commits, checksum }) => (SegmentState::Closed { last, commits }, Some(checksum)),
            None if is_open => (SegmentState::Open, None),
            None => return Err(damaged(bytes, "its end is missing or damaged")),
        };
        self.store = Some(header.store);
        self.segments.push(SegmentInfo { path, number, base, opened_at_ms, bytes, state, checksum });
        Ok(())
    }

    fn check(&self, header: &Header, number: u64, path: &Path) -> Result<(), ArchiveError> {
        let damaged = |offset, what| ArchiveError::Damaged { file: path.to_owned(), offset, what };
        if header.number != number {
            return Err(damaged(32, "it is another segment than its name says"));
        }
        let Some(before) = self.segments.last() else { return Ok(()) };
        if number != before.number + 1 {
            return Err(ArchiveError::SegmentMissing { archive: self.directory.clone(), number: before.number + 1 });
        }
        if self.store != Some(header.store) {
            return Err(damaged(16, "it belongs to another store than the segment before"));
        }
        if before.checksum != Some(header.before) {
            return Err(damaged(48, "it does not follow the segment before"));
        }
        match before.last() {
            Some(last) if header.base < last => Err(damaged(40, "it begins before the segment before ends")),
            Some(_) | None => Ok(()),
        }
    }
}

/// The file name of a segment.
pub(super) fn name(number: u64, is_open: bool) -> String {
    format!("{PREFIX}{number:0DIGITS$}{}", if is_open { OPEN_SUFFIX } else { "" })
}

/// The numbers of the segments in a directory, in order, each with true when it is open. A missing directory has none.
fn list(directory: &Path) -> io::Result<Vec<(u64, bool)>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        found.extend(entry?.file_name().to_str().and_then(number_of));
    }
    found.sort_unstable();
    Ok(found)
}

fn number_of(name: &str) -> Option<(u64, bool)> {
    let rest = name.strip_prefix(PREFIX)?;
    let (digits, is_open) = rest.strip_suffix(OPEN_SUFFIX).map_or((rest, false), |digits| (digits, true));
    let is_number = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten().map(|number| (number, is_open))
}

fn read_header(path: &Path) -> Result<Header, ArchiveError> {
    let mut file = File::open(path).map_err(ArchiveError::files("read", path))?;
    read_header_of(&mut file, path).map(|(header, _)| header)
}

/// The header at the beginning of a file, and its bytes.
pub(super) fn read_header_of(file: &mut impl Read, path: &Path) -> Result<(Header, [u8; HEADER_LEN]), ArchiveError> {
    let mut bytes = [0; HEADER_LEN];
    match file.read_exact(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(ArchiveError::Damaged { file: path.to_owned(), offset: 0, what: "its header is cut off" });
        }
        read => read.map_err(ArchiveError::files("read", path))?,
    }
    let header = Header::decode(&bytes).map_err(|fault| match fault {
        HeaderFault::Damaged => {
            ArchiveError::Damaged { file: path.to_owned(), offset: 0, what: "its header is not what was written" }
        }
        HeaderFault::Newer(found) => ArchiveError::FormatTooNew { file: path.to_owned(), found },
    });
    Ok((header?, bytes))
}

fn read_end(path: &Path) -> io::Result<Option<End>> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() < (HEADER_LEN + END_LEN) as u64 {
        return Ok(None);
    }
    let mut bytes = [0; END_LEN];
    file.seek(SeekFrom::End(-(END_LEN as i64)))?;
    file.read_exact(&mut bytes)?;
    Ok(End::at_end_of(&bytes))
}
