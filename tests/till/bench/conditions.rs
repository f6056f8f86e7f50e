//! Conditions under which a run fails.

use serde_json::json;

use super::tester::{SHORT, Tester};

#[test]
fn a_condition_that_holds_has_its_own_exit_code() {
    let tester = Tester::new();
    let run =
        |conditions: &str| tester.run(&format!("ping {SHORT} {conditions} --json report.json --html report.html"));
    let failed = run("--fail-if p99>1us --fail-if errors>0");
    assert_eq!(failed.code, 5, "{failed:?}");
    for text in [failed.output, tester.text("report.html")] {
        assert!(text.contains("FAILED --fail-if p99>1us: p99 is "), "{text}");
        assert!(text.contains("passed --fail-if errors>0: errors is 0"), "{text}");
    }
    let report = tester.json("report.json");
    let verdict = &report["fail_if"][0];
    assert_eq!((&verdict["condition"], &verdict["failed"]), (&json!("p99>1us"), &json!(true)), "{verdict}");
    let p99 = report["points"][0]["latency_micros"]["p99"].as_f64();
    assert_eq!(verdict["measured"].as_f64(), p99, "{verdict}");
    let passed = run("--fail-if p99>10s --fail-if get-balance.p99>10s --fail-if rate<0.1");
    assert_eq!(passed.code, 0, "{passed:?}");
}

#[test]
fn a_malformed_condition_is_refused_before_the_run() {
    let tester = Tester::new();
    for wrong in ["p98>50ms", "p99>50", "p99", "rate<1ms", "pay.p99>1s"] {
        let refused = tester.run(&format!("ping {SHORT} --fail-if {wrong} --json report.json"));
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.errors.contains("'p99>50ms'") && refused.output.is_empty(), "{refused:?}");
        assert!(!tester.file("report.json").exists());
    }
}
