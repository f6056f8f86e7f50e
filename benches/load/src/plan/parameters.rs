//! All parameters of a measurement: the flags of the command line, and the `parameters` of a report.

use std::ops::RangeInclusive;

use anyhow::ensure;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::fail_if::FailIf;
use super::load::{Knob, Skew, Sweep};
use super::scenario::{Scenario, ScenarioKind};
use super::stages::{Rates, Stages};
use super::units::{Span, parse_rate, parse_share};

/// The most merchants of a run: each is created by calls of the operator.
const MERCHANTS_MAX: usize = 100_000;

/// The most connections of a run: fewer than the ports of one address.
const CONNECTIONS_MAX: usize = 16_384;

/// The most threads of the load tester.
const THREADS_MAX: usize = 64;

/// The most items that a set has beforehand: below the 1,000,000 that it can hold.
const SET_SIZE_MAX: usize = 900_000;

/// The most entries of a list that are made, or read, beforehand.
const ENTRIES_MAX: usize = 10_000_000;

/// The most entries of a page, by the contract.
const PER_PAGE_MAX: usize = 100;

/// The shortest measurement, in seconds.
const SECONDS_MIN: f64 = 0.1;

/// The plan of a measurement. Flags of other scenarios are refused.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize)]
pub struct Plan {
    /// The scenario that is repeated; the subcommand names it.
    #[arg(skip)]
    pub scenario: Scenario,
    /// Merchants that are called
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub merchants: usize,
    /// The distribution of calls over merchants: uniform, zipf:EXPONENT or hot:SHARE
    #[arg(long, default_value = "uniform")]
    pub skew: Skew,
    /// Connections that are open at once
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub connections: usize,
    /// Threads of the load tester; on a small machine each takes its processor from the server
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: usize,
    /// The time that is measured; of a search, by each step
    #[arg(long, value_name = "SPAN", default_value = "10s")]
    #[serde(rename = "duration_seconds")]
    pub duration: Span,
    /// The time before the measurement in which calls are made and not counted
    #[arg(long, value_name = "SPAN", default_value = "2s")]
    #[serde(rename = "warm_up_seconds")]
    pub warm_up: Span,
    /// Calls a second at fixed times (an open loop); of a search, the first rate. Without it, each connection makes its
    /// next call as soon as it has its answer (a closed loop)
    #[arg(long, value_name = "CALLS", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// Rates that change during the run: times, the first 0, each with its rate; between two of them the rate changes
    /// evenly. The last time is the duration
    #[arg(long, value_name = "TIME:CALLS,...", conflicts_with_all = ["rate", "duration", "search"])]
    pub stages: Option<Stages>,
    /// The time that a call of an open loop waits for a free connection before it is given up and counted as never
    /// made, as callers do that are independent of each other
    #[arg(long, value_name = "SPAN", conflicts_with = "search")]
    #[serde(rename = "patience_seconds")]
    pub patience: Option<Span>,
    /// Search for the highest rate that meets --p99-below
    #[arg(long, requires = "p99_below")]
    pub search: bool,
    /// The bound of a search: the 99th percentile of its latencies stays below it
    #[arg(long, value_name = "SPAN", requires = "search")]
    #[serde(rename = "p99_below_seconds")]
    pub p99_below: Option<Span>,
    /// Measure for several values: merchants=1,4,16 or connections=1,8,64
    #[arg(long, value_name = "KNOB=VALUES", conflicts_with = "search")]
    pub sweep: Option<Sweep>,
    /// Connect a webhook of each merchant, for all events of a scenario that pays, to a receiver of the load tester's
    /// own
    #[arg(long)]
    pub webhooks: bool,
    /// initiate: payment sessions made beforehand [default: the number that the run is likely to use]
    #[arg(long, value_name = "N")]
    pub sessions: Option<usize>,
    /// initiate: the share of the payments whose card is declined
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub declines: Option<f64>,
    /// initiate, flow: the share of the payments that ask the customer to act, by a card with 3-D Secure, by mobile
    /// banking or by PromptPay; the load tester acts as the customer, and succeeds
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub action_share: Option<f64>,
    /// capture, refund: payments of each kind made beforehand: to capture or void, and to refund [default: the number
    /// that is likely used]
    #[arg(long, value_name = "N")]
    pub payments: Option<usize>,
    /// metadata: items in each set beforehand [default: 100]
    #[arg(long, value_name = "N")]
    pub set_size: Option<usize>,
    /// activity, balance: entries of each merchant beforehand [default: 200]
    #[arg(long, value_name = "N")]
    pub entries: Option<usize>,
    /// activity, balance: entries to a page [default: 25]
    #[arg(long, value_name = "N")]
    pub per_page: Option<usize>,
    /// Counts the run as failed (exit code 5) when this holds, as 'p99>50ms', 'capture-payment.p99>50ms', 'rate<1000'
    /// or 'errors>0'; may be repeated
    #[arg(long, value_name = "CONDITION")]
    #[serde(skip)]
    pub fail_if: Vec<FailIf>,
}

