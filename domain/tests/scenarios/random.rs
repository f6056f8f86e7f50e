//! The random source of the tests: the same seed gives the same numbers on every machine.

use till_domain::ids::Entropy;

/// SplitMix64.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    /// A number from 0 up to `end`, exclusive.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next_u64() % end
    }

    /// True once in `times` on average.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of the choices, none when there are none.
    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> Option<T> {
        let count = u64::try_from(choices.len()).ok().filter(|count| *count > 0)?;
        let index = usize::try_from(self.below(count)).ok()?;
        choices.get(index).cloned()
    }
}

impl Entropy for Random {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}
