//! Pages of lists with filters that no index has: rows are looked at one after the other, newest first.

use std::fmt::Display;

use till_domain::cursor::Cursor;
use till_domain::ids::Id;
use till_protocol::api_error::ApiError;
use till_protocol::field::ListPageRequest;
use till_protocol::request_thread;
use till_storage::rows::{Beside, ScanDirection};
use till_storage::shapes::{KeyedRow, StoredTable};

use super::id_span::IdSpan;
use super::page::ListPage;
use crate::service::submission::Reader;

/// Rows that are looked at before a scan is interrupted.
const ROWS_AT_A_TIME: usize = 256;

/// The page that a call asks for of a table's rows in a span.
///
/// # Errors
/// `UNAVAILABLE` when a row cannot be read; [`ApiError::for_worker_pool`] when the rows are large and this thread reads
/// requests.
pub(crate) async fn read_span<T: StoredTable<Key: Id + Ord + Display>>(
    reader: &Reader<'_>,
    request: ListPageRequest<T::Key>,
    span: Option<IdSpan<T::Key>>,
) -> Result<ListPage<T::Row>, ApiError> {
    let rows = |span: IdSpan<_>, direction, limit| {
        let rows = reader.view().scan_within::<T>(span.range(), direction, limit, request_thread::row_bytes_max())?;
        rows.ok_or_else(ApiError::for_worker_pool)
    };
    Filtered { rows, passes: |_: &T::Row| true }.page(request, span).await
}

/// The page that a call asks for of the rows in a span whose ids an index has under `first`.
///
/// # Errors
/// As [`read_span`]; also when a row that the index names is not there.
pub(crate) async fn read_index_span<I, T, F>(
    reader: &Reader<'_>,
    first: F,
    request: ListPageRequest<T::Key>,
    span: Option<IdSpan<T::Key>>,
) -> Result<ListPage<T::Row>, ApiError>
where
    I: StoredTable<Key = (F, T::Key)>,
    T: StoredTable<Key: Id + Ord + Display>,
    F: Clone,
{
    let rows = |span, direction, limit| rows_of_index::<I, T, F>(reader, &first, span, direction, limit);
    Filtered { rows, passes: |_: &T::Row| true }.page(request, span).await
}

/// At most so many rows in a span, with their ids, that an index has under `first`.
///
/// # Errors
/// As [`read_index_span`].
pub(crate) fn rows_of_index<I, T, F>(
    reader: &Reader<'_>,
    first: &F,
    span: IdSpan<T::Key>,
    direction: ScanDirection,
    limit: usize,
) -> Result<Vec<KeyedRow<T>>, ApiError>
where
    I: StoredTable<Key = (F, T::Key)>,
    T: StoredTable<Key: Id + Ord>,
    F: Clone,
{
    let (view, range) = (reader.view(), span.range());
    let keys = (first.clone(), *range.start())..=(first.clone(), *range.end());
    let ids = view.scan_keys::<I>(keys, direction, limit)?.into_iter().map(|(_, id)| id);
    view.rows_within::<T>(ids, request_thread::row_bytes_max())?.ok_or_else(ApiError::for_worker_pool)
}

/// A list of which a page is wanted.
pub(crate) struct Filtered<F, P> {
    /// Reads at most so many rows of a span with their ids, in a direction.
    pub rows: F,
    /// True for a row that passes the filters.
    pub passes: P,
}

/// The page that a call asks for, of the entries in a span. `collect` finds at most so many of them within a part of
/// the span, in a direction; `id` is what cursors name of an entry.
///
/// # Errors
/// Those of `collect`.
pub(super) async fn page_of<K: Id + Ord + Display, E>(
    request: ListPageRequest<K>,
    span: Option<IdSpan<K>>,
    id: impl Fn(&E) -> K,
    collect: impl AsyncFn(Option<IdSpan<K>>, ScanDirection, usize) -> Result<Vec<E>, ApiError>,
) -> Result<ListPage<E>, ApiError> {
    let size = usize::from(request.per_page);
    let (within, direction) = part_of(span, request.cursor);
    let mut found = collect(within, direction, size.saturating_add(1)).await?;
    let goes_on = found.len() > size;
    found.truncate(size);
    if direction == ScanDirection::Forward {
        found.reverse();
    }
    let ends = (found.first().map(&id), found.last().map(&id));
    let beside = match other_side(span, request.cursor, ends) {
        None => Beside { newer: false, older: goes_on },
        Some((beyond, direction @ ScanDirection::Forward)) => {
            Beside { newer: !collect(beyond, direction, 1).await?.is_empty(), older: goes_on }
        }
        Some((beyond, direction @ ScanDirection::Backward)) => {
            Beside { newer: goes_on, older: !collect(beyond, direction, 1).await?.is_empty() }
        }
    };
    Ok(ListPage::of_found(request, found, id, beside))
}

