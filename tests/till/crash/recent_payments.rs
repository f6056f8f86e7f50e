//! The payments of a merchant that were acknowledged last: all of its callers operate on the same few.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::harness::TestDice;

use super::call_record::Sale;

/// The number of recent payments: so few that several calls at once are about the same one.
const RECENT_MAX: usize = 12;

/// The recent payments, which are kept over the lives of a server.
#[derive(Debug, Default)]
pub(super) struct RecentPayments(Mutex<VecDeque<(String, Sale)>>);

impl RecentPayments {
    /// Adds a payment in the place of the oldest.
    pub(super) fn add(&self, payment_id: &str, sale: &Sale) {
        let mut recent = self.0.lock().expect("nobody panics with it in hand");
        recent.push_front((payment_id.to_owned(), sale.clone()));
        recent.truncate(RECENT_MAX);
    }

    /// A random one of them; None before the first.
    pub(super) fn pick(&self, dice: &mut TestDice) -> Option<(String, Sale)> {
        let recent = self.0.lock().expect("nobody panics with it in hand");
        recent.get(dice.index(recent.len().max(1))).cloned()
    }
}
