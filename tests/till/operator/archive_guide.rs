//! The procedure of `docs/operations.md` for a destroyed data directory, run exactly as it is written there.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::harness::{Server, Start, directory, wait_until};

const GUIDE: &str = include_str!("../../../docs/operations.md");

/// The heading of the procedure, and the paths that its commands name.
const HEADING: &str = "### When the data directory is destroyed";
const PATHS: [&str; 3] = ["/mnt/backup/archive", "/mnt/backup/checkpoints", "/var/lib/till-restored"];

/// The longest time that the test waits for the archive.
const PATIENCE: Duration = Duration::from_secs(60);

/// The text of the procedure.
fn section() -> &'static str {
    let (_, section) = GUIDE.split_once(HEADING).expect("the procedure is there");
    section.split_once("\n### ").map_or(section, |(section, _)| section)
}

/// The commands of the procedure, in order.
fn commands() -> Vec<&'static str> {
    let lines = section().lines().map(str::trim_start).filter(|line| line.starts_with("till "));
    lines.collect()
}

/// A command with the paths of the test.
fn at(place: &Path, command: &str) -> String {
    let names = ["archive", "checkpoints", "restored"].map(|name| place.join(name).display().to_string());
    let command = PATHS.iter().zip(&names).fold(command.to_owned(), |text, (path, name)| text.replace(path, name));
    command.replace("NAME", "nightly").replacen("till", env!("CARGO_BIN_EXE_till"), 1)
}

#[test]
fn the_procedure_for_a_destroyed_data_directory_works() {
    let place = directory();
    let text = |name: &str| place.path().join(name).display().to_string();
    let start = Start::default()
        .with("TILL_ARCHIVE_DIRECTORY", &text("archive"))
        .with("TILL_CHECKPOINT_DIRECTORY", &text("checkpoints"))
        .with("TILL_ARCHIVE_BEFORE_ACKNOWLEDGED", "true");
    let data = place.path().join("data");
    let server = start.try_server_on(&data, None).unwrap_or_else(|error| panic!("{error}"));
    let shop = server.shop();
    server.admin("create-checkpoint", &json!({ "name": "nightly" })).ok();
    let payment = shop.pay(700);
    drop(server);
    fs::remove_dir_all(&data).expect("it can be destroyed");
    let restored = place.path().join("restored");
    let commands = commands();
    assert!(commands.len() >= 4, "{commands:?}");
    let mut started: Option<Server> = None;
    for command in commands {
        if command.starts_with("till serve") {
            let server = Start::default().try_server_on(&restored, None);
            started = Some(server.unwrap_or_else(|error| panic!("{command}: {error}")));
            continue;
        }
        let mut shell = match &started {
            Some(server) => server.command(),
            None => Start::default().command(&restored),
        };
        succeeds(&mut shell, &at(place.path(), command));
    }
    let server = started.expect("the procedure starts a server");
    wait_until(PATIENCE, "the payment is not there", || shop.on(&server).payment(&payment)["status"] == "SUCCESSFUL");
    shop.on(&server).pay(100);
}

#[test]
fn the_procedure_names_everything_that_must_not_be_shared() {
    let start = section().split("\n4. ").nth(1).expect("there is a fourth step");
    for setting in ["archive_directory", "checkpoint_directory"] {
        assert!(start.contains(&format!("another, empty `{setting}`")), "{setting}");
    }
}

/// Runs a line with the environment and the addresses of a prepared command.
fn succeeds(prepared: &mut Command, line: &str) {
    let arguments: Vec<&str> = line.split(' ').skip(1).collect();
    let output = prepared.args(&arguments).output().expect("the binary can be started");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}: {printed}");
}
