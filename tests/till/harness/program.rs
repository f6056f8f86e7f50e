//! Programs that a test starts, and what ends with a part of a test.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("temporary directories are ASCII")
}

/// Runs a command: exit code, standard output, standard error.
pub(crate) fn run_command(mut command: Command, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = command.args(arguments).output().expect("the binary can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Copies a directory with everything in it to where nothing is yet.
pub(crate) fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").args([from, to]).status().expect("cp can be started");
    assert!(status.success());
}

/// A process that is killed when it is dropped, unless it has ended.
pub(crate) struct KilledOnDrop(pub(crate) Child);

impl Deref for KilledOnDrop {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for KilledOnDrop {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _already_ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// Sets a flag when it is dropped, also by a failed assertion, because a scope waits for the threads that look at it.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
