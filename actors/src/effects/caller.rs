//! Calls to acquirers and look-ups, each within its time, counted, and heard by the lane of its account.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use till_domain::acquirer::{AcquirerName, AcquirerRef};
use till_domain::ids::{AcquirerId, MerchantId};
use till_domain::open_call::OpenCall;
use till_domain::records::Unreadable;
use till_domain::time::Millis;

use super::account_lanes::{AccountLanes, LanePermit};
use super::acquirers::{Acquirers, OpenedAcquirer};
use super::call_statistics::{CallStatistics, CountedAnswer, word_of};
use super::calls::{CallSources, NoResult, plan};
use super::times::{CallTimes, in_time};
use crate::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerCall, AcquirerUnavailable, BalancePage, CallAnswer, ListedBalance, LookedUp,
    NamedCall, Prepared, UnansweredOutcome,
};
use crate::clock::Clock;

/// Calls acquirers.
pub(crate) struct AcquirerCaller {
    pub(crate) acquirers: Acquirers,
    pub(crate) sources: CallSources,
    pub(crate) times: CallTimes,
    /// The times of the last genuine notices. None is stored: after a start calls are looked up more often for a while.
    pub(crate) last_notices: Mutex<BTreeMap<AcquirerId, Millis>>,
    pub(crate) lanes: Arc<AccountLanes>,
    pub(crate) statistics: CallStatistics,
    pub(crate) clock: Arc<dyn Clock>,
}

/// An acquirer that is asked now.
pub(super) struct AskedAcquirer<'a> {
    pub(super) caller: &'a AcquirerCaller,
    pub(super) acquirer: &'a dyn Acquirer,
    pub(super) name: AcquirerName,
    /// The permit of its account; none for the sandbox.
    pub(super) permit: Option<&'a LanePermit>,
}

impl AcquirerCaller {
    pub(super) fn acquirer(&self, merchant: MerchantId, of: AcquirerRef) -> OpenedAcquirer {
        self.acquirers.of(of, &self.sources.reader(merchant))
    }

    /// The time after which a call that waits for its customer is looked up.
    pub(super) fn next_of_customer(&self, of: AcquirerRef, now: Millis) -> Duration {
        let last = of.account_id().and_then(|id| self.last_notices.lock().get(&id).copied());
        self.times.next_of_customer(last, now)
    }

    /// True for an open call of a merchant at this account.
    pub(crate) fn is_open_at(&self, merchant: MerchantId, id: AcquirerId, call: OpenCall) -> Result<bool, Unreadable> {
        let unreadable = |error: NoResult| Unreadable { reason: error.to_string() };
        let open = self.sources.open(merchant, call).map_err(unreadable)?;
        Ok(open.is_some_and(|open| open.acquirer().account_id() == Some(id)))
    }

    /// What the acquirer says of an open call whose end may depend on the decision of a person; none for another call,
    /// and when it says nothing.
    pub(crate) async fn ask_about(&self, merchant: MerchantId, call: OpenCall) -> Result<Option<CallAnswer>, NoResult> {
        let Some(open) = self.sources.open(merchant, call)? else { return Ok(None) };
        let (_, planned) = plan(&self.sources, merchant, &open)?;
        if !planned.may_await_decision {
            return Ok(None);
        }
        let (acquirer, _) = self.acquirer(merchant, open.acquirer())?;
        let asked = AskedAcquirer { caller: self, acquirer: &*acquirer, name: open.acquirer().name(), permit: None };
        match asked.look_up(&planned.call).await {
            Ok(LookedUp::Found(answer)) => Ok(Some(answer)),
            Ok(LookedUp::NotDone) | Err(_) => Ok(None),
        }
    }

    /// A page of the acquirer's list of the money of an account, in its turn of the account's rate.
    pub(crate) async fn list(
        &self,
        merchant: MerchantId,
        of: AcquirerRef,
        listed: &ListedBalance,
    ) -> Result<BalancePage, NoResult> {
        let (acquirer, _) = self.acquirer(merchant, of)?;
        if let Some(id) = of.account_id() {
            self.lanes.turn(id).await;
        }
        let asked_at = Instant::now();
        let page = in_time(self.times.call, acquirer.list(listed)).await;
        if let Some((result, _)) = page.counted() {
            self.statistics.count([of.name().name(), "list"], result, asked_at.elapsed());
        }
        Ok(page?)
    }
}

impl AskedAcquirer<'_> {
    pub(super) async fn prepare(&self, call: &AcquirerCall) -> Result<Prepared, AcquirerUnavailable> {
        self.ask(call.reference(), "prepare", self.caller.times.call, self.acquirer.prepare(call)).await
    }

    pub(super) async fn act(&self, call: AcquirerCall) -> Result<CallAnswer, AcquirerUnavailable> {
        let (name, word) = (call.reference(), word_of(&call));
        self.ask(name, word, self.caller.times.call, self.acquirer.act(call)).await
    }

    pub(super) async fn look_up(&self, call: &AcquirerCall) -> Result<LookedUp, AcquirerUnavailable> {
        self.ask(call.reference(), "look_up", self.caller.times.look_up, self.acquirer.look_up(call)).await
    }

    /// The answer, unless it takes too long.
    async fn ask<T: CountedAnswer>(
        &self,
        name: NamedCall,
        word: &'static str,
        time: Duration,
        answer: AcquirerAnswer<'_, T>,
    ) -> Result<T, AcquirerUnavailable> {
        let asked_at = Instant::now();
        let answer = in_time(time, answer).await;
        if let Some((result, heard)) = answer.counted() {
            self.caller.statistics.count([self.name.name(), word], result, asked_at.elapsed());
            if let Some(permit) = self.permit {
                permit.hear(heard, self.caller.clock.now());
            }
        }
        if let Err(error) = &answer
            && error.outcome == UnansweredOutcome::Mismatch
        {
            self.caller.statistics.count_mismatch();
            tracing::error!(acquirer = self.name.name(), reference = %name, call = word,
                reason = error.reason, "an acquirer's answer is about something else: call the acquirer");
        }
        answer
    }
}
