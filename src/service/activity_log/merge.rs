//! Ranges of indexes walked side by side. All have one order, that of the log, so that a union takes whatever
//! comes next in any, and an intersection goes on to whatever the one that is furthest has.

use std::collections::VecDeque;

use till_domain::ids::ActivityId;
use till_domain::records::Unreadable;
use till_storage::rows::ScanDirection;
use till_storage::shapes::{ActivityEntry, ActivityIndex, MerchantView};

/// Entries that each of several ranges reads at first; it reads more at a time the further it goes on.
const FIRST_READ: usize = 32;
/// The same of ranges that share what is wanted.
const FIRST_READ_MIN: usize = 8;
/// Entries that a range reads at a time at most.
const READ_MAX: usize = 1_024;
/// Steps without an entry after which other calls of the same thread get their turn.
const STEPS_MAX: usize = 4_096;

/// The oldest id that there could be.
const OLDEST: ActivityId = ActivityId::from_bytes([0; 16]);
/// The newest id that there could be.
const NEWEST: ActivityId = ActivityId::from_bytes([u8::MAX; 16]);

/// Ids from one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) oldest: ActivityId,
    pub(super) newest: ActivityId,
}

impl Span {
    /// Every id.
    pub(super) const ALL: Span = Span { oldest: OLDEST, newest: NEWEST };

    /// What is older than `id`; nothing when nothing is.
    pub(super) fn older_than(self, id: ActivityId) -> Option<Span> {
        let newest = neighbour(id, ScanDirection::Backward)?.min(self.newest);
        (self.oldest <= newest).then_some(Span { newest, ..self })
    }

    /// What is newer than `id`; nothing when nothing is.
    pub(super) fn newer_than(self, id: ActivityId) -> Option<Span> {
        let oldest = neighbour(id, ScanDirection::Forward)?.max(self.oldest);
        (oldest <= self.newest).then_some(Span { oldest, ..self })
    }
}

/// The id before or behind one.
fn neighbour(id: ActivityId, direction: ScanDirection) -> Option<ActivityId> {
    let next = match direction {
        ScanDirection::Forward => id.raw().successor(),
        ScanDirection::Backward => id.raw().predecessor(),
    };
    next.map(ActivityId::from_raw)
}

/// Where something is walked: whose log, at which moment, in which direction.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a> {
    pub(super) view: &'a MerchantView<'a>,
    pub(super) direction: ScanDirection,
}

impl Walk<'_> {
    /// Whether `one` comes before `other` on this way.
    fn is_before(self, one: ActivityId, other: ActivityId) -> bool {
        match self.direction {
            ScanDirection::Forward => one < other,
            ScanDirection::Backward => one > other,
        }
    }
}

/// The entries of one value of one index.
struct Range {
    index: ActivityIndex,
    read: VecDeque<ActivityEntry>,
    next_read: usize,
    is_read_up: bool,
}

impl Range {
    fn new(index: ActivityIndex, next_read: usize) -> Range {
        Range { index, read: VecDeque::new(), next_read, is_read_up: false }
    }

    /// The first entry from `span`'s beginning on. Spans only ever shrink from call to call.
    fn first(&mut self, walk: Walk<'_>, span: Span) -> Result<Option<&ActivityEntry>, Unreadable> {
        let begin = begin(walk, span);
        while self.read.front().is_some_and(|found| walk.is_before(found.id, begin)) {
            self.read.pop_front();
        }
        if self.read.is_empty() && !self.is_read_up {
            self.read_on(walk, span)?;
        }
        Ok(self.read.front())
    }

    fn read_on(&mut self, walk: Walk<'_>, span: Span) -> Result<(), Unreadable> {
        let ends = (span.oldest, span.newest);
        let entries = walk.view.index_entries(&self.index, ends, walk.direction, self.next_read)?;
        self.is_read_up = entries.len() < self.next_read;
        self.next_read = self.next_read.saturating_mul(2).min(READ_MAX);
        self.read.extend(entries);
        Ok(())
    }
}

const fn begin(walk: Walk<'_>, span: Span) -> ActivityId {
    match walk.direction {
        ScanDirection::Forward => span.oldest,
        ScanDirection::Backward => span.newest,
    }
}

/// What a step of a walk comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// An entry.
    Found(ActivityEntry),
    /// Nothing yet, after a while.
    Pause,
    /// The end.
    End,
}

/// What is in all of some unions, in the order of a walk.
pub(super) struct Intersection<'a> {
    walk: Walk<'a>,
    unions: Vec<Vec<Range>>,
    /// Where to go on; nothing at the end.
    rest: Option<Span>,
}

impl<'a> Intersection<'a> {
    /// Of unions of indexes, within a span; so many entries are wanted.
    pub(super) fn new(
        walk: Walk<'a>,
        all_of: &[Vec<ActivityIndex>],
        span: Option<Span>,
        wanted: usize,
    ) -> Intersection<'a> {
        // A range by itself is read once, and no further than what is wanted of it; ranges of one union share that.
        let first_read = match all_of {
            [union] if union.len() == 1 => wanted.clamp(1, READ_MAX),
            [union] if wanted > 1 => wanted.div_ceil(union.len().max(1)).clamp(FIRST_READ_MIN, FIRST_READ),
            [_] => 1,
            _ => FIRST_READ,
        };
        let range = |index: &ActivityIndex| Range::new(index.clone(), first_read);
        let union = |indexes: &Vec<ActivityIndex>| indexes.iter().map(range).collect();
        Intersection { walk, unions: all_of.iter().map(union).collect(), rest: span }
    }

    /// What was not walked yet; nothing at the end.
    pub(super) const fn rest(&self) -> Option<Span> {
        self.rest
    }

    /// The next entry, unless it is too far for one step.
    pub(super) fn next(&mut self) -> Result<Step, Unreadable> {
        let Some(mut span) = self.rest.filter(|span| span.oldest <= span.newest) else { return Ok(Step::End) };
        let mut agreed = 0;
        let all = self.unions.len();
        for _ in 0..STEPS_MAX {
            for union in &mut self.unions {
                let Some(found) = first_of(union, self.walk, span)? else {
                    self.rest = None;
                    return Ok(Step::End);
                };
                agreed = if found.id == begin(self.walk, span) { agreed + 1 } else { 1 };
                span = from(self.walk, span, found.id);
                if agreed >= all {
                    let found = found.clone();
                    self.rest = behind(self.walk, span, found.id);
                    return Ok(Step::Found(found));
                }
            }
        }
        self.rest = Some(span);
        Ok(Step::Pause)
    }
}

/// Whatever comes first in any of the ranges.
fn first_of<'r>(union: &'r mut [Range], walk: Walk<'_>, span: Span) -> Result<Option<&'r ActivityEntry>, Unreadable> {
    let mut first: Option<&ActivityEntry> = None;
    for range in union {
        if let Some(found) = range.first(walk, span)?
            && first.is_none_or(|first| walk.is_before(found.id, first.id))
        {
            first = Some(found);
        }
    }
    Ok(first)
}

/// The span from `id` on.
const fn from(walk: Walk<'_>, span: Span, id: ActivityId) -> Span {
    match walk.direction {
        ScanDirection::Forward => Span { oldest: id, ..span },
        ScanDirection::Backward => Span { newest: id, ..span },
    }
}

/// The span behind `id`.
fn behind(walk: Walk<'_>, span: Span, id: ActivityId) -> Option<Span> {
    match walk.direction {
        ScanDirection::Forward => span.newer_than(id),
        ScanDirection::Backward => span.older_than(id),
    }
}
