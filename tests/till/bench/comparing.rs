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
    assert_eq!(tester.page_data("compared.html")["tables"][0]["rows"][1][0], "rate/s");
    assert!(compared.output.contains("TOO FEW RUNS: with 1 and 1 runs"), "{compared:?}");
    assert!(tester.text("compared.html").contains("TOO FEW RUNS"));
    let refused = tester.run("compare a.json c.json");
    assert_eq!(refused.code, 1);
    assert!(refused.errors.contains("connections: 4 and 2") && !refused.errors.contains("scenario"), "{refused:?}");
}

#[test]
fn several_runs_of_each_side_show_their_ranges() {
    let tester = Tester::new();
    for side in ["a", "b"] {
        std::fs::create_dir(tester.file(side)).expect("it can be made");
    }
    for run in 1..=4 {
        for side in ["a", "b"] {
            let line = "ping --merchants 1 --connections 2 --duration 150ms --warm-up 0s --json";
            assert_eq!(tester.run(&format!("{line} {side}/{run}.json")).code, 0);
        }
    }
    let compared = tester.run("compare a b --html compared.html");
    assert_eq!(compared.code, 0, "{compared:?}");
    assert!(compared.output.contains("4 runs and 4 runs: the median of each side, and its range"), "{compared:?}");
    let rate = compared.output.lines().find(|line| line.starts_with("rate/s")).expect("a line of the rate");
    assert!(
        rate.contains(" to ") && ["no difference shown", "different"].iter().any(|end| rate.ends_with(end)),
        "{rate}"
    );
    assert!(!compared.output.contains("TOO FEW RUNS") && !compared.output.contains("in turns"), "{compared:?}");
    let few = tester.run("compare a/1.json,a/2.json b/3.json,b/4.json");
    assert!(few.code == 0 && few.output.contains("TOO FEW RUNS: with 2 and 2 runs"), "{few:?}");
    assert!(few.output.contains("all runs of one side were made before those of the other"), "{few:?}");
    let twice = tester.run("compare a/1.json,a/1.json b/3.json");
    assert!(twice.code == 1 && twice.errors.contains("a/1.json: is given twice"), "{twice:?}");
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
