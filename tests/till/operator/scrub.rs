//! The scrub: damage in tables at rest is found while the server runs.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::harness::{Server, Start, temporary, wait_until};

/// The longest time that a test waits for the scrub.
const PATIENCE: Duration = Duration::from_secs(60);

/// A store with tables at rest, of a server that was stopped.
pub(super) fn store(data: &Path) {
    let mut server = Start::default().server_in(data);
    let shop = server.shop();
    (0..3).for_each(|_| drop(shop.pay(100)));
    assert!(server.stop());
}

pub(super) fn tables(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).expect("readable").map(|entry| entry.expect("it lists").path());
    files.filter(|file| file.extension().is_some_and(|end| end == "sst")).collect()
}

/// Flips a bit in the first block of a table.
pub(super) fn damage(table: &Path) {
    let file = File::options().read(true).write(true).open(table).expect("it is there");
    let mut byte = [0];
    file.read_exact_at(&mut byte, 10).expect("it has rows");
    file.write_all_at(&[byte[0] ^ 1], 10).expect("writable");
}

fn start(every_seconds: &str, log: &Path) -> Start {
    Start::default().with("TILL_SCRUB_EVERY_SECONDS", every_seconds).recording(log)
}

pub(super) fn damaged_tables(server: &Server) -> Option<f64> {
    server.metric("till_scrub_damaged_tables")
}

#[test]
fn a_bit_that_flips_in_a_table_at_rest_is_found() {
    let (place, [data, log]) = temporary(["data", "log"]);
    for database in ["db", "sandbox"] {
        store(&data);
        let mut server = start("1", &log).server_in(&data);
        wait_until(PATIENCE, "tables are read", || data.join("scrub/tables.json").exists());
        assert_eq!(damaged_tables(&server), Some(0.0));
        let found = tables(&data.join(database));
        let table = found.iter().max_by_key(|table| fs::metadata(table).expect("it is there").len());
        let table = table.expect("a stop writes tables").clone();
        damage(&table);
        wait_until(PATIENCE, "the damage is found", || damaged_tables(&server) == Some(1.0));
        let recorded = || fs::read_to_string(&log).expect("it was recorded");
        wait_until(PATIENCE, "it is logged", || recorded().contains("a table at rest is damaged"));
        let said = recorded();
        let line = said.lines().find(|line| line.contains("a table at rest is damaged")).expect("it is logged");
        assert!(line.contains(table.to_str().expect("ASCII")) && line.contains("ERROR"), "{line}");
        assert!(line.contains("till verify") && line.contains("restore the directory"), "{line}");
        let name = table.strip_prefix(&data).expect("it is in it").to_str().expect("ASCII");
        let noted = fs::read_to_string(data.join("table-damaged")).expect("it is noted");
        assert!(noted.starts_with(&format!("{name} Corruption")), "{noted}");
        // The damage is known to the next process before it has read anything.
        server.kill();
        let server = start("604800", &log).server_in(&data);
        assert_eq!(damaged_tables(&server), Some(1.0));
        drop(server);
        for name in ["data", "log"] {
            let path = place.path().join(name);
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("removable");
        }
    }
}

#[test]
fn a_table_that_is_missing_is_found() {
    let (place, [data, log]) = temporary(["data", "log"]);
    store(&data);
    let server = start("1", &log).server_in(&data);
    let table = tables(&data.join("db")).pop().expect("a stop writes tables");
    fs::rename(&table, place.path().join("moved-away")).expect("it can be moved");
    wait_until(PATIENCE, "it is found", || damaged_tables(&server) == Some(1.0));
    let said = || fs::read_to_string(&log).expect("it was recorded");
    wait_until(PATIENCE, "it is told", || said().contains(table.to_str().expect("ASCII")));
}

#[test]
fn passes_continue_after_restarts_and_their_age_is_shown() {
    let (_place, [data, log]) = temporary(["data", "log"]);
    store(&data);
    let age = |server: &Server| server.metric("till_scrub_age_seconds").expect("the scrub is on");
    let mut server = start("1", &log).server_in(&data);
    thread::sleep(Duration::from_secs(3));
    assert!(age(&server) <= 3.0, "passes were complete");
    // While rows are written, tables come and go.
    let shop = server.shop();
    (0..20).for_each(|_| drop(shop.pay(100)));
    server.admin("create-checkpoint", &json!({ "name": "one" })).ok();
    assert_eq!(damaged_tables(&server), Some(0.0));
    assert!(server.stop());
    thread::sleep(Duration::from_secs(3));
    let mut server = start("604800", &log).server_in(&data);
    assert!(age(&server) >= 3.0, "the age is counted over restarts");
    assert!(server.stop());
    let said = fs::read_to_string(&log).unwrap_or_default();
    assert!(!said.contains("damaged") && !said.contains("scrub"), "{said}");
    let server = start("0", &log).server_in(&data);
    assert_eq!((server.metric("till_scrub_age_seconds"), damaged_tables(&server)), (None, Some(0.0)));
}
