//! The registry: merchant id to live actor, started on demand, retired when idle.

use actix::{Actor, Addr, ArbiterHandle};
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use till_domain::command::Request;
use till_domain::ids::MerchantId;
use tokio::sync::oneshot;

use crate::bounds::InFlight;
use crate::merchant::{Held, MerchantActor, Retire, Secret, Submit, Surroundings};
use crate::reply::{Denied, Reply};

/// Actors that are asked to retire when there is no room for another.
const RETIREMENTS_ASKED: usize = 16;

/// Strong references to a slot that nobody waits on: the registry's own.
const UNHELD: usize = 1;

/// One live actor. Whoever holds the slot keeps the actor from retiring.
#[derive(Debug)]
pub(crate) struct Slot {
    actor: Addr<MerchantActor>,
    in_flight: Arc<InFlight>,
}

/// How much may be in flight.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Requests of one merchant that are not answered yet.
    pub in_flight_per_merchant: usize,
    /// Requests of all merchants that are not answered yet.
    pub in_flight: usize,
    /// Actors that live at the same time.
    pub live_actors: usize,
}

/// All live actors.
pub(crate) struct Registry {
    slots: DashMap<MerchantId, Arc<Slot>>,
    arbiters: Vec<ArbiterHandle>,
    next_arbiter: AtomicUsize,
    limits: Limits,
    in_flight: Arc<InFlight>,
    stopping: std::sync::atomic::AtomicBool,
    surroundings: OnceLock<Arc<Surroundings>>,
}

/// Whether a request counts against the bound over all merchants. Results of effects and due timers do not:
/// what was accepted must be able to go on when new work cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// A caller's request.
    Bounded,
    /// The service's own.
    Always,
}

impl Registry {
    pub(crate) fn new(arbiters: Vec<ArbiterHandle>, limits: Limits) -> Registry {
        Registry {
            slots: DashMap::new(),
            arbiters,
            next_arbiter: AtomicUsize::new(0),
            in_flight: InFlight::new(limits.in_flight),
            limits,
            stopping: false.into(),
            surroundings: OnceLock::new(),
        }
    }

    /// Says what actors share. Before that none can start.
    pub(crate) fn surround(&self, surroundings: Arc<Surroundings>) {
        let _once = self.surroundings.set(surroundings);
    }

    /// Sends a request to its merchant's actor.
    ///
    /// # Errors
    /// [`Denied::Unavailable`], not done, when a bound is reached or the service stops.
    pub(crate) fn submit(
        &self,
        merchant_id: MerchantId,
        request: Request,
        secret: Option<Secret>,
        admission: Admission,
    ) -> Result<oneshot::Receiver<Reply>, Denied> {
        if self.stopping.load(Ordering::Acquire) && admission == Admission::Bounded {
            return Err(Denied::not_done("the service is stopping"));
        }
        let all = match admission {
            Admission::Bounded => {
                Some(self.in_flight.enter().ok_or_else(|| Denied::not_done("too many requests are in flight"))?)
            }
            Admission::Always => None,
        };
        let slot = self.slot(merchant_id)?;
        let merchant = match admission {
            Admission::Bounded => Some(
                slot.in_flight
                    .enter()
                    .ok_or_else(|| Denied::not_done("too many requests of this merchant are in flight"))?,
            ),
            Admission::Always => None,
        };
        let (reply, receiver) = oneshot::channel();
        let actor = slot.actor.clone();
        actor.do_send(Submit { request, secret, reply, held: Held { _merchant: merchant, _all: all, _slot: slot } });
        Ok(receiver)
    }

    /// The merchant's live actor, started if there is none.
    fn slot(&self, merchant_id: MerchantId) -> Result<Arc<Slot>, Denied> {
        if let Some(slot) = self.published(merchant_id) {
            return Ok(slot);
        }
        if self.slots.len() >= self.limits.live_actors {
            self.make_room();
            return Err(Denied::not_done("too many merchants are active"));
        }
        let surroundings = self.surroundings.get().ok_or_else(|| Denied::not_done("the service is starting"))?;
        match self.slots.entry(merchant_id) {
            Entry::Occupied(entry) => Ok(Arc::clone(entry.get())),
            Entry::Vacant(entry) => {
                let slot = self.start(merchant_id, Arc::clone(surroundings));
                entry.insert(Arc::clone(&slot));
                Ok(slot)
            }
        }
    }

    /// The published slot. One whose actor died, which only a bug makes it do, is taken out.
    fn published(&self, merchant_id: MerchantId) -> Option<Arc<Slot>> {
        let slot = self.slots.get(&merchant_id).map(|slot| Arc::clone(&slot))?;
        if slot.actor.connected() {
            return Some(slot);
        }
        tracing::error!(%merchant_id, "the actor of a merchant died and is started anew");
        self.slots.remove_if(&merchant_id, |_, published| Arc::ptr_eq(published, &slot));
        None
    }

    fn start(&self, merchant_id: MerchantId, surroundings: Arc<Surroundings>) -> Arc<Slot> {
        let turn = self.next_arbiter.fetch_add(1, Ordering::Relaxed) % self.arbiters.len();
        let actor = MerchantActor::start_in_arbiter(&self.arbiters[turn], move |_| {
            MerchantActor::new(merchant_id, surroundings)
        });
        Arc::new(Slot { actor, in_flight: InFlight::new(self.limits.in_flight_per_merchant) })
    }

    /// Asks some idle actors to retire, so that a later request finds room.
    fn make_room(&self) {
        let idle = self.slots.iter().filter(|slot| Arc::strong_count(slot.value()) == UNHELD);
        for slot in idle.take(RETIREMENTS_ASKED) {
            slot.actor.do_send(Retire);
        }
    }

    /// Takes a merchant's slot out if nobody holds it, in one step: afterwards no message can reach its actor.
    pub(crate) fn unpublish_unheld(&self, merchant_id: MerchantId) -> bool {
        self.slots.remove_if(&merchant_id, |_, slot| Arc::strong_count(slot) == UNHELD).is_some()
    }

    /// Turns callers away from now on.
    pub(crate) fn stop_accepting(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// Requests of callers that are not answered yet.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.count()
    }

    /// Live actors.
    pub(crate) fn live_actors(&self) -> usize {
        self.slots.len()
    }
}
