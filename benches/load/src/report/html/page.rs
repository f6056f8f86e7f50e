//! The pages.

use super::charts::{
    latency_by_percentile, latency_over_time, p99_by_value, p99_over_time, rate_by_value, rate_over_time, search,
};
use super::markup::{escaped, figures, page, properties, remarks, table};
use crate::plan::Knob;
use crate::recording::Latency;
use crate::report::compare::{Comparison, Difference};
use crate::report::document::{Document, Parameters};
use crate::report::terminal;
use crate::report::text::{change, count, latency, memory, rate, share};
use crate::run::{Point, SearchResult};

/// More lines than this in one picture cannot be told apart.
const LINES_MAX: usize = 6;

/// The page of one command.
#[must_use]
pub fn run_page(document: &Document) -> String {
    let title = format!("till-bench: {}", document.parameters.title());
    let mut body = head(&title, &document.started_at) + &remarks(&document.notes);
    body += &remarks(&terminal::verdicts(document));
    body += &document.search.as_ref().map(search_part).unwrap_or_default();
    body += &match document.points.as_slice() {
        [] => String::new(),
        [point] => point_part(point),
        points => sweep_part(document, points),
    };
    body += &remarks(&terminal::ended_early(document).into_iter().collect::<Vec<_>>());
    body += &circumstances(document);
    page(&title, &body)
}

/// The page of a comparison.
#[must_use]
pub fn comparison_page(comparison: &Comparison) -> String {
    let Comparison { before, after, notes } = comparison;
    let title = format!("till-bench compare: {}", before.parameters.title());
    let mut body = head(&title, &format!("{} and {}", before.started_at, after.started_at));
    if let ([first], [second]) = (before.points.as_slice(), after.points.as_slice()) {
        body += &compared_figures(first, second);
    }
    body += &remarks(&terminal::compared_search(comparison).into_iter().collect::<Vec<_>>());
    body += &compared_pictures(before, after);
    for (first, second) in before.points.iter().zip(&after.points) {
        body += &format!("<h2>{}</h2>\n{}", escaped(&terminal::name(first)), table(&terminal::compared(first, second)));
    }
    body += &also_different(notes);
    body += &circumstances(before);
    page(&title, &body)
}

fn head(title: &str, started_at: &str) -> String {
    format!("<h1>{}</h1>\n<p class=\"soft\">{}</p>\n", escaped(title), escaped(started_at))
}

fn point_part(point: &Point) -> String {
    let Latency { p50, p99, p999, .. } = point.latency_micros;
    let first = [
        ("calls a second", rate(point.rate)),
        ("p50", latency(p50)),
        ("p99", latency(p99)),
        ("p99.9", latency(p999)),
        ("failed", count(point.failed())),
        ("wrong answers", count(point.wrong.count)),
    ];
    let named = [("all".to_owned(), point)];
    let mut part = figures(&first) + &remarks(&terminal::remarks(point));
    part += &rate_over_time(&named).figure();
    part += &latency_over_time(point).figure();
    part += &latency_by_percentile(&named).figure();
    part + "<h2>Latencies</h2>\n" + &table(&terminal::latencies(point))
}

fn sweep_part(document: &Document, points: &[Point]) -> String {
    let Some(sweep) = &document.parameters.sweep else { return String::new() };
    let named: Vec<(String, &Point)> =
        points.iter().map(|point| (terminal::name(point), point)).take(LINES_MAX).collect();
    let reports = [("this run".to_owned(), points)];
    let mut part = rate_by_value(sweep.knob, &reports).figure() + &p99_by_value(sweep.knob, &reports).figure();
    part += &latency_by_percentile(&named).figure();
    part += &rate_over_time(&named).figure();
    for point in points {
        part += &format!("<h2>{}</h2>\n", escaped(&terminal::name(point)));
        let calls = format!("{} in {:.2} s, {}/s", count(point.operations), point.seconds, rate(point.rate));
        part += &format!(
            "<p>{}</p>\n{}{}",
            escaped(&calls),
            remarks(&terminal::remarks(point)),
            table(&terminal::latencies(point))
        );
    }
    part
}

fn search_part(found: &SearchResult) -> String {
    let highest = found.highest_rate.map_or_else(|| "none".to_owned(), rate);
    let first = [("highest rate a second", highest), ("p99 below", latency(found.p99_below_micros))];
    figures(&first) + &search(found).figure()
}

fn compared_figures(before: &Point, after: &Point) -> String {
    let (of, to) = (&before.latency_micros, &after.latency_micros);
    #[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53 microseconds")]
    let changed = |before: u64, after: u64| change(before as f64, after as f64);
    figures(&[
        ("throughput", change(before.rate, after.rate)),
        ("p50", changed(of.p50, to.p50)),
        ("p99", changed(of.p99, to.p99)),
        ("p99.9", changed(of.p999, to.p999)),
    ])
}

