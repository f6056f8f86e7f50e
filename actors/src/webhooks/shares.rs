//! Permits that merchants share, so that none of them holds all.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use till_domain::ids::MerchantId;

use super::limits::MERCHANT_PARTS;

/// A number of permits, of which one merchant holds a part at most.
#[derive(Debug)]
pub(super) struct MerchantShares {
    max: usize,
    held: Mutex<HeldPermits>,
}

#[derive(Debug, Default)]
struct HeldPermits {
    in_all: usize,
    /// A merchant without a permit has no entry.
    by_merchant: BTreeMap<MerchantId, usize>,
}

/// A permit, until it is dropped.
#[derive(Debug)]
pub(super) struct SharedPermit {
    of: Arc<MerchantShares>,
    merchant_id: MerchantId,
}

impl MerchantShares {
    /// Permits that nobody holds yet.
    pub(super) fn new(max: usize) -> Arc<MerchantShares> {
        Arc::new(MerchantShares { max, held: Mutex::default() })
    }

    /// A permit for a merchant, unless all are held, or all of its part.
    pub(super) fn enter(self: &Arc<Self>, merchant_id: MerchantId) -> Option<SharedPermit> {
        let mut held = self.held.lock();
        let of_merchant = held.by_merchant.get(&merchant_id).copied().unwrap_or_default();
        if held.in_all >= self.max || of_merchant >= self.max / MERCHANT_PARTS {
            return None;
        }
        held.in_all += 1;
        held.by_merchant.insert(merchant_id, of_merchant + 1);
        Some(SharedPermit { of: Arc::clone(self), merchant_id })
    }
}

impl Drop for SharedPermit {
    fn drop(&mut self) {
        let mut held = self.of.held.lock();
        held.in_all -= 1;
        match held.by_merchant.get_mut(&self.merchant_id) {
            Some(of_merchant) if *of_merchant > 1 => *of_merchant -= 1,
            _ => _ = held.by_merchant.remove(&self.merchant_id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merchant(number: u8) -> MerchantId {
        MerchantId::from_bytes([number; 16])
    }

    fn enter(shares: &Arc<MerchantShares>, number: u8, times: usize) -> Vec<SharedPermit> {
        (0..times).filter_map(|_| shares.enter(merchant(number))).collect()
    }

    #[test]
    fn one_merchant_holds_an_eighth_of_the_permits_at_most() {
        let shares = MerchantShares::new(16);
        let mut held = enter(&shares, 1, 16);
        assert_eq!((held.len(), enter(&shares, 2, 16).len()), (2, 2));
        held.pop();
        assert_eq!(enter(&shares, 1, 16).len(), 1, "a permit that was given back");
        drop(held);
        assert_eq!(shares.held.lock().by_merchant, BTreeMap::new());
    }

    #[test]
    fn all_merchants_together_hold_no_more_permits_than_there_are() {
        let shares = MerchantShares::new(16);
        let held: Vec<_> = (0..10).flat_map(|number| enter(&shares, number, 2)).collect();
        assert_eq!(held.len(), 16);
        drop(held);
        assert_eq!(enter(&shares, 10, 1).len(), 1);
    }
}
