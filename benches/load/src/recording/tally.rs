//! The counts of a run.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

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
    /// The wrong answers, with those of the warm-up.
    pub(crate) wrong: Wrong,
    /// The objects that were answered, with those of the warm-up.
    made: HashSet<(MadeObject, [u8; 16])>,
    /// The number of payments among them.
    pub(crate) payments: u64,
    /// The amount of these payments, in minor units.
    pub(crate) paid_minor: u64,
    /// The amount of all refunds and payouts, with those that failed calls may have made, in minor units.
    pub(crate) given_minor: u64,
    /// The number of all failures, with those of the warm-up: a payment without an answer may have been made.
    pub(crate) uncertain: u64,
    /// The payments that asked their customers, with those of the warm-up.
    pub(crate) customers: CustomerCounts,
    /// The time at which the last customer had paid.
    pub(crate) last_customer: Option<Instant>,
}

/// The number of payments that asked their customers to act.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerCounts {
    /// Payments whose customers were asked.
    pub asked: u64,
    /// Payments that were successful after their customers had acted.
    pub completed: u64,
}

/// An object that a call makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum MadeObject {
    /// A payment whose money arrives.
    Payment,
    /// A refund.
    Refund,
    /// A payout.
    Payout,
}

/// Wrong answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrong {
    /// The number of wrong answers.
    pub count: u64,
    /// Examples of wrong answers.
    pub examples: Vec<String>,
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
            wrong: Wrong::default(),
            made: HashSet::new(),
            payments: 0,
            paid_minor: 0,
            given_minor: 0,
            uncertain: 0,
            customers: CustomerCounts::default(),
            last_customer: None,
        }
    }

    pub(crate) fn add_wrong(&mut self, example: String) {
        self.wrong.count += 1;
        if self.wrong.examples.len() < EXAMPLES_MAX {
            self.wrong.examples.push(example);
        }
    }

    /// Records an object with its amount, and returns true when it was not known before.
    pub(super) fn add_made(&mut self, object: MadeObject, id: [u8; 16], amount_minor: u64) -> bool {
        let is_new = self.made.insert((object, id));
        if is_new && object == MadeObject::Payment {
            self.payments += 1;
            self.paid_minor += amount_minor;
        } else if is_new {
            self.given_minor += amount_minor;
        }
        is_new
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
        self.wrong.count += other.wrong.count;
        self.wrong.examples.extend(other.wrong.examples);
        self.wrong.examples.truncate(EXAMPLES_MAX);
        for made in other.made {
            if !self.made.insert(made) {
                let object = format!("{:?}", made.0).to_lowercase();
                self.add_wrong(format!("a {object} id was answered twice, on different connections"));
            }
        }
        self.payments += other.payments;
        self.paid_minor += other.paid_minor;
        self.given_minor += other.given_minor;
        self.uncertain += other.uncertain;
        self.customers.asked += other.customers.asked;
        self.customers.completed += other.customers.completed;
        self.last_customer = self.last_customer.max(other.last_customer);
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
        assert_eq!((counts, first.wrong.count), (vec![2, 1], 1));
    }

    #[test]
    fn an_id_that_two_threads_were_answered_is_wrong() {
        let (mut first, mut second) = (RunTally::new(), RunTally::new());
        for object in [MadeObject::Payment, MadeObject::Refund, MadeObject::Payout] {
            assert!(first.add_made(object, [1; 16], 5) && second.add_made(object, [1; 16], 5));
            assert!(second.add_made(object, [2; 16], 5));
        }
        first.merge(second);
        assert_eq!((first.wrong.count, first.made.len()), (3, 6));
        assert_eq!(first.wrong.examples[0].split(' ').nth(2), Some("id"));
    }
}
