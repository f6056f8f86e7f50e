//! Versions of the formats on disk.

/// Format of keys and records. A program refuses a store of another one: nothing was released before 0.1.0, and stores of
/// earlier development versions are not read.
pub const FORMAT: u32 = 2;

/// Format of the derived rows. A program with a lower one refuses the store.
pub const ROW_FORMAT: u32 = 10;

/// The oldest format whose rows are all there. A start writes what those of older ones lack, and raises the store to
/// [`ROW_FORMAT`].
pub const OLDEST_ROW_FORMAT: u32 = 10;

const _: () = assert!(ROW_FORMAT == crate::shapes::ROW_FORMAT as u32, "rows begin with the format of the store");
