//! Counts rows that were removed in the background, by kind.

use till_domain::event::{Event, Mutation};

/// The kinds of rows that are counted.
const KINDS: [&str; 5] = ["session", "token", "answer", "metadata", "webhook_event"];

/// Numbers of removed rows: of one record, or since the engine started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemovedRows([u64; KINDS.len()]);

impl RemovedRows {
    /// The name of each kind of row, with the number of removed rows.
    #[must_use]
    pub fn by_kind(&self) -> [(&'static str, u64); KINDS.len()] {
        std::array::from_fn(|kind| (KINDS[kind], self.0[kind]))
    }

    /// Adds the rows that another record removed.
    pub(crate) fn add(&mut self, removed: RemovedRows) {
        self.0.iter_mut().zip(removed.0).for_each(|(total, removed)| *total += removed);
    }

    /// The rows that a record removes. An item of a set has two: by hash and by position.
    pub(crate) fn of(mutation: &Mutation) -> RemovedRows {
        let count = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
        let RemovedRows([mut sessions, mut tokens, mut answers, mut metadata, mut webhook_events]) =
            RemovedRows::default();
        for event in &mutation.events {
            if let Event::SessionsSwept { session_ids } = event {
                sessions += count(session_ids.len());
            } else if let Event::TokensSwept { token_ids }
            | Event::TokensErased { token_ids }
            | Event::CustomerTokensErased { token_ids, .. } = event
            {
                tokens += count(token_ids.len());
            } else if let Event::AnswersSwept { scopes, created_merchants: _ } = event {
                answers += count(scopes.len());
            } else if let Event::MetadataSwept { id: _, items, sets, finished: _ } = event {
                metadata += count(2 * items.len() + sets.len());
            } else if let Event::WebhookEventsSwept { event_ids } = event {
                webhook_events += count(event_ids.len());
            }
        }
        RemovedRows([sessions, tokens, answers, metadata, webhook_events])
    }
}
