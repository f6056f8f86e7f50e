//! `till head`, and what a line of it tells of a store, of a restored one and of an archive.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Server, Start, copy, directory, run_command, text};

/// A directory for everything of a test.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(directory())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn server(&self, data: &str) -> Server {
        Start::default().server_in(&self.at(data))
    }

    /// Runs a server on a data directory, pays, and stops it.
    fn trade(&self, data: &str) {
        let mut server = self.server(data);
        server.shop().pay(100);
        assert!(server.stop());
    }

    /// Runs a command on a data directory: exit code, standard output, standard error.
    fn till(&self, data: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        run_command(Start::default().command(&self.at(data)), arguments)
    }

    /// The line of a command that prints one.
    #[track_caller]
    fn line(&self, data: &str, arguments: &[&str]) -> String {
        let (code, output, errors) = self.till(data, arguments);
        assert_eq!((code, output.lines().count()), (Some(0), 1), "{output}{errors}");
        output
    }

    /// Keeps lines in a file.
    fn keep(&self, name: &str, lines: &str) -> String {
        fs::write(self.at(name), lines).expect("writable");
        text(&self.at(name)).to_owned()
    }

    /// Verifies a data directory against a head, and fails unless it ends with this code; what was said.
    #[track_caller]
    fn verify(&self, data: &str, head: &str, more: &[&str], code: i32) -> String {
        let (found, output, errors) = self.till(data, &[&["verify", "--head", head], more].concat());
        assert_eq!(found, Some(code), "{output}{errors}");
        output + &errors
    }
}

#[test]
fn a_head_holds_in_the_store_that_went_on() {
    let place = Place::new();
    place.trade("data");
    let first = place.line("data", &["head"]);
    assert_eq!(first, place.line("data", &["head"]), "reading changes nothing");
    place.trade("data");
    let second = place.line("data", &["head"]);
    assert_ne!(first, second);
    let heads = place.keep("heads", &format!("{first}\n{second}"));
    let said = place.verify("data", &heads, &[], 0);
    let commit = |line: &str| line.split(' ').nth(4).expect("a number").to_owned();
    for line in [&first, &second] {
        assert!(said.contains(&format!("has commit {} of the head", commit(line))), "{said}");
    }
    place.verify("data", &heads, &["--restored"], 0);
}

#[test]
fn a_store_of_before_the_head_is_refused() {
    let place = Place::new();
    place.trade("data");
    copy(&place.at("data"), &place.at("before"));
    place.trade("data");
    let head = place.keep("head", &place.line("data", &["head"]));
    let said = place.verify("before", &head, &[], 1);
    assert!(said.contains("the store ends at commit ") && said.contains("it is older than the head"), "{said}");
    let (code, report, _) = place.till("before", &["verify", "--json", "--head", &head]);
    let report: Value = serde_json::from_str(&report).expect("the report is one JSON object");
    assert_eq!((code, &report["faults"][0]["fault"]), (Some(1), &json!("head")), "{report:#}");
}

#[test]
fn another_store_and_another_history_are_refused() {
    let place = Place::new();
    place.trade("data");
    copy(&place.at("data"), &place.at("copy"));
    place.trade("data");
    place.trade("copy");
    place.trade("copy");
    place.trade("other");
    place.trade("other");
    let head = place.keep("head", &place.line("data", &["head"]));
    let said = place.verify("copy", &head, &[], 1);
    assert!(said.contains("the store has another hash at commit "), "{said}");
    let said = place.verify("other", &head, &[], 1);
    assert!(said.contains("the store is the store ") && said.contains("and the head is of the store "), "{said}");
    assert!(!said.contains("--restored"), "{said}");
    place.verify("other", &head, &["--restored"], 1);
}

