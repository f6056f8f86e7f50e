//! The rules for a merchant's statements and entries: each statement has the entries that became effective in its
//! month, and begins with the balance at the end of the one before.

use till_domain::ledger::{Entry, EntryStatus};
use till_domain::statement::{MonthEntries, Statement};

/// Statements, with the sums of the entries of their months.
#[derive(Debug, Default)]
pub(super) struct StatementSums {
    /// In the order of their months.
    months: Vec<(Statement, MonthEntries)>,
}

impl StatementSums {
    /// Adds a statement, before the entries.
    pub(super) fn add_statement(&mut self, statement: &Statement) {
        let none = MonthEntries { first: statement.entries.first, sums: Vec::new() };
        self.months.push((statement.clone(), none));
    }

    /// Adds an entry to the month in which it became effective.
    pub(super) fn add_entry(&mut self, entry: &Entry) {
        let Some(at) = entry.effective_at.filter(|_| entry.status == EntryStatus::Effective) else { return };
        let after = self.months.partition_point(|(statement, _)| statement.ends_at <= at);
        if let Some((statement, sums)) = self.months.get_mut(after)
            && statement.starts_at <= at
        {
            sums.add(entry);
        }
    }

    /// The statements that differ from the sums of their entries, or do not follow the statement before.
    pub(super) fn wrong(&self) -> impl Iterator<Item = &Statement> {
        let before = std::iter::once(None).chain(self.months.iter().map(|(statement, _)| Some(statement)));
        self.months.iter().zip(before).filter_map(|((statement, sums), before)| {
            let follows = before.is_none_or(|before| {
                let end = (before.ends_at, before.closing_minor(), before.entries.next());
                end == (statement.starts_at, statement.opening_minor, statement.entries.first)
            });
            (!follows || *sums != statement.entries).then_some(statement)
        })
    }
}

#[cfg(test)]
mod tests {
    use till_domain::ids::{EntryId, StatementId, TopupId, TransactionId};
    use till_domain::ledger::{Cause, Direction, EntryType};
    use till_domain::money::AmountMinor;
    use till_domain::statement::Month;
    use till_domain::time::Millis;

    use super::*;

    fn entry(minor: u64, effective_at: Option<u64>) -> Entry {
        Entry {
            id: EntryId::from_bytes([1; 16]),
            transaction_id: TransactionId::from_bytes([1; 16]),
            direction: Direction::Credit,
            entry_type: EntryType::AddPrefund,
            amount: AmountMinor::new(minor).expect("positive"),
            currency: "THB".parse().expect("a currency"),
            status: if effective_at.is_some() { EntryStatus::Effective } else { EntryStatus::OnHold },
            cause: Cause::Topup(TopupId::from_bytes([1; 16])),
            created_at: Millis(0),
            effective_at: effective_at.map(Millis),
            canceled_at: None,
        }
    }

    fn entries() -> [Entry; 6] {
        let effective = |minor, at| entry(minor, Some(at));
        [effective(64, 99), effective(1, 100), effective(2, 199), effective(4, 200), effective(32, 300), entry(8, None)]
    }

    /// Two statements, which begin at 100 and at 200.
    fn statements() -> [Statement; 2] {
        let month = |number: u8, starts_at: u64, opening_minor, first, of_month: &[Entry]| {
            let mut entries = MonthEntries { first, sums: Vec::new() };
            of_month.iter().for_each(|entry| entries.add(entry));
            Statement {
                id: StatementId::from_bytes([number; 16]),
                month: Month { year: 2026, number },
                starts_at: Millis(starts_at),
                ends_at: Millis(starts_at + 100),
                currency: "THB".parse().expect("a currency"),
                opening_minor,
                entries,
                closed_at: Millis(starts_at + 100),
            }
        };
        [month(1, 100, 64, 1, &entries()[1..3]), month(2, 200, 67, 3, &entries()[3..4])]
    }

    fn wrong(statements: &[Statement]) -> Vec<StatementId> {
        let mut sums = StatementSums::default();
        statements.iter().for_each(|statement| sums.add_statement(statement));
        entries().iter().for_each(|entry| sums.add_entry(entry));
        sums.wrong().map(|statement| statement.id).collect()
    }

    #[test]
    fn statements_with_the_sums_of_their_months_have_no_fault() {
        assert_eq!(wrong(&statements()), []);
        assert_eq!(wrong(&[]), []);
    }

    #[test]
    fn a_statement_with_other_sums_or_without_order_is_reported() {
        let [first, second] = statements();
        let mut other = second.clone();
        other.entries.sums[0].amount_minor += 1;
        assert_eq!(wrong(&[first.clone(), other]), [second.id]);
        for other in [
            Statement { opening_minor: 66, ..second.clone() },
            Statement {
                starts_at: Millis(201),
                entries: MonthEntries { first: 3, sums: Vec::new() },
                ..second.clone()
            },
            Statement { entries: MonthEntries { first: 4, ..second.entries.clone() }, ..second.clone() },
        ] {
            assert_eq!(wrong(&[first.clone(), other]), [second.id]);
        }
    }
}
