//! The order in which all merchants make their payments: rounds, each at one time, with a burst of some merchants.

use std::ops::Range;

use super::plan::GenerationPlan;

/// The approximate limit of payments in a round. The next round waits for the last of them.
const ROUND_PAYMENTS: u64 = 4_096;
/// The least number of rounds, and of the bursts of a merchant that has at least that number of payments.
const ROUNDS_MIN: u64 = 32;
/// Payments of a burst where a merchant has many. The actor of a merchant that trades seldom is loaded
/// again for each burst.
const BURST_PAYMENTS: u64 = 16;

/// The payments that a merchant makes in a round, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Burst {
    pub(super) merchant: usize,
    pub(super) payments: Range<u64>,
}

/// The bursts of each round. A merchant has at most one in a round, and its payments are in order over all rounds.
pub(super) fn rounds(plan: &GenerationPlan) -> Vec<Vec<Burst>> {
    let count = plan.payments.div_ceil(ROUND_PAYMENTS).max(ROUNDS_MIN);
    let mut rounds: Vec<Vec<Burst>> = (0..count).map(|_| Vec::new()).collect();
    for (merchant, number) in (0..plan.merchants).enumerate() {
        let payments = plan.payments_of(number);
        let bursts = (payments / BURST_PAYMENTS).max(ROUNDS_MIN).min(payments).min(count);
        for burst in 0..bursts {
            // The bursts of the merchants are staggered: each merchant begins a little later than the one before.
            let place = part(burst * plan.merchants + number, count, bursts * plan.merchants);
            let payments = part(burst, payments, bursts)..part(burst + 1, payments, bursts);
            if let Some(round) = usize::try_from(place).ok().and_then(|place| rounds.get_mut(place)) {
                round.push(Burst { merchant, payments });
            }
        }
    }
    rounds
}

/// `count * numerator / denominator`, rounded down.
fn part(numerator: u64, count: u64, denominator: u64) -> u64 {
    let part = u128::from(count) * u128::from(numerator) / u128::from(denominator.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(merchants: u64, payments: u64, hot_share: f64) -> GenerationPlan {
        GenerationPlan { merchants, payments, hot_share, team_share: 0.0, days: 1 }
    }

    #[test]
    fn every_payment_is_made_once_and_in_order() {
        for (merchants, payments, hot_share) in
            [(1, 100_000, 1.0), (3, 120, 0.5), (7, 3, 0.5), (500, 200_000, 0.5), (20, 40_000, 0.0), (2, 0, 0.0)]
        {
            let plan = plan(merchants, payments, hot_share);
            let mut made = vec![0; usize::try_from(merchants).expect("few")];
            for Burst { merchant, payments } in rounds(&plan).into_iter().flatten() {
                assert!(payments.start == made[merchant] && !payments.is_empty(), "{merchant}: {payments:?}");
                made[merchant] = payments.end;
            }
            let expected: Vec<u64> = (0..merchants).map(|number| plan.payments_of(number)).collect();
            assert_eq!(made, expected);
        }
    }

    #[test]
    fn rounds_are_similar_and_have_one_burst_of_a_merchant() {
        for (merchants, payments, hot_share) in [(1, 600_000, 1.0), (100, 600_000, 0.5), (5_000, 600_000, 0.0)] {
            for round in rounds(&plan(merchants, payments, hot_share)) {
                let count: u64 = round.iter().map(|burst| burst.payments.end - burst.payments.start).sum();
                assert!((2_000..8_000).contains(&count), "{merchants} merchants: {count}");
                assert!(round.is_sorted_by(|one, other| one.merchant < other.merchant));
            }
        }
    }
}
