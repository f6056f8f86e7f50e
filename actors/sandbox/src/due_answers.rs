//! The answers that the sandbox gives by itself at some time: an address that is late, a success that is late, and the
//! approval of an authorization whose action was canceled, until its money is given back.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::book::{Book, BookError, BookOperation};

use super::acts::LATE_PREFIX;

/// The time after which an approval that was not given back is sent again.
pub(super) const SEND_AGAIN_AFTER_MS: u64 = 5_000;

/// The references of authorizations with an answer that is to be sent, by its time.
#[derive(Debug, Default)]
pub(super) struct DueAnswers(BTreeSet<(u64, String)>);

impl DueAnswers {
    /// The approvals in a book that were not given back when its last process ended. They are due at once. All else
    /// that is due belongs to calls that are repeated.
    pub(super) fn left_in(book: &impl Book) -> DueAnswers {
        let mut due = DueAnswers::default();
        for line in book.entries_under(LATE_PREFIX) {
            match line.map(|line| line.operation) {
                Ok(BookOperation::LateApproval { authorization, is_given_back: false }) => due.add(0, authorization),
                Ok(_) => {}
                Err(error) => report(&error),
            }
        }
        due
    }

    /// Adds an answer; the same one twice is one.
    pub(super) fn add(&mut self, at_ms: u64, reference: String) {
        self.0.insert((at_ms, reference));
    }

    /// The time until the first one; none when there is none.
    pub(super) fn wait(&self, now_ms: impl FnOnce() -> u64) -> Option<Duration> {
        let (at_ms, _) = self.0.first()?;
        Some(Duration::from_millis(at_ms.saturating_sub(now_ms())))
    }

    /// Takes out those whose time has come.
    pub(super) fn take(&mut self, now_ms: u64) -> BTreeSet<String> {
        let mut taken = BTreeSet::new();
        while self.0.first().is_some_and(|(at_ms, _)| *at_ms <= now_ms) {
            taken.extend(self.0.pop_first().map(|(_, reference)| reference));
        }
        taken
    }
}

fn report(error: &BookError) {
    tracing::error!(error = error as &dyn std::error::Error, "the sandbox cannot read a late approval in its book");
}
