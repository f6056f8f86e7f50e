//! The actor: it carries out one merchant's requests, one after the other, and never waits for the disk.

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use till_domain::ids::MerchantId;

use super::context::SharedContext;
use super::load::{LoadError, Replayed};
use super::loaded::LoadedMerchant;
use super::loader::LIGHT_LOAD_BYTES;
use super::reply::Denied;
use super::staging::{Staging, StagingLoad};
use super::submission::Submit;

/// The shortest time between two checks that an actor is idle.
const IDLE_CHECK_MIN: Duration = Duration::from_millis(1);

/// Removes an idle actor from the registry. Returns true when no message can reach the actor any more.
pub(crate) type Unpublish = Arc<dyn Fn(MerchantId, &Addr<MerchantActor>) -> bool + Send + Sync>;

/// The place where a merchant's staged records are.
enum Residence {
    /// Nowhere: the next request loads them.
    Unloaded,
    /// With the actor.
    Here(Box<LoadedMerchant>),
    /// On a loader thread, which sends them back.
    Away,
}

/// One merchant's actor.
pub(crate) struct MerchantActor {
    merchant_id: MerchantId,
    shared: Arc<SharedContext>,
    unpublish: Unpublish,
    residence: Residence,
    /// Requests that wait for the loader thread, the first to come first. Those of callers are as many as have permits.
    waiting: VecDeque<Submit>,
    last_used: Instant,
}

/// A hint that room is needed: an idle actor retires at once.
#[derive(Debug)]
pub(crate) struct Retire;

impl Message for Retire {
    type Result = ();
}

/// The message that a loader thread sends back.
enum Returned {
    /// The merchant, after the request that needed the thread was carried out.
    Loaded(Box<LoadedMerchant>),
    /// Nothing: the request panicked.
    Panicked,
    /// Nothing: the merchant cannot be loaded, and nothing that waits for it is done.
    Denied(Denied),
}

impl Message for Returned {
    type Result = ();
}

impl Actor for MerchantActor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        let interval = self.shared.idle_before_retiring.max(IDLE_CHECK_MIN);
        context.run_interval(interval, |actor, context| {
            if actor.last_used.elapsed() >= actor.shared.idle_before_retiring {
                actor.retire(context);
            }
        });
    }
}

impl Handler<Submit> for MerchantActor {
    type Result = ();

    fn handle(&mut self, submit: Submit, context: &mut Context<Self>) {
        self.last_used = Instant::now();
        self.take_in(submit, context);
    }
}

impl Handler<Returned> for MerchantActor {
    type Result = ();

    fn handle(&mut self, returned: Returned, context: &mut Context<Self>) {
        self.residence = match returned {
            Returned::Loaded(loaded) => Residence::Here(loaded),
            Returned::Panicked => Residence::Unloaded,
            Returned::Denied(denied) => {
                self.waiting.drain(..).for_each(|submit| submit.requester.answer(Err(denied.clone())));
                Residence::Unloaded
            }
        };
        while !matches!(self.residence, Residence::Away)
            && let Some(submit) = self.waiting.pop_front()
        {
            self.take_in(submit, context);
        }
    }
}

impl Handler<Retire> for MerchantActor {
    type Result = ();

    fn handle(&mut self, _: Retire, context: &mut Context<Self>) {
        self.retire(context);
    }
}

impl MerchantActor {
    pub(crate) fn new(merchant_id: MerchantId, shared: Arc<SharedContext>, unpublish: Unpublish) -> MerchantActor {
        let (residence, waiting) = (Residence::Unloaded, VecDeque::new());
        MerchantActor { merchant_id, shared, unpublish, residence, waiting, last_used: Instant::now() }
    }

    /// Carries a request out here if it needs no read that waits for the disk, else on a loader thread.
    fn take_in(&mut self, submit: Submit, context: &Context<Self>) {
        if let Some(reason) = self.shared.store.refusal() {
            return submit.requester.answer(Err(Denied::not_done(reason)));
        }
        match &mut self.residence {
            Residence::Away => self.waiting.push_back(submit),
            Residence::Here(loaded) if !loaded.is_void() => {
                let shared = &self.shared;
                match unwinding(self.merchant_id, || loaded.carry_out(submit, shared)) {
                    Some(Ok(())) => {}
                    Some(Err(submit)) => self.send_away(*submit, context),
                    None => self.unload(),
                }
            }
            // After a batch failed, everything staged is void.
            Residence::Here(_) | Residence::Unloaded => {
                self.residence = Residence::Unloaded;
                self.send_away(submit, context);
            }
        }
    }

