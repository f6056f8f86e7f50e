//! Files and the memory of the server, which other users of the machine cannot read.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::harness::{Server, Start, directory, first_answer, limited, temporary};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").mode() & 0o777
}

/// All paths below a directory to which others than the owner have a permission, and the number of all paths.
fn open_to_others(directory: &Path) -> (Vec<(PathBuf, u32)>, usize) {
    let (mut open, mut count) = (Vec::new(), 0);
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for path in fs::read_dir(&directory).expect("it is ours").flatten().map(|entry| entry.path()) {
            count += 1;
            if mode(&path) & 0o077 != 0 {
                open.push((path.clone(), mode(&path)));
            }
            if path.is_dir() {
                directories.push(path);
            }
        }
    }
    (open, count)
}

/// A command of the server under an empty umask.
#[track_caller]
fn succeeds(server: &Server, arguments: &[&str]) {
    let mut command = server.command();
    command.args(arguments);
    let output = limited(&command, "umask 000").output().expect("a shell can be started");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn all_that_is_made_is_its_owner_s_alone_whatever_the_umask() {
    let directory = directory();
    let place = |name: &str| directory.path().join(name).to_str().expect("ASCII").to_owned();
    let start = Start::default().behind("umask 000").with("TILL_ARCHIVE_DIRECTORY", &place("archive"));
    let mut server = start.without("TILL_VAULT_KEY").server_in(&directory.path().join("data"));
    server.shop().pay(1_000);
    server.admin("create-checkpoint", &json!({ "name": "first" })).ok();
    let checkpoint = place("data/checkpoints/first");
    succeeds(&server, &["restore", "--from", &checkpoint, "--archive", &place("archive"), "--to", &place("restored")]);
    assert!(server.stop());
    succeeds(&server, &["verify"]);
    succeeds(&server, &["export", "--to", &place("export"), "--open-personal-data"]);
    let (open, count) = open_to_others(directory.path());
    assert_eq!(open, []);
    assert!(count > 40, "only {count} files");
}

#[test]
fn a_directory_that_others_can_read_is_named() {
    let (directory, [data, log]) = temporary(["data", "log"]);
    let archive = directory.path().join("archive");
    let start = Start::default().recording(&log).with("TILL_ARCHIVE_DIRECTORY", archive.to_str().expect("ASCII"));
    let mut server = start.server_in(&data);
    assert!(server.stop());
    for path in [&data, &archive] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("it is ours");
    }
    server.restart();
    for path in [&data, &archive] {
        is_said(&log, &[&format!("chmod -R go-rwx {}", path.display())]);
    }
}

/// Waits for a line of the log with these words, because the server writes logs on a separate thread.
#[track_caller]
fn is_said(log: &Path, words: &[&str]) {
    let is_there = |printed: &String| printed.lines().any(|line| words.iter().all(|word| line.contains(word)));
    let read = || fs::read_to_string(log).expect("a record is kept");
    first_answer(Duration::from_secs(10), &format!("{words:?} is not there"), read, is_there);
}

#[test]
fn a_server_s_memory_goes_into_no_core_file() {
    let server = Start::default().behind("ulimit -c unlimited 2>/dev/null || ulimit -c $(ulimit -H -c)").server();
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.id())).expect("it runs, on Linux");
    let core = limits.lines().find_map(|line| line.strip_prefix("Max core file size")).expect("Linux says it");
    assert_eq!(core.split_whitespace().take(2).collect::<Vec<_>>(), ["0", "0"]);
}
