//! Limits the log lines about events that are frequent under overload: a line for each would add to the load.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The interval between two lines.
const EVERY: Duration = Duration::from_secs(1);

/// Lets one line per second through.
#[derive(Debug, Default)]
pub(super) struct LogThrottle {
    state: Mutex<ThrottleState>,
}

#[derive(Debug, Default)]
struct ThrottleState {
    last: Option<Instant>,
    suppressed: u64,
}

impl LogThrottle {
    /// The number of lines suppressed since the last one, when a line may be written now; None when it is suppressed, too.
    pub(super) fn turn(&self) -> Option<u64> {
        self.turn_at(Instant::now())
    }

    fn turn_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock();
        if state.last.is_some_and(|last| now.saturating_duration_since(last) < EVERY) {
            state.suppressed += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_passes_with_the_count_of_suppressed_ones() {
        let (lines, start) = (LogThrottle::default(), Instant::now());
        assert_eq!(lines.turn_at(start), Some(0));
        assert_eq!((lines.turn_at(start), lines.turn_at(start + EVERY / 2)), (None, None));
        assert_eq!(lines.turn_at(start + EVERY), Some(2));
        assert_eq!(lines.turn_at(start + 3 * EVERY), Some(0));
    }
}
