//! The families of keys: one RocksDB column family each.

use std::fmt;

/// One key space of the store. Its content and its keys are described in [`crate::keys`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Every merchant's log: the records, never changed, never deleted.
    Journal,
    /// Rows derived from the log, and the position up to which they were derived.
    Rows,
    /// Keys whose order is the order of a list's answer.
    Indexes,
    /// Calls to acquirers that are still to be made.
    Effects,
    /// Instants at which something is due.
    Timers,
    /// Bounded states of merchants at a position of their log.
    Snapshots,
    /// Digest of an API key to its merchant.
    Directory,
    /// Ciphertext that can be deleted without breaking the log.
    Vault,
    /// Format version, heads, the last commit.
    Meta,
}

impl Family {
    /// Every family, in the order of [`Family::index`].
    pub const ALL: [Family; 9] = [
        Family::Journal,
        Family::Rows,
        Family::Indexes,
        Family::Effects,
        Family::Timers,
        Family::Snapshots,
        Family::Directory,
        Family::Vault,
        Family::Meta,
    ];

    /// The name on disk. Renaming one loses its keys.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Family::Journal => "journal",
            Family::Rows => "rows",
            Family::Indexes => "indexes",
            Family::Effects => "effects",
            Family::Timers => "timers",
            Family::Snapshots => "snapshots",
            Family::Directory => "directory",
            Family::Vault => "vault",
            Family::Meta => "meta",
        }
    }

    /// The position in [`Family::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Family::Journal => 0,
            Family::Rows => 1,
            Family::Indexes => 2,
            Family::Effects => 3,
            Family::Timers => 4,
            Family::Snapshots => 5,
            Family::Directory => 6,
            Family::Vault => 7,
            Family::Meta => 8,
        }
    }

    /// Returns true when an append may contain row writes for this family. The journal itself writes the others,
    /// from the records, heads and snapshots of the append.
    #[must_use]
    pub const fn takes_rows(self) -> bool {
        match self {
            Family::Rows | Family::Indexes | Family::Effects | Family::Timers | Family::Directory | Family::Vault => {
                true
            }
            Family::Journal | Family::Snapshots | Family::Meta => false,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_a_family_is_its_place_in_the_list_of_all() {
        for (index, family) in Family::ALL.into_iter().enumerate() {
            assert_eq!(family.index(), index, "{family}");
        }
    }
}
