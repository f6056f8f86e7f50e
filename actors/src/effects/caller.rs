//! Calls to acquirers and look-ups, each within its time.

use std::sync::Arc;
use std::time::Duration;
use till_domain::acquirer::AcquirerRef;
use till_domain::ids::MerchantId;
use till_domain::open_call::OpenCall;

use super::acquirers::Acquirers;
use super::calls::{CallSources, NoResult, plan};
use super::times::CallTimes;
use crate::acquirer::{Acquirer, AcquirerAnswer, AcquirerUnavailable, CallAnswer, LookedUp};

/// Calls acquirers.
pub(crate) struct AcquirerCaller {
    pub(crate) acquirers: Acquirers,
    pub(crate) sources: CallSources,
    pub(crate) times: CallTimes,
}

impl AcquirerCaller {
    pub(super) fn acquirer(&self, merchant: MerchantId, of: AcquirerRef) -> Result<Arc<dyn Acquirer>, NoResult> {
        self.acquirers.of(of, &self.sources.reader(merchant))
    }

    /// What the acquirer says of an open call whose end may depend on the decision of a person; none for another call,
    /// and when it says nothing.
    pub(crate) async fn ask_about(&self, merchant: MerchantId, call: OpenCall) -> Result<Option<CallAnswer>, NoResult> {
        let Some(open) = self.sources.open(merchant, call)? else { return Ok(None) };
        let (_, planned) = plan(&self.sources, merchant, &open)?;
        if !planned.may_await_decision {
            return Ok(None);
        }
        let acquirer = self.acquirer(merchant, open.acquirer())?;
        match in_time(self.times.look_up, acquirer.look_up(&planned.call)).await {
            Ok(LookedUp::Found(answer)) => Ok(Some(answer)),
            Ok(LookedUp::NotDone) | Err(_) => Ok(None),
        }
    }
}

/// The answer of an acquirer, unless it takes too long.
pub(super) async fn in_time<T>(time: Duration, answer: AcquirerAnswer<'_, T>) -> Result<T, AcquirerUnavailable> {
    let timed_out = |_| AcquirerUnavailable::unknown("it took too long");
    tokio::time::timeout(time, answer).await.map_err(timed_out)?
}