/// A part of a span, and the direction in which it is read.
type DirectedSpan<K> = (Option<IdSpan<K>>, ScanDirection);

/// The part of a span that a page begins with.
fn part_of<K: Id + Ord>(span: Option<IdSpan<K>>, cursor: Option<Cursor<K>>) -> DirectedSpan<K> {
    match cursor {
        None => (span, ScanDirection::Backward),
        Some(Cursor::After(id)) => (span.and_then(|span| span.older_than(id)), ScanDirection::Backward),
        Some(Cursor::Before(id)) => (span.and_then(|span| span.newer_than(id)), ScanDirection::Forward),
    }
}

/// The part of a span on the side of a page from which it was not read; none for the first page. `ends` are the newest
/// and the oldest entry of the page.
fn other_side<K: Id + Ord>(
    span: Option<IdSpan<K>>,
    cursor: Option<Cursor<K>>,
    (newest, oldest): (Option<K>, Option<K>),
) -> Option<DirectedSpan<K>> {
    let cursor = cursor?;
    Some(match cursor {
        Cursor::After(_) => {
            let newest = newest.unwrap_or(cursor.vacancy());
            (span.and_then(|span| span.newer_than(newest)), ScanDirection::Forward)
        }
        Cursor::Before(_) => {
            let oldest = oldest.unwrap_or(cursor.vacancy());
            (span.and_then(|span| span.older_than(oldest)), ScanDirection::Backward)
        }
    })
}

impl<F, P> Filtered<F, P> {
    /// The page that a call asks for, of the rows in a span.
    ///
    /// # Errors
    /// `UNAVAILABLE` when a row cannot be read.
    pub(crate) async fn page<K, R>(
        &self,
        request: ListPageRequest<K>,
        span: Option<IdSpan<K>>,
    ) -> Result<ListPage<R>, ApiError>
    where
        K: Id + Ord + Display,
        F: Fn(IdSpan<K>, ScanDirection, usize) -> Result<Vec<(K, R)>, ApiError>,
        P: Fn(&R) -> bool,
    {
        let collect = async |span, direction, wanted| self.collect(span, direction, wanted).await;
        Ok(page_of(request, span, |(id, _)| *id, collect).await?.without_ids())
    }

    /// At most `wanted` rows that pass, in a direction.
    async fn collect<K, R>(
        &self,
        mut span: Option<IdSpan<K>>,
        direction: ScanDirection,
        wanted: usize,
    ) -> Result<Vec<(K, R)>, ApiError>
    where
        K: Id + Ord,
        F: Fn(IdSpan<K>, ScanDirection, usize) -> Result<Vec<(K, R)>, ApiError>,
        P: Fn(&R) -> bool,
    {
        let mut found = Vec::new();
        // Most rows of most lists pass, so that no more are read at first than are wanted.
        let mut count = wanted.min(ROWS_AT_A_TIME);
        while let Some(within) = span {
            let rows = (self.rows)(within, direction, count)?;
            let last = rows.last().map(|(id, _)| *id).filter(|_| rows.len() == count);
            found.extend(rows.into_iter().filter(|(_, row)| (self.passes)(row)).take(wanted - found.len()));
            count = ROWS_AT_A_TIME;
            span = last.filter(|_| found.len() < wanted).and_then(|last| within.part_beyond(last, direction));
            if span.is_some() {
                request_thread::interrupt_scan().await?;
            }
        }
        Ok(found)
    }
}
