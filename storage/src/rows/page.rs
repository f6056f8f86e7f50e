//! Places in lists that are ordered newest first.

use till_domain::ids::Id;

/// A place in a list that is ordered newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cursor<K> {
    /// What was created before this entry: the pages that follow.
    After(K),
    /// What was created after this entry: the pages that come before.
    Before(K),
}

impl<K: Id> Cursor<K> {
    /// Where a page without entries stands: right next to its cursor, on the side that the caller came to see. What
    /// lies on the other side begins with the cursor's own entry, so the page beside it is the one that the caller
    /// came from.
    #[must_use]
    pub fn vacancy(self) -> K {
        let (id, beyond) = match self {
            Cursor::After(id) => (id, id.to_raw().predecessor()),
            Cursor::Before(id) => (id, id.to_raw().successor()),
        };
        beyond.map_or(id, K::from_raw)
    }
}

/// Whether a list goes on beside a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// Whether there are newer entries.
    pub newer: bool,
    /// Whether there are older ones.
    pub older: bool,
}
