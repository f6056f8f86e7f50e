//! Counts the merchants whose available balance is below zero, for a metric. Disputes and invoices can overdraw a balance.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use till_domain::ids::MerchantId;
use till_domain::records::{Balances, MerchantDirectory, Rows, Single, Unreadable};
use till_storage::rows::ScanDirection;
use till_storage::shapes::MerchantReader;

use crate::expiry::ScanThrottle;
use crate::store::Store;

/// Limit of the merchants that one read of the directory returns.
const MERCHANTS_AT_ONCE: usize = 256;

/// Counts overdrawn merchants periodically.
pub(crate) struct OverdrawnCounter {
    pub(crate) store: Arc<dyn Store>,
    /// The pause between two counts.
    pub(crate) pause: Duration,
    /// The last count.
    pub(crate) count: Arc<AtomicU64>,
}

impl OverdrawnCounter {
    /// Counts until the service stops.
    pub(crate) async fn run(self) {
        loop {
            match self.round().await {
                Ok(count) => self.count.store(count, Ordering::Relaxed),
                Err(error) => {
                    tracing::warn!(%error, "overdrawn merchants could not be counted; the next count follows")
                }
            }
            tokio::time::sleep(self.pause).await;
        }
    }

    async fn round(&self) -> Result<u64, Unreadable> {
        let (mut count, mut after, mut throttle) = (0, None, ScanThrottle::default());
        loop {
            let found = self.merchants(after)?;
            for merchant_id in &found {
                count += u64::from(self.is_overdrawn(*merchant_id)?);
                throttle.pause_after(1).await;
            }
            after = found.last().copied();
            if found.len() < MERCHANTS_AT_ONCE {
                return Ok(count);
            }
        }
    }

    fn merchants(&self, after: Option<MerchantId>) -> Result<Vec<MerchantId>, Unreadable> {
        let range = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let directory = MerchantReader::of_all_merchants(&*self.store);
        directory.scan_keys::<MerchantDirectory>(range, ScanDirection::Forward, MERCHANTS_AT_ONCE)
    }

    fn is_overdrawn(&self, merchant_id: MerchantId) -> Result<bool, Unreadable> {
        let totals = MerchantReader::new(merchant_id, None, &*self.store).get::<Balances>(Single)?;
        Ok(totals.is_some_and(|totals| totals.available_minor() < 0))
    }
}
