//! Frozen shapes of other crates: an acquirer's book is stored with the same codec as everything else.
//!
//! A crate declares its shapes by [`frozen_struct!`](crate::frozen_struct) and [`frozen_enum!`](crate::frozen_enum),
//! under the rules in [`shapes`](super), and converts whole values here. Nothing in them is personal.

use till_domain::records::Unreadable;

use super::codec;
use super::personal::NoPersonal;

pub use super::codec::{Decode, Out, ShapeError, put};
pub use super::personal::Personal;
pub use super::shape::Shape;
pub use super::tag::{Tag, Tagged};

/// The bytes of a value in the shape `S`, after its format byte.
///
/// # Errors
/// [`Unreadable`] when the value is so large that it could not be read back.
pub fn encode<S: Shape<D> + Decode<()>, D>(what: &'static str, format: u8, value: &D) -> Result<Vec<u8>, Unreadable> {
    codec::encode::<S>(what, format, |out| S::write(value, &mut NoPersonal, out))
}

/// The value with these bytes, all of them.
///
/// # Errors
/// [`ShapeError::UnknownFormat`] means "upgrade the program"; every other error means that the bytes are
/// damaged.
pub fn decode<S: Shape<D> + Decode<()>, D>(what: &'static str, format: u8, bytes: &[u8]) -> Result<D, ShapeError> {
    codec::decode::<S>(what, format, bytes)?.unpack(&NoPersonal)
}
