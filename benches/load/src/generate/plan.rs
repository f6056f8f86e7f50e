//! The size and the contents of the store that is to be generated.

use clap::Args;

use crate::plan::parse_share;

/// The size and the contents of the store that is to be generated.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
pub struct GenerationPlan {
    /// Merchants
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub merchants: u64,
    /// Payments of all merchants
    #[arg(long)]
    pub payments: u64,
    /// The share of the payments that the first merchant has; the others have the rest in equal parts
    #[arg(long, default_value_t = 0.5, value_parser = parse_share)]
    pub hot_share: f64,
    /// Changes of the team and the plan for each payment, from 0 to 1
    #[arg(long, default_value_t = 0.01, value_parser = parse_share)]
    pub team_share: f64,
    /// The days up to now over which everything is spread
    #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u64).range(1..=3_650))]
    pub days: u64,
}

impl GenerationPlan {
    /// The payments of a merchant by its number.
    #[must_use]
    pub fn payments_of(&self, number: u64) -> u64 {
        let hot = part_of(self.hot_share, self.payments).min(self.payments);
        match self.merchants.saturating_sub(1) {
            0 => self.payments,
            _ if number == 0 => hot,
            others => {
                let rest = self.payments.saturating_sub(hot);
                rest / others + u64::from(number <= rest % others)
            }
        }
    }

    /// The changes of the team and the plan that go with a merchant's payment by its number.
    #[must_use]
    pub fn changes_of(&self, payment: u64) -> u64 {
        part_of(self.team_share, payment + 1) - part_of(self.team_share, payment)
    }
}

/// A share of a count. It never falls when the count grows.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is from 0 to 1")]
fn part_of(share: f64, count: u64) -> u64 {
    (share * count as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(merchants: u64, payments: u64, hot_share: f64, team_share: f64) -> GenerationPlan {
        GenerationPlan { merchants, payments, hot_share, team_share, days: 1 }
    }

    #[test]
    fn the_changes_of_all_payments_add_up_to_their_share() {
        for (share, changes) in [(0.0, 0), (0.0001, 1), (0.3333, 3_335), (0.7, 7_005), (1.0, 10_007)] {
            let plan = plan(1, 10_007, 0.5, share);
            assert_eq!((0..10_007).map(|payment| plan.changes_of(payment)).sum::<u64>(), changes, "{share}");
        }
    }

    #[test]
    fn the_payments_of_all_merchants_come_to_those_of_the_plan() {
        for (merchants, payments, hot) in [(1, 10, 0.5), (4, 12, 0.5), (3, 0, 1.0), (7, 1_000, 0.0001)] {
            let plan = plan(merchants, payments, hot, 0.0);
            let each: Vec<u64> = (0..merchants).map(|number| plan.payments_of(number)).collect();
            assert_eq!(each.iter().sum::<u64>(), payments, "{each:?}");
            assert!(merchants == 1 || each[0] == part_of(hot, payments), "{each:?}");
            let (fewest, most) = (each[1..].iter().min(), each[1..].iter().max());
            assert!(most.zip(fewest).is_none_or(|(most, fewest)| most - fewest <= 1), "{each:?}");
        }
    }
}
