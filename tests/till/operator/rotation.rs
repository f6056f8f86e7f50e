//! Replacement of secrets of a running server: no call fails meanwhile, and a crash leaves a store that starts.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use serde_json::json;
use tempfile::TempDir;

use crate::harness::{
    Client, KilledOnDrop, Server, SetOnDrop, Shop, Start, TestDice, from_environment, temporary, wait_until,
    without_room,
};

/// The number of kills while the vault key is replaced; `TILL_ROTATION_ROUNDS` sets another.
const ROUNDS: u64 = 4;

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// A server whose secrets are in files.
struct Armed {
    directory: TempDir,
    server: Server,
}

impl Armed {
    fn start() -> Armed {
        let (directory, [token, key]) = temporary(["token", "key"]);
        fs::write(&token, "admin-token-of-a-test\n").expect("a file can be written");
        fs::write(&key, format!("{KEY}\n")).expect("a file can be written");
        let start = Start::default().without("TILL_ADMIN_TOKEN").without("TILL_VAULT_KEY");
        let start = start.with("TILL_ADMIN_TOKEN_FILE", &token.display().to_string());
        let start = start.with("TILL_VAULT_KEY_FILE", &key.display().to_string());
        let start = start.with("TILL_LOG_FILTER", "info").recording(&directory.path().join("log"));
        Armed { directory, server: start.server() }
    }

    fn token(&self) -> PathBuf {
        self.directory.path().join("token")
    }

    fn key(&self) -> PathBuf {
        self.directory.path().join("key")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).expect("the log is kept")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.server.command().args(arguments).output().expect("the binary can be started")
    }

    /// Runs a command that must succeed, and returns its output.
    #[track_caller]
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// True when the admin listener accepts a token.
    fn takes(&self, token: &str) -> bool {
        Client::new(self.server.admin_address()).bearer(token).post("/admin/list-merchants", &json!({})).status == 200
    }
}

fn lines(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().map(str::to_owned).collect()
}

/// Makes payments while `work` runs, all of which must succeed; returns their number.
fn paying_while(shop: &Shop, work: impl FnOnce()) -> u64 {
    let (done, paid) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let payer = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) || paid.load(Ordering::Relaxed) == 0 {
                shop.pay(100);
                paid.fetch_add(1, Ordering::Relaxed);
            }
        });
        let ended = SetOnDrop(&done); // Set also when the work panics, so that the payer ends.
        work();
        drop(ended);
        payer.join().expect("every call was answered well");
    });
    paid.into_inner()
}

#[test]
fn the_admin_token_is_replaced_in_two_steps_and_no_call_fails() {
    let armed = Armed::start();
    let shop = armed.server.shop();
    let old = "admin-token-of-a-test";
    let paid = paying_while(&shop, || {
        armed.done(&["admin-token", "rotate"]);
        let both = lines(&armed.token());
        assert_eq!((both.len(), both[1].as_str(), both[0].len()), (2, old, 64));
        assert!(armed.takes(&both[0]) && armed.takes(old) && !armed.takes("another"));
        assert!(!armed.run(&["admin-token", "rotate"]).status.success(), "two are there already");
        armed.done(&["admin-token", "retire"]);
        assert_eq!(lines(&armed.token()), both[..1]);
        assert!(armed.takes(&both[0]) && !armed.takes(old));
        assert!(!armed.run(&["admin-token", "retire"]).status.success(), "there is none to retire");
    });
    assert!(paid > 0);
    assert!(!armed.log().contains(&lines(&armed.token())[0]), "no log shows it");
}

#[test]
fn an_interrupted_token_rotation_continues_at_its_second_step() {
    let armed = Armed::start();
    fs::write(armed.token(), "next-token\nadmin-token-of-a-test\n").expect("a file can be written");
    assert!(!armed.takes("next-token"), "nobody told it");
    armed.done(&["admin-token", "retire"]);
    assert_eq!(lines(&armed.token()), ["next-token"]);
    assert!(armed.takes("next-token") && !armed.takes("admin-token-of-a-test"));
}

