//! Time: milliseconds since the Unix epoch. The domain reads no clock.

/// The milliseconds of a day of UTC.
pub const DAY_MILLIS: u64 = 86_400_000;

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub u64);

impl Millis {
    /// Whole Unix seconds, rounded down, as callers see them.
    #[must_use]
    pub const fn unix_seconds(self) -> u64 {
        self.0 / 1_000
    }

    /// The instant `seconds` later, at most the largest instant.
    #[must_use]
    pub const fn plus_seconds(self, seconds: u64) -> Millis {
        Millis(self.0.saturating_add(seconds.saturating_mul(1_000)))
    }
}