/// All faults of a plan.
#[derive(Default)]
struct PlanFaults(Vec<String>);

impl PlanFaults {
    fn check_range(&mut self, flag: &str, value: usize, range: RangeInclusive<usize>) {
        if !range.contains(&value) {
            self.0.push(format!("{flag}: must be from {} to {}, not {value}", range.start(), range.end()));
        }
    }

    /// A flag that only some kinds of operations have.
    fn check_kind(&mut self, flag: &str, is_given: bool, scenario: &Scenario, kinds: &[ScenarioKind]) {
        if is_given && !kinds.iter().any(|kind| scenario.has(*kind)) {
            let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
            self.0.push(format!("{flag}: needs {}, or a mix with it", kinds.join(" or ")));
        }
    }
}

impl Plan {
    /// Checks all parameters together.
    ///
    /// # Errors
    /// All faults at once, each naming its flag.
    pub fn check(&self) -> anyhow::Result<()> {
        let mut faults = PlanFaults::default();
        faults.check_range("--merchants", self.merchants, 1..=MERCHANTS_MAX);
        faults.check_range("--connections", self.connections, 1..=CONNECTIONS_MAX);
        faults.check_range("--threads", self.threads, 1..=THREADS_MAX);
        if self.duration.as_secs_f64() < SECONDS_MIN {
            faults.0.push("--duration: must be at least 100ms".to_owned());
        }
        if self.patience.is_some() && self.rates().is_none() {
            faults.0.push("--patience: needs --rate or --stages".to_owned());
        }
        if let Some(Sweep { knob, values }) = &self.sweep {
            let max = if *knob == Knob::Merchants { MERCHANTS_MAX } else { CONNECTIONS_MAX };
            values.iter().for_each(|value| faults.check_range("--sweep", *value, 1..=max));
        }
        self.check_scenario(&mut faults);
        ensure!(faults.0.is_empty(), "this cannot be measured:\n  {}", faults.0.join("\n  "));
        Ok(())
    }

