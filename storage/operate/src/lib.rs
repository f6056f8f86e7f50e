//! The operator's tools over a store: archive, checkpoints and restores, verification, repair,
//! export and inspection.
//!
//! A payment needs nothing of this crate: the server runs an archiver and takes checkpoints, and everything else works
//! on a directory that no server has open.

pub mod acquirer_book;
mod durable;
mod last_used;
mod overlay;
mod priority;
mod time;
pub mod verify;
pub mod checkpoint;
pub mod repair;
pub mod archive;
pub mod scrub;
pub mod offline;
