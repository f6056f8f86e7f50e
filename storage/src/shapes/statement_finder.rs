//! The statements of entries, determined when the entries are read.

use std::ops::Bound;

use till_domain::ids::StatementId;
use till_domain::ledger::Entry;
use till_domain::records::{Rows, Statements, StatementsByEnd, Unreadable};
use till_domain::time::Millis;

use crate::rows::{RowReader, ScanDirection};

use super::reader::MerchantReader;

/// Finds the statements of one merchant's entries. Each month is read once, so that many entries of few months cost a
/// few reads.
#[derive(Debug, Default)]
pub struct StatementFinder {
    closed: Vec<ClosedMonth>,
    /// No month that ends after this instant is closed.
    open_from: Option<Millis>,
}

#[derive(Debug)]
struct ClosedMonth {
    id: StatementId,
    starts_at: Millis,
    ends_at: Millis,
}

impl ClosedMonth {
    fn contains(&self, at: Millis) -> bool {
        (self.starts_at..self.ends_at).contains(&at)
    }
}

impl StatementFinder {
    /// The statement of an entry; none while it is not effective or its month is not closed.
    ///
    /// # Errors
    /// [`Unreadable`] when a statement cannot be read.
    pub fn find<R: RowReader>(
        &mut self,
        rows: &MerchantReader<R>,
        entry: &Entry,
    ) -> Result<Option<StatementId>, Unreadable> {
        let Some(at) = entry.effective_at else { return Ok(None) };
        if self.open_from.is_some_and(|open_from| at >= open_from) {
            return Ok(None);
        }
        if let Some(known) = self.closed.iter().find(|month| month.contains(at)) {
            return Ok(Some(known.id));
        }
        let after = (Bound::Excluded(at), Bound::Unbounded);
        let first = rows.scan::<StatementsByEnd>(after, ScanDirection::Forward, 1)?;
        let Some((ends_at, id)) = first.into_iter().next() else {
            self.open_from = Some(at);
            return Ok(None);
        };
        let missing = || Unreadable { reason: format!("the statement {id}, which an index names, is missing") };
        let statement = rows.get::<Statements>(id)?.ok_or_else(missing)?;
        let month = ClosedMonth { id, starts_at: statement.starts_at, ends_at };
        // An entry from before the first statement is in none.
        let found = month.contains(at).then_some(id);
        self.closed.push(month);
        Ok(found)
    }
}
