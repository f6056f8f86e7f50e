//! Settings of the process as the system sees it: file descriptors, the owner of files, memory, and the log.

pub(crate) mod descriptors;
pub(crate) mod logging;
pub(crate) mod owner_only;
pub(crate) mod small_pages;

/// The version of the program, with the profile and the revision that it was built of, such as
/// `0.1.0 (release, 0a1b2c3d4e5f)`.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILD_OF_TILL"), ")");
