//! Random choices that can be repeated, and numbers that the caller of a test sets.

use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;

/// The number that an environment variable gives, else the usual one.
pub(crate) fn from_environment<T: FromStr>(variable: &str, usual: T) -> T {
    let text = std::env::var(variable).ok();
    text.map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

/// A generator that gives the same numbers for the same seed. Splitmix64.
#[derive(Debug, Clone)]
pub(crate) struct TestDice(u64);

impl TestDice {
    /// The generator of a seed.
    pub(crate) const fn new(seed: u64) -> TestDice {
        TestDice(seed)
    }

    /// The seed that an environment variable gives, else a random one.
    pub(crate) fn seed(variable: &str) -> u64 {
        from_environment(variable, RandomState::new().hash_one(0))
    }

    /// The next number.
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `from`, inclusive, to `to`, exclusive.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.number() % (to - from)
    }

    /// An index below this length.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).expect("an index fits");
        usize::try_from(self.between(0, length)).expect("below a length")
    }

    /// True in `times` of a hundred cases.
    pub(crate) fn in_hundred(&mut self, times: u64) -> bool {
        self.between(0, 100) < times
    }

    /// A random one of these.
    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.index(of.len())]
    }

    /// A further generator, for a thread.
    pub(crate) fn fork(&mut self) -> TestDice {
        TestDice(self.number())
    }
}
