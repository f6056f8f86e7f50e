//! Processor time, to see what other processes took of it while something was measured.

use std::fs;

/// Other processes that take a larger share of the processors' time make figures differ from run to run by more than
/// most changes of a program do.
pub(crate) const BUSY_SHARE: f64 = 0.10;

/// The columns of a processor in `/proc/stat` that count: user, nice, system, idle, iowait, irq, softirq, steal. The
/// two after them are contained in the first two.
const COLUMNS: usize = 8;

/// Those of them in which a process, or another machine on the same hardware, has the processor. Interrupts are left
/// out: those of the run's own connections are among them.
const BUSY_COLUMNS: [usize; 4] = [0, 1, 2, 7];

/// Processor time up to a moment, in the system's ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessorTime {
    /// Of all processors, busy or not.
    all: u64,
    /// In which they were busy.
    busy: u64,
    /// Taken by the processes of the run.
    own: u64,
}

impl ProcessorTime {
    /// Up to now, where this process and `server` belong to the run. None where the system does not tell.
    pub(crate) fn now(server: Option<u32>) -> Option<ProcessorTime> {
        let machine = fs::read_to_string("/proc/stat").ok()?;
        let processes = std::iter::once("self".to_owned()).chain(server.map(|server| server.to_string()));
        let mut own = 0;
        for process in processes {
            // A server that has ended by itself takes none any more.
            own += fs::read_to_string(format!("/proc/{process}/stat")).map_or(Some(0), |text| of_process(&text))?;
        }
        let (all, busy) = of_machine(&machine)?;
        Some(ProcessorTime { all, busy, own })
    }

    /// The share of the processors' time since `before` that others took, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "ticks are far below 2^53")]
    pub(crate) fn others_since(self, before: ProcessorTime) -> f64 {
        let busy = self.busy.saturating_sub(before.busy);
        let others = busy.saturating_sub(self.own.saturating_sub(before.own));
        let all = self.all.saturating_sub(before.all);
        if all == 0 { 0.0 } else { others as f64 / all as f64 }
    }
}

/// Ticks of all processors, and those in which they were busy.
fn of_machine(text: &str) -> Option<(u64, u64)> {
    let columns = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let columns: Vec<u64> = columns.map_while(|column| column.parse().ok()).take(COLUMNS).collect();
    let busy = BUSY_COLUMNS.iter().filter_map(|column| columns.get(*column)).sum();
    (columns.len() == COLUMNS).then(|| (columns.iter().sum(), busy))
}

/// Ticks of a process: `utime` and `stime`, the 14th and 15th field. The second is its name in parentheses, which may
/// contain spaces and parentheses.
///
/// Source: proc_pid_stat(5).
fn of_process(text: &str) -> Option<u64> {
    let (_, after_name) = text.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_processor_time_belongs_to_others() {
        let before = ProcessorTime { all: 1_000, busy: 500, own: 300 };
        let after = ProcessorTime { all: 2_000, busy: 1_300, own: 900 };
        assert!((after.others_since(before) - 0.2).abs() < 1e-9, "800 busy of 1,000, 600 of them ours");
        assert!(before.others_since(before).abs() < 1e-9, "no time has passed");
        let all_ours = ProcessorTime { own: 1_200, ..after };
        assert!(all_ours.others_since(before).abs() < 1e-9, "a process is counted more exactly than the machine");
    }

    #[test]
    fn ticks_of_machine_and_process_are_read_by_their_columns() {
        let machine = "cpu  10 2 30 400 5 60 70 8 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(of_machine(machine), Some((585, 50)));
        assert_eq!(of_machine("cpu  10 2 30"), None);
        let process = "42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 77 33 5 5 20 0 1 0 100 1000 10";
        assert_eq!(of_process(process), Some(110));
        assert_eq!(of_process("42"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_work_of_this_process_is_its_own() {
        let before = ProcessorTime::now(None).unwrap_or_else(|| panic!("the system tells"));
        let until = std::time::Instant::now() + std::time::Duration::from_millis(300);
        while std::time::Instant::now() < until {}
        let after = ProcessorTime::now(None).unwrap_or_else(|| panic!("the system tells"));
        assert!(after.own > before.own && after.all > before.all, "{before:?} {after:?}");
        assert!((0.0..=1.0).contains(&after.others_since(before)));
    }
}
