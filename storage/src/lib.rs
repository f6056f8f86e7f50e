//! Bytes and files: keys, records, the journal and its group commit, rows and their families, snapshots,
//! recovery.
//!
//! Formats on disk are described where they are written: keys in [`keys`], records in [`journal::record`],
//! snapshots in [`journal::snapshot`], the high-water mark in [`engine::high_water`].

pub mod family;
pub mod keys;
mod positions;
pub mod journal;
pub mod rows;
pub mod memory;
pub mod commit;
pub mod archive_queue;
pub mod engine;
pub mod disk_store;
pub mod statistics;
pub mod turns;
pub mod vault;
pub mod shapes;
pub mod deliveries;
