//! The remover: goes from merchant to merchant, and asks those that keep expired rows to remove them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use till_domain::command::{Command, Expired};
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::records::{MerchantDirectory, Rows, TestClocks};
use till_domain::time::Millis;
use till_storage::shapes::MerchantReader;

use super::walk::{ExpiryWalk, Finder};
use crate::background::{BackgroundRows, ScanThrottle, WorkError};
use crate::merchant::{Admission, Registry};

/// The pause of a remover after it has visited every merchant.
pub const EXPIRY_PAUSE: Duration = Duration::from_secs(60);

/// Expired rows are removed this much later, in seconds, so that an actor whose clock is a little slower than the
/// remover's agrees.
const GRACE_SECONDS: u64 = 60;
/// Rows of one merchant after which other merchants have their turn.
const VISIT_ROWS_MAX: usize = 65_536;

/// The position of a walk through one merchant's table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ScanPosition {
    /// The key at which the next visit begins.
    next: Vec<u8>,
    /// The first key with rows that must be read again when the end is reached.
    reread_from: Option<Vec<u8>>,
}

impl ScanPosition {
    fn starting_at(next: Vec<u8>) -> ScanPosition {
        ScanPosition { next, reread_from: None }
    }

    /// Continues after rows that were read; `stays` when some of them must be read again.
    fn pass(&mut self, next: Vec<u8>, stays: bool) {
        let passed = std::mem::replace(&mut self.next, next);
        if stays {
            self.reread_from.get_or_insert(passed);
        }
    }

    /// Nothing old follows: the next visit begins at the first rows that must be read again.
    fn reach_end(&mut self) {
        if let Some(reread_from) = self.reread_from.take() {
            self.next = reread_from;
        }
    }
}

/// Removes what has expired of one kind.
pub(crate) struct Remover {
    walk: ExpiryWalk,
    finder: Finder,
    registry: Arc<Registry>,
    pause: Duration,
    throttle: ScanThrottle,
    /// The positions in the tables of merchants that had something old. The rows before a position will never expire,
    /// or are gone; the positions only save reading them again.
    positions: HashMap<MerchantId, ScanPosition>,
}

impl Remover {
    pub(crate) fn new(walk: ExpiryWalk, registry: &Arc<Registry>, pause: Duration) -> Remover {
        let finder = Finder { store: Arc::clone(&registry.shared().store) };
        let (registry, throttle) = (Arc::clone(registry), ScanThrottle::default());
        Remover { walk, finder, registry, pause, throttle, positions: HashMap::new() }
    }

    /// Removes what has expired until the service stops.
    pub(crate) async fn run(mut self) {
        loop {
            tokio::time::sleep(self.pause).await;
            if let Err(reason) = self.round().await {
                let reason = reason.to_string();
                tracing::warn!(walk = ?self.walk, reason, "the merchants cannot be read, and expired rows are not \
                    removed now");
            }
        }
    }

    /// Visits every merchant.
    async fn round(&mut self) -> Result<(), WorkError> {
        let store = Arc::clone(&self.finder.store);
        for merchant_id in MerchantReader::of_all_merchants(BackgroundRows(&*store)).all_keys::<MerchantDirectory>() {
            let merchant_id = merchant_id?;
            if let Err(reason) = self.visit(merchant_id).await {
                let reason = reason.to_string();
                tracing::warn!(%merchant_id, walk = ?self.walk, reason, "expired rows were not removed; this is tried \
                    again");
            }
        }
        Ok(())
    }

    /// Reads the old rows of one merchant. Rows whose removal fails are read again at the next visit.
    async fn visit(&mut self, merchant_id: MerchantId) -> Result<(), WorkError> {
        let now = Millis(self.registry.shared().clock.now().0.saturating_sub(GRACE_SECONDS * 1_000));
        let (lower, upper) = self.walk.range(merchant_id, self.by_clock_of(merchant_id, now)?);
        let mut position =
            self.positions.get(&merchant_id).cloned().unwrap_or_else(|| ScanPosition::starting_at(lower.clone()));
        let mut rows = 0;
        while rows < VISIT_ROWS_MAX {
            let range = (position.next.clone(), upper.clone());
            let page = self.finder.page(self.walk, merchant_id, &range, now)?;
            rows += page.rows;
            self.throttle.pause_after(page.rows).await;
            let (stays, ended) = (self.walk.must_be_read_again(&page), page.is_last() || page.expires_later);
            let was_removed = self.remove(merchant_id, page.expired).await?;
            if let Some(next_key) = page.next_key.filter(|_| !page.expires_later) {
                position.pass(next_key, stays || !was_removed);
            }
            if ended {
                position.reach_end();
            }
            self.remember(merchant_id, &position, &lower);
            if ended {
                break;
            }
        }
        Ok(())
    }

    /// The time by which ids of the walk's rows are judged. Ids are made by the merchant's clock. A test clock never
    /// goes back, so what is old enough by the wall clock has such an id; other rows have until then as well.
    fn by_clock_of(&self, merchant_id: MerchantId, now: Millis) -> Result<Millis, WorkError> {
        if self.walk != ExpiryWalk::WebhookEvents {
            return Ok(now);
        }
        let test_clock =
            MerchantReader::of_all_merchants(BackgroundRows(&*self.finder.store)).get::<TestClocks>(merchant_id)?;
        Ok(Millis(now.0.saturating_add(test_clock.map_or(0, |clock| clock.offset_ms))))
    }

    fn remember(&mut self, merchant_id: MerchantId, position: &ScanPosition, beginning: &[u8]) {
        if position.next == beginning {
            self.positions.remove(&merchant_id);
        } else {
            self.positions.insert(merchant_id, position.clone());
        }
    }

    /// Asks the actor to remove expired rows. Returns false when it removed none of them: its clock may have stepped
    /// back meanwhile.
    async fn remove(&self, merchant_id: MerchantId, expired: Vec<Expired>) -> Result<bool, WorkError> {
        if expired.is_empty() {
            return Ok(true);
        }
        let answer = self.registry.carry_out(merchant_id, Command::Sweep(expired), Admission::Yielding).await?;
        Ok(answer != Answer::Changed(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_returns_to_the_first_rows_that_stayed() {
        let mut position = ScanPosition::starting_at(vec![1]);
        position.pass(vec![2], false);
        position.pass(vec![3], true);
        position.pass(vec![4], false);
        position.pass(vec![5], true);
        assert_eq!(position.next, [5]);
        position.reach_end();
        assert_eq!(position, ScanPosition::starting_at(vec![2]));
        position.pass(vec![6], false);
        position.reach_end();
        assert_eq!(position, ScanPosition::starting_at(vec![6]));
    }
}
