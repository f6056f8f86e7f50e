//! What a command prints: its result on standard output; on standard error the progress of one that works on much data,
//! a bar on a terminal, else a line every few seconds.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::exit_code::ExitCode;

/// The interval between two lines when there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// The limit of redraws of the bar, per second.
const DRAWN_PER_SECOND: u8 = 5;

/// The unit of the counted work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Bytes, shown in binary units on a terminal.
    Bytes,
    /// Objects with this name, in the plural.
    Things(&'static str),
}

/// Shows the progress of one stage of a command. Dropping it removes the bar.
pub(super) struct ProgressDisplay {
    what: &'static str,
    unit: Unit,
    total: Option<u64>,
    bar: Option<ProgressBar>,
    begun: Instant,
    last_line_at: Instant,
}

impl ProgressDisplay {
    /// Begins a stage. It is called by the participle of its work, such as `copied`. The total may be unknown.
    pub(super) fn begin(what: &'static str, unit: Unit, total: Option<u64>) -> ProgressDisplay {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(DRAWN_PER_SECOND));
            bar.with_style(style(unit, total.is_some())).with_message(what)
        });
        ProgressDisplay { what, unit, total, bar, begun: Instant::now(), last_line_at: Instant::now() }
    }

    /// Shows the number of units that are done.
    pub(super) fn show(&mut self, done: u64) {
        match &self.bar {
            Some(bar) => bar.set_position(done),
            None if self.last_line_at.elapsed() >= LINE_EVERY => {
                self.last_line_at = Instant::now();
                let line = line(self.what, self.unit, done, self.total);
                let left = self.total.and_then(|total| seconds_left(done, total, self.begun.elapsed()));
                say(&left.map_or(line.clone(), |seconds| format!("{line}, about {seconds} s left")));
            }
            None => {}
        }
    }

    /// Shows the number of units that are done, for totals that become known only during the work.
    pub(super) fn show_of(&mut self, done: u64, total: u64) {
        if self.total != Some(total) {
            self.total = Some(total);
            if let Some(bar) = &self.bar {
                bar.set_style(style(self.unit, true));
                bar.set_length(total);
            }
        }
        self.show(done);
    }

    /// Adds a text to the bar, after the numbers.
    pub(super) fn detail(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_prefix(text);
        }
    }

    /// Ends the stage: removes the bar, and leaves a line about the finished work.
    pub(super) fn end(self, text: &str) {
        drop(self);
        say(text);
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Writes a line for a person.
pub(super) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}"); // A reader that closed the pipe needs no more output.
}

/// Prints what a command has found.
pub(super) fn print(output: &str) -> ExitCode {
    let line = if output.is_empty() { String::new() } else { format!("{}\n", output.trim_end()) };
    let _ = std::io::stdout().write_all(line.as_bytes()); // A reader that closed the pipe needs no more output.
    ExitCode::SUCCESS
}

fn style(unit: Unit, is_bounded: bool) -> ProgressStyle {
    let template = match (unit, is_bounded) {
        (Unit::Bytes, true) => "{msg} [{bar:32}] {bytes} of {total_bytes}, {eta} left {prefix}",
        (Unit::Bytes, false) => "{msg} {spinner} {bytes} {prefix}",
        (Unit::Things(_), true) => "{msg} [{bar:32}] {pos} of {len}, {eta} left {prefix}",
        (Unit::Things(_), false) => "{msg} {spinner} {pos} {prefix}",
    };
    ProgressStyle::with_template(template).expect("the templates are sound").progress_chars("=> ")
}

fn line(what: &str, unit: Unit, done: u64, total: Option<u64>) -> String {
    let unit = match unit {
        Unit::Bytes => "bytes",
        Unit::Things(name) => name,
    };
    match total {
        Some(total) => {
            let percent = u128::from(done) * 100 / u128::from(total.max(1));
            format!("{what} {done} of {total} {unit} ({percent} %)")
        }
        None => format!("{what} {done} {unit}"),
    }
}

/// The estimated seconds until the end, at the average speed so far; None when nothing is done yet or nothing is left.
fn seconds_left(done: u64, total: u64, elapsed: Duration) -> Option<u128> {
    let left = total.checked_sub(done).filter(|left| *left > 0 && done > 0)?;
    Some((elapsed.as_millis() * u128::from(left) / u128::from(done)).div_ceil(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_what_is_done_and_the_total_if_it_is_known() {
        assert_eq!(line("copied", Unit::Bytes, 250, Some(1_000)), "copied 250 of 1000 bytes (25 %)");
        assert_eq!(line("applied", Unit::Things("commits"), 7, None), "applied 7 commits");
        assert_eq!(line("checked", Unit::Bytes, 0, Some(0)), "checked 0 of 0 bytes (0 %)");
    }

    #[test]
    fn the_time_that_is_left_is_that_of_the_rest_at_the_same_speed() {
        let after = Duration::from_secs(30);
        assert_eq!(seconds_left(250, 1_000, after), Some(90));
        assert_eq!(seconds_left(999, 1_000, after), Some(1), "a part of a second is one");
        assert_eq!([seconds_left(0, 1_000, after), seconds_left(1_000, 1_000, after)], [None, None]);
    }

    #[test]
    fn every_template_is_sound() {
        for unit in [Unit::Bytes, Unit::Things("records")] {
            for is_bounded in [true, false] {
                drop(style(unit, is_bounded));
            }
        }
    }
}
