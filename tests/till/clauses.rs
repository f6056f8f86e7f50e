//! `docs/clauses.md` holds against the sources: every test that it names is there, and no clause is without one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Sections that the table must have rows of.
const SPECIFICATION: [&str; 15] =
    ["2.1", "2.2", "2.3", "2.4", "2.4.1", "2.5", "2.6", "3.1", "3.2", "3.3", "4.1", "4.2", "4.3", "4.4", "4"];
const SPECIFICATION_AFTER_4: [&str; 4] = ["5", "6", "7", "8"];
const CONTRACT: [&str; 9] = ["1", "2", "3", "4", "4.1", "5", "6", "7", "8"];

/// A row: section, clause, and the names of tests or whatever else stands in the last cell.
struct Row {
    section: String,
    clause: String,
    last: String,
}

impl Row {
    /// What stands between backticks in the last cell.
    fn names(&self) -> Vec<&str> {
        self.last.split('`').skip(1).step_by(2).collect()
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows below a heading of the second level.
fn rows_below(heading: &str) -> Vec<Row> {
    let document = read(&root().join("docs/clauses.md"));
    let mut parts = document.split("\n## ").filter(|part| part.lines().next() == Some(heading));
    let part = parts.next().unwrap_or_else(|| panic!("there is a heading {heading}"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let [section, clause, last] = cells[..] else { panic!("not three cells: {line}") };
        let is_data = section != "section" && section != "document" && !section.starts_with('-');
        is_data.then(|| Row { section: section.to_owned(), clause: clause.to_owned(), last: last.to_owned() })
    };
    let rows: Vec<Row> = part.lines().filter_map(row).collect();
    assert!(!rows.is_empty(), "{heading} has rows");
    rows
}

/// The text of every Rust file below a folder.
fn sources(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    let of = |path: &PathBuf| match path {
        path if path.is_dir() => sources(path),
        path if path.extension().is_some_and(|extension| extension == "rs") => vec![read(path)],
        _ => Vec::new(),
    };
    paths.iter().flat_map(of).collect()
}

/// The names of all tests below some folders: functions right behind an attribute that makes them tests.
fn tests_below(folders: &[&str]) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for source in folders.iter().flat_map(|folder| sources(&root().join(folder))) {
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        for pair in lines.windows(2).filter(|pair| pair[0].starts_with("#[") && pair[0].contains("test]")) {
            let name = pair[1].trim_start_matches("async ").strip_prefix("fn ").and_then(|rest| rest.split('(').next());
            tests.extend(name.map(str::to_owned));
        }
    }
    tests
}

#[track_caller]
fn each_row_names_tests_of(rows: &[Row], tests: &BTreeSet<String>) {
    for row in rows {
        assert!(!row.clause.is_empty() && !row.names().is_empty(), "{}: {} has no test", row.section, row.clause);
        for name in row.names() {
            assert!(tests.contains(name), "{}: {}: there is no test {name}", row.section, row.clause);
        }
    }
}

#[track_caller]
fn each_section_occurs(rows: &[Row], sections: &[&str]) {
    for section in sections {
        assert!(rows.iter().any(|row| row.section == *section), "section {section} has no row");
    }
}

#[test]
fn every_clause_of_the_specification_names_tests_that_go_over_http() {
    let rows = rows_below("Specification");
    each_row_names_tests_of(&rows, &tests_below(&["tests/till"]));
    each_section_occurs(&rows, &SPECIFICATION);
    each_section_occurs(&rows, &SPECIFICATION_AFTER_4);
    assert!(rows.len() > 120, "{} rows", rows.len());
}

#[test]
fn every_clause_of_the_contract_names_tests() {
    let rows = rows_below("Contract");
    each_row_names_tests_of(&rows, &tests_below(&["domain", "storage/src", "actors", "src", "tests"]));
    each_section_occurs(&rows, &CONTRACT);
    assert!(rows.len() > 180, "{} rows", rows.len());
}

#[test]
fn no_clause_stands_in_the_table_twice() {
    for heading in ["Specification", "Contract"] {
        let mut seen = BTreeSet::new();
        for row in rows_below(heading) {
            assert!(seen.insert((row.section.clone(), row.clause.clone())), "{}: {}", row.section, row.clause);
        }
    }
}

#[test]
fn what_is_measured_names_a_bench_that_is_there_and_what_is_not_built_names_no_test() {
    for row in rows_below("Costs") {
        for bench in row.names() {
            assert!(root().join(bench).is_file(), "{bench}");
        }
    }
    let tests = tests_below(&["domain", "storage/src", "actors", "src", "tests"]);
    for row in rows_below("Not yet built") {
        assert!(row.names().iter().all(|name| !tests.contains(*name)), "{}: it is built", row.last);
    }
}

#[test]
fn no_ruling_is_without_a_test() {
    let document = read(&root().join("docs/contract-rulings.md"));
    let rows = document.lines().filter(|line| line.starts_with('|'));
    let without = rows.filter(|line| line.rsplit('|').nth(1).is_some_and(|cell| cell.trim() == "—"));
    assert_eq!(without.collect::<Vec<_>>(), Vec::<&str>::new());
}
