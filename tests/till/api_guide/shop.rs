//! The guides of a shop, pasted into bash block by block: each prints the output that is documented below it.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use crate::harness::directory;

use super::guide::{Block, blocks};
use super::pasted::{at_server, start};

/// The line that separates the outputs of two blocks.
const SEPARATOR: &str = "---- the next block ----";

/// The commands of a guide, each with its documented output. Programs are run by `tests/clients`, pages by
/// `tests/browser`.
fn steps(document: &str) -> Vec<(Block, String)> {
    let mut steps: Vec<(Block, String)> = Vec::new();
    for block in
        blocks(document).into_iter().filter(|block| !["python", "html", "js"].contains(&block.language.as_str()))
    {
        match steps.last_mut() {
            _ if block.language == "sh" => steps.push((block, String::new())),
            Some((_, output)) => *output = block.text,
            None => panic!("{}: no command has this output", block.place),
        }
    }
    steps
}

/// Pastes the commands of a guide into one bash, and compares what each prints.
fn follow(document: &str) {
    let place = directory();
    let server = start(place.path());
    let steps = steps(document);
    let mut script = String::from("set -euo pipefail\n");
    for (block, _) in &steps {
        writeln!(script, "{}\nprintf '%s\\n' '{SEPARATOR}'", block.text).expect("a text takes everything");
    }
    fs::write(place.path().join("guide.sh"), at_server(&script, &server)).expect("a file can be written");
    let output = Command::new("bash").arg("guide.sh").current_dir(place.path()).output().expect("bash can be started");
    let (found, printed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && printed.is_empty(), "{printed}\n{found}");
    let outputs: Vec<&str> = found.split(SEPARATOR).map(|text| text.trim_matches('\n')).collect();
    assert_eq!(outputs.len(), steps.len() + 1);
    for ((block, expected), output) in steps.iter().zip(outputs) {
        assert_eq!(output, expected, "below {}", block.place);
    }
}

#[test]
fn every_figure_of_a_shops_month_is_answered_by_the_program() {
    follow("docs/a-shops-month.md");
}

#[test]
fn a_shop_that_is_built_by_its_guide_works() {
    follow("docs/build-a-shop.md");
}
