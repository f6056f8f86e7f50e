//! One page of a search.

use std::fmt::Display;

use till_domain::records::Table;
use till_domain::time::Millis;
use till_storage::rows::{Beside, Cursor, ScanDirection};
use till_storage::shapes::{KeyedRow, ListEntry, ListIndex, ListKey, MerchantView};

use super::merge::{EntrySource, Intersection, Walk, WalkStep};
use crate::protocol::api_error::ApiError;
use crate::protocol::field::PageRequest;
use crate::protocol::request_thread;
use crate::service::id_span::IdSpan;
use crate::service::page::Page;
use crate::service::shared::Reader;

/// Rows that are read at a time at most while they are checked.
const ROWS_AT_A_TIME: usize = 256;
/// Rows that are read at a time at least where most are likely to pass.
const LIKELY_ROWS_MIN: usize = 8;
/// Rows that are checked where most are likely to pass, before the exact ranges are walked.
const LIKELY_ROWS_MAX: usize = 256;

/// A row of the list of an index.
pub(super) type ListRow<I> = <<I as ListIndex>::List as Table>::Row;

/// A check of a row.
type Check<I> = Box<dyn Fn(&ListRow<I>) -> bool>;

/// The entries that are searched for: those that pass every filter.
pub struct Selection<I: ListIndex> {
    all_of: Vec<Vec<EntrySource<I>>>,
    span: Option<IdSpan<ListKey<I>>>,
    checks: Vec<Check<I>>,
    likely: Option<Likely<I>>,
}

/// Other ranges that the entries of the one union of a selection are looked for in first.
struct Likely<I: ListIndex> {
    among: Vec<EntrySource<I>>,
    check: Check<I>,
}

impl<I: ListIndex> Default for Selection<I> {
    /// Every entry.
    fn default() -> Selection<I> {
        Selection { all_of: Vec::new(), span: Some(IdSpan::all()), checks: Vec::new(), likely: None }
    }
}

impl<I: ListIndex> Selection<I> {
    /// Keeps the entries that any of these indexes has.
    pub fn any_of(&mut self, indexes: Vec<I>) {
        self.any_source(indexes.into_iter().map(EntrySource::Index).collect());
    }

    /// Keeps the entries that any of these sources has.
    pub fn any_source(&mut self, sources: Vec<EntrySource<I>>) {
        self.all_of.push(sources);
    }

    /// Keeps the entries that any of these indexes has, where they are likely to be found faster among those of other
    /// ranges: each entry of these that passes the check is one of them.
    pub fn any_of_likely_among(
        &mut self,
        indexes: Vec<I>,
        among: Vec<I>,
        check: impl Fn(&ListRow<I>) -> bool + 'static,
    ) {
        self.any_of(indexes);
        let among = among.into_iter().map(EntrySource::Index).collect();
        self.likely = Some(Likely { among, check: Box::new(check) });
    }

    /// Keeps the entries that were recorded from one instant, inclusive, to another, exclusive.
    pub fn recorded(&mut self, from: Millis, until: Millis) {
        self.span = IdSpan::made(from, until);
    }

    /// Keeps the entries whose rows pass a check.
    pub fn passing(&mut self, check: impl Fn(&ListRow<I>) -> bool + 'static) {
        self.checks.push(Box::new(check));
    }

    fn sources(&self) -> Vec<Vec<EntrySource<I>>> {
        if self.all_of.is_empty() { vec![vec![EntrySource::Index(I::ALL)]] } else { self.all_of.clone() }
    }

    fn passes(&self, row: &ListRow<I>) -> bool {
        self.checks.iter().all(|check| check(row))
    }
}

