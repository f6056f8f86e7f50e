//! Payments that ask their customers, whom the load tester plays.

use serde_json::{Value, json};

use super::tester::{SHORT, Tester};

/// The steps of customers of whom some scan a QR code, and others are sent to a page.
const STEPS: [&str; 8] = [
    "customer: the whole part",
    "customer: from the answer until asked",
    "customer: get-redirect-url",
    "customer: retrieve-qr-data",
    "customer: scan of the QR code",
    "customer: form of the page",
    "customer: way back",
    "customer: from the form until successful",
];

/// The latencies of a step that were counted.
#[track_caller]
fn counted(point: &Value, step: &str) -> u64 {
    let steps = point["steps"].as_array().expect("steps");
    let found = steps.iter().find(|known| known["name"] == step);
    found.and_then(|step| step["latency_micros"]["count"].as_u64()).unwrap_or_else(|| panic!("no {step} in {point}"))
}

/// Runs a scenario whose every answer is right, and returns its point with the numbers of payments that asked their
/// customers and of those that these completed.
#[track_caller]
fn run(tester: &Tester, line: &str) -> (Value, [u64; 2]) {
    let report = tester.report(line);
    let point = report["points"][0].clone();
    assert_eq!((&point["wrong"]["count"], &point["failures"]), (&json!(0), &json!({})), "{point}");
    assert_eq!(tester.page_data("report.html"), report, "the page shows the report");
    let customers = ["asked", "completed"].map(|name| point["customers"][name].as_u64().expect("a number"));
    (point, customers)
}

#[test]
fn customers_complete_their_share_of_the_payments() {
    let tester = Tester::new();
    let load = "--sessions 80 --merchants 2 --connections 4 --duration 60s --warm-up 0s";
    let (point, [asked, completed]) = run(&tester, &format!("initiate --action-share 0.5 --declines 0.2 {load}"));
    assert_eq!((&point["operations"], asked), (&json!(80), completed), "{point}");
    assert!((25..=55).contains(&asked), "about half of 80: {point}");
    let steps = STEPS.map(|step| counted(&point, step));
    let [whole, until_asked, redirected, shown, scanned, sent, back, successful] = steps;
    assert_eq!([whole, until_asked, sent, successful], [asked; 4], "{steps:?}");
    assert_eq!(([redirected, shown], redirected + shown), ([back, scanned], asked), "{steps:?}");
    assert!(shown > 0 && redirected > shown, "a third scans a QR code: {steps:?}");
    assert_eq!(counted(&point, "initiate-payment-flow"), 80);
    let (payments, unexplained) = (&point["follow_up"]["payments"], &point["follow_up"]["unexplained_minor"]);
    assert_eq!((payments, unexplained), (&json!(80), &json!(0)), "{point}");
    assert!(point["follow_up"]["last_captured_after_micros"].is_u64(), "all money arrived: {point}");
    let told = format!("customers completed {asked} of {asked} payments that asked them");
    assert!(point["remarks"].as_array().is_some_and(|remarks| remarks.contains(&json!(told))), "{point}");
}

#[test]
fn a_flow_has_its_customer_between_initiation_and_capture() {
    let tester = Tester::new();
    let (point, [asked, completed]) = run(&tester, &format!("flow --action-share 1 {SHORT}"));
    let operations = point["operations"].as_u64().expect("a number");
    assert!(asked == completed && asked >= operations && operations > 0, "with those of the warm-up: {point}");
    for step in ["the whole flow", "customer: the whole part", "flow: from the answer until captured"] {
        assert_eq!(counted(&point, step), operations, "{step}");
    }
}

#[test]
fn a_share_that_no_payment_can_have_is_refused() {
    let tester = Tester::new();
    for (line, code, fault) in [
        ("ping --action-share 0.5", 1, "--action-share: needs initiate or flow"),
        ("initiate --action-share 0.5 --declines 0.6", 1, "--action-share: is more than 1"),
        ("initiate --action-share 20", 2, "a share from 0 to 1"),
    ] {
        let refused = tester.run(&format!("{line} {SHORT}"));
        assert!(refused.code == code && refused.errors.contains(fault), "{refused:?}");
    }
}
