//! The manifest of a checkpoint: lines of text that list its contents.
//!
//! ```text
//! till-checkpoint 1
//! taken_at_ms 1763661789000
//! program 0.1.0
//! last_commit 42
//! merchants 3
//! tables_read_at_ms 1763661788000
//! file <64 hexadecimal digits: BLAKE3-256 of the bytes> <bytes> <path>
//! ... a line a file, in the order of their paths ...
//! end <64 hexadecimal digits: BLAKE3-256 of all lines before>
//! ```
//!
//! Every line ends in a newline. The first and the last line have their form in every later format.

use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

use till_storage::journal::CommitNumber;

/// The format that this program writes, and the highest that it reads.
pub const FORMAT: u32 = 1;

const FIRST: &str = "till-checkpoint ";

/// A file of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestEntry {
    /// The file, from the checkpoint's directory.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// BLAKE3-256 of its bytes.
    pub hash: blake3::Hash,
}

/// The contents of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Time at which it was begun, milliseconds since the Unix epoch.
    pub taken_at_ms: u64,
    /// The version of the program that took it.
    pub program: String,
    /// The last commit that it holds.
    pub last_commit: CommitNumber,
    /// The number of logs in it.
    pub merchants: u64,
    /// The oldest time at which one of its tables was read whole and was good, milliseconds since the Unix epoch.
    pub tables_read_at_ms: u64,
    /// Every file but the manifest, in the order of paths.
    pub files: Vec<ManifestEntry>,
}

/// The reason that bytes are not a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManifestFault {
    /// A newer program wrote it.
    Newer(u32),
    /// Its bytes are not those that were written.
    Damaged(&'static str),
}

impl Manifest {
    /// Bytes of all files together.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }

    /// The text.
    #[must_use]
    pub fn encode(&self) -> String {
        let Manifest { taken_at_ms, program, last_commit, merchants, tables_read_at_ms, files } = self;
        let mut text = format!("{FIRST}{FORMAT}\ntaken_at_ms {taken_at_ms}\nprogram {program}\n");
        write!(text, "last_commit {last_commit}\nmerchants {merchants}\n").expect("writing to a string cannot fail");
        writeln!(text, "tables_read_at_ms {tables_read_at_ms}").expect("writing to a string cannot fail");
        for ManifestEntry { path, bytes, hash } in files {
            writeln!(text, "file {hash} {bytes} {}", path.display()).expect("writing to a string cannot fail");
        }
        let hash = blake3::hash(text.as_bytes());
        writeln!(text, "end {hash}").expect("writing to a string cannot fail");
        text
    }

    /// Reads the text.
    ///
    /// # Errors
    /// [`ManifestFault`]: it is newer, or damaged.
    pub fn decode(bytes: &[u8]) -> Result<Manifest, ManifestFault> {
        let (format, lines) = checked_lines(bytes)?;
        if format > FORMAT {
            return Err(ManifestFault::Newer(format));
        }
        let mut lines = lines.lines();
        let manifest = Manifest {
            taken_at_ms: number(lines.next(), "taken_at_ms ")?,
            program: value(lines.next(), "program ")?.to_owned(),
            last_commit: CommitNumber(number(lines.next(), "last_commit ")?),
            merchants: number(lines.next(), "merchants ")?,
            tables_read_at_ms: number(lines.next(), "tables_read_at_ms ")?,
            files: lines.map(entry).collect::<Result<_, _>>()?,
        };
        if manifest.files.is_sorted_by(|one, next| one.path < next.path) {
            Ok(manifest)
        } else {
            Err(ManifestFault::Damaged("its files are not in order"))
        }
    }
}

/// The format, and the lines between the first and the last, when the last is the checksum of the others.
fn checked_lines(bytes: &[u8]) -> Result<(u32, &str), ManifestFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| ManifestFault::Damaged("it is not text"))?;
    let cut = ManifestFault::Damaged("it has no last line");
    let (body, last) = text.strip_suffix('\n').and_then(|text| text.rsplit_once('\n')).ok_or(cut)?;
    let expected = last.strip_prefix("end ").ok_or(cut)?;
    let body = &text[..=body.len()];
    if blake3::hash(body.as_bytes()).to_hex().as_str() != expected {
        return Err(ManifestFault::Damaged("its last line is not the checksum of the others"));
    }
    let first = ManifestFault::Damaged("its first line names no format");
    let (format, lines) = body.strip_prefix(FIRST).and_then(|rest| rest.split_once('\n')).ok_or(first)?;
    Ok((format.parse().map_err(|_| first)?, lines))
}

