//! The interface of a durable place to which commits are written before the store writes and acknowledges them: an
//! archive, or a database elsewhere.

use crate::journal::{Append, AppendVerdict, CommitNumber};

/// A place to which commits are written first. Called by one thread.
pub trait FirstCommit: Send + Sync {
    /// Writes batches, which follow the commit `stored`, and returns when they are durable, with one verdict for each in
    /// their order. The store writes those with [`FirstVerdict::Written`], and no others. All batches of one merchant get
    /// the same verdict, since later ones build on earlier ones.
    fn commit(&self, batches: &[(CommitNumber, &Append)], stored: CommitNumber) -> Vec<FirstVerdict>;

    /// Notes that the store has written the commits up to `last`.
    fn confirm(&self, last: CommitNumber);
}

/// The outcome of a batch at the place that comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstVerdict {
    /// It is durable there.
    Written,
    /// Somebody else holds the merchant's log. Nothing was written.
    Fenced,
    /// Nothing was written; a later batch may be. The reason is in words for an operator.
    Unavailable(String),
    /// It is unknown if it was written. That is found out before the merchant's log can be claimed again.
    Unknown(String),
}

impl FirstVerdict {
    /// The verdict of the store on a batch that it does not write.
    pub(crate) fn refusal(self) -> Option<AppendVerdict> {
        match self {
            FirstVerdict::Written => None,
            FirstVerdict::Fenced => Some(AppendVerdict::Fenced),
            FirstVerdict::Unavailable(reason) => Some(AppendVerdict::Unavailable(reason)),
            FirstVerdict::Unknown(reason) => Some(AppendVerdict::Unknown(reason)),
        }
    }
}
