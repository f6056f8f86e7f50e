//! The progress of a run on standard error: one line on a terminal, else a line every few seconds.

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use super::feed::FeedLine;

/// Time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// A shorter run is shown in tenths of a second.
const SHORT: Duration = Duration::from_secs(10);

/// Goes to the begin of a terminal's line and erases it.
const ERASE: &str = "\r\x1b[K";

/// Shows the progress of a run.
pub struct RunProgress {
    /// True when the last line is written again and again.
    is_on_terminal: bool,
    last_shown: Cell<Instant>,
}

impl RunProgress {
    /// A progress with one line when standard error is a terminal.
    #[must_use]
    pub fn new() -> RunProgress {
        RunProgress { is_on_terminal: std::io::stderr().is_terminal(), last_shown: Cell::new(Instant::now()) }
    }

    /// Shows the next activity.
    pub fn tell(&self, text: &str) {
        self.finish();
        write(&format!("till-bench: {text}\n"));
    }

    /// Shows the results so far; `passed` is None during the warm-up.
    pub(super) fn show(&self, passed: Option<Duration>, duration: Duration, last: Option<&FeedLine>) {
        let text = format!("{}{}", stage(passed, duration), last.map(text_of_second).unwrap_or_default());
        if self.is_on_terminal {
            write(&format!("{ERASE}till-bench: {text}"));
        } else if self.last_shown.get().elapsed() >= LINE_EVERY {
            self.last_shown.set(Instant::now());
            self.tell(&text);
        }
    }

    /// Removes the line of a terminal.
    pub fn finish(&self) {
        if self.is_on_terminal {
            write(ERASE);
        }
    }
}

impl Default for RunProgress {
    fn default() -> RunProgress {
        RunProgress::new()
    }
}

fn write(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes()); // The reader may have closed its end.
}

/// The progress of a run. Calls that were due before its end are answered after it.
fn stage(passed: Option<Duration>, duration: Duration) -> String {
    let digits = if duration < SHORT { 1 } else { 0 };
    let seconds = |span: Duration| format!("{:.digits$} s", span.as_secs_f64());
    match passed {
        None => "warming up".to_owned(),
        Some(passed) if passed < duration => format!("{} of {}", seconds(passed), seconds(duration)),
        Some(_) => format!("{0} of {0}, waiting for the last answers", seconds(duration)),
    }
}

/// The rate and the 99th percentile of the last second.
fn text_of_second(last: &FeedLine) -> String {
    let p99 = Duration::from_micros(last.p99_micros()).as_secs_f64() * 1e3;
    let failures = if last.failures > 0 { format!(", {} failed", last.failures) } else { String::new() };
    format!(", {:.0}/s, p99 {p99:.2} ms{failures}", last.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_never_shown_beyond_its_end() {
        let stage = |millis, seconds| stage(Some(Duration::from_millis(millis)), Duration::from_secs(seconds));
        assert_eq!([stage(900, 2), stage(9_900, 30)], ["0.9 s of 2.0 s", "10 s of 30 s"]);
        assert_eq!([stage(2_000, 2), stage(3_200, 2)], ["2.0 s of 2.0 s, waiting for the last answers"; 2]);
        assert_eq!(super::stage(None, Duration::from_secs(2)), "warming up");
    }
}
