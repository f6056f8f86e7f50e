//! One page of a search.

use till_domain::activity::{Activity, Actor};
use till_domain::ids::ActivityId;
use till_domain::time::Millis;
use till_storage::rows::{Beside, Cursor, ScanDirection};
use till_storage::shapes::{ActivityEntry, ActivityIndex, MerchantView};

use super::merge::{Intersection, Span, Step, Walk};
use crate::protocol::api_error::ApiError;
use crate::protocol::field::PageRequest;
use crate::protocol::request_thread;
use crate::service::filtered_page::id_at;
use crate::service::page::Page;
use crate::service::shared::Reader;

/// Rows that are looked at before a search is interrupted.
const ROWS_AT_A_TIME: usize = 256;
/// Rows that are looked at at a time where entries are likely, at least.
const LIKELY_ROWS_MIN: usize = 8;
/// Rows that are looked at where entries are likely at most, before they are looked for where they are.
const LIKELY_ROWS_MAX: usize = 256;

/// Which entries are searched for: those that pass every filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    all_of: Vec<Vec<ActivityIndex>>,
    span: Span,
    contains: Option<String>,
    likely: Option<Likely>,
}

/// Where the entries of the one union of a selection are looked for first: on the rows of what may be in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Likely {
    among: Vec<ActivityIndex>,
    text: String,
}

impl Default for Selection {
    /// Every entry.
    fn default() -> Selection {
        Selection { all_of: Vec::new(), span: Span::ALL, contains: None, likely: None }
    }
}

impl Selection {
    /// Those of them that any of these indexes has.
    pub fn any_of(&mut self, indexes: Vec<ActivityIndex>) {
        self.all_of.push(indexes);
    }

    /// The same, where these entries are likely to be found faster among other ones, of which each that has this text,
    /// in lower case, in an address is one of them.
    pub fn any_of_likely_among(&mut self, indexes: Vec<ActivityIndex>, among: Vec<ActivityIndex>, text: String) {
        self.any_of(indexes);
        self.likely = Some(Likely { among, text });
    }

    /// Those of them that were recorded from one instant, inclusive, to another, exclusive.
    pub fn recorded(&mut self, from: Millis, until: Millis) {
        let newest = until.0.checked_sub(1).map(|last| id_at(last, u8::MAX));
        self.span = match newest {
            Some(newest) => Span { oldest: id_at(from.0, 0), newest },
            None => Span { oldest: Span::ALL.newest, newest: Span::ALL.oldest },
        };
    }

    /// Those of them that have this text, in lower case, in an address or id.
    pub fn containing(&mut self, text: String) {
        self.contains = Some(text);
    }

    fn indexes(&self) -> Vec<Vec<ActivityIndex>> {
        if self.all_of.is_empty() { vec![vec![ActivityIndex::All]] } else { self.all_of.clone() }
    }
}

/// A page of the activity log.
///
/// # Errors
/// `UNAVAILABLE` when a row cannot be read.
pub async fn search(
    reader: &Reader<'_>,
    selection: &Selection,
    request: PageRequest<ActivityId>,
) -> Result<Page<Activity>, ApiError> {
    let Window { entries, beside } = Search { view: &reader.view(), selection }.page(request).await?;
    Ok(Page::found(request, entries, |entry| entry.id, beside))
}

/// Entries, newest first, and whether there are more on either side.
#[derive(Debug, PartialEq, Eq)]
struct Window {
    entries: Vec<Activity>,
    /// Whether there are others that pass the filters.
    beside: Beside,
}

/// A search of one merchant's log at one moment.
struct Search<'a> {
    view: &'a MerchantView<'a>,
    selection: &'a Selection,
}

