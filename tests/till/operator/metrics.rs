//! The metrics, and a check that the dashboard, the alerts and the documents name no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{PATIENCE, Pair, Server, Start, directory, holds_within, temporary};

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A scrape after a payment and a checkpoint, with the metrics that only some settings have.
fn scrape() -> String {
    let archive = directory();
    let pair = Pair::new();
    let (server, shop) =
        pair.start().with("TILL_ARCHIVE_DIRECTORY", &archive.path().display().to_string()).server_with_shop();
    let payment = shop.pay(100);
    shop.settled(&payment);
    server.admin("create-checkpoint", &json!({})).ok();
    server.metrics()
}

/// The names of metrics: words with the prefix of ours, without the suffixes of a histogram's series.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let named = words.filter(|word| word.starts_with("till_") || word.starts_with("process_"));
    named.map(|word| base(word).to_owned()).collect()
}

fn base(name: &str) -> &str {
    ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

/// The names of the samples of a scrape.
fn scraped(text: &str) -> BTreeSet<String> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples.flat_map(|line| names(line.split(['{', ' ']).next().unwrap_or(""))).collect()
}

#[test]
fn a_copy_of_a_store_shows_the_identity_of_its_original() {
    let identity = |server: &Server| {
        let text = server.metrics();
        let line = text.lines().find_map(|line| line.strip_prefix("till_store_info{store=\""));
        line.and_then(|line| line.strip_suffix("\"} 1")).expect("it is exposed").to_owned()
    };
    let (_place, [data, copy]) = temporary(["data", "copy"]);
    assert!(Start::default().server_in(&data).stop());
    assert!(Command::new("cp").arg("-a").args([&data, &copy]).status().expect("cp is there").success());
    let servers = [&data, &copy].map(|data| Start::default().server_in(data));
    let [of_original, of_copy] = servers.each_ref().map(identity);
    assert!(of_original == of_copy && of_original.len() == 32, "{of_original}, {of_copy}");
    assert_ne!(identity(&Server::start()), of_original);
}

#[test]
fn every_metric_has_a_help_text_and_a_type() {
    let text = scrape();
    for what in ["# HELP ", "# TYPE "] {
        let described: BTreeSet<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix(what)?.split_once(' '))
            .filter(|(_, description)| !description.trim().is_empty())
            .map(|(name, _)| name)
            .collect();
        let without: Vec<String> =
            scraped(&text).into_iter().filter(|name| !described.contains(name.as_str())).collect();
        assert!(without.is_empty(), "{what}{without:?}");
    }
}

/// The expressions of all panels and variables.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(text) if key == "expr" || key == "query" => found.push(text.clone()),
                    Value::Object(_) | Value::Array(_) => expressions(value, found),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| expressions(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The metrics of a server whose log is in a database.
fn scrape_over_a_database() -> String {
    let (_database, start) = crate::journal::database();
    let server = start.server();
    let is_there = || server.metric("till_journal_synchronous_standbys").is_some();
    assert!(holds_within(PATIENCE, is_there), "the database is looked at");
    server.metrics()
}

#[test]
fn dashboard_alerts_and_documents_name_the_scraped_metrics() {
    let (text, of_a_journal) = (scrape(), scrape_over_a_database());
    let there: BTreeSet<String> = scraped(&text).into_iter().chain(scraped(&of_a_journal)).collect();
    let dashboard: Value = serde_json::from_str(&file("deploy/grafana/till.json")).expect("it is JSON");
    let mut queries = Vec::new();
    expressions(&dashboard, &mut queries);
    assert!(queries.len() > 40, "{queries:?}");
    let alerts = file("deploy/prometheus/alerts.yml");
    for (place, named) in [("dashboard", names(&queries.join("\n"))), ("alerts", names(&alerts))] {
        assert!(named.len() > 10, "{place}: {named:?}");
        for name in named {
            assert!(there.contains(&name), "{place}: {name} is nowhere");
        }
    }
    let table = file("docs/metrics.md");
    let documented: String = table.lines().filter(|line| line.starts_with("| `")).collect();
    let documented = names(&documented);
    for name in &there {
        assert!(documented.contains(name), "metrics.md has no {name}");
    }
    for name in documented {
        assert!(there.contains(&name), "metrics.md: {name} is nowhere");
    }
}

#[test]
fn alerts_about_calls_leave_out_other_requests_throughout() {
    let alerts = file("deploy/prometheus/alerts.yml");
    let expression = |name: &str| {
        let text = alerts.split_once(&format!("- alert: {name}\n")).expect("it is there").1;
        text.split_once("for:").expect("it has a time").0.to_owned()
    };
    let calls = r#"endpoint!~"/.*|\\(unknown\\)""#;
    let not_served = expression("TillCallsNotServed");
    assert_eq!(not_served.matches("till_http_requests_total{").count(), 2, "{not_served}");
    assert_eq!(not_served.matches(calls).count(), 2, "{not_served}");
    assert!(expression("TillSlowAnswers").contains(r#"endpoint!~"/.*|\\(unknown\\)|create-checkpoint""#));
}

#[test]
fn every_alert_has_a_section_and_every_section_an_alert() {
    let (alerts, document) = (file("deploy/prometheus/alerts.yml"), file("docs/alerts.md"));
    let value = |key: &str| -> Vec<String> {
        let lines = alerts.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix(key));
        lines.map(|value| value.trim().trim_matches('"').to_owned()).collect()
    };
    let (named, links) = (value("alert:"), value("runbook_url:"));
    assert!(named.len() > 10 && named.len() == links.len());
    for (name, link) in named.iter().zip(&links) {
        assert_eq!(link, &format!("docs/alerts.md#{}", name.to_lowercase()));
        assert!(document.contains(&format!("\n## {name}\n")), "{name} has no section");
    }
    let sections = document.lines().filter_map(|line| line.strip_prefix("## Till"));
    for section in sections {
        assert!(named.contains(&format!("Till{section}")), "there is no alert Till{section}");
    }
}

#[test]
#[ignore = "needs promtool, which comes with Prometheus"]
fn the_alerts_fire_when_their_tests_say() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/prometheus/alerts_test.yml");
    let output = Command::new("promtool").args(["test", "rules"]).arg(tests).output().expect("promtool is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_payment_shows_in_histograms_and_store_metrics() {
    let text = scrape();
    let value = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} is not in\n{text}")).parse().expect("a number")
    };
    for name in [
        "till_commit_seconds_count",
        "till_commit_seconds_sum",
        "till_commit_group_batches_count",
        "till_store_write_seconds_sum",
        "till_store_memtable_bytes",
        "till_disk_free_bytes",
        "till_disk_reserve_bytes",
        "till_store_closed_before_start",
        "till_checkpoint_newest_timestamp_seconds",
        "till_tls_certificate_end_timestamp_seconds{what=\"admin_tls\"}",
        "process_resident_memory_bytes",
        "process_open_fds",
        "process_start_time_seconds",
    ] {
        assert!(value(name) > 0.0, "{name}");
    }
    for name in ["till_effects_open", "till_commit_staged_records", "till_store_writes_stopped"] {
        assert!(value(name).abs() < f64::EPSILON, "{name}: nothing is under way");
    }
    assert!(value("till_commit_seconds_bucket{le=\"+Inf\"}") >= value("till_commit_seconds_bucket{le=\"0.016384\"}"));
}
