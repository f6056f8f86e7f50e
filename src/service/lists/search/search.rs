//! One page of a search.

use std::fmt::Display;

use till_domain::cursor::Cursor;
use till_domain::records::{Rows, Table, Unreadable};
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;
use till_protocol::field::ListPageRequest;
use till_protocol::request_thread;
use till_storage::rows::{Beside, ScanDirection};
use till_storage::shapes::{KeyedRow, ListEntry, ListIndex, ListKey, MerchantView};

use super::merge::{EntrySource, Intersection, Walk, WalkStep};
use crate::service::lists::id_span::IdSpan;
use crate::service::lists::page::ListPage;
use crate::service::submission::Reader;

/// Rows that are read at a time at most while they are checked.
const ROWS_AT_A_TIME: usize = 256;
/// Rows that are read at a time at least while they are checked.
const ROWS_AT_A_TIME_MIN: usize = 8;
/// Rows that are checked for frequent values at most, before their exact ranges are walked.
const FREQUENT_ROWS_MAX: usize = 256;
/// One row in so many passes at least where values are frequent.
const FREQUENT_ONE_IN: usize = 4;

/// A row of the list of an index.
pub(super) type ListRow<I> = <<I as ListIndex>::List as Table>::Row;

/// A check of a row.
type Check<I> = Box<dyn Fn(&ListRow<I>) -> bool>;

/// The sources that have every entry that a check lets pass; none when only the rows tell.
type Sources<I> = Result<Option<Vec<EntrySource<I>>>, ApiError>;

/// The search for these sources.
type FindSources<I> = Box<dyn Fn(&MerchantView<'_>) -> Sources<I>>;

/// The entries that are searched for: those that pass every filter.
pub(crate) struct Selection<I: ListIndex> {
    all_of: Vec<Vec<EntrySource<I>>>,
    span: Option<IdSpan<ListKey<I>>>,
    checks: Vec<Check<I>>,
    frequent: Vec<Frequent<I>>,
}

/// A filter that many entries may pass.
struct Frequent<I: ListIndex> {
    check: Check<I>,
    among: I,
    find_sources: FindSources<I>,
}

impl<I: ListIndex> Default for Selection<I> {
    /// Every entry.
    fn default() -> Selection<I> {
        Selection { all_of: Vec::new(), span: Some(IdSpan::all()), checks: Vec::new(), frequent: Vec::new() }
    }
}

impl<I: ListIndex> Selection<I> {
    /// Keeps the entries that any of these indexes has.
    pub(crate) fn any_of(&mut self, indexes: Vec<I>) {
        self.any_source(indexes.into_iter().map(EntrySource::Index).collect());
    }

    /// Keeps the entries that any of these sources has.
    pub(crate) fn any_source(&mut self, sources: Vec<EntrySource<I>>) {
        self.all_of.push(sources);
    }

    /// Keeps the entries whose rows pass a check, which may be many; all of them are in the index `among`. The rows of
    /// its entries are checked first. Where few of them pass, the sources are searched for and walked.
    pub(crate) fn frequent(
        &mut self,
        check: impl Fn(&ListRow<I>) -> bool + 'static,
        among: I,
        find_sources: impl Fn(&MerchantView<'_>) -> Sources<I> + 'static,
    ) {
        self.frequent.push(Frequent { check: Box::new(check), among, find_sources: Box::new(find_sources) });
    }

    /// Keeps the entries that were recorded from one instant, inclusive, to another, exclusive.
    pub(crate) fn recorded(&mut self, from: Millis, until: Millis) {
        self.span = IdSpan::made_between(from, until);
    }

    /// Keeps the entries whose rows pass a check.
    pub(crate) fn passing(&mut self, check: impl Fn(&ListRow<I>) -> bool + 'static) {
        self.checks.push(Box::new(check));
    }

    /// The sources of the entries whose rows are checked for frequent values.
    fn sources_of_rows(&self) -> Vec<Vec<EntrySource<I>>> {
        let among = self.frequent.iter().map(|frequent| &frequent.among).filter(|among| **among != I::ALL);
        let among = among.map(|among| vec![EntrySource::Index(among.clone())]);
        or_every_entry(self.all_of.iter().cloned().chain(among).collect())
    }

    /// The sources of the entries that pass, as far as indexes tell.
    fn exact_sources(&self, view: &MerchantView<'_>) -> Result<Vec<Vec<EntrySource<I>>>, ApiError> {
        let mut sources = self.all_of.clone();
        for frequent in &self.frequent {
            sources.extend((frequent.find_sources)(view)?);
        }
        Ok(or_every_entry(sources))
    }

    /// True when the indexes alone tell which entries pass.
    const fn needs_no_row(&self) -> bool {
        self.checks.is_empty() && self.frequent.is_empty()
    }

    fn passes(&self, row: &ListRow<I>) -> bool {
        self.frequent.iter().map(|frequent| &frequent.check).chain(&self.checks).all(|check| check(row))
    }
}

fn or_every_entry<I: ListIndex>(sources: Vec<Vec<EntrySource<I>>>) -> Vec<Vec<EntrySource<I>>> {
    if sources.is_empty() { vec![vec![EntrySource::Index(I::ALL)]] } else { sources }
}

/// A page of a list.
///
/// # Errors
/// `UNAVAILABLE` when a row cannot be read.
pub(crate) async fn search<I: ListIndex>(
    reader: &Reader<'_>,
    selection: &Selection<I>,
    request: ListPageRequest<ListKey<I>>,
) -> Result<ListPage<ListRow<I>>, ApiError>
where
    ListKey<I>: Display,
{
    let Window { entries, beside } = Search { view: &reader.view(), selection }.page(request).await?;
    Ok(ListPage::of_found(request, entries, |(id, _)| *id, beside).without_ids())
}

/// Entries, newest first, and whether there are more on either side.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Window<R> {
    pub(super) entries: Vec<R>,
    /// Other entries that pass the filters.
    pub(super) beside: Beside,
}

/// A search of one merchant's list at one moment.
pub(super) struct Search<'a, I: ListIndex> {
    pub(super) view: &'a MerchantView<'a>,
    pub(super) selection: &'a Selection<I>,
}

