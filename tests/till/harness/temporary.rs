//! Directories that live as long as a test.

use std::path::PathBuf;

use tempfile::TempDir;

/// A new directory, which is removed when it is dropped.
pub(crate) fn directory() -> TempDir {
    TempDir::new().expect("a temporary directory can be made")
}

/// The same, and the paths of these names in it, at which nothing is yet.
pub(crate) fn temporary<const COUNT: usize>(names: [&str; COUNT]) -> (TempDir, [PathBuf; COUNT]) {
    let directory = directory();
    let paths = names.map(|name| directory.path().join(name));
    (directory, paths)
}
