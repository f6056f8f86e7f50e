//! The encoding of numbers, texts and lists. Only this module calls bincode.
//!
//! Every value on disk is one format byte, then bincode 2.0.1 in the configuration `standard`, big-endian:
//!
//! | what | bytes |
//! |---|---|
//! | `u8`, `bool` | itself; a bool is 0 or 1 |
//! | `u16`, `u32`, `u64`, lengths, positions of variants | below 251: one byte; else 251, 252 or 253, and then 2, 4 or
//! 8 bytes, big-endian |
//! | `[u8; N]` | its N bytes, without a length |
//! | `String`, `Vec` | length, then the UTF-8 bytes or the items |
//! | `Option` | 0, or 1 and the value |
//! | a struct, a tuple | its fields in order |
//! | an enum | the position of the variant, then its fields |
//!
//! The library does not support newer versions of a shape: an added field breaks old bytes even when it is
//! optional. So shapes are frozen, and the format byte in front names the version of the whole.

pub use bincode::Decode;
pub(super) use bincode::Encode;
use bincode::config::{BigEndian, Configuration, Limit, Varint};
use bincode::enc::EncoderImpl;
use bincode::enc::write::Writer;
use bincode::error::EncodeError;
use till_domain::records::Unreadable;

use crate::vault::SealedError;

/// The maximum memory, in bytes, that decoding one value may claim: 8 MiB, the longest body of a journal record. The
/// library counts the size in memory of the values that it reads.
pub const DECODE_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// A value with more bytes than this is decoded as a check before it is returned, since decoding may claim more memory
/// than the limit. Fewer bytes cannot: one byte claims at most 1 KiB (an item of a list), so 8 KiB are within the
/// limit.
const READ_BACK_ABOVE_BYTES: usize = 8 * 1024;

/// The initial capacity for a value, in bytes. A usual value takes less.
const USUAL_BYTES: usize = 448;

const _: () = assert!(READ_BACK_ABOVE_BYTES * 1024 <= DECODE_LIMIT_BYTES);

type Config = Configuration<BigEndian, Varint, Limit<DECODE_LIMIT_BYTES>>;

const CONFIG: Config =
    bincode::config::standard().with_big_endian().with_variable_int_encoding().with_limit::<DECODE_LIMIT_BYTES>();

/// The reason why bytes on disk are not a value of the domain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The format byte is missing.
    #[error("the {what} has no bytes")]
    Empty {
        /// The kind of value that was read.
        what: &'static str,
    },
    /// A later version of the program wrote it: upgrade the program.
    #[error("the {what} has format {found}, which this program does not know")]
    UnknownFormat {
        /// The kind of value that was read.
        what: &'static str,
        /// The format byte.
        found: u8,
    },
    /// The bytes are not those of the shape: damage, or a variant of a later version.
    #[error("the {what} cannot be decoded: {reason}")]
    Undecodable {
        /// The kind of value that was read.
        what: &'static str,
        /// The message of the library.
        reason: String,
    },
    /// Further bytes follow the value.
    #[error("{count} further bytes follow the {what}")]
    Trailing {
        /// The kind of value that was read.
        what: &'static str,
        /// The number of those bytes.
        count: usize,
    },
    /// A field has a value that the domain does not allow.
    #[error("{what} is out of range")]
    OutOfRange {
        /// The field.
        what: &'static str,
    },
    /// The row belongs under another key.
    #[error("the row of {table} belongs under another key")]
    OtherKey {
        /// The table.
        table: &'static str,
    },
    /// A sealed field cannot be opened, although the key is the one under which it was sealed.
    #[error("the sealed {label} cannot be opened")]
    Sealed {
        /// The field.
        label: &'static str,
        /// The reason.
        #[source]
        source: SealedError,
    },
    /// The data that is needed to open a field could not be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl From<ShapeError> for Unreadable {
    fn from(error: ShapeError) -> Unreadable {
        match error {
            ShapeError::Unreadable(unreadable) => unreadable,
            ShapeError::Empty { .. }
            | ShapeError::UnknownFormat { .. }
            | ShapeError::Undecodable { .. }
            | ShapeError::Trailing { .. }
            | ShapeError::OutOfRange { .. }
            | ShapeError::OtherKey { .. }
            | ShapeError::Sealed { .. } => Unreadable { reason: error.to_string() },
        }
    }
}

/// The encoder to which the parts of a value are written, in their order.
pub type Out = EncoderImpl<Bytes, Config>;

/// A growing buffer.
#[derive(Debug)]
pub struct Bytes(Vec<u8>);

impl Writer for Bytes {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writes one part.
///
/// # Errors
/// [`Unreadable`] when the library cannot encode it.
#[inline]
pub fn put(part: &(impl Encode + ?Sized), out: &mut Out) -> Result<(), Unreadable> {
    part.encode(out).map_err(|error| unencodable(&error))
}

#[cold]
fn unencodable(error: &EncodeError) -> Unreadable {
    Unreadable { reason: format!("a value cannot be encoded: {error}") }
}

/// The bytes of a value of the shape `S` after its format byte; `write` writes its parts.
///
/// # Errors
/// [`Unreadable`] when the value is so large that it could not be read back: nothing of it is written.
pub(super) fn encode<S: Decode<()>>(
    what: &'static str,
    format: u8,
    write: impl FnOnce(&mut Out) -> Result<(), Unreadable>,
) -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    push::<S>(what, format, &mut bytes, write)?;
    Ok(bytes)
}

