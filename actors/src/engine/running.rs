//! The engine: everything below the edge, started and stopped as one.

use actix::Arbiter;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::mpsc as blocking;
use std::time::{Duration, Instant};
use till_domain::command::{AdvanceClock, Idempotency, Request};
use till_domain::effect::EffectId;
use till_domain::ids::{AcquirerId, MerchantId, PaymentId};
use till_domain::open_call::OpenCall;
use till_domain::payment::Lifetimes;
use till_domain::records::Unreadable;
use till_storage::commit::{BarrierVerdict, CommitStats, Committer, Submission, Urgency};
use till_storage::deliveries::DeliveriesError;
use till_storage::journal::Head;
use till_storage::vault::Keyring;

use super::background_loops::{BackgroundLoops, Runtimes};
use super::thread_name::name_thread;
use crate::acquirer::NamedCall;
use crate::acquirer::security_codes::SecurityCodes;
use crate::background::Pause;
use crate::clock::{Clock, MerchantClocks};
use crate::counts::Counts;
use crate::effects::{AccountLanes, AcquirerCaller, Acquirers, CallSources, CallStatistics, CallTimes, OpenEffects};
use crate::merchant::{Denied, Registry, Reply, Secret, SharedContext};
use crate::outbox::Outbox;
use crate::reconciliation::{NotReconciled, ReconciledRange, Reconciliation, Reconciliations};
use crate::store::Store;
use crate::timers::Advancer;
use crate::webhooks::{WaitingDeliveries, WebhookDelivery, WebhookEndpoint, Webhooks};

/// The pause between two checks of a stop that every request is answered.
const STOP_POLL: Duration = Duration::from_millis(1);
/// The least time that a stop waits for background work: enough to read a row, not to call an acquirer.
const BACKGROUND_PATIENCE_MIN: Duration = Duration::from_secs(5);

/// The settings that an engine is started with.
pub struct EngineOptions {
    /// Threads that actors live on.
    pub arbiters: usize,
    /// Limit of the actors that live at the same time.
    pub live_actors_max: usize,
    /// The time after which an actor without work retires.
    pub idle_before_retiring: Duration,
    /// The pause of each search for expired rows between its rounds, as a rule [`crate::EXPIRY_PAUSE`].
    pub expiry_pause: Duration,
    /// The times that payments wait for an answer, and authorizations for a capture; as a rule [`Lifetimes::default`].
    pub lifetimes: Lifetimes,
    /// The times of calls to acquirers; as a rule [`CallTimes::default`].
    pub call_times: CallTimes,
    /// The delay of background writes, such as results of effects, so that several share a sync; as a rule
    /// [`GROUP_COMMIT_DELAY`].
    ///
    /// [`GROUP_COMMIT_DELAY`]: till_storage::commit::GROUP_COMMIT_DELAY
    pub group_commit_delay: Duration,
    /// True when calls to acquirers and timers are paused until [`Engine::resume`].
    pub paused: bool,
    /// Called when the outcome of a write is unknown: it ends the process.
    pub on_fatal: Box<dyn Fn(String) + Send>,
}

/// The dependencies of an engine.
pub struct Dependencies {
    /// The store of journal and rows.
    pub store: Arc<dyn Store>,
    /// The keys of each purpose.
    pub keyring: Arc<Keyring>,
    /// The acquirers that carry payments out.
    pub acquirers: Acquirers,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Security codes that wait for their authorization.
    pub security_codes: Arc<SecurityCodes>,
    /// The dependencies of deliveries to webhooks.
    pub webhooks: WebhookDelivery,
}

