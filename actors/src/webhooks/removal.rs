//! Removes deliveries of events that are kept no longer.

use std::sync::Arc;
use std::time::Duration;

use till_domain::time::Millis;
use till_domain::webhook::EVENT_KEPT_SECONDS;
use till_storage::deliveries::{Deliveries, DeliveriesError};

use super::dispatcher::Dispatcher;

/// The pause between two rounds.
const PAUSE: Duration = Duration::from_secs(3_600);
/// Deliveries that are removed at once.
const REMOVED_AT_ONCE: usize = 1_000;

/// Removes old deliveries of all merchants, every hour, until it is dropped.
pub(crate) async fn remove_old_deliveries(dispatcher: Arc<Dispatcher>) {
    loop {
        let before = Millis(dispatcher.clock.now().0.saturating_sub(EVENT_KEPT_SECONDS * 1_000));
        if let Err(error) = remove_before(dispatcher.deliveries(), before).await {
            tracing::warn!(%error, "old deliveries of webhooks could not be removed and are tried again");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn remove_before(deliveries: &dyn Deliveries, before: Millis) -> Result<(), DeliveriesError> {
    let mut merchant = deliveries.next_merchant(None)?;
    while let Some(merchant_id) = merchant {
        while deliveries.remove_created_before(merchant_id, before, REMOVED_AT_ONCE)? == REMOVED_AT_ONCE {
            tokio::task::yield_now().await;
        }
        tokio::task::yield_now().await;
        merchant = deliveries.next_merchant(Some(merchant_id))?;
    }
    Ok(())
}
