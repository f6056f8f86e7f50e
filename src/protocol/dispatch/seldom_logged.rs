//! Log lines about events that come by the thousand under overload: a line for each would add to the load.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The interval between two lines.
const EVERY: Duration = Duration::from_secs(1);

/// Lets one line a second through.
#[derive(Debug, Default)]
pub(super) struct SeldomLogged {
    state: Mutex<ThrottleState>,
}

#[derive(Debug, Default)]
struct ThrottleState {
    last: Option<Instant>,
    left_out: u64,
}

impl SeldomLogged {
    /// The number of suppressed lines since the last one when a line is to be written now; None when it is suppressed.
    pub(super) fn turn(&self) -> Option<u64> {
        self.turn_at(Instant::now())
    }

    fn turn_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock();
        if state.last.is_some_and(|last| now.saturating_duration_since(last) < EVERY) {
            state.left_out += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_is_written_and_says_how_many_were_not() {
        let (lines, start) = (SeldomLogged::default(), Instant::now());
        assert_eq!(lines.turn_at(start), Some(0));
        assert_eq!((lines.turn_at(start), lines.turn_at(start + EVERY / 2)), (None, None));
        assert_eq!(lines.turn_at(start + EVERY), Some(2));
        assert_eq!(lines.turn_at(start + 3 * EVERY), Some(0));
    }
}
