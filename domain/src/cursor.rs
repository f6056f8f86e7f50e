//! Cursors of lists that are ordered newest first.

use crate::ids::Id;

/// A cursor of a list that is ordered newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cursor<K> {
    /// The entries created before this one: the pages that follow.
    After(K),
    /// The entries created after this one: the previous pages.
    Before(K),
}

impl<K: Id> Cursor<K> {
    /// The position of a page without entries: directly next to its cursor, on the side that was asked for. The entries
    /// on the other side begin with the cursor's own entry, so the neighbouring page is the one that the caller came
    /// from.
    #[must_use]
    pub fn vacancy(self) -> K {
        let (id, beyond) = match self {
            Cursor::After(id) => (id, id.to_raw().predecessor()),
            Cursor::Before(id) => (id, id.to_raw().successor()),
        };
        beyond.map_or(id, K::from_raw)
    }
}
