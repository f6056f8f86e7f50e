//! `docs/till-js.md` agrees with `till.js`, the script of a shop's own page: each table has what the script has, and
//! nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn text_of(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn script() -> String {
    text_of("src/pages/checkout/till.js")
}

/// The text between two others.
#[track_caller]
fn between<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("{begin} is missing"));
    rest.split_once(end).unwrap_or_else(|| panic!("{end} is missing after {begin}")).0
}

/// The texts between quotation marks.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The names at the beginnings of lines with this indentation, before a sign.
fn names(block: &str, indentation: &str, sign: &str) -> BTreeSet<String> {
    let named = |line: &str| Some(line.strip_prefix(indentation)?.split_once(sign)?.0.to_owned());
    block.lines().filter_map(named).filter(|name| name.chars().all(char::is_alphanumeric)).collect()
}

/// The rows of the table below a heading of the document, each as its cells.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let document = text_of("docs/till-js.md");
    let section = between(&document, &format!("\n## {heading}\n"), "\n## ").to_owned();
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    let table: Vec<Vec<String>> = section.lines().filter(|line| line.starts_with("| `")).map(cells).collect();
    assert!(table.len() > 1, "{heading} has a table");
    table
}

/// The first cells, without backticks.
fn first_cells(rows: &[Vec<String>]) -> BTreeSet<String> {
    let cells: BTreeSet<String> = rows.iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert_eq!(cells.len(), rows.len(), "a row is there twice: {rows:?}");
    cells
}

#[test]
fn the_reference_has_every_option_and_what_it_goes_with() {
    let script = script();
    let options = rows("Till.mount(where, options)");
    let declared = names(between(&script, "const OPTIONS = {\n", "\n  };"), "    ", ": [");
    assert!(declared.len() > 15, "{declared:?}");
    assert_eq!(first_cells(&options), declared);
    let with = |words: &str| {
        let rows = options.iter().filter(|row| row[1] == words);
        rows.map(|row| row[0].trim_matches('`').to_owned()).collect::<BTreeSet<_>>()
    };
    let required = quoted(between(&script, "const REQUIRED = [", "];"));
    let further = quoted(between(&script, "const WITHOUT_CHECKOUT = [", "];"));
    assert_eq!(with("no checkout"), &required | &further);
    assert_eq!(with("a checkout"), quoted(between(&script, "const WITH_CHECKOUT = [", "];")));
    for row in &options {
        let is_required = required.contains(row[0].trim_matches('`')) || row[0] == "`checkout`";
        assert_eq!(row[2].starts_with("required: "), is_required, "{row:?}");
    }
}

#[test]
fn the_reference_has_every_method() {
    let script = script();
    let methods = rows("What it answers");
    let declared = names(between(&script, "return Object.freeze({\n", "\n    });"), "      ", ": (");
    let documented = first_cells(&methods);
    let documented: BTreeSet<_> = documented.iter().map(|call| call.split('(').next().unwrap_or_default()).collect();
    assert_eq!(documented, declared.iter().map(String::as_str).collect());
    let changeable = quoted(between(&script, "const CHANGEABLE = [", "];"));
    let update = methods.iter().find(|row| row[0].starts_with("`update(")).expect("a row");
    let named: BTreeSet<_> = between(&update[0], "({ ", " })").split(", ").map(str::to_owned).collect();
    assert_eq!(named, changeable);
}

#[test]
fn the_reference_has_every_code_of_an_error() {
    let script = script();
    assert_eq!(first_cells(&rows("Errors")), quoted(between(&script, "const ERRORS = [", "];")));
}
