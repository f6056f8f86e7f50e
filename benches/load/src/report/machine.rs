//! The machine and the program, which a comparison of figures needs.

use std::fs;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::recording::ProcessorTime;

/// The time for which the machine is watched before a run.
const WATCHED: Duration = Duration::from_millis(250);

/// The machine on which the load tester ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Processors that this process may use.
    pub processors: usize,
    /// The processor's name; null where the system does not say.
    pub processor_name: Option<String>,
    /// Memory; null where the system does not say.
    pub memory_bytes: Option<u64>,
    /// The operating system's kernel.
    pub kernel: String,
    /// The load average over one minute before the run: the mean number of processes that were ready.
    pub load_before: Option<f64>,
    /// The share of the processors' time, from 0 to 1, that processes took directly before the run; null where the
    /// system does not say.
    pub busy_before: Option<f64>,
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its version.
    pub version: String,
    /// The profile that it was built with.
    pub profile: String,
    /// The compiler's optimization level for Till's own code, 0 to 3.
    pub optimization: String,
}

impl Machine {
    /// This one, watched for a moment in which the load tester does nothing: to be asked before the run.
    #[must_use]
    pub fn watched() -> Machine {
        let before = ProcessorTime::now(None);
        thread::sleep(WATCHED);
        let busy_before = before.zip(ProcessorTime::now(None)).map(|(before, now)| now.others_since(before));
        Machine { busy_before, ..Machine::observe() }
    }

    /// This machine, now.
    pub(super) fn observe() -> Machine {
        let line = |file: &str, name: &str| {
            let text = fs::read_to_string(file).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)?;
            Some(line.trim_start_matches([' ', '\t', ':']).trim().to_owned())
        };
        let kibibytes =
            line("/proc/meminfo", "MemTotal").and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Machine {
            processors: thread::available_parallelism().map_or(1, usize::from),
            processor_name: line("/proc/cpuinfo", "model name"),
            memory_bytes: kibibytes.map(|kibibytes| kibibytes * 1024),
            kernel: format!("{} {}", std::env::consts::OS, release.trim()).trim().to_owned(),
            load_before: load.split_whitespace().next().and_then(|load| load.parse().ok()),
            busy_before: None,
        }
    }
}

impl Program {
    /// This program.
    pub(super) fn built() -> Program {
        Program {
            version: till::VERSION.to_owned(),
            profile: env!("BUILT_WITH_PROFILE").to_owned(),
            optimization: env!("BUILT_AT_OPT_LEVEL").to_owned(),
        }
    }
}
