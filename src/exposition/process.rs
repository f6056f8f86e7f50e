//! Metrics that the operating system reports about the process, under the names that Prometheus' own clients use.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::families::Families;
use crate::process::VERSION;
use crate::process::logging::LogFile;

/// The clock ticks of a second that Linux reports to programs.
const TICKS_PER_SECOND: u64 = 100;

/// The index of the first of the two fields of `/proc/self/stat`, after the program's name, that count user and system
/// time.
const OWN_TICKS_FIELD: usize = 11;

/// The time at which the process began to serve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessStart {
    at: SystemTime,
    /// On a clock that nobody sets. It stands still while the machine sleeps.
    at_steadily: Instant,
    /// The time by which the clock was behind the newest file of the data directory.
    behind_files: Duration,
}

impl ProcessStart {
    /// The present time, with a data directory that no process has open.
    #[must_use]
    pub(crate) fn now(data: &Path) -> ProcessStart {
        let at = SystemTime::now();
        let newest = newest_change(data).unwrap_or(at);
        let behind_files = newest.duration_since(at).unwrap_or_default();
        let unused = at.duration_since(newest).unwrap_or_default();
        if unused >= LONG_UNUSED {
            let hours = unused.as_secs() / 3_600;
            tracing::warn!(
                hours,
                "nothing was written for so long; if that is not so, stop the server and set the clock"
            );
        }
        if behind_files >= BEHIND_TOLD {
            let seconds = behind_files.as_secs();
            tracing::warn!(seconds, "the machine's clock is behind what was written before: set it");
        }
        ProcessStart { at, at_steadily: Instant::now(), behind_files }
    }

    /// The time since the Unix epoch.
    #[must_use]
    pub(crate) fn since_epoch(self) -> Duration {
        self.at.duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    /// The time by which the machine's clock was set since then, forward or back, or was behind the files at the start.
    fn clock_jump(self) -> Duration {
        let expected = self.at + self.at_steadily.elapsed();
        let jump = SystemTime::now().duration_since(expected).unwrap_or_else(|back| back.duration());
        jump.max(self.behind_files)
    }
}

/// The time without a write after which a start asks if the clock is right.
const LONG_UNUSED: Duration = Duration::from_secs(24 * 3_600);

/// The time by which a clock must be behind to be told at the start.
const BEHIND_TOLD: Duration = Duration::from_secs(60);

/// The newest time at which a file of the database was changed.
fn newest_change(data: &Path) -> Option<SystemTime> {
    let files = fs::read_dir(data.join("db")).ok()?.filter_map(Result::ok);
    files.filter_map(|file| file.metadata().ok()?.modified().ok()).max()
}

/// Adds the metrics of the process.
pub(crate) fn expose_process(start: ProcessStart, families: &mut Families) {
    families.labelled_one(
        "till_build_info",
        "Version of the program, with its profile and its revision.",
        "version",
        VERSION,
    );
    let help = "Start time of the process, in Unix seconds.";
    families.gauge_seconds("process_start_time_seconds", help, start.since_epoch());
    let help =
        "The time by which the clock was set since the start, forward or back, or was behind the files at the start.";
    families.gauge_seconds("till_clock_jump_seconds", help, start.clock_jump());
    let (resident, virtual_bytes) = memory().unwrap_or_default();
    families.gauge("process_resident_memory_bytes", "Resident memory.", resident);
    families.gauge("process_virtual_memory_bytes", "Virtual memory.", virtual_bytes);
    let open = fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    families.gauge("process_open_fds", "Open file descriptors.", open);
    families.gauge("process_max_fds", "File descriptors that may be open.", descriptors_max().unwrap_or(0));
    let processor = processor_time().unwrap_or_default();
    families.counter_seconds("process_cpu_seconds_total", "Processor time, the system's for it included.", processor);
}

/// Adds whether lines of the log can still be found where they were written to.
pub(crate) fn expose_log_file(log_file: Option<&LogFile>, families: &mut Families) {
    let is_gone = log_file.is_some_and(LogFile::is_gone);
    let help = "1 when standard error is a file that was moved away or deleted, else 0.";
    families.gauge("till_log_file_gone", help, u64::from(is_gone));
}

/// Resident and virtual bytes.
fn memory() -> Option<(u64, u64)> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    Some((kibibytes(&status, "VmRSS:")? * 1024, kibibytes(&status, "VmSize:")? * 1024))
}

fn kibibytes(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn descriptors_max() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // After the last bracket, since the name may contain any character.
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(OWN_TICKS_FIELD).take(2);
    let ticks: u64 = fields.map(|field| field.parse::<u64>().unwrap_or(0)).sum();
    Some(Duration::from_millis(ticks * (1_000 / TICKS_PER_SECOND)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_s_own_memory_descriptors_and_time_are_found() {
        let (resident, virtual_bytes) = memory().expect("Linux says it");
        assert!(resident > 100_000 && virtual_bytes >= resident, "{resident} of {virtual_bytes}");
        assert!(descriptors_max().is_some_and(|most| most > 10));
        assert!(processor_time().is_some());
    }

    #[test]
    fn a_line_of_another_unit_is_not_taken_for_kibibytes() {
        assert_eq!(kibibytes("VmRSS:\t  12 kB\n", "VmRSS:"), Some(12));
        assert_eq!(kibibytes("VmRSS:\t  12 MB\n", "VmRSS:"), None);
    }
}