#[test]
fn a_token_is_reloaded_on_sighup_unless_it_is_unusable() {
    let armed = Armed::start();
    fs::write(armed.token(), "two words\n").expect("a file can be written");
    let answer =
        Client::new(armed.server.admin_address()).bearer("admin-token-of-a-test").post("/admin/reload", &json!({}));
    let kept = answer.ok()["kept"].to_string();
    assert!(kept.contains("admin_token") && !kept.contains("two words"), "{kept}");
    assert!(armed.takes("admin-token-of-a-test"), "the previous token stays in use");
    fs::write(armed.token(), "next-token\n").expect("a file can be written");
    armed.server.signal("HUP");
    wait_until(Duration::from_secs(30), "the signal was not heard", || armed.takes("next-token"));
    assert!(!armed.takes("admin-token-of-a-test"));
    let says_both = |log: String| log.contains("not reloaded") && log.replace("not reloaded", "").contains("reloaded");
    wait_until(Duration::from_secs(10), "the log does not say both", || says_both(armed.log()));
}

#[test]
fn a_server_that_waits_for_its_files_can_be_stopped() {
    let mut armed = Armed::start();
    fs::remove_file(armed.token()).expect("it was there");
    assert!(Command::new("mkfifo").arg(armed.token()).status().expect("it can be started").success());
    armed.server.signal("HUP");
    let until = std::time::Instant::now() + Duration::from_secs(30);
    // The pipe can be opened for writing only once the server reads it, which then waits for data.
    let held = loop {
        match fs::OpenOptions::new().write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(armed.token())
        {
            Ok(held) => break held,
            Err(error) => assert!(std::time::Instant::now() < until, "it is not read: {error}"),
        }
        thread::sleep(Duration::from_millis(5));
    };
    assert!(armed.server.stop(), "exit code 0");
    drop(held);
}

#[test]
fn the_vault_key_is_replaced_while_calls_continue() {
    let mut armed = Armed::start();
    let shop = armed.server.shop();
    let before = shop.pay(100);
    armed.server.admin("create-checkpoint", &json!({ "name": "before" })).ok();
    let mut printed = String::new();
    let paid = paying_while(&shop, || printed = armed.done(&["vault", "rotate"]));
    assert!(paid > 0);
    let new = lines(&armed.key());
    assert!(new.len() == 1 && new[0] != KEY && new[0].len() == 64);
    let retired = fs::read_dir(armed.directory.path()).expect("it can be read").filter_map(Result::ok);
    let retired: Vec<PathBuf> =
        retired.map(|entry| entry.path()).filter(|path| path.display().to_string().contains("key.retired-")).collect();
    assert_eq!((retired.len(), lines(&retired[0])), (1, vec![KEY.to_owned()]), "checkpoints need it");
    assert!(printed.contains(&retired[0].display().to_string()), "{printed}");
    assert!(!printed.contains(KEY) && !printed.contains(&new[0]), "no key is printed");
    let picture = shop.payment(&before);
    assert!(armed.server.stop(), "exit code 0");
    armed.done(&["verify"]);
    let refused =
        armed.server.command().args(["serve"]).env("TILL_VAULT_KEY", KEY).output().expect("it can be started");
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.contains("does not open") && refused.contains("is wrapped under the key"), "{refused}");
    armed.server.restart();
    let shop = shop.on(&armed.server);
    assert_eq!(shop.payment(&before), picture, "personal data and cards open as before");
    shop.pay(100);
    let checkpoint = armed.server.data().join("checkpoints/before").display().to_string();
    let refused = armed.run(&["checkpoint", "verify", &checkpoint]);
    assert!(!refused.status.success(), "a checkpoint of before needs the key of before");
    let mut with_old = armed.server.command();
    let verified = with_old.env("TILL_VAULT_KEY", KEY).args(["checkpoint", "verify", &checkpoint]).output();
    assert!(verified.expect("it can be started").status.success());
}

#[test]
fn an_interrupted_key_replacement_keeps_the_old_key_later() {
    let armed = Armed::start();
    let new = "ab".repeat(32);
    fs::write(armed.key(), format!("{KEY}\n{new}\n")).expect("a file can be written");
    let mut command = armed.server.command();
    command.args(["vault", "rotate"]);
    let cut_off = without_room(&command).output().expect("the shell can be started");
    assert!(!cut_off.status.success(), "there is no room for the old key");
    assert_eq!(lines(&armed.key()), [KEY, &new]);
    armed.done(&["vault", "rotate"]);
    assert_eq!(lines(&armed.key()), [new.as_str()]);
    let beside = fs::read_dir(armed.directory.path()).expect("it can be read").filter_map(Result::ok);
    let beside = beside.map(|entry| entry.path()).filter(|path| path.display().to_string().contains("key.retired-"));
    let kept: Vec<Vec<String>> = beside.map(|path| lines(&path)).collect();
    assert_eq!(kept, [[KEY]], "the old key, and nothing else");
}

