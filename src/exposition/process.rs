//! Metrics that the operating system reports about the process, under the names that Prometheus' own clients use.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::families::Families;
use crate::process::logging::LogFile;

/// The clock ticks of a second that Linux reports to programs.
const TICKS_PER_SECOND: u64 = 100;

/// The index of the first of the two fields of `/proc/self/stat`, after the program's name, that count user and system
/// time.
const OWN_TICKS_FIELD: usize = 11;

/// The time at which the process began to serve.
#[derive(Debug, Clone, Copy)]
pub struct ProcessStart(SystemTime);

impl ProcessStart {
    /// The present time.
    #[must_use]
    pub fn now() -> ProcessStart {
        ProcessStart(SystemTime::now())
    }

    /// The time since the Unix epoch.
    #[must_use]
    pub fn since_epoch(self) -> Duration {
        self.0.duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// Adds the metrics of the process.
pub fn expose_process(start: ProcessStart, families: &mut Families) {
    families.labelled_one("till_build_info", "Version of the program.", "version", env!("CARGO_PKG_VERSION"));
    let help = "Start time of the process, in Unix seconds.";
    families.gauge_seconds("process_start_time_seconds", help, start.since_epoch());
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
pub fn expose_log_file(log_file: Option<&LogFile>, families: &mut Families) {
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
