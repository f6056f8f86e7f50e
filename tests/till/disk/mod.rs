//! A disk that is full, or cannot be written to any more: writes are refused with a clear message, reads continue, and
//! everything that was acknowledged is there in any case.
//!
//! The tests with a disk of their own need Linux, root and loop devices; `make test` skips them where there are none.
//! `TILL_DISK_ROUNDS` sets the number of times that the disk is filled (`make disk-full`).

mod campaign;
mod checkpoint_copy;
pub(crate) mod filler;
mod load;
mod on_a_volume;
mod read_only;
mod reserve;
mod strangers;

/// A mebibyte.
const MIB: u64 = 1 << 20;
