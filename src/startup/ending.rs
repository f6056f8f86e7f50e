//! The end of the process when it must not go on.

use std::io::Write;
use std::thread;
use std::time::Duration;

/// The time limit for writing the abort message: standard error may be a full pipe that nobody reads.
const ABORT_MESSAGE_MAX: Duration = Duration::from_secs(2);

/// Ends the process after a write with an unknown result: continuing could acknowledge a commit that is not on the
/// disk. The next start reads the commits that are.
pub fn abort_with_message(reason: String) {
    // The text of EMFILE, by which RocksDB names it.
    let check = if reason.contains("Too many open files") {
        "It has no file descriptor left: raise the limit (ulimit -n, LimitNOFILE)"
    } else {
        "Check the disk"
    };
    let word =
        format!("till: the outcome of a write is unknown ({reason}); the process stops. {check} and start it again.");
    end_process(&format!("the outcome of a write is unknown: {reason}"), &word);
}

/// Ends the process at once, with a line in the log and a message on standard error.
pub(super) fn end_process(reason: &str, word: &str) {
    let abort_after_limit = || {
        thread::sleep(ABORT_MESSAGE_MAX);
        std::process::abort()
    };
    // Without this thread a blocked message would keep the process alive.
    let _ender = thread::Builder::new().name("last-word".to_owned()).spawn(abort_after_limit);
    tracing::error!(reason, "the process stops, start it again");
    let _ = writeln!(std::io::stderr(), "{word}"); // The process ends even when this cannot be written.
    std::process::abort();
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::pipe;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, ExitStatus, Stdio};

    use super::*;

    /// The variable that tells a process of this test to end itself.
    const ENDING: &str = "TILL_TEST_LAST_WORD";
    /// The capacity of a pipe on Linux (`pipe(7)`).
    const PIPE_BYTES: usize = 64 * 1024;
    /// The signal of a process that ended itself.
    const SIGABRT: i32 = 6;

    /// The exit status of a process whose abort message goes there.
    fn ended(name: &str, standard_error: impl Into<Stdio>) -> ExitStatus {
        if std::env::var_os(ENDING).is_some() {
            abort_with_message("a test says so".to_owned());
        }
        let test = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(test);
        // Without capture, so that the message goes to the real standard error.
        command.args(["--exact", &format!("startup::ending::tests::{name}"), "--nocapture"]).env(ENDING, "1");
        command.stdout(Stdio::null()).stderr(standard_error).status().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_failed_abort_message_still_ends_the_process() {
        let full = File::options().write(true).open("/dev/full").unwrap_or_else(|error| panic!("{error}"));
        let ended = ended("a_failed_abort_message_still_ends_the_process", full);
        assert_eq!(ended.signal(), Some(SIGABRT), "{ended}");
    }

    #[test]
    fn an_unread_abort_message_still_ends_the_process() {
        let (unread, mut full) = pipe().unwrap_or_else(|error| panic!("{error}"));
        full.write_all(&[b' '; PIPE_BYTES]).unwrap_or_else(|error| panic!("{error}"));
        let ended = ended("an_unread_abort_message_still_ends_the_process", full);
        assert_eq!(ended.signal(), Some(SIGABRT), "{ended}");
        drop(unread);
    }
}
