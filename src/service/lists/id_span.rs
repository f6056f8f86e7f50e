//! Spans of ids, which are spans of time.

use till_domain::ids::{Id, RawId};
use till_domain::time::Millis;
use till_storage::rows::ScanDirection;

/// Ids from the first to the last, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdSpan<K> {
    pub(super) oldest: K,
    pub(super) newest: K,
}

impl<K: Id + Ord> IdSpan<K> {
    /// All ids.
    #[must_use]
    pub(crate) fn all() -> IdSpan<K> {
        IdSpan {
            oldest: K::from_raw(RawId::from_bytes([u8::MIN; 16])),
            newest: K::from_raw(RawId::from_bytes([u8::MAX; 16])),
        }
    }

    /// Those that were made from one instant, inclusive, to another, exclusive; none when there are no such.
    #[must_use]
    pub(crate) fn made_between(from: Millis, until: Millis) -> Option<IdSpan<K>> {
        let last = until.0.checked_sub(1)?;
        Some(IdSpan { oldest: K::from_raw(RawId::first_at(from.0)), newest: K::from_raw(RawId::last_at(last)) })
    }

    /// The span of the same times for ids of another kind.
    pub(super) fn of_other_ids<L: Id>(self) -> IdSpan<L> {
        IdSpan { oldest: L::from_raw(self.oldest.to_raw()), newest: L::from_raw(self.newest.to_raw()) }
    }

    /// The ids that are older than one.
    pub(super) fn older_than(self, id: K) -> Option<IdSpan<K>> {
        let newest = K::from_raw(id.to_raw().predecessor()?).min(self.newest);
        (self.oldest <= newest).then_some(IdSpan { newest, ..self })
    }

    /// The ids that are newer than one.
    pub(super) fn newer_than(self, id: K) -> Option<IdSpan<K>> {
        let oldest = K::from_raw(id.to_raw().successor()?).max(self.oldest);
        (oldest <= self.newest).then_some(IdSpan { oldest, ..self })
    }

    /// The ids after one, in a direction.
    pub(super) fn part_beyond(self, id: K, direction: ScanDirection) -> Option<IdSpan<K>> {
        match direction {
            ScanDirection::Backward => self.older_than(id),
            ScanDirection::Forward => self.newer_than(id),
        }
    }

    /// The ids from one on, itself included, in a direction.
    pub(super) fn starting_at(self, id: K, direction: ScanDirection) -> IdSpan<K> {
        match direction {
            ScanDirection::Backward => IdSpan { newest: id, ..self },
            ScanDirection::Forward => IdSpan { oldest: id, ..self },
        }
    }

    /// The first id, in a direction.
    pub(super) fn first(self, direction: ScanDirection) -> K {
        match direction {
            ScanDirection::Backward => self.newest,
            ScanDirection::Forward => self.oldest,
        }
    }

    /// As a range of keys.
    #[must_use]
    pub(crate) const fn range(self) -> std::ops::RangeInclusive<K> {
        self.oldest..=self.newest
    }
}
