//! Rows: the data derived from the logs, read by key or by range.

mod page;
mod row_writes;
mod store;

pub use page::Beside;
pub use row_writes::{BegunRow, RowWrite, RowWrites};
pub use store::{ReadAtHand, RowError, RowGate, RowPair, RowRange, RowReader, RowStore, ScanDirection, Visit};
