//! Everything that a run is told.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fail_if::FailIf;
use super::load::{Knob, Load, Skew, Sweep};
use super::plan_faults::PlanFaults;
use super::scenario::{Filter, Kind, Scenario};

/// Most merchants of a run: each is made by calls of the operator.
const MERCHANTS_MAX: usize = 100_000;

/// Most connections of a run: below the ports of one address.
const CONNECTIONS_MAX: usize = 16_384;

/// Most threads of the load tester.
const THREADS_MAX: usize = 64;

/// Most items that a set has beforehand: below the 1,000,000 that it can hold.
const SET_SIZE_MAX: usize = 900_000;

/// Most items of a set of one connection: what one call can bring.
const OWN_SET_SIZE_MAX: usize = 50_000;

/// Most entries to a page, by the contract.
const PER_PAGE_MAX: usize = 100;

/// What is measured, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What is called.
    pub scenario: Scenario,
    /// How many merchants are called.
    pub merchants: usize,
    /// How the calls are spread over them.
    pub skew: Skew,
    /// Connections that are open at once.
    pub connections: usize,
    /// Threads of the load tester.
    pub threads: usize,
    /// How long is measured.
    pub duration: Duration,
    /// How long calls are made before that and not counted.
    pub warm_up: Duration,
    /// When calls are made.
    pub load: Load,
    /// The same for several values.
    pub sweep: Option<Sweep>,
    /// Sessions made beforehand; as many as are likely to be used when it is None.
    pub sessions: Option<usize>,
    /// Payments of each kind made beforehand; as many as are likely to be used when it is None.
    pub payments: Option<usize>,
    /// How sets are added to.
    pub metadata: MetadataWork,
    /// The addresses to which the events of the merchants are delivered.
    pub webhooks: Webhooks,
    /// How lists are read.
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
    /// Words for a report; none without webhooks.
    #[must_use]
    pub const fn description(self) -> Option<&'static str> {
        match self {
            Webhooks::None => None,
            Webhooks::Receiver => Some("webhooks to a receiver"),
            Webhooks::Dead => Some("webhooks to a dead address"),
        }
    }
}

/// How sets are added to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MetadataWork {
    /// The share of additions that name a version.
    pub versioned_share: f64,
    /// The share of additions that come to nothing: an item that is there, or an old version.
    pub conflict_rate: f64,
    /// Items in each set beforehand.
    pub set_size: usize,
}

/// How lists are read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ListWork {
    /// Entries of each merchant beforehand.
    pub entries: usize,
    /// Entries before the page that is asked for; a random number of them when it is None.
    pub depth: Option<usize>,
    /// Entries to a page.
    pub per_page: usize,
    /// The filter of activity.
    pub filter: Filter,
}

impl Plan {
    /// Checks it as a whole.
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
        if matches!(self.load, Load::Search(_)) {
            faults.add("--sweep: cannot be combined with --search");
        }
    }

    fn check_metadata(&self, faults: &mut PlanFaults) {
        if !self.scenario.has(Kind::Metadata) {
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
        if !self.scenario.has(Kind::Activity) && !self.scenario.has(Kind::Balance) {
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

    /// The same at fixed times.
    #[must_use]
    pub fn at_rate(&self, rate: f64) -> Plan {
        Plan { load: Load::Open { rate, patience: None }, sweep: None, ..self.clone() }
    }

    /// The most merchants that any of its runs calls.
    #[must_use]
    pub fn merchants_max(&self) -> usize {
        let of = |sweep: &Sweep| match sweep.knob {
            Knob::Merchants => sweep.values.iter().copied().max(),
            Knob::Connections => None,
        };
        self.sweep.as_ref().and_then(of).unwrap_or(self.merchants)
    }

    /// The most connections that any of its runs opens.
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

    /// A plan that is sound, to be varied.
    pub(crate) fn plan(kind: Kind) -> Plan {
        Plan {
            scenario: Scenario::of(kind),
            merchants: 4,
            skew: Skew::Uniform,
            connections: 8,
            threads: 1,
            duration: Duration::from_secs(1),
            warm_up: Duration::ZERO,
            load: Load::Closed,
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
    fn a_sound_plan_passes_and_all_faults_of_another_are_named_at_once() {
        assert_eq!(plan(Kind::Ping).check().map_err(|faults| faults.to_string()), Ok(()));
        let wrong = Plan { merchants: 0, connections: 0, duration: Duration::ZERO, ..plan(Kind::Ping) };
        let faults = wrong.check().map_err(|faults| faults.to_string());
        let says = |text: &str| faults.as_ref().is_err_and(|faults| faults.contains(text));
        assert!(says("--merchants") && says("--connections") && says("--duration"), "{faults:?}");
    }

    #[test]
    fn knobs_count_only_where_their_scenario_comes_up() {
        let lists = ListWork { depth: Some(100), ..plan(Kind::Activity).lists };
        assert!(Plan { lists, ..plan(Kind::Activity) }.check().is_err());
        assert!(Plan { lists, ..plan(Kind::Ping) }.check().is_ok());
        let metadata = MetadataWork { conflict_rate: 0.5, set_size: 0, ..plan(Kind::Metadata).metadata };
        assert!(Plan { metadata, ..plan(Kind::Metadata) }.check().is_err());
        let webhooks = Webhooks::Receiver;
        assert!(Plan { webhooks, ..plan(Kind::Ping) }.check().is_err());
        assert!(Plan { webhooks, ..plan(Kind::Initiate) }.check().is_ok());
    }

    #[test]
    fn a_sweep_is_prepared_for_its_largest_value() {
        let sweep = Sweep { knob: Knob::Merchants, values: vec![1, 64, 4] };
        let swept = Plan { sweep: Some(sweep), ..plan(Kind::Ping) };
        assert_eq!((swept.merchants_max(), swept.connections_max()), (64, 8));
        assert_eq!(swept.with_value(Knob::Merchants, 4).merchants, 4);
    }
}
