//! Runs work with a lower priority than everything else in the process.

use std::panic::resume_unwind;
use std::thread;

/// By how much the system's priority is lowered: beside busy threads, a tenth of what each of them gets.
const NICENESS: i32 = 10;

/// Runs `work` on a thread of its own, which gets the processor time that others leave, and waits for it. Threads that
/// it starts have the same low priority.
pub(crate) fn with_low_priority<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let span = tracing::Span::current();
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            give_way();
            span.in_scope(work)
        });
        worker.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Lowers the priority of the current thread, on Linux of it alone. If that fails, the work is done nevertheless.
pub(crate) fn give_way() {
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::warn!(%error, "the priority of a background thread could not be lowered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The niceness of the current thread.
    fn niceness() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux says it");
        let fields = stat.rsplit_once(')').expect("a name in brackets").1;
        fields.split_whitespace().nth(16).and_then(|niceness| niceness.parse().ok()).expect("a number")
    }

    #[test]
    fn the_work_has_low_priority_and_its_caller_has_not() {
        let before = niceness();
        assert_eq!(with_low_priority(niceness), before + NICENESS);
        assert_eq!(
            with_low_priority(|| thread::scope(|scope| scope.spawn(niceness).join().ok())),
            Some(before + NICENESS)
        );
        assert_eq!(niceness(), before);
    }
}
