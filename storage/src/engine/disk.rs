//! Free space: writes are refused before RocksDB gets an error of a full or read-only disk, because such an error
//! of its own write stops the process.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::StatVfsMountFlags;

/// The maximum age of a figure of the free space. Writes since then are subtracted from it.
pub(super) const FIGURE_AGE_MAX: Duration = Duration::from_millis(200);

/// Bytes of the reserve for writes by which an operator or a merchant ends what fills the disk: 8 MiB, some ten
/// thousand of them. They are available again once the disk has more than its reserve.
const BELOW_RESERVE_BYTES: u64 = 8 * 1024 * 1024;

type Probe = Box<dyn FnMut() -> io::Result<Space> + Send>;

/// The space of a file system, as the system reports it.
#[derive(Debug, Clone, Copy)]
struct Space {
    free_bytes: u64,
    is_read_only: bool,
}

struct Figure {
    free_bytes: u64,
    at: Instant,
}

/// Watches the free space of one file system.
pub struct DiskReserve {
    reserve_bytes: u64,
    /// The rest of [`BELOW_RESERVE_BYTES`].
    below_reserve_left: u64,
    probe: Probe,
    figure: Option<Figure>,
}

impl DiskReserve {
    /// Watches the file system that `directory` is on.
    #[must_use]
    pub fn watch(directory: &Path, reserve_bytes: u64) -> DiskReserve {
        let directory = directory.to_owned();
        DiskReserve::new(reserve_bytes, Box::new(move || space(&directory)))
    }

    fn new(reserve_bytes: u64, probe: Probe) -> DiskReserve {
        DiskReserve { reserve_bytes, below_reserve_left: BELOW_RESERVE_BYTES, probe, figure: None }
    }

    /// Admits a write of this size, or refuses it.
    ///
    /// # Errors
    /// The reason for which nothing may be written now, for an operator.
    pub fn admit(&mut self, byte_count: u64, now: Instant) -> Result<(), String> {
        self.take(byte_count, self.reserve_bytes, now)?;
        self.below_reserve_left = BELOW_RESERVE_BYTES;
        Ok(())
    }

    /// Admits a write of this size below the reserve, out of the 8 MiB that are set aside for such writes. As much
    /// stays free, so that RocksDB does not meet a full disk.
    ///
    /// # Errors
    /// The reason for which nothing may be written now, for an operator.
    pub(crate) fn admit_below_reserve(&mut self, byte_count: u64, now: Instant) -> Result<(), String> {
        let left = self.below_reserve_left.checked_sub(byte_count);
        let left = left.ok_or("the disk is down to its reserve, and the part of it for urgent changes is used up")?;
        self.take(byte_count, self.reserve_bytes.min(BELOW_RESERVE_BYTES), now)?;
        self.below_reserve_left = left;
        Ok(())
    }

    /// Subtracts a write from the free space, of which `kept_bytes` must be left.
    fn take(&mut self, byte_count: u64, kept_bytes: u64, now: Instant) -> Result<(), String> {
        let fresh = |figure: &Figure| now.duration_since(figure.at) < FIGURE_AGE_MAX;
        if !self.figure.as_ref().is_some_and(fresh) {
            let space = (self.probe)().map_err(|error| format!("the free disk space is unknown: {error}"))?;
            if space.is_read_only {
                return Err("the disk cannot be written to: its file system is read-only".to_owned());
            }
            self.figure = Some(Figure { free_bytes: space.free_bytes, at: now });
        }
        let Some(figure) = &mut self.figure else { return Ok(()) };
        let left = figure.free_bytes.checked_sub(byte_count).filter(|&left| left >= kept_bytes);
        figure.free_bytes = left.ok_or_else(|| {
            format!("{} bytes are free on the disk, {kept_bytes} are kept in reserve", figure.free_bytes)
        })?;
        Ok(())
    }
}

/// Bytes that are free on the file system of a directory.
pub fn free_bytes(directory: &Path) -> io::Result<u64> {
    Ok(space(directory)?.free_bytes)
}

fn space(directory: &Path) -> io::Result<Space> {
    let space = rustix::fs::statvfs(directory)?;
    let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    Ok(Space { free_bytes, is_read_only: space.f_flag.contains(StatVfsMountFlags::RDONLY) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

    use super::*;

    fn writable(free_bytes: u64) -> Space {
        Space { free_bytes, is_read_only: false }
    }

    #[test]
    fn writes_are_refused_below_the_reserve_until_space_is_free() {
        let free = Arc::new(AtomicU64::new(1_000));
        let seen = Arc::clone(&free);
        let mut disk = DiskReserve::new(600, Box::new(move || Ok(writable(seen.load(Relaxed)))));
        let start = Instant::now();
        assert!(disk.admit(300, start).is_ok());
        assert!(disk.admit(101, start).is_err(), "what was admitted counts until the next look");
        assert!(disk.admit(100, start).is_ok());
        free.store(599, Relaxed);
        let later = start + FIGURE_AGE_MAX;
        assert!(disk.admit(0, later).is_err());
        free.store(10_000, Relaxed);
        assert!(disk.admit(1, later + FIGURE_AGE_MAX / 2).is_err(), "the figure is not that old");
        assert!(disk.admit(1, later + FIGURE_AGE_MAX).is_ok());
    }

    #[test]
    fn urgent_changes_have_8_mib_below_the_reserve() {
        const MIB: u64 = 1024 * 1024;
        let free = Arc::new(AtomicU64::new(90 * MIB));
        let seen = Arc::clone(&free);
        let mut disk = DiskReserve::new(100 * MIB, Box::new(move || Ok(writable(seen.load(Relaxed)))));
        let start = Instant::now();
        assert!(disk.admit(1, start).is_err());
        assert!(disk.admit_below_reserve(5 * MIB, start).is_ok());
        assert!(disk.admit_below_reserve(3 * MIB + 1, start).is_err(), "more than is set aside");
        assert!(disk.admit_below_reserve(3 * MIB, start).is_ok());
        assert!(disk.admit_below_reserve(1, start).is_err());
        free.store(200 * MIB, Relaxed);
        assert!(disk.admit(1, start + FIGURE_AGE_MAX).is_ok(), "there is space again");
        free.store(8 * MIB, Relaxed);
        let later = start + 2 * FIGURE_AGE_MAX;
        assert!(disk.admit_below_reserve(1, later).is_err(), "RocksDB must not meet a full disk");
    }

    #[test]
    fn an_unknown_free_space_refuses_writes() {
        let mut disk = DiskReserve::new(0, Box::new(|| Err(io::Error::other("gone"))));
        assert!(disk.admit(1, Instant::now()).is_err());
    }

    #[test]
    fn the_free_space_of_a_directory_is_known() {
        assert!(space(Path::new(".")).is_ok_and(|space| space.free_bytes > 0 && !space.is_read_only));
    }

    #[test]
    fn writes_are_refused_while_the_disk_is_read_only() {
        let read_only = Arc::new(AtomicBool::new(true));
        let seen = Arc::clone(&read_only);
        let space = move || Ok(Space { free_bytes: u64::MAX, is_read_only: seen.load(Relaxed) });
        let mut disk = DiskReserve::new(0, Box::new(space));
        let start = Instant::now();
        assert!(disk.admit(1, start).is_err_and(|reason| reason.contains("read-only")));
        read_only.store(false, Relaxed);
        assert!(disk.admit(1, start).is_ok(), "a refusal is no figure that is kept");
    }
}
