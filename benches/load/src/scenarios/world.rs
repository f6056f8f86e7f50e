//! Everything that the connections of one run share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::payments::PreparedPayments;
use super::sessions::Sessions;
use super::sets::Sets;
use super::stock::Stock;
use crate::chance::{Dice, Distribution};
use crate::plan::Plan;
use crate::target::ServerAddress;

/// Why a run ended before its time, or is not a whole one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All sessions or payments made beforehand were used.
    UsedUp,
    /// The server did not answer any more; with what came instead.
    Gone(String),
    /// All calls were made, but afterwards they could not be checked; with the reason.
    Unchecked(String),
}

/// What one run works on.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) stock: Arc<Stock>,
    pub(super) distribution: Distribution,
    pub(super) sessions: Sessions,
    /// To be captured or voided.
    pub(super) authorized: PreparedPayments,
    /// To be refunded.
    pub(super) captured: PreparedPayments,
    pub(super) sets: Sets,
    flows: AtomicU64,
    ending: OnceLock<Ending>,
    /// Set when the run is to be broken off.
    pub(crate) interrupted: Arc<AtomicBool>,
}

impl World {
    /// Makes what the `run`-th run of a command needs.
    pub(crate) async fn prepare(
        stock: &Arc<Stock>,
        plan: &Plan,
        run: usize,
        interrupted: &Arc<AtomicBool>,
        tell: &dyn Fn(&str),
    ) -> anyhow::Result<World> {
        let distribution = Distribution::new(plan.skew, plan.merchants);
        let mut dice = Dice::new(u64::try_from(run).expect("a run's number is small"));
        let sessions = Sessions::prepare(stock, plan, &distribution, &mut dice, tell).await?;
        let authorized = PreparedPayments::authorized(stock, plan, &distribution, &mut dice, tell).await?;
        let captured = PreparedPayments::captured(stock, plan, &distribution, &mut dice, tell).await?;
        let sets = Sets::prepare(stock, plan, run, tell).await?;
        // Flows of different runs have different amounts.
        let flows = AtomicU64::new(u64::try_from(run).expect("a run's number is small") << 32);
        let (plan, stock, interrupted) = (plan.clone(), Arc::clone(stock), Arc::clone(interrupted));
        let ending = OnceLock::new();
        Ok(World { plan, stock, distribution, sessions, authorized, captured, sets, flows, ending, interrupted })
    }

    /// Where merchants and devices call.
    pub(crate) fn public(&self) -> &ServerAddress {
        &self.stock.ends.public
    }

    /// The next flow's number.
    pub(super) fn flow_number(&self) -> u64 {
        self.flows.fetch_add(1, Ordering::Relaxed)
    }

    /// Ends the run before its time. The first reason counts.
    pub(crate) fn end(&self, ending: Ending) {
        let _ = self.ending.set(ending);
    }

    /// Why the run ended before its time, when it did.
    pub(crate) fn ending(&self) -> Option<&Ending> {
        self.ending.get()
    }

    /// True when no further call is to be made.
    pub(crate) fn is_over(&self) -> bool {
        self.ending.get().is_some() || self.is_interrupted()
    }

    /// Whether the run is to be broken off.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}
