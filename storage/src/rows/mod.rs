//! Rows: what is derived from the logs, read by key or by range.

mod store;

pub use store::{Direction, Gate, RowError, RowPair, RowReader, RowStore, Visit};
