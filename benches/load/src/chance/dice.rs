//! Pseudo-random numbers, cheap enough to be drawn for every call.

/// A generator that gives the same numbers for the same seed. Splitmix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub(crate) struct SeededDice(u64);

impl SeededDice {
    /// The generator of a seed.
    pub(crate) const fn new(seed: u64) -> SeededDice {
        SeededDice(seed)
    }

    /// The next number.
    pub(crate) const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0, inclusive, to 1, exclusive.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in a double")]
    pub(crate) fn share(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An index below `length`, which is above 0.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).expect("a length fits");
        usize::try_from(self.number() % length).expect("it is below a length")
    }

    /// True in this share of cases.
    pub(crate) fn happens(&mut self, share: f64) -> bool {
        share > 0.0 && self.share() < share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_drawn_in_its_share_of_cases() {
        let mut dice = SeededDice::new(1);
        let times = (0..100_000).filter(|_| dice.happens(0.2)).count();
        assert!((19_000..21_000).contains(&times), "{times}");
        assert!((0..1000).all(|_| !dice.happens(0.0) && dice.happens(1.0)));
    }
}
