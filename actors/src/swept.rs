//! Counts rows that were swept, by what they were.

use std::sync::atomic::{AtomicU64, Ordering};
use till_domain::event::{Event, Mutation};

/// Rows that were swept since the engine started.
#[derive(Debug, Default)]
pub struct SweptRows {
    sessions: AtomicU64,
    tokens: AtomicU64,
    answers: AtomicU64,
    metadata: AtomicU64,
}

impl SweptRows {
    /// Each kind of row by its name, with how many were swept.
    #[must_use]
    pub fn by_kind(&self) -> [(&'static str, u64); 4] {
        let count = |rows: &AtomicU64| rows.load(Ordering::Relaxed);
        [
            ("session", count(&self.sessions)),
            ("token", count(&self.tokens)),
            ("answer", count(&self.answers)),
            ("metadata", count(&self.metadata)),
        ]
    }

    /// Adds what a durable record swept.
    pub(crate) fn add(&self, swept: Swept) {
        let Swept { sessions, tokens, answers, metadata } = swept;
        for (rows, swept) in
            [(&self.sessions, sessions), (&self.tokens, tokens), (&self.answers, answers), (&self.metadata, metadata)]
        {
            rows.fetch_add(swept, Ordering::Relaxed);
        }
    }
}

/// What one record sweeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Swept {
    sessions: u64,
    tokens: u64,
    answers: u64,
    metadata: u64,
}

impl Swept {
    /// The rows that a record sweeps. An item of a set is two: by hash and by position.
    pub(crate) fn of(mutation: &Mutation) -> Swept {
        let count = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
        let mut swept = Swept::default();
        for event in &mutation.events {
            if let Event::SessionsSwept { session_ids } = event {
                swept.sessions += count(session_ids.len());
            } else if let Event::TokensSwept { token_ids } = event {
                swept.tokens += count(token_ids.len());
            } else if let Event::AnswersSwept { scopes, created_merchants: _ } = event {
                swept.answers += count(scopes.len());
            } else if let Event::MetadataSwept { id: _, items, sets, finished: _ } = event {
                swept.metadata += count(2 * items.len() + sets.len());
            }
        }
        swept
    }
}
