//! The search for the highest rate that meets a goal: the rate is doubled until it misses the goal, then the gap
//! between passed and failed rates is halved until it is small, and the result is confirmed.

/// The largest ratio of the lowest rate that failed to the highest that passed at the end of a search.
const GAP_MAX: f64 = 1.05;

/// The number of equal results after which a rate counts as passed or failed. One pass is enough while the rate is
/// doubled: the next rate corrects a pass by chance, but a failure by chance would keep the whole search below the
/// rate.
const AGREEING: u32 = 2;

/// The factor by which a rate is lowered that could not be confirmed.
const STEP_DOWN: f64 = 1.05;

/// The lowest rate that is tried, in calls a second.
const RATE_MIN: f64 = 1.0;

/// The most tries: enough to go from the lowest rate to ten million and back.
pub(super) const TRIES_MAX: usize = 80;

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Next {
    /// Try this rate, in calls a second.
    Try(f64),
    /// The highest rate that passes; None when no rate passes.
    Found(Option<f64>),
}

/// The phase of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// No rate has failed yet, or none has passed yet.
    Bracket,
    /// The highest rate that passes is between a passed and a failed rate.
    Bisect,
    /// The gap is small; the rate below it must pass again.
    Confirm,
}

/// A search. Its caller tries the rates that [`Search::next`] names, and records the results.
#[derive(Debug, Clone)]
pub(super) struct Search {
    phase: Phase,
    rate: f64,
    passed: Option<f64>,
    failed: Option<f64>,
    /// Tries of this rate that passed and that failed.
    votes: (u32, u32),
    tries: usize,
}

impl Search {
    /// A search that begins with this rate.
    pub(super) fn new(first_rate: f64) -> Search {
        let rate = first_rate.max(RATE_MIN);
        Search { phase: Phase::Bracket, rate, passed: None, failed: None, votes: (0, 0), tries: 0 }
    }

    /// The next step.
    pub(super) fn next(&self) -> Next {
        let is_hopeless = self.failed.is_some_and(|failed| failed <= RATE_MIN);
        let is_confirmed = self.phase == Phase::Confirm && self.votes.0 >= AGREEING;
        if is_hopeless {
            Next::Found(None)
        } else if is_confirmed || self.tries >= TRIES_MAX {
            Next::Found(self.passed)
        } else {
            Next::Try(self.rate)
        }
    }

    /// Records the result of the rate that was to be tried.
    pub(super) fn record(&mut self, has_passed: bool) {
        self.tries += 1;
        match self.phase {
            Phase::Bracket if has_passed => self.decide(true),
            Phase::Bracket | Phase::Bisect | Phase::Confirm => {
                *if has_passed { &mut self.votes.0 } else { &mut self.votes.1 } += 1;
                if self.votes.1 >= AGREEING {
                    self.decide(false);
                } else if self.votes.0 >= AGREEING && self.phase == Phase::Bisect {
                    self.decide(true);
                }
            }
        }
    }

    fn decide(&mut self, has_passed: bool) {
        *if has_passed { &mut self.passed } else { &mut self.failed } = Some(self.rate);
        self.votes = (0, 0);
        if self.phase == Phase::Confirm {
            self.rate = (self.rate / STEP_DOWN).max(RATE_MIN);
            self.passed = Some(self.rate);
            return;
        }
        (self.phase, self.rate) = match (self.passed, self.failed) {
            (Some(passed), None) => (Phase::Bracket, passed * 2.0),
            (None, Some(failed)) => (Phase::Bracket, (failed / 2.0).max(RATE_MIN)),
            (Some(passed), Some(failed)) if failed / passed <= GAP_MAX => (Phase::Confirm, passed),
            (Some(passed), Some(failed)) => (Phase::Bisect, (passed * failed).sqrt()),
            (None, None) => (Phase::Bracket, self.rate),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::SeededDice;

    /// The 99th percentile of a model server, that of a queue: it grows without bound towards the server's capacity.
    fn p99_millis(rate: f64, capacity: f64) -> f64 {
        if rate >= capacity { f64::INFINITY } else { 2.0 / (1.0 - rate / capacity) }
    }

    /// The rate that a search finds when each try deviates from the model by up to `noise`.
    fn found_rate(first_rate: f64, capacity: f64, noise: f64, dice: &mut SeededDice) -> Option<f64> {
        searched(first_rate, capacity, noise, dice).0
    }

    /// The same, and how many tries it took.
    fn searched(first_rate: f64, capacity: f64, noise: f64, dice: &mut SeededDice) -> (Option<f64>, usize) {
        let mut search = Search::new(first_rate);
        loop {
            match search.next() {
                Next::Found(rate) => return (rate, search.tries),
                Next::Try(rate) => {
                    let seen = p99_millis(rate, capacity) * (1.0 + noise * (2.0 * dice.share() - 1.0));
                    search.record(seen < 20.0);
                }
            }
        }
    }

    #[test]
    fn the_border_is_found_from_below_and_from_above() {
        // 2 / (1 - r) < 20 holds up to 0.9 of the capacity.
        for (first_rate, capacity) in [(100.0, 10_000.0), (1_000_000.0, 10_000.0), (9_000.0, 10_000.0), (1.0, 50.0)] {
            let rate = found_rate(first_rate, capacity, 0.0, &mut SeededDice::new(1)).unwrap_or_default();
            let share = rate / (0.9 * capacity);
            assert!((0.95..=1.0).contains(&share), "{first_rate} {capacity}: {rate}");
        }
    }

    #[test]
    fn with_noise_results_are_within_ten_percent_of_each_other() {
        let mut dice = SeededDice::new(3);
        let rates: Vec<f64> = (0..200).filter_map(|_| found_rate(200.0, 10_000.0, 0.3, &mut dice)).collect();
        assert_eq!(rates.len(), 200);
        let (least, most) =
            rates.iter().fold((f64::MAX, 0.0_f64), |(least, most), rate| (least.min(*rate), most.max(*rate)));
        assert!(most / least < 1.1, "{least} to {most}");
    }

    #[test]
    fn a_search_usually_takes_a_third_of_its_tries_or_less() {
        let mut dice = SeededDice::new(5);
        let usual = (0..200).filter(|_| searched(200.0, 10_000.0, 0.3, &mut dice).1 <= TRIES_MAX / 3).count();
        assert!(usual >= 150, "{usual} of 200");
    }

    #[test]
    fn a_server_that_meets_the_goal_at_no_rate_has_no_result() {
        assert_eq!(found_rate(1000.0, 0.5, 0.0, &mut SeededDice::new(1)), None);
    }

    #[test]
    fn a_single_failure_while_doubling_is_not_believed() {
        let mut search = Search::new(100.0);
        search.record(false);
        assert_eq!(search.next(), Next::Try(100.0));
        search.record(true);
        assert_eq!(search.next(), Next::Try(200.0));
    }

    #[test]
    fn a_rate_that_cannot_be_confirmed_is_not_the_result() {
        let mut search = Search::new(100.0);
        for has_passed in [true, false, false] {
            search.record(has_passed);
        }
        while search.phase == Phase::Bisect {
            search.record(true);
        }
        let Next::Try(doubted) = search.next() else { panic!("it is to be confirmed") };
        search.record(false);
        search.record(false);
        assert!(matches!(search.next(), Next::Try(rate) if rate < doubted));
    }
}