    fn check_scenario(&self, faults: &mut PlanFaults) {
        use ScenarioKind::{Activity, Balance, Capture, Flow, Initiate, Metadata, Refund, Void};
        faults.check_kind("--sessions", self.sessions.is_some(), &self.scenario, &[Initiate]);
        faults.check_kind("--declines", self.declines.is_some(), &self.scenario, &[Initiate]);
        faults.check_kind("--action-share", self.action_share.is_some(), &self.scenario, &[Initiate, Flow]);
        if self.declines.unwrap_or_default() + self.action_share.unwrap_or_default() > 1.0 {
            faults.0.push("--action-share: is more than 1 together with --declines".to_owned());
        }
        faults.check_kind("--payments", self.payments.is_some(), &self.scenario, &[Capture, Void, Refund]);
        faults.check_kind("--set-size", self.set_size.is_some(), &self.scenario, &[Metadata]);
        faults.check_kind("--entries", self.entries.is_some(), &self.scenario, &[Activity, Balance]);
        faults.check_kind("--per-page", self.per_page.is_some(), &self.scenario, &[Activity, Balance]);
        faults.check_range("--set-size", self.set_size(), 0..=SET_SIZE_MAX);
        faults.check_range("--entries", self.entries(), 1..=ENTRIES_MAX);
        faults.check_range("--per-page", self.per_page(), 1..=PER_PAGE_MAX);
        if self.webhooks && !self.scenario.pays() {
            let needs = "--webhooks: needs a scenario that pays: initiate, flow, capture, or a mix with one of them";
            faults.0.push(needs.to_owned());
        }
    }

    /// The times at which calls are made; None in a closed loop, and of a search as a whole.
    #[must_use]
    pub fn rates(&self) -> Option<Rates> {
        match &self.stages {
            Some(stages) => Some(Rates::staged(stages, *self.warm_up)),
            None => self.rate.filter(|_| !self.search).map(Rates::steady),
        }
    }

    /// True when each connection sends its next call only after the answer.
    #[must_use]
    pub fn is_closed_loop(&self) -> bool {
        self.rates().is_none() && !self.search
    }

    /// The mean rate of an open loop, in calls a second.
    #[must_use]
    pub fn intended_rate(&self) -> Option<f64> {
        let (from, to) = (self.warm_up.as_secs_f64(), (*self.warm_up + *self.duration).as_secs_f64());
        match self.stages {
            Some(_) => self.rates().map(|rates| (rates.due_within(to) - rates.due_within(from)) / (to - from)),
            None => self.rate.filter(|_| !self.search),
        }
    }

    /// Items in each set beforehand.
    #[must_use]
    pub fn set_size(&self) -> usize {
        self.set_size.unwrap_or(100)
    }

    /// Entries of each list beforehand.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.entries.unwrap_or(200)
    }

    /// Entries of a page.
    #[must_use]
    pub fn per_page(&self) -> usize {
        self.per_page.unwrap_or(25)
    }

    /// The plan of one value of a sweep.
    #[must_use]
    pub fn with_value(&self, knob: Knob, value: usize) -> Plan {
        let plan = Plan { sweep: None, ..self.clone() };
        match knob {
            Knob::Merchants => Plan { merchants: value, ..plan },
            Knob::Connections => Plan { connections: value, ..plan },
        }
    }

    /// The plan of one step of a search.
    #[must_use]
    pub fn at_rate(&self, rate: f64) -> Plan {
        Plan { rate: Some(rate), search: false, p99_below: None, ..self.clone() }
    }

    /// The most merchants that any run of the plan calls.
    #[must_use]
    pub fn merchants_max(&self) -> usize {
        let swept = self.sweep.as_ref().filter(|sweep| sweep.knob == Knob::Merchants);
        swept.and_then(|sweep| sweep.values.iter().copied().max()).unwrap_or(self.merchants)
    }

    /// A short description of the command.
    #[must_use]
    pub fn title(&self) -> String {
        let mode = match (&self.stages, self.rate, self.search) {
            (Some(_), _, _) => "open loop, rate by stages".to_owned(),
            (None, _, true) => "search for the highest rate".to_owned(),
            (None, Some(rate), false) => format!("open loop, {rate:.0} calls/s"),
            (None, None, false) => "closed loop".to_owned(),
        };
        let swept = self.sweep.as_ref().map(|sweep| format!(", sweep over {}", sweep.knob));
        format!("{}, {mode}{}", self.scenario.word(), swept.unwrap_or_default())
    }
}

#[cfg(test)]
pub(crate) mod examples {
    use std::time::Duration;

    use super::*;

