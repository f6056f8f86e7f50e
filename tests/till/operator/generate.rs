//! `till-bench generate`: a data directory full of trade, which is as valid as one that was served.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Server, Start, directory, temporary};

const MERCHANTS: usize = 3;
const PAYMENTS: usize = 120;
/// The number of payments of the hot merchant, which has half of all.
const HOT: usize = 60;

/// The longest time for a generation to write some thousand records.
const PATIENCE: Duration = Duration::from_secs(60);

fn run(server: &Server, arguments: &[&str]) -> (bool, String, String) {
    carry_out(server.command(), arguments)
}

fn carry_out(mut command: Command, arguments: &[&str]) -> (bool, String, String) {
    let Output { status, stdout, stderr } = command.args(arguments).output().expect("the binary can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
    (status.success(), text(stdout), text(stderr))
}

fn generate(command: Command) -> String {
    let (merchants, payments) = (MERCHANTS.to_string(), PAYMENTS.to_string());
    let arguments =
        ["generate", "--merchants", &merchants, "--payments", &payments, "--hot-share", "0.5", "--team-share", "0.3"];
    let (done, output, errors) = carry_out(command, &arguments);
    assert!(done, "{errors}");
    output
}

/// Every entry of a list, page by page.
fn whole_list(server: &Server, key: &str, endpoint: &str, filter: &Value) -> Vec<Value> {
    let (mut body, mut entries) = (filter.clone(), Vec::new());
    loop {
        let page = server.client().bearer(key).post(&format!("/merchants/{endpoint}"), &body).ok();
        entries.extend(page["page"].as_array().expect("a page").iter().cloned());
        if page["next"].is_null() {
            return entries;
        }
        body = page["next"].clone();
    }
}

/// More merchants than live actors, all of which have timers that are due at the same moments.
#[test]
fn a_store_of_many_merchants_is_generated() {
    let (_directory, [data]) = temporary(["data"]);
    let arguments = ["generate", "--merchants", "10000", "--payments", "10000"];
    let (done, _, errors) = carry_out(Start::default().load_tester(&data), &arguments);
    assert!(done, "{errors}");
}

#[test]
fn a_generated_store_verifies_before_and_after_serving() {
    let (_directory, [data]) = temporary(["data"]);
    let summary = generate(Start::default().load_tester(&data));
    let (is_clean, report, _) = carry_out(Start::default().command(&data), &["verify"]);
    assert!(is_clean && report.contains("no faults"), "{report}");
    let mut server = Start::default().server_in(&data);
    has_what_was_generated(&server, &summary, MERCHANTS);
    assert!(server.stop());
    let (is_clean, report, _) = run(&server, &["verify"]);
    assert!(is_clean, "{report}");
}

#[test]
fn a_directory_with_data_is_filled_and_keeps_its_data() {
    let mut server = Server::start();
    server.shop().pay(100);
    assert!(server.stop());
    let summary = generate(server.load_tester());
    let (is_clean, report, _) = run(&server, &["verify"]);
    assert!(is_clean && report.contains("no faults"), "{report}");
    let new = directory();
    let of_new = generate(Start::default().load_tester(&new.path().join("data")));
    // The end of a month is a separate record, or a part of the next one.
    let payments = |line: &str| line.split_once(", in ").map_or(line, |(payments, _)| payments).to_owned();
    let counts = |summary: &str| summary.lines().take(2).map(payments).collect::<Vec<_>>();
    assert_eq!(counts(&summary), counts(&of_new));
    server.restart();
    has_what_was_generated(&server, &summary, MERCHANTS + 1);
}

/// Checks the answers of a server about the hot merchant.
#[track_caller]
fn has_what_was_generated(server: &Server, summary: &str, merchants: usize) {
    let merchant_id = summary.split_whitespace().find(|word| word.starts_with("mer_")).expect("the hot merchant");
    let merchant_id = merchant_id.trim_end_matches(':');
    assert!(summary.contains(&format!("{merchant_id}: {HOT} payments")), "{summary}");
    let listed = server.admin("list-merchants", &json!({})).ok();
    assert_eq!(listed["page"].as_array().map(Vec::len), Some(merchants));
    let key = server.admin("generate-key", &json!({ "merchant_id": merchant_id, "name": "test" })).ok();
    let key = key["key"].as_str().expect("a key");
    let payments = whole_list(server, key, "list-payments", &json!({}));
    let of_status = |status: &str| payments.iter().filter(|payment| payment["status"] == status).count();
    assert_eq!((payments.len(), of_status("SUCCESSFUL"), of_status("FAILED"), of_status("VOIDED")), (HOT, 57, 2, 1));
    let captured = whole_list(server, key, "list-activity-logs", &json!({ "activity_type": "payment_captured" }));
    let team = whole_list(server, key, "list-activity-logs", &json!({ "object_id": merchant_id }));
    assert_eq!((captured.len(), team.len()), (57, HOT * 3 / 10));
    let entries = whole_list(server, key, "balance-history", &json!({}));
    assert_eq!(entries.len(), 2 * 57, "each capture has a fee");
}

/// A generation that would take minutes.
fn begin(data: &Path) -> Child {
    let mut command = Start::default().load_tester(data);
    command.args(["generate", "--merchants", "20", "--payments", "10000000"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary can be started")
}

/// The last commit that the mark names: see `docs/storage-format.md`.
fn marked_commit(data: &Path) -> u64 {
    let mark = std::fs::read(data.join("high-water")).unwrap_or_default();
    let slots = [8, 4_096 + 8].map(|at: usize| mark.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()));
    slots.into_iter().flatten().map(u64::from_be_bytes).max().unwrap_or(0)
}

#[test]
fn a_killed_generation_leaves_a_store_that_serves() {
    let (_directory, [data]) = temporary(["data"]);
    let (mut generation, begun) = (begin(&data), Instant::now());
    while marked_commit(&data) < 3_000 {
        assert!(begun.elapsed() < PATIENCE, "it does not come so far");
        assert!(generation.try_wait().expect("it can be waited for").is_none(), "it has ended");
        sleep(Duration::from_millis(2));
    }
    generation.kill().expect("it runs");
    generation.wait().expect("it can be waited for");
    let mut server = Start::default().server_in(&data);
    let listed = server.admin("list-merchants", &json!({})).ok();
    assert_eq!(listed["page"].as_array().map(Vec::len), Some(20));
    assert!(server.stop());
    let (is_clean, report, _) = run(&server, &["verify"]);
    assert!(is_clean && report.contains("no faults"), "{report}");
}

#[test]
fn a_directory_that_a_server_has_open_is_not_filled() {
    let server = Server::start();
    let (done, output, errors) = carry_out(server.load_tester(), &["generate", "--payments", "1"]);
    assert!(!done && output.is_empty() && errors.contains("in use"), "{errors}");
}
