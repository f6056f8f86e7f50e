//! The head of a store: a line of text that names its last commit by number and hash. It is kept elsewhere, and shows
//! later whether a store, a restored store or an archive still has everything up to that commit.
//!
//! Source: `docs/storage-format.md`, "The head of a store".

mod of_archive;
mod of_store;
mod text;

pub use of_archive::{check_archive, head_of_archive};
pub use of_store::{Descent, HeadError, check_store, head_of_store};
pub use text::{HeadFault, HeadTextError, StoreHead};
