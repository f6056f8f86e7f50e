//! Versions of the formats on disk.

/// Format of keys and records. Its first two bytes name the formats of releases, which begin at 1: those of the
/// development versions before 0.1.0, which are not read, have zeros there. A program refuses a store of another
/// format.
pub const FORMAT: u32 = u32::from_be_bytes([b'T', b'L', 0, 7]);

/// The number in a format.
pub(super) const fn number(format: u32) -> u32 {
    format & 0xffff
}

/// Format of the derived rows. A program with a lower one refuses the store, and one with a higher one raises it.
pub const ROW_FORMAT: u32 = crate::shapes::ROW_FORMAT as u32;
