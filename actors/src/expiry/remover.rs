//! The remover: goes from merchant to merchant, and asks those that keep expired rows to remove them.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;
use till_domain::command::{Command, Expired};
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::records::MerchantDirectory;
use till_domain::time::Millis;
use till_storage::rows::ScanDirection;
use till_storage::shapes::MerchantReader;

use super::pace::Pace;
use super::walk::{Finder, Walk};
use crate::background::Failure;
use crate::clock::Clock;
use crate::registry::{Admission, Registry};
use crate::store::Store;

/// The pause of a remover after it was with every merchant.
pub const EXPIRY_PAUSE: Duration = Duration::from_secs(60);

/// Expired rows are removed this much later, in seconds, so that an actor whose clock is read a little behind the
/// remover's agrees.
const GRACE_SECONDS: u64 = 60;
/// Merchants that one look at the directory finds.
const MERCHANTS_AT_ONCE: usize = 256;
/// Rows of one merchant after which the others have their turn.
const VISIT_ROWS_MAX: usize = 65_536;

/// The position of a walk through one merchant's table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// The key at which the next visit begins.
    next: Vec<u8>,
    /// The first rows passed that must be looked at again when the end is reached.
    again: Option<Vec<u8>>,
}

impl Place {
    fn at(next: Vec<u8>) -> Place {
        Place { next, again: None }
    }

    /// Goes on behind rows that were looked at; `stays` when some of them are to be looked at again.
    fn pass(&mut self, next: Vec<u8>, stays: bool) {
        let passed = std::mem::replace(&mut self.next, next);
        if stays {
            self.again.get_or_insert(passed);
        }
    }

    /// There is nothing old behind it: the next visit begins where something stayed.
    fn reach_end(&mut self) {
        if let Some(again) = self.again.take() {
            self.next = again;
        }
    }
}

/// Removes what has expired of one kind.
pub(crate) struct Remover {
    walk: Walk,
    finder: Finder,
    registry: Arc<Registry>,
    clock: Arc<dyn Clock>,
    pause: Duration,
    pace: Pace,
    /// Of merchants that had something old. Below a place there is nothing left, or nothing that will ever go; it
    /// is never more than what saves looking there again.
    places: HashMap<MerchantId, Place>,
}

impl Remover {
    pub(crate) fn new(
        walk: Walk,
        store: Arc<dyn Store>,
        registry: Arc<Registry>,
        clock: Arc<dyn Clock>,
        pause: Duration,
    ) -> Remover {
        let finder = Finder { store };
        Remover { walk, finder, registry, clock, pause, pace: Pace::default(), places: HashMap::new() }
    }

    /// Removes what has expired until the service stops.
    pub(crate) async fn run(mut self) {
        loop {
            tokio::time::sleep(self.pause).await;
            if let Err(reason) = self.round().await {
                let reason = reason.to_string();
                tracing::warn!(walk = ?self.walk, reason, "the merchants cannot be read, and nothing more is swept now");
            }
        }
    }

    /// Visits every merchant.
    async fn round(&mut self) -> Result<(), Failure> {
        let mut after = None;
        loop {
            let range = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
            let found = MerchantReader::of_all_merchants(&*self.finder.store).scan_keys::<MerchantDirectory>(
                range,
                ScanDirection::Forward,
                MERCHANTS_AT_ONCE,
            )?;
            for merchant_id in &found {
                if let Err(reason) = self.visit(*merchant_id).await {
                    let reason = reason.to_string();
                    tracing::warn!(%merchant_id, walk = ?self.walk, reason, "not swept now, and tried again");
                }
            }
            after = found.last().copied();
            if found.len() < MERCHANTS_AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Looks through what is old of one merchant. What fails is looked at again at the next visit.
    async fn visit(&mut self, merchant_id: MerchantId) -> Result<(), Failure> {
        let now = Millis(self.clock.now().0.saturating_sub(GRACE_SECONDS * 1_000));
        let (lower, upper) = self.walk.range(merchant_id, now);
        let mut place = self.places.get(&merchant_id).cloned().unwrap_or_else(|| Place::at(lower.clone()));
        let mut rows = 0;
        while rows < VISIT_ROWS_MAX {
            let range = (place.next.clone(), upper.clone());
            let page = self.finder.page(self.walk, merchant_id, &range, now)?;
            rows += page.rows;
            self.pace.rest_after(page.rows).await;
            let (stays, ended) = (self.walk.looks_again_at(&page), page.is_last() || page.expires_later);
            let agreed = self.remove(merchant_id, page.expired).await?;
            if let Some(behind) = page.behind.filter(|_| !page.expires_later) {
                place.pass(behind, stays || !agreed);
            }
            if ended {
                place.reach_end();
            }
            self.remember(merchant_id, &place, &lower);
            if ended {
                break;
            }
        }
        Ok(())
    }

    fn remember(&mut self, merchant_id: MerchantId, place: &Place, beginning: &[u8]) {
        if place.next == beginning {
            self.places.remove(&merchant_id);
        } else {
            self.places.insert(merchant_id, place.clone());
        }
    }

    /// Has the actor remove what has expired. Whether it found anything so: the clock may have stepped back meanwhile.
    async fn remove(&self, merchant_id: MerchantId, expired: Vec<Expired>) -> Result<bool, Failure> {
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
    fn a_place_goes_on_behind_what_went_and_comes_back_to_the_first_rows_that_stayed() {
        let mut place = Place::at(vec![1]);
        place.pass(vec![2], false);
        place.pass(vec![3], true);
        place.pass(vec![4], false);
        place.pass(vec![5], true);
        assert_eq!(place.next, [5]);
        place.reach_end();
        assert_eq!(place, Place::at(vec![2]));
        place.pass(vec![6], false);
        place.reach_end();
        assert_eq!(place, Place::at(vec![6]));
    }
}
