//! Sentences that a reader must know of all figures of a report.

use super::document::Document;
use super::text::share;
use crate::recording::BUSY_SHARE;

/// A closed loop calls a slow server less often, and so leaves out the waits of callers who do not wait for each other.
pub(super) const CLOSED_LOOP: &str = "NOTE: p99 and all other latencies are those of a closed loop: each connection \
    sends its next call only after the answer. The waits that callers would have had while the server was slow are not \
    counted. Use --rate to count them.";

/// Figures of payments without the cost of a disk.
const IN_MEMORY: &str = "NOTE: the data is in memory (tmpfs), where a sync costs nothing; see --server-directory";

/// The sentences of a report, each for a person.
pub(super) fn notes(document: &Document) -> Vec<String> {
    let is_in_memory = document.server.data_filesystem.as_deref() == Some("tmpfs");
    let notes = [document.parameters.is_closed_loop().then_some(CLOSED_LOOP), is_in_memory.then_some(IN_MEMORY)];
    let warnings = ended_early(document).into_iter().chain(busy_machine(document));
    warnings.chain(notes.into_iter().flatten().map(str::to_owned)).collect()
}

/// The reason that a command ended early, unless one of its points has it.
fn ended_early(document: &Document) -> Option<String> {
    let reason = document.ended_early.as_ref()?;
    let is_said = document.points.iter().any(|point| point.ended_early.as_ref() == Some(reason));
    (!is_said).then(|| format!("ENDED EARLY: {reason}"))
}

/// A warning when other processes took much of the processors' time: during the runs, or before them where it is not
/// known during them.
fn busy_machine(document: &Document) -> Option<String> {
    let runs = shares_of_others(document);
    let busy: Vec<f64> = runs.iter().copied().filter(|share| *share > BUSY_SHARE).collect();
    let most = busy.iter().copied().fold(0.0, f64::max);
    let took = match (runs.len(), busy.len()) {
        (0, _) => {
            let before = document.machine.busy_before.filter(|share| *share > BUSY_SHARE)?;
            format!("directly before the run, processes took {} of the processors' time", share(before))
        }
        (_, 0) => return None,
        (1, _) => format!("other processes took {} of the processors' time during the run", share(most)),
        (runs, busy) => {
            format!("other processes took up to {} of the processors' time in {busy} of {runs} runs", share(most))
        }
    };
    let bound = share(BUSY_SHARE);
    Some(format!(
        "BUSY MACHINE: {took}. Above {bound}, figures differ from run to run by more than most changes: measure again \
         when nothing else runs"
    ))
}

/// True when other processes took much of the processors' time in a run of the report.
pub(super) fn is_busy(document: &Document) -> bool {
    busy_machine(document).is_some()
}

/// The shares of other processes, as far as they are known: of each run of a search, or of each point.
fn shares_of_others(document: &Document) -> Vec<f64> {
    match &document.search {
        Some(search) => search.tried.iter().filter_map(|tried| tried.others_busy).collect(),
        None => document.points.iter().filter_map(|point| point.others_busy).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{document, point};
    use super::*;
    use crate::plan::ScenarioKind;
    use crate::plan::examples::flags;
    use crate::run::Point;

    #[test]
    fn only_a_closed_loop_notes_the_waits_that_it_leaves_out() {
        let mut document = document();
        assert_eq!(notes(&document), [CLOSED_LOOP]);
        for line in ["--rate 5", "--stages 0:1,1s:2", "--search --p99-below 1s"] {
            document.parameters = flags(ScenarioKind::Ping, line);
            assert_eq!(notes(&document), [""; 0]);
        }
    }

    #[test]
    fn a_busy_machine_causes_a_warning_with_the_share() {
        let mut document = document();
        document.points[0].others_busy = Some(0.47);
        let told = notes(&document);
        assert!(told[0].starts_with("BUSY MACHINE: other processes took 47 % of the processors' time"), "{told:?}");
        document.points[0].others_busy = Some(BUSY_SHARE);
        document.machine.busy_before = Some(0.9);
        assert_eq!(notes(&document), [CLOSED_LOOP], "what was before the run is over");
    }

    #[test]
    fn a_sweep_says_in_how_many_of_its_runs_the_machine_was_busy() {
        let mut document = document();
        document.points = [0.05, 0.2, 0.5].map(|share| Point { others_busy: Some(share), ..point() }).to_vec();
        let told = notes(&document);
        assert!(told[0].contains("took up to 50 % of the processors' time in 2 of 3 runs"), "{told:?}");
    }

    #[test]
    fn without_a_share_the_time_before_the_run_counts() {
        let mut document = document();
        document.machine.busy_before = Some(0.9);
        let told = notes(&document);
        assert!(told[0].starts_with("BUSY MACHINE: directly before the run, processes took 90 %"), "{told:?}");
    }

    #[test]
    fn data_in_memory_is_noted() {
        let mut document = document();
        document.server.data_filesystem = Some("tmpfs".to_owned());
        assert_eq!(notes(&document), [CLOSED_LOOP, IN_MEMORY]);
    }
}