/// A page of a list.
///
/// # Errors
/// `UNAVAILABLE` when a row cannot be read.
pub async fn search<I: ListIndex>(
    reader: &Reader<'_>,
    selection: &Selection<I>,
    request: PageRequest<ListKey<I>>,
) -> Result<Page<ListRow<I>>, ApiError>
where
    ListKey<I>: Display,
{
    let Window { entries, beside } = Search { view: &reader.view(), selection }.page(request).await?;
    Ok(Page::found(request, entries, |(id, _)| *id, beside).without_ids())
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
    pub(super) async fn page(&self, request: PageRequest<ListKey<I>>) -> Result<Window<KeyedRow<I::List>>, ApiError> {
        let PageRequest { per_page, cursor } = request;
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
            Some(cursor @ Cursor::After(_)) => {
                let newest = entries.first().map_or(cursor.vacancy(), |(id, _)| *id);
                Beside { newer: self.is_any(newer_than(newest), ScanDirection::Forward).await?, older: goes_on }
            }
            Some(cursor @ Cursor::Before(_)) => {
                let oldest = entries.last().map_or(cursor.vacancy(), |(id, _)| *id);
                Beside { newer: goes_on, older: self.is_any(older_than(oldest), ScanDirection::Backward).await? }
            }
        };
        Ok(Window { entries, beside })
    }

    /// True when an entry of a span passes every filter. Where no row is to be checked, the indexes say so.
    async fn is_any(&self, span: Option<IdSpan<ListKey<I>>>, direction: ScanDirection) -> Result<bool, ApiError> {
        if !self.selection.checks.is_empty() || self.selection.likely.is_some() {
            return Ok(!self.collect(span, direction, 1).await?.is_empty());
        }
        let walk = Walk { view: self.view, direction };
        let mut walked = Intersection::new(walk, &self.selection.sources(), span, 1);
        Ok(!next_batch(&mut walked, 1).await?.is_empty())
    }

    /// At most `limit` entries of a span that pass every filter.
    async fn collect(
        &self,
        span: Option<IdSpan<ListKey<I>>>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<KeyedRow<I::List>>, ApiError> {
        let (mut entries, mut span) = (Vec::new(), span);
        let Selection { all_of, span: _, checks, likely } = self.selection;
        if let (Some(likely), [_], []) = (likely, all_of.as_slice(), checks.as_slice()) {
            (entries, span) = self.look_among(likely, span, direction, limit).await?;
        }
        if span.is_some() {
            let wanted = limit.saturating_sub(entries.len());
            entries.append(&mut self.collect_exactly(span, direction, wanted).await?);
        }
        Ok(entries)
    }

    /// At most `limit` entries of a span, as far as they are found among a bounded number of rows, and the rest of the span;
    /// no rest when all that was wanted is found.
    async fn look_among(
        &self,
        likely: &Likely<I>,
        span: Option<IdSpan<ListKey<I>>>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<(Vec<KeyedRow<I::List>>, Option<IdSpan<ListKey<I>>>), ApiError> {
        let walk = Walk { view: self.view, direction };
        let at_a_time = limit.max(LIKELY_ROWS_MIN);
        let mut walked = Intersection::new(walk, std::slice::from_ref(&likely.among), span, at_a_time);
        let (mut entries, mut checked) = (Vec::new(), 0);
        while checked < LIKELY_ROWS_MAX {
            let batch = next_batch(&mut walked, at_a_time).await?;
            checked += batch.len();
            let is_last = batch.len() < at_a_time;
            let found = self.view.list_rows::<I>(batch)?.into_iter().filter(|(_, row)| (likely.check)(row));
            entries.extend(found.take(limit.saturating_sub(entries.len())));
            if is_last || entries.len() >= limit {
                return Ok((entries, None));
            }
        }
        Ok((entries, walked.rest()))
    }

    /// At most `limit` entries of a span that pass every filter. Where rows are checked, few are read at first, and more at
    /// a time when they do not suffice.
    async fn collect_exactly(
        &self,
        span: Option<IdSpan<ListKey<I>>>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<KeyedRow<I::List>>, ApiError> {
        let walk = Walk { view: self.view, direction };
        let mut at_a_time = limit;
        let mut walked = Intersection::new(walk, &self.selection.sources(), span, at_a_time);
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
            at_a_time = at_a_time.saturating_mul(4).clamp(LIKELY_ROWS_MIN, ROWS_AT_A_TIME);
        }
    }
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
