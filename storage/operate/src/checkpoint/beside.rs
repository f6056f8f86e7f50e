//! The databases beside the store, which are copied with it.

use std::sync::Arc;

use till_storage::deliveries::RocksDeliveries;

use crate::acquirer_book::{CopiedBook, LinkFiles};

/// A book that is copied with the store.
pub struct BookBeside {
    /// Its directory, below the data directory and below a checkpoint.
    pub directory: &'static str,
    /// The book, which is open in the same process.
    pub book: Box<dyn CopiedBook>,
}

impl CopiedBook for Arc<RocksDeliveries> {
    fn hold(&self) -> LinkFiles<'_> {
        Box::new(RocksDeliveries::hold(self))
    }
}
