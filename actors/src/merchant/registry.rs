//! The registry of live actors, by the id of their merchant. Actors are started on demand and retired when they are
//! idle.

use actix::{Actor, Addr, ArbiterHandle, Context};
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use till_domain::command::{Caller, Command, Request};
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_storage::commit::Urgency;
use tokio::sync::oneshot;

use super::actor::{MerchantActor, Retire, Unpublish};
use super::context::SharedContext;
use super::reply::{Denied, Reply};
use super::submission::{Held, Requester, Secret, Submit};
use crate::background::{InFlight, WorkError};

/// The largest number of idle actors that are retired together when the registry is full. Room for several new actors
/// is made at once, so that not every new actor has to search for an idle one.
const RETIRED_AT_ONCE: usize = 16;

/// The number of strong references to a slot that has no holders: one, which is the registry's own.
const UNHELD: usize = 1;

/// One live actor. A caller that holds the slot keeps the actor from retiring.
#[derive(Debug)]
pub(crate) struct ActorSlot {
    actor: Addr<MerchantActor>,
    /// True when the actor was used since the last search for idle actors.
    used: AtomicBool,
}

impl ActorSlot {
    fn is_unheld(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == UNHELD
    }
}

/// All live actors.
pub(crate) struct Registry {
    slots: DashMap<MerchantId, Arc<ActorSlot>>,
    arbiters: Vec<ArbiterHandle>,
    next_arbiter: AtomicUsize,
    live_actors_max: usize,
    in_flight: Arc<InFlight>,
    stopping: AtomicBool,
    shared: Arc<SharedContext>,
    unpublish: Unpublish,
}

/// The rule by which a request is admitted. Results of effects and due timers are always admitted, because accepted
/// work must be able to continue when no new work is accepted. At most `SERVED_MAX` of each kind are served at the same
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// A caller's request, which is refused when there is no room for it.
    Bounded,
    /// A request of the service itself, which is refused when a caller's request would be refused.
    Yielding,
    /// A request of the service itself that is always admitted.
    Always,
}

impl Admission {
    const fn is_for_new_work(self) -> bool {
        match self {
            Admission::Bounded | Admission::Yielding => true,
            Admission::Always => false,
        }
    }

    const fn urgency(self) -> Urgency {
        match self {
            Admission::Bounded => Urgency::Urgent,
            Admission::Yielding | Admission::Always => Urgency::Background,
        }
    }
}

impl Registry {
    /// Makes an empty registry. At most `live_actors_max` actors live at the same time. The number of requests in
    /// flight is limited by the callers of the registry.
    pub(crate) fn new(arbiters: Vec<ArbiterHandle>, live_actors_max: usize, shared: SharedContext) -> Arc<Registry> {
        Arc::new_cyclic(|registry: &Weak<Registry>| Registry {
            slots: DashMap::new(),
            arbiters,
            next_arbiter: AtomicUsize::new(0),
            live_actors_max,
            in_flight: InFlight::new(usize::MAX), // The edge limits calls. A stop waits for those counted here.
            stopping: AtomicBool::new(false),
            shared: Arc::new(shared),
            unpublish: unpublish(registry.clone()),
        })
    }

    /// The context that all actors share.
    pub(crate) fn shared(&self) -> &SharedContext {
        &self.shared
    }

    /// Sends a request to its merchant's actor.
    ///
    /// # Errors
    /// [`Denied::Unavailable`] when too many merchants are active, or while the service stops. Nothing was done then.
    fn submit(
        &self,
        merchant_id: MerchantId,
        request: Request,
        secret: Option<Secret>,
        admission: Admission,
    ) -> Result<oneshot::Receiver<Reply>, Denied> {
        let counted = if admission.is_for_new_work() { self.in_flight.enter() } else { None };
        // The flag is read after the request is counted. So either a stop sees the request and waits for it, or the
        // request sees the stop and is refused.
        if self.stopping.load(Ordering::SeqCst) && admission.is_for_new_work() {
            return Err(Denied::not_done("the service is stopping"));
        }
        let slot = self.slot(merchant_id, admission)?;
        slot.used.store(true, Ordering::Relaxed);
        let (reply, receiver) = oneshot::channel();
        let actor = slot.actor.clone();
        let held = Held { _counted: counted, _slot: slot };
        actor.do_send(Submit { request, secret, requester: Requester { urgency: admission.urgency(), reply, held } });
        Ok(receiver)
    }

    /// Sends a caller's request, and waits for the answer.
    ///
    /// # Errors
    /// [`Denied`]: refused by the rules, or not carried out now.
    pub(crate) async fn ask(&self, merchant_id: MerchantId, request: Request, secret: Option<Secret>) -> Reply {
        let receiver = self.submit(merchant_id, request, secret, Admission::Bounded)?;
        receiver.await.unwrap_or_else(|_| Err(Denied::unknown("the actor went away")))
    }

