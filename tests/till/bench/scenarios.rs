//! Every scenario against a server of the load tester's own.

use serde_json::{Value, json};

use super::tester::{SHORT, Tester};

/// The point of a short run of a scenario.
#[track_caller]
fn point(scenario: &str) -> Value {
    point_of(&format!("{scenario} {SHORT}"))
}

/// Runs the load tester with these arguments and checks what holds for every report; returns its only point.
#[track_caller]
fn point_of(arguments: &str) -> Value {
    let tester = Tester::new();
    let report = tester.report(arguments);
    assert_eq!((&report["schema"], &report["schema_version"]), (&json!("till-bench"), &json!(2)));
    assert_eq!((&report["server"]["own"], &report["server"]["same_machine"]), (&json!(true), &json!(true)));
    assert!(report["machine"]["processors"].as_u64() > Some(0) && report["till"]["version"].is_string());
    let points = report["points"].as_array().expect("points");
    assert_eq!(points.len(), 1);
    assert_is_sound(&points[0]);
    assert_eq!(tester.page_data("report.html"), report, "the page shows the report");
    points[0].clone()
}

#[track_caller]
fn assert_is_sound(point: &Value) {
    assert_eq!((&point["wrong"]["count"], &point["failures"]), (&json!(0), &json!({})), "{point}");
    assert_eq!((&point["merchants"], &point["connections"], &point["never_made"]), (&json!(2), &json!(4), &json!(0)));
    let latency = &point["latency_micros"];
    assert!(point["operations"].as_u64() > Some(0) && latency["count"] == point["operations"], "{point}");
    let values = ["min", "p50", "p90", "p99", "p999", "max"].map(|name| latency[name].as_u64().expect("a number"));
    assert!(values.is_sorted() && values[0] > 0, "{latency}");
    let timeline = point["timeline"].as_array().expect("moments");
    assert!(!timeline.is_empty() && timeline[0]["p99"].is_u64(), "{point}");
}

fn steps(point: &Value) -> Vec<&str> {
    point["steps"].as_array().expect("steps").iter().filter_map(|step| step["name"].as_str()).collect()
}

#[test]
fn each_scenario_measures_its_own_call() {
    for (scenario, step) in [
        ("ping", "get-balance"),
        ("refund", "refund-payment"),
        ("metadata --set-size 20", "add-to-metadata-set"),
        ("activity --entries 30 --per-page 7", "list-activity-logs"),
        ("balance --entries 40 --per-page 10", "balance-history"),
    ] {
        let point = point(scenario);
        assert_eq!((steps(&point), &point["rate_kept"]), (vec![step], &json!(null)));
    }
}

#[test]
fn captures_of_payments_are_waited_for() {
    for (scenario, step) in [
        ("initiate", "initiate-payment-flow"),
        ("initiate --declines 0.5", "initiate-payment-flow"),
        ("capture", "capture-payment"),
    ] {
        let point = point(scenario);
        assert_eq!(steps(&point), [step]);
        let follow_up = &point["follow_up"];
        assert!(follow_up["payments"].as_u64() >= point["operations"].as_u64(), "with those of the warm-up: {point}");
        assert!(follow_up["last_captured_after_micros"].is_u64() && follow_up["kept_up"].is_boolean(), "{follow_up}");
        assert_eq!(follow_up["unexplained_minor"], json!(0));
    }
}

#[test]
fn a_flow_is_measured_in_its_steps() {
    let point = point("flow");
    let names = steps(&point);
    assert_eq!(names.len(), 6, "{names:?}");
    for step in point["steps"].as_array().expect("steps") {
        assert_eq!(step["latency_micros"]["count"], point["operations"], "{step}");
    }
}

#[test]
fn a_checkout_is_measured_in_its_steps() {
    let point = point("checkout");
    let names = steps(&point);
    assert_eq!(names.len(), 6, "{names:?}");
    assert!(point["operations"].as_u64().is_some_and(|count| count > 0) && point["wrong"]["count"] == 0, "{point}");
    let follow_up = &point["follow_up"];
    assert_eq!((&follow_up["kept_up"], &follow_up["unexplained_minor"]), (&json!(true), &json!(0)), "{follow_up}");
}

#[test]
fn a_run_takes_no_address_of_a_log_for_a_server_of_its_own() {
    let ended = Tester::new().run("ping --duration 100ms --journal postgres://till@127.0.0.1:1/till");
    assert!(ended.code == 1 && ended.errors.contains("--target"), "{ended:?}");
}

#[test]
fn every_answered_payment_is_captured_once_or_refunded_in_parts() {
    let load = "--merchants 2 --connections 4 --duration 60s --warm-up 0s";
    for (scenario, operations) in [("capture", 40), ("refund", 160)] {
        let report = Tester::new().report(&format!("{scenario} --payments 40 {load}"));
        let point = &report["points"][0];
        assert!(point["ended_early"].as_str().is_some_and(|reason| reason.contains("--payments")), "{point}");
        assert_eq!((&point["operations"], &point["wrong"]["count"]), (&json!(operations), &json!(0)), "{point}");
    }
}

