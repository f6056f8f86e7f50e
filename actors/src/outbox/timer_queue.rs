//! The queue of merchants by their timers.

use std::sync::Arc;
use till_domain::ids::MerchantId;
use till_domain::merchant::TestClock;
use till_domain::time::Millis;

use crate::background::WorkQueue;
use crate::clock::MerchantClocks;

/// Merchants, by their earliest timers, at the instants of the wall clock.
pub(crate) struct TimerQueue {
    pub(crate) merchants: Arc<WorkQueue<MerchantId>>,
    clocks: Arc<MerchantClocks>,
}

impl TimerQueue {
    /// An empty queue.
    pub(crate) fn new(clocks: Arc<MerchantClocks>) -> TimerQueue {
        TimerQueue { merchants: Arc::default(), clocks }
    }

    /// Adds a merchant that has a timer at an instant of its time.
    pub(crate) fn add(&self, merchant_id: MerchantId, due: Millis) {
        self.merchants.add(merchant_id, self.clocks.wall_at(merchant_id, due), None);
    }

    /// Sets a merchant's test clock, by which its timers may be due earlier.
    pub(crate) fn set_test_clock(&self, merchant_id: MerchantId, test_clock: TestClock) {
        self.clocks.set(merchant_id, test_clock);
        self.merchants.add(merchant_id, self.clocks.wall(), None);
    }
}
