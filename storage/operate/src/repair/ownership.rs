//! Ownership of the files that a repair makes. A repair usually runs as root, because only root may read the vault key.
//! The server does not run as root, and could not open files that belong to root.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::Path;

/// Gives the files that this process has made below a data directory to the owner of that directory.
///
/// # Errors
/// The error of the operating system, when an owner cannot be read or changed.
pub fn give_to_owner(directory: &Path) -> io::Result<()> {
    let (owner, own) = (fs::metadata(directory)?, rustix::process::geteuid().as_raw());
    if owner.uid() == own {
        return Ok(());
    }
    give(directory, &owner, &|found| found.uid() == own)
}

fn give(directory: &Path, owner: &Metadata, is_ours: &dyn Fn(&Metadata) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let found = fs::symlink_metadata(&path)?;
        if found.is_dir() {
            give(&path, owner, is_ours)?;
        }
        if is_ours(&found) {
            lchown(&path, Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only root can change the owner of a file. Under another user, the test only checks that no owner changes.
    #[test]
    fn only_files_of_root_are_given_to_the_owner_of_the_directory() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("db"))?;
        for name in ["db/CURRENT", "high-water", "another-s"] {
            fs::write(path(name), name)?;
        }
        let owners = || -> io::Result<Vec<u32>> {
            ["db", "db/CURRENT", "high-water", "another-s"]
                .map(|name| fs::symlink_metadata(path(name)).map(|found| found.uid()))
                .into_iter()
                .collect()
        };
        let before = owners()?;
        if !rustix::process::geteuid().is_root() {
            give_to_owner(directory.path())?;
            assert_eq!(owners()?, before);
            return Ok(());
        }
        lchown(directory.path(), Some(1_234), Some(1_234))?;
        lchown(path("another-s"), Some(4_321), None)?;
        give_to_owner(directory.path())?;
        assert_eq!(owners()?, [1_234, 1_234, 1_234, 4_321]);
        Ok(())
    }
}
