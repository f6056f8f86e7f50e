//! The payments of a merchant that were acknowledged most recently. All callers of the merchant operate on these few
//! payments.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::harness::TestDice;

use super::call_record::Sale;

/// The largest number of recent payments. It is so small that several concurrent calls are about the same payment.
const RECENT_MAX: usize = 12;

/// The recent payments. They are kept when the server is killed and restarted.
#[derive(Debug, Default)]
pub(super) struct RecentPayments(Mutex<VecDeque<(String, Sale)>>);

impl RecentPayments {
    /// Adds a payment. When the list is full, the oldest payment is removed.
    pub(super) fn add(&self, payment_id: &str, sale: &Sale) {
        let mut recent = self.0.lock().expect("no thread panics while it holds the lock");
        recent.push_front((payment_id.to_owned(), sale.clone()));
        recent.truncate(RECENT_MAX);
    }

    /// A random recent payment, or None when no payment was added yet.
    pub(super) fn pick(&self, dice: &mut TestDice) -> Option<(String, Sale)> {
        let recent = self.0.lock().expect("no thread panics while it holds the lock");
        recent.get(dice.index(recent.len().max(1))).cloned()
    }
}
