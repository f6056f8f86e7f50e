//! Strict JSON: parsing of bodies, and their values.

mod canonical;
mod literals;
mod number;
mod parse;
mod reading;
mod unread;
mod value;

pub use canonical::{canonical, depth};
pub use number::Number;
#[cfg(test)]
pub use parse::parse_object;
pub use parse::read_object;
pub use reading::{Bounds, ExpectedValue, UNKNOWN_NAMES_MAX};
pub use unread::{Malformed, Unread};
pub use value::{Json, Object};
