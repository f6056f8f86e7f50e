//! The HTML pages of one report and of a comparison.

use super::charts::{
    latency_by_percentile, latency_over_time, p99_by_value, p99_over_time, rate_by_value, rate_over_time, search,
};
use super::markup::{escaped, figures, page, properties, remarks, table};
use crate::plan::Knob;
use crate::recording::Latency;
use crate::report::compare::{Comparison, Difference};
use crate::report::document::{Document, Parameters};
use crate::report::spread::{Finding, Spread};
use crate::report::terminal;
use crate::report::text::{change, count, latency, memory, rate, share};
use crate::run::{Point, SearchResult};

/// The largest number of lines in one chart. A reader cannot tell more of them apart.
const LINES_MAX: usize = 6;

/// The page of one report.
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
    let title = format!("till-bench compare: {}", comparison.parameters().title());
    let (points, notes) = (comparison.points(), comparison.notes());
    let sides = match (comparison.before.as_slice(), comparison.after.as_slice()) {
        ([before], [after]) => format!("{} and {}", before.started_at, after.started_at),
        _ => terminal::sides(comparison),
    };
    let mut body = head(&title, &sides) + &remarks(&notes);
    if let [(before, after)] = points.as_slice() {
        body += &compared_figures(before, after);
    }
    body += &terminal::compared_search(comparison).map(|rows| table(&rows)).unwrap_or_default();
    body += &compared_pictures(comparison);
    for (before, after) in &points {
        let name = escaped(&terminal::name(before[0]));
        body += &format!("<h2>{name}</h2>\n{}", table(&terminal::compared(before, after)));
    }
    body += &also_different(&comparison.differences);
    body += &comparison.before.first().map(circumstances).unwrap_or_default();
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
    if point.operations == 0 {
        return part;
    }
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
    figures(&first) + &search(found).figure() + &table(&terminal::tried(found))
}

/// The change of the median of each figure. Where the ranges of both sides overlap, a text says so instead.
#[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53 microseconds")]
fn compared_figures(before: &[&Point], after: &[&Point]) -> String {
    let changed = |figure: fn(&Point) -> f64| {
        let [before, after] = [before, after].map(|side| Spread::of(side.iter().map(|point| figure(point))));
        match Finding::of(before, after) {
            Finding::NoDifference => Finding::NoDifference.to_string(),
            Finding::OneRunEach | Finding::TooFewRuns | Finding::Different => change(before.median, after.median),
        }
    };
    figures(&[
        ("throughput", changed(|point| point.rate)),
        ("p50", changed(|point| point.latency_micros.p50 as f64)),
        ("p99", changed(|point| point.latency_micros.p99 as f64)),
        ("p99.9", changed(|point| point.latency_micros.p999 as f64)),
    ])
}

/// The charts of both sides. For a sweep they show its medians; otherwise they show the run of each side whose rate is
/// the median.
fn compared_pictures(comparison: &Comparison) -> String {
    let is_several = comparison.before.len() + comparison.after.len() > 2;
    let named = |side: &str, what: &str| if is_several { format!("{side}, {what}") } else { side.to_owned() };
    let points = comparison.points();
    if let Some(sweep) = &comparison.parameters().sweep {
        let before: Vec<Point> = points.iter().map(|(before, _)| median_point(before)).collect();
        let after: Vec<Point> = points.iter().map(|(_, after)| median_point(after)).collect();
        let reports = [(named("first", "median"), before.as_slice()), (named("second", "median"), after.as_slice())];
        return rate_by_value(sweep.knob, &reports).figure() + &p99_by_value(sweep.knob, &reports).figure();
    }
    let Some((before, after)) = points.first() else { return String::new() };
    let named = [
        (named("first", "run of median rate"), run_of_median_rate(before)),
        (named("second", "run of median rate"), run_of_median_rate(after)),
    ];
    rate_over_time(&named).figure() + &p99_over_time(&named).figure() + &latency_by_percentile(&named).figure()
}

/// A point with the medians of the figures that the charts of a sweep show: the rate and the p99 latency.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "latencies are far below 2^53 microseconds"
)]
fn median_point(runs: &[&Point]) -> Point {
    let mut point = (*runs[0]).clone();
    point.rate = Spread::of(runs.iter().map(|run| run.rate)).median;
    point.latency_micros.p99 = Spread::of(runs.iter().map(|run| run.latency_micros.p99 as f64)).median as u64;
    point
}

/// The run whose rate is the median. Of an even number of runs, it is the one with the lower rate of the middle two.
fn run_of_median_rate<'a>(runs: &[&'a Point]) -> &'a Point {
    let mut runs = runs.to_vec();
    runs.sort_by(|first, second| first.rate.total_cmp(&second.rate));
    runs[(runs.len() - 1) / 2]
}

fn also_different(differences: &[Difference]) -> String {
    if differences.is_empty() {
        return String::new();
    }
    let mut rows = vec![["", "first", "second"].map(str::to_owned).to_vec()];
    rows.extend(
        differences.iter().map(|Difference { what, before, after }| vec![what.clone(), before.clone(), after.clone()]),
    );
    format!("<h2>Also different</h2>\n{}", table(&rows))
}

/// The parameters, the machine and the server of a report.
fn circumstances(document: &Document) -> String {
    let rows = parameters(&document.parameters).into_iter().chain(environment(document));
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

/// The value of a parameter, or all of its values when a sweep varied it.
fn values(parameters: &Parameters, knob: Knob, value: usize) -> String {
    match parameters.sweep.as_ref().filter(|sweep| sweep.knob == knob) {
        Some(sweep) => sweep.values.iter().map(usize::to_string).collect::<Vec<_>>().join(", then "),
        None => value.to_string(),
    }
}

/// The server, the build and the machine of a run.
fn environment(document: &Document) -> Vec<(String, String)> {
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

/// The share of the processors' time that other processes took, before the run and during each point.
fn others(document: &Document) -> String {
    let known = |value: Option<f64>| value.map_or_else(|| "not known".to_owned(), share);
    let during: Vec<String> = document.points.iter().map(|point| known(point.others_busy)).collect();
    let during = if during.is_empty() { String::new() } else { format!(", during it {}", during.join(", ")) };
    format!("directly before the run {}{during}", known(document.machine.busy_before))
}
