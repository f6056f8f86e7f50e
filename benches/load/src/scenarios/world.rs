//! The state that the connections of one run share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::Timestamp;
use till_domain::ids::PaymentId;

use super::acknowledged::Acknowledged;
use super::amounts::INITIATED_MINOR;
use super::payments::{PreparedPayment, PreparedPayments};
use super::sessions::Sessions;
use super::sets::fill_sets;
use super::stock::Stock;
use super::supply::Preparation;
use crate::chance::{Distribution, SeededDice};
use crate::plan::Plan;
use crate::target::ServerAddress;

/// The reason that a run ended early, or could not be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All sessions or payments made beforehand were used.
    UsedUp,
    /// The server stopped answering, with the reason that the last call has no answer.
    Unreachable(String),
    /// All calls were made, but could not be checked afterwards, with the reason.
    Unchecked(String),
}

/// The merchants, sessions, payments and sets of one run.
pub(crate) struct RunContext {
    pub(crate) plan: Plan,
    pub(crate) stock: Arc<Stock>,
    pub(super) distribution: Distribution,
    pub(super) sessions: Sessions,
    /// Payments to be captured or voided.
    pub(super) authorized: PreparedPayments,
    /// Payments to be refunded.
    pub(super) captured: PreparedPayments,
    /// Payments of the run whose card is declined, or whose customer has acted.
    pub(super) ended: Mutex<Vec<PreparedPayment>>,
    /// The name of the records whose sets are added to.
    pub(super) set_key: String,
    ending: OnceLock<Ending>,
    /// True when the run is interrupted.
    pub(crate) interrupted: Arc<AtomicBool>,
}

impl RunContext {
    /// Creates the objects that the `run`-th run of a command needs.
    pub(crate) async fn prepare(
        stock: &Arc<Stock>,
        plan: &Plan,
        run: usize,
        interrupted: &Arc<AtomicBool>,
        tell: &dyn Fn(&str),
    ) -> anyhow::Result<RunContext> {
        let distribution = Distribution::new(plan.skew, plan.merchants);
        let dice = SeededDice::new(u64::try_from(run).expect("a run's number is small"));
        let mut preparation = Preparation { stock, plan, distribution: &distribution, dice, tell };
        let sessions = Sessions::prepare(&mut preparation).await?;
        let authorized = PreparedPayments::authorized(&mut preparation).await?;
        let captured = PreparedPayments::captured(&mut preparation).await?;
        // A merchant that exists already may have the records of an earlier command.
        let set_key = format!("load-test-{}-{run}", Timestamp::now().as_millisecond());
        fill_sets(stock, plan, &set_key, tell).await?;
        let (plan, stock, interrupted) = (plan.clone(), Arc::clone(stock), Arc::clone(interrupted));
        Ok(RunContext {
            plan,
            stock,
            distribution,
            sessions,
            authorized,
            captured,
            ended: Mutex::default(),
            set_key,
            ending: OnceLock::new(),
            interrupted,
        })
    }

    /// The address of the public listener.
    pub(crate) fn public(&self) -> &ServerAddress {
        &self.stock.ends.public
    }

    /// Notes a payment whose card is declined, which is read after the run.
    pub(super) fn declined(&self, shop: usize, id: PaymentId) {
        let acknowledged = Acknowledged::default();
        acknowledged.declined();
        self.add_ended(PreparedPayment { shop, id, acknowledged });
    }

    /// Notes a payment that was successful after its customer had acted, which is read after the run.
    pub(super) fn completed(&self, shop: usize, id: PaymentId) {
        let acknowledged = Acknowledged::default();
        acknowledged.captured(INITIATED_MINOR);
        self.add_ended(PreparedPayment { shop, id, acknowledged });
    }

    fn add_ended(&self, payment: PreparedPayment) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(payment);
    }

    /// Ends the run early. The first reason counts.
    pub(crate) fn end(&self, ending: Ending) {
        let _ = self.ending.set(ending);
    }

    /// The reason that the run ended early; None when it did not.
    pub(crate) fn ending(&self) -> Option<&Ending> {
        self.ending.get()
    }

    /// True when no further call is to be made.
    pub(crate) fn is_over(&self) -> bool {
        self.ending.get().is_some() || self.is_interrupted()
    }

    /// True when the run is interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}
