//! All parameters of a measurement.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fail_if::FailIf;
use super::load::{Knob, LoadMode, Skew, Sweep};
use super::plan_faults::PlanFaults;
use super::scenario::{Filter, Scenario, ScenarioKind};

/// The most merchants of a run: each is created by calls of the operator.
const MERCHANTS_MAX: usize = 100_000;

/// The most connections of a run: fewer than the ports of one address.
const CONNECTIONS_MAX: usize = 16_384;

/// The most threads of the load tester.
const THREADS_MAX: usize = 64;

/// The most items that a set has beforehand: below the 1,000,000 that it can hold.
const SET_SIZE_MAX: usize = 900_000;

/// The most items of a set of one connection: one call can bring this number.
const OWN_SET_SIZE_MAX: usize = 50_000;

/// The most entries of a page, by the contract.
const PER_PAGE_MAX: usize = 100;

/// The plan of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The scenario.
    pub scenario: Scenario,
    /// The number of merchants that are called.
    pub merchants: usize,
    /// The distribution of the calls over the merchants.
    pub skew: Skew,
    /// Connections that are open at once.
    pub connections: usize,
    /// Threads of the load tester.
    pub threads: usize,
    /// The time that is measured.
    pub duration: Duration,
    /// The time before the measurement in which calls are made and not counted.
    pub warm_up: Duration,
    /// The times at which calls are made.
    pub load: LoadMode,
    /// The parameter that is varied, with its values.
    pub sweep: Option<Sweep>,
    /// Sessions made beforehand; None for the number that is likely used.
    pub sessions: Option<usize>,
    /// Payments of each kind made beforehand; None for the number that is likely used.
    pub payments: Option<usize>,
    /// The additions to sets.
    pub metadata: MetadataWork,
    /// The addresses to which the events of the merchants are delivered.
    pub webhooks: Webhooks,
    /// The pages of lists.
    pub lists: ListWork,
    /// Conditions under which the run counts as failed.
    pub fail_if: Vec<FailIf>,
}

/// The addresses to which the events of the merchants are delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Webhooks {
    /// The merchants have no webhooks
    #[default]
    None,
    /// A receiver of the load tester's own takes and counts them
    Receiver,
    /// Nobody listens at the address
    Dead,
}

impl Webhooks {
    /// The description in a report; None without webhooks.
    #[must_use]
    pub const fn description(self) -> Option<&'static str> {
        match self {
            Webhooks::None => None,
            Webhooks::Receiver => Some("webhooks to a receiver"),
            Webhooks::Dead => Some("webhooks to a dead address"),
        }
    }
}

/// The additions to sets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MetadataWork {
    /// The share of additions that name a version.
    pub versioned_share: f64,
    /// The share of additions that change nothing: the item is there already, or the version is old.
    pub conflict_rate: f64,
    /// Items in each set beforehand.
    pub set_size: usize,
}

/// The pages of lists that are read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ListWork {
    /// Entries of each merchant beforehand.
    pub entries: usize,
    /// Entries before the page that is asked for; None for a random number.
    pub depth: Option<usize>,
    /// Entries of a page.
    pub per_page: usize,
    /// The filter of activity.
    pub filter: Filter,
}

impl Plan {
    /// Checks all parameters together.
    ///
    /// # Errors
    /// All faults at once, each naming its flag.
    pub fn check(&self) -> Result<(), PlanFaults> {
        let mut faults = PlanFaults::default();
        faults.check_range("--merchants", self.merchants, 1..=MERCHANTS_MAX);
        faults.check_range("--connections", self.connections, 1..=CONNECTIONS_MAX);
        faults.check_range("--threads", self.threads, 1..=THREADS_MAX);
        if self.duration < Duration::from_millis(100) {
            faults.add("--duration: must be at least 100ms");
        }
        self.check_sweep(&mut faults);
        self.check_metadata(&mut faults);
        self.check_lists(&mut faults);
        if self.webhooks != Webhooks::None && !self.scenario.pays() {
            faults.add("--webhooks: needs a scenario that pays: initiate, flow, capture, or a mix with one of them");
        }
        faults.into_result()
    }

    fn check_sweep(&self, faults: &mut PlanFaults) {
        let Some(sweep) = &self.sweep else { return };
        let max = match sweep.knob {
            Knob::Merchants => MERCHANTS_MAX,
            Knob::Connections => CONNECTIONS_MAX,
        };
        sweep.values.iter().for_each(|value| faults.check_range("--sweep", *value, 1..=max));
        if matches!(self.load, LoadMode::Search(_)) {
            faults.add("--sweep: cannot be combined with --search");
        }
    }

