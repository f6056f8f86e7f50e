//! Settings of the process as the system sees it: file descriptors, the owner of files, memory, and the log.

pub mod descriptors;
pub mod logging;
pub mod owner_only;
pub mod small_pages;
