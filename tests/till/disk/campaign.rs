//! The disk fills under load, again and again; in some rounds below the reserve, so that RocksDB gets no space; in some
//! the file system shuts down.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::harness::{Server, Shop, Start, Volume, from_environment, temporary, wait_until};

use super::MIB;
use super::filler::Filler;
use super::load::{Acknowledged, WritingLoad, verify};

/// The size of the disk: some hundred rounds of load fit.
const DISK_BYTES: u64 = 1_024 * MIB;

/// The reserve in rounds in which the server detects the full disk before RocksDB does.
const RESERVE_BYTES: u64 = 128 * MIB;

/// The signal of a process that ends itself.
const SIGABRT: i32 = 6;

/// The longest time that the test waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);

fn rounds() -> u32 {
    from_environment("TILL_DISK_ROUNDS", 1)
}

/// A server on the disk, with the answers that its callers got.
struct DiskServer {
    /// The server is dropped before its disk.
    server: Server,
    disk: Volume,
    log: std::path::PathBuf,
    shop: Shop,
    acknowledged: Arc<Acknowledged>,
}

impl DiskServer {
    fn begin(reserve_bytes: u64) -> (tempfile::TempDir, DiskServer) {
        let disk = Volume::made(DISK_BYTES);
        // The server's output must not be on the disk that is filled.
        let (beside, [log]) = temporary(["log"]);
        let server = start(reserve_bytes, &log).server_in(&disk.path().join("data"));
        let shop = server.shop();
        (beside, DiskServer { disk, log, server, shop, acknowledged: Arc::default() })
    }

    /// Starts the server again once there is space.
    fn start_again(&mut self, reserve_bytes: u64) {
        self.server.kill();
        self.server = start(reserve_bytes, &self.log).server_in(&self.disk.path().join("data"));
        self.shop = self.shop.on(&self.server);
    }

    /// Checks that a server that has ended printed the reason.
    #[track_caller]
    fn check_last_word(&mut self) {
        let status = self.server.ended().expect("it has ended");
        assert_eq!(status.signal(), Some(SIGABRT), "{status}");
        wait_until(PATIENCE, "no last word", || {
            let said = std::fs::read_to_string(&self.log).unwrap_or_default();
            said.contains("till: the outcome of a write is unknown")
        });
    }

    /// A start on a full disk succeeds, or names the reason.
    #[track_caller]
    fn check_start_without_space(&self) {
        let started = start(0, &self.log).try_server_on(&self.disk.path().join("data"), None);
        if let Err(printed) = started {
            let names_it = printed.contains("no storage space") || printed.contains("No space left on device");
            assert!(names_it, "{printed}");
        }
    }

    fn report(&self, round: u32, what: &str) {
        let (items, payments) = self.acknowledged.count();
        println!("round {round}: {what}; {items} items and {payments} payments acknowledged, and all there");
    }
}

fn start(reserve_bytes: u64, log: &Path) -> Start {
    Start::default().with("TILL_DISK_RESERVE_BYTES", &reserve_bytes.to_string()).recording(log)
}

#[test]
fn a_full_disk_under_load_loses_nothing_and_recovers() {
    let (_beside, mut stand) = DiskServer::begin(RESERVE_BYTES);
    for round in 1..=rounds() {
        let load = WritingLoad::start(&stand.shop, &stand.acknowledged);
        stand.acknowledged.wait_for_more("a write", &stand.acknowledged.done, || false);
        let filler = Filler::leaving(&stand.disk.path(), RESERVE_BYTES / 2);
        stand.acknowledged.wait_for_more("a refusal", &stand.acknowledged.not_done, || false);
        drop(filler);
        stand.acknowledged.wait_for_more("a write after there was space", &stand.acknowledged.done, || false);
        load.end();
        assert!(stand.server.ended().is_none(), "it runs on");
        stand.acknowledged.check(&stand.shop);
        stand.report(round, "filled up to the reserve, and freed");
    }
    verify(&mut stand.server);
}

#[test]
fn a_disk_filled_below_the_reserve_loses_nothing() {
    let (_beside, mut stand) = DiskServer::begin(0);
    for round in 1..=rounds() {
        let load = WritingLoad::start(&stand.shop, &stand.acknowledged);
        stand.acknowledged.wait_for_more("a write", &stand.acknowledged.done, || false);
        let filler = Filler::leaving(&stand.disk.path(), 0);
        let (acknowledged, server) = (Arc::clone(&stand.acknowledged), &mut stand.server);
        acknowledged.wait_for_more("a refusal or an end", &acknowledged.not_done, || server.ended().is_some());
        stand.server.ended_by_itself(Duration::from_secs(2));
        load.end();
        let has_ended = stand.server.ended().is_some();
        if has_ended {
            stand.check_last_word();
        } else {
            // The tables that a stop would write may not fit; the log has their rows.
            stand.server.stop();
        }
        stand.check_start_without_space();
        drop(filler);
        stand.start_again(0);
        stand.acknowledged.check(&stand.shop);
        stand.report(round, if has_ended { "the server ended itself" } else { "stopped without space" });
    }
    verify(&mut stand.server);
}

#[test]
fn a_file_system_shutdown_under_load_loses_nothing() {
    let (_beside, mut stand) = DiskServer::begin(RESERVE_BYTES);
    for round in 1..=rounds() {
        let load = WritingLoad::start(&stand.shop, &stand.acknowledged);
        stand.acknowledged.wait_for_more("a write", &stand.acknowledged.done, || false);
        stand.disk.break_off();
        wait_until(PATIENCE, "it goes on without a disk", || stand.server.ended().is_some());
        load.end();
        stand.check_last_word();
        stand.disk.unmount_and_repair();
        stand.disk.mount().expect("it can be mounted again");
        stand.start_again(RESERVE_BYTES);
        stand.acknowledged.check(&stand.shop);
        stand.report(round, "a sync failed, the server ended itself, and was started again");
    }
    verify(&mut stand.server);
}
