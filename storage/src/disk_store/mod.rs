//! The journal and the rows of one data directory: local bytes, and around them the stages that a commit passes.

mod caught_up;
mod deployment;
mod fetching;
mod rows;
mod store;

pub use deployment::{Archiving, Deployment};
pub use store::DiskStore;
