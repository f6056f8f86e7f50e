//! Pages: a range of ids, newest first, with the bodies of the calls for the pages beside it.

use std::fmt::Display;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use till_domain::cursor::Cursor;
use till_domain::ids::Id;
use till_domain::records::Rows;
use till_protocol::api_error::ApiError;
use till_protocol::field::ListPageRequest;
use till_storage::rows::Beside;
use till_storage::shapes::{KeyedRow, StoredTable};

use crate::service::submission::Reader;

/// A filter of a list by the name of its argument, with its text when it was given.
pub(crate) type FilterText = (&'static str, Option<String>);

/// The body of the call for a neighbouring page: a cursor, the size and the same filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Neighbour {
    cursor: (&'static str, String),
    per_page: u16,
    filters: Vec<(&'static str, String)>,
}

impl Neighbour {
    /// The body for what is older than an entry.
    fn entries_after(id: impl Display, per_page: u16) -> Neighbour {
        Neighbour { cursor: ("after", id.to_string()), per_page, filters: Vec::new() }
    }

    /// The body for what is newer than an entry.
    fn entries_before(id: impl Display, per_page: u16) -> Neighbour {
        Neighbour { cursor: ("before", id.to_string()), per_page, filters: Vec::new() }
    }

    fn with_filters(self, filters: &[FilterText]) -> Neighbour {
        let given = |(name, text): &FilterText| Some((*name, text.clone()?));
        Neighbour { filters: filters.iter().filter_map(given).collect(), ..self }
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
pub(crate) struct ListPage<T> {
    /// The call for the page of newer entries.
    pub previous: Option<Neighbour>,
    /// The entries, newest first.
    pub page: Vec<T>,
    /// The call for the page of older entries.
    pub next: Option<Neighbour>,
}

impl<T> ListPage<T> {
    /// The page that was found for a call, `id` being what cursors name of an entry.
    pub(crate) fn of_found<K: Id + Display>(
        request: ListPageRequest<K>,
        page: Vec<T>,
        id: impl Fn(&T) -> K,
        beside: Beside,
    ) -> ListPage<T> {
        let ListPageRequest { per_page, cursor } = request;
        let vacancy = cursor.map(Cursor::vacancy);
        let newest = page.first().map(&id).or(vacancy).filter(|_| beside.newer);
        let oldest = page.last().map(&id).or(vacancy).filter(|_| beside.older);
        ListPage {
            previous: newest.map(|id| Neighbour::entries_before(id, per_page)),
            page,
            next: oldest.map(|id| Neighbour::entries_after(id, per_page)),
        }
    }

    /// The page with each entry in another form.
    #[must_use]
    pub(crate) fn map<'a, U>(&'a self, form: impl FnMut(&'a T) -> U) -> ListPage<U> {
        ListPage {
            previous: self.previous.clone(),
            page: self.page.iter().map(form).collect(),
            next: self.next.clone(),
        }
    }

    /// The page with each entry in another form, unless one has none.
    ///
    /// # Errors
    /// The error of `form` for the first entry that has no other form.
    pub(crate) fn try_map<'a, U, E>(&'a self, form: impl FnMut(&'a T) -> Result<U, E>) -> Result<ListPage<U>, E> {
        let page = self.page.iter().map(form).collect::<Result<Vec<U>, E>>()?;
        Ok(ListPage { previous: self.previous.clone(), page, next: self.next.clone() })
    }

    /// The page with those of these filters that were given in the calls for the pages beside it.
    #[must_use]
    pub(crate) fn with_filters(self, filters: &[FilterText]) -> ListPage<T> {
        let with_filters = |neighbour: Neighbour| neighbour.with_filters(filters);
        ListPage { previous: self.previous.map(with_filters), next: self.next.map(with_filters), ..self }
    }
}

/// The page that a call asks for. An id of which there is no row counts as the time that it carries.
///
/// # Errors
/// `UNAVAILABLE` when a row of the page cannot be read.
pub(crate) fn read_list_page<T: StoredTable<Key: Id + Display>>(
    reader: &Reader<'_>,
    request: ListPageRequest<T::Key>,
) -> Result<ListPage<T::Row>, ApiError> {
    read_list_page_with_ids::<T>(reader, request).map(ListPage::without_ids)
}

/// The page with the id of each row beside it.
///
/// # Errors
/// As [`read_list_page`].
pub(crate) fn read_list_page_with_ids<T: StoredTable<Key: Id + Display>>(
    reader: &Reader<'_>,
    request: ListPageRequest<T::Key>,
) -> Result<ListPage<KeyedRow<T>>, ApiError> {
    let (rows, beside) = reader.view().page::<T>(usize::from(request.per_page), request.cursor)?;
    Ok(ListPage::of_found(request, rows, |(id, _)| *id, beside))
}

/// The page that a call asks for of the rows whose ids an index has under `first`.
///
/// # Errors
/// As [`read_list_page`]; also when a row that the index names is missing.
pub(crate) fn read_list_page_of_index<I, T, F>(
    reader: &Reader<'_>,
    first: F,
    request: ListPageRequest<T::Key>,
) -> Result<ListPage<T::Row>, ApiError>
where
    I: StoredTable<Key = (F, T::Key)>,
    T: StoredTable<Key: Id + Display>,
    F: Clone,
{
    let view = reader.view();
    let (ids, beside) = view.index_page::<I, F, T::Key>(first, usize::from(request.per_page), request.cursor)?;
    let row = |id: T::Key| Ok((id, view.get::<T>(id)?.ok_or_else(ApiError::unhandled)?));
    let rows = ids.into_iter().map(row).collect::<Result<Vec<KeyedRow<T>>, ApiError>>()?;
    Ok(ListPage::of_found(request, rows, |(id, _)| *id, beside).without_ids())
}

impl<I, R> ListPage<(I, R)> {
    /// The page of the rows alone.
    pub(super) fn without_ids(self) -> ListPage<R> {
        let ListPage { previous, page, next } = self;
        ListPage { previous, page: page.into_iter().map(|(_, row)| row).collect(), next }
    }
}
