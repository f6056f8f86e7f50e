//! The journal record: the bytes of one decision, chained to the previous record.
//!
//! Shape (integers big-endian, offsets in bytes):
//!
//! ```text
//!   0 magic "TL" (2) | 2 format (1) | 3 type (1) | 4 length of the body (4)
//!   8 merchant (16)
//!  24 sequence (8)
//!  32 batch id (16)
//!  48 epoch (8)
//!  56 time, milliseconds since the Unix epoch (8)
//!  64 hash of the merchant's previous record, zeros for the first (32)
//!  96 CRC-32C of every other byte of the record (4)
//! 100 body (length)
//! ```
//!
//! The hash of a record is the BLAKE3-256 of all of its bytes, CRC included. Magic, format and CRC keep their
//! offsets in every later format, so that a flipped bit in the format byte can be told from a newer format.
//!
//! Stored records are never encoded again: a changed meaning needs a new type or a new version of the body.

use std::fmt;

use till_domain::ids::MerchantId;

use crate::positions::{BatchId, Epoch, Head, Sequence};

const MAGIC: [u8; 2] = *b"TL";

/// The format that this program writes, and the only one it reads.
pub const FORMAT: u8 = 1;

const FORMAT_AT: usize = 2;
const TYPE_AT: usize = 3;
const LENGTH_AT: usize = 4;
const MERCHANT_AT: usize = 8;
const SEQUENCE_AT: usize = 24;
const BATCH_ID_AT: usize = 32;
const EPOCH_AT: usize = 48;
const TIME_AT: usize = 56;
const PREV_HASH_AT: usize = 64;
const CRC_AT: usize = 96;

/// Bytes before the body.
pub const HEADER_LEN: usize = 100;

const _: () = assert!(CRC_AT + 4 == HEADER_LEN && HEADER_LEN == 100, "on disk since format 1");

/// The number of offsets at which the magic of a stored record is searched: it follows the commit number and its
/// checksum.
const GLANCE_LEN: usize = 13;

/// The maximum length of a body: 8 MiB. A request body is at most 1 MiB and a decision stores it at most a few times,
/// sealed; the limit keeps a damaged length from allocating gigabytes.
pub const BODY_LEN_MAX: usize = 8 * 1024 * 1024;

/// The type of a record's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordType {
    /// One decision: the changes of a command.
    Mutation,
}

impl RecordType {
    const fn to_byte(self) -> u8 {
        match self {
            RecordType::Mutation => 1,
        }
    }

    const fn from_byte(byte: u8) -> Option<RecordType> {
        match byte {
            1 => Some(RecordType::Mutation),
            _ => None,
        }
    }
}

/// The header of a record, which precedes the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordHeader {
    /// The type of the body.
    pub record_type: RecordType,
    /// The merchant whose log it is in.
    pub merchant_id: MerchantId,
    /// Position in that log.
    pub sequence: Sequence,
    /// The batch that the record was written in.
    pub batch_id: BatchId,
    /// The epoch of the claim that decided it.
    pub epoch: Epoch,
    /// The time at which it was decided, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Hash of the merchant's previous record, zeros for the first.
    pub prev_hash: [u8; 32],
}

/// A record as it is written to disk.
#[derive(Clone, PartialEq, Eq)]
pub struct EncodedRecord {
    /// Position in its merchant's log.
    pub sequence: Sequence,
    /// BLAKE3-256 of the bytes.
    pub hash: [u8; 32],
    /// The whole record.
    pub bytes: Vec<u8>,
}

impl EncodedRecord {
    /// The head of the log that ends with this record.
    #[must_use]
    pub const fn head(&self) -> Head {
        Head { sequence: self.sequence, hash: self.hash }
    }

    /// Returns true when the fields of the record say that it follows `head` in the merchant's log. Compares three
    /// fields and computes nothing.
    pub(crate) fn claims_to_follow(&self, merchant_id: MerchantId, head: Head) -> bool {
        self.sequence == head.sequence.next()
            && self.bytes.get(MERCHANT_AT..SEQUENCE_AT) == Some(merchant_id.to_bytes().as_slice())
            && self.bytes.get(SEQUENCE_AT..BATCH_ID_AT) == Some(self.sequence.0.to_be_bytes().as_slice())
            && self.bytes.get(PREV_HASH_AT..CRC_AT) == Some(head.hash.as_slice())
    }
}

/// Shows no body: its content must not appear in a log.
impl fmt::Debug for EncodedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncodedRecord({:?}, {} bytes)", self.head(), self.bytes.len())
    }
}

