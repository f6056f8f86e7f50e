//! `till repair`: restores data without a checkpoint, from a log that has all of it.
//!
//! Nothing is changed in place. A copy of the database is made beside it that shares its table files, the copy is
//! repaired and verified, and only then do the two change places. If the repair is killed at any moment, the directory
//! has either the old database or the new one, and the repair can be run again.

mod ownership;
mod rebuild;
mod workshop;

pub use till_storage::engine::BEFORE_DIRECTORY;

pub use ownership::give_to_owner;
pub use rebuild::{Rebuild, RepairError};
pub use workshop::Workshop;
