//! Shapes of statements and of the entries that they are made of.

use till_domain::statement::{EntrySum, Month, MonthEntries, Statement, StatementPeriod};

use super::declared::shape_struct;
use super::tag::Tag;

shape_struct! {
    /// A month of the calendar.
    MonthV1 of Month {
        year: u16,
        number: u8,
    }
}

shape_struct! {
    /// The sum of the entries of one type on one side.
    EntrySumV1 of EntrySum {
        entry_type: Tag,
        direction: Tag,
        count: u64,
        amount_minor: u64,
    }
}

shape_struct! {
    /// The entries of a month that have numbers.
    MonthEntriesV1 of MonthEntries {
        first: u64,
        sums: Vec<EntrySumV1>,
    }
}

shape_struct! {
    /// The month whose statement is closed next.
    StatementPeriodV1 of StatementPeriod {
        month: MonthV1,
        starts_at: u64,
        ends_at: u64,
        opening_minor: i64,
    }
}

shape_struct! {
    /// A statement.
    StatementV1 of Statement {
        id: [u8; 16],
        month: MonthV1,
        starts_at: u64,
        ends_at: u64,
        currency: [u8; 3],
        opening_minor: i64,
        entries: MonthEntriesV1,
        closed_at: u64,
    }
}
