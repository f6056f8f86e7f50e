//! Damaged tables: no checkpoint has one, the good checkpoints stay, and the damage is remembered until it is repaired.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::scrub::{damage, damaged_tables, store, tables};
use crate::harness::{PATIENCE, Server, Start, directory, temporary, text, wait_until};

/// A file system that is not the one of temporary directories.
const OTHER_FILE_SYSTEM: &str = "/dev/shm";

/// Runs a command, and returns its exit code and both its outputs.
fn run(mut command: Command, arguments: &[&str]) -> (Option<i32>, String) {
    let output = command.args(arguments).output().expect("the binary can be started");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// The table of a database that has most bytes.
fn largest_table(database: &Path) -> PathBuf {
    let found = tables(database);
    let largest = found.iter().max_by_key(|table| fs::metadata(table).expect("it is there").len());
    largest.expect("a stop writes tables").clone()
}

/// The path of a table below its data directory.
fn name_of(data: &Path, table: &Path) -> String {
    text(table.strip_prefix(data).expect("it is in it")).to_owned()
}

/// A store whose book has tables, too: a start writes them.
fn store_with_book(data: &Path) {
    (0..2).for_each(|_| store(data));
}

fn ready(server: &Server) -> Value {
    server.admin_client().get("/health/ready").ok()
}

/// The complete checkpoints on a shelf, the oldest first.
fn complete(shelf: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(shelf).expect("readable").map(|entry| entry.expect("it lists").path());
    let mut complete: Vec<PathBuf> = entries.filter(|path| path.join("checkpoint-manifest").exists()).collect();
    complete.retain(|path| path.extension().is_none());
    complete.sort();
    complete
}

fn outcomes(server: &Server, outcome: &str) -> f64 {
    server.metric(&format!("till_checkpoints_total{{outcome=\"{outcome}\"}}")).expect("it is counted from 0")
}

#[test]
fn a_first_checkpoint_reads_tables_and_refuses_a_damaged_one() {
    let (_place, [data, log]) = temporary(["data", "log"]);
    for database in ["db", "sandbox"] {
        store_with_book(&data);
        let table = largest_table(&data.join(database));
        damage(&table);
        let name = name_of(&data, &table);
        let start = Start::default().with("TILL_SCRUB_EVERY_SECONDS", "0").recording(&log);
        let mut server = start.server_in(&data);
        let refused = server.admin("create-checkpoint", &json!({ "name": "bad" }));
        refused.refused("CONFLICT");
        let reason = refused.body[1].as_str().expect("a message");
        for words in [&name, "is damaged", "till verify", "till repair rows", "restore"] {
            assert!(reason.contains(words), "{words} is not in {reason}");
        }
        let left = fs::read_dir(data.join("checkpoints")).map(|shelf| shelf.flatten().collect::<Vec<_>>());
        assert!(left.unwrap_or_default().iter().all(|entry| !entry.path().is_dir()), "at most its lock is left");
        assert!(!data.join("checkpoint-staging").exists());
        assert_eq!((outcomes(&server, "damaged"), outcomes(&server, "taken")), (1.0, 0.0));
        let said = fs::read_to_string(&log).expect("it was recorded");
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(&name)).collect();
        assert!(lines.iter().any(|line| line.contains("is damaged")), "{said}");
        assert!(lines.iter().any(|line| line.contains("a checkpoint was not taken")), "{said}");
        for _ in 0..2 {
            assert_eq!(damaged_tables(&server), Some(1.0));
            assert_eq!(ready(&server), json!({ "status": "ready", "damaged_tables": [name] }), "it goes on serving");
            let (code, printed) = run(server.command(), &["checkpoint", "create"]);
            assert!(code == Some(1) && printed.contains(&name) && printed.contains("till verify"), "{printed}");
            server.restart();
        }
        drop(server);
        fs::remove_dir_all(&data).expect("removable");
        fs::remove_file(&log).expect("removable");
    }
}

#[test]
fn copies_elsewhere_never_push_the_good_ones_out() {
    let place = directory();
    let shelf = TempDir::new_in(OTHER_FILE_SYSTEM).expect("it is there on Linux");
    let device = |path: &Path| fs::metadata(path).expect("it is there").dev();
    assert_ne!(device(place.path()), device(shelf.path()), "checkpoints are copied");
    let data = place.path().join("data");
    store(&data);
    let start = Start::default()
        .with("TILL_CHECKPOINT_DIRECTORY", text(shelf.path()))
        .with("TILL_CHECKPOINT_EVERY_SECONDS", "1")
        .with("TILL_CHECKPOINTS_KEPT", "2");
    let server = start.server_in(&data);
    wait_until(PATIENCE, "two are taken", || outcomes(&server, "taken") >= 2.0);
    // The server was idle since its start: nothing but the next copy reads the table.
    damage(&largest_table(&data.join("db")));
    wait_until(PATIENCE, "the next one is refused", || outcomes(&server, "damaged") >= 1.0);
    let kept = complete(shelf.path());
    wait_until(PATIENCE, "the one after it as well", || outcomes(&server, "damaged") >= 2.0);
    assert_eq!(complete(shelf.path()), kept, "those of before stay");
    assert!(!kept.is_empty() && damaged_tables(&server) == Some(1.0));
    for checkpoint in kept {
        let (code, printed) = run(server.command(), &["checkpoint", "verify", text(&checkpoint)]);
        assert_eq!(code, Some(0), "{printed}");
    }
}

