//! `till verify`: replays every merchant's log and compares everything derived from it with the stored rows.
//!
//! It reads and never writes, except to a scratch directory of its own when a merchant's rows outgrow memory. It reads
//! the families by key, so that it can name the location of a fault and continue after a damaged block.

mod row_name;
mod fault;
mod concern;
mod faults;
mod report;
mod options;
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
pub(crate) use derive::{DeriveError, Derived, derive};
pub(crate) use directory::{directory_owner, is_taken_over};
pub use fault::{BookSums, Fault, FaultLocation, Wrong};
pub use options::VerifyOptions;
pub use report::{Report, VerifyProgress};
pub use row_name::RowName;
pub use scratch::ScratchError;
pub use verifier::verify;
