//! The payments of a merchant that were acknowledged most recently. All callers of the merchant operate on these few
//! payments.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::harness::TestDice;

use super::call_record::LoadCall;

/// The largest number of recent payments. It is so small that several concurrent calls are about the same payment.
const RECENT_MAX: usize = 12;

/// A payment that is to be made, or was.
#[derive(Debug, Clone)]
pub(super) struct Sale {
    /// The initiation.
    pub(super) call: LoadCall,
    pub(super) minor: u64,
    /// True when the acquirer refuses to capture it.
    pub(super) refuses_captures: bool,
}

impl Sale {
    /// True when it is captured with its authorization.
    pub(super) fn is_captured_at_once(&self) -> bool {
        self.call.body["capture"] == true
    }

    /// The identifier by which a call names the payment: its id, or sometimes the merchant's own.
    pub(super) fn name(&self, payment_id: &str, dice: &mut TestDice) -> String {
        self.call.text("external_id").filter(|_| dice.in_hundred(30)).unwrap_or(payment_id).to_owned()
    }
}

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
