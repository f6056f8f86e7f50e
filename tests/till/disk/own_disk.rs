//! A small file system in a file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Mounted as long as this lives.
pub(super) struct OwnDisk {
    directory: TempDir,
    is_mounted: bool,
}

impl OwnDisk {
    /// Makes one of so many bytes; None, with a line that says why, where that is not possible.
    pub(super) fn make(bytes: u64) -> Option<OwnDisk> {
        let directory = TempDir::new().expect("a temporary directory can be made");
        let mut disk = OwnDisk { directory, is_mounted: false };
        let image = File::create(disk.image()).expect("a file can be made");
        image.set_len(bytes).expect("a file can be grown");
        std::fs::create_dir(disk.root()).expect("a directory can be made");
        let made = succeeds(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0"]).arg(disk.image()));
        match made.and_then(|()| disk.mount()) {
            Ok(()) => Some(disk),
            Err(reason) => {
                println!("skipped: no file system of its own can be mounted here: {reason}");
                None
            }
        }
    }

    /// Mounts it. A file system that finds an error of its own is read-only from then on.
    pub(super) fn mount(&mut self) -> Result<(), String> {
        let options = ["-o", "loop,errors=remount-ro"];
        succeeds(Command::new("mount").args(options).arg(self.image()).arg(self.root()))?;
        self.is_mounted = true;
        Ok(())
    }

    /// Unmounts it and repairs what a broken-off file system left.
    pub(super) fn unmount_and_repair(&mut self) {
        succeeds(Command::new("umount").arg(self.root())).expect("nobody uses it");
        self.is_mounted = false;
        // 1: errors were corrected.
        let status = Command::new("e2fsck").args(["-f", "-y"]).arg(self.image()).output().expect("it is there").status;
        assert!(matches!(status.code(), Some(0 | 1)), "{status}");
    }

    /// Makes the file system believe that it has an error; None where the system cannot.
    pub(super) fn break_off(&self) -> Option<()> {
        let source = Command::new("findmnt").args(["-n", "-o", "SOURCE"]).arg(self.root()).output().ok()?;
        let device = String::from_utf8(source.stdout).ok()?;
        let device = device.trim().strip_prefix("/dev/")?.to_owned();
        std::fs::write(format!("/sys/fs/ext4/{device}/trigger_fs_error"), "1").ok()
    }

    /// Where it is mounted.
    pub(super) fn root(&self) -> PathBuf {
        self.directory.path().join("disk")
    }

    fn image(&self) -> PathBuf {
        self.directory.path().join("image")
    }
}

impl Drop for OwnDisk {
    fn drop(&mut self) {
        if self.is_mounted {
            let _ = Command::new("umount").arg("-l").arg(self.root()).status(); // Nothing more can be done about it.
        }
    }
}

/// Free bytes of the file system of a directory.
pub(super) fn free_bytes(directory: &Path) -> u64 {
    let output = Command::new("df").args(["-B1", "--output=avail"]).arg(directory).output().expect("df is there");
    let text = String::from_utf8(output.stdout).expect("it is text");
    text.lines().nth(1).and_then(|line| line.trim().parse().ok()).expect("a number")
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
