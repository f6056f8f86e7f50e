//! The runner: takes open effects out, calls, has the result recorded, and asks again until there is one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use till_domain::command::{Caller as Asker, Command, Request};
use till_domain::effect::Effect;
use till_domain::payment::Payment;
use till_domain::records::{Effects, Payments, Rows, Unreadable};
use till_storage::shapes::{ReadPersonal, TypedRows};
use till_storage::vault::Keyring;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedReceiver;

use super::call::{Acquirers, Caller, NoResult};
use crate::followups::OpenEffect;
use crate::registry::{Admission, Registry};
use crate::security_codes::SecurityCodes;
use crate::store::{Store, StoreReader};

/// Calls under way at the same time.
const CALLS_MAX: usize = 1_024;
/// After this long without an answer a call is unknown, and is asked again.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// The first pause before asking again; it doubles up to [`PAUSE_MAX`].
const PAUSE_FIRST: Duration = Duration::from_millis(100);
/// The longest pause before asking again.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Carries open effects out.
pub(crate) struct EffectRunner {
    caller: Caller,
    registry: Arc<Registry>,
    running: Arc<AtomicUsize>,
}

impl EffectRunner {
    pub(crate) fn new(
        acquirers: Acquirers,
        keyring: Arc<Keyring>,
        security_codes: Arc<SecurityCodes>,
        store: Arc<dyn Store>,
        registry: Arc<Registry>,
        running: Arc<AtomicUsize>,
    ) -> EffectRunner {
        EffectRunner { caller: Caller { acquirers, keyring, security_codes, store }, registry, running }
    }

    /// Takes effects until nobody can open any more.
    pub(crate) async fn run(self, mut opened: UnboundedReceiver<OpenEffect>) {
        let runner = Arc::new(self);
        let calls = Arc::new(Semaphore::new(CALLS_MAX));
        while let Some(effect) = opened.recv().await {
            let Ok(place) = Arc::clone(&calls).acquire_owned().await else { return };
            let runner = Arc::clone(&runner);
            runner.running.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                runner.carry_out(effect).await;
                runner.running.fetch_sub(1, Ordering::Relaxed);
                drop(place);
            });
        }
    }

    /// Calls until there is a result and it is recorded, or the effect is found closed.
    async fn carry_out(&self, open: OpenEffect) {
        let mut pause = PAUSE_FIRST;
        loop {
            match self.attempt(open).await {
                Ok(()) => return,
                Err(reason) => tracing::warn!(
                    merchant_id = %open.merchant_id, payment_id = %open.payment_id, %reason,
                    "an effect has no result yet and is tried again"
                ),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn attempt(&self, open: OpenEffect) -> Result<(), String> {
        let Some((effect, payment)) = self.read(open).map_err(|error| error.to_string())? else { return Ok(()) };
        let call = self.caller.call(open.merchant_id, &effect, &payment);
        let timed_out = |_| NoResult::Unanswered("it took too long".to_owned());
        let result = tokio::time::timeout(CALL_TIMEOUT, call).await.map_err(timed_out);
        let command = result.and_then(|result| result).map_err(|error| error.to_string())?;
        self.record(open, command).await
    }

    /// The open effect with its payment; nothing when it is closed.
    fn read(&self, open: OpenEffect) -> Result<Option<(Effect, Payment)>, NoResult> {
        let reader = StoreReader(Arc::clone(&self.caller.store));
        let personal = ReadPersonal::new(open.merchant_id, Arc::clone(&self.caller.keyring), &reader);
        let unreadable = |error: Unreadable| NoResult::Unreadable(error.to_string());
        let rows = TypedRows::new(&reader, &personal).of_merchant(open.merchant_id);
        let Some(effect) = rows.get::<Effects>(open.payment_id).map_err(unreadable)? else { return Ok(None) };
        let payment = rows.get::<Payments>(open.payment_id).map_err(unreadable)?;
        let payment = payment.ok_or_else(|| NoResult::Unreadable("its payment is not there".to_owned()))?;
        Ok(Some((effect, payment)))
    }

    async fn record(&self, open: OpenEffect, command: Command) -> Result<(), String> {
        let request = Request { caller: Asker::System, idempotency: None, command };
        let receiver = self.registry.submit(open.merchant_id, request, None, Admission::Always);
        let reply = receiver.map_err(|denied| denied.to_string())?.await;
        match reply {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(denied)) => Err(denied.to_string()),
            Err(_) => Err("the actor went away".to_owned()),
        }
    }
}