/// A checked record, borrowed from the bytes it was read from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DecodedRecord<'a> {
    /// The header.
    pub header: RecordHeader,
    /// BLAKE3-256 of all bytes of the record.
    pub hash: [u8; 32],
    /// The decision, in the encoding that the record's type names.
    pub body: &'a [u8],
}

impl DecodedRecord<'_> {
    /// The head of the log that ends with this record.
    #[must_use]
    pub const fn head(&self) -> Head {
        Head { sequence: self.header.sequence, hash: self.hash }
    }

    /// Checks that the record follows `head` in the merchant's log, and returns the head after it.
    ///
    /// # Errors
    /// [`RecordError::OtherMerchant`] and [`RecordError::ChainBroken`]: a record is missing, duplicated or
    /// out of place. Replay stops rather than skips.
    pub fn follow(&self, merchant_id: MerchantId, head: Head) -> Result<Head, RecordError> {
        if self.header.merchant_id != merchant_id {
            return Err(RecordError::OtherMerchant { found: self.header.merchant_id });
        }
        if self.header.sequence != head.sequence.next() || self.header.prev_hash != head.hash {
            return Err(RecordError::ChainBroken { expected: head.sequence.next(), found: self.header.sequence });
        }
        Ok(self.head())
    }
}

/// Shows no body: its content must not appear in a log.
impl fmt::Debug for DecodedRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecodedRecord({:?}, {:?}, body of {} bytes)", self.head(), self.header, self.body.len())
    }
}

/// The reason for which bytes are not a record, or not a record that fits here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A newer program wrote it.
    #[error("record format {found} is newer than {FORMAT}, which this program reads: upgrade the program")]
    UnknownFormat {
        /// The format in the record.
        found: u8,
    },
    /// A newer program wrote it.
    #[error("record type {found} is not known to this program: upgrade the program")]
    UnknownType {
        /// The type in the record.
        found: u8,
    },
    /// The bytes do not begin as a record does.
    #[error("the bytes do not begin with the magic of a record")]
    NotARecord,
    /// The length of the bytes differs from the one in the record.
    #[error("the record is {found} bytes long where its header says {expected}")]
    WrongLength {
        /// Length by the header, or that of the header itself.
        expected: usize,
        /// Length of the bytes.
        found: usize,
    },
    /// The length of the body, or the length in the header, is above [`BODY_LEN_MAX`].
    #[error("a body of {found} bytes is above the limit of {BODY_LEN_MAX}")]
    BodyTooLong {
        /// Length of the body.
        found: usize,
    },
    /// The bytes are damaged.
    #[error("the checksum of the record is wrong: the bytes are damaged")]
    WrongChecksum,
    /// The record belongs to another merchant's log.
    #[error("the record belongs to {found}")]
    OtherMerchant {
        /// The merchant in the record.
        found: MerchantId,
    },
    /// The record does not follow the one before it.
    #[error("record {found} does not follow where record {expected} belongs")]
    ChainBroken {
        /// The position that would follow.
        expected: Sequence,
        /// The position in the record.
        found: Sequence,
    },
}

/// Encodes one record and computes its hash.
///
/// # Errors
/// [`RecordError::BodyTooLong`]: the caller must refuse a decision that large before it stages it.
pub fn encode(header: &RecordHeader, body: &[u8]) -> Result<EncodedRecord, RecordError> {
    let too_long = RecordError::BodyTooLong { found: body.len() };
    let length = u32::try_from(body.len()).map_err(|_| too_long.clone())?;
    if body.len() > BODY_LEN_MAX {
        return Err(too_long);
    }
    let mut bytes = Vec::with_capacity(HEADER_LEN + body.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&[FORMAT, header.record_type.to_byte()]);
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(&header.merchant_id.to_bytes());
    bytes.extend_from_slice(&header.sequence.0.to_be_bytes());
    bytes.extend_from_slice(&header.batch_id.0);
    bytes.extend_from_slice(&header.epoch.0.to_be_bytes());
    bytes.extend_from_slice(&header.at_ms.to_be_bytes());
    bytes.extend_from_slice(&header.prev_hash);
    bytes.extend_from_slice(&checksum(&bytes, body).to_be_bytes());
    bytes.extend_from_slice(body);
    let hash = *blake3::hash(&bytes).as_bytes();
    Ok(EncodedRecord { sequence: header.sequence, hash, bytes })
}

