//! The choice of the next merchant.

use super::dice::SeededDice;
use crate::plan::Skew;

/// A distribution of calls over merchants.
#[derive(Debug, Clone)]
pub(crate) struct Distribution {
    /// The cumulative share of each merchant, with those of all merchants before it; the last is 1.
    up_to: Vec<f64>,
}

impl Distribution {
    /// The distribution of a skew over `count` merchants, of which there is at least one.
    pub(crate) fn new(skew: Skew, count: usize) -> Distribution {
        let weights: Vec<f64> = (0..count).map(|index| weight(skew, index, count)).collect();
        let sum: f64 = weights.iter().sum();
        let mut so_far = 0.0;
        let running = weights.iter().map(|weight| {
            so_far += weight / sum;
            so_far
        });
        Distribution { up_to: running.collect() }
    }

    /// The index of the next merchant.
    pub(crate) fn draw(&self, dice: &mut SeededDice) -> usize {
        if self.up_to.len() == 1 {
            return 0;
        }
        let share = dice.share();
        // The last may be a little below 1, since shares are rounded.
        self.up_to.partition_point(|up_to| *up_to <= share).min(self.up_to.len() - 1)
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are few merchants")]
fn weight(skew: Skew, index: usize, count: usize) -> f64 {
    match skew {
        Skew::Uniform => 1.0,
        Skew::Zipf(exponent) => (index as f64 + 1.0).powf(-exponent),
        Skew::Hot(_) if count == 1 => 1.0,
        Skew::Hot(share) if index == 0 => share,
        Skew::Hot(share) => (1.0 - share) / (count as f64 - 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of times that each merchant is drawn in 100,000 draws.
    fn shares_drawn(skew: Skew, count: usize) -> Vec<f64> {
        let (distribution, mut dice) = (Distribution::new(skew, count), SeededDice::new(7));
        let mut times = vec![0.0; count];
        (0..100_000).for_each(|_| times[distribution.draw(&mut dice)] += 1.0 / 100_000.0);
        times
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.01, "{found} is not about {expected}");
    }

    #[test]
    fn uniform_gives_each_the_same() {
        shares_drawn(Skew::Uniform, 4).into_iter().for_each(|share| assert_near(share, 0.25));
    }

    #[test]
    fn zipf_gives_the_nth_a_share_of_one_by_n_to_the_exponent() {
        let shares = shares_drawn(Skew::Zipf(1.0), 4);
        let sum = 1.0 + 0.5 + 1.0 / 3.0 + 0.25;
        for (index, weight) in [1.0, 0.5, 1.0 / 3.0, 0.25].into_iter().enumerate() {
            assert_near(shares[index], weight / sum);
        }
        shares_drawn(Skew::Zipf(0.0), 4).into_iter().for_each(|share| assert_near(share, 0.25));
    }

    #[test]
    fn hot_gives_the_first_its_share_and_the_others_the_rest() {
        let shares = shares_drawn(Skew::Hot(0.8), 5);
        assert_near(shares[0], 0.8);
        shares[1..].iter().for_each(|share| assert_near(*share, 0.05));
        assert_near(shares_drawn(Skew::Hot(1.0), 3)[0], 1.0);
        assert_near(shares_drawn(Skew::Hot(0.3), 1)[0], 1.0);
    }
}
