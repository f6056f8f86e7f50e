//! The time of merchants: the wall clock, and for a merchant with a test clock an instant ahead of it.

use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use till_domain::ids::MerchantId;
use till_domain::merchant::TestClock;
use till_domain::records::{Rows, TestClocks, Unreadable};
use till_domain::time::Millis;
use till_storage::shapes::MerchantReader;

use super::source::Clock;
use crate::store::Store;

/// The durable time of every merchant. A merchant's actor reads its own time from its staged state.
pub struct MerchantClocks {
    wall: Arc<dyn Clock>,
    test_clocks: RwLock<BTreeMap<MerchantId, TestClock>>,
    /// False while no merchant has a test clock, so that the others take no lock for it.
    has_test_clocks: AtomicBool,
}

impl MerchantClocks {
    /// Reads all test clocks.
    ///
    /// # Errors
    /// [`Unreadable`] when one cannot be read.
    pub(crate) fn read(wall: Arc<dyn Clock>, store: &dyn Store) -> Result<MerchantClocks, Unreadable> {
        let clocks = MerchantClocks { wall, test_clocks: RwLock::default(), has_test_clocks: AtomicBool::new(false) };
        let directory = MerchantReader::of_all_merchants(store);
        for test_clock in MerchantReader::of_all_merchants(store).all_keys::<TestClocks>() {
            let merchant_id = test_clock?;
            let test_clock = directory.get::<TestClocks>(merchant_id)?;
            test_clock.into_iter().for_each(|test_clock| clocks.set(merchant_id, test_clock));
        }
        Ok(clocks)
    }

    /// The wall clock: the time of webhooks, rates, checkpoints and metrics.
    #[must_use]
    pub fn wall(&self) -> Millis {
        self.wall.now()
    }

    /// A merchant's time by its clock. Its last event may be later, when the wall clock stepped back.
    #[must_use]
    pub fn now(&self, merchant_id: MerchantId) -> Millis {
        Millis(self.wall().0.saturating_add(self.offset_ms(merchant_id)))
    }

    /// The instant of the wall clock at which a merchant's time is `instant`.
    #[must_use]
    pub fn wall_at(&self, merchant_id: MerchantId, instant: Millis) -> Millis {
        Millis(instant.0.saturating_sub(self.offset_ms(merchant_id)))
    }

    /// The time by which a merchant is ahead of the wall clock, in milliseconds: 0 without a test clock.
    #[must_use]
    pub fn offset_ms(&self, merchant_id: MerchantId) -> u64 {
        self.test_clock(merchant_id).map_or(0, |test_clock| test_clock.offset_ms)
    }

    /// The test clock of a merchant that has one.
    #[must_use]
    pub fn test_clock(&self, merchant_id: MerchantId) -> Option<TestClock> {
        let has_any = self.has_test_clocks.load(Ordering::Acquire);
        if has_any { self.test_clocks.read().get(&merchant_id).copied() } else { None }
    }

    /// Sets a merchant's test clock to its durable state.
    pub(crate) fn set(&self, merchant_id: MerchantId, test_clock: TestClock) {
        self.test_clocks.write().insert(merchant_id, test_clock);
        self.has_test_clocks.store(true, Ordering::Release);
    }
}
