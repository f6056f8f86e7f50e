//! The report for a terminal.

use super::compare::Comparison;
use super::document::Document;
use super::spread::{Finding, Spread};
use super::text::{change, count, counted, latency, rate};
use crate::recording::Latency;
use crate::run::{Point, SearchResult};

/// The cells of a row.
type TableRow = Vec<String>;

/// A figure of a point.
type Figure<T> = fn(&Point) -> T;

/// The report of one command.
#[must_use]
pub fn run_text(document: &Document) -> String {
    let mut blocks = vec![heading(document)];
    if document.points.len() > 1 {
        blocks.push(table(&overview(&document.points)));
    }
    for point in &document.points {
        blocks.push(point_text(point, document.points.len() > 1));
    }
    blocks.extend(document.search.as_ref().map(|search| search_text(search, document.ended_early.is_some())));
    if !document.fail_if.is_empty() {
        blocks.push(document.fail_if.iter().map(|verdict| verdict.told.as_str()).collect::<Vec<_>>().join("\n"));
    }
    if !document.notes.is_empty() {
        blocks.push(document.notes.join("\n"));
    }
    blocks.join("\n\n") + "\n"
}

fn heading(document: &Document) -> String {
    let Document { parameters, machine, till, server, .. } = document;
    let place = match (server.own, server.same_machine) {
        (true, _) => "server of its own on the same machine",
        (false, true) => "server on the same machine",
        (false, false) => "server on another machine",
    };
    let merchants = counted(parameters.merchants, "merchant");
    let connections = counted(parameters.connections, "connection");
    let webhooks = if parameters.webhooks { ", webhooks to a receiver" } else { "" };
    let lines = [
        format!("{} ({merchants}, {}, {connections}{webhooks})", document.title, parameters.skew),
        format!(
            "till {} ({}, optimization {}), {} processors, {place}{}",
            till.version,
            till.profile,
            till.optimization,
            machine.processors,
            if server.tls { ", with TLS" } else { "" }
        ),
    ];
    lines.join("\n")
}

fn overview(points: &[Point]) -> Vec<TableRow> {
    let mut rows = vec![vec![
        "merchants".into(),
        "connections".into(),
        "rate/s".into(),
        "p50".into(),
        "p99".into(),
        "failed".into(),
    ]];
    rows.extend(points.iter().map(|point| {
        let Latency { p50, p99, .. } = point.latency_micros;
        vec![
            point.merchants.to_string(),
            point.connections.to_string(),
            rate(point.rate),
            latency(p50),
            latency(p99),
            count(point.failed()),
        ]
    }));
    rows
}

fn point_text(point: &Point, is_one_of_many: bool) -> String {
    let mut lines = Vec::new();
    if is_one_of_many {
        lines.push(name(point));
    }
    let calls = format!("{} in {:.2} s, {}/s", count(point.operations), point.seconds, rate(point.rate));
    lines.push(match point.intended_rate {
        Some(intended) => format!("{calls} of {}/s that were meant to be made", rate(intended)),
        None => calls,
    });
    if point.operations > 0 {
        lines.push(table(&latencies(point)));
    }
    lines.extend(point.remarks.iter().cloned());
    lines.join("\n")
}

/// The name of a point among several: the values of the run.
fn name(point: &Point) -> String {
    format!("{}, {}", counted(point.merchants, "merchant"), counted(point.connections, "connection"))
}

