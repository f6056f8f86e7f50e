//! The report of a verification as JSON.

use serde_json::{Value, json};
use till_operate::verify::{Fault, Place, Report, RowName};

/// The report as one object.
pub(super) fn report_json(report: &Report) -> Value {
    let Report {
        merchants,
        merchants_not_replayed,
        records,
        rows,
        book_lines,
        older_row_format,
        faults,
        fault_count,
        harmless_count,
    } = report;
    json!({
        "clean": report.is_clean(),
        "merchants": merchants,
        "merchants_not_replayed": merchants_not_replayed,
        "records": records,
        "rows": rows,
        "book_lines": book_lines,
        "older_row_format": older_row_format,
        "fault_count": fault_count,
        "harmless_count": harmless_count,
        "faults": faults.iter().map(fault).collect::<Vec<_>>(),
    })
}

fn fault(fault: &Fault) -> Value {
    json!({
        "merchant_id": fault.merchant_id.map(|id| id.to_string()),
        "place": place(&fault.place),
        "fault": fault.wrong.name(),
        "message": fault.to_string(),
    })
}

fn place(place: &Place) -> Value {
    match place {
        Place::Store => json!({ "kind": "store" }),
        Place::Records { first, last } => json!({ "kind": "records", "first": first.0, "last": last.0 }),
        Place::Head => json!({ "kind": "head" }),
        Place::Applied => json!({ "kind": "position" }),
        Place::Snapshot(sequence) => json!({ "kind": "snapshot", "sequence": sequence.0 }),
        Place::Row(RowName { family, key }) => json!({ "kind": "row", "family": family.name(), "row": key }),
        Place::Rows { family, behind, before, expected } => {
            let name = |row: &Option<RowName>| row.as_ref().map(|row| row.key.clone());
            json!({
                "kind": "rows",
                "family": family.name(),
                "behind": name(behind),
                "before": name(before),
                "expected": expected,
            })
        }
        Place::Book => json!({ "kind": "book" }),
        Place::BookLine(reference) => json!({ "kind": "book_line", "reference": reference }),
    }
}
