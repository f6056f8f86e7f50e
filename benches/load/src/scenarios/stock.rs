//! The merchants that all runs of one command share, with the entries of their lists.

use super::prepare::Ends;
use super::shop::LoadMerchant;

/// Merchants with their lists.
pub(crate) struct Stock {
    pub(crate) ends: Ends,
    pub(super) shops: Vec<LoadMerchant>,
    /// The entries of each merchant's list, newest first; empty when no list is read.
    pub(super) activity: Vec<Entries>,
    pub(super) balance: Vec<Entries>,
}

/// The newest entries of one merchant's list, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entries {
    pub(super) ids: Vec<String>,
    /// True when there are no older ones.
    pub(super) is_all: bool,
}

impl Stock {
    /// True when the merchants were made for the run, so that nobody else calls them.
    pub(crate) const fn is_made_for_the_run(&self) -> bool {
        self.ends.operator.is_some()
    }
}
