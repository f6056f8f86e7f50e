//! `till verify`: replays every merchant's log and compares everything derived from it with the stored rows.
//!
//! It reads and never writes, except to a scratch directory of its own when a merchant's rows outgrow memory. It reads
//! the families by key, so that it can name the location of a fault and continue after a damaged block.

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
pub use report::{BookSums, Fault, FaultLocation, Report, VerifyProgress, Wrong};
pub use row_name::RowName;
pub use scratch::ScratchError;
pub use verifier::{VerifyOptions, verify};
