//! Files that are moved away or deleted under a running server: it stops, and nothing acknowledged is missing.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::harness::{Server, Shop, Start, directory, first_answer};

/// Within a minute it is noticed.
const NOTICED_WITHIN: Duration = Duration::from_secs(60);

/// The time that the last line may take from a server's end to the record.
const RECORDED_WITHIN: Duration = Duration::from_secs(10);

/// A server in a place of a test's own, with what it says.
struct Watched {
    place: TempDir,
    server: Server,
    shop: Shop,
    payments: Vec<String>,
}

impl Watched {
    /// One with payments that are in its log only.
    fn start() -> Watched {
        let place = directory();
        let server = Start::default().recording(&place.path().join("log")).server_in(&place.path().join("data"));
        let shop = server.shop();
        let payments = (0..5).map(|_| shop.pay(100)).collect();
        Watched { place, server, shop, payments }
    }

    fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    fn aside(&self) -> PathBuf {
        self.place.path().join("moved-away")
    }

    /// The newest log of a database.
    fn log_of(&self, database: &str) -> PathBuf {
        let files = fs::read_dir(self.data().join(database)).expect("readable");
        let files = files.map(|entry| entry.expect("it lists").path());
        let logs = files.filter(|file| file.extension().is_some_and(|end| end == "log"));
        logs.max().expect("an open database has a log")
    }

    /// Waits for the end of the server, which must say this.
    #[track_caller]
    fn ends_saying(&mut self, words: &[&str]) {
        assert!(self.server.ended_by_itself(NOTICED_WITHIN), "it goes on");
        let read = || fs::read_to_string(self.place.path().join("log")).expect("it was recorded");
        let is_last = |said: &String| {
            let last = said.lines().last().unwrap_or_default();
            words.iter().all(|word| last.contains(word))
        };
        first_answer(RECORDED_WITHIN, &format!("{words:?} are not in the last line"), read, is_last);
    }

    /// Starts it again: nothing acknowledged is missing.
    #[track_caller]
    fn starts_again_with_everything(&mut self) {
        self.server = Start::default().server_in(&self.data());
        let shop = self.shop.on(&self.server);
        self.payments.iter().for_each(|payment| assert_eq!(shop.payment(payment)["status"], "SUCCESSFUL"));
        shop.pay(100);
        assert!(self.server.stop());
        let verified = Start::default().command(&self.data()).arg("verify").output();
        let verified = verified.expect("the binary can be started");
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    }
}

#[test]
fn a_moved_write_ahead_log_stops_the_server_without_loss() {
    let mut watched = Watched::start();
    let log = watched.log_of("db");
    fs::rename(&log, watched.aside()).expect("it can be moved");
    let name = log.to_str().expect("ASCII").to_owned();
    watched.ends_saying(&["till: the write-ahead log", &name, "was moved away", "was written to tables"]);
    watched.starts_again_with_everything();
}

#[test]
fn a_deleted_or_replaced_write_ahead_log_stops_the_server() {
    let mut watched = Watched::start();
    fs::remove_file(watched.log_of("db")).expect("it can be removed");
    watched.ends_saying(&["till: the write-ahead log", "deleted"]);
    watched.starts_again_with_everything();
    let mut watched = Watched::start();
    let log = watched.log_of("db");
    fs::copy(&log, watched.aside()).expect("it can be copied");
    fs::rename(watched.aside(), &log).expect("it can be replaced");
    watched.ends_saying(&["till: the write-ahead log", "replaced"]);
}

#[test]
fn a_write_ahead_log_that_is_cut_short_stops_the_server() {
    let mut watched = Watched::start();
    let log = File::options().write(true).open(watched.log_of("db")).expect("it is there");
    log.set_len(100).expect("it can be cut");
    watched.ends_saying(&["till: the write-ahead log", "was cut short"]);
    watched.starts_again_with_everything();
}

#[test]
fn the_mark_and_the_other_databases_logs_are_watched() {
    for file in [
        (|watched: &Watched| watched.data().join("high-water")) as fn(&Watched) -> PathBuf,
        |watched| watched.log_of("sandbox"),
        |watched| watched.log_of("webhooks"),
    ] {
        let mut watched = Watched::start();
        let file = file(&watched);
        fs::rename(&file, watched.aside()).expect("it can be moved");
        watched.ends_saying(&["was moved away", name(&file)]);
        fs::rename(watched.aside(), &file).expect("it can be moved back");
        watched.starts_again_with_everything();
    }
}

fn name(file: &Path) -> &str {
    file.file_name().and_then(|name| name.to_str()).expect("ASCII")
}
