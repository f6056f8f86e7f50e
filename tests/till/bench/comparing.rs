//! Comparisons of two reports.

use super::tester::{SHORT, Tester};

#[test]
fn equal_loads_are_compared_and_others_are_refused() {
    let tester = Tester::new();
    for (name, line) in [("a", "--connections 4"), ("b", "--connections 4"), ("c", "--connections 2")] {
        let line = format!("ping --merchants 2 --duration 150ms --warm-up 0s {line} --json {name}.json");
        assert_eq!(tester.run(&line).code, 0);
    }
    let compared = tester.run("compare a.json b.json --html compared.html");
    assert_eq!(compared.code, 0, "{compared:?}");
    assert!(compared.output.contains("rate/s") && compared.output.contains(" %"), "{compared:?}");
    assert!(tester.text("compared.html").contains("<svg"));
    let refused = tester.run("compare a.json c.json");
    assert_eq!(refused.code, 1);
    assert!(refused.errors.contains("connections: 4 and 2") && !refused.errors.contains("scenario"), "{refused:?}");
}

#[test]
fn a_file_that_is_no_report_is_refused_by_name() {
    let tester = Tester::new();
    std::fs::write(tester.file("other.json"), "{}").expect("it can be written");
    let refused = tester.run("compare other.json other.json");
    assert!(refused.code == 1 && refused.errors.contains("other.json"), "{refused:?}");
    let missing = tester.run("compare missing.json other.json");
    assert!(missing.code == 1 && missing.errors.contains("missing.json"), "{missing:?}");
    assert_eq!(tester.run(&format!("other {SHORT}")).code, 2, "no such scenario");
}
