//! Damage in the store of deliveries, and databases beside the store that are missing.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::harness::{Server, Start, copy, dead_url, holds_within, temporary};

/// The number of deliveries that wait.
const WAITING: u32 = 60;
/// The distance of the bits that are flipped, in bytes.
const STEP: usize = 1_000;

fn start() -> Start {
    // Deliveries wait for an hour after their first attempt.
    Start::default().with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8").with("TILL_WEBHOOK_RETRY_SECONDS", "3600")
}

/// True when a metric reaches a value soon.
fn reaches(server: &Server, metric: &str, value: f64, patience: Duration) -> bool {
    holds_within(patience, || server.metric(metric).is_some_and(|now| now >= value))
}

/// A data directory of a stopped server whose deliveries wait, in tables.
fn store_with_waiting_deliveries(data: &Path) {
    let mut server = start().server_in(data);
    let shop = server.shop();
    let webhook = json!({ "name": "shop", "destination_url": dead_url(), "events": ["*"] });
    shop.call("connect-webhook", &webhook).ok();
    (0..WAITING).for_each(|_| drop(shop.pay(100)));
    let waiting = f64::from(WAITING);
    assert!(reaches(&server, "till_webhook_deliveries_waiting", waiting, Duration::from_secs(30)));
    assert!(server.stop());
    assert!(start().server_in(data).stop(), "its log becomes a table");
}

fn newest_table(directory: &Path) -> PathBuf {
    let files = fs::read_dir(directory).expect("readable").map(|entry| entry.expect("it lists").path());
    files.filter(|file| file.extension().is_some_and(|end| end == "sst")).max().expect("there is a table")
}

fn flip(table: &Path, at: u64) {
    let file = File::options().read(true).write(true).open(table).expect("it is there");
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).expect("it is long enough");
    file.write_all_at(&[byte[0] ^ 1], at).expect("writable");
}

fn verified(data: &Path) -> String {
    let output = start().command(data).arg("verify").output().expect("the binary can be started");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn damaged_deliveries_are_told_at_start_verify_and_while_running() {
    let (place, [data, whole]) = temporary(["data", "whole"]);
    store_with_waiting_deliveries(&data);
    assert!(verified(&data).contains("\nno faults\n"));
    let webhooks = data.join("webhooks");
    copy(&webhooks, &whole);
    let remedy = format!("mv {0} {0}.damaged", webhooks.display());
    let (mut refused, mut failing) = (0, 0);
    let rows_end = fs::metadata(newest_table(&webhooks)).expect("it is there").len() * 2 / 3;
    for at in (0..rows_end).step_by(STEP).map(|at| at + 10) {
        fs::remove_dir_all(&webhooks).expect("it is there");
        copy(&whole, &webhooks);
        flip(&newest_table(&webhooks), at);
        let faults = verified(&data);
        assert!(
            faults.contains("the store of deliveries cannot be read") && faults.contains(&remedy),
            "{at}: {faults}"
        );
        match start().try_server_on(&data, None) {
            Err(printed) => {
                assert!(printed.contains(&remedy) && !printed.contains("panicked"), "{at}: {printed}");
                refused += 1;
            }
            Ok(server) => {
                let fails = reaches(&server, "till_webhook_endpoints_failing", 1.0, Duration::from_secs(3));
                failing += u32::from(fails);
            }
        }
    }
    assert!(refused > 0 && failing > 0, "{refused} starts refused, {failing} with a failing endpoint");
    fs::rename(&webhooks, place.path().join("damaged")).expect("it can be moved");
    let server = start().server_in(&data);
    assert!(reaches(&server, "till_webhook_deliveries_waiting", f64::from(WAITING), Duration::from_secs(30)));
    assert_eq!(server.metric("till_webhook_endpoints_failing"), Some(0.0));
}

#[test]
fn a_database_that_is_made_anew_is_told_in_the_log() {
    let (_place, [data, log]) = temporary(["data", "log"]);
    let line = "a directory of the store was missing and is made anew, empty";
    assert!(start().recording(&log).server_in(&data).stop());
    assert!(!fs::read_to_string(&log).expect("it was recorded").contains(line));
    for name in ["sandbox", "webhooks"] {
        let directory = data.join(name);
        fs::remove_dir_all(&directory).expect("removable");
        assert!(start().recording(&log).server_in(&data).stop());
        let said = fs::read_to_string(&log).expect("it was recorded");
        let told = said.lines().any(|told| told.contains(line) && told.contains(directory.to_str().expect("ASCII")));
        assert!(told, "{said}");
    }
}
