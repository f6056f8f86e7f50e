//! Searches of the activity log: every filter is a range of an index or a union of some; filters together are
//! their intersection. Only a text that may be a part of an id is looked for on the rows.

mod merge;
mod search;
mod terms;

pub use search::{Selection, search};
pub use terms::Terms;
