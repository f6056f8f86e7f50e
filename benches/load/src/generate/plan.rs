//! The size and the contents of the store that is to be generated.

use std::fmt;
use std::str::FromStr;

/// The parts that a share counts in: it has at most four decimal places.
const WHOLE: u64 = 10_000;
/// The most decimal places of a share.
const PLACES: usize = 4;

/// The size and the contents of the store that is to be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GenerationPlan {
    /// Merchants.
    pub merchants: u64,
    /// Payments of all merchants.
    pub payments: u64,
    /// The share of the payments that the first merchant has; the others have the rest in equal parts.
    pub hot_share: Share,
    /// Changes of the team and the plan, for each payment.
    pub team_share: Share,
    /// The days up to now over which everything is spread.
    pub days: u64,
}

impl GenerationPlan {
    /// The payments of a merchant by its number.
    #[must_use]
    pub fn payments_of(&self, number: u64) -> u64 {
        let hot = self.hot_share.of(self.payments).min(self.payments);
        match self.merchants.saturating_sub(1) {
            0 => self.payments,
            _ if number == 0 => hot,
            others => {
                let rest = self.payments.saturating_sub(hot);
                rest / others + u64::from(number <= rest % others)
            }
        }
    }
}

/// A share of something, such as 0.5, exact to four places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u64);

impl Share {
    /// This share of a count, rounded down.
    #[must_use]
    pub fn of(self, count: u64) -> u64 {
        let share = u128::from(count) * u128::from(self.0) / u128::from(WHOLE);
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    /// The part of the share that falls to the item with this index. The parts of all items add up to the share.
    #[must_use]
    pub fn at(self, index: u64) -> u64 {
        self.of(index.saturating_add(1)).saturating_sub(self.of(index))
    }
}

/// The reason that a text is not a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a number from 0 to 1 with at most {PLACES} places, such as 0.5")]
pub struct NoShare;

impl FromStr for Share {
    type Err = NoShare;

    fn from_str(text: &str) -> Result<Share, NoShare> {
        let (whole, places) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(places) || places.len() > PLACES {
            return Err(NoShare);
        }
        let number = |text: &str| text.parse::<u64>().map_err(|_| NoShare);
        let places = number(&format!("{places:0<PLACES$}"))?;
        let share = number(whole)?.checked_mul(WHOLE).and_then(|whole| whole.checked_add(places));
        share.filter(|share| *share <= WHOLE).map(Share).ok_or(NoShare)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:04}", self.0 / WHOLE, self.0 % WHOLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(text: &str) -> Share {
        text.parse().expect("a share of a test")
    }

    #[test]
    fn a_share_is_read_to_four_places_and_nothing_else_is_one() {
        for (text, of_a_million) in
            [("0", 0), ("1", 1_000_000), ("0.5", 500_000), ("0.0001", 100), ("1.0000", 1_000_000)]
        {
            assert_eq!(share(text).of(1_000_000), of_a_million, "{text}");
        }
        for text in ["", ".", "1.", ".5", "1.0001", "2", "-1", "0.00001", "half", "0,5", "+1"] {
            assert_eq!(text.parse::<Share>(), Err(NoShare), "{text:?}");
        }
    }

    #[test]
    fn the_parts_of_all_items_add_up_to_the_share() {
        for text in ["0", "0.0001", "0.3333", "0.7", "1"] {
            let all: u64 = (0..10_007).map(|index| share(text).at(index)).sum();
            assert_eq!(all, share(text).of(10_007), "{text}");
        }
    }

    #[test]
    fn the_payments_of_all_merchants_come_to_those_of_the_plan() {
        for (merchants, payments, hot) in [(1, 10, "0.5"), (4, 11, "0.5"), (3, 0, "1"), (7, 1_000, "0.0001")] {
            let plan = GenerationPlan { merchants, payments, hot_share: share(hot), team_share: share("0"), days: 1 };
            let each: Vec<u64> = (0..merchants).map(|number| plan.payments_of(number)).collect();
            assert_eq!(each.iter().sum::<u64>(), payments, "{each:?}");
            assert!(merchants == 1 || each[0] == share(hot).of(payments), "{each:?}");
            let (fewest, most) = (each[1..].iter().min(), each[1..].iter().max());
            assert!(most.zip(fewest).is_none_or(|(most, fewest)| most - fewest <= 1), "{each:?}");
        }
    }
}