#[test]
fn a_restored_store_is_refused_unless_restored_is_given() {
    let place = Place::new();
    let mut server = place.server("data");
    let shop = server.shop();
    shop.pay(100);
    server.admin("create-checkpoint", &json!({ "name": "one" })).ok();
    assert!(server.stop());
    let before = place.at("data/checkpoints/one");
    let restored = place.at("restored");
    let (code, output, errors) = place.till("data", &["restore", "--from", text(&before), "--to", text(&restored)]);
    assert_eq!(code, Some(0), "{output}{errors}");
    // The head of the moment of the checkpoint, and one of later.
    let head = Start::default().command(&before).arg("head").output().expect("the binary can be started");
    let head = place.keep("head", &String::from_utf8_lossy(&head.stdout));
    place.trade("data");
    let later = place.keep("later", &place.line("data", &["head"]));
    let said = place.verify("restored", &head, &[], 1);
    assert!(said.contains("it was restored from there. Say --restored"), "{said}");
    place.verify("restored", &head, &["--restored"], 0);
    let mut server = place.server("restored");
    server.admin("resume-effects", &json!({})).ok();
    server.shop().pay(100);
    assert!(server.stop());
    place.verify("restored", &head, &["--restored"], 0);
    let said = place.verify("restored", &later, &["--restored"], 1);
    assert!(said.contains("the store "), "{said}");
}

#[test]
fn an_archive_has_the_head_of_its_store_until_its_end_is_gone() {
    let place = Place::new();
    let archive = place.at("archive");
    let start = Start::default()
        .with("TILL_ARCHIVE_DIRECTORY", text(&archive))
        .with("TILL_ARCHIVE_SEGMENT_BYTES", "1000")
        .with("TILL_ARCHIVE_EVERY_MILLISECONDS", "20");
    let mut server = start.server_in(&place.at("data"));
    let shop = server.shop();
    for _ in 0..5 {
        shop.pay(100);
        server.wait_until_archived();
    }
    assert!(server.stop());
    let of_store = place.line("data", &["head"]);
    let of_archive = place.line("data", &["head", "--archive", text(&archive)]);
    assert_eq!(of_store.split_once(" logs ").expect("a store has them").0, of_archive.trim_end());
    let verify = |head: &str| place.till("data", &["archive", "verify", "--head", head, text(&archive)]);
    let heads = place.keep("heads", &(of_store + &of_archive));
    let (code, output, errors) = verify(&heads);
    assert_eq!((code, output.matches("of the head, with the same hash").count()), (Some(0), 2), "{output}{errors}");
    place.verify("data", &heads, &[], 0);
    remove_last_segment(&archive);
    let (code, output, errors) = verify(&heads);
    assert_eq!(code, Some(1), "{output}{errors}");
    assert!(errors.contains("ends at commit ") && errors.contains("older than the head"), "{errors}");
}

/// Removes the newest segments until one with commits is gone.
fn remove_last_segment(archive: &Path) {
    let files = fs::read_dir(archive).expect("readable").map(|entry| entry.expect("it lists").path());
    let mut segments: Vec<PathBuf> = files.filter(|file| text(file).contains("/segment-")).collect();
    segments.sort();
    assert!(segments.len() > 3, "{segments:?}");
    segments.iter().rev().take(2).for_each(|segment| fs::remove_file(segment).expect("it is there"));
}

#[test]
fn a_file_without_a_head_cannot_be_verified_against() {
    let place = Place::new();
    place.trade("data");
    for lines in ["", "\n\n", "till-head-1 store 00\n"] {
        let head = place.keep("head", lines);
        let said = place.verify("data", &head, &[], 2);
        assert!(said.contains(&head), "{said}");
    }
    place.verify("data", text(&place.at("nowhere")), &[], 2);
}

#[test]
fn the_head_of_a_store_in_use_and_of_no_store_is_refused() {
    let place = Place::new();
    let server = place.server("data");
    let (code, _, errors) = place.till("data", &["head"]);
    assert!(code == Some(1) && errors.contains("in use by another process"), "{errors}");
    drop(server);
    let (code, _, errors) = place.till("nowhere", &["head"]);
    assert!(code == Some(1) && errors.contains("there is no data in "), "{errors}");
}
