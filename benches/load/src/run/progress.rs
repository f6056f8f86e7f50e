//! The progress of a run on standard error: a bar on a terminal, else a line every few seconds.

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::feed::FeedLine;

/// Time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// A shorter run is shown in tenths of a second.
const SHORT: Duration = Duration::from_secs(10);

/// The bar's steps.
const BAR_STEPS: u64 = 1_000;

/// Shows the progress of a run.
pub struct RunProgress {
    bar: Option<ProgressBar>,
    last_shown: Cell<Instant>,
}

impl RunProgress {
    /// A progress with a bar when standard error is a terminal.
    #[must_use]
    pub fn new() -> RunProgress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(BAR_STEPS), ProgressDrawTarget::stderr_with_hz(5));
            let style = ProgressStyle::with_template("{prefix} [{bar:32}] {msg}").expect("the template is sound");
            bar.with_style(style.progress_chars("=> "))
        });
        RunProgress { bar, last_shown: Cell::new(Instant::now()) }
    }

    /// Shows the next activity.
    pub fn tell(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => say(text),
        }
    }

    /// Shows the results so far; `passed` is None during the warm-up.
    pub(super) fn show(&self, passed: Option<Duration>, duration: Duration, last: Option<&FeedLine>) {
        let text = format!("{}{}", stage(passed, duration), last.map(seen).unwrap_or_default());
        match &self.bar {
            Some(bar) => {
                bar.set_position(position(passed.unwrap_or_default(), duration));
                bar.set_message(text);
            }
            None if self.last_shown.get().elapsed() >= LINE_EVERY => {
                self.last_shown.set(Instant::now());
                say(&text);
            }
            None => {}
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Default for RunProgress {
    fn default() -> RunProgress {
        RunProgress::new()
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "till-bench: {text}"); // The reader may have closed its end.
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
fn seen(last: &FeedLine) -> String {
    let p99 = Duration::from_micros(last.p99_micros()).as_secs_f64() * 1e3;
    let failures = if last.failures > 0 { format!(", {} failed", last.failures) } else { String::new() };
    format!(", {:.0}/s, p99 {p99:.2} ms{failures}", last.rate)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the bar's steps")]
fn position(passed: Duration, duration: Duration) -> u64 {
    (passed.as_secs_f64() / duration.as_secs_f64() * 1000.0) as u64
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
