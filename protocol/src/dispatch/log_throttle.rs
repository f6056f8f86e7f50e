//! Limits the log lines about events that are frequent under overload: a line for each would add to the load.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The time for which lines are counted.
const EVERY: Duration = Duration::from_secs(1);

/// Lets so many lines per second through.
#[derive(Debug)]
pub(super) struct LogThrottle {
    lines_max: u32,
    state: Mutex<ThrottleState>,
}

#[derive(Debug, Default)]
struct ThrottleState {
    /// The beginning of the second, and the lines in it.
    began: Option<Instant>,
    lines: u32,
    suppressed: u64,
}

impl LogThrottle {
    pub(super) fn of(lines_max: u32) -> LogThrottle {
        LogThrottle { lines_max, state: Mutex::default() }
    }

    /// The number of lines suppressed since the last one, when a line may be written now; None when it is suppressed,
    /// too.
    pub(super) fn turn(&self) -> Option<u64> {
        self.turn_at(Instant::now())
    }

    fn turn_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock();
        if state.began.is_none_or(|began| now.saturating_duration_since(began) >= EVERY) {
            (state.began, state.lines) = (Some(now), 0);
        }
        if state.lines >= self.lines_max {
            state.suppressed += 1;
            return None;
        }
        state.lines += 1;
        Some(std::mem::take(&mut state.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_passes_with_the_count_of_suppressed_ones() {
        let (lines, start) = (LogThrottle::of(1), Instant::now());
        assert_eq!(lines.turn_at(start), Some(0));
        assert_eq!((lines.turn_at(start), lines.turn_at(start + EVERY / 2)), (None, None));
        assert_eq!(lines.turn_at(start + EVERY), Some(2));
        assert_eq!(lines.turn_at(start + 3 * EVERY), Some(0));
    }

    #[test]
    fn several_lines_a_second_pass_where_so_many_are_let_through() {
        let (lines, start) = (LogThrottle::of(2), Instant::now());
        assert_eq!([(); 4].map(|()| lines.turn_at(start)), [Some(0), Some(0), None, None]);
        assert_eq!([(); 3].map(|()| lines.turn_at(start + EVERY)), [Some(2), Some(0), None]);
    }
}