impl<I: ListIndex> Search<'_, I> {
    /// The page that a call asks for: one entry more is read than asked for, to see whether the list goes on.
    pub(super) async fn page(
        &self,
        request: ListPageRequest<ListKey<I>>,
    ) -> Result<Window<KeyedRow<I::List>>, ApiError> {
        let ListPageRequest { per_page, cursor } = request;
        let (span, size) = (self.selection.span, usize::from(per_page));
        let older_than = |id| span.and_then(|span| span.older_than(id));
        let newer_than = |id| span.and_then(|span| span.newer_than(id));
        let (part, direction) = match cursor {
            None => (span, ScanDirection::Backward),
            Some(Cursor::After(id)) => (older_than(id), ScanDirection::Backward),
            Some(Cursor::Before(id)) => (newer_than(id), ScanDirection::Forward),
        };
        let mut entries = self.collect(part, direction, size.saturating_add(1)).await?;
        let goes_on = entries.len() > size;
        entries.truncate(size);
        if direction == ScanDirection::Forward {
            entries.reverse();
        }
        let beside = match cursor {
            None => Beside { newer: false, older: goes_on },
            Some(cursor @ Cursor::After(id)) => {
                let newest = entries.first().map_or(cursor.vacancy(), |(id, _)| *id);
                let is_newer = self.has(id)? || self.is_any(newer_than(newest), ScanDirection::Forward).await?;
                Beside { newer: is_newer, older: goes_on }
            }
            Some(cursor @ Cursor::Before(id)) => {
                let oldest = entries.last().map_or(cursor.vacancy(), |(id, _)| *id);
                let is_older = self.has(id)? || self.is_any(older_than(oldest), ScanDirection::Backward).await?;
                Beside { newer: goes_on, older: is_older }
            }
        };
        Ok(Window { entries, beside })
    }

    /// True when an entry passes every filter. A cursor names such an entry, so the page next to it exists, and no
    /// entries need to be read to know it.
    fn has(&self, id: ListKey<I>) -> Result<bool, ApiError> {
        if !self.selection.span.is_some_and(|span| span.range().contains(&id)) {
            return Ok(false);
        }
        for union in &self.selection.all_of {
            if !any_has(union, id, self.view)? {
                return Ok(false);
            }
        }
        if self.selection.needs_no_row() && !self.selection.all_of.is_empty() {
            return Ok(true);
        }
        Ok(self.view.get::<I::List>(id)?.is_some_and(|row| self.selection.passes(&row)))
    }

    /// True when an entry of a span passes every filter. Where no row is to be checked, the indexes say so.
    async fn is_any(&self, span: Option<IdSpan<ListKey<I>>>, direction: ScanDirection) -> Result<bool, ApiError> {
        if !self.selection.needs_no_row() {
            return Ok(!self.collect(span, direction, 1).await?.is_empty());
        }
        let walk = Walk { view: self.view, direction };
        let mut walked = Intersection::new(walk, &self.selection.exact_sources(self.view)?, span, 1);
        Ok(!next_batch(&mut walked, 1).await?.is_empty())
    }

    /// At most `limit` entries of a span that pass every filter.
    async fn collect(
        &self,
        span: Option<IdSpan<ListKey<I>>>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<KeyedRow<I::List>>, ApiError> {
        let (mut entries, mut rest) = (Vec::new(), span);
        if !self.selection.frequent.is_empty() {
            (entries, rest) = self.collect_frequent(span, direction, limit).await?;
        }
        if rest.is_some() && entries.len() < limit {
            let wanted = limit.saturating_sub(entries.len());
            entries.append(&mut self.collect_exactly(rest, direction, wanted).await?);
        }
        Ok(entries)
    }

    /// At most `limit` entries of a span, as far as rows are checked, and the rest of the span. So many rows are
    /// checked at most, and only as long as enough of them pass.
    async fn collect_frequent(
        &self,
        span: Option<IdSpan<ListKey<I>>>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<(Vec<KeyedRow<I::List>>, Option<IdSpan<ListKey<I>>>), ApiError> {
        let walk = Walk { view: self.view, direction };
        let to_read = limit.max(ROWS_AT_A_TIME_MIN);
        let mut walked = Intersection::new(walk, &self.selection.sources_of_rows(), span, to_read);
        let (mut entries, mut checked, mut at_a_time) = (Vec::new(), 0, limit.min(ROWS_AT_A_TIME_MIN));
        while entries.len() < limit && checked < FREQUENT_ROWS_MAX {
            let batch = next_batch(&mut walked, at_a_time).await?;
            if batch.is_empty() {
                break;
            }
            checked += batch.len();
            let rows = self.view.list_rows::<I>(batch)?.into_iter().filter(|(_, row)| self.selection.passes(row));
            let wanted = limit.saturating_sub(entries.len());
            entries.extend(rows.take(wanted));
            let are_frequent = checked <= entries.len().saturating_mul(FREQUENT_ONE_IN);
            if !are_frequent && checked >= ROWS_AT_A_TIME_MIN {
                break;
            }
            // So many rows have what is still wanted, if as many pass as did up to now.
            let missing = limit.saturating_sub(entries.len());
            at_a_time = missing.saturating_mul(checked).div_ceil(entries.len().max(1)).max(ROWS_AT_A_TIME_MIN);
        }
        Ok((entries, walked.rest()))
    }

    /// At most `limit` entries of a span that pass every filter. Where rows are checked, few are read at first, and
    /// more at a time when they do not suffice.
    async fn collect_exactly(
        &self,
        span: Option<IdSpan<ListKey<I>>>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<KeyedRow<I::List>>, ApiError> {
        let walk = Walk { view: self.view, direction };
        let mut at_a_time = limit;
        let mut walked = Intersection::new(walk, &self.selection.exact_sources(self.view)?, span, at_a_time);
        let mut entries = Vec::new();
        loop {
            let batch = next_batch(&mut walked, at_a_time).await?;
            let is_last = batch.len() < at_a_time;
            let rows = self.view.list_rows::<I>(batch)?;
            let wanted = limit.saturating_sub(entries.len());
            entries.extend(rows.into_iter().filter(|(_, row)| self.selection.passes(row)).take(wanted));
            if is_last || entries.len() >= limit {
                return Ok(entries);
            }
            if at_a_time == ROWS_AT_A_TIME {
                request_thread::interrupt_scan().await?;
            }
            at_a_time = at_a_time.saturating_mul(4).clamp(ROWS_AT_A_TIME_MIN, ROWS_AT_A_TIME);
        }
    }
}

/// True when any of some sources has an entry.
fn any_has<I: ListIndex>(
    union: &[EntrySource<I>],
    id: ListKey<I>,
    view: &MerchantView<'_>,
) -> Result<bool, Unreadable> {
    for source in union {
        if source.has(id, view)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// So many entries, or fewer at the end.
async fn next_batch<I: ListIndex>(
    walked: &mut Intersection<'_, I>,
    size: usize,
) -> Result<Vec<ListEntry<ListKey<I>>>, ApiError> {
    let mut batch = Vec::with_capacity(size);
    while batch.len() < size {
        match walked.next()? {
            WalkStep::Found(found) => batch.push(found),
            WalkStep::Pause => request_thread::interrupt_scan().await?,
            WalkStep::End => break,
        }
    }
    Ok(batch)
}