/// As [`encode`], appended to existing bytes.
///
/// # Errors
/// As [`encode`]; a part of the value may have been appended then.
pub(super) fn push<S: Decode<()>>(
    what: &'static str,
    format: u8,
    bytes: &mut Vec<u8>,
    write: impl FnOnce(&mut Out) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    let start = bytes.len();
    bytes.push(format);
    let mut out = EncoderImpl::new(Bytes(std::mem::take(bytes)), CONFIG);
    let written = write(&mut out);
    Bytes(*bytes) = out.into_writer();
    written?;
    if bytes.len() - start > READ_BACK_ABOVE_BYTES {
        decode::<S>(what, format, &bytes[start..])?;
    }
    Ok(())
}

/// Decodes a value that takes all of these bytes.
///
/// # Errors
/// [`ShapeError::UnknownFormat`] means "upgrade the program"; every other error means that the bytes are
/// damaged.
pub(super) fn decode<T: Decode<()>>(what: &'static str, format: u8, bytes: &[u8]) -> Result<T, ShapeError> {
    let (&found, rest) = bytes.split_first().ok_or(ShapeError::Empty { what })?;
    if found != format {
        return Err(ShapeError::UnknownFormat { what, found });
    }
    let decoded = bincode::decode_from_slice(rest, CONFIG);
    let (value, length) = decoded.map_err(|error| ShapeError::Undecodable { what, reason: error.to_string() })?;
    match rest.len() - length {
        0 => Ok(value),
        count => Err(ShapeError::Trailing { what, count }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode<T: Encode + Decode<()>>(what: &'static str, format: u8, value: &T) -> Result<Vec<u8>, Unreadable> {
        super::encode::<T>(what, format, |out| put(value, out))
    }

    #[derive(Debug, PartialEq, Encode, Decode)]
    enum Choice {
        First,
        Second { text: String, list: Vec<u16> },
    }

    #[test]
    fn numbers_texts_lists_and_variants_are_the_documented_bytes() {
        let bytes = |value: u64| encode("number", 7, &value).expect("small");
        assert_eq!(bytes(250), [7, 250]);
        assert_eq!(bytes(251), [7, 251, 0, 251]);
        assert_eq!(bytes(0x0001_0000), [7, 252, 0, 1, 0, 0]);
        assert_eq!(bytes(0x0102_0304_0506_0708), [7, 253, 1, 2, 3, 4, 5, 6, 7, 8]);
        let second = Choice::Second { text: "ab".to_owned(), list: vec![1, 300] };
        assert_eq!(encode("choice", 1, &second).expect("small"), [1, 1, 2, b'a', b'b', 2, 1, 251, 1, 44]);
        assert_eq!(encode("choice", 1, &Choice::First).expect("small"), [1, 0]);
        assert_eq!(encode("array", 1, &([9_u8; 3], Some(true), None::<u8>)).expect("small"), [1, 9, 9, 9, 1, 1, 0]);
    }

    #[test]
    fn another_format_and_another_length_have_their_own_errors() {
        let read = |bytes: &[u8]| decode::<u64>("number", 1, bytes);
        assert_eq!(read(&[1, 5]), Ok(5));
        assert_eq!(read(&[2, 5]), Err(ShapeError::UnknownFormat { what: "number", found: 2 }));
        assert_eq!(read(&[]), Err(ShapeError::Empty { what: "number" }));
        assert!(matches!(read(&[1]), Err(ShapeError::Undecodable { .. })));
        assert_eq!(read(&[1, 5, 0, 0]), Err(ShapeError::Trailing { what: "number", count: 2 }));
        assert!(matches!(decode::<Choice>("choice", 1, &[1, 2]), Err(ShapeError::Undecodable { .. })));
    }

    #[test]
    fn a_length_that_claims_more_than_the_limit_is_refused() {
        let claim = [&[1, 253], u64::MAX.to_be_bytes().as_slice()].concat();
        assert!(matches!(decode::<Vec<u8>>("list", 1, &claim), Err(ShapeError::Undecodable { .. })));
        let above = u64::try_from(DECODE_LIMIT_BYTES / 8 + 1).expect("small");
        let claim = [&[1, 253], above.to_be_bytes().as_slice()].concat();
        assert!(matches!(decode::<Vec<u64>>("list", 1, &claim), Err(ShapeError::Undecodable { .. })));
    }

    #[test]
    fn a_value_that_could_not_be_read_back_is_not_written() {
        assert!(encode("list", 1, &vec![0_u8; DECODE_LIMIT_BYTES - 100]).is_ok());
        assert!(encode("list", 1, &vec![0_u8; DECODE_LIMIT_BYTES]).is_err());
        assert!(encode("list", 1, &vec![1_u64; DECODE_LIMIT_BYTES / 8]).is_err(), "a byte each, eight in memory");
    }
}
