//! Starts that are refused before anything is made: each message names the fault, its place and a remedy.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::harness::{PATIENCE, Server, Start, directory, holds_within, limited, temporary};

/// A user that owns nothing.
const NOBODY: u32 = 65_534;

/// The file in which Linux has the first unprivileged port.
const FIRST_FREE_PORT: &str = "/proc/sys/net/ipv4/ip_unprivileged_port_start";

/// The output of a start that ends by itself with exit code 1. It has each reason only once.
#[track_caller]
fn refusal(mut command: Command) -> String {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary can be started");
    holds_within(PATIENCE, || child.try_wait().expect("it can be waited for").is_some());
    let _already_ended = child.kill(); // The start may not have been refused.
    let output = child.wait_with_output().expect("it can be waited for");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.matches("(os error").count() <= 1, "it repeats itself: {printed}");
    printed
}

#[track_caller]
fn has_all(printed: &str, parts: &[&str]) {
    for part in parts {
        assert!(printed.contains(part), "{part} is not in {printed}");
    }
}

/// A start without the secrets of tests: one that is not refused makes its secrets.
fn serving(data: &Path, variables: &[(&str, &str)]) -> Command {
    let start = Start::default().without("TILL_ADMIN_TOKEN").without("TILL_VAULT_KEY");
    let start = variables.iter().fold(start, |start, (name, value)| start.with(name, value));
    let mut command = start.command(data);
    command.arg("serve");
    command
}

/// The same command as a user that owns nothing, without any variable, with a copy of the program in this directory,
/// because the user may not read that of the build. None where a test may not change its user.
fn as_nobody(command: &Command, directory: &Path) -> Option<Command> {
    if fs::metadata("/proc/self").map(|found| found.uid()).ok() != Some(0) {
        println!("skipped: only root becomes another user");
        return None;
    }
    let words = format!("exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups env -i \"$0\" \"$@\"");
    let program = directory.join("program");
    fs::copy(command.get_program(), &program).expect("the program can be copied");
    let mut copied = Command::new(program);
    copied.args(command.get_args());
    Some(limited(&copied, &words))
}

#[test]
fn a_taken_address_is_named_and_nothing_is_made() {
    let (_place, [data]) = temporary(["data"]);
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("it has one").to_string();
    for (flag, setting) in [("--listen", "listen"), ("--admin-listen", "admin_listen")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
        let other = if flag == "--listen" { "--admin-listen" } else { "--listen" };
        command.env_clear().args(["serve", flag, &address, other, "127.0.0.1:0", "--data"]).arg(&data);
        has_all(&refusal(command), &["failed to listen on ", &address, "stop it", setting, flag]);
        assert!(!data.exists(), "{flag}");
    }
}

#[test]
fn a_privileged_port_is_refused_with_both_remedies() {
    let first_free: u16 = fs::read_to_string(FIRST_FREE_PORT).map_or(0, |text| text.trim().parse().unwrap_or(0));
    if first_free <= 443 {
        return println!("skipped: every user may listen on 443 here");
    }
    let place = directory();
    fs::set_permissions(place.path(), Permissions::from_mode(0o777)).expect("it is ours");
    let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
    command.args(["serve", "--listen", "127.0.0.1:443", "--data"]).arg(place.path().join("data"));
    let Some(command) = as_nobody(&command, place.path()) else { return };
    has_all(&refusal(command), &["127.0.0.1:443", "Permission denied", "proxy", "CAP_NET_BIND_SERVICE"]);
    assert!(!place.path().join("data").exists());
}

#[test]
fn a_data_path_that_is_a_file_is_named() {
    let (_place, [file]) = temporary(["file"]);
    fs::write(&file, "").expect("a file can be written");
    for data in [file.clone(), file.join("data")] {
        let named = format!("{} is not a directory", file.display());
        has_all(&refusal(serving(&data, &[])), &["the data directory", &named, "--data"]);
    }
}

