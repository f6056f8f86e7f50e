//! A store that is being restored or repaired, with a buffer of changes that are not written to it yet.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use till_storage::engine::Unlogged;
use till_storage::family::Family;
use till_storage::journal::layout::WriteSink;
use till_storage::rows::{RowError, RowRange, RowReader, Visit};

/// Bytes of buffered changes from which they are written.
const WAITING_BYTES_MAX: usize = 16 * 1024 * 1024;

type BufferedRows = BTreeMap<(Family, Vec<u8>), Option<Vec<u8>>>;

/// A store that is being restored or repaired.
pub(crate) struct Overlay {
    store: Unlogged,
    waiting: RefCell<BufferedRows>,
    waiting_bytes: Cell<usize>,
}

impl Overlay {
    pub(crate) fn new(store: Unlogged) -> Overlay {
        Overlay { store, waiting: RefCell::default(), waiting_bytes: Cell::new(0) }
    }

    /// Sets a row, or removes it.
    pub(crate) fn set(&self, family: Family, key: Vec<u8>, value: Option<Vec<u8>>) {
        let bytes = key.len() + value.as_ref().map_or(0, Vec::len);
        self.waiting_bytes.set(self.waiting_bytes.get() + bytes);
        self.waiting.borrow_mut().insert((family, key), value);
    }

    /// Removes every row from the first key, inclusive, to the second, exclusive, however many there are.
    pub(crate) fn clear(&self, family: Family, range: &(Vec<u8>, Vec<u8>)) -> Result<(), RowError> {
        self.write()?;
        self.store.clear(family, range)
    }

    /// Writes the buffered changes, when there are many.
    pub(crate) fn write_if_much(&self) -> Result<(), RowError> {
        if self.waiting_bytes.get() < WAITING_BYTES_MAX { Ok(()) } else { self.write() }
    }

    /// Writes the buffered changes.
    pub(crate) fn write(&self) -> Result<(), RowError> {
        let waiting = self.waiting.take();
        self.waiting_bytes.set(0);
        let writes = waiting.iter().map(|((family, key), value)| (*family, key.as_slice(), value.as_deref()));
        self.store.write(writes)
    }

    /// Writes everything and makes it durable.
    pub(crate) fn finish(self) -> Result<(), RowError> {
        self.write()?;
        self.store.finish()
    }
}

impl RowReader for Overlay {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        match self.waiting.borrow().get(&(family, key.to_vec())) {
            Some(value) => Ok(value.clone()),
            None => self.store.get(family, key),
        }
    }

    /// Reads written rows only: a caller that walks writes the buffered changes first.
    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        self.store.visit(range, visit)
    }
}

impl WriteSink for &Overlay {
    fn put(&mut self, family: Family, key: &[u8], value: &[u8]) {
        self.set(family, key.to_vec(), Some(value.to_vec()));
    }

    fn delete(&mut self, family: Family, key: &[u8]) {
        self.set(family, key.to_vec(), None);
    }
}
