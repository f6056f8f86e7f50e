//! The servers of the load tester, and the state that a run leaves behind.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::tester::{Ended, SHORT, Tester};
use crate::harness::{Pair, Server, wait_until};

/// The admin token of the tests' servers.
const ADMIN_TOKEN: &str = "admin-token-of-a-test";

#[test]
fn a_running_server_is_measured_with_the_operator_s_token() {
    let (server, tester) = (Server::start(), Tester::new());
    let line = format!(
        "ping {SHORT} --rate 200 --target {} --admin {} --json report.json",
        server.public(),
        server.admin_address()
    );
    let ended = Ended::of(tester.command(&line).env("TILL_ADMIN_TOKEN", ADMIN_TOKEN).output().expect("it starts"));
    assert_eq!(ended.code, 0, "{ended:?}");
    let report = tester.json("report.json");
    assert_eq!((&report["server"]["own"], &report["server"]["same_machine"]), (&json!(false), &json!(true)));
    assert_eq!(report["parameters"]["rate"], json!(200.0));
    let point = &report["points"][0];
    assert_eq!((&point["operations"], &point["intended_rate"]), (&json!(60), &json!(200.0)), "0.3 s of 200 calls");
}

#[test]
fn a_merchant_that_exists_is_called_without_the_admin_token() {
    let (server, tester) = (Server::start(), Tester::new());
    let shop = server.shop();
    let merchants = || server.admin("list-merchants", &json!({})).ok()["page"].as_array().map(Vec::len);
    let (before, key) = (merchants(), tester.file("key"));
    (0..30).for_each(|_| drop(shop.pay(100)));
    std::fs::write(&key, format!("{}\n", shop.key)).expect("it can be written");
    let load = "--connections 4 --duration 300ms --warm-up 50ms --json report.json";
    let run = |line: &str| tester.run(&format!("{line} {load} --target {} --key {}", server.public(), key.display()));
    let pays = format!("--merchant {} --installation {}", shop.merchant_id, shop.installation_id);
    let weights = "ping=1,initiate=1,flow=1,capture=1,refund=1,metadata=1,activity=1,balance=1";
    for line in [
        "ping".to_owned(),
        "metadata".to_owned(),
        "activity --entries 10 --per-page 4".to_owned(),
        format!("mixed --weights {weights} --entries 20 --per-page 5 {pays}"),
    ] {
        let ended = run(&line);
        assert_eq!(ended.code, 0, "{ended:?}");
        let point = &tester.json("report.json")["points"][0];
        assert_eq!((&point["wrong"]["count"], &point["failures"]), (&json!(0), &json!({})), "{point}");
        assert_eq!(
            (&point["merchants"], &point["follow_up"]),
            (&json!(1), &json!(null)),
            "its balance is not compared"
        );
    }
    assert_eq!(merchants(), before, "none is made");
    let refused = run("initiate");
    assert!(refused.code == 1 && refused.errors.contains("needs --merchant and --installation"), "{refused:?}");
    let refused = run("mixed --weights payout=1");
    assert!(refused.code == 1 && refused.errors.contains("only the operator can"), "{refused:?}");
}

#[test]
fn another_token_than_the_server_s_is_named_as_the_reason() {
    let (server, tester) = (Server::start(), Tester::new());
    let line = format!("ping {SHORT} --target {} --admin {}", server.public(), server.admin_address());
    let ended = Ended::of(tester.command(&line).env("TILL_ADMIN_TOKEN", "another").output().expect("it starts"));
    assert_eq!(ended.code, 1);
    assert!(ended.errors.contains("UNAUTHORIZED") && ended.errors.contains("admin token"), "{ended:?}");
}

#[test]
fn a_missing_server_and_one_elsewhere_are_clear_errors() {
    let tester = Tester::new();
    let run = |line: &str| {
        let line = format!("ping {SHORT} {line}");
        Ended::of(tester.command(&line).env("TILL_ADMIN_TOKEN", ADMIN_TOKEN).output().expect("it starts"))
    };
    let dead = run("--target http://127.0.0.1:1 --admin http://127.0.0.1:1");
    assert_eq!(dead.code, 1);
    assert!(dead.errors.contains("failed to create a merchant: the connection was refused"), "{dead:?}");
    let remote = run("--target http://192.0.2.1:8080");
    assert_eq!(remote.code, 1);
    assert!(remote.errors.contains("--allow-remote"), "{remote:?}");
    let nowhere = tester.run(&format!("ping {SHORT} --server-directory /nonexistent"));
    assert!(nowhere.code == 1 && nowhere.errors.contains("/nonexistent"), "{nowhere:?}");
}

#[test]
fn senseless_arguments_are_all_refused_before_a_start() {
    let ended = Tester::new().run("metadata --connections 0 --merchants 0 --declines 0.5");
    assert_eq!(ended.code, 1);
    for flag in ["--connections", "--merchants", "--declines"] {
        assert!(ended.errors.contains(flag), "{ended:?}");
    }
}

