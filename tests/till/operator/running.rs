//! Monitoring of a server that runs and stops.

use std::fs;

use serde_json::json;

use crate::harness::{Client, Server, Start, copy, directory, temporary};

#[test]
fn health_and_metrics_need_no_token() {
    let server = Server::start();
    let client = Client::new(server.admin_address());
    assert_eq!(client.get("/health/live").ok(), json!({ "status": "live" }));
    assert_eq!(client.get("/health/ready").ok(), json!({ "status": "ready" }));
    let metrics = client.get("/metrics");
    assert_eq!(metrics.status, 200);
    assert!(
        metrics.header("content-type").is_some_and(|media_type| media_type.starts_with("text/plain; version=0.0.4"))
    );
}

#[test]
fn metrics_count_calls_by_endpoint_and_name_no_merchant() {
    let (server, shop) = Server::with_shop();
    let payment = shop.pay(100);
    shop.call("find-payment", &json!({ "payment_id": "distinctive-reference" })).refused("NOT_FOUND");
    server.client().post(&format!("/merchants/{}", shop.merchant_id), &json!({}));
    server.client().post(&format!("/{}/merchants/get-balance", "distinctive"), &json!({}));
    let text = server.metrics();
    for line in [
        "till_http_requests_total{code=\"OK\",endpoint=\"initiate-payment-flow\"} 1",
        "till_http_requests_total{code=\"NOT_FOUND\",endpoint=\"find-payment\"} 1",
        "till_http_requests_total{code=\"UNKNOWN_ENDPOINT\",endpoint=\"(unknown)\"} 1",
        "till_http_requests_total{code=\"BAD_VERSION\",endpoint=\"get-balance\"} 1",
        "till_swept_rows_total{kind=\"session\"} 0",
        "till_swept_rows_total{kind=\"token\"} 0",
        "till_swept_rows_total{kind=\"answer\"} 0",
        "till_swept_rows_total{kind=\"metadata\"} 0",
    ] {
        assert!(text.lines().any(|printed| printed == line), "{line} is not in\n{text}");
    }
    assert!(text.contains("till_http_request_seconds_bucket{endpoint=\"create-merchant\","));
    assert!(text.contains("till_commit_batches_total{verdict=\"committed\"}"));
    let prefixes = ["mer_", "pay_", "ins_", "key_", "tok_", "pse_", "act_", "ent_", "txn_", "ctc_", "crd_", "sk_"];
    let words: Vec<&str> =
        text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_').collect();
    for prefix in prefixes {
        assert!(!words.iter().any(|word| word.starts_with(prefix)), "{prefix} in\n{text}");
    }
    for forbidden in ["distinctive", "admin-token-of-a-test", payment.as_str(), &shop.key] {
        assert!(!text.contains(forbidden), "{forbidden} in\n{text}");
    }
}

#[test]
fn every_counted_failure_is_zero_before_the_first() {
    let server = Server::start();
    let admin = Client::new(server.admin_address());
    let fresh = server.metrics();
    server.shop().pay(100);
    for path in ["/metrics", "/health/live", "/health/ready", "/openapi.json", "/docs/", "/nothing", "/admin"] {
        admin.get(path);
    }
    for path in ["/merchants", "/sdk", "/merchants/available-api-versions", "/sdk/list-installment-plans"] {
        server.client().post(path, &json!({}));
    }
    let counted = server.metrics();
    let label = |line: &str| {
        let labels = line.strip_prefix("till_http_requests_total{")?;
        Some(labels.split_once("endpoint=\"")?.1.split_once('"')?.0.to_owned())
    };
    let labels: std::collections::BTreeSet<String> = counted.lines().filter_map(label).collect();
    for label in &labels {
        for code in ["UNHANDLED_ERROR", "UNAVAILABLE"] {
            let line = format!("till_http_requests_total{{code=\"{code}\",endpoint=\"{label}\"}} 0");
            assert!(fresh.lines().any(|printed| printed == line), "{line} is not in\n{fresh}");
        }
    }
    assert!(labels.len() > 40 && labels.contains("(unknown)") && labels.contains("/docs"), "{labels:?}");
}