    /// Sends a request to a loader thread, which loads the merchant if it is not loaded, and carries the request out.
    fn send_away(&mut self, submit: Submit, context: &Context<Self>) {
        let loaded = match std::mem::replace(&mut self.residence, Residence::Away) {
            Residence::Here(loaded) => Some(loaded),
            Residence::Unloaded | Residence::Away => None,
        };
        let (merchant_id, shared, actor) = (self.merchant_id, Arc::clone(&self.shared), context.address());
        let away = Away { merchant_id, shared, actor, submit };
        self.shared.loader.run(move || match loaded {
            Some(loaded) => away.carry_out(loaded),
            None => away.load(),
        });
    }

    /// Drops the staged records and releases the log: queued batches of this session are not written any more.
    fn unload(&mut self) {
        if let Residence::Here(loaded) = std::mem::replace(&mut self.residence, Residence::Unloaded) {
            loaded.release();
        }
    }

    /// Stops when no caller waits: it is unpublished first, in one step with the check for holders.
    fn retire(&mut self, context: &mut Context<Self>) {
        let is_settled = match &self.residence {
            Residence::Unloaded => true,
            Residence::Here(loaded) => loaded.is_settled(),
            Residence::Away => false,
        };
        if is_settled && (self.unpublish)(self.merchant_id, &context.address()) {
            self.unload();
            actix::ActorContext::stop(context);
        }
    }
}

/// A request on a loader thread, where the load and every read may wait for the disk.
struct Away {
    merchant_id: MerchantId,
    shared: Arc<SharedContext>,
    actor: Addr<MerchantActor>,
    submit: Submit,
}

impl Away {
    /// Loads the merchant first.
    fn load(self) {
        let begin = || Staging::begin(self.merchant_id, &self.shared.store, &self.shared.keyring);
        match unwinding(self.merchant_id, begin) {
            Some(Ok(load)) => self.replay(load, LIGHT_LOAD_BYTES),
            Some(Err(error)) => self.deny(&error),
            None => self.actor.do_send(Returned::Panicked),
        }
    }

    /// Goes on with the load, and where that turns out to be large, on one of the threads for large ones.
    fn replay(self, mut load: StagingLoad, bytes_max: usize) {
        match unwinding(self.merchant_id, || load.replay(bytes_max)) {
            Some(Ok(Replayed::All)) => {
                let loaded = Box::new(LoadedMerchant::of(load, &self.shared));
                self.shared.not_loaded.lock().remove(&self.merchant_id);
                self.carry_out(loaded);
            }
            Some(Ok(Replayed::Part)) => {
                let loader = self.shared.loader.clone();
                loader.run_large(move || self.replay(load, usize::MAX));
            }
            Some(Err(error)) => self.deny(&error),
            None => self.actor.do_send(Returned::Panicked),
        }
    }

    fn deny(self, error: &LoadError) {
        tracing::error!(merchant_id = %self.merchant_id, %error, "a merchant cannot be loaded");
        self.shared.not_loaded.lock().insert(self.merchant_id);
        let denied = Denied::not_done(error.to_string());
        self.submit.requester.answer(Err(denied.clone()));
        self.actor.do_send(Returned::Denied(denied));
    }

    fn carry_out(self, mut loaded: Box<LoadedMerchant>) {
        let Away { merchant_id, shared, actor, submit } = self;
        loaded.may_wait(true);
        let carried_out = unwinding(merchant_id, || loaded.carry_out(submit, &shared));
        if carried_out.is_none() {
            loaded.release();
            return actor.do_send(Returned::Panicked);
        }
        loaded.may_wait(false);
        actor.do_send(Returned::Loaded(loaded));
    }
}

/// The result of `work`, none when it panicked. A panic ends the request that caused it, whose caller is told that the
/// outcome is unknown, and everything staged; it never ends the actor, to which others hold references, nor the thread.
fn unwinding<T>(merchant_id: MerchantId, work: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work)).ok();
    if result.is_none() {
        tracing::error!(%merchant_id, "a request panicked; its merchant is loaded again");
    }
    result
}
