//! A small file system for a test, which can fill up, shut down and lose power: an ext4 in a file, mounted through a
//! loop device, which needs root, loop devices and `mkfs.ext4`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// `EXT4_IOC_SHUTDOWN` of a directory, with flags: from now on nothing is written, neither data nor the journal.
/// Source: `fs/ext4/ext4.h` of Linux; `_IOR('X', 125, __u32)`.
const SHUT_DOWN: &str = "sysopen(my $root, $ARGV[0], 0) or die qq($!); my $flags = pack('L', $ARGV[1]); \
                         ioctl($root, 0x8004587D, $flags) or die qq($!)";

/// `EXT4_GOING_FLAGS_DEFAULT`: writes that are under way are finished first.
const FINISH_FIRST: &str = "0";

/// `EXT4_GOING_FLAGS_NOLOGFLUSH`: at once. A sync that is under way at this moment may succeed and yet be lost, which
/// no power cut does: a program that only writes and syncs lost its last sync in 34 of 300 such shutdowns.
const AT_ONCE: &str = "2";

/// A mounted volume. Dropping it unmounts and removes it.
pub(crate) struct Volume {
    directory: TempDir,
    is_mounted: bool,
}

impl Volume {
    /// Makes and mounts a volume of `bytes` bytes, none of them reserved for root.
    ///
    /// # Errors
    /// The operation that this machine does not allow.
    pub(crate) fn new(bytes: u64) -> Result<Volume, String> {
        let directory = TempDir::new().map_err(|error| error.to_string())?;
        let mut volume = Volume { directory, is_mounted: false };
        let image = File::create(volume.image()).map_err(|error| error.to_string())?;
        image.set_len(bytes).map_err(|error| error.to_string())?;
        std::fs::create_dir(volume.path()).map_err(|error| error.to_string())?;
        run(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0"]).arg(volume.image()))?;
        volume.mount()?;
        Ok(volume)
    }

    /// A new volume.
    #[track_caller]
    pub(crate) fn made(bytes: u64) -> Volume {
        Volume::new(bytes).unwrap_or_else(|reason| panic!("this machine makes no volume: {reason}"))
    }

    /// The path of the mount.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("volume")
    }

    fn image(&self) -> PathBuf {
        self.directory.path().join("image")
    }

    /// Mounts the volume. When the file system finds an error in itself, it becomes read-only.
    ///
    /// # Errors
    /// The message of the system.
    pub(crate) fn mount(&mut self) -> Result<(), String> {
        let options = ["-o", "loop,errors=remount-ro"];
        run(Command::new("mount").args(options).arg(self.image()).arg(self.path()))?;
        self.is_mounted = true;
        Ok(())
    }

    /// Unmounts the volume. No file on it may be open.
    fn unmount(&mut self) {
        run(Command::new("umount").arg(self.path())).expect("nothing holds it");
        self.is_mounted = false;
    }

    /// Cuts the power: everything that was not synced is lost. No sync may be under way at this moment.
    pub(crate) fn cut_power(&self) {
        self.shut_down(AT_ONCE).expect("the power can be cut");
    }

    fn shut_down(&self, flags: &str) -> Result<Output, String> {
        run(Command::new("perl").args(["-e", SHUT_DOWN]).arg(self.path()).arg(flags))
    }

    /// Mounts the volume again after a cut. No file on it may be open.
    pub(crate) fn mount_again(&mut self) {
        self.unmount();
        self.mount().expect("what a cut leaves can be mounted");
    }

    /// Makes every write and every sync fail from now on.
    #[track_caller]
    pub(crate) fn break_off(&self) {
        self.shut_down(FINISH_FIRST).expect("the file system can be shut down");
    }

    /// Unmounts the volume and repairs it after a shutdown. No file on it may be open.
    pub(crate) fn unmount_and_repair(&mut self) {
        self.unmount();
        // Exit code 1 means that errors were corrected.
        let status = Command::new("e2fsck").args(["-f", "-y"]).arg(self.image()).output().expect("it is there").status;
        assert!(matches!(status.code(), Some(0 | 1)), "{status}");
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        // The unmount is lazy, because a test that failed may leave a server with open files on the volume.
        if self.is_mounted
            && let Err(error) = run(Command::new("umount").arg("--lazy").arg(self.path()))
        {
            eprintln!("a volume stays mounted: {error}");
        }
    }
}

/// Free bytes of the file system of a directory.
pub(crate) fn free_bytes(directory: &Path) -> u64 {
    let output = run(Command::new("df").args(["-B1", "--output=avail"]).arg(directory)).expect("df is there");
    let text = String::from_utf8(output.stdout).expect("it is text");
    text.lines().nth(1).and_then(|line| line.trim().parse().ok()).expect("a number")
}

/// Runs a program of the system.
fn run(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
