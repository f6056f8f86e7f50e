//! The payments of a merchant that were acknowledged last: all of its callers move the money of the same few.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::harness::Dice;

use super::deed::Sale;

/// Payments at a time: so few that several calls at once meet at one.
const RECENT_MAX: usize = 12;

/// They stay over the lives of a server.
#[derive(Debug, Default)]
pub(super) struct RecentPayments(Mutex<VecDeque<(String, Sale)>>);

impl RecentPayments {
    /// Adds one; the oldest makes room for it.
    pub(super) fn add(&self, payment_id: &str, sale: &Sale) {
        let mut recent = self.0.lock().expect("nobody panics with it in hand");
        recent.push_front((payment_id.to_owned(), sale.clone()));
        recent.truncate(RECENT_MAX);
    }

    /// Any of them; nothing before the first.
    pub(super) fn pick(&self, dice: &mut Dice) -> Option<(String, Sale)> {
        let recent = self.0.lock().expect("nobody panics with it in hand");
        recent.get(dice.index(recent.len().max(1))).cloned()
    }
}
