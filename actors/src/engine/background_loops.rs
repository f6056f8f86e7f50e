//! The loops of background work, each with the runtime that it runs on.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::background::{Pause, Scheduler};
use crate::counts::OverdrawnCounter;
use crate::effects::{AcquirerCaller, EffectRunner, LATE_ANSWERS_WAITING_MAX, record_late_answers};
use crate::merchant::{Loader, LoaderThreads, Registry, SharedContext};
use crate::removal::{Eraser, ExpiryWalk, GarbageCollector, Remover};
use crate::timers::TimerService;
use crate::webhooks::{Dispatcher, WebhookDelivery, remove_old_deliveries};

/// The largest number of threads of a runtime that wait for the disk. While one does, another thread goes on with what
/// else the runtime has to do.
const WAITING_THREADS_MAX: usize = 16;

/// The runtime of background work, and one of deliveries: a busy endpoint must not hold up a call to an acquirer.
/// Beside them the threads that wait for the disk in place of the actors' threads.
pub(super) struct Runtimes {
    background: Runtime,
    deliveries: Runtime,
    loaders: LoaderThreads,
    /// The loops on both runtimes.
    loops: Mutex<JoinSet<()>>,
}

impl Runtimes {
    /// Starts all. A start runs within a runtime, where none may be dropped.
    pub(super) fn start() -> std::io::Result<Runtimes> {
        let background = runtime("till-background")?;
        let others = runtime("till-webhooks").and_then(|deliveries| match LoaderThreads::start() {
            Ok(loaders) => Ok((deliveries, loaders)),
            Err(error) => {
                deliveries.shutdown_background();
                Err(error)
            }
        });
        match others {
            Ok((deliveries, loaders)) => Ok(Runtimes { background, deliveries, loaders, loops: Mutex::default() }),
            Err(error) => {
                background.shutdown_background();
                Err(error)
            }
        }
    }

    pub(super) fn loader(&self) -> Loader {
        self.loaders.loader()
    }

    /// The runtime of calls to acquirers.
    pub(super) fn of_calls(&self) -> Handle {
        self.background.handle().clone()
    }

    fn spawn(&self, runtime: &Runtime, work: impl Future<Output = ()> + Send + 'static) {
        self.loops.lock().spawn_on(work, runtime.handle());
    }

    /// Stops one after the other, and waits at most `patience` for each. The loops end first: one that waits for the
    /// disk while its runtime ends would go on without timers, and panic.
    pub(super) fn stop(self, patience: Duration) {
        let ended = async { timeout(patience, self.loops.into_inner().shutdown()).await };
        drop(self.background.block_on(ended));
        self.background.shutdown_timeout(patience);
        self.deliveries.shutdown_timeout(patience);
        self.loaders.stop(patience);
    }
}

fn runtime(name: &str) -> std::io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).max_blocking_threads(WAITING_THREADS_MAX).thread_name(name).enable_all().build()
}

/// Starts the loops. Calls to acquirers, timers and deliveries begin when `pause` ends, everything else at once.
pub(super) struct BackgroundLoops<'a> {
    pub(super) registry: &'a Arc<Registry>,
    pub(super) pause: &'a Pause,
    pub(super) runtimes: &'a Runtimes,
}

impl BackgroundLoops<'_> {
    /// Starts what visits every merchant: the removal of rows and the count of overdrawn merchants; and the removal of
    /// keys of removed customers from the files.
    pub(super) fn start_visits(&self, pause: Duration) {
        let SharedContext { store, clock, outbox, counts, .. } = self.registry.shared();
        let (runtime, counts) = (&self.runtimes.background, Arc::clone(counts));
        self.runtimes.spawn(runtime, OverdrawnCounter { store: Arc::clone(store), pause, counts }.run());
        for walk in ExpiryWalk::ALL {
            self.runtimes.spawn(runtime, Remover::new(walk, self.registry, pause).run());
        }
        let collector = GarbageCollector { registry: Arc::clone(self.registry) };
        self.runtimes.spawn(runtime, Scheduler::new(collector, &outbox.garbage, clock).run(Pause::new(false).watch()));
        self.runtimes.spawn(runtime, Eraser { store: Arc::clone(store), erasures: Arc::clone(&outbox.erasures) }.run());
    }

    /// Starts timers, calls to acquirers, the recording of their late answers, and the removal of security codes.
    pub(super) fn start_calls(&self, caller: Arc<AcquirerCaller>) {
        let SharedContext { clock, outbox, .. } = self.registry.shared();
        let (runtime, registry) = (&self.runtimes.background, || Arc::clone(self.registry));
        self.runtimes.spawn(runtime, Arc::clone(&caller.sources.security_codes).forget_expired_from_now_on());
        let timers = TimerService { registry: registry() };
        self.runtimes.spawn(runtime, Scheduler::new(timers, &outbox.timers.merchants, clock).run(self.pause.watch()));
        let (late_answers, answered) = mpsc::channel(LATE_ANSWERS_WAITING_MAX);
        caller.acquirers.send_late_answers(late_answers);
        self.runtimes.spawn(runtime, record_late_answers(answered, Arc::clone(&caller), registry()));
        let lanes = Arc::clone(&caller.lanes);
        self.runtimes.spawn(runtime, lanes.queue_calls(Arc::clone(&outbox.effects.calls), Arc::clone(clock)));
        let effects = EffectRunner { caller, registry: registry() };
        self.runtimes.spawn(runtime, Scheduler::new(effects, &outbox.effects.calls, clock).run(self.pause.watch()));
    }

    /// Starts the deliveries of events to webhooks, and returns their dispatcher.
    pub(super) fn start_deliveries(&self, delivery: WebhookDelivery) -> Arc<Dispatcher> {
        let SharedContext { clock, outbox, .. } = self.registry.shared();
        let dispatcher = Arc::new(Dispatcher::new(delivery, Arc::clone(self.registry)));
        let (runtime, queue) = (&self.runtimes.deliveries, &outbox.webhooks.endpoints);
        self.runtimes.spawn(runtime, Scheduler::new(Arc::clone(&dispatcher), queue, clock).run(self.pause.watch()));
        self.runtimes.spawn(runtime, remove_old_deliveries(Arc::clone(&dispatcher)));
        dispatcher
    }
}