    /// The plan of these flags, as the command line reads it.
    pub(crate) fn flags(kind: ScenarioKind, line: &str) -> Plan {
        use clap::FromArgMatches;
        let command = Plan::augment_args(clap::Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(line.split_whitespace()).unwrap_or_else(|fault| panic!("{fault}"));
        let plan = Plan::from_arg_matches(&matches).unwrap_or_else(|fault| panic!("{fault}"));
        Plan { scenario: kind.into(), ..plan }
    }

    /// A valid plan that tests vary.
    pub(crate) fn plan(kind: ScenarioKind) -> Plan {
        let plan = flags(kind, "--merchants 4 --connections 8");
        Plan { duration: Span(Duration::from_secs(1)), warm_up: Span(Duration::ZERO), ..plan }
    }
}

#[cfg(test)]
mod tests {
    use super::examples::{flags, plan};
    use super::*;

    #[test]
    fn a_valid_plan_passes_and_all_faults_are_named_at_once() {
        assert_eq!(plan(ScenarioKind::Ping).check().map_err(|faults| faults.to_string()), Ok(()));
        let wrong = flags(ScenarioKind::Ping, "--merchants 0 --connections 0 --duration 0s --patience 1s");
        let faults = wrong.check().map_err(|faults| faults.to_string());
        let says = |text: &str| faults.as_ref().is_err_and(|faults| faults.contains(text));
        assert!(["--merchants", "--connections", "--duration", "--patience"].into_iter().all(says), "{faults:?}");
    }

    #[test]
    fn a_flag_is_refused_where_no_operation_has_it() {
        let accepts = |kind, line: &str| flags(kind, line).check().is_ok();
        for (kind, line) in [
            (ScenarioKind::Initiate, "--sessions 5 --declines 0.1 --action-share 0.9 --webhooks"),
            (ScenarioKind::Flow, "--action-share 1"),
            (ScenarioKind::Void, "--payments 5"),
            (ScenarioKind::Metadata, "--set-size 0"),
            (ScenarioKind::Balance, "--entries 5 --per-page 7"),
        ] {
            assert!(accepts(kind, line), "{line}");
            line.split("--")
                .skip(1)
                .for_each(|flag| assert!(!accepts(ScenarioKind::Ping, &format!("--{flag}")), "{flag}"));
        }
        assert!(!accepts(ScenarioKind::Balance, "--per-page 101"));
    }

    #[test]
    fn a_payment_is_declined_or_asks_its_customer_but_not_both() {
        let check = |line: &str| flags(ScenarioKind::Initiate, line).check().map_err(|faults| faults.to_string());
        assert_eq!(check("--declines 0.25 --action-share 0.75"), Ok(()));
        let both = check("--declines 0.5 --action-share 0.6");
        assert!(both.as_ref().is_err_and(|faults| faults.contains("--action-share: is more than 1")), "{both:?}");
    }

    #[test]
    fn a_sweep_is_prepared_for_its_largest_value() {
        let swept = flags(ScenarioKind::Ping, "--merchants 4 --sweep merchants=1,64,4");
        assert_eq!((swept.merchants_max(), swept.with_value(Knob::Merchants, 4).merchants), (64, 4));
    }

    #[test]
    fn stages_have_a_mean_rate_in_which_the_warm_up_does_not_count() {
        let staged = flags(ScenarioKind::Ping, "--stages 0:10,2s:30 --warm-up 1s");
        let staged = Plan { duration: staged.stages.as_ref().map_or(staged.duration, Stages::span), ..staged };
        assert_eq!((staged.intended_rate(), staged.is_closed_loop()), (Some(20.0), false));
        assert_eq!(flags(ScenarioKind::Ping, "--rate 50").intended_rate(), Some(50.0));
        assert_eq!(flags(ScenarioKind::Ping, "--search --p99-below 1s --rate 50").intended_rate(), None);
    }
}
