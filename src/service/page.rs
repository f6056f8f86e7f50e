//! Pages: a range of ids, newest first, with the bodies of the calls for the pages beside it.

use std::marker::PhantomData;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use till_domain::ids::{Id, RawId};
use till_domain::records::Table;
use till_storage::rows::{Direction, RowPair, RowReader};
use till_storage::shapes::{StoredTable, id_range};

use super::reading::Reader;
use super::shared::unreadable;
use crate::protocol::api_error::ApiError;
use crate::protocol::field::{Cursor, PageRequest};

/// A kind of rows that is listed by its ids: cursors name them.
pub trait ListedTable: StoredTable<Key: Id + std::fmt::Display> {}

impl<T: StoredTable<Key: Id + std::fmt::Display>> ListedTable for T {}

/// A listed row behind its id.
pub type RowWithId<T> = (<T as Table>::Key, <T as Table>::Row);

/// The body of the call for a neighbouring page: a cursor, the size and the same filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    cursor: (&'static str, String),
    per_page: u16,
    filters: Vec<(&'static str, String)>,
}

impl Neighbour {
    /// The body for what is older than an entry.
    fn after(id: impl std::fmt::Display, per_page: u16) -> Neighbour {
        Neighbour { cursor: ("after", id.to_string()), per_page, filters: Vec::new() }
    }

    /// The body for what is newer than an entry.
    fn before(id: impl std::fmt::Display, per_page: u16) -> Neighbour {
        Neighbour { cursor: ("before", id.to_string()), per_page, filters: Vec::new() }
    }

    fn carrying(self, filters: &[(&'static str, String)]) -> Neighbour {
        Neighbour { filters: filters.to_vec(), ..self }
    }
}

impl Serialize for Neighbour {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry(self.cursor.0, &self.cursor.1)?;
        body.serialize_entry("per_page", &self.per_page)?;
        for (name, text) in &self.filters {
            body.serialize_entry(name, text)?;
        }
        body.end()
    }
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// The call for the page of newer entries.
    pub previous: Option<Neighbour>,
    /// The entries, newest first.
    pub page: Vec<T>,
    /// The call for the page of older entries.
    pub next: Option<Neighbour>,
}

/// Whether a list goes on beside a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// Whether there are newer entries.
    pub newer: bool,
    /// Whether there are older ones.
    pub older: bool,
}

/// Where a page without entries stands: right behind its cursor, on the side that the caller came to see. What lies
/// on the other side begins with the cursor's own entry, so the page beside it is the one that the caller came from.
pub fn vacancy<K: Id>(cursor: Option<Cursor<K>>) -> Option<K> {
    let (id, beyond) = match cursor? {
        Cursor::After(id) => (id, id.to_raw().predecessor()),
        Cursor::Before(id) => (id, id.to_raw().successor()),
    };
    Some(beyond.map_or(id, K::from_raw))
}

impl<T> Page<T> {
    /// The page that was found for a call, `id` being what cursors name of an entry.
    pub fn found<K: Id + std::fmt::Display>(
        request: PageRequest<K>,
        page: Vec<T>,
        id: impl Fn(&T) -> K,
        beside: Beside,
    ) -> Page<T> {
        let PageRequest { per_page, cursor } = request;
        let newest = page.first().map(&id).or(vacancy(cursor)).filter(|_| beside.newer);
        let oldest = page.last().map(&id).or(vacancy(cursor)).filter(|_| beside.older);
        Page {
            previous: newest.map(|id| Neighbour::before(id, per_page)),
            page,
            next: oldest.map(|id| Neighbour::after(id, per_page)),
        }
    }

    /// The page with each entry in another form.
    #[must_use]
    pub fn map<U>(self, mut form: impl FnMut(&T) -> U) -> Page<U> {
        Page { previous: self.previous, page: self.page.iter().map(&mut form).collect(), next: self.next }
    }

