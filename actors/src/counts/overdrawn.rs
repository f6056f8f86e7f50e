//! Counts the merchants whose available balance is below zero, for a metric. Disputes and invoices can overdraw a
//! balance.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use till_domain::ids::MerchantId;
use till_domain::records::{Balances, MerchantDirectory, Rows, Single, Unreadable};
use till_storage::shapes::MerchantReader;

use super::record_counts::Counts;
use crate::background::{BackgroundRows, ScanThrottle};
use crate::store::Store;

/// Counts overdrawn merchants periodically.
pub(crate) struct OverdrawnCounter {
    pub(crate) store: Arc<dyn Store>,
    /// The pause between two counts.
    pub(crate) pause: Duration,
    pub(crate) counts: Arc<Counts>,
}

impl OverdrawnCounter {
    /// Counts until the service stops.
    pub(crate) async fn run(self) {
        loop {
            match self.round().await {
                Ok(count) => self.counts.overdrawn_merchants.store(count, Ordering::Relaxed),
                Err(error) => {
                    tracing::warn!(%error, "overdrawn merchants could not be counted; the next count follows")
                }
            }
            tokio::time::sleep(self.pause).await;
        }
    }

    async fn round(&self) -> Result<u64, Unreadable> {
        let (mut count, mut throttle) = (0, ScanThrottle::default());
        for merchant_id in
            MerchantReader::of_all_merchants(BackgroundRows(&*self.store)).all_keys::<MerchantDirectory>()
        {
            count += u64::from(self.is_overdrawn(merchant_id?)?);
            throttle.pause_after(1).await;
        }
        Ok(count)
    }

    fn is_overdrawn(&self, merchant_id: MerchantId) -> Result<bool, Unreadable> {
        let totals = MerchantReader::new(merchant_id, None, BackgroundRows(&*self.store)).get::<Balances>(Single)?;
        Ok(totals.is_some_and(|totals| totals.available_minor() < 0))
    }
}
