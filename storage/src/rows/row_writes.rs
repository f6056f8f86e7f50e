//! Rows to write, in one piece of memory. A payment changes some twenty rows: one thread builds them and another frees
//! them, which costs more for each allocation than copying its content.

use std::fmt;

use crate::family::Family;

/// The initial capacity for each row, in bytes: that of a usual row. Most rows are entries of an index.
const USUAL_ROW_BYTES: usize = 96;

/// One row to write, or to delete when it has no value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RowWrite<'a> {
    /// The family.
    pub family: Family,
    /// The key, see [`crate::keys`].
    pub key: &'a [u8],
    /// The value; none deletes the row.
    pub value: Option<&'a [u8]>,
}

/// Shows sizes only: the content of values must not appear in a log.
impl fmt::Debug for RowWrite<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value.map(<[u8]>::len);
        write!(f, "RowWrite({}, key of {} bytes, value of {value:?} bytes)", self.family, self.key.len())
    }
}

/// Rows to write and to delete, in their order.
#[derive(Clone, Default)]
pub struct RowWrites {
    bytes: Vec<u8>,
    spans: Vec<RowSpan>,
}

/// The range of a row in the bytes: the key, and after it the value, if it has one.
#[derive(Clone, Copy)]
struct RowSpan {
    family: Family,
    start: usize,
    key_end: usize,
    value_end: Option<usize>,
}

impl RowWrites {
    /// An empty list with room for this number of usual rows.
    #[must_use]
    pub fn with_room(rows: usize) -> RowWrites {
        RowWrites { bytes: Vec::with_capacity(rows * USUAL_ROW_BYTES), spans: Vec::with_capacity(rows) }
    }

    /// Adds a row, copied.
    pub fn push(&mut self, row: RowWrite<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(row.key);
        let key_end = self.bytes.len();
        let value_end = row.value.map(|value| {
            self.bytes.extend_from_slice(value);
            self.bytes.len()
        });
        self.spans.push(RowSpan { family: row.family, start, key_end, value_end });
    }

    /// Begins a row that is written in place: `key` pushes its key and returns its family. The row is added once it
    /// gets its value or is deleted.
    pub fn begin(&mut self, key: impl FnOnce(&mut Vec<u8>) -> Family) -> BegunRow<'_> {
        let start = self.bytes.len();
        let family = key(&mut self.bytes);
        BegunRow { span: RowSpan { family, start, key_end: self.bytes.len(), value_end: None }, writes: self }
    }

    /// The rows, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = RowWrite<'_>> {
        self.spans.iter().map(|span| RowWrite {
            family: span.family,
            key: &self.bytes[span.start..span.key_end],
            value: span.value_end.map(|value_end| &self.bytes[span.key_end..value_end]),
        })
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns true when there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// About the number of bytes that they add to a write.
    pub fn byte_count(&self) -> usize {
        self.bytes.len() + size_of_val(self.spans.as_slice())
    }
}

/// A row that has its key.
#[must_use = "it is not written yet"]
pub struct BegunRow<'a> {
    writes: &'a mut RowWrites,
    span: RowSpan,
}

impl BegunRow<'_> {
    /// Adds it with the value that `value` pushes.
    ///
    /// # Errors
    /// The error of `value`; the row is not added then.
    pub fn put<E>(self, value: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let RowWrites { bytes, spans } = self.writes;
        if let Err(error) = value(bytes) {
            bytes.truncate(self.span.start);
            return Err(error);
        }
        spans.push(RowSpan { value_end: Some(bytes.len()), ..self.span });
        Ok(())
    }

    /// Adds it as a deletion.
    pub fn delete(self) {
        self.writes.spans.push(self.span);
    }
}

impl<'a> FromIterator<RowWrite<'a>> for RowWrites {
    fn from_iter<I: IntoIterator<Item = RowWrite<'a>>>(rows: I) -> RowWrites {
        let mut writes = RowWrites::default();
        rows.into_iter().for_each(|row| writes.push(row));
        writes
    }
}

impl PartialEq for RowWrites {
    fn eq(&self, other: &RowWrites) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for RowWrites {}

impl fmt::Debug for RowWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: RowWrite<'static> = RowWrite { family: Family::Rows, key: b"key", value: Some(b"value") };
    const EMPTY: RowWrite<'static> = RowWrite { family: Family::Vault, key: b"other", value: Some(b"") };
    const DELETED: RowWrite<'static> = RowWrite { family: Family::Rows, key: b"key", value: None };

    #[test]
    fn rows_come_back_as_they_were_added() {
        let writes: RowWrites = [SET, EMPTY, DELETED].into_iter().collect();
        assert_eq!(writes.iter().collect::<Vec<_>>(), [SET, EMPTY, DELETED]);
        assert_eq!((writes.len(), writes.is_empty(), RowWrites::default().is_empty()), (3, false, true));
    }

    #[test]
    fn a_row_written_in_place_equals_a_copied_one() {
        let mut writes = RowWrites::with_room(3);
        for row in [SET, EMPTY, DELETED] {
            let begun = writes.begin(|bytes| {
                bytes.extend_from_slice(row.key);
                row.family
            });
            let Some(value) = row.value else {
                begun.delete();
                continue;
            };
            let put = begun.put(|bytes| {
                bytes.extend_from_slice(value);
                Ok::<(), ()>(())
            });
            put.expect("it is written");
        }
        assert_eq!(writes, [SET, EMPTY, DELETED].into_iter().collect());
    }

    #[test]
    fn a_row_whose_value_fails_leaves_no_bytes() {
        let mut writes: RowWrites = [SET].into_iter().collect();
        let begun = writes.begin(|bytes| {
            bytes.push(8);
            Family::Rows
        });
        let failed = begun.put(|bytes| {
            bytes.push(7);
            Err("no")
        });
        assert_eq!(failed, Err("no"));
        writes.push(EMPTY);
        assert_eq!(writes.iter().collect::<Vec<_>>(), [SET, EMPTY]);
    }

    #[test]
    fn writes_are_equal_by_their_rows_and_hide_their_values() {
        let split = |at: usize| {
            let (key, value) = b"keyvalue".split_at(at);
            [RowWrite { family: Family::Rows, key, value: Some(value) }].into_iter().collect::<RowWrites>()
        };
        assert_eq!(split(3), [SET].into_iter().collect());
        assert_ne!(split(3), split(4));
        assert_eq!(format!("{:?}", split(3)), "[RowWrite(rows, key of 3 bytes, value of Some(5) bytes)]");
    }
}
