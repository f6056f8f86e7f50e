//! The scenarios: the calls that a run repeats.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A kind of operation, which a scenario repeats or `mixed` mixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScenarioKind {
    /// `get-balance`: the cheapest call with a key.
    Ping,
    /// `initiate-payment-flow` with sessions made beforehand.
    Initiate,
    /// From the card to the settled ledger entry.
    Flow,
    /// `capture-payment`, of all that is authorized or of a part.
    Capture,
    /// `void-payment`.
    Void,
    /// `refund-payment`, in parts.
    Refund,
    /// `send-payout`.
    Payout,
    /// `add-to-metadata-set`.
    Metadata,
    /// `list-activity-logs`.
    Activity,
    /// `balance-history`.
    Balance,
}

impl ScenarioKind {
    /// All kinds.
    pub const ALL: [ScenarioKind; 10] = [
        ScenarioKind::Ping,
        ScenarioKind::Initiate,
        ScenarioKind::Flow,
        ScenarioKind::Capture,
        ScenarioKind::Void,
        ScenarioKind::Refund,
        ScenarioKind::Payout,
        ScenarioKind::Metadata,
        ScenarioKind::Activity,
        ScenarioKind::Balance,
    ];

    /// Its name on the command line and in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            ScenarioKind::Ping => "ping",
            ScenarioKind::Initiate => "initiate",
            ScenarioKind::Flow => "flow",
            ScenarioKind::Capture => "capture",
            ScenarioKind::Void => "void",
            ScenarioKind::Refund => "refund",
            ScenarioKind::Payout => "payout",
            ScenarioKind::Metadata => "metadata",
            ScenarioKind::Activity => "activity",
            ScenarioKind::Balance => "balance",
        }
    }

    /// True when the operation makes payments whose money arrives.
    #[must_use]
    pub const fn pays(self) -> bool {
        match self {
            ScenarioKind::Initiate | ScenarioKind::Flow | ScenarioKind::Capture => true,
            ScenarioKind::Ping
            | ScenarioKind::Void
            | ScenarioKind::Refund
            | ScenarioKind::Payout
            | ScenarioKind::Metadata
            | ScenarioKind::Activity
            | ScenarioKind::Balance => false,
        }
    }

    /// True when the operation adds entries to the activity log or to the ledger.
    #[must_use]
    pub const fn adds_entries(self) -> bool {
        match self {
            ScenarioKind::Initiate
            | ScenarioKind::Flow
            | ScenarioKind::Capture
            | ScenarioKind::Void
            | ScenarioKind::Refund
            | ScenarioKind::Payout => true,
            ScenarioKind::Ping | ScenarioKind::Metadata | ScenarioKind::Activity | ScenarioKind::Balance => false,
        }
    }
}

/// The operations that a run repeats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// The name of a kind, or `mixed`.
    pub word: String,
    /// The weight of each kind.
    pub weights: Weights,
}

impl Scenario {
    /// A scenario that repeats one kind.
    #[must_use]
    pub fn of(kind: ScenarioKind) -> Scenario {
        Scenario { word: kind.word().to_owned(), weights: Weights(vec![(kind, 1)]) }
    }

    /// A scenario of several kinds by weight.
    #[must_use]
    pub fn mixed(weights: Weights) -> Scenario {
        Scenario { word: "mixed".to_owned(), weights }
    }

    /// True when the scenario has this kind.
    #[must_use]
    pub fn has(&self, kind: ScenarioKind) -> bool {
        self.weights.0.iter().any(|(known, _)| *known == kind)
    }

    /// True when the scenario makes payments whose money arrives.
    #[must_use]
    pub fn pays(&self) -> bool {
        self.weights.0.iter().any(|(kind, _)| kind.pays())
    }

    /// True when the balances of merchants are checked against acknowledged operations: money arrives, or is paid out.
    #[must_use]
    pub fn moves_money(&self) -> bool {
        self.pays() || self.has(ScenarioKind::Payout)
    }

