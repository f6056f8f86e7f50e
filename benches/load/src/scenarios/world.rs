//! The state that the connections of one run share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::payments::PreparedPayments;
use super::sessions::Sessions;
use super::sets::Sets;
use super::stock::Stock;
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
    pub(super) sets: Sets,
    flows: AtomicU64,
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
        let mut dice = SeededDice::new(u64::try_from(run).expect("a run's number is small"));
        let sessions = Sessions::prepare(stock, plan, &distribution, &mut dice, tell).await?;
        let authorized = PreparedPayments::authorized(stock, plan, &distribution, &mut dice, tell).await?;
        let captured = PreparedPayments::captured(stock, plan, &distribution, &mut dice, tell).await?;
        let sets = Sets::prepare(stock, plan, run, tell).await?;
        // Flows of different runs have different amounts.
        let flows = AtomicU64::new(u64::try_from(run).expect("a run's number is small") << 32);
        let (plan, stock, interrupted) = (plan.clone(), Arc::clone(stock), Arc::clone(interrupted));
        let ending = OnceLock::new();
        Ok(RunContext { plan, stock, distribution, sessions, authorized, captured, sets, flows, ending, interrupted })
    }

    /// The address of the public listener.
    pub(crate) fn public(&self) -> &ServerAddress {
        &self.stock.ends.public
    }

    /// The number of the next flow.
    pub(super) fn flow_number(&self) -> u64 {
        self.flows.fetch_add(1, Ordering::Relaxed)
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
