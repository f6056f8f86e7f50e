//! Versions of what stands on disk.

/// Format of keys and records. A program refuses a store of a higher one.
pub const FORMAT: u32 = 1;

/// Format of the derived rows. A program with a higher one rebuilds the rows from the log; a program with a
/// lower one refuses the store.
pub const ROW_FORMAT: u32 = 1;