/// The reason why an engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system gave no thread.
    #[error("failed to start a thread")]
    Thread(#[from] std::io::Error),
    /// The deliveries of webhooks could not be read.
    #[error("failed to read the webhooks with pending deliveries")]
    Deliveries(#[from] DeliveriesError),
    /// Open effects or timers could not be read.
    #[error("failed to read open effects or timers: {0}")]
    Unreadable(String),
}

impl From<Unreadable> for StartError {
    fn from(error: Unreadable) -> StartError {
        StartError::Unreadable(error.to_string())
    }
}

/// Everything below the edge. Dropping it stops it without waiting.
pub struct Engine {
    registry: Arc<Registry>,
    advancer: Advancer,
    pause: Pause,
    arbiters: Mutex<Vec<Arbiter>>,
    webhooks: Webhooks,
    reconciliations: Reconciliations,
    runtimes: Mutex<Option<Runtimes>>,
}

impl Engine {
    /// Starts the commit thread, the arbiters, the effect runner and the timers. Must be called within an
    /// actix system.
    ///
    /// # Errors
    /// [`StartError`]; then no thread is left running.
    pub fn start(dependencies: Dependencies, options: EngineOptions) -> Result<Engine, StartError> {
        let Dependencies { store, keyring, acquirers, clock, security_codes, webhooks } = dependencies;
        let clocks = Arc::new(MerchantClocks::read(Arc::clone(&clock), store.as_ref())?);
        let outbox = Arc::new(Outbox::new(Arc::clone(&clocks)));
        outbox.queue_open_work(store.as_ref())?;
        for (merchant_id, webhook_id) in webhooks.deliveries.pending_webhooks()? {
            outbox.webhooks.queue(WebhookEndpoint { merchant_id, webhook_id });
        }
        let committer = Committer::start(Arc::clone(&store) as _, options.group_commit_delay, options.on_fatal)?;
        let runtimes = Runtimes::start()?;
        // From here on nothing fails, so that no thread is left running after an error.
        let arbiters: Vec<Arbiter> = (0..options.arbiters.max(1)).map(start_arbiter).collect();
        let handles = arbiters.iter().map(Arbiter::handle).collect();
        let shared = SharedContext {
            store,
            committer,
            loader: runtimes.loader(),
            keyring,
            clock,
            clocks,
            outbox,
            counts: Arc::default(),
            idle_before_retiring: options.idle_before_retiring,
            lifetimes: options.lifetimes,
            not_loaded: Mutex::default(),
        };
        let registry = Registry::new(handles, options.live_actors_max, shared);
        let pause = Pause::new(options.paused);
        let SharedContext { keyring, store, clock, .. } = registry.shared();
        let sources = CallSources { keyring: Arc::clone(keyring), security_codes, store: Arc::clone(store) };
        let caller = Arc::new(AcquirerCaller {
            acquirers,
            sources,
            times: options.call_times,
            last_notices: Mutex::default(),
            lanes: AccountLanes::new(options.call_times),
            statistics: CallStatistics::default(),
            clock: Arc::clone(clock),
        });
        let advancer = Advancer {
            registry: Arc::clone(&registry),
            caller: Arc::clone(&caller),
            runtime: runtimes.of_calls(),
            turns: Mutex::default(),
        };
        let loops = BackgroundLoops { registry: &registry, pause: &pause, runtimes: &runtimes };
        loops.start_visits(options.expiry_pause);
        loops.start_calls(caller);
        let webhooks = Webhooks(loops.start_deliveries(webhooks));
        let (arbiters, runtimes) = (Mutex::new(arbiters), Mutex::new(Some(runtimes)));
        let reconciliations = Reconciliations::default();
        Ok(Engine { registry, advancer, pause, arbiters, webhooks, reconciliations, runtimes })
    }

    /// Sends a request to its merchant's actor and waits for the answer.
    ///
    /// # Errors
    /// [`Denied`]: refused by the rules, or not carried out now.
    pub async fn submit(&self, merchant_id: MerchantId, request: Request, secret: Option<Secret>) -> Reply {
        self.registry.ask(merchant_id, request, secret).await
    }

    /// Advances the test clock of a merchant for the operator, and answers when everything that is due until then is
    /// recorded.
    ///
    /// # Errors
    /// [`Denied`]: refused by the rules, not carried out during a pause, or not done in time: then the same call
    /// continues from there.
    pub async fn advance_clock(&self, command: AdvanceClock, idempotency: Option<Idempotency>) -> Reply {
        if self.is_paused() {
            return Err(Denied::not_done("calls to acquirers and timers are paused"));
        }
        self.advancer.advance(command, idempotency).await
    }

    /// The time of every merchant.
    #[must_use]
    pub fn clocks(&self) -> &MerchantClocks {
        &self.registry.shared().clocks
    }

    /// Refuses everything that waits to be written; what is being written goes on.
    pub fn refuse_waiting(&self, reason: &str) {
        self.registry.shared().committer.refuse_waiting(reason);
    }

    /// The statistics of the commit thread.
    #[must_use]
    pub fn commit_stats(&self) -> Arc<CommitStats> {
        self.registry.shared().committer.stats()
    }

    /// The merchants whose newest load has failed: their calls are refused until one succeeds.
    #[must_use]
    pub fn not_loaded(&self) -> Vec<MerchantId> {
        self.registry.shared().not_loaded.lock().iter().copied().collect()
    }

    /// The number of live actors.
    #[must_use]
    pub fn live_actors(&self) -> usize {
        self.registry.live_actors()
    }

    /// The number of requests that are not answered yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.registry.in_flight()
    }

    /// The acquirers that carry payments out.
    #[must_use]
    pub fn acquirers(&self) -> &Acquirers {
        &self.advancer.caller.acquirers
    }

    /// Takes a genuine notice of an account. Only one thing of it is believed: that the call which it names is to be
    /// looked up now. Returns false when no such call of the account is open.
    ///
    /// # Errors
    /// [`Unreadable`] when the rows of the call cannot be read.
    pub fn take_notice(
        &self,
        (merchant_id, acquirer_id): (MerchantId, AcquirerId),
        named: Option<NamedCall>,
    ) -> Result<bool, Unreadable> {
        let SharedContext { clock, outbox, .. } = self.registry.shared();
        let (caller, now) = (&self.advancer.caller, clock.now());
        caller.last_notices.lock().insert(acquirer_id, now);
        let Some(call) = named.map(NamedCall::open_call) else { return Ok(false) };
        let is_open = caller.is_open_at(merchant_id, acquirer_id, call)?;
        if is_open {
            outbox.effects.calls.hasten((merchant_id, call), now, caller.times.between_look_ups);
        }
        Ok(is_open)
    }

    /// Compares the acquirer's list of an account with Till's rows, and changes nothing. It reads for long, on the
    /// thread that waits for it.
    ///
    /// # Errors
    /// [`NotReconciled`] says why there is no result.
    pub async fn reconcile(&self, range: ReconciledRange) -> Result<Reconciliation, NotReconciled> {
        self.reconciliations.run(&self.advancer.caller, range).await
    }

    /// What reconciliations have found.
    #[must_use]
    pub const fn reconciliations(&self) -> &Reconciliations {
        &self.reconciliations
    }

    /// The accounts at acquirers, as this process knows them.
    #[must_use]
    pub fn accounts(&self) -> &AccountLanes {
        &self.advancer.caller.lanes
    }

    /// Counts of calls to acquirers.
    #[must_use]
    pub fn call_statistics(&self) -> &CallStatistics {
        &self.advancer.caller.statistics
    }

    /// The time since the oldest call was made of which it is unknown whether it was carried out.
    #[must_use]
    pub fn unknown_age(&self) -> Duration {
        self.registry.shared().outbox.effects.made.unknown_age()
    }

    /// Looks the authorization of a payment up now, since its customer came back from where it is made: at most every
    /// 2 s.
    pub fn look_up_authorization(&self, merchant_id: MerchantId, payment_id: PaymentId) {
        let SharedContext { clock, outbox, .. } = self.registry.shared();
        let call = OpenCall::Payment(EffectId::operation(payment_id));
        let between = self.advancer.caller.times.between_look_ups;
        outbox.effects.calls.hasten((merchant_id, call), clock.now(), between);
    }

    /// The number of calls to acquirers that are under way.
    #[must_use]
    pub fn running_effects(&self) -> usize {
        self.registry.shared().outbox.effects.calls.served()
    }

    /// Effects that have no result yet. Reads every one.
    #[must_use]
    pub fn open_effects(&self) -> OpenEffects {
        let (mut open, now) = (OpenEffects::default(), self.clocks().wall());
        self.registry.shared().outbox.effects.each(|call, since, awaits| open.add(call, since, awaits, now));
        open
    }

    /// Counts of what durable records did, and of overdrawn merchants.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.registry.shared().counts
    }

    /// Deliveries of events to webhooks.
    #[must_use]
    pub const fn webhooks(&self) -> &Webhooks {
        &self.webhooks
    }

    /// The number of deliveries that wait for another attempt, and the time since the oldest of them was made.
    #[must_use]
    pub fn webhook_lag(&self) -> (usize, Duration) {
        let WaitingDeliveries { count, since } = self.webhooks.statistics().waiting();
        let lag = since.map_or(0, |since| self.clocks().wall().0.saturating_sub(since.0));
        (count, Duration::from_millis(lag))
    }

    /// The number of webhooks that are sent something now.
    #[must_use]
    pub fn busy_webhooks(&self) -> usize {
        self.registry.shared().outbox.webhooks.endpoints.served()
    }

    /// The number of webhooks that nothing is sent to, since their deliveries cannot be read or written.
    #[must_use]
    pub fn failing_webhooks(&self) -> usize {
        self.registry.shared().outbox.webhooks.endpoints.failing()
    }

    /// The delay of the earliest timer that has come due and was not served.
    #[must_use]
    pub fn timer_lag(&self) -> Duration {
        let due = self.registry.shared().outbox.timers.merchants.earliest_due();
        due.map_or(Duration::ZERO, |due| Duration::from_millis(self.clocks().wall().0.saturating_sub(due.0)))
    }

    /// Checks that the commit thread and every arbiter answer within `patience`. Blocks its thread, which must not be
    /// one of the engine's own.
    ///
    /// # Errors
    /// [`Silent`] names the thread that did not answer.
    pub fn check_answers(&self, patience: Duration) -> Result<(), Silent> {
        let until = Instant::now() + patience;
        let arbiters = self.ask_arbiters();
        check_committer(&self.registry.shared().committer, patience)?;
        for arbiter in arbiters {
            let left = until.saturating_duration_since(Instant::now());
            arbiter.recv_timeout(left).map_err(|_| Silent::Arbiter)?;
        }
        Ok(())
    }

    /// Asks every arbiter for an answer.
    fn ask_arbiters(&self) -> Vec<blocking::Receiver<()>> {
        let arbiters = self.arbiters.lock();
        let ask = |arbiter: &Arbiter| {
            let (answer, answered) = blocking::channel();
            // An arbiter that has stopped drops the request, which the receiver notices.
            arbiter.spawn_fn(move || {
                let _nobody_waits = answer.send(());
            });
            answered
        };
        arbiters.iter().map(ask).collect()
    }

    /// True while calls to acquirers and timers are paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.pause.is_on()
    }

    /// Resumes calls to acquirers and timers; returns true when they were paused.
    pub fn resume(&self) -> bool {
        self.pause.end()
    }

    /// Refuses new requests, waits at most `patience` until those in flight are answered, and stops everything. Open
    /// effects and timers continue at the next start. Stopping again does nothing. Blocks its thread, which must not be
    /// one of the engine's own.
    pub fn stop(&self, patience: Duration) {
        self.registry.stop_accepting();
        let until = Instant::now() + patience;
        while self.registry.in_flight() > 0 && Instant::now() < until {
            std::thread::sleep(STOP_POLL);
        }
        self.stop_background(patience.max(BACKGROUND_PATIENCE_MIN));
        self.stop_arbiters();
        // Last, so that everything that the actors submitted is written and answered.
        self.registry.shared().committer.stop();
    }

    fn stop_background(&self, patience: Duration) {
        let Some(runtimes) = self.runtimes.lock().take() else { return };
        // On a thread of its own, since a runtime must not be waited for by a thread that serves another.
        let stop = move || runtimes.stop(patience);
        let stopping = std::thread::Builder::new().name("till-stop".to_owned()).spawn(stop);
        if let Ok(stopping) = stopping {
            let _panicked = stopping.join();
        }
    }

    fn stop_arbiters(&self) {
        let arbiters = std::mem::take(&mut *self.arbiters.lock());
        for arbiter in &arbiters {
            arbiter.stop();
        }
        for arbiter in arbiters {
            // An arbiter's thread that panicked has reported it already.
            let _panicked = arbiter.join();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

/// The thread that did not answer in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Silent {
    /// The thread that writes.
    #[error("the commit thread does not answer")]
    CommitThread,
    /// A thread that actors live on.
    #[error("a thread of the merchants' actors does not answer")]
    Arbiter,
}

/// Sends a barrier of no merchant after everything that waits, and waits for its turn. Its verdict does not matter.
fn check_committer(committer: &Committer, patience: Duration) -> Result<(), Silent> {
    let (answer, answered) = blocking::channel();
    let completion = Box::new(move |_: BarrierVerdict| {
        let _nobody_waits = answer.send(());
    });
    let no_merchant = MerchantId::from_bytes([0; 16]);
    let barrier = Submission::Barrier { merchant_id: no_merchant, expected_head: Head::default(), completion };
    committer.submit(barrier, Urgency::Urgent).map_err(|_| Silent::CommitThread)?;
    answered.recv_timeout(patience).map_err(|_| Silent::CommitThread)
}

fn start_arbiter(number: usize) -> Arbiter {
    let arbiter = Arbiter::new();
    arbiter.spawn_fn(move || name_thread("actor", number));
    arbiter
}
