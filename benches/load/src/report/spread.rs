//! The spread of several runs of the same program, and the conclusions that it allows.

use std::fmt;

/// The ranges of two equal programs may be apart so often, by chance alone, for a difference to count as shown.
const CHANCE_MAX: f64 = 0.05;

/// One figure of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    /// The middle one; the mean of the two in the middle when their number is even.
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    /// The number of runs.
    pub(super) runs: usize,
}

/// The conclusion from a figure of two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    /// The ranges of both sides overlap.
    NoDifference,
    /// The ranges are apart, and would be by chance too often.
    TooFewRuns,
    /// The ranges are apart.
    Different,
}

impl Spread {
    /// That of these figures, of which there is at least one.
    pub(super) fn of(figures: impl IntoIterator<Item = f64>) -> Spread {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let (least, most) = (figures.first(), figures.last());
        let (least, most) = (*least.expect("there is a run"), *most.expect("there is a run"));
        let (lower, upper) = (figures[(figures.len() - 1) / 2], figures[figures.len() / 2]);
        Spread { median: f64::midpoint(lower, upper), least, most, runs: figures.len() }
    }

    fn overlaps(self, other: Spread) -> bool {
        self.least <= other.most && other.least <= self.most
    }
}

impl Finding {
    /// The conclusion from two sides.
    pub(super) fn of(before: Spread, after: Spread) -> Finding {
        if before.overlaps(after) {
            Finding::NoDifference
        } else if chance(before.runs, after.runs) > CHANCE_MAX {
            Finding::TooFewRuns
        } else {
            Finding::Different
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Finding::NoDifference => "no difference shown",
            Finding::TooFewRuns => "too few runs to tell",
            Finding::Different => "different",
        })
    }
}

/// The probability that the ranges of so many runs of equal programs do not overlap: when the smallest figures, or the
/// greatest, are all those of one side. Of all orders in which the two sides can come, these are two.
#[expect(clippy::cast_precision_loss, reason = "there are few runs")]
pub(super) fn chance(first: usize, second: usize) -> f64 {
    let orders = (1..=first).map(|index| (second + index) as f64 / index as f64).product::<f64>();
    2.0 / orders
}

/// The sentence about the number of runs, when there are too few.
pub(super) fn too_few_runs(first: usize, second: usize) -> Option<String> {
    (chance(first, second) > CHANCE_MAX).then(|| {
        format!(
            "TOO FEW RUNS: with {first} and {second} runs of the same program, ranges are apart in {:.0} % of all \
                cases, by chance alone. Give several of each, made in turns: till-bench compare \
                A1.json,A2.json,A3.json,A4.json B1.json,B2.json,B3.json,B4.json",
            chance(first, second) * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_figures_have_a_median_and_a_range() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Spread { median: 2.0, least: 1.0, most: 3.0, runs: 3 });
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 3.0]).median, 2.5);
        assert_eq!(Spread::of([7.0]), Spread { median: 7.0, least: 7.0, most: 7.0, runs: 1 });
    }

    #[test]
    fn only_ranges_that_do_not_overlap_show_a_difference() {
        let finding = |before: &[f64], after: &[f64]| {
            Finding::of(Spread::of(before.iter().copied()), Spread::of(after.iter().copied()))
        };
        assert_eq!(finding(&[100.0], &[126.0]), Finding::TooFewRuns);
        assert_eq!(finding(&[1.0, 2.0, 3.0, 4.0], &[4.0, 5.0, 6.0, 7.0]), Finding::NoDifference);
        assert_eq!(finding(&[1.0, 9.0], &[4.0, 5.0]), Finding::NoDifference, "one within the other");
        assert_eq!(finding(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), Finding::TooFewRuns);
        assert_eq!(finding(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]), Finding::Different);
        assert_eq!(finding(&[5.0, 6.0, 7.0, 8.0], &[1.0, 2.0, 3.0, 4.0]), Finding::Different);
    }

    #[test]
    fn fewer_runs_are_apart_by_chance_more_often() {
        let percent = |first, second| (chance(first, second) * 1_000.0).round() / 10.0;
        assert_eq!((percent(2, 2), percent(3, 3), percent(4, 4), percent(1, 9)), (33.3, 10.0, 2.9, 20.0));
        assert!(too_few_runs(1, 1).is_some_and(|told| told.contains("apart in 100 % of all cases")));
        assert!(too_few_runs(2, 2).is_some_and(|told| told.contains("apart in 33 % of all cases")));
        assert_eq!(too_few_runs(4, 4), None);
    }
}
