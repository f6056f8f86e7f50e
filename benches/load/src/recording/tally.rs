//! The counts of a run.

use std::collections::{BTreeMap, HashSet};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::latency;
use super::step::MeasuredStep;

/// The most examples of wrong answers that are kept.
const EXAMPLES_MAX: usize = 10;

/// The counts of one thread, or of all threads together.
#[derive(Debug)]
pub(crate) struct RunTally {
    /// Latencies of all operations that succeeded.
    pub(crate) latencies: Histogram<u64>,
    /// Latencies of answers that refused the call.
    pub(crate) refused: Histogram<u64>,
    /// Latencies of all operations that succeeded, by step.
    pub(crate) steps: BTreeMap<MeasuredStep, Histogram<u64>>,
    /// Operations that failed, by code.
    pub(crate) failures: BTreeMap<String, FailureCount>,
    /// The number of wrong answers, with those of the warm-up.
    pub(crate) wrong: u64,
    /// Examples of wrong answers.
    pub(crate) examples: Vec<String>,
    /// The payments that were answered, with those of the warm-up.
    pub(crate) payments: HashSet<[u8; 16]>,
    /// The amount of these payments, in minor units.
    pub(crate) paid_minor: u64,
    /// The refunds that were answered, with those of the warm-up.
    pub(crate) refunds: HashSet<[u8; 16]>,
    /// The payouts that were answered, with those of the warm-up.
    pub(crate) payouts: HashSet<[u8; 16]>,
    /// The amount of all refunds and payouts, with those that failed calls may have made, in minor units.
    pub(crate) given_minor: u64,
    /// The number of all failures, with those of the warm-up: a payment without an answer may have been made.
    pub(crate) uncertain: u64,
}

/// Failures with one code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCount {
    /// The number of failures.
    pub count: u64,
    /// The answer to one of these calls.
    pub example: String,
}

impl RunTally {
    pub(crate) fn new() -> RunTally {
        RunTally {
            latencies: latency::of_a_run(),
            refused: latency::of_a_run(),
            steps: BTreeMap::new(),
            failures: BTreeMap::new(),
            wrong: 0,
            examples: Vec::new(),
            payments: HashSet::new(),
            paid_minor: 0,
            refunds: HashSet::new(),
            payouts: HashSet::new(),
            given_minor: 0,
            uncertain: 0,
        }
    }

    pub(crate) fn add_wrong(&mut self, example: String) {
        self.wrong += 1;
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(example);
        }
    }

    pub(super) fn add_failure(&mut self, code: String, example: String) {
        self.failures.entry(code).or_insert(FailureCount { count: 0, example }).count += 1;
    }

    /// Adds the counts of another thread. A payment that was answered to both is a wrong answer.
    pub(crate) fn merge(&mut self, other: RunTally) {
        self.latencies.add(&other.latencies).expect("all have the same bounds");
        self.refused.add(&other.refused).expect("all have the same bounds");
        for (step, histogram) in other.steps {
            let merged = self.steps.entry(step).or_insert_with(latency::of_a_run);
            merged.add(&histogram).expect("all have the same bounds");
        }
        for (code, FailureCount { count, example }) in other.failures {
            self.failures.entry(code).or_insert(FailureCount { count: 0, example }).count += count;
        }
        self.wrong += other.wrong;
        self.examples.extend(other.examples);
        self.examples.truncate(EXAMPLES_MAX);
        for payment in other.payments {
            if !self.payments.insert(payment) {
                self.add_wrong("a payment id was answered twice, on different connections".to_owned());
            }
        }
        self.paid_minor += other.paid_minor;
        for refund in other.refunds {
            if !self.refunds.insert(refund) {
                self.add_wrong("a refund id was answered twice, on different connections".to_owned());
            }
        }
        for payout in other.payouts {
            if !self.payouts.insert(payout) {
                self.add_wrong("a payout id was answered twice, on different connections".to_owned());
            }
        }
        self.given_minor += other.given_minor;
        self.uncertain += other.uncertain;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_added_up() {
        let (mut first, mut second) = (RunTally::new(), RunTally::new());
        first.add_failure("CONFLICT".to_owned(), "a".to_owned());
        second.add_failure("CONFLICT".to_owned(), "b".to_owned());
        second.add_failure("NOT_FOUND".to_owned(), "c".to_owned());
        second.add_wrong("d".to_owned());
        first.merge(second);
        let counts: Vec<u64> = first.failures.values().map(|failure| failure.count).collect();
        assert_eq!((counts, first.wrong), (vec![2, 1], 1));
    }

    #[test]
    fn an_id_that_two_threads_were_answered_is_wrong() {
        let (mut first, mut second) = (RunTally::new(), RunTally::new());
        first.payments.insert([1; 16]);
        second.payments.extend([[1; 16], [2; 16]]);
        first.refunds.insert([1; 16]);
        second.refunds.insert([1; 16]);
        first.payouts.insert([1; 16]);
        second.payouts.extend([[1; 16], [2; 16]]);
        first.merge(second);
        assert_eq!((first.wrong, first.payments.len(), first.refunds.len(), first.payouts.len()), (3, 2, 1, 2));
    }
}
