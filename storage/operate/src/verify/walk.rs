//! A walk through a range of a family that continues after rows that cannot be read.
//!
//! A damaged block fails every read that touches it, so the walk first asks for fewer rows, down to one, and then looks
//! for the smallest key from which reading works again: in growing steps, then by halving.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use till_storage::family::Family;
use till_storage::rows::{RowError, RowPair, RowRange, RowReader};

/// Limit of the rows of one read, while nothing fails.
const PAGE_ROWS: usize = 1_024;

/// Limit of the bytes of one read, unless it is of one row: so that a page fits in memory even when all rows are large.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Bytes in which positions are counted: at least the longest key of a family that tells rows apart by ids.
const WIDTH_MIN: usize = 48;

/// An item of a walk.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WalkStep {
    /// A row.
    Row(Vec<u8>, Vec<u8>),
    /// A range that cannot be read.
    Gap(Gap),
}

/// A range that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// The last key before it.
    pub(super) after: Option<Vec<u8>>,
    /// The first key after it.
    pub(super) before: Option<Vec<u8>>,
    /// The message of the store.
    pub(super) reason: String,
}

/// A walk through a range of rows.
pub(super) struct RowWalk<'a> {
    reader: &'a dyn RowReader,
    family: Family,
    next: Vec<u8>,
    upper: Vec<u8>,
    last: Option<Vec<u8>>,
    rows: VecDeque<RowPair>,
    /// The reason of a failed read; its end is not known yet.
    failed: Option<String>,
    page_max: usize,
    page: usize,
    ended: bool,
}

impl<'a> RowWalk<'a> {
    /// Walks from `lower`, inclusive, to `upper`, exclusive.
    pub(super) fn new(reader: &'a dyn RowReader, family: Family, (lower, upper): (Vec<u8>, Vec<u8>)) -> RowWalk<'a> {
        RowWalk {
            reader,
            family,
            next: lower,
            upper,
            last: None,
            rows: VecDeque::new(),
            failed: None,
            page_max: PAGE_ROWS,
            page: PAGE_ROWS,
            ended: false,
        }
    }

    /// Reads row by row, for a caller that skips rows.
    pub(super) fn one_by_one(mut self) -> RowWalk<'a> {
        (self.page, self.page_max) = (1, 1);
        self
    }

    /// Continues at `key`, at once.
    pub(super) fn skip_to(&mut self, key: Vec<u8>) {
        self.rows.clear();
        self.ended = false;
        self.next = key;
    }

    /// Reads one page, or finds where reading works again.
    fn fill(&mut self) {
        while self.rows.is_empty() && !self.ended {
            match self.read(&self.next, self.page) {
                Ok(pairs) => self.accept(pairs),
                Err(_) if self.page > 1 => self.page /= 8,
                Err(error) => {
                    self.failed.get_or_insert(error.to_string());
                    self.next = self.readable_from();
                }
            }
            self.page = self.page.max(1);
        }
    }

    fn accept(&mut self, pairs: Vec<RowPair>) {
        match pairs.last() {
            Some((key, _)) => {
                self.next = key.clone();
                self.next.push(0); // The smallest key that is greater.
            }
            None => self.ended = true,
        }
        self.rows = pairs.into();
        self.page = (self.page * 2).min(self.page_max);
    }

