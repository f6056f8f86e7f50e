//! Reads RocksDB's log files (write-ahead logs and MANIFESTs) record by record, without RocksDB, to tell an
//! operator the file and the byte of the first bad record.
//!
//! A log file is a sequence of blocks of 32 KiB. A block holds physical records, and zeros after the last one
//! when the next header would not fit. A physical record (integers little-endian, offsets in bytes):
//!
//! ```text
//! 0 masked CRC-32C of type, log number and payload (4) | 4 length of the payload (2) | 6 type (1)
//! 7 low half of the log number (4), in recyclable types only
//! 7 or 11 payload
//! ```
//!
//! A logical record is one full physical record, or a first, any number of middle ones and a last.
//!
//! Source: RocksDB 11.8, `db/log_format.h`, `db/log_reader.cc`, `db/log_writer.cc`, `util/crc32c.h`.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

const BLOCK_LEN: usize = 32 * 1024;
const HEADER_LEN: usize = 7;
const RECYCLABLE_HEADER_LEN: usize = 11;

/// The kind of a fault in a log file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFault {
    /// The file ends inside of a record: a torn write, or a file that was cut off.
    CutOff,
    /// A length reaches past its block, or past the end of the file.
    Length,
    /// The bytes are not those that the checksum was computed over.
    Checksum,
    /// A type that no program writes.
    UnknownType(u8),
    /// A part of a record without the part that must precede or follow it.
    OutOfOrder,
    /// A file that must exist does not.
    FileMissing,
    /// Not the expected text.
    Text,
    /// No fault: every record is valid, and the file, or its zeros, end here.
    End,
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogFault::CutOff => f.write_str("the file ends inside of a record"),
            LogFault::Length => f.write_str("a record reaches past its block or the file"),
            LogFault::Checksum => f.write_str("the checksum of a record is wrong"),
            LogFault::UnknownType(found) => write!(f, "a record of unknown type {found}"),
            LogFault::OutOfOrder => f.write_str("a part of a record is out of order"),
            LogFault::FileMissing => f.write_str("the file is missing"),
            LogFault::Text => f.write_str("the text is not the expected one"),
            LogFault::End => f.write_str("every record is good up to here, where the log ends"),
        }
    }
}

/// The first fault of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultAt {
    /// The byte at which the bad physical record begins.
    pub offset: u64,
    /// The kind of the fault.
    pub fault: LogFault,
    /// True when a valid record follows anywhere after it: then it is not a write that a crash tore.
    pub followed: bool,
    /// True when RocksDB's reader would read it without end. In a log that does not begin with a recyclable record, the
    /// reader gives up such a record without skipping it, and so reads it again for ever.
    pub endless: bool,
}

/// The result of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogScan {
    /// The number of valid logical records before the first fault.
    pub records: u64,
    /// The offset at which the last of them ends.
    pub sound_bytes: u64,
    /// The first fault. A tail of zeros is not a fault.
    pub fault: Option<FaultAt>,
}

/// Scans one log file.
///
/// # Errors
/// Fails when the file cannot be read.
pub fn scan(path: &Path) -> io::Result<LogScan> {
    let mut file = File::open(path)?;
    let mut scanner = Scanner::default();
    let mut block = Vec::with_capacity(BLOCK_LEN);
    loop {
        block.clear();
        file.by_ref().take(u64_of(BLOCK_LEN)).read_to_end(&mut block)?;
        scanner.block(&block);
        if block.len() < BLOCK_LEN {
            return Ok(scanner.end());
        }
    }
}

/// The concatenated payloads of the physical records of a log after the start of one, whatever their checksums are.
/// From the point where a block cannot be parsed, the rest of the block is included as it is.
pub(super) fn payload_after(log: &[u8], from: usize) -> Vec<u8> {
    let mut payload = Vec::new();
    let mut at = from;
    while at < log.len() {
        let block_end = (at / BLOCK_LEN + 1).saturating_mul(BLOCK_LEN).min(log.len());
        let rest = &log[at..block_end];
        match claimed(rest) {
            Some((header_len, len)) => {
                payload.extend_from_slice(&rest[header_len..len]);
                at += len;
            }
            None => {
                payload.extend_from_slice(rest);
                at = block_end;
            }
        }
    }
    payload
}