#[test]
fn each_listener_serves_its_own_interfaces_only() {
    let (server, shop) = Server::with_shop();
    let operator_on_public = server.client().bearer("admin-token-of-a-test");
    for path in ["/admin/list-merchants", "/admin/create-merchant", "/2025-04-01/admin/list-merchants", "/admin"] {
        let answer = operator_on_public.post(path, &json!({}));
        assert_eq!((answer.status, answer.code()), (404, "UNKNOWN_ENDPOINT"), "{path}");
    }
    for path in ["/metrics", "/health/live", "/health/ready", "/admin"] {
        assert_eq!(operator_on_public.get(path).status, 404, "{path}");
    }
    let merchant_on_admin = Client::new(server.admin_address()).bearer(&shop.key);
    for path in
        ["/merchants/get-balance", "/sdk/list-installment-plans", "/merchants", "/merchants/available-api-versions"]
    {
        let answer = merchant_on_admin.post(path, &json!({}));
        assert_eq!((answer.status, answer.code()), (404, "UNKNOWN_ENDPOINT"), "{path}");
    }
}

#[test]
fn a_stop_by_signal_exits_with_0_and_loses_nothing() {
    let (mut server, shop) = Server::with_shop();
    let payment = shop.pay(700);
    let before = shop.call("find-payment", &json!({ "payment_id": payment })).ok();
    assert!(server.stop(), "exit code 0");
    let shop = server.restart_with(&shop);
    assert_eq!(shop.call("find-payment", &json!({ "payment_id": payment })).ok(), before);
    assert!(server.stop(), "exit code 0");
}

#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let (server, shop) = Server::with_shop();
    let refused = Start::default().try_server_on(server.data(), None).map(|_| ());
    let reason = refused.expect_err("the data is in use");
    assert!(reason.contains("exit status: 1"), "{reason}");
    assert!(reason.contains("in use") || reason.to_lowercase().contains("another"), "it says why: {reason}");
    shop.pay(100);
}

#[test]
fn a_stop_is_logged_and_the_next_start_distinguishes_it() {
    let (_place, [log]) = temporary(["log"]);
    let mut server = Start::default().recording(&log).with("TILL_LOG_FILTER", "info").server();
    let was_closed = |server: &Server| server.metric("till_store_closed_before_start");
    assert_eq!(was_closed(&server), Some(1.0), "a new store");
    server.shop();
    assert!(server.stop());
    server.restart();
    let text = fs::read_to_string(&log).expect("it was recorded");
    let (first, _) = text.rsplit_once("starting with these settings;").expect("both starts are in it");
    let last = first.lines().rev().nth(1);
    assert!(last.is_some_and(|line| line.contains("closed: everything is on the disk")), "{text}");
    assert_eq!(was_closed(&server), Some(1.0), "after a stop");
    server.restart();
    assert_eq!(was_closed(&server), Some(0.0), "after a kill");
}

#[test]
fn a_copy_of_a_running_directory_starts_paused() {
    let place = directory();
    let (log, killed, stopped) = (place.path().join("log"), place.path().join("killed"), place.path().join("stopped"));
    let mut server = Start::default().server();
    server.kill();
    copy(server.data(), &killed);
    server.restart();
    let is_paused = |server: &Server| server.metric("till_effects_paused").expect("a metric") > 0.0;
    assert!(!is_paused(&server), "a server that was killed goes on");
    assert!(server.stop());
    copy(server.data(), &stopped);
    assert!(!is_paused(&Start::default().server_in(&stopped)), "a stopped store may be copied");

    let start = || Start::default().recording(&log).server_in(&killed);
    let mut copied = start();
    assert!(is_paused(&copied));
    assert!(copied.stop());
    let mut copied = start();
    assert!(is_paused(&copied), "until somebody has it go on");
    let text = fs::read_to_string(&log).expect("it was recorded");
    assert_eq!(text.matches("is a plain copy of one that a server was running on").count(), 1, "{text}");
    copied.admin("resume-effects", &json!({})).ok();
    copied.restart();
    assert!(!is_paused(&copied));
}
