//! The advancer: takes a merchant's test clock forward, from one timer to the next, so that everything that is due
//! happens at its own instant and in order.

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use till_domain::command::{AdvanceClock, Caller, Command, Idempotency, Request, StepClock};
use till_domain::effect::Timer;
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::records::Timers;
use till_storage::rows::ScanDirection;
use till_storage::shapes::MerchantReader;
use tokio::runtime::Handle;

use super::calls_under_way::CallsUnderWay;
use super::service::FIRED_AT_ONCE;
use crate::background::WorkError;
use crate::effects::AcquirerCaller;
use crate::merchant::{Admission, Denied, Registry, Reply};

/// The time in which a call must have ended; work that is done by then stays, and the same call continues from there.
/// The slowest card of the sandbox answers after five seconds, so that several such answers fit.
const ADVANCE_TIME_MAX: Duration = Duration::from_secs(25);
/// The pause between two checks that everything which follows from a step is done.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(5);

/// Advances test clocks.
pub(crate) struct Advancer {
    pub(crate) registry: Arc<Registry>,
    pub(crate) caller: Arc<AcquirerCaller>,
    /// The runtime of calls to acquirers.
    pub(crate) runtime: Handle,
    /// Held by the call that advances a merchant's clock, so that another one waits for its turn.
    pub(crate) turns: Mutex<BTreeMap<MerchantId, Arc<tokio::sync::Mutex<()>>>>,
}

impl Advancer {
    /// Advances a merchant's clock, and answers when everything that is due until then is recorded.
    ///
    /// # Errors
    /// [`Denied`]: refused by the rules, or not done within [`ADVANCE_TIME_MAX`]: then the clock shows the instant of
    /// the last step, and the same call goes on.
    pub(crate) async fn advance(&self, command: AdvanceClock, idempotency: Option<Idempotency>) -> Reply {
        let advanced = tokio::time::timeout(ADVANCE_TIME_MAX, self.advance_in_turn(command, idempotency));
        advanced.await.unwrap_or_else(|_| Err(Denied::unknown("the timers on the way took too long")))
    }

    async fn advance_in_turn(&self, command: AdvanceClock, idempotency: Option<Idempotency>) -> Reply {
        let turn = Arc::clone(self.turns.lock().entry(command.merchant_id).or_default());
        let _turn = turn.lock().await;
        let judged = self.ask(Command::JudgeAdvance(command), command.merchant_id, idempotency.clone()).await?;
        if judged.replayed {
            return Ok(judged);
        }
        self.take_steps(command).await.map_err(|reason| Denied::unknown(reason.to_string()))?;
        self.ask(Command::AdvanceClock(command), command.merchant_id, idempotency).await
    }

    /// Fires the timers that are due until the instant of the command, and waits for everything that follows from each.
    async fn take_steps(&self, AdvanceClock { merchant_id, to }: AdvanceClock) -> Result<(), WorkError> {
        let await_decision = BTreeSet::new();
        let mut calls = CallsUnderWay {
            merchant_id,
            store: &self.registry.shared().store,
            caller: &self.caller,
            runtime: &self.runtime,
            await_decision,
        };
        loop {
            // Work that must be recorded before the clock advances, since it may set a timer. A further kind of
            // background work that timers begin must be awaited here, too: a step is answered when its work is queued.
            while calls.are_some().await? {
                tokio::time::sleep(LOOK_AGAIN_AFTER).await;
            }
            let mut timers = self.next_timers(merchant_id)?;
            let Some(due) = timers.first().map(|timer| timer.due).filter(|due| *due <= to) else { return Ok(()) };
            timers.retain(|timer| timer.due == due);
            let step = Command::StepClock(StepClock { merchant_id, to: due, timers });
            if self.registry.carry_out(merchant_id, step, Admission::Always).await? == Answer::Changed(false) {
                // Another call has fired them meanwhile, or work that is not recorded yet delays them.
                tokio::time::sleep(LOOK_AGAIN_AFTER).await;
            }
        }
    }

    fn next_timers(&self, merchant_id: MerchantId) -> Result<Vec<Timer>, WorkError> {
        let rows = MerchantReader::new(merchant_id, None, &*self.registry.shared().store);
        Ok(rows.scan_keys::<Timers>(.., ScanDirection::Forward, FIRED_AT_ONCE)?)
    }

    async fn ask(&self, command: Command, merchant_id: MerchantId, idempotency: Option<Idempotency>) -> Reply {
        let request = Request { caller: Caller::Operator, idempotency, command };
        self.registry.ask(merchant_id, request, None).await
    }
}
