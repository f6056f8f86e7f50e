//! Sentences that a reader must know of all figures of a report.

use super::document::Document;

/// A closed loop calls a slow server less often, and so leaves out the waits of callers who do not wait for each other.
const CLOSED_LOOP: &str = "NOTE: p99 and all other latencies are those of a closed loop: each connection sends its next \
    call only after the answer. The waits that callers would have had while the server was slow are not counted. \
    Use --rate to count them.";

/// Figures of payments without the cost of a disk.
const IN_MEMORY: &str = "NOTE: the data is in memory (tmpfs), where a sync costs nothing; see --server-directory";

/// The sentences of a report, each for a person.
pub(super) fn notes(document: &Document) -> Vec<String> {
    let is_in_memory = document.server.data_filesystem.as_deref() == Some("tmpfs");
    let notes = [document.parameters.is_closed_loop().then_some(CLOSED_LOOP), is_in_memory.then_some(IN_MEMORY)];
    notes.into_iter().flatten().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::document::examples::document;
    use super::*;

    #[test]
    fn a_closed_loop_says_which_waits_its_latencies_leave_out_and_an_open_one_does_not() {
        let mut document = document();
        assert_eq!(notes(&document), [CLOSED_LOOP]);
        for mode in ["open", "search"] {
            document.parameters.mode = mode.to_owned();
            assert_eq!(notes(&document), [""; 0]);
        }
    }

    #[test]
    fn data_in_memory_is_told() {
        let mut document = document();
        document.server.data_filesystem = Some("tmpfs".to_owned());
        assert_eq!(notes(&document), [CLOSED_LOOP, IN_MEMORY]);
    }
}
