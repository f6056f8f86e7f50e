//! Removal in the background: expired rows, metadata that nobody can see any more, and keys of removed customers in the
//! files.
//!
//! Only rows decide: data that is kept between two visits merely saves reading again. The rules check every row that is
//! named to them, so that a wrong guess removes nothing.

mod remover;
mod walk;
mod metadata_garbage;
mod eraser;

pub(crate) use eraser::Eraser;
pub(crate) use metadata_garbage::GarbageCollector;
pub use remover::EXPIRY_PAUSE;
pub(crate) use remover::Remover;
pub(crate) use walk::ExpiryWalk;
