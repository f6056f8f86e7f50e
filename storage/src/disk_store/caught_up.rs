//! Merchants whose rows are known to be those of their whole logs.

use std::collections::HashSet;

use parking_lot::RwLock;
use till_domain::ids::MerchantId;

/// The maximum number of merchants that are remembered: some 30 MB. The check of any further merchant reads two rows.
const REMEMBERED_MAX: usize = 1_000_000;

/// The merchants that have caught up. Once caught up, a merchant stays so, since every append writes head and position
/// together, unless records are fetched from elsewhere.
#[derive(Debug, Default)]
pub(super) struct CaughtUp(RwLock<HashSet<MerchantId>>);

impl CaughtUp {
    pub(super) fn contains(&self, merchant_id: MerchantId) -> bool {
        self.0.read().contains(&merchant_id)
    }

    pub(super) fn remember(&self, merchant_id: MerchantId) {
        let mut merchants = self.0.write();
        if merchants.len() < REMEMBERED_MAX {
            merchants.insert(merchant_id);
        }
    }

    pub(super) fn forget(&self, merchant_id: MerchantId) {
        self.0.write().remove(&merchant_id);
    }
}
