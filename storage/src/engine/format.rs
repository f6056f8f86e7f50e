//! Versions of what stands on disk.

/// Format of keys and records. A program refuses a store of a higher one.
pub const FORMAT: u32 = 1;

/// Format of the derived rows. A program with a lower one refuses the store. Whoever raises it brings the
/// rebuild of rows from the log along: there is none yet, since no store has a lower one.
pub const ROW_FORMAT: u32 = 1;

const _: () = assert!(ROW_FORMAT == crate::shapes::ROW_FORMAT as u32, "rows begin with the format of the store");