impl Search<'_> {
    /// The page that a call asks for: one entry more is read than asked for, to see whether the log goes on.
    async fn page(&self, request: PageRequest<ActivityId>) -> Result<Window, ApiError> {
        let PageRequest { per_page, cursor } = request;
        let (span, size) = (self.selection.span, usize::from(per_page));
        let (part, direction) = match cursor {
            None => (Some(span), ScanDirection::Backward),
            Some(Cursor::After(id)) => (span.older_than(id), ScanDirection::Backward),
            Some(Cursor::Before(id)) => (span.newer_than(id), ScanDirection::Forward),
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
                let newest = entries.first().map_or(cursor.vacancy(), |first| first.id);
                Beside { newer: self.is_any(span.newer_than(newest), ScanDirection::Forward).await?, older: goes_on }
            }
            Some(cursor @ Cursor::Before(_)) => {
                let oldest = entries.last().map_or(cursor.vacancy(), |last| last.id);
                Beside { newer: goes_on, older: self.is_any(span.older_than(oldest), ScanDirection::Backward).await? }
            }
        };
        Ok(Window { entries, beside })
    }

    /// Whether an entry of a span passes every filter; indexes say so without its row.
    async fn is_any(&self, span: Option<Span>, direction: ScanDirection) -> Result<bool, ApiError> {
        if self.selection.contains.is_some() || self.selection.likely.is_some() {
            return Ok(!self.collect(span, direction, 1).await?.is_empty());
        }
        let walk = Walk { view: self.view, direction };
        let mut walked = Intersection::new(walk, &self.selection.indexes(), span, 1);
        Ok(!next_batch(&mut walked, 1).await?.is_empty())
    }

    /// At most `limit` entries of a span that pass every filter.
    async fn collect(
        &self,
        span: Option<Span>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<Activity>, ApiError> {
        let (mut entries, mut span) = (Vec::new(), span);
        if let (Some(likely), [_], None) = (&self.selection.likely, &*self.selection.all_of, &self.selection.contains) {
            (entries, span) = self.look_among(likely, span, direction, limit).await?;
        }
        if span.is_some() {
            let wanted = limit.saturating_sub(entries.len());
            entries.append(&mut self.collect_exactly(span, direction, wanted).await?);
        }
        Ok(entries)
    }

    /// At most `limit` entries of a span, as far as they are found among not too many rows; and the rest of the span
    /// that they may be in, unless that is known to be all that was wanted.
    async fn look_among(
        &self,
        likely: &Likely,
        span: Option<Span>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<(Vec<Activity>, Option<Span>), ApiError> {
        let walk = Walk { view: self.view, direction };
        let at_a_time = limit.max(LIKELY_ROWS_MIN);
        let mut walked = Intersection::new(walk, std::slice::from_ref(&likely.among), span, at_a_time);
        let (mut entries, mut looked_at) = (Vec::new(), 0);
        while looked_at < LIKELY_ROWS_MAX {
            let batch = next_batch(&mut walked, at_a_time).await?;
            looked_at += batch.len();
            let is_last = batch.len() < at_a_time;
            let found = self.view.activities(batch)?.into_iter().filter(|entry| has_in_address(entry, &likely.text));
            entries.extend(found.take(limit.saturating_sub(entries.len())));
            if is_last || entries.len() >= limit {
                return Ok((entries, None));
            }
        }
        Ok((entries, walked.rest()))
    }

    async fn collect_exactly(
        &self,
        span: Option<Span>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<Activity>, ApiError> {
        let walk = Walk { view: self.view, direction };
        let at_a_time = if self.selection.contains.is_some() { ROWS_AT_A_TIME } else { limit };
        let mut walked = Intersection::new(walk, &self.selection.indexes(), span, at_a_time);
        let mut entries = Vec::new();
        loop {
            let batch = next_batch(&mut walked, at_a_time).await?;
            let is_last = batch.len() < at_a_time;
            let read = self.view.activities(batch)?;
            let wanted = limit.saturating_sub(entries.len());
            entries.extend(read.into_iter().filter(|entry| self.passes(entry)).take(wanted));
            if is_last || entries.len() >= limit {
                return Ok(entries);
            }
            request_thread::interrupt_scan().await?;
        }
    }

    /// Whether an entry passes what no index decides.
    fn passes(&self, entry: &Activity) -> bool {
        self.selection.contains.as_ref().is_none_or(|text| has(entry, text))
    }
}

/// So many entries, or fewer at the end.
async fn next_batch(walked: &mut Intersection<'_>, size: usize) -> Result<Vec<ActivityEntry>, ApiError> {
    let mut batch = Vec::with_capacity(size);
    while batch.len() < size {
        match walked.next()? {
            Step::Found(found) => batch.push(found),
            Step::Pause => request_thread::interrupt_scan().await?,
            Step::End => break,
        }
    }
    Ok(batch)
}

/// Whether an address of an entry has a text in it.
fn has_in_address(entry: &Activity, text: &str) -> bool {
    let actor = match &entry.actor {
        Actor::User { email } => email.as_ref(),
        Actor::ApiKey(_) | Actor::System => None,
    };
    let emails = [actor, entry.user_email.as_ref()];
    emails.into_iter().flatten().any(|email| email.as_str().contains(text))
}

/// Whether an address or id of an entry has a text in it.
fn has(entry: &Activity, text: &str) -> bool {
    has_in_address(entry, text)
        || entry.object.id_text().contains(text)
        || entry.parent.is_some_and(|parent| parent.to_string().contains(text))
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