    /// The page with these filters in the calls for those beside it.
    #[must_use]
    pub fn carrying(self, filters: &[(&'static str, String)]) -> Page<T> {
        let carrying = |neighbour: Neighbour| neighbour.carrying(filters);
        Page { previous: self.previous.map(carrying), next: self.next.map(carrying), ..self }
    }
}

/// The page that a call asks for. An id that names nothing stands for its place in time.
///
/// # Errors
/// `UNAVAILABLE` when a row of the page cannot be read.
pub fn read_page<T: ListedTable>(reader: &Reader<'_>, request: PageRequest<T::Key>) -> Result<Page<T::Row>, ApiError> {
    let Page { previous, page, next } = read_page_with_ids::<T>(reader, request)?;
    Ok(Page { previous, page: page.into_iter().map(|(_, row)| row).collect(), next })
}

/// The page with the id of each row beside it.
///
/// # Errors
/// As [`read_page`].
pub fn read_page_with_ids<T: ListedTable>(
    reader: &Reader<'_>,
    request: PageRequest<T::Key>,
) -> Result<Page<RowWithId<T>>, ApiError> {
    let list = List::<T> { reader, view: reader.view(), kind: PhantomData };
    let Window { pairs, beside } = list.window(usize::from(request.per_page), request.cursor)?;
    let rows = pairs.iter().map(|(key, value)| Ok((id_of::<T>(key), reader.decode_of::<T>(value)?)));
    let rows = rows.collect::<Result<Vec<_>, ApiError>>()?;
    Ok(Page::found(request, rows, |(id, _)| *id, beside))
}

/// One list at one moment.
struct List<'a, T> {
    reader: &'a Reader<'a>,
    view: Box<dyn RowReader + 'a>,
    kind: PhantomData<T>,
}

/// The pairs of a page, newest first, and whether there is more on either side.
struct Window {
    pairs: Vec<RowPair>,
    beside: Beside,
}

impl<T: ListedTable> List<'_, T> {
    /// The page at a cursor: one entry more is read than asked for, to see whether the list goes on.
    fn window(&self, size: usize, cursor: Option<Cursor<T::Key>>) -> Result<Window, ApiError> {
        match cursor {
            None => {
                let (pairs, older) = self.backward(size, None)?;
                Ok(Window { pairs, beside: Beside { newer: false, older } })
            }
            Some(Cursor::After(id)) => {
                let (pairs, older) = self.backward(size, Some(id))?;
                let newer = self.is_newer(ids_of::<T>(pairs.first()).or(vacancy(cursor)))?;
                Ok(Window { pairs, beside: Beside { newer, older } })
            }
            Some(Cursor::Before(id)) => {
                let (pairs, newer) = self.forward(size, id)?;
                let older = self.is_older(ids_of::<T>(pairs.last()).or(vacancy(cursor)))?;
                Ok(Window { pairs, beside: Beside { newer, older } })
            }
        }
    }

    /// The newest entries, or those next to `before` on its older side, and whether there are older ones.
    fn backward(&self, size: usize, before: Option<T::Key>) -> Result<(Vec<RowPair>, bool), ApiError> {
        let mut pairs = self.scan(None, before, Direction::Backward, size.saturating_add(1))?;
        let goes_on = pairs.len() > size;
        pairs.truncate(size);
        Ok((pairs, goes_on))
    }

    /// The entries next to `after` on its newer side, newest first like every page, and whether there are newer ones.
    fn forward(&self, size: usize, after: T::Key) -> Result<(Vec<RowPair>, bool), ApiError> {
        let mut pairs = self.scan(Some(after), None, Direction::Forward, size.saturating_add(1))?;
        let goes_on = pairs.len() > size;
        pairs.truncate(size);
        pairs.reverse();
        Ok((pairs, goes_on))
    }

    /// Whether there is an entry newer than `id`.
    fn is_newer(&self, id: Option<T::Key>) -> Result<bool, ApiError> {
        let Some(id) = id else { return Ok(false) };
        Ok(!self.scan(Some(id), None, Direction::Forward, 1)?.is_empty())
    }

    /// Whether there is an entry older than `id`.
    fn is_older(&self, id: Option<T::Key>) -> Result<bool, ApiError> {
        let Some(id) = id else { return Ok(false) };
        Ok(!self.scan(None, Some(id), Direction::Backward, 1)?.is_empty())
    }

    /// Pairs between two ids, both excluded.
    fn scan(
        &self,
        after: Option<T::Key>,
        before: Option<T::Key>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<RowPair>, ApiError> {
        let (after, before) = (after.map(bytes_of), before.map(bytes_of));
        let (lower, upper) = id_range(self.reader.merchant_id, T::KIND, after, before);
        let found = self.view.scan(T::KIND.family(), &lower, &upper, direction, limit);
        found.map_err(|error| unreadable(&error))
    }
}

fn ids_of<T: ListedTable>(pair: Option<&RowPair>) -> Option<T::Key> {
    pair.map(|(key, _)| id_of::<T>(key))
}

/// The id at the end of a listed row's key.
fn id_of<T: ListedTable>(key: &[u8]) -> T::Key {
    let bytes = key.last_chunk::<16>().copied();
    let bytes = bytes.expect("keys of listed rows end in an id: ranges are made of ids");
    T::Key::from_raw(RawId::from_bytes(bytes))
}

/// The bytes of an id, as they stand in its key.
fn bytes_of(id: impl Id) -> [u8; 16] {
    id.to_raw().to_bytes()
}