/// Checks the bytes of one record and reads it. Never panics, whatever the bytes.
///
/// # Errors
/// [`RecordError::UnknownFormat`] and [`RecordError::UnknownType`] mean "upgrade the program"; every other
/// error means that the bytes are damaged, and recovery stops rather than skips.
///
/// Source: the shape in the module's documentation; CRC-32C test vectors from RFC 3720, appendix B.4.
pub fn decode(bytes: &[u8]) -> Result<DecodedRecord<'_>, RecordError> {
    let too_short = RecordError::WrongLength { expected: HEADER_LEN, found: bytes.len() };
    let (header, body) = bytes.split_first_chunk::<HEADER_LEN>().ok_or(too_short)?;
    if header[..FORMAT_AT] != MAGIC {
        return Err(RecordError::NotARecord);
    }
    if checksum(&header[..CRC_AT], body) != u32::from_be_bytes(field(header, CRC_AT)) {
        return Err(length_fault(header, body).unwrap_or(RecordError::WrongChecksum));
    }
    if header[FORMAT_AT] != FORMAT {
        return Err(RecordError::UnknownFormat { found: header[FORMAT_AT] });
    }
    if let Some(fault) = length_fault(header, body) {
        return Err(fault);
    }
    Ok(DecodedRecord { header: decode_header(header)?, hash: *blake3::hash(bytes).as_bytes(), body })
}

/// The header of a stored record, of which only the magic is checked: the header of a damaged record may be damaged,
/// too. `value` is the stored value, with the commit number before the record.
#[must_use]
pub fn glance(value: &[u8]) -> Option<RecordHeader> {
    let at = value.windows(MAGIC.len()).take(GLANCE_LEN).position(|bytes| bytes == MAGIC)?;
    decode_header(value[at..].first_chunk()?).ok()
}

fn decode_header(header: &[u8; HEADER_LEN]) -> Result<RecordHeader, RecordError> {
    let unknown = RecordError::UnknownType { found: header[TYPE_AT] };
    Ok(RecordHeader {
        record_type: RecordType::from_byte(header[TYPE_AT]).ok_or(unknown)?,
        merchant_id: MerchantId::from_bytes(field(header, MERCHANT_AT)),
        sequence: Sequence(u64::from_be_bytes(field(header, SEQUENCE_AT))),
        batch_id: BatchId(field(header, BATCH_ID_AT)),
        epoch: Epoch(u64::from_be_bytes(field(header, EPOCH_AT))),
        at_ms: u64::from_be_bytes(field(header, TIME_AT)),
        prev_hash: field(header, PREV_HASH_AT),
    })
}

/// The fault of the length in the header, if there is one.
fn length_fault(header: &[u8; HEADER_LEN], body: &[u8]) -> Option<RecordError> {
    let length = usize::try_from(u32::from_be_bytes(field(header, LENGTH_AT))).unwrap_or(usize::MAX);
    if length > BODY_LEN_MAX {
        return Some(RecordError::BodyTooLong { found: length });
    }
    let (expected, found) = (HEADER_LEN + length, HEADER_LEN + body.len());
    (expected != found).then_some(RecordError::WrongLength { expected, found })
}

/// CRC-32C of all bytes except the CRC itself.
fn checksum(before: &[u8], behind: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(before), behind)
}

