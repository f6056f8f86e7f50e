//! `till verify`: replays every merchant's log and holds everything derived from it against what is stored.
//!
//! It reads and never writes, but for a scratch directory of its own when a merchant's rows outgrow memory,
//! and it reads the families by key, so that it can tell what stands where and go on behind a damaged block.

mod concern;
mod report;
mod row_name;
mod walk;
mod job;
mod personal;
mod scratch;
mod replayed;
mod log;
mod comparison;
mod statements;
mod inspection;
mod merchant;
mod threads;
mod strays;
mod directory;
mod vault;
mod book;
mod verifier;
mod derive;

pub use concern::Concern;
pub(crate) use derive::{DeriveError, Derived, derive, directory_owner, is_taken_over};
pub use report::{BookSums, Fault, Place, Progress, Report, Wrong};
pub use row_name::RowName;
pub use scratch::ScratchError;
pub use verifier::{VerifyOptions, verify};
