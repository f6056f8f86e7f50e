//! Ranges of indexes walked side by side. All have one order, that of the list, so that a union takes the entry that
//! comes first in any of them, and an intersection goes on to the entry of the range that is furthest.

use std::collections::VecDeque;
use std::sync::Arc;

use till_domain::ids::Id;
use till_domain::records::Unreadable;
use till_storage::rows::ScanDirection;
use till_storage::shapes::{ListEntry, ListIndex, ListKey, MerchantView};

use crate::service::lists::id_span::IdSpan;

/// Entries that each of several ranges reads at first; it reads more at a time the further it goes on.
const FIRST_READ: usize = 32;
/// Entries that a range reads at a time at most.
const READ_MAX: usize = 1_024;
/// Steps without an entry after which other calls of the same thread get their turn.
const STEPS_MAX: usize = 4_096;

/// A source of entries in the order of the list.
#[derive(Clone)]
pub(crate) enum EntrySource<I: ListIndex> {
    /// A range of an index.
    Index(I),
    /// Entries that are known already, the oldest first.
    Known(Arc<[ListKey<I>]>),
}

impl<I: ListIndex> EntrySource<I> {
    /// True when the source has an entry.
    pub(super) fn has(&self, id: ListKey<I>, view: &MerchantView<'_>) -> Result<bool, Unreadable> {
        match self {
            EntrySource::Index(index) => view.index_has(index, id),
            EntrySource::Known(ids) => Ok(ids.binary_search(&id).is_ok()),
        }
    }
}

/// The view and the direction of a walk.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a> {
    pub(super) view: &'a MerchantView<'a>,
    pub(super) direction: ScanDirection,
}

impl Walk<'_> {
    /// True when `one` comes before `other` in the direction of the walk.
    fn is_before<K: Ord>(self, one: K, other: K) -> bool {
        match self.direction {
            ScanDirection::Forward => one < other,
            ScanDirection::Backward => one > other,
        }
    }
}

/// A source of entries, and those that were read from it and not used yet.
struct Range<I: ListIndex> {
    source: EntrySource<I>,
    read: VecDeque<ListEntry<ListKey<I>>>,
    next_read: usize,
    is_read_up: bool,
}

impl<I: ListIndex> Range<I> {
    fn new(source: EntrySource<I>, next_read: usize) -> Range<I> {
        Range { source, read: VecDeque::new(), next_read, is_read_up: false }
    }

    /// The first entry of `span`. Spans only ever shrink from call to call.
    fn first(
        &mut self,
        walk: Walk<'_>,
        span: IdSpan<ListKey<I>>,
    ) -> Result<Option<&ListEntry<ListKey<I>>>, Unreadable> {
        let begin = span.first(walk.direction);
        while self.read.front().is_some_and(|found| walk.is_before(found.id, begin)) {
            self.read.pop_front();
        }
        if self.read.is_empty() && !self.is_read_up {
            self.read_on(walk, span)?;
        }
        Ok(self.read.front())
    }

    fn read_on(&mut self, walk: Walk<'_>, span: IdSpan<ListKey<I>>) -> Result<(), Unreadable> {
        let entries = match &self.source {
            EntrySource::Index(index) => {
                walk.view.index_entries(index, (span.oldest, span.newest), walk.direction, self.next_read)?
            }
            EntrySource::Known(ids) => known_entries(ids, walk.direction, span, self.next_read),
        };
        self.is_read_up = entries.len() < self.next_read;
        self.next_read = self.next_read.saturating_mul(2).min(READ_MAX);
        self.read.extend(entries);
        Ok(())
    }

    /// True when none of the entries comes before `found`, which is known without reading any.
    fn begins_after(&self, found: ListKey<I>, walk: Walk<'_>) -> bool {
        let EntrySource::Index(index) = &self.source else { return false };
        index.ends().is_some_and(|(oldest, newest)| match walk.direction {
            ScanDirection::Backward => newest < found,
            ScanDirection::Forward => found < oldest,
        })
    }
}

