//! Strict JSON: what a body may be, and the value it becomes.

mod canonical;
mod number;
mod parse;
mod value;
mod weight;

pub use canonical::{canonical, depth};
pub use number::Number;
pub use parse::{DEPTH_MAX, Malformed, parse_object};
pub use value::{Json, Object};
pub use weight::weight;
