//! The status of the server, and the counts of what became of payments.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::harness::{Server, Start, directory, temporary};

/// The card that is declined.
const DECLINED: &str = "4000000000000002";

fn status(server: &Server) -> Value {
    server.admin("status", &json!({})).ok()
}

/// The exit code of a command, and its standard output.
fn run(server: &Server, arguments: &[&str]) -> (Option<i32>, String) {
    let output = server.command().args(arguments).output().expect("the binary can be started");
    (output.status.code(), String::from_utf8(output.stdout).expect("the output is UTF-8"))
}

/// The count of payments in the metrics.
fn counted(server: &Server, status: &str, failure_code: &str) -> Option<f64> {
    server.metric(&format!("till_payments_total{{failure_code=\"{failure_code}\",status=\"{status}\"}}"))
}

#[test]
fn the_status_tells_what_an_operator_asks_first() {
    let server = Server::start();
    let found = status(&server);
    let (started_at, free) = (&found["started_at"], &found["disk_free_bytes"]);
    assert!(started_at.as_u64() > Some(1_700_000_000) && free.as_u64() > Some(0), "{found}");
    assert!(found["store_id"].as_str().is_some_and(|id| id.len() == 32), "{found}");
    let none = json!({ "successful": 0, "authorized": 0, "failed": 0, "expired": 0, "failure_codes": {} });
    let expected = json!({
        "state": "READY", "store_id": found["store_id"], "version": found["version"],
        "started_at": started_at, "disk_free_bytes": free, "disk_reserve_bytes": 16_777_216, "last_checkpoint": null,
        "journal": null, "archive_lag_seconds": null, "damaged_tables": [], "merchants_not_loaded": [],
            "calls_per_second": 0, "payments": none,
        "conditions": [],
    });
    assert_eq!(found, expected);
    let version = found["version"].as_str().expect("a text");
    assert!(version.starts_with(concat!(env!("CARGO_PKG_VERSION"), " (")) && version.ends_with(')'), "{version}");
    let taken = server.admin("create-checkpoint", &json!({ "name": "first" })).ok();
    let found = status(&server);
    let path = server.data().join("checkpoints/first").display().to_string();
    let newest = json!({ "path": path, "taken_at": taken["taken_at"], "known_damage": false });
    assert_eq!((&found["last_checkpoint"], &found["conditions"]), (&newest, &json!([])));
    assert!(found["calls_per_second"].as_u64() > Some(0), "{found}");
}

#[test]
fn the_archives_lag_is_in_the_status() {
    let archive = directory();
    let start = Start::default().with("TILL_ARCHIVE_DIRECTORY", &archive.path().display().to_string());
    let lag = &status(&start.server())["archive_lag_seconds"];
    assert!(lag.as_u64().is_some_and(|lag| lag < 5), "{lag}");
}

#[test]
fn the_status_command_ends_with_1_when_there_are_conditions() {
    let mut server = Server::start();
    let (code, screen) = run(&server, &["status"]);
    assert!(code == Some(0) && screen.contains("conditions      none\n"), "{screen}");
    server.kill();
    server.restart();
    let (code, screen) = run(&server, &["status"]);
    assert_eq!(code, Some(1), "{screen}");
    for line in ["state           READY, version ", "conditions      TillRestarted (", "archive         none"] {
        assert!(screen.lines().any(|printed| printed.starts_with(line)), "{line} is not in {screen}");
    }
    assert!(screen.lines().count() < 24, "it fits on one screen: {screen}");
    let (code, text) = run(&server, &["status", "--json", "--ignore", "TillRestarted"]);
    let printed: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!((code, &printed["state"], &printed["conditions"]), (Some(0), &json!("READY"), &json!([])));
}

#[test]
fn a_paused_server_and_one_that_refuses_writes_say_so() {
    let (_place, [data]) = temporary(["data"]);
    assert!(Start::default().server_in(&data).stop());
    let of = |start: Start| {
        let mut server = start.server_in(&data);
        let found = status(&server);
        assert!(server.stop());
        (found["state"].clone(), found["conditions"].clone())
    };
    let reserve = u64::MAX / 4;
    let (state, conditions) = of(Start::default().with("TILL_DISK_RESERVE_BYTES", &reserve.to_string()));
    let names = conditions.as_array().cloned().unwrap_or_default();
    assert!(state == "REFUSING_WRITES" && names.contains(&json!("TillDiskFillsUp")), "{state}, {conditions}");
    fs::write(data.join("effects-paused"), "").expect("a file can be made");
    assert_eq!(of(Start::default()), (json!("PAUSED"), json!(["TillPaused"])));
}

#[test]
fn a_clock_behind_the_files_of_the_store_is_a_condition() {
    let (_place, [data]) = temporary(["data"]);
    assert!(Start::default().server_in(&data).stop());
    let file = fs::File::options().write(true).open(data.join("db/IDENTITY")).expect("RocksDB made it");
    file.set_modified(SystemTime::now() + Duration::from_secs(2 * 3_600)).expect("a time can be set");
    assert_eq!(status(&Start::default().server_in(&data))["conditions"], json!(["TillClockJumped"]));
}

#[test]
fn each_payment_is_counted_once_by_what_became_of_it() {
    let (mut server, shop) = Server::with_shop();
    assert_eq!(counted(&server, "FAILED", "expired_card"), Some(0.0), "every series is there from the start");
    shop.pay(100);
    let later = shop.pay_with(100, &json!({ "capture": false }));
    shop.call("capture-payment", &json!({ "payment_id": later["payment_id"] })).ok();
    let body = shop.initiation(&shop.session_of(DECLINED, 100), 100);
    let named = shop.client().idempotency_key("once");
    let declined = named.post("/merchants/initiate-payment-flow", &body).id();
    shop.settled(&declined);
    assert_eq!(named.post("/merchants/initiate-payment-flow", &body).id(), declined, "a repeated call");
    let counts = |server: &Server| {
        [
            ("SUCCESSFUL", ""),
            ("AUTHORIZED", ""),
            ("EXPIRED", ""),
            ("FAILED", "card_declined"),
            ("FAILED", "invalid_card"),
        ]
        .map(|(status, code)| counted(server, status, code))
    };
    shop.settled(later["payment_id"].as_str().expect("an id"));
    assert_eq!(counts(&server), [1.0, 1.0, 0.0, 1.0, 0.0].map(Some));
    let expected = json!({
        "successful": 1, "authorized": 1, "failed": 1, "expired": 0, "failure_codes": { "card_declined": 1 },
    });
    assert_eq!(status(&server)["payments"], expected);
    server.restart();
    assert_eq!(counts(&server), [Some(0.0); 5], "counters begin anew");
}
