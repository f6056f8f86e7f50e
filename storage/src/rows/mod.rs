//! Rows: the data derived from the logs, read by key or by range.

mod lagging;
mod page;
mod store;

pub(crate) use lagging::LaggingRows;
pub use page::{Beside, Cursor};
pub use store::{ReadAtHand, RowError, RowGate, RowPair, RowRange, RowReader, RowStore, ScanDirection, Visit};