fn field<const LEN: usize>(header: &[u8; HEADER_LEN], at: usize) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    bytes.copy_from_slice(&header[at..at + LEN]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const MERCHANT: MerchantId = MerchantId::from_bytes([0x11; 16]);

    fn header() -> RecordHeader {
        RecordHeader {
            record_type: RecordType::Mutation,
            merchant_id: MERCHANT,
            sequence: Sequence(0x0102_0304_0506_0708),
            batch_id: BatchId([0x22; 16]),
            epoch: Epoch(3),
            at_ms: 1_743_500_000_123,
            prev_hash: [0x33; 32],
        }
    }

    fn encoded(body: &[u8]) -> EncodedRecord {
        encode(&header(), body).expect("the body is short")
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_record_is_the_bytes_that_format_1_wrote() {
        let record = encoded(b"body");
        let golden = [
            "544c0101",
            "00000004",
            "11111111111111111111111111111111",
            "0102030405060708",
            "22222222222222222222222222222222",
            "0000000000000003",
            "00000195f0b2bb7b",
            "3333333333333333333333333333333333333333333333333333333333333333",
            "cd22fcbc",
            "626f6479",
        ];
        assert_eq!(hex(&record.bytes), golden.concat());
        assert_eq!(hex(&record.hash), "d3bd62cab3bd138f7c514befe9b40589083abb33b325539927320240af61c256");
    }

    #[test]
    fn the_checksum_is_the_crc_32c_of_rfc_3720() {
        let ascending: Vec<u8> = (0..32).collect();
        let descending: Vec<u8> = (0..32).rev().collect();
        assert_eq!(checksum(&[0; 16], &[0; 16]), 0x8a91_36aa);
        assert_eq!(checksum(&[0xff; 1], &[0xff; 31]), 0x62a8_ab43);
        assert_eq!(checksum(&ascending, &[]), 0x46dd_794e);
        assert_eq!(checksum(&[], &descending), 0x113f_db5c);
        assert_eq!(checksum(b"1234", b"56789"), 0xe306_9283);
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        for body in [b"".as_slice(), b"b", &[7; 3_000]] {
            let record = encoded(body);
            let decoded = decode(&record.bytes).expect("it was just encoded");
            assert_eq!((decoded.header, decoded.body), (header(), body));
            assert_eq!(decoded.head(), record.head());
        }
    }

    #[test]
    fn every_flipped_bit_is_found_and_is_not_a_newer_format() {
        let record = encoded(b"the body of the record");
        for bit in 0..record.bytes.len() * 8 {
            let mut bytes = record.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let error = decode(&bytes).expect_err("a flipped bit must be found");
            let newer = matches!(error, RecordError::UnknownFormat { .. } | RecordError::UnknownType { .. });
            assert!(!newer, "bit {bit}: {error}");
        }
    }

    #[test]
    fn any_bytes_are_judged_without_a_panic() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        for length in 0..2_000 {
            let mut bytes: Vec<u8> = (0..length % 300).map(|_| random()).collect();
            assert!(decode(&bytes).is_err());
            let magic = bytes.len().min(MAGIC.len());
            bytes[..magic].copy_from_slice(&MAGIC[..magic]);
            assert!(decode(&bytes).is_err());
        }
    }

    #[test]
    fn no_body_is_shown_for_debugging() {
        let record = encoded(b"somebody@example.com");
        let decoded = decode(&record.bytes).expect("sound");
        for shown in [format!("{record:?}"), format!("{decoded:?}")] {
            assert!(!shown.contains("example") && !shown.contains("115, 111, 109"), "{shown}");
        }
    }

    #[test]
    fn a_record_cut_off_or_followed_by_more_is_refused() {
        let record = encoded(b"body");
        for length in 0..record.bytes.len() {
            assert!(decode(&record.bytes[..length]).is_err(), "{length} bytes");
        }
        let longer = [record.bytes.as_slice(), &[0]].concat();
        assert_eq!(decode(&longer), Err(RecordError::WrongLength { expected: 104, found: 105 }));
    }

    #[test]
    fn a_sound_record_of_a_newer_format_or_type_asks_for_an_upgrade() {
        let with = |at: usize, byte: u8| {
            let mut bytes = encoded(b"body").bytes;
            bytes[at] = byte;
            let crc = checksum(&bytes[..CRC_AT], &bytes[HEADER_LEN..]);
            bytes[CRC_AT..HEADER_LEN].copy_from_slice(&crc.to_be_bytes());
            bytes
        };
        assert_eq!(decode(&with(FORMAT_AT, 2)), Err(RecordError::UnknownFormat { found: 2 }));
        assert_eq!(decode(&with(TYPE_AT, 9)), Err(RecordError::UnknownType { found: 9 }));
    }

    #[test]
    fn a_body_above_the_limit_is_neither_written_nor_believed() {
        let body = vec![0; BODY_LEN_MAX + 1];
        assert_eq!(encode(&header(), &body), Err(RecordError::BodyTooLong { found: BODY_LEN_MAX + 1 }));
        assert!(encode(&header(), &body[..BODY_LEN_MAX]).is_ok());
        let mut bytes = encoded(b"body").bytes;
        bytes[LENGTH_AT] = 0xff;
        assert!(matches!(decode(&bytes), Err(RecordError::BodyTooLong { .. })));
    }

    #[test]
    fn a_record_follows_only_the_head_that_it_was_decided_on() {
        let first = RecordHeader { sequence: Sequence(1), prev_hash: [0; 32], ..header() };
        let first = encode(&first, b"one").expect("short");
        let second = RecordHeader { sequence: Sequence(2), prev_hash: first.hash, ..header() };
        let second = encode(&second, b"two").expect("short");
        let decoded = decode(&second.bytes).expect("sound");
        assert_eq!(decoded.follow(MERCHANT, first.head()), Ok(second.head()));
        assert!(second.claims_to_follow(MERCHANT, first.head()));
        let forked = Head { hash: [9; 32], ..first.head() };
        for head in [Head::EMPTY, second.head(), forked] {
            assert!(decoded.follow(MERCHANT, head).is_err(), "{head:?}");
            assert!(!second.claims_to_follow(MERCHANT, head), "{head:?}");
        }
        let other = MerchantId::from_bytes([9; 16]);
        assert_eq!(decoded.follow(other, first.head()), Err(RecordError::OtherMerchant { found: MERCHANT }));
    }
}
