//! The report of a verification as JSON.

use serde_json::{Value, json};
use till_operate::verify::{Fault, FaultLocation, Report, RowName};

/// The report as one object.
pub(super) fn report_json(report: &Report) -> Value {
    let Report { merchants, merchants_not_replayed, records, rows, book_lines, faults, fault_count, harmless_count } =
        report;
    json!({
        "clean": report.is_clean(),
        "merchants": merchants,
        "merchants_not_replayed": merchants_not_replayed,
        "records": records,
        "rows": rows,
        "book_lines": book_lines,
        "fault_count": fault_count,
        "harmless_count": harmless_count,
        "faults": faults.iter().map(fault).collect::<Vec<_>>(),
    })
}

fn fault(fault: &Fault) -> Value {
    json!({
        "merchant_id": fault.merchant_id.map(|id| id.to_string()),
        "place": location(&fault.location),
        "fault": fault.wrong.name(),
        "message": fault.to_string(),
    })
}

fn location(location: &FaultLocation) -> Value {
    match location {
        FaultLocation::Store => json!({ "kind": "store" }),
        FaultLocation::Records { first, last } => json!({ "kind": "records", "first": first.0, "last": last.0 }),
        FaultLocation::Head => json!({ "kind": "head" }),
        FaultLocation::Applied => json!({ "kind": "position" }),
        FaultLocation::Snapshot(sequence) => json!({ "kind": "snapshot", "sequence": sequence.0 }),
        FaultLocation::Row(RowName { family, key }) => json!({ "kind": "row", "family": family.name(), "row": key }),
        FaultLocation::Rows { family, after, before, expected } => {
            let name = |row: &Option<RowName>| row.as_ref().map(|row| row.key.clone());
            json!({
                "kind": "rows",
                "family": family.name(),
                "behind": name(after),
                "before": name(before),
                "expected": expected,
            })
        }
        FaultLocation::Deliveries => json!({ "kind": "deliveries" }),
        FaultLocation::Book => json!({ "kind": "book" }),
        FaultLocation::BookLine(reference) => json!({ "kind": "book_line", "reference": reference }),
    }
}
