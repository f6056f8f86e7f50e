//! The scenarios: the calls that a run repeats.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A kind of operation, which a scenario repeats or `mixed` mixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum ScenarioKind {
    /// `get-balance`: the cheapest call with a key.
    Ping,
    /// `initiate-payment-flow` with sessions made beforehand.
    Initiate,
    /// From the card to the settled ledger entry.
    Flow,
    /// `start-checkout`, its page, and its payment by card.
    Checkout,
    /// `capture-payment`, of all that is authorized or of a part.
    Capture,
    /// `void-payment`, in a mix only.
    Void,
    /// `refund-payment`, in parts.
    Refund,
    /// `send-payout`, in a mix only.
    Payout,
    /// `add-to-metadata-set`.
    Metadata,
    /// `list-activity-logs`.
    Activity,
    /// `balance-history`.
    Balance,
}

impl ScenarioKind {
    /// True when the operation makes payments whose money arrives.
    const fn pays(self) -> bool {
        matches!(self, ScenarioKind::Initiate | ScenarioKind::Flow | ScenarioKind::Checkout | ScenarioKind::Capture)
    }

    /// True when the operation adds entries to the activity log or to the ledger.
    const fn adds_entries(self) -> bool {
        self.pays() || matches!(self, ScenarioKind::Void | ScenarioKind::Refund | ScenarioKind::Payout)
    }

    /// True when the operation uses payment sessions, which only an installation makes.
    const fn uses_sessions(self) -> bool {
        self.pays() || matches!(self, ScenarioKind::Void | ScenarioKind::Refund)
    }
}

impl fmt::Display for ScenarioKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.to_possible_value().expect("no kind is hidden").get_name())
    }
}

/// The operations that a run repeats: kinds with their weights, each kind once, each weight above 0. Written as
/// `initiate=5,metadata=3`, or as the kind alone when there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Scenario(Vec<(ScenarioKind, u32)>);

impl Default for Scenario {
    fn default() -> Scenario {
        ScenarioKind::Ping.into()
    }
}

impl From<ScenarioKind> for Scenario {
    fn from(kind: ScenarioKind) -> Scenario {
        Scenario(vec![(kind, 1)])
    }
}

impl Scenario {
    /// The name of the subcommand.
    #[must_use]
    pub fn word(&self) -> String {
        if let [(kind, _)] = self.0.as_slice() { kind.to_string() } else { "mixed".to_owned() }
    }

    /// True when the scenario has this kind.
    #[must_use]
    pub fn has(&self, kind: ScenarioKind) -> bool {
        self.any(|known| known == kind)
    }

    /// True when the scenario makes payments whose money arrives.
    #[must_use]
    pub fn pays(&self) -> bool {
        self.any(ScenarioKind::pays)
    }

    /// True when the balances of merchants are checked against acknowledged operations: money arrives, or is paid out.
    #[must_use]
    pub fn moves_money(&self) -> bool {
        self.pays() || self.has(ScenarioKind::Payout)
    }

    /// True when the run adds entries of the activity log or of the ledger to those that were made beforehand.
    #[must_use]
    pub fn adds_entries(&self) -> bool {
        self.any(ScenarioKind::adds_entries)
    }

    /// True when the run uses payment sessions, which only an installation makes.
    #[must_use]
    pub fn uses_sessions(&self) -> bool {
        self.any(ScenarioKind::uses_sessions)
    }

    fn any(&self, is_of: impl Fn(ScenarioKind) -> bool) -> bool {
        self.0.iter().any(|(kind, _)| is_of(*kind))
    }

    /// The kind of a number below the sum of all weights, weight by weight.
    #[must_use]
    pub fn kind_of(&self, number: u64) -> ScenarioKind {
        let mut left = number % self.sum();
        for (kind, weight) in &self.0 {
            match left.checked_sub(u64::from(*weight)) {
                Some(rest) => left = rest,
                None => return *kind,
            }
        }
        self.0[0].0
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|(_, weight)| u64::from(*weight)).sum()
    }

    /// The share of a kind.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "weights are small numbers")]
    pub fn share(&self, kind: ScenarioKind) -> f64 {
        let weight = self.0.iter().find(|(known, _)| *known == kind).map_or(0, |(_, weight)| *weight);
        f64::from(weight) / self.sum() as f64
    }
}

impl FromStr for Scenario {
    type Err = String;

    fn from_str(text: &str) -> Result<Scenario, String> {
        let mut weights: Vec<(ScenarioKind, u32)> = Vec::new();
        for part in text.split(',') {
            let (word, weight) = part.split_once('=').ok_or_else(|| format!("{part}: write KIND=WEIGHT"))?;
            let kind = kind(word)?;
            let weight = weight.parse::<u32>().ok().filter(|weight| (1..=1_000_000).contains(weight));
            let weight = weight.ok_or_else(|| format!("{part}: a weight is a whole number above 0"))?;
            if weights.iter().any(|(known, _)| *known == kind) {
                return Err(format!("{word}: is there twice"));
            }
            weights.push((kind, weight));
        }
        Ok(Scenario(weights))
    }
}

fn kind(word: &str) -> Result<ScenarioKind, String> {
    let all = || ScenarioKind::value_variants().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    ScenarioKind::from_str(word, false).map_err(|_| format!("{word}: is none of {}", all()))
}

impl TryFrom<String> for Scenario {
    type Error = String;

    fn try_from(text: String) -> Result<Scenario, String> {
        if text.contains('=') { text.parse() } else { kind(&text).map(Scenario::from) }
    }
}

impl From<Scenario> for String {
    fn from(scenario: Scenario) -> String {
        match scenario.0.as_slice() {
            [(kind, _)] => kind.to_string(),
            kinds => kinds.iter().map(|(kind, weight)| format!("{kind}={weight}")).collect::<Vec<_>>().join(","),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_and_written_and_determine_the_shares() {
        let weights: Scenario = "initiate=5,metadata=3".parse().unwrap_or_else(|error: String| panic!("{error}"));
        assert_eq!(String::from(weights.clone()), "initiate=5,metadata=3");
        let drawn: Vec<ScenarioKind> = (0..16).map(|number| weights.kind_of(number)).collect();
        assert_eq!(drawn.iter().filter(|kind| **kind == ScenarioKind::Initiate).count(), 10);
        assert_eq!(drawn.iter().filter(|kind| **kind == ScenarioKind::Metadata).count(), 6);
        assert!(
            (weights.share(ScenarioKind::Metadata) - 0.375).abs() < 1e-9
                && weights.share(ScenarioKind::Flow).abs() < 1e-9
        );
    }

    #[test]
    fn a_report_names_a_single_kind_without_a_weight() {
        let flow = Scenario::from(ScenarioKind::Flow);
        assert_eq!((String::from(flow.clone()), flow.word()), ("flow".to_owned(), "flow".to_owned()));
        assert_eq!(Scenario::try_from("flow".to_owned()), Ok(flow));
    }

    #[test]
    fn weights_that_make_no_sense_are_refused() {
        for text in ["", "initiate", "initiate=0", "initiate=-1", "other=1", "flow=1,flow=2"] {
            assert!(text.parse::<Scenario>().is_err(), "{text}");
        }
    }
}