/// The header and the total length of the physical record that the bytes claim to begin with, unless it cannot be one.
fn claimed(bytes: &[u8]) -> Option<(usize, usize)> {
    let header = bytes.first_chunk::<HEADER_LEN>()?;
    kind(header[6]).ok()?;
    let header_len = if is_recyclable(header[6]) { RECYCLABLE_HEADER_LEN } else { HEADER_LEN };
    let len = header_len + usize::from(u16::from_le_bytes([header[4], header[5]]));
    (len <= bytes.len()).then_some((header_len, len))
}

/// One physical record of a block.
struct Physical {
    kind: PartKind,
    len: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PartKind {
    Full,
    First,
    Middle,
    Last,
    /// A record about the log itself, or one that programs that do not know it must ignore.
    Aside,
}

#[derive(Default)]
struct Scanner {
    /// The offset of the next block.
    block_at: u64,
    records: u64,
    sound_bytes: u64,
    /// The offset at which the logical record in progress began.
    open_at: Option<u64>,
    fault: Option<FaultAt>,
    followed: bool,
    endless: bool,
}

impl Scanner {
    fn block(&mut self, block: &[u8]) {
        match self.fault {
            None => self.sound_block(block),
            // Every block begins with a record, so the first record tells if the log continues.
            Some(_) => {
                self.followed |= is_valid_data(block);
                self.endless |= self.is_endless(block);
            }
        }
        self.block_at += u64_of(block.len());
    }

    fn sound_block(&mut self, block: &[u8]) {
        let mut at = 0;
        while block.len() - at >= HEADER_LEN {
            let rest = &block[at..];
            if rest.iter().all(|&byte| byte == 0) {
                return self.zeros(at);
            }
            let physical = physical(rest).and_then(|physical| self.order(&physical, at).map(|()| physical));
            match physical {
                Ok(physical) => at += physical.len,
                Err(fault) => return self.stop(fault, at, rest),
            }
            if self.open_at.is_none() {
                self.sound_bytes = self.block_at + u64_of(at);
            }
        }
        let cut_header = block.len() < BLOCK_LEN && block[at..].iter().any(|&byte| byte != 0);
        if cut_header {
            self.stop(LogFault::CutOff, at, &[]);
        }
    }

    /// Zeros up to the end of a block end its content; inside of a record they are a torn write.
    fn zeros(&mut self, at: usize) {
        if self.open_at.is_some() {
            self.stop(LogFault::CutOff, at, &[]);
        }
    }

    /// Tracks the assembly of physical records into logical ones.
    fn order(&mut self, physical: &Physical, at: usize) -> Result<(), LogFault> {
        match (physical.kind, self.open_at) {
            (PartKind::Aside, _) | (PartKind::Middle, Some(_)) => {}
            (PartKind::Full, None) => self.records += 1,
            (PartKind::First, None) => self.open_at = Some(self.block_at + u64_of(at)),
            (PartKind::Last, Some(_)) => {
                self.open_at = None;
                self.records += 1;
            }
            (PartKind::Full | PartKind::First, Some(_)) | (PartKind::Middle | PartKind::Last, None) => {
                return Err(LogFault::OutOfOrder);
            }
        }
        Ok(())
    }

    fn stop(&mut self, fault: LogFault, at: usize, rest: &[u8]) {
        self.fault = Some(FaultAt { offset: self.block_at + u64_of(at), fault, followed: false, endless: false });
        self.endless = self.is_endless(rest);
        self.followed = (1..rest.len()).any(|skipped| is_valid_data(&rest[skipped..]));
    }

    /// Returns true when RocksDB's reader would stay at the record at the front of the bytes.
    fn is_endless(&self, rest: &[u8]) -> bool {
        self.records > 0 && rest.get(6).is_some_and(|&byte| is_recyclable(byte))
    }

