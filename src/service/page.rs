//! Pages: a range of ids, newest first, with the bodies of the calls for the pages beside it.

use serde::Serialize;
use till_domain::activity::Activity;
use till_domain::ids::{ActivityId, EntryId, Id, MerchantId};
use till_domain::ledger::Entry;
use till_domain::records::{Activities, AnyRow, Entries, MerchantDirectory, Table};
use till_domain::time::Millis;
use till_storage::rows::{Direction, RowPair, RowReader};
use till_storage::shapes::{TableKind, id_range};

use super::reading::Reader;
use crate::protocol::api_error::ApiError;
use crate::protocol::field::{Cursor, PageRequest};

/// A row that is listed by its id.
pub trait ListedRow: Sized {
    /// Its id: cursors name it.
    type Id: Id + Copy + std::fmt::Display;
    /// Where rows of the kind stand.
    const TABLE: TableKind;
    /// The row of this kind, if it is one.
    fn from_any(row: AnyRow) -> Option<Self>;
    /// The bytes of an id, as they stand in its key.
    fn id_bytes(id: Self::Id) -> [u8; 16];
    /// The id in a key's last bytes.
    fn id_from_bytes(bytes: [u8; 16]) -> Self::Id;
}

/// Declares a listed row.
macro_rules! listed_rows {
    ($($row:ty, $id:ident, $table:ident;)+) => {$(
        impl ListedRow for $row {
            type Id = $id;
            const TABLE: TableKind = TableKind::$table;

            fn from_any(row: AnyRow) -> Option<Self> {
                $table::unwrap(row)
            }

            fn id_bytes(id: $id) -> [u8; 16] {
                id.to_bytes()
            }

            fn id_from_bytes(bytes: [u8; 16]) -> $id {
                $id::from_bytes(bytes)
            }
        }
    )+};
}

listed_rows! {
    Activity, ActivityId, Activities;
    Entry, EntryId, Entries;
    Millis, MerchantId, MerchantDirectory;
}

/// The body of the call for a neighbouring page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Neighbour {
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    per_page: u16,
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

impl<T> Page<T> {
    /// The page with each entry in another form.
    #[must_use]
    pub fn map<U>(self, mut form: impl FnMut(&T) -> U) -> Page<U> {
        Page { previous: self.previous, page: self.page.iter().map(&mut form).collect(), next: self.next }
    }
}

/// The page that a call asks for. An id that names nothing stands for its place in time.
///
/// # Errors
/// `UNAVAILABLE` when a row of the page cannot be read.
pub fn read_page<T: ListedRow>(reader: &Reader<'_>, request: PageRequest<T::Id>) -> Result<Page<T>, ApiError> {
    Ok(read_page_with_ids(reader, request)?.map_into_rows())
}

/// The page with the id of each row beside it.
///
/// # Errors
/// As [`read_page`].
pub fn read_page_with_ids<T: ListedRow>(
    reader: &Reader<'_>,
    request: PageRequest<T::Id>,
) -> Result<Page<(T::Id, T)>, ApiError> {
    let view = reader.view();
    let size = usize::from(request.per_page);
    let scan = |after, before, direction, limit| scan::<T>(reader, view.as_ref(), after, before, direction, limit);
    let (mut found, more_older, more_newer);
    match request.cursor {
        None => {
            found = scan(None, None, Direction::Backward, size + 1)?;
            (more_older, more_newer) = (found.len() > size, false);
            found.truncate(size);
        }
        Some(Cursor::After(id)) => {
            found = scan(None, Some(id), Direction::Backward, size + 1)?;
            more_older = found.len() > size;
            found.truncate(size);
            let newest = found.first().map(|(key, _)| id_of::<T>(key));
            more_newer = match newest {
                Some(newest) => !scan(Some(newest), None, Direction::Forward, 1)?.is_empty(),
                None => false,
            };
        }
        Some(Cursor::Before(id)) => {
            found = scan(Some(id), None, Direction::Forward, size + 1)?;
            more_newer = found.len() > size;
            found.truncate(size);
            found.reverse();
            let oldest = found.last().map(|(key, _)| id_of::<T>(key));
            more_older = match oldest {
                Some(oldest) => !scan(None, Some(oldest), Direction::Backward, 1)?.is_empty(),
                None => false,
            };
        }
    }
    let id_at = |pair: Option<&RowPair>| pair.map(|(key, _)| id_of::<T>(key).to_string());
    let per_page = request.per_page;
    let previous = id_at(found.first()).filter(|_| more_newer);
    let next = id_at(found.last()).filter(|_| more_older);
    let page = found.iter().map(|(key, value)| Ok((id_of::<T>(key), reader.decode::<T>(value)?)));
    Ok(Page {
        previous: previous.map(|id| Neighbour { after: None, before: Some(id), per_page }),
        page: page.collect::<Result<_, ApiError>>()?,
        next: next.map(|id| Neighbour { after: Some(id), before: None, per_page }),
    })
}

impl<I, T> Page<(I, T)> {
    fn map_into_rows(self) -> Page<T> {
        Page { previous: self.previous, page: self.page.into_iter().map(|(_, row)| row).collect(), next: self.next }
    }
}

fn scan<T: ListedRow>(
    reader: &Reader<'_>,
    view: &dyn RowReader,
    after: Option<T::Id>,
    before: Option<T::Id>,
    direction: Direction,
    limit: usize,
) -> Result<Vec<RowPair>, ApiError> {
    let (lower, upper) = id_range(reader.merchant_id, T::TABLE, after.map(T::id_bytes), before.map(T::id_bytes));
    view.scan(T::TABLE.family(), &lower, &upper, direction, limit).map_err(|error| super::service::unreadable(&error))
}

/// The id at the end of a listed row's key.
fn id_of<T: ListedRow>(key: &[u8]) -> T::Id {
    let bytes = key.last_chunk::<16>().copied();
    T::id_from_bytes(bytes.expect("keys of listed rows end in an id: ranges are made of ids"))
}
