//! The store as the actors see it: the journal and the rows derived from it.

use till_storage::journal::Journal;
use till_storage::rows::RowStore;

/// A journal with its rows.
pub trait Store: Journal + RowStore {}

impl<S: Journal + RowStore> Store for S {}
