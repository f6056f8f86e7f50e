//! The families of keys: one RocksDB column family each.

use std::fmt;

till_domain::word_enum! {
    /// One key space of the store. Its content and its keys are described in [`crate::keys`]. Its name is on disk:
    /// renaming one loses its keys.
    pub enum Family: name {
        /// Every merchant's log: the records, never changed, never deleted.
        Journal => "journal",
        /// Rows derived from the log, and the position up to which they were derived.
        Rows => "rows",
        /// Keys whose order is the order of a list's answer.
        Indexes => "indexes",
        /// Calls to acquirers that are still to be made.
        Effects => "effects",
        /// Instants at which something is due.
        Timers => "timers",
        /// Bounded states of merchants at a position of their log.
        Snapshots => "snapshots",
        /// Digest of an API key to its merchant.
        Directory => "directory",
        /// Ciphertext that can be deleted without breaking the log.
        Vault => "vault",
        /// Format version, heads, the last commit.
        Meta => "meta",
    }
}

impl Family {
    /// The position in [`Family::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns true when the rows of this family are derived from records. The vault's are not, and the journal itself
    /// writes the others, from the records, heads and snapshots of an append.
    #[must_use]
    pub const fn is_derived(self) -> bool {
        match self {
            Family::Rows | Family::Indexes | Family::Effects | Family::Timers | Family::Directory => true,
            Family::Vault | Family::Journal | Family::Snapshots | Family::Meta => false,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
