//! The merchants' logs against the expected disputes: each step is recorded once, and so is the acquirer's answer to
//! evidence, which only the log shows where it decides nothing.

use std::collections::BTreeMap;
use std::path::Path;

use super::dispute::{Dispute, LOSING, WINNING};
use super::exported_log;
use super::truth::Truth;

/// The paths at which the fields of an event have the id of a dispute.
const PLACES: [&str; 3] = ["/dispute_id", "/dispute/id", "/closing/dispute_id"];

/// Checks the logs of a data directory that no server uses, once the acquirer has answered every call.
pub(super) fn check(data: &Path, truths: &[Truth]) {
    let mut recorded = recorded(data);
    for disputed in truths.iter().flat_map(Truth::disputes) {
        let events = recorded.remove(disputed.id).unwrap_or_default();
        check_one(disputed.id, disputed.dispute, &events);
    }
    assert_eq!(recorded, BTreeMap::new(), "events of disputes that nobody knows");
}

/// The events of each dispute, by its id and in their order.
fn recorded(data: &Path) -> BTreeMap<String, Vec<String>> {
    let mut recorded: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for record in exported_log::read(data).values().flatten() {
        for event in record["events"].as_array().expect("a list of events") {
            let id = PLACES.iter().find_map(|place| event["fields"].pointer(place)?.as_str());
            let Some(id) = id else { continue };
            let name = event["event"].as_str().expect("an event has a name");
            recorded.entry(id.to_owned()).or_default().push(name.to_owned());
        }
    }
    recorded
}

fn check_one(id: &str, dispute: &Dispute, events: &[String]) {
    let count = |name: &str| events.iter().filter(|event| *event == name).count();
    let expected = [
        ("dispute_opened", true),
        ("dispute_challenged", dispute.evidence().is_some()),
        ("dispute_escalated", dispute.is_escalated()),
        ("dispute_closed", dispute.end().is_some()),
    ];
    for (name, is_there) in expected {
        assert_eq!(count(name), usize::from(is_there), "{name} of {id}: {events:?}, {dispute:?}");
    }
    let decides_nothing = dispute.evidence().is_some_and(|evidence| evidence != WINNING && evidence != LOSING);
    // An answer after the end of the dispute changes nothing.
    let taken_min = usize::from(decides_nothing && dispute.end().is_none());
    let taken = taken_min..=usize::from(decides_nothing);
    assert!(taken.contains(&count("evidence_taken")), "evidence of {id} is answered once: {events:?}, {dispute:?}");
}