fn value<'t>(line: Option<&'t str>, key: &'static str) -> Result<&'t str, ManifestFault> {
    line.and_then(|line| line.strip_prefix(key)).ok_or(ManifestFault::Damaged("a line is missing"))
}

fn number(line: Option<&str>, key: &'static str) -> Result<u64, ManifestFault> {
    value(line, key)?.parse().map_err(|_| ManifestFault::Damaged("a number cannot be read"))
}

fn entry(line: &str) -> Result<ManifestEntry, ManifestFault> {
    let fault = ManifestFault::Damaged("a line names no file");
    let rest = line.strip_prefix("file ").ok_or(fault)?;
    let (hash, rest) = rest.split_once(' ').ok_or(fault)?;
    let (bytes, path) = rest.split_once(' ').ok_or(fault)?;
    let path = PathBuf::from(path);
    if !stays_below(&path) {
        return Err(ManifestFault::Damaged("a file is outside of the checkpoint"));
    }
    let hash = blake3::Hash::from_hex(hash).map_err(|_| fault)?;
    Ok(ManifestEntry { path, bytes: bytes.parse().map_err(|_| fault)?, hash })
}

fn stays_below(path: &Path) -> bool {
    let mut components = path.components().peekable();
    components.peek().is_some() && components.all(|component| matches!(component, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        let file = |path: &str, bytes| ManifestEntry { path: path.into(), bytes, hash: blake3::hash(path.as_bytes()) };
        Manifest {
            taken_at_ms: 1_763_661_789_000,
            program: "0.1.0".to_owned(),
            last_commit: CommitNumber(42),
            merchants: 3,
            tables_read_at_ms: 1_763_661_788_000,
            files: vec![file("db/000012.sst", 900), file("heads", 0), file("high-water", 4_128)],
        }
    }

    /// A text with a right last line.
    fn sealed(body: &str) -> String {
        format!("{body}end {}\n", blake3::hash(body.as_bytes()))
    }

    #[test]
    fn a_manifest_reads_back_as_it_was_written() {
        assert_eq!(Manifest::decode(sample().encode().as_bytes()), Ok(sample()));
        assert_eq!(sample().byte_count(), 5_028);
    }

    #[test]
    fn a_manifest_is_the_text_that_format_1_wrote() {
        let text = sample().encode();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..6],
            [
                "till-checkpoint 1",
                "taken_at_ms 1763661789000",
                "program 0.1.0",
                "last_commit 42",
                "merchants 3",
                "tables_read_at_ms 1763661788000"
            ]
        );
        assert_eq!(lines[6], format!("file {} 900 db/000012.sst", blake3::hash(b"db/000012.sst")));
        assert_eq!(sealed(&text[..text.find("end ").expect("it has a last line")]), text);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let bytes = sample().encode().into_bytes();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(Manifest::decode(&flipped), Err(ManifestFault::Damaged(_))), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(matches!(Manifest::decode(&bytes[..length]), Err(ManifestFault::Damaged(_))), "{length} bytes");
        }
    }

    #[test]
    fn a_newer_format_is_recognized_by_its_first_and_last_line() {
        assert_eq!(
            Manifest::decode(sealed("till-checkpoint 2\nnobody knows\n").as_bytes()),
            Err(ManifestFault::Newer(2))
        );
    }

    #[test]
    fn a_file_outside_of_the_checkpoint_is_refused() {
        let text = sample().encode();
        let body = &text[..text.find("end ").expect("it has a last line")];
        for outside in ["../high-water", "/high-water", "a/../../b", ""] {
            let text = sealed(&body.replace("high-water", outside));
            assert!(matches!(Manifest::decode(text.as_bytes()), Err(ManifestFault::Damaged(_))), "{outside}");
        }
    }
}