#[test]
fn the_rate_follows_its_stages() {
    let tester = Tester::new();
    let line = "ping --merchants 2 --connections 4 --warm-up 50ms --stages 0:0,200ms:400,400ms:400";
    let report = tester.report(line);
    let point = &report["points"][0];
    assert_eq!((&point["operations"], &point["never_made"]), (&json!(120), &json!(0)), "{point}");
    assert!(point["intended_rate"].as_f64().is_some_and(|rate| (rate - 300.0).abs() < 1e-6), "{point}");
    assert_eq!(report["parameters"]["stages"][1], json!({ "at_seconds": 0.2, "rate": 400.0 }));
    let both = tester.run(&format!("{line} --rate 5"));
    assert_eq!(both.code, 2, "{both:?}");
}

#[test]
fn a_feed_has_lines_that_add_up_to_the_report() {
    let tester = Tester::new();
    let line = "ping --merchants 2 --connections 4 --duration 1200ms --warm-up 50ms --json report.json --feed";
    let counted = |feed: &str| {
        let lines = feed.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
        let counts: Vec<u64> = lines.map(|line| line["latency_micros"]["count"].as_u64().expect("a count")).collect();
        assert!(counts.len() >= 2, "{feed}");
        counts.iter().sum::<u64>()
    };
    let operations = || tester.json("report.json")["points"][0]["operations"].as_u64().expect("a number");
    assert_eq!(tester.run(&format!("{line} feed.jsonl")).code, 0);
    assert_eq!(counted(&tester.text("feed.jsonl")), operations());
    let ended = tester.run(&format!("{line} -"));
    assert_eq!((ended.code, counted(&ended.output)), (0, operations()), "{ended:?}");
    assert!(ended.errors.contains("ping, closed loop"), "the table is on standard error: {ended:?}");
}

#[test]
fn a_mix_has_all_of_its_kinds() {
    let weights = "initiate=3,metadata=3,activity=2,balance=2,ping=2,flow=2,capture=2,void=2,refund=2,payout=2";
    let mixed = format!("mixed --weights {weights} --entries 20 --set-size 10");
    // Chance decides which kind comes next, so a busy machine needs more time until each has come.
    let run = |seconds| point_of(&format!("{mixed} --merchants 2 --connections 4 --warm-up 0s --duration {seconds}s"));
    let mut point = run(1);
    for seconds in [5, 25] {
        if steps(&point).len() < 15 {
            point = run(seconds);
        }
    }
    assert_eq!(steps(&point).len(), 15, "{:?}", steps(&point));
    let counts = |name: &str| {
        let step = point["steps"].as_array().expect("steps").iter().find(|step| step["name"] == name);
        step.and_then(|step| step["latency_micros"]["count"].as_u64()).expect("it is there")
    };
    let kinds = [
        "initiate-payment-flow",
        "add-to-metadata-set",
        "list-activity-logs",
        "balance-history",
        "get-balance",
        "the whole flow",
        "capture-payment",
        "void-payment",
        "refund-payment",
        "send-payout",
    ];
    assert_eq!(kinds.iter().map(|kind| counts(kind)).sum::<u64>(), point["operations"].as_u64().expect("a number"));
}

#[test]
fn a_run_that_used_up_its_sessions_ends_its_time_there() {
    let load = "--merchants 2 --connections 4 --duration 60s --warm-up 0s";
    let report = Tester::new().report(&format!("initiate --sessions 200 --skew hot:0.9 {load}"));
    let point = &report["points"][0];
    assert!(point["ended_early"].as_str().is_some_and(|reason| reason.contains("sessions")), "{point}");
    assert_eq!(point["operations"], json!(200));
    assert!(point["seconds"].as_f64() < Some(60.0), "{point}");
}

#[test]
fn a_run_with_a_rate_whose_sessions_are_used_up_did_not_keep_up() {
    let tester = Tester::new();
    let load = "--merchants 2 --connections 4 --duration 60s --warm-up 0s --rate 200";
    let ended = tester.run(&format!("initiate --sessions 40 {load} --json report.json"));
    assert_eq!(ended.code, 0, "{ended:?}");
    let point = &tester.json("report.json")["points"][0];
    assert_eq!((&point["operations"], &point["rate_kept"]), (&json!(40), &json!(false)), "{point}");
    assert_eq!((&point["follow_up"]["kept_up"], &point["never_made"]), (&json!(false), &json!(0)), "{point}");
    assert!(ended.output.contains("DOES NOT KEEP UP with its rate of 200/s"), "{ended:?}");
    assert!(!ended.output.contains("keeps up") && !ended.output.contains("keep up:"), "{ended:?}");
}
