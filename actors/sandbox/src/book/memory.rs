//! A book in memory, for tests: it can be told to time out or break.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use super::contract::{Book, BookError, Entries};
use super::line::BookLine;

/// The result of a write to a [`MemoryBook`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextWrite {
    /// It succeeds.
    Succeeds,
    /// It times out, and nothing was written.
    TimesOutUndone,
    /// It times out, and everything was written.
    TimesOutDone,
    /// The book cannot be written to now, and nothing was written.
    IsRefused,
    /// The book fails for good, and nothing was written.
    Breaks,
}

/// A book in memory. Clones share their lines: a test keeps one clone, gives the other to an acquirer, and still has
/// the lines after the acquirer is dropped, as after a restart.
#[derive(Debug, Clone, Default)]
pub struct MemoryBook {
    shared: Arc<Mutex<SharedBook>>,
}

#[derive(Debug, Default)]
struct SharedBook {
    lines: BTreeMap<String, BookLine>,
    next_writes: VecDeque<NextWrite>,
    writes: u64,
}

impl MemoryBook {
    /// An empty book whose writes succeed.
    #[must_use]
    pub fn new() -> MemoryBook {
        MemoryBook::default()
    }

    /// Plans the results of the next writes, in order, after those planned already. Writes after them succeed. One
    /// write has the lines of a whole group of requests.
    pub fn plan_writes(&self, writes: impl IntoIterator<Item = NextWrite>) {
        self.with(|shared| shared.next_writes.extend(writes));
    }

    /// The number of attempted writes.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.with(|shared| shared.writes)
    }

    fn with<T>(&self, act: impl FnOnce(&mut SharedBook) -> T) -> T {
        act(&mut self.shared.lock())
    }
}

impl Book for MemoryBook {
    fn line(&self, reference: &str) -> Result<Option<BookLine>, BookError> {
        Ok(self.with(|shared| shared.lines.get(reference).cloned()))
    }

    fn write(&mut self, lines: &[BookLine]) -> Result<(), BookError> {
        self.with(|shared| {
            shared.writes += 1;
            let how = shared.next_writes.pop_front().unwrap_or(NextWrite::Succeeds);
            if matches!(how, NextWrite::Succeeds | NextWrite::TimesOutDone) {
                shared.lines.extend(lines.iter().map(|line| (line.reference.clone(), line.clone())));
            }
            match how {
                NextWrite::Succeeds => Ok(()),
                NextWrite::TimesOutUndone | NextWrite::TimesOutDone => Err(BookError::TimedOut),
                NextWrite::IsRefused => Err(BookError::NotWritten { reason: "refused on purpose".to_owned() }),
                NextWrite::Breaks => Err(BookError::Broken("broken on purpose".into())),
            }
        })
    }

    fn entries(&self) -> Entries<'_> {
        let lines: Vec<BookLine> = self.with(|shared| shared.lines.values().cloned().collect());
        Box::new(lines.into_iter().map(Ok))
    }

    fn entries_under(&self, prefix: &str) -> Entries<'_> {
        let prefix = prefix.to_owned();
        let is_under = move |line: &Result<BookLine, BookError>| {
            line.as_ref().is_ok_and(|line| line.reference.starts_with(&prefix))
        };
        Box::new(self.entries().filter(is_under))
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    fn references(book: &MemoryBook) -> Vec<String> {
        book.entries().map(|line| line.expect("in memory").reference).collect()
    }

    #[test]
    fn clones_are_one_book_with_entries_in_order_of_references() {
        let book = MemoryBook::new();
        let mut written = samples::every_shape();
        book.clone().write(&written).expect("succeeds");
        written.sort_by(|one, other| one.reference.cmp(&other.reference));
        let expected: Vec<String> = written.iter().map(|line| line.reference.clone()).collect();
        assert_eq!(references(&book), expected);
        assert_eq!(book.line(samples::REFERENCE).expect("in memory"), Some(samples::approved()));
        assert_eq!(book.line("absent").expect("in memory"), None);
    }

    #[test]
    fn writes_go_as_planned_and_then_succeed() {
        let mut book = MemoryBook::new();
        book.plan_writes([NextWrite::TimesOutUndone, NextWrite::TimesOutDone, NextWrite::Breaks]);
        let line = |reference| {
            let mut line = samples::approved();
            line.reference = String::from(reference);
            line
        };
        assert!(matches!(book.write(&[line("a")]), Err(BookError::TimedOut)));
        assert!(matches!(book.write(&[line("b")]), Err(BookError::TimedOut)));
        assert!(matches!(book.write(&[line("c")]), Err(BookError::Broken(_))));
        assert!(book.write(&[line("d")]).is_ok());
        assert_eq!(references(&book), ["b", "d"]);
        assert_eq!(book.writes(), 4);
    }
}
