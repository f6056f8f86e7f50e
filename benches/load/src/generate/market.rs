//! A running engine on the data directory, with a clock of its own.

use std::sync::Arc;
use std::time::Duration;

use till::{Opened, abort_with_message};
use till_actors::clock::Clock;
use till_actors::security_codes::SecurityCodes;
use till_actors::webhooks::WebhookDelivery;
use till_actors::{CallTimes, Dependencies, Engine, EngineOptions, Secret};
use till_domain::command::{Caller, Command, Request};
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::payment::Lifetimes;
use till_domain::time::Millis;
use till_storage::vault::Keyring;

use super::clock::SetClock;

/// Threads that run the actors.
const ARBITERS: usize = 2;
/// The most actors that are started at the same time: more than have a burst, a timer or a call in flight.
const LIVE_ACTORS: usize = 2_048;
/// The time after which an actor without work is retired.
const IDLE_BEFORE_RETIRING: Duration = Duration::from_secs(60);
/// The period of the engine's search for expired objects. The generator removes them itself: the engine measures the
/// period by the machine's clock, on which it would not pass before the end.
const NO_SEARCH: Duration = Duration::from_secs(365 * 24 * 3_600);
/// The pause between two checks for open work.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// The longest time that a stop of the engine waits.
const STOP_PATIENCE: Duration = Duration::from_secs(30);

/// An engine that serves no HTTP.
pub(super) struct Market {
    engine: Engine,
    clock: Arc<SetClock>,
    pub(super) keyring: Arc<Keyring>,
}

impl Market {
    /// Starts the engine. Must be called within an actix system.
    pub(super) fn open(opened: &Opened, at: Millis) -> anyhow::Result<Market> {
        let (clock, keyring) = (Arc::new(SetClock::new(at)), Arc::clone(&opened.keyring));
        let dependencies = Dependencies {
            store: opened.store(),
            keyring: Arc::clone(&keyring),
            acquirers: opened.acquirers(),
            clock: Arc::clone(&clock) as _,
            security_codes: Arc::new(SecurityCodes::new()),
            webhooks: WebhookDelivery::in_memory(),
        };
        let options = EngineOptions {
            arbiters: ARBITERS,
            live_actors_max: LIVE_ACTORS,
            idle_before_retiring: IDLE_BEFORE_RETIRING,
            expiry_pause: NO_SEARCH,
            lifetimes: Lifetimes::default(),
            call_times: CallTimes::default(),
            // Many payments are always in flight: a group of commits is large enough without waiting for more.
            group_commit_delay: Duration::ZERO,
            paused: false,
            on_fatal: Box::new(abort_with_message),
        };
        Ok(Market { engine: Engine::start(dependencies, options)?, clock, keyring })
    }

    /// The time.
    pub(super) fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Sets the time forward.
    pub(super) fn set_time(&self, at: Millis) {
        self.clock.set(at);
    }

    /// Carries out a merchant's command, and gives the answer once it is durable.
    pub(super) async fn carry_out(
        &self,
        merchant_id: MerchantId,
        caller: Caller,
        command: Command,
        secret: Option<Secret>,
    ) -> anyhow::Result<Answer> {
        let request = Request { caller, idempotency: None, command };
        Ok(self.engine.submit(merchant_id, request, secret).await?.answer)
    }

    /// Waits until the acquirer has answered every call and the answers are recorded.
    pub(super) async fn wait_for_calls(&self) {
        while self.engine.open_effects().count > 0 {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until everything that is due has been done.
    pub(super) async fn wait_until_nothing_is_due(&self) {
        while self.engine.open_effects().count > 0 || !self.engine.timer_lag().is_zero() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Stops the engine. Not within its actix system.
    pub(super) fn close(self) {
        self.engine.stop(STOP_PATIENCE);
    }
}
