//! A small file system of a test's own: it can lose power. An ext4 in a file, mounted through a loop device, which
//! needs root, loop devices and `mkfs.ext4`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH`: from now on nothing is written, neither data nor the journal.
/// Source: `fs/ext4/ext4.h` of Linux; `_IOR('X', 125, __u32)` with 2.
const CUT: &str = "sysopen(my $root, $ARGV[0], 0) or die qq($!); my $flags = pack('L', 2); \
                   ioctl($root, 0x8004587D, $flags) or die qq($!)";

/// A mounted volume. Dropping it unmounts and removes it.
pub(crate) struct Volume {
    directory: TempDir,
}

impl Volume {
    /// Makes and mounts one of so many bytes.
    ///
    /// # Errors
    /// What this machine does not allow.
    pub(crate) fn new(bytes: u64) -> Result<Volume, String> {
        let volume = Volume { directory: TempDir::new().map_err(|error| error.to_string())? };
        let image = File::create(volume.image()).map_err(|error| error.to_string())?;
        image.set_len(bytes).map_err(|error| error.to_string())?;
        std::fs::create_dir(volume.path()).map_err(|error| error.to_string())?;
        run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(volume.image()))?;
        volume.mount()?;
        Ok(volume)
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("volume")
    }

    fn image(&self) -> PathBuf {
        self.directory.path().join("image")
    }

    fn mount(&self) -> Result<(), String> {
        run(Command::new("mount").args(["-o", "loop"]).arg(self.image()).arg(self.path()))
    }

    /// Cuts the power: what was not synced is gone.
    pub(crate) fn cut_power(&self) {
        run(Command::new("perl").args(["-e", CUT]).arg(self.path())).expect("the power can be cut");
    }

    /// Mounts what is left of it after a cut. Nothing may have a file on it open.
    pub(crate) fn mount_again(&self) {
        unmount(&self.path()).expect("nothing holds it");
        self.mount().expect("what a cut leaves can be mounted");
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        if let Err(error) = unmount(&self.path()) {
            eprintln!("a volume stays mounted: {error}");
        }
    }
}

fn unmount(path: &Path) -> Result<(), String> {
    run(Command::new("umount").arg(path))
}

/// Runs a program of the system.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