/// The latencies of all operations and of each step.
fn latencies(point: &Point) -> Vec<TableRow> {
    let head = ["", "count", "p50", "p90", "p99", "p99.9", "max"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let row = |name: &str, of: &Latency| {
        let mut row = vec![name.to_owned(), count(of.count)];
        row.extend([of.p50, of.p90, of.p99, of.p999, of.max].map(latency));
        row
    };
    rows.push(row("all", &point.latency_micros));
    // A step that makes up the whole operation has the same latencies, and is left out.
    let steps = point.steps.iter().filter(|step| step.latency_micros != point.latency_micros);
    if point.steps.len() > 1 {
        rows.extend(steps.map(|step| row(&step.name, &step.latency_micros)));
    }
    rows
}

fn search_text(search: &SearchResult, has_ended_early: bool) -> String {
    let bound = latency(search.p99_below_micros);
    let found = match search.highest_rate {
        Some(highest) => format!("p99 stays below {bound} up to {} calls/s", rate(highest)),
        None if has_ended_early => "the search did not come to its end".to_owned(),
        None => format!("p99 stays below {bound} at no rate"),
    };
    format!("{}\n{found}", table(&tried(search)))
}

/// The rates that a search tried, each with what it missed.
fn tried(search: &SearchResult) -> Vec<TableRow> {
    let mut rows = vec![["rate/s", "reached/s", "p99", ""].map(str::to_owned).to_vec()];
    rows.extend(
        search
            .tried
            .iter()
            .map(|tried| vec![rate(tried.rate), rate(tried.reached), latency(tried.p99), tried.verdict()]),
    );
    rows
}

/// The runs of two sides beside each other.
#[must_use]
pub fn comparison_text(comparison: &Comparison) -> String {
    let mut blocks = vec![comparison.title().to_owned(), sides(comparison)];
    blocks.extend(compared_tables(comparison).iter().map(|(name, rows)| format!("{name}\n{}", table(rows))));
    let notes = comparison.notes();
    if !notes.is_empty() {
        blocks.push(notes.join("\n"));
    }
    blocks.join("\n\n") + "\n"
}

/// The tables of a comparison with their names: each point, the searches, and what differs beside the load.
pub(super) fn compared_tables(comparison: &Comparison) -> Vec<(String, Vec<TableRow>)> {
    let points = comparison.points();
    let mut tables: Vec<_> = points.iter().map(|(before, after)| (name(before[0]), compared(before, after))).collect();
    tables.extend(compared_search(comparison).map(|rows| ("the search".to_owned(), rows)));
    if !comparison.differences.is_empty() {
        let head = ["", "first", "second"].map(str::to_owned);
        let rows = [&head].into_iter().chain(&comparison.differences).map(|row| row.to_vec()).collect();
        tables.push(("also different".to_owned(), rows));
    }
    tables
}

/// The number of runs, and the figures that are shown of them.
pub(super) fn sides(comparison: &Comparison) -> String {
    let [first, second] = [&comparison.before, &comparison.after].map(|side| counted(side.len(), "run"));
    format!("{first} and {second}: the median of each side, and its range")
}

/// The highest rates that the searches of both sides found.
fn compared_search(comparison: &Comparison) -> Option<Vec<TableRow>> {
    let highest = |side: &[Document]| -> Option<Spread> {
        let rates: Option<Vec<f64>> =
            side.iter().map(|run| run.search.as_ref().map(|search| search.highest_rate.unwrap_or_default())).collect();
        rates.map(Spread::of)
    };
    let (before, after) = (highest(&comparison.before)?, highest(&comparison.after)?);
    Some(vec![compared_head(), compared_row("highest rate/s", before, after, rate)])
}

/// The rows of a comparison: one point of all runs of both sides.
#[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53")]
fn compared(before: &[&Point], after: &[&Point]) -> Vec<TableRow> {
    let spread = |side: &[&Point], figure: Figure<f64>| Spread::of(side.iter().map(|point| figure(point)));
    let both = |figure: Figure<f64>| (spread(before, figure), spread(after, figure));
    let (of, to) = both(|point| point.rate);
    let mut rows = vec![compared_head(), compared_row("rate/s", of, to, rate)];
    let latencies: [(&str, Figure<f64>); 4] = [
        ("p50", |point| point.latency_micros.p50 as f64),
        ("p90", |point| point.latency_micros.p90 as f64),
        ("p99", |point| point.latency_micros.p99 as f64),
        ("max", |point| point.latency_micros.max as f64),
    ];
    for (name, figure) in latencies {
        let (of, to) = both(figure);
        rows.push(compared_row(name, of, to, micros));
    }
    let total = |side: &[&Point], figure: Figure<u64>| count(side.iter().map(|point| figure(point)).sum());
    let counts: [(&str, Figure<u64>); 2] = [("failed", Point::failed), ("wrong", |point| point.wrong.count)];
    for (name, figure) in counts {
        rows.push(vec![name.into(), total(before, figure), String::new(), total(after, figure)]);
    }
    rows
}

fn compared_head() -> TableRow {
    ["", "first", "range", "second", "range", "change", ""].map(str::to_owned).to_vec()
}

/// A figure of both sides with its ranges, and what they show.
fn compared_row(name: &str, before: Spread, after: Spread, shown: fn(f64) -> String) -> TableRow {
    let change = change(before.median, after.median);
    let (first, second) = (shown(before.median), shown(after.median));
    let range = |side: Spread| format!("{} to {}", shown(side.least), shown(side.most));
    let finding = Finding::of(before, after).to_string();
    vec![name.to_owned(), first, range(before), second, range(after), change, finding]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a latency is above 0 and far below 2^53")]
fn micros(micros: f64) -> String {
    latency(micros.round() as u64)
}

/// Columns under each other: the first and one without a name to the left, the others to the right.
fn table(rows: &[TableRow]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let cell = |row: &TableRow, column: usize| row.get(column).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| cell(row, column)).max().unwrap_or_default()).collect();
    let line = |row: &TableRow| {
        let padded = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let is_left = column == 0 || rows[0].get(column).is_some_and(String::is_empty);
            if is_left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::examples::{document, point};
    use super::*;

    #[test]
    fn the_table_has_its_columns_under_each_other() {
        let rows = [["", "count"], ["all", "12"], ["a step", "1,234"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "        count\nall        12\na step  1,234");
        let verdicts =
            [["rate/s", ""], ["10", "passed"], ["20", "not passed"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&verdicts), "rate/s\n10      passed\n20      not passed");
    }

    #[test]
    fn a_run_is_shown_in_a_few_lines() {
        let text = run_text(&document());
        assert!(text.contains("100 in 2.00 s, 50.0/s") && text.contains("110 µs"), "{text}");
        assert!(!text.contains("FAILED") && !text.contains("WRONG"), "{text}");
    }

    #[test]
    fn notes_on_all_figures_are_printed_below_them() {
        let text = run_text(&Document { notes: vec!["NOTE: of all".to_owned()], ..document() });
        assert!(text.ends_with("\n\nNOTE: of all\n"), "{text}");
    }

    #[test]
    fn a_run_in_which_nothing_ended_well_has_no_table_of_zeros() {
        let nothing = Point { operations: 0, latency_micros: Latency::default(), ..point() };
        let text = run_text(&Document { points: vec![nothing], ..document() });
        assert!(text.contains("0 in 2.00 s") && !text.contains("0 µs"), "{text}");
    }

    #[test]
    fn a_comparison_of_several_runs_shows_medians_and_ranges() {
        let side = |rates: [f64; 4]| rates.map(|rate| Point { rate, ..point() });
        let rows = |before: [f64; 4], after: [f64; 4]| {
            let (before, after) = (side(before), side(after));
            compared(&before.iter().collect::<Vec<_>>(), &after.iter().collect::<Vec<_>>())
        };
        let faster = rows([50.0, 52.0, 48.0, 51.0], [60.0, 61.0, 58.0, 62.0]);
        let expected = ["rate/s", "50.5", "48.0 to 52.0", "60.5", "58.0 to 62.0", "+19.8 %", "different"];
        assert_eq!(faster[1], expected);
        let same = rows([50.0, 52.0, 40.0, 51.0], [60.0, 61.0, 45.0, 62.0]);
        assert_eq!(same[1].last().map(String::as_str), Some("no difference shown"));
        assert_eq!(same[3][..3], ["p90", "150 µs", "150 µs to 150 µs"]);
    }
}
