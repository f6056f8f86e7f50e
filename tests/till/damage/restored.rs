//! Commands on a copy, and restores from it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::image::{Copy, Image, start};
use crate::harness::{Server, text};

/// The time after which a command counts as hanging.
const COMMAND_MAX: Duration = Duration::from_secs(120);

/// The result of a command.
pub(super) struct CommandOutput {
    pub(super) code: Option<i32>,
    pub(super) text: String,
}

/// Runs a command, which must come to its end.
pub(super) fn run(arguments: &[&str], copy: &Copy, damage: &str) -> CommandOutput {
    let record = copy.data().with_file_name("output");
    let output = File::create(&record).expect("writable");
    let mut command: Command = start().command(&copy.data());
    command.args(arguments).stdin(Stdio::null());
    command.stdout(output.try_clone().expect("it is open")).stderr(output);
    let mut child = command.spawn().expect("the binary can be started");
    let until = Instant::now() + COMMAND_MAX;
    let code = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status.code();
        }
        if Instant::now() > until {
            child.kill().expect("a child can be killed");
            panic!("{damage}: {arguments:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = String::from_utf8_lossy(&std::fs::read(&record).expect("readable")).into_owned();
    assert!(code.is_some() && !text.contains("panicked"), "{damage}: {arguments:?} ended badly: {text}");
    CommandOutput { code, text }
}

/// The result of a restore.
pub(super) enum Restored {
    /// The restore was refused for this reason, and no server starts on its target.
    Refused(String),
    /// A server runs on the restored store; the text is the output of the restore.
    Serves(Box<Server>, String),
}

/// Restores a checkpoint, with more arguments, into a directory of this name, and starts a server on it.
pub(super) fn restore(copy: &Copy, checkpoint: &str, to: &str, more: &[&str], damage: &str) -> Restored {
    let (from, to) = (copy.data().join("checkpoints").join(checkpoint), copy.data().with_file_name(to));
    let arguments = [&["restore", "--from", text(&from), "--to", text(&to)], more].concat();
    let printed = run(&arguments, copy, damage);
    if printed.code != Some(0) {
        assert!(printed.text.contains("till: "), "{damage}: no reason is said: {}", printed.text);
        let starts = to.join("db").exists() && start().try_server_on(&to, None).is_ok();
        assert!(!starts, "{damage}: what was not restored must not start");
        return Restored::Refused(printed.text);
    }
    let started = start().try_server_on(&to, Some(Arc::clone(&copy.directory)));
    let server = started.unwrap_or_else(|message| panic!("{damage}: restored, and does not start: {message}"));
    Restored::Serves(Box::new(server), printed.text)
}

/// The archive as an argument.
pub(super) fn with_archive(archive: &Path) -> [&str; 2] {
    ["--archive", text(archive)]
}

/// Checks that a restore of the early checkpoint with the archive has everything that was acknowledged, and serves.
pub(super) fn assert_all_restored(image: &Image, copy: &Copy, damage: &str) {
    let archive: PathBuf = copy.archive();
    match restore(copy, "early", "from-archive", &with_archive(&archive), damage) {
        Restored::Refused(reason) => panic!("{damage}: not restored from checkpoint and archive: {reason}"),
        Restored::Serves(server, _) => {
            assert_eq!(image.last_topups(&server), image.topups_acknowledged(), "{damage}: of the last commits");
            assert_eq!(server.admin("resume-effects", &json!({})).ok(), true);
            image.assert_whole(&server, damage);
        }
    }
}