#[test]
fn a_data_directory_without_permission_is_named_with_its_owner() {
    let place = directory();
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).expect("it is ours");
    let (there, new) = (place.path().join("there"), place.path().join("new"));
    fs::create_dir(&there).expect("it can be made");
    for (data, remedy) in [(&there, "chown -R 65534"), (&new, "install -d -o 65534")] {
        let Some(command) = as_nobody(&serving(data, &[]), place.path()) else { return };
        has_all(&refusal(command), &["user 65534 may not write in", "which is user 0's", remedy]);
    }
    assert!(!new.exists());
}

#[test]
fn an_archive_in_a_wrong_place_is_refused_before_anything_is_made() {
    let (place, [data]) = temporary(["data"]);
    let inside = data.join("archive").display().to_string();
    let not_mounted = place.path().join("mount/archive").display().to_string();
    for (archive, parts) in [
        (inside, &["is inside the data directory"][..]),
        (not_mounted, &["the directory above it does not exist", "Mount its disk"]),
    ] {
        let printed = refusal(serving(&data, &[("TILL_ARCHIVE_DIRECTORY", &archive)]));
        has_all(&printed, parts);
        assert!(printed.contains(&archive) && !data.exists(), "{printed}");
    }
}

#[test]
fn a_variable_that_is_no_setting_refuses_the_start_by_name() {
    let (_place, [data]) = temporary(["data"]);
    let variables = [("TILL_TLS_CERTIFICAT_FILE", "/c.pem"), ("TILL_CRASH_ROUNDS", ""), ("TILLAGE", "1")];
    let printed = refusal(serving(&data, &variables));
    has_all(&printed, &["TILL_TLS_CERTIFICAT_FILE: there is no such setting; did you mean TILL_TLS_CERTIFICATE_FILE?"]);
    has_all(&printed, &["TILL_CRASH_ROUNDS: there is no such setting"]);
    assert!(!printed.contains("TILLAGE") && !data.exists(), "{printed}");
    let mut command = serving(&data, &[("TILL_ADMIN_TOKN", "hidden")]);
    command.arg("--demo");
    let printed = refusal(command);
    has_all(&printed, &["TILL_ADMIN_TOKN: there is no such setting; did you mean TILL_ADMIN_TOKEN?"]);
    assert!(!printed.contains("hidden"), "{printed}");
}

#[test]
fn an_unreadable_file_of_a_secret_is_named_once() {
    let place = directory();
    let missing = place.path().join("missing").display().to_string();
    let printed = refusal(serving(&place.path().join("data"), &[("TILL_ADMIN_TOKEN_FILE", &missing)]));
    has_all(&printed, &[&format!("failed to read {missing}: No such file or directory")]);
}

/// The newest file of the sandbox's book whose name begins like this.
fn of_book(data: &Path, beginning: &str) -> PathBuf {
    let files = fs::read_dir(data.join("sandbox")).expect("a book").map(|file| file.expect("it lists").path());
    let named = |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning));
    files.filter(named).max().expect("there is one")
}

#[test]
fn a_damaged_book_can_be_moved_away_and_payments_continue() {
    let (mut server, shop) = Server::with_shop();
    let payment = shop.pay(700);
    assert!(server.stop());
    fs::write(of_book(server.data(), "MANIFEST-"), "damaged").expect("it can be written");
    let printed = server.try_restart().expect_err("the book cannot be read");
    let (_, remedy) = printed.split_once("the server starts with a new one: ").unwrap_or_else(|| panic!("{printed}"));
    let (remedy, _) = remedy.split_once(" (docs/refused-starts.md").unwrap_or_else(|| panic!("{printed}"));
    assert!(remedy.starts_with("mv ") && printed.contains("failed to open the sandbox's book: "), "{printed}");
    assert!(Command::new("sh").args(["-c", remedy]).status().is_ok_and(|status| status.success()), "{remedy}");
    let shop = server.restart_with(&shop);
    assert_eq!(shop.payment(&payment)["status"], "SUCCESSFUL", "what was paid is there");
    shop.pay(300);
    assert!(server.stop());
    let verified = server.command().arg("verify").output().expect("the binary can be started");
    let faults = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(faults.contains("\n1 faults:\n"), "{faults}");
    has_all(&faults, &["the sandbox's book holds 1 captures of 300 minor units, the log 2 captures of 1000"]);
}
