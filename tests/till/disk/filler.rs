//! Another program that fills the disk.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::free_bytes;

/// A file that takes space until it is dropped.
pub(crate) struct Filler {
    file: PathBuf,
}

impl Filler {
    /// Takes space until at most `left_bytes` are left.
    pub(crate) fn leaving(directory: &Path, left_bytes: u64) -> Filler {
        let filler = Filler { file: directory.join("filler") };
        let mut length = 0;
        loop {
            let free = free_bytes(directory);
            if free <= left_bytes.max(64 * 1024) {
                return filler;
            }
            length += free - left_bytes;
            let taken = Command::new("fallocate").args(["-l", &length.to_string()]).arg(&filler.file).output();
            let taken = taken.expect("fallocate is installed").status;
            if !taken.success() {
                // Another writer took some space meanwhile, and fallocate has taken the rest.
                return filler;
            }
        }
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file); // The disk may be unmounted already.
    }
}