    fn read(&self, lower: &[u8], limit: usize) -> Result<Vec<RowPair>, RowError> {
        let (mut rows, mut byte_count) = (Vec::new(), 0);
        self.reader.visit(RowRange::forward(self.family, lower, &self.upper), &mut |key, value| {
            rows.push((key.to_vec(), value.to_vec()));
            byte_count += key.len() + value.len();
            let is_full = rows.len() >= limit || byte_count >= PAGE_BYTES;
            if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(rows)
    }

    /// The smallest position found from which a read works. Everything before it fails, as far as it was tried.
    fn readable_from(&self) -> Vec<u8> {
        let width = self.next.len().max(self.upper.len()).max(WIDTH_MIN);
        let start = padded(&self.next, width);
        let works = |position: &[u8]| *position >= *self.upper || self.read(position, 1).is_ok();
        let (mut fails, mut readable, mut bits) = (start.clone(), padded(&self.upper, width), width * 8);
        for bit in 0..width * 8 {
            let Some(position) = plus_power(&start, bit).filter(|position| *position < readable) else { break };
            if works(&position) {
                (readable, bits) = (position, bit);
                break;
            }
            fails = position;
        }
        // The distance of both is at most 2^bits, and is halved by each bit.
        for bit in (0..bits).rev() {
            let Some(position) = plus_power(&fails, bit).filter(|position| *position < readable) else { continue };
            if works(&position) { readable = position } else { fails = position }
        }
        readable
    }
}

impl Iterator for RowWalk<'_> {
    type Item = WalkStep;

    fn next(&mut self) -> Option<WalkStep> {
        self.fill();
        if let Some(reason) = self.failed.take() {
            let before = self.rows.front().map(|(key, _)| key.clone());
            return Some(WalkStep::Gap(Gap { after: self.last.clone(), before, reason }));
        }
        let (key, value) = self.rows.pop_front()?;
        self.last = Some(key.clone());
        Some(WalkStep::Row(key, value))
    }
}

fn padded(key: &[u8], width: usize) -> Vec<u8> {
    let mut position = key.to_vec();
    position.resize(width, 0);
    position
}

/// The position 2^`bit` further, unless there is none.
fn plus_power(position: &[u8], bit: usize) -> Option<Vec<u8>> {
    let mut sum = position.to_vec();
    let mut at = sum.len().checked_sub(bit / 8 + 1)?;
    let mut carry = 1_u8 << (bit % 8);
    loop {
        let (byte, over) = sum[at].overflowing_add(carry);
        sum[at] = byte;
        if !over {
            return Some(sum);
        }
        carry = 1;
        at = at.checked_sub(1)?;
    }
}

/// The range of every key with this prefix, of any length.
pub(super) fn prefix_range(prefix: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut upper = prefix.to_vec();
    while let Some(last) = upper.last_mut() {
        if *last < u8::MAX {
            *last += 1;
            return (prefix.to_vec(), upper);
        }
        upper.pop();
    }
    // Greater than any key that consists of 255 alone.
    (prefix.to_vec(), vec![u8::MAX; 1_024])
}

#[cfg(test)]
mod tests {
    use super::*;
    use till_storage::memory::MemoryStore;

    fn key(number: u16) -> Vec<u8> {
        [&[7; 16][..], &[8], &number.to_be_bytes(), &[9; 14]].concat()
    }

    fn store(count: u16) -> MemoryStore {
        let store = MemoryStore::new();
        (0..count).for_each(|number| store.damage(Family::Rows, &key(number), &[1]));
        store
    }

    fn walk(store: &MemoryStore) -> Vec<WalkStep> {
        RowWalk::new(store, Family::Rows, prefix_range(&[7; 16])).collect()
    }

    #[test]
    fn a_walk_returns_every_row_once() {
        let steps = walk(&store(3_000));
        let expected: Vec<WalkStep> = (0..3_000).map(|number| WalkStep::Row(key(number), vec![1])).collect();
        assert_eq!(steps, expected);
    }

    #[test]
    fn a_walk_continues_after_each_unreadable_range() {
        for unreadable in [0, 1, 1_500, 2_998] {
            let store = store(3_000);
            store.fail_reads(Family::Rows, &key(unreadable));
            store.fail_reads(Family::Rows, &key(unreadable + 1));
            store.fail_reads(Family::Rows, &key(2_500));
            let steps = walk(&store);
            let rows = steps.iter().filter(|step| matches!(step, WalkStep::Row(..))).count();
            let gaps: Vec<&WalkStep> = steps.iter().filter(|step| matches!(step, WalkStep::Gap(_))).collect();
            assert_eq!((rows, gaps.len()), (2_997, 2), "{unreadable}");
            let reason = "the store failed to read rows: planned".to_owned();
            let after = unreadable.checked_sub(1).map(key);
            let before = (unreadable + 2 < 3_000).then(|| key(unreadable + 2));
            assert!(gaps.contains(&&WalkStep::Gap(Gap { after, before, reason })), "{unreadable}: {gaps:?}");
        }
    }

    #[test]
    fn powers_are_counted_over_all_bytes() {
        assert_eq!(plus_power(&[0x00, 0xff], 0), Some(vec![0x01, 0x00]));
        assert_eq!(plus_power(&[0x7f, 0x01], 15), Some(vec![0xff, 0x01]));
        assert_eq!(plus_power(&[0xff, 0xff], 0), None);
    }

    #[test]
    fn a_range_of_a_prefix_ends_before_the_next_prefix() {
        assert_eq!(prefix_range(&[1, 0xff]), (vec![1, 0xff], vec![2]));
        let (_, upper) = prefix_range(&[0xff; 16]);
        assert!(upper > [[0xff; 16].as_slice(), &[98, 0xff, 0xff]].concat());
    }
}