#[test]
fn a_kill_during_a_key_replacement_leaves_a_usable_key() {
    let rounds = from_environment("TILL_ROTATION_ROUNDS", ROUNDS);
    let mut dice = TestDice::new(TestDice::seed("TILL_ROTATION_SEED"));
    let mut armed = Armed::start();
    let mut shop = armed.server.shop();
    let mut payments = Vec::new();
    for _ in 0..rounds {
        payments.push(shop.pay(100));
        let mut rotating = armed.server.command();
        let rotating = rotating.args(["vault", "rotate"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut rotating = rotating.expect("the binary can be started");
        thread::sleep(Duration::from_micros(dice.between(0, 120_000)));
        armed.server.kill();
        rotating.wait().expect("it can be waited for");
        let keys = lines(&armed.key());
        assert!((1..=2).contains(&keys.len()), "the file is whole");
        armed.server.restart();
        assert!(armed.log().contains("the key ring is wrapped under this"), "{}", armed.log());
        shop = shop.on(&armed.server);
        // The interrupted replacement continues with the key that it began with.
        if keys.len() == 2 {
            armed.done(&["vault", "rotate"]);
            assert_eq!(lines(&armed.key()), keys[1..]);
        }
        payments.iter().for_each(|payment| drop(shop.payment(payment)));
    }
    for key in lines(&armed.key()) {
        assert!(!armed.log().contains(&key), "no log shows a key");
    }
    assert!(armed.server.stop(), "exit code 0");
    armed.done(&["verify"]);
}

/// An operator's command that waits for the answer to its call, which never comes.
struct Stuck {
    _command: KilledOnDrop,
    _called: (TcpListener, TcpStream),
}

impl Stuck {
    fn in_a_call(armed: &Armed, arguments: &[&str]) -> Stuck {
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
        command.env_clear().env("TILL_ADMIN_LISTEN", silent.local_addr().expect("it listens").to_string());
        command.env("TILL_ADMIN_TOKEN_FILE", armed.token()).env("TILL_VAULT_KEY_FILE", armed.key());
        let command = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let command = command.expect("the binary can be started");
        let (called, _) = silent.accept().expect("it is called");
        Stuck { _command: KilledOnDrop(command), _called: (silent, called) }
    }
}

/// Checks that a second command is refused while the first one waits, and that it changes nothing.
#[track_caller]
fn refused_meanwhile(armed: &Armed, first: &[&str], second: &[&str], file: &Path) {
    let _stuck = Stuck::in_a_call(armed, first);
    let before = lines(file);
    let refused = armed.run(second);
    let printed = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && printed.contains("another command"), "{second:?}: {printed}");
    assert!(printed.contains(&file.display().to_string()), "{printed}");
    assert_eq!(lines(file), before, "{second:?}");
}

#[test]
fn of_two_replacements_at_once_the_second_is_refused() {
    let mut armed = Armed::start();
    refused_meanwhile(&armed, &["vault", "rotate"], &["vault", "rotate"], &armed.key());
    armed.done(&["vault", "rotate"]);
    assert_eq!(lines(&armed.key()).len(), 1, "the lock goes with its command, and what was begun is ended");
    refused_meanwhile(&armed, &["admin-token", "rotate"], &["admin-token", "retire"], &armed.token());
    armed.server.restart();
    assert!(lines(&armed.token()).iter().all(|token| armed.takes(token)));
}

#[test]
fn the_call_reports_the_same_key_and_refuses_an_invalid_one() {
    let server = Server::start();
    let new = "ff".repeat(32);
    assert_eq!(server.admin("rotate-vault-key", &json!({ "vault_key": new })).ok(), true);
    assert_eq!(server.admin("rotate-vault-key", &json!({ "vault_key": new })).ok(), false);
    let faults = server.admin("rotate-vault-key", &json!({ "vault_key": "distinctive" }));
    assert!(!faults.body.to_string().contains("distinctive"), "{}", faults.body);
    assert_eq!(faults.faults(), ["invalid vault_key"]);
}