fn compared_pictures(before: &Document, after: &Document) -> String {
    let (first, second) = ("first".to_owned(), "second".to_owned());
    if let Some(sweep) = &before.parameters.sweep {
        let reports = [(first, before.points.as_slice()), (second, after.points.as_slice())];
        return rate_by_value(sweep.knob, &reports).figure() + &p99_by_value(sweep.knob, &reports).figure();
    }
    let (Some(of), Some(to)) = (before.points.first(), after.points.first()) else { return String::new() };
    let named = [(first, of), (second, to)];
    rate_over_time(&named).figure() + &p99_over_time(&named).figure() + &latency_by_percentile(&named).figure()
}

fn also_different(notes: &[Difference]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let mut rows = vec![["", "first", "second"].map(str::to_owned).to_vec()];
    rows.extend(notes.iter().map(|note| vec![note.what.clone(), note.before.clone(), note.after.clone()]));
    format!("<h2>Also different</h2>\n{}", table(&rows))
}

/// What was measured, and where.
fn circumstances(document: &Document) -> String {
    let rows = parameters(&document.parameters).into_iter().chain(surroundings(document));
    format!("<h2>What was measured</h2>\n{}", properties(&rows.collect::<Vec<_>>()))
}

fn parameters(parameters: &Parameters) -> Vec<(String, String)> {
    let text = |name: &str, value: String| Some((name.to_owned(), value));
    let rows = [
        text("scenario", format!("{} ({})", parameters.scenario.word, parameters.scenario.weights)),
        text(
            "merchants",
            format!("{}, {}", values(parameters, Knob::Merchants, parameters.merchants), parameters.skew),
        ),
        text("connections", values(parameters, Knob::Connections, parameters.connections)),
        text("threads of the load tester", parameters.threads.to_string()),
        text(
            "duration",
            format!("{} s after {} s of warm-up", parameters.duration_seconds, parameters.warm_up_seconds),
        ),
        parameters.webhooks.description().and_then(|description| text("webhooks", description.to_owned())),
        parameters.metadata.and_then(|work| {
            let (size, conflicts, versioned) = (work.set_size, work.conflict_rate, work.versioned_share);
            let shares = format!("share of conflicts {conflicts}, of calls with a version {versioned}");
            text("sets", format!("{size} items beforehand; {shares}"))
        }),
        parameters.lists.and_then(|work| {
            let depth = work.depth.map_or_else(|| "random".to_owned(), |depth| depth.to_string());
            let (entries, page, filter) = (work.entries, work.per_page, work.filter.description());
            text("lists", format!("{entries} entries, pages of {page}, depth {depth}, {filter}"))
        }),
    ];
    rows.into_iter().flatten().collect()
}

/// What a knob was set to: one after the other, if it was swept.
fn values(parameters: &Parameters, knob: Knob, value: usize) -> String {
    match parameters.sweep.as_ref().filter(|sweep| sweep.knob == knob) {
        Some(sweep) => sweep.values.iter().map(usize::to_string).collect::<Vec<_>>().join(", then "),
        None => value.to_string(),
    }
}

fn surroundings(document: &Document) -> Vec<(String, String)> {
    let Document { till, machine, server, .. } = document;
    let place = if server.same_machine { "on the load tester's machine" } else { "on another machine" };
    let whose = if server.own { "started for this run" } else { "running before" };
    let settings: Vec<String> = server.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let rows = [
        ("server", format!("{whose}, {place}, {}", if server.tls { "with TLS" } else { "without TLS" })),
        ("settings of the server", if settings.is_empty() { "not known".to_owned() } else { settings.join(" ") }),
        ("file system of its data", server.data_filesystem.clone().unwrap_or_else(|| "not known".to_owned())),
        ("till", format!("{}, {} build, optimization {}", till.version, till.profile, till.optimization)),
        ("processors", format!("{} {}", machine.processors, machine.processor_name.clone().unwrap_or_default())),
        ("memory", machine.memory_bytes.map_or_else(|| "not known".to_owned(), memory)),
        ("kernel", machine.kernel.clone()),
        ("load before the run", machine.load_before.map_or_else(|| "not known".to_owned(), |load| load.to_string())),
        ("processor time that others took", others(document)),
    ];
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What others took of the processors, before the run and during each.
fn others(document: &Document) -> String {
    let known = |value: Option<f64>| value.map_or_else(|| "not known".to_owned(), share);
    let during: Vec<String> = document.points.iter().map(|point| known(point.others_busy)).collect();
    let during = if during.is_empty() { String::new() } else { format!(", during it {}", during.join(", ")) };
    format!("directly before the run {}{during}", known(document.machine.busy_before))
}
