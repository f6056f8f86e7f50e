//! Statements: the effective entries of a balance, month by month of the merchant's time zone.
//!
//! Each entry on the balance is numbered when it becomes effective. Entries become effective in the order of time, and
//! a month is closed before the first entry of the next is numbered, so that a month is a range of numbers.

use crate::ids::StatementId;
use crate::ledger::{Direction, Entry, EntryType};
use crate::money::Currency;
use crate::text::TimeZone;
use crate::time::{DAY_MILLIS, Millis};
use std::fmt;

/// A month of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    /// The year.
    pub year: u16,
    /// The month in it, from 1 to 12.
    pub number: u8,
}

impl fmt::Display for Month {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}-{:02}", self.year, self.number)
    }
}

/// A month and its instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonthBounds {
    /// The month.
    pub month: Month,
    /// Its first instant.
    pub starts_at: Millis,
    /// The first instant of the month after it.
    pub ends_at: Millis,
}

/// The months of time zones, which the rules take from outside.
pub trait Calendar {
    /// The month of `zone` that contains `at`. Its end is after `at`.
    fn month_at(&self, zone: &TimeZone, at: Millis) -> MonthBounds;
}

/// The months of UTC, in every time zone: for callers that have no time zone database.
#[derive(Debug, Clone, Copy, Default)]
pub struct UtcCalendar;

impl Calendar for UtcCalendar {
    fn month_at(&self, _: &TimeZone, at: Millis) -> MonthBounds {
        let (mut month, mut first_day, day) = (Month { year: 1970, number: 1 }, 0_u64, at.0 / DAY_MILLIS);
        loop {
            let next_first = first_day.saturating_add(days_of(month));
            if day < next_first || month.year == u16::MAX {
                let in_millis = |day: u64| Millis(day.saturating_mul(DAY_MILLIS));
                return MonthBounds { month, starts_at: in_millis(first_day), ends_at: in_millis(next_first) };
            }
            (month, first_day) = (next_month(month), next_first);
        }
    }
}

const fn days_of(month: Month) -> u64 {
    match month.number {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(month.year) => 29,
        2 => 28,
        _ => 31,
    }
}

const fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn next_month(month: Month) -> Month {
    match month.number {
        12 => Month { year: month.year.saturating_add(1), number: 1 },
        number => Month { year: month.year, number: number.saturating_add(1) },
    }
}

/// The sum of the entries of one type on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntrySum {
    /// The type.
    pub entry_type: EntryType,
    /// The side.
    pub direction: Direction,
    /// The number of entries.
    pub count: u64,
    /// Their sum, in minor units.
    pub amount_minor: u64,
}

/// The entries of a month that have numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MonthEntries {
    /// The number of the first, which is that of the next entry when there is none.
    pub first: u64,
    /// Their sums, in the order of types and sides.
    pub sums: Vec<EntrySum>,
}

impl MonthEntries {
    /// The number of entries.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.sums.iter().fold(0, |count, sum| count.saturating_add(sum.count))
    }

    /// The number of the entry after the last.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.first.saturating_add(self.count())
    }

    /// The sum of one side, in minor units.
    #[must_use]
    pub fn total_minor(&self, direction: Direction) -> u64 {
        let of_side = self.sums.iter().filter(|sum| sum.direction == direction);
        of_side.fold(0, |total, sum| total.saturating_add(sum.amount_minor))
    }

    /// Adds an entry as the last.
    pub fn add(&mut self, entry: &Entry) {
        let key = (entry.entry_type, entry.direction);
        let at = match self.sums.binary_search_by_key(&key, |sum| (sum.entry_type, sum.direction)) {
            Ok(at) => at,
            Err(at) => {
                let (entry_type, direction) = key;
                self.sums.insert(at, EntrySum { entry_type, direction, count: 0, amount_minor: 0 });
                at
            }
        };
        if let Some(sum) = self.sums.get_mut(at) {
            sum.count = sum.count.saturating_add(1);
            sum.amount_minor = sum.amount_minor.saturating_add(entry.amount.get());
        }
    }
}

/// The month whose statement is closed next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementPeriod {
    /// The month.
    pub month: Month,
    /// Its first instant.
    pub starts_at: Millis,
    /// The first instant after it, at which its timer is due.
    pub ends_at: Millis,
    /// The balance at its beginning, in minor units: effective credits less effective debits.
    pub opening_minor: i64,
}

/// A statement: a month that is over. Nothing of it changes any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its id.
    pub id: StatementId,
    /// The month.
    pub month: Month,
    /// Its first instant.
    pub starts_at: Millis,
    /// The first instant after it.
    pub ends_at: Millis,
    /// The currency of the balance.
    pub currency: Currency,
    /// The balance at its beginning, in minor units: the one at the end of the month before.
    pub opening_minor: i64,
    /// Its entries.
    pub entries: MonthEntries,
    /// The time at which it was closed.
    pub closed_at: Millis,
}

impl Statement {
    /// The balance at its end, in minor units.
    #[must_use]
    pub fn closing_minor(&self) -> i64 {
        balance_after(self.opening_minor, &self.entries)
    }
}

/// A balance after the entries of a month, in minor units.
#[must_use]
pub fn balance_after(opening_minor: i64, entries: &MonthEntries) -> i64 {
    // Totals are at most 2^53 - 1 when decided, so all of them fit.
    let signed = |direction: Direction| i64::try_from(entries.total_minor(direction)).unwrap_or(i64::MAX);
    opening_minor.saturating_add(signed(Direction::Credit)).saturating_sub(signed(Direction::Debit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(at: u64) -> (String, u64, u64) {
        let bounds = UtcCalendar.month_at(&TimeZone::from_stored("UTC".to_owned()), Millis(at));
        (bounds.month.to_string(), bounds.starts_at.0 / 1_000, bounds.ends_at.0 / 1_000)
    }

    #[test]
    fn months_of_utc_begin_and_end_at_midnight() {
        assert_eq!(utc(0), ("1970-01".to_owned(), 0, 2_678_400));
        assert_eq!(utc(1_709_164_800_000), ("2024-02".to_owned(), 1_706_745_600, 1_709_251_200), "a leap year");
        assert_eq!(utc(1_709_251_199_999).0, "2024-02");
        assert_eq!(utc(1_709_251_200_000), ("2024-03".to_owned(), 1_709_251_200, 1_711_929_600));
        assert_eq!(utc(1_798_761_599_999).0, "2026-12");
        assert_eq!(utc(1_798_761_600_000).0, "2027-01");
    }
}
