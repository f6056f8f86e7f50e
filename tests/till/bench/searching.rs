//! Sweeps and searches.

use serde_json::{Value, json};

use super::tester::{SHORT, Tester};

#[test]
fn a_sweep_has_a_point_for_each_value() {
    let tester = Tester::new();
    let report = tester.report(&format!("ping {SHORT} --sweep connections=1,8"));
    let points = report["points"].as_array().expect("points");
    let connections: Vec<&Value> = points.iter().map(|point| &point["connections"]).collect();
    assert_eq!(connections, [&json!(1), &json!(8)]);
    assert!(points.iter().all(|point| point["operations"].as_u64() > Some(0)));
    assert_eq!(report["parameters"]["sweep"], json!({ "knob": "connections", "values": [1, 8] }));
    assert_eq!(tester.page_data("report.html"), report);
}

#[test]
fn a_search_ends_with_the_highest_rate_and_all_its_tries() {
    let tester = Tester::new();
    let line = "ping --merchants 2 --connections 16 --duration 150ms --warm-up 20ms --search --p99-below 500ms";
    let report = tester.report(&format!("{line} --rate 20000"));
    let search = &report["search"];
    let tried = search["tried"].as_array().expect("rates");
    let highest = search["highest_rate"].as_f64().expect("some rate passes");
    assert_eq!(search["p99_below_micros"], json!(500_000));
    assert!(tried.iter().any(|tried| tried["passed"] == json!(false) && tried["rate"].as_f64() > Some(highest)));
    let passed = tried.iter().filter(|tried| tried["passed"] == json!(true) && tried["rate"].as_f64() == Some(highest));
    assert!(passed.count() >= 2, "it was confirmed: {search}");
    assert_eq!(report["points"][0]["intended_rate"].as_f64(), Some(highest));
    assert!(tried.iter().all(|tried| tried["passed"] == json!(tried["missed"] == json!([]))), "{search}");
}