    /// True when the run adds entries of the activity log or of the ledger to those that were made beforehand.
    #[must_use]
    pub fn adds_entries(&self) -> bool {
        self.weights.0.iter().any(|(kind, _)| kind.adds_entries())
    }
}

/// Kinds with their weights, each kind once, each weight above 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weights(pub Vec<(ScenarioKind, u32)>);

impl Weights {
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

    /// The sum of all weights.
    #[must_use]
    pub fn sum(&self) -> u64 {
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

impl FromStr for Weights {
    type Err = String;

    fn from_str(text: &str) -> Result<Weights, String> {
        let mut weights: Vec<(ScenarioKind, u32)> = Vec::new();
        for part in text.split(',') {
            let (word, weight) = part.split_once('=').ok_or_else(|| format!("{part}: write KIND=WEIGHT"))?;
            let kind =
                ScenarioKind::ALL.into_iter().find(|kind| kind.word() == word).ok_or_else(|| unknown_kind(word))?;
            let weight = weight.parse::<u32>().ok().filter(|weight| (1..=1_000_000).contains(weight));
            let weight = weight.ok_or_else(|| format!("{part}: a weight is a whole number above 0"))?;
            if weights.iter().any(|(known, _)| *known == kind) {
                return Err(format!("{word}: is there twice"));
            }
            weights.push((kind, weight));
        }
        Ok(Weights(weights))
    }
}

fn unknown_kind(word: &str) -> String {
    format!("{word}: is none of {}", ScenarioKind::ALL.map(ScenarioKind::word).join(", "))
}

impl fmt::Display for Weights {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|(kind, weight)| format!("{}={weight}", kind.word())).collect();
        formatter.write_str(&parts.join(","))
    }
}

/// The filter of `list-activity-logs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// No filter.
    None,
    /// `activity_type`: `payment_captured`, which all entries are.
    ActivityType,
    /// `object_id`: one payment, and so one entry.
    ObjectId,
    /// `created_at`: from yesterday on, which matches all entries.
    CreatedAt,
    /// `terms`: the whole id of one payment.
    Terms,
    /// `activity_type` and `created_at` together.
    Combined,
}

impl Filter {
    /// The name of the filter in reports.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Filter::None => "no filter",
            Filter::ActivityType => "filtered by activity_type",
            Filter::ObjectId => "filtered by object_id",
            Filter::CreatedAt => "filtered by created_at",
            Filter::Terms => "filtered by terms",
            Filter::Combined => "filtered by activity_type and created_at",
        }
    }

    /// True when the filter matches only one entry.
    #[must_use]
    pub const fn selects_one(self) -> bool {
        match self {
            Filter::ObjectId | Filter::Terms => true,
            Filter::None | Filter::ActivityType | Filter::CreatedAt | Filter::Combined => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_and_written_and_determine_the_shares() {
        let weights: Weights = "initiate=5,metadata=3".parse().unwrap_or_else(|error: String| panic!("{error}"));
        assert_eq!(weights.to_string(), "initiate=5,metadata=3");
        let drawn: Vec<ScenarioKind> = (0..16).map(|number| weights.kind_of(number)).collect();
        assert_eq!(drawn.iter().filter(|kind| **kind == ScenarioKind::Initiate).count(), 10);
        assert_eq!(drawn.iter().filter(|kind| **kind == ScenarioKind::Metadata).count(), 6);
        assert!(
            (weights.share(ScenarioKind::Metadata) - 0.375).abs() < 1e-9
                && weights.share(ScenarioKind::Flow).abs() < 1e-9
        );
    }

    #[test]
    fn weights_that_make_no_sense_are_refused() {
        for text in ["", "initiate", "initiate=0", "initiate=-1", "other=1", "flow=1,flow=2"] {
            assert!(text.parse::<Weights>().is_err(), "{text}");
        }
    }
}