    /// Submits a command of the service itself, which has no API key, and waits for the answer.
    ///
    /// # Errors
    /// A message for the log: the command was denied, or the actor was dropped before it answered.
    pub(crate) async fn carry_out(
        &self,
        merchant_id: MerchantId,
        command: Command,
        admission: Admission,
    ) -> Result<Answer, WorkError> {
        let request = Request { caller: Caller::System, idempotency: None, command };
        let reply = self.submit(merchant_id, request, None, admission)?.await;
        Ok(reply.map_err(|_| "the actor went away")??.answer)
    }

    /// The slot of the merchant's live actor. The actor is started if there is none.
    fn slot(&self, merchant_id: MerchantId, admission: Admission) -> Result<Arc<ActorSlot>, Denied> {
        if let Some(slot) = self.published(merchant_id) {
            return Ok(slot);
        }
        let mut is_room_made = self.make_room();
        while self.is_full() && admission.is_for_new_work() {
            if !is_room_made {
                return Err(Denied::not_done("too many merchants are active"));
            }
            is_room_made = self.make_room(); // Another request took the room.
        }
        match self.slots.entry(merchant_id) {
            Entry::Occupied(entry) => Ok(Arc::clone(entry.get())),
            Entry::Vacant(entry) => {
                let slot = self.start(merchant_id);
                entry.insert(Arc::clone(&slot));
                Ok(slot)
            }
        }
    }

    /// The slot that the registry has for the merchant. A slot whose actor died is removed; only a bug makes an actor
    /// die.
    fn published(&self, merchant_id: MerchantId) -> Option<Arc<ActorSlot>> {
        let slot = self.slots.get(&merchant_id).map(|slot| Arc::clone(&slot))?;
        if slot.actor.connected() {
            return Some(slot);
        }
        tracing::error!(%merchant_id, "the actor of a merchant died and is started again");
        self.slots.remove_if(&merchant_id, |_, published| Arc::ptr_eq(published, &slot));
        None
    }

    fn start(&self, merchant_id: MerchantId) -> Arc<ActorSlot> {
        let (shared, unpublish) = (Arc::clone(&self.shared), Arc::clone(&self.unpublish));
        let turn = self.next_arbiter.fetch_add(1, Ordering::Relaxed) % self.arbiters.len();
        let make = move |_: &mut Context<MerchantActor>| MerchantActor::new(merchant_id, shared, unpublish);
        let actor = MerchantActor::start_in_arbiter(&self.arbiters[turn], make);
        Arc::new(ActorSlot { actor, used: AtomicBool::new(true) })
    }

    fn is_full(&self) -> bool {
        self.slots.len() >= self.live_actors_max
    }

    /// Retires some idle actors if the registry is full: those that were not used since the last search or, if there
    /// are none, any idle ones. Idle actors have no holders, so the result of every batch of theirs is known. Returns
    /// false when there is no room and none was idle.
    fn make_room(&self) -> bool {
        if !self.is_full() {
            return true;
        }
        let mut idle = self.idle(|slot| !slot.used.swap(false, Ordering::Relaxed));
        if idle.is_empty() {
            idle = self.idle(|_| true);
        }
        let retired = idle.into_iter().filter_map(|id| self.slots.remove_if(&id, |_, slot| slot.is_unheld()));
        retired.inspect(|(_, slot)| slot.actor.do_send(Retire)).count() > 0
    }

    fn idle(&self, may_retire: impl Fn(&ActorSlot) -> bool) -> Vec<MerchantId> {
        let idle = self.slots.iter().filter(|slot| slot.value().is_unheld() && may_retire(slot.value()));
        idle.map(|slot| *slot.key()).take(RETIRED_AT_ONCE).collect()
    }

    /// Removes the actor's slot if the slot has no holders. The check and the removal are one atomic step. Returns true
    /// if the registry has no slot of this actor any more: then no message can reach the actor. A slot of another actor
    /// of the same merchant is kept.
    fn unpublish_unheld(&self, merchant_id: MerchantId, actor: &Addr<MerchantActor>) -> bool {
        match self.slots.entry(merchant_id) {
            Entry::Vacant(_) => true,
            Entry::Occupied(entry) if entry.get().actor != *actor => true,
            Entry::Occupied(entry) => {
                let unheld = entry.get().is_unheld();
                if unheld {
                    entry.remove();
                }
                unheld
            }
        }
    }

    /// Refuses new work from now on.
    pub(crate) fn stop_accepting(&self) {
        self.stopping.store(true, Ordering::SeqCst);
    }

    /// The number of callers' requests that are not answered yet.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.count()
    }

    /// The number of live actors.
    pub(crate) fn live_actors(&self) -> usize {
        self.slots.len()
    }
}

fn unpublish(registry: Weak<Registry>) -> Unpublish {
    Arc::new(move |merchant_id: MerchantId, actor: &Addr<MerchantActor>| {
        registry.upgrade().is_some_and(|registry| registry.unpublish_unheld(merchant_id, actor))
    })
}
