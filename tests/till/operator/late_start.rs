//! Opening the database takes longer than `open_seconds_max`: the program gives up, while RocksDB continues on a thread
//! that cannot be stopped.
//!
//! `TILL_LATE_STARTS` sets the number of tries of each command.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::harness::{PATIENCE, Start, directory, from_environment, wait_until};

/// `open_seconds_max` of the commands here, which counts whole seconds.
const LIMIT_SECONDS: u64 = 1;
/// The approximate time that opening the database takes.
const OPENING: Duration = Duration::from_millis(60);
#[test]
fn a_start_past_its_limit_exits_with_1_and_its_reason() {
    ends_every_time("serve", 1);
}

#[test]
fn a_verification_past_its_limit_exits_with_2_and_its_reason() {
    ends_every_time("verify", 2);
}

fn ends_every_time(subcommand: &str, code: i32) {
    let directory = directory();
    let data = data_with_a_long_log(directory.path());
    let times: u32 = from_environment("TILL_LATE_STARTS", 5);
    for time in 1..=times {
        // Each try interrupts RocksDB at another point.
        let ended = past_its_time_limit(subcommand, &data, OPENING * time / times);
        let printed = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "time {time}: {}\n{printed}", ended.status);
        assert!(printed.contains("did not end within 1"), "time {time}: {printed}");
    }
}

/// Data whose database takes RocksDB some time to open, because a killed server leaves a long log.
fn data_with_a_long_log(directory: &Path) -> PathBuf {
    let data = directory.join("data");
    let mut server = Start::default().server_in(&data);
    let shop = server.shop();
    for number in 0..20 {
        let value = json!(format!("{number}{}", "x".repeat(500_000)));
        shop.call("add-to-metadata-set", &json!({ "key": "long", "path": "", "value": value })).ok();
    }
    server.kill();
    data
}

/// Runs a command, and holds it up for longer than its limit once it has been opening the database for `opened_for`;
/// and again, sooner, when RocksDB had finished by then.
fn past_its_time_limit(subcommand: &str, data: &Path, mut opened_for: Duration) -> Output {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        let printed = data.with_extension("printed");
        let mut command = Start::default().with("TILL_OPEN_SECONDS_MAX", &LIMIT_SECONDS.to_string()).command(data);
        command.arg(subcommand).stdin(Stdio::null()).stderr(Stdio::piped());
        command.stdout(File::create(&printed).expect("a file can be made"));
        let mut child = command.spawn().expect("the binary can be started");
        let is_late = hold_up_opening(&mut child, opened_for) && gives_up(&mut child, &printed);
        drop(child.kill()); // Unless it has ended.
        let ended = child.wait_with_output().expect("it can be waited for");
        if is_late {
            return ended;
        }
        opened_for /= 2;
    }
    panic!("the database was always open in time");
}

/// Waits until the command has ended without a result, or has one.
fn gives_up(child: &mut Child, printed: &Path) -> bool {
    wait_until(PATIENCE, "it does not come to its end", || {
        child.try_wait().expect("it can be waited for").is_some() || !is_empty(printed)
    });
    is_empty(printed)
}

fn is_empty(file: &Path) -> bool {
    file.metadata().expect("it is there").len() == 0
}

/// Stops the process `opened_for` after its thread `rocksdb:open` started, until the limit is over. True when the
/// thread still ran.
fn hold_up_opening(child: &mut Child, opened_for: Duration) -> bool {
    let (pid, id) = (Pid::from_child(child), child.id());
    let until = Instant::now() + PATIENCE;
    while !has_thread(id, "rocksdb:open") {
        assert!(Instant::now() < until, "it does not begin to open the database");
        if child.try_wait().expect("it can be waited for").is_some() {
            return false;
        }
    }
    thread::sleep(opened_for);
    kill_process(pid, Signal::STOP).expect("a child can be stopped");
    let is_opening = has_thread(id, "rocksdb:open");
    if is_opening {
        thread::sleep(Duration::from_millis(1_000 * LIMIT_SECONDS + 100));
    }
    kill_process(pid, Signal::CONT).expect("a child goes on");
    is_opening
}

fn has_thread(process: u32, name: &str) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return false };
    let is_named = |thread: fs::DirEntry| {
        fs::read_to_string(thread.path().join("comm")).is_ok_and(|found| found.trim_end() == name)
    };
    threads.flatten().any(is_named)
}