fn known_entries<K: Id + Ord>(ids: &[K], direction: ScanDirection, span: IdSpan<K>, limit: usize) -> Vec<ListEntry<K>> {
    let begin = ids.partition_point(|id| *id < span.oldest);
    let end = ids.partition_point(|id| *id <= span.newest).max(begin);
    let inside = ids[begin..end].iter().copied();
    match direction {
        ScanDirection::Forward => inside.take(limit).map(ListEntry::new).collect(),
        ScanDirection::Backward => inside.rev().take(limit).map(ListEntry::new).collect(),
    }
}

/// The result of a step of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WalkStep<K> {
    /// An entry.
    Found(ListEntry<K>),
    /// No entry yet, after many steps.
    Pause,
    End,
}

/// The entries that all of some unions have, in the order of a walk.
pub(super) struct Intersection<'a, I: ListIndex> {
    walk: Walk<'a>,
    unions: Vec<Vec<Range<I>>>,
    /// The span that is not walked yet; none at the end.
    rest: Option<IdSpan<ListKey<I>>>,
}

impl<'a, I: ListIndex> Intersection<'a, I> {
    /// The intersection of unions of sources, within a span, of which at least `wanted` entries are going to be asked
    /// for.
    pub(super) fn new(
        walk: Walk<'a>,
        all_of: &[Vec<EntrySource<I>>],
        span: Option<IdSpan<ListKey<I>>>,
        wanted: usize,
    ) -> Intersection<'a, I> {
        // A range of one union is read once, and no further than what is wanted: to begin reading costs more than some
        // keys.
        let first_read = if all_of.len() == 1 { wanted.clamp(1, READ_MAX) } else { FIRST_READ };
        let range = |source: &EntrySource<I>| Range::new(source.clone(), first_read);
        let union = |sources: &Vec<EntrySource<I>>| sources.iter().map(range).collect();
        Intersection { walk, unions: all_of.iter().map(union).collect(), rest: span }
    }

    /// The span that was not walked yet; none at the end.
    pub(super) const fn rest(&self) -> Option<IdSpan<ListKey<I>>> {
        self.rest
    }

    /// The next entry, unless it is too far for one step.
    pub(super) fn next(&mut self) -> Result<WalkStep<ListKey<I>>, Unreadable> {
        let Some(mut span) = self.rest.filter(|span| span.oldest <= span.newest) else { return Ok(WalkStep::End) };
        let direction = self.walk.direction;
        let mut agreed = 0;
        let all = self.unions.len();
        for _ in 0..STEPS_MAX {
            for union in &mut self.unions {
                let Some(found) = first_of(union, self.walk, span)? else {
                    self.rest = None;
                    return Ok(WalkStep::End);
                };
                agreed = if found.id == span.first(direction) { agreed + 1 } else { 1 };
                span = span.starting_at(found.id, direction);
                if agreed >= all {
                    let found = found.clone();
                    self.rest = span.part_beyond(found.id, direction);
                    return Ok(WalkStep::Found(found));
                }
            }
        }
        self.rest = Some(span);
        Ok(WalkStep::Pause)
    }
}

/// The entry that comes first in any of the ranges.
fn first_of<'r, I: ListIndex>(
    union: &'r mut [Range<I>],
    walk: Walk<'_>,
    span: IdSpan<ListKey<I>>,
) -> Result<Option<&'r ListEntry<ListKey<I>>>, Unreadable> {
    let mut first: Option<&ListEntry<ListKey<I>>> = None;
    for range in union {
        if first.is_some_and(|first| range.begins_after(first.id, walk)) {
            continue;
        }
        if let Some(found) = range.first(walk, span)?
            && first.is_none_or(|first| walk.is_before(found.id, first.id))
        {
            first = Some(found);
        }
    }
    Ok(first)
}
