//! Time and randomness, which the rules get from outside.

use std::time::{SystemTime, UNIX_EPOCH};
use till_domain::ids::Entropy;
use till_domain::time::Millis;

/// A source of time.
pub trait Clock: Send + Sync + 'static {
    /// The present time, in milliseconds since the Unix epoch. It may step back; decisions based on it do not.
    fn now(&self) -> Millis;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Bytes drawn from the operating system at once: enough for 64 ids.
const DRAWN_LEN: usize = 512;

/// The operating system's randomness, drawn ahead in small portions.
#[derive(Default)]
pub struct OsEntropy {
    drawn: Vec<u8>,
}

impl Entropy for OsEntropy {
    fn next_u64(&mut self) -> u64 {
        if self.drawn.len() < 8 {
            self.drawn.resize(DRAWN_LEN, 0);
            getrandom::fill(&mut self.drawn).expect("the operating system's random source does not fail once it is up");
        }
        let number = *self.drawn.last_chunk().expect("at least eight bytes are there");
        self.drawn.truncate(self.drawn.len() - size_of::<u64>());
        u64::from_be_bytes(number)
    }
}

/// 16 random bytes.
pub(crate) fn random_16(entropy: &mut OsEntropy) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&entropy.next_u64().to_be_bytes());
    bytes[8..].copy_from_slice(&entropy.next_u64().to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn drawn_numbers_differ_over_several_portions() {
        let mut entropy = OsEntropy::default();
        let drawn: BTreeSet<u64> = (0..1_000).map(|_| entropy.next_u64()).collect();
        assert_eq!(drawn.len(), 1_000);
    }
}