    fn end(self) -> LogScan {
        let cut_off = |offset| FaultAt { offset, fault: LogFault::CutOff, followed: false, endless: false };
        let (followed, endless) = (self.followed, self.endless);
        let fault = self.fault.map(|fault| FaultAt { followed, endless, ..fault });
        LogScan { records: self.records, sound_bytes: self.sound_bytes, fault: fault.or(self.open_at.map(cut_off)) }
    }
}

/// The physical record at the front of the bytes, which end with its block.
fn physical(bytes: &[u8]) -> Result<Physical, LogFault> {
    let (header, _) = bytes.split_first_chunk::<HEADER_LEN>().ok_or(LogFault::CutOff)?;
    let header_len = if is_recyclable(header[6]) { RECYCLABLE_HEADER_LEN } else { HEADER_LEN };
    let len = header_len + usize::from(u16::from_le_bytes([header[4], header[5]]));
    let checked = bytes.get(6..len).ok_or(LogFault::Length)?;
    let crc = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    if masked(crc32c::crc32c(checked)) != crc {
        return Err(LogFault::Checksum);
    }
    Ok(Physical { kind: kind(header[6])?, len })
}

/// Returns true when a valid record with data is at the front of the bytes. The type is checked first, so that a
/// search over every byte of a block stays cheap.
fn is_valid_data(bytes: &[u8]) -> bool {
    let data = bytes.get(6).is_some_and(|byte| (1..=8).contains(byte));
    data && physical(bytes).is_ok_and(|physical| physical.len > RECYCLABLE_HEADER_LEN)
}

fn kind(byte: u8) -> Result<PartKind, LogFault> {
    match byte {
        1 | 5 => Ok(PartKind::Full),
        2 | 6 => Ok(PartKind::First),
        3 | 7 => Ok(PartKind::Middle),
        4 | 8 => Ok(PartKind::Last),
        // Compression, sizes of user-defined timestamps; with the eighth bit: ignored when not known.
        9..=11 | 128.. => Ok(PartKind::Aside),
        0 | 12..=127 => Err(LogFault::UnknownType(byte)),
    }
}

const fn is_recyclable(byte: u8) -> bool {
    matches!(byte, 5..=8 | 11 | 131)
}

/// RocksDB stores checksums rotated and shifted, because a checksum over bytes that contain checksums is weak.
const fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

fn u64_of(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn physical_bytes(kind: u8, payload: &[u8]) -> Vec<u8> {
        let log_number: &[u8] = if is_recyclable(kind) { &[9, 0, 0, 0] } else { &[] };
        let checked = [&[kind], log_number, payload].concat();
        let length = u16::try_from(payload.len()).expect("short").to_le_bytes();
        [masked(crc32c::crc32c(&checked)).to_le_bytes().as_slice(), &length, &checked].concat()
    }

    fn scan_bytes(bytes: &[u8]) -> LogScan {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), bytes).expect("writable");
        scan(file.path()).expect("readable")
    }

    /// Three records: one of one part, one of three parts over three blocks, one of one part.
    fn log() -> Vec<u8> {
        let mut bytes = physical_bytes(1, b"first");
        bytes.extend(physical_bytes(2, &vec![2; BLOCK_LEN - bytes.len() - HEADER_LEN]));
        bytes.extend(physical_bytes(3, &vec![3; BLOCK_LEN - HEADER_LEN]));
        bytes.extend(physical_bytes(4, &[4; 100]));
        bytes.extend(physical_bytes(1, b"third"));
        bytes
    }

    #[test]
    fn a_sound_log_has_no_fault_with_or_without_a_tail_of_zeros() {
        let bytes = log();
        let sound = LogScan { records: 3, sound_bytes: u64_of(bytes.len()), fault: None };
        assert_eq!(scan_bytes(&bytes), sound);
        for zeros in [1, 6, 7, 100, 2 * BLOCK_LEN] {
            assert_eq!(scan_bytes(&[bytes.clone(), vec![0; zeros]].concat()), sound, "{zeros} zeros");
        }
        assert_eq!(scan_bytes(&[]), LogScan { records: 0, sound_bytes: 0, fault: None });
    }

    #[test]
    fn data_after_a_damaged_record_is_reassembled_over_blocks() {
        let mut bytes = log();
        let sound = payload_after(&bytes, 12);
        assert_eq!(sound.len(), bytes.len() - 12 - 4 * HEADER_LEN);
        bytes[20] ^= 1; // The checksum of the second record is wrong now.
        assert!(payload_after(&bytes, 12).ends_with(&sound[1_000..]));
        let nonsense = [9_u8, 9, 9, 9, 0xff, 0xff, 1, 5, 6];
        assert_eq!(payload_after(&nonsense, 0), nonsense, "a length beyond the block is no record");
    }

    #[test]
    fn every_type_that_this_rocksdb_writes_is_known() {
        let kinds = [9, 10, 130, 1, 5, 6, 7, 8, 11, 131, 200];
        let bytes: Vec<u8> = kinds.iter().flat_map(|&kind| physical_bytes(kind, b"payload")).collect();
        assert_eq!(scan_bytes(&bytes), LogScan { records: 3, sound_bytes: u64_of(bytes.len()), fault: None });
        let fault = scan_bytes(&physical_bytes(12, b"payload")).fault.expect("no program writes it");
        assert_eq!(fault.fault, LogFault::UnknownType(12));
    }

    #[test]
    fn a_flipped_bit_is_found_at_the_record_that_it_is_in() {
        let bytes = log();
        let starts = [0, 12, BLOCK_LEN, 2 * BLOCK_LEN, 2 * BLOCK_LEN + 107];
        for (record, &start) in starts.iter().enumerate() {
            for bit in 0..(HEADER_LEN + 2) * 8 {
                let mut flipped = bytes.clone();
                flipped[start + bit / 8] ^= 1 << (bit % 8);
                let fault = scan_bytes(&flipped).fault.expect("a flipped bit must be found");
                assert_eq!(fault.offset, u64_of(start), "record {record}, bit {bit}");
                assert_eq!(fault.followed, record + 1 < starts.len(), "record {record}, bit {bit}: {fault:?}");
            }
        }
    }

    #[test]
    fn a_type_flipped_to_a_recyclable_one_is_endless_but_in_front() {
        let third = 2 * BLOCK_LEN + 107;
        for (at, endless) in [(0, false), (12, true), (BLOCK_LEN, true), (2 * BLOCK_LEN, false), (third, true)] {
            let mut bytes = log();
            bytes[at + 6] ^= 4; // Full, first and middle become the recyclable types, last becomes zero.
            let fault = scan_bytes(&bytes).fault.expect("the checksum covers the type");
            assert_eq!((fault.offset, fault.endless), (u64_of(at), endless));
        }
    }

    #[test]
    fn a_log_cut_off_ends_in_a_fault_only_inside_of_a_record() {
        let bytes = log();
        let ends = [0, 12, 2 * BLOCK_LEN + 107, bytes.len()];
        for length in (0..200).chain(bytes.len() - 200..=bytes.len()) {
            let scan = scan_bytes(&bytes[..length]);
            assert_eq!(scan.fault.is_none(), ends.contains(&length), "{length} bytes: {scan:?}");
            assert!(scan.fault.is_none_or(|fault| !fault.followed));
        }
    }

    #[test]
    fn a_part_of_a_record_out_of_order_is_a_fault() {
        for kinds in [&[1, 3][..], &[4], &[2, 1], &[2, 3, 2]] {
            let bytes: Vec<u8> = kinds.iter().flat_map(|&kind| physical_bytes(kind, b"payload")).collect();
            let fault = scan_bytes(&bytes).fault.expect("a part stands alone");
            assert_eq!(fault.fault, LogFault::OutOfOrder, "{kinds:?}");
        }
    }
}