    fn check_metadata(&self, faults: &mut PlanFaults) {
        if !self.scenario.has(ScenarioKind::Metadata) {
            return;
        }
        let MetadataWork { versioned_share, conflict_rate, set_size } = self.metadata;
        let max = if versioned_share > 0.0 { OWN_SET_SIZE_MAX } else { SET_SIZE_MAX };
        faults.check_range("--set-size", set_size, 0..=max);
        if set_size == 0 && conflict_rate > 0.0 {
            faults.add("--conflict-rate: needs a --set-size above 0, of items that are there already");
        }
    }

    fn check_lists(&self, faults: &mut PlanFaults) {
        if !self.scenario.has(ScenarioKind::Activity) && !self.scenario.has(ScenarioKind::Balance) {
            return;
        }
        faults.check_range("--entries", self.lists.entries, 1..=10_000_000);
        faults.check_range("--per-page", self.lists.per_page, 1..=PER_PAGE_MAX);
        if self.lists.depth.is_some_and(|depth| depth >= self.lists.entries) {
            faults.add("--depth: must be below --entries");
        }
    }

    /// The plan of one value of a sweep.
    #[must_use]
    pub fn with_value(&self, knob: Knob, value: usize) -> Plan {
        let mut plan = Plan { sweep: None, ..self.clone() };
        match knob {
            Knob::Merchants => plan.merchants = value,
            Knob::Connections => plan.connections = value,
        }
        plan
    }

    /// The same plan with calls at fixed times.
    #[must_use]
    pub fn at_rate(&self, rate: f64) -> Plan {
        Plan { load: LoadMode::Open { rate, patience: None }, sweep: None, ..self.clone() }
    }

    /// The most merchants that any run of the plan calls.
    #[must_use]
    pub fn merchants_max(&self) -> usize {
        let of = |sweep: &Sweep| match sweep.knob {
            Knob::Merchants => sweep.values.iter().copied().max(),
            Knob::Connections => None,
        };
        self.sweep.as_ref().and_then(of).unwrap_or(self.merchants)
    }

    /// The most connections that any run of the plan opens.
    #[must_use]
    pub fn connections_max(&self) -> usize {
        let of = |sweep: &Sweep| match sweep.knob {
            Knob::Connections => sweep.values.iter().copied().max(),
            Knob::Merchants => None,
        };
        self.sweep.as_ref().and_then(of).unwrap_or(self.connections)
    }
}

#[cfg(test)]
pub(crate) mod examples {
    use super::*;

    /// A valid plan that tests vary.
    pub(crate) fn plan(kind: ScenarioKind) -> Plan {
        Plan {
            scenario: Scenario::of(kind),
            merchants: 4,
            skew: Skew::Uniform,
            connections: 8,
            threads: 1,
            duration: Duration::from_secs(1),
            warm_up: Duration::ZERO,
            load: LoadMode::Closed,
            sweep: None,
            sessions: None,
            payments: None,
            webhooks: Webhooks::None,
            metadata: MetadataWork { versioned_share: 0.0, conflict_rate: 0.0, set_size: 10 },
            lists: ListWork { entries: 100, depth: None, per_page: 25, filter: Filter::None },
            fail_if: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::examples::plan;
    use super::*;

    #[test]
    fn a_valid_plan_passes_and_all_faults_are_named_at_once() {
        assert_eq!(plan(ScenarioKind::Ping).check().map_err(|faults| faults.to_string()), Ok(()));
        let wrong = Plan { merchants: 0, connections: 0, duration: Duration::ZERO, ..plan(ScenarioKind::Ping) };
        let faults = wrong.check().map_err(|faults| faults.to_string());
        let says = |text: &str| faults.as_ref().is_err_and(|faults| faults.contains(text));
        assert!(says("--merchants") && says("--connections") && says("--duration"), "{faults:?}");
    }

    #[test]
    fn arguments_are_checked_only_where_their_scenario_is_used() {
        let lists = ListWork { depth: Some(100), ..plan(ScenarioKind::Activity).lists };
        assert!(Plan { lists, ..plan(ScenarioKind::Activity) }.check().is_err());
        assert!(Plan { lists, ..plan(ScenarioKind::Ping) }.check().is_ok());
        let metadata = MetadataWork { conflict_rate: 0.5, set_size: 0, ..plan(ScenarioKind::Metadata).metadata };
        assert!(Plan { metadata, ..plan(ScenarioKind::Metadata) }.check().is_err());
        let webhooks = Webhooks::Receiver;
        assert!(Plan { webhooks, ..plan(ScenarioKind::Ping) }.check().is_err());
        assert!(Plan { webhooks, ..plan(ScenarioKind::Initiate) }.check().is_ok());
    }

    #[test]
    fn a_sweep_is_prepared_for_its_largest_value() {
        let sweep = Sweep { knob: Knob::Merchants, values: vec![1, 64, 4] };
        let swept = Plan { sweep: Some(sweep), ..plan(ScenarioKind::Ping) };
        assert_eq!((swept.merchants_max(), swept.connections_max()), (64, 8));
        assert_eq!(swept.with_value(Knob::Merchants, 4).merchants, 4);
    }
}