#[test]
fn a_table_that_was_read_long_ago_is_read_again() {
    let (_place, [data]) = temporary(["data"]);
    store(&data);
    // With a week, the scrub itself reads nothing while the test runs.
    let seconds = |every: &str| Start::default().with("TILL_SCRUB_EVERY_SECONDS", every);
    let mut server = seconds("604800").server_in(&data);
    server.admin("create-checkpoint", &json!({ "name": "first" })).ok();
    let manifest = fs::read_to_string(data.join("checkpoints/first/checkpoint-manifest")).expect("readable");
    assert!(manifest.lines().any(|line| line.starts_with("tables_read_at_ms 1")), "{manifest}");
    assert!(server.stop());
    damage(&largest_table(&data.join("db")));
    let mut server = seconds("604800").server_in(&data);
    server.admin("create-checkpoint", &json!({ "name": "linked" })).ok();
    assert!(server.stop());
    thread::sleep(Duration::from_millis(1_100)); // The last reading is at least so old.
    let server = seconds("1").server_in(&data);
    server.admin("create-checkpoint", &json!({ "name": "read-again" })).refused("CONFLICT");
    assert_eq!(damaged_tables(&server), Some(1.0));
}

#[test]
fn the_newest_checkpoint_without_known_damage_is_kept() {
    let (_place, [data]) = temporary(["data"]);
    store(&data);
    let mut server = Start::default().with("TILL_SCRUB_EVERY_SECONDS", "0").server_in(&data);
    server.admin("create-checkpoint", &json!({ "name": "good" })).ok();
    let shop = server.shop();
    shop.pay(100);
    assert!(server.stop());
    let before = tables(&data.join("checkpoints/good/db"));
    let mut server = Start::default().with("TILL_SCRUB_EVERY_SECONDS", "0").server_in(&data);
    server.admin("create-checkpoint", &json!({ "name": "shares" })).ok();
    assert!(server.stop());
    let is_new = |table: &&PathBuf| !before.iter().any(|old| old.file_name() == table.file_name());
    let now = tables(&data.join("checkpoints/shares/db"));
    let table = now.iter().find(is_new).expect("the second stop wrote tables");
    damage(table);
    let name = format!("db/{}", table.file_name().and_then(|name| name.to_str()).expect("ASCII"));
    fs::write(data.join("table-damaged"), format!("{name} Corruption: a block\n")).expect("writable");
    let prune = |arguments: &[&str]| run(Start::default().command(&data), arguments);
    let (code, printed) = prune(&["checkpoint", "prune", "--keep", "0"]);
    assert!(code == Some(1) && printed.contains("--yes"), "{printed}");
    assert_eq!(prune(&["checkpoint", "prune", "--keep", "1"]), (Some(0), String::new()));
    assert_eq!(prune(&["checkpoint", "prune", "--keep", "0", "--yes"]), (Some(0), "shares\n".to_owned()));
    assert_eq!(complete(&data.join("checkpoints")), [data.join("checkpoints/good")]);
}

/// The largest table of the family of rows, whose properties name it.
fn table_of_rows(data: &Path) -> PathBuf {
    let names_it = |table: &PathBuf| fs::read(table).expect("readable").windows(4).any(|bytes| bytes == b"rows");
    let of_rows = tables(&data.join("db")).into_iter().filter(names_it);
    of_rows.max_by_key(|table| fs::metadata(table).expect("it is there").len()).expect("a stop writes tables")
}

#[test]
fn damage_met_by_a_read_is_remembered() {
    let (_place, [data]) = temporary(["data"]);
    let start = Start::default().with("TILL_SCRUB_EVERY_SECONDS", "0");
    let mut server = start.server_in(&data);
    let shop = server.shop();
    let payment = shop.pay(100);
    shop.settled(&payment);
    assert!(server.stop());
    let table = table_of_rows(&data);
    damage(&table);
    let mut server = start.server_in(&data);
    assert_eq!(shop.on(&server).call("find-payment", &json!({ "payment_id": payment })).status, 503);
    server.admin("create-checkpoint", &json!({ "name": "bad" })).refused("CONFLICT");
    let noted = fs::read_to_string(data.join("table-damaged")).expect("it is noted");
    assert!(noted.starts_with(&format!("{} ", name_of(&data, &table))), "{noted}");
    assert!(server.stop(), "everything acknowledged is on the disk");
    let server = start.server_in(&data);
    assert_eq!(damaged_tables(&server), Some(1.0));
    assert_eq!(ready(&server), json!({ "status": "ready", "damaged_tables": [name_of(&data, &table)] }));
    server.admin("create-checkpoint", &json!({ "name": "bad" })).refused("CONFLICT");
}

#[test]
fn damage_of_a_book_that_was_replaced_is_forgotten() {
    let (_place, [data]) = temporary(["data"]);
    store_with_book(&data);
    let table = largest_table(&data.join("sandbox"));
    damage(&table);
    let mut server = Start::default().with("TILL_SCRUB_EVERY_SECONDS", "0").server_in(&data);
    server.admin("create-checkpoint", &json!({ "name": "bad" })).refused("CONFLICT");
    assert!(server.stop());
    fs::rename(data.join("sandbox"), data.join("sandbox.damaged")).expect("it can be moved");
    let server = Start::default().with("TILL_SCRUB_EVERY_SECONDS", "0").server_in(&data);
    assert_eq!((damaged_tables(&server), ready(&server)), (Some(0.0), json!({ "status": "ready" })));
    server.admin("create-checkpoint", &json!({ "name": "good" })).ok();
}