#[test]
fn an_own_server_uses_only_the_directories_that_it_is_given() {
    let (tester, pair) = (Tester::new(), Pair::new());
    let [archive, checkpoints, own] = ["archive", "checkpoints", "own-archive"].map(|name| tester.file(name));
    let run = |line: &str| {
        let mut command = tester.command(&format!("ping {SHORT} --json report.json{line}"));
        command.env("TILL_ARCHIVE_DIRECTORY", &archive).env("TILL_ARCHIVE_BEFORE_ACKNOWLEDGED", "true");
        command.env("TILL_CHECKPOINT_DIRECTORY", &checkpoints).env("TILL_CHECKPOINT_EVERY_SECONDS", "1");
        command.env("TILL_TLS_CERTIFICATE_FILE", pair.certificate()).env("TILL_TLS_KEY_FILE", pair.key());
        Ended::of(command.output().expect("it starts"))
    };
    let ended = run("");
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!tester.json("report.json")["server"]["settings"].to_string().contains("ARCHIVE"));
    let ended = run(&format!(" --server-setting archive_directory={}", own.display()));
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(tester.json("report.json")["server"]["settings"]["TILL_ARCHIVE_DIRECTORY"], json!(own));
    assert!(own.is_dir() && !archive.exists() && !checkpoints.exists());
    let misspelt = tester.run(&format!("ping {SHORT} --server-setting archive_directry=x"));
    assert!(misspelt.code == 1 && misspelt.errors.contains("did you mean archive_directory"), "{misspelt:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn table_page_and_report_warn_of_a_busy_machine() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let (tester, done) = (Tester::new(), AtomicBool::new(false));
    let line = format!("ping {SHORT} --json report.json --html report.html");
    let ended = std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let ended = tester.run(&line);
        done.store(true, Ordering::Relaxed);
        ended
    });
    assert_eq!(ended.code, 0, "{ended:?}");
    let report = tester.json("report.json");
    let others = report["points"][0]["others_busy"].as_f64().expect("a share");
    assert!(others > 0.1 && report["machine"]["busy_before"].as_f64() > Some(0.1), "{others}");
    for text in [ended.output, report["notes"].to_string(), tester.text("report.html")] {
        assert!(text.contains("BUSY MACHINE: other processes took "), "{text}");
    }
}

/// A long run that has begun to measure, and its further lines.
fn long_run(tester: &Tester, server: &str) -> (Child, impl Iterator<Item = String>) {
    let servers = tester.file("servers");
    std::fs::create_dir_all(&servers).expect("it can be made");
    let load = "--merchants 1 --connections 4 --duration 60s --warm-up 0s --json report.json --html report.html";
    let mut command = tester.command(&format!("ping {load} {server}"));
    // A log that was kept would be in this directory.
    command.env("TMPDIR", &servers).env("TILL_ADMIN_TOKEN", ADMIN_TOKEN);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut told = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
    assert!(told.any(|line| line.contains("measuring")), "it says when it measures");
    (child, told)
}

/// A server of the load tester's own, in the directory `servers`.
const OWN: &str = "--server-directory servers";

/// The process id of a load tester's server.
#[cfg(target_os = "linux")]
fn server_of(load_tester: &Child) -> u32 {
    let children = format!("/proc/{0}/task/{0}/children", load_tester.id());
    let server = std::fs::read_to_string(children).expect("it lives");
    server.trim().parse().expect("it has one child")
}

/// Waits for the end of a run whose server was killed a second after its beginning.
#[track_caller]
fn assert_what_was_measured_is_kept(tester: &Tester, mut child: Child) {
    assert_eq!(child.wait().expect("it ends").code(), Some(4));
    let report = tester.json("report.json");
    let point = &report["points"][0];
    let reason = report["ended_early"].as_str().expect("a reason");
    assert!(reason.contains("the server did not answer any more: the connection was refused"), "{reason}");
    assert_eq!(point["ended_early"], report["ended_early"]);
    assert!(point["operations"].as_u64() > Some(0) && point["latency_micros"]["p99"].as_u64() > Some(0), "{point}");
    assert!(point["seconds"].as_f64().is_some_and(|seconds| (0.9..20.0).contains(&seconds)), "{point}");
    assert!(tester.text("report.html").contains("ENDED EARLY: after "));
}

fn send(signal: &str, process: u32) {
    let sent = Command::new("kill").args([signal, &process.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
fn an_interrupted_run_leaves_no_server_and_no_directory() {
    for signal in ["-INT", "-HUP"] {
        let tester = Tester::new();
        let (mut child, mut told) = long_run(&tester, OWN);
        send(signal, child.id());
        assert!(told.any(|line| line.contains("interrupted")), "it says why it ends");
        assert_eq!(child.wait().expect("it ends").code(), Some(1), "{signal}");
        assert_eq!(std::fs::read_dir(tester.file("servers")).expect("it is there").count(), 0, "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_load_tester_takes_its_server_with_it() {
    let tester = Tester::new();
    let (mut child, _told) = long_run(&tester, OWN);
    let server = server_of(&child);
    let command_line = || std::fs::read_to_string(format!("/proc/{server}/cmdline")).unwrap_or_default();
    assert!(command_line().contains("serve"), "{server}: {}", command_line());
    send("-KILL", child.id());
    child.wait().expect("it ends");
    wait_until(Duration::from_secs(10), &format!("process {server} is left behind"), || {
        !command_line().contains("serve")
    });
}

#[test]
fn a_lost_target_leaves_a_report_of_the_results_so_far() {
    let (mut server, tester) = (Server::start(), Tester::new());
    let target = format!("--target {} --admin {}", server.public(), server.admin_address());
    let (child, _told) = long_run(&tester, &target);
    std::thread::sleep(Duration::from_secs(1));
    server.kill();
    assert_what_was_measured_is_kept(&tester, child);
}

#[cfg(target_os = "linux")]
#[test]
fn an_own_server_that_ends_early_leaves_a_report_and_its_log() {
    let tester = Tester::new();
    let (child, mut told) = long_run(&tester, OWN);
    std::thread::sleep(Duration::from_secs(1));
    send("-KILL", server_of(&child));
    assert!(told.any(|line| line.contains("has ended by itself; its log is kept in")));
    assert_what_was_measured_is_kept(&tester, child);
}
