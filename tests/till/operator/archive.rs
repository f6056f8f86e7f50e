//! The archive: commits streamed to another directory, stores restored from there to any moment, and refusals.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Server, Shop, Start, VAULT_KEY, directory, run_command, text, wait_until};
use crate::pages::browser::{Asked, Browser, challenged, page};

/// The longest time that a test waits for work in the background.
const PATIENCE: Duration = Duration::from_secs(60);

/// The directory of a test.
struct ArchiveDirectories(TempDir);

impl ArchiveDirectories {
    fn new() -> ArchiveDirectories {
        ArchiveDirectories(directory())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The start of a server that archives to `archive`.
    fn start(&self) -> Start {
        Start::default()
            .with("TILL_ARCHIVE_DIRECTORY", text(&self.at("archive")))
            .with("TILL_CHECKPOINT_DIRECTORY", text(&self.at("checkpoints")))
            .with("TILL_ARCHIVE_EVERY_MILLISECONDS", "20")
    }

    fn server(&self, start: &Start) -> Server {
        self.try_server(start).unwrap_or_else(|error| panic!("the server does not start: {error}"))
    }

    fn try_server(&self, start: &Start) -> Result<Server, String> {
        start.try_server_on(&self.at("data"), None)
    }

    fn till(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        run_command(Start::default().command(&self.at("data")), arguments)
    }

    fn restore(&self, checkpoint: &str, to: &str, until: &[&str]) -> (Option<i32>, String, String) {
        let from = self.at("checkpoints").join(checkpoint);
        let (archive, to) = (self.at("archive"), self.at(to));
        let mut arguments = vec!["restore", "--from", text(&from), "--archive", text(&archive), "--to", text(&to)];
        arguments.extend(until);
        self.till(&arguments)
    }

    /// Restores, and starts a server on the restored store.
    #[track_caller]
    fn restored(&self, checkpoint: &str, to: &str, until: &[&str]) -> Server {
        let (code, output, errors) = self.restore(checkpoint, to, until);
        assert_eq!(code, Some(0), "{output}{errors}");
        let started = Start::default().try_server_on(&self.at(to), None);
        started.unwrap_or_else(|error| panic!("the restored server does not start: {error}"))
    }

    /// Checks that the archive gives back everything once the data is destroyed.
    #[track_caller]
    fn restores_all(&self, server: Server, shop: &Shop, ids: &[&str]) {
        let seen = shop.picture(ids);
        drop(server);
        fs::remove_dir_all(self.at("data")).expect("it can be destroyed");
        assert_eq!(shop.on(&self.restored("one", "copy", &[])).picture(ids), seen);
    }

    /// Restores, which must be refused with these words and leave nothing behind.
    #[track_caller]
    fn refused(&self, checkpoint: &str, until: &[&str], words: &[&str]) {
        let (code, output, errors) = self.restore(checkpoint, "refused", until);
        assert_eq!(code, Some(1), "{output}{errors}");
        words.iter().for_each(|word| assert!(errors.contains(word), "{word} is not in {errors}"));
        assert!(!self.at("refused").exists(), "{errors}");
    }

    fn segments(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.at("archive")).expect("readable").flatten().map(|entry| entry.path());
        let mut segments: Vec<PathBuf> = files.filter(|file| text(file).contains("segment-")).collect();
        segments.sort();
        segments
    }
}

/// Takes a checkpoint and returns its last commit.
fn take(server: &Server, name: &str) -> u64 {
    let taken = server.admin("create-checkpoint", &json!({ "name": name })).ok();
    taken["last_commit"].as_u64().expect("a number")
}

/// The state at a moment at which nothing changed.
struct RestorePoint {
    commit: u64,
    time: Timestamp,
    picture: Vec<Value>,
    payments: Vec<String>,
}

fn moment(server: &Server, shop: &Shop, name: &str, payments: &[String]) -> RestorePoint {
    let ids: Vec<&str> = payments.iter().map(String::as_str).collect();
    let (picture, commit) = (shop.picture(&ids), take(server, name));
    thread::sleep(Duration::from_millis(20)); // The next commit must have a later time.
    let moment = RestorePoint { commit, time: Timestamp::now(), picture, payments: payments.to_vec() };
    thread::sleep(Duration::from_millis(20));
    moment
}

#[track_caller]
fn shows(copy: &Server, shop: &Shop, moment: &RestorePoint, all: &[String]) {
    let shop = shop.on(copy);
    let ids: Vec<&str> = moment.payments.iter().map(String::as_str).collect();
    assert_eq!(shop.picture(&ids), moment.picture);
    for later in all.iter().filter(|id| !moment.payments.contains(id)) {
        shop.call("find-payment", &json!({ "payment_id": later })).refused("NOT_FOUND");
    }
}

#[test]
fn a_destroyed_store_is_restored_to_any_commit_or_time() {
    let place = ArchiveDirectories::new();
    let server = place.server(&place.start().with("TILL_ARCHIVE_SEGMENT_BYTES", "1"));
    let (shop, mut payments, mut moments) = (server.shop(), Vec::new(), Vec::new());
    for (number, minor) in [100, 200, 300].into_iter().enumerate() {
        server.wait_until_archived(); // The next commits go to another segment.
        payments.push(shop.pay(minor));
        moments.push(moment(&server, &shop, &format!("at-{number}"), &payments));
    }
    server.wait_until_archived();
    drop(server);
    fs::remove_dir_all(place.at("data")).expect("it can be destroyed");
    assert!(place.segments().len() > 3, "{:?}", place.segments());
    for (number, moment) in moments.iter().enumerate() {
        let (commit, time) = (moment.commit.to_string(), moment.time.to_string());
        for (by, until) in [("commit", &commit), ("time", &time)] {
            let copy = place.restored("at-0", &format!("by-{by}-{number}"), &["--until", until]);
            shows(&copy, &shop, moment, &payments);
        }
    }
    let copy = place.restored("at-1", "everything", &[]);
    shows(&copy, &shop, &moments[2], &payments);
    assert_eq!(copy.admin("resume-effects", &json!({})).ok(), true);
    shop.on(&copy).pay(400);
    let (earliest, end) = (moments[1].commit - 1, moments[2].commit + 1_000);
    place.refused(
        "at-1",
        &["--until", &earliest.to_string()],
        &["is later than commit", &moments[1].commit.to_string()],
    );
    place.refused(
        "at-1",
        &["--until", &moments[0].time.to_string()],
        &["is later than", "the earliest that it can be"],
    );
    place.refused("at-1", &["--until", &end.to_string()], &["the archive ends at commit", &end.to_string()]);
}

#[test]
fn an_archive_from_the_first_commit_on_restores_without_a_checkpoint() {
    let place = ArchiveDirectories::new();
    let key = place.at("key");
    fs::write(&key, format!("{VAULT_KEY}\n")).expect("writable");
    let start = place.start().without("TILL_VAULT_KEY").with("TILL_VAULT_KEY_FILE", text(&key));
    let server = place.server(&start);
    let shop = server.shop();
    let (customer, _) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let first = shop.pay(100);
    let picture = shop.picture(&[&first, &customer]);
    let (code, output, errors) = run_command(server.command(), &["vault", "rotate"]);
    assert_eq!(code, Some(0), "{output}{errors}");
    server.wait_until_archived();
    drop(server);
    fs::remove_dir_all(place.at("data")).expect("it can be destroyed");
    let (archive, to) = (place.at("archive"), place.at("copy"));
    let arguments = ["restore", "--archive", text(&archive), "--to", text(&to)];
    let (code, output, errors) = place.till(&arguments);
    assert!(code == Some(1) && errors.contains("wrapped under the key"), "the old key: {output}{errors}");
    assert!(!to.exists(), "nothing was made");
    let (code, output, errors) = run_command(start.command(&place.at("data")), &arguments);
    assert_eq!(code, Some(0), "{output}{errors}");
    let copy = start.without("TILL_ARCHIVE_DIRECTORY").try_server_on(&to, None);
    let copy = copy.unwrap_or_else(|error| panic!("the restored server does not start: {error}"));
    assert_eq!(shop.on(&copy).picture(&[&first, &customer]), picture);
    assert_eq!(copy.metric("till_effects_paused"), Some(1.0));
    let (code, _, errors) = place.till(&["restore", "--to", text(&place.at("nothing"))]);
    assert!(code == Some(2) && errors.contains("--from"), "{errors}");
}

#[test]
fn a_restore_names_the_keys_that_it_makes_valid_again() {
    let place = ArchiveDirectories::new();
    let server = place.server(&place.start());
    let shop = server.shop();
    let key = server.admin("generate-key", &json!({ "merchant_id": shop.merchant_id, "name": "Stolen" })).ok();
    let commit = take(&server, "one").to_string();
    shop.call("revoke-key", &json!({ "key_id": key["key_id"] })).ok();
    server.wait_until_archived();
    drop(server);
    let told = |to: &str, until: &[&str]| {
        let (code, output, errors) = place.restore("one", to, until);
        assert_eq!(code, Some(0), "{output}{errors}");
        format!("{output}{errors}")
    };
    let key_id = key["key_id"].as_str().expect("an id");
    let before = told("before", &["--until", &commit]);
    assert!(before.contains(&format!("till key revoke {key_id}")), "{before}");
    let all = told("all", &[]);
    assert!(!all.contains(key_id), "{all}");
}

#[test]
fn archived_commits_are_restored_over_a_replaced_vault_key() {
    let place = ArchiveDirectories::new();
    let key = place.at("key");
    fs::write(&key, format!("{VAULT_KEY}\n")).expect("writable");
    let start = place.start().without("TILL_VAULT_KEY").with("TILL_VAULT_KEY_FILE", text(&key));
    let mut server = place.server(&start);
    let shop = server.shop();
    let first = shop.pay(100);
    let commit = take(&server, "before");
    let (code, output, errors) = run_command(server.command(), &["vault", "rotate"]);
    assert_eq!(code, Some(0), "{output}{errors}");
    let second = shop.pay(200);
    server.wait_until_archived();
    server.kill();
    fs::remove_dir_all(place.at("data")).expect("it can be removed");
    let with_all = place.restored("before", "all", &[]);
    assert_eq!(shop.on(&with_all).settled(&second)["status"], "SUCCESSFUL");
    let until = (commit + 1).to_string();
    let at_replacement = place.restored("before", "early", &["--until", &until]);
    assert_eq!(shop.on(&at_replacement).settled(&first)["status"], "SUCCESSFUL");
}

#[test]
fn a_restored_server_needs_a_new_archive_outside_of_its_data() {
    let place = ArchiveDirectories::new();
    let mut server = place.server(&place.start());
    server.shop().pay(100);
    take(&server, "one");
    server.restart();
    server.wait_until_archived();
    server.shop().pay(100);
    assert!(server.stop());
    drop(place.restored("one", "copy", &[]));
    let copy = |start: Start| start.try_server_on(&place.at("copy"), None).map(drop);
    let refused = copy(place.start()).expect_err("it is another store's archive");
    assert!(refused.contains("belongs to the store"), "{refused}");
    let inside = place.at("copy").join("archive");
    let refused = copy(Start::default().with("TILL_ARCHIVE_DIRECTORY", text(&inside))).expect_err("it is inside");
    assert!(refused.contains("is inside the data directory"), "{refused}");
    copy(Start::default().with("TILL_ARCHIVE_DIRECTORY", text(&place.at("its-own")))).expect("it is its own");
    let refused = copy(Start::default().with("TILL_ARCHIVE_BEFORE_ACKNOWLEDGED", "true")).expect_err("to where?");
    assert!(refused.contains("archive_directory must be set too"), "{refused}");
    // A restore without an archive makes another store as well.
    let (from, to) = (place.at("checkpoints/one"), place.at("plain"));
    assert_eq!(place.till(&["restore", "--from", text(&from), "--to", text(&to)]).0, Some(0));
    let refused = place.start().try_server_on(&to, None).map(drop).expect_err("it is another store's archive");
    assert!(refused.contains("belongs to the store"), "{refused}");
}

#[test]
fn calls_continue_without_the_archive_and_it_catches_up() {
    let place = ArchiveDirectories::new();
    let server = place.server(&place.start().with("TILL_ARCHIVE_SEGMENT_BYTES", "1"));
    let shop = server.shop();
    take(&server, "one");
    shop.pay(100);
    server.wait_until_archived();
    fs::rename(place.at("archive"), place.at("elsewhere")).expect("it can be moved");
    let payments = [shop.pay(200), shop.pay(300)];
    wait_until(PATIENCE, "it failed", || server.metric("till_archive_failures_total") > Some(0.0));
    assert!(server.metric("till_archive_lag_commits") >= Some(2.0));
    fs::rename(place.at("elsewhere"), place.at("archive")).expect("it can be moved back");
    server.wait_until_archived();
    let seen = shop.picture(&payments.each_ref().map(String::as_str));
    drop(server);
    let copy = place.restored("one", "copy", &[]);
    assert_eq!(shop.on(&copy).picture(&payments.each_ref().map(String::as_str)), seen);
}

#[test]
fn archived_before_acknowledged_refuses_until_it_can_archive() {
    let place = ArchiveDirectories::new();
    let start = place.start().with("TILL_ARCHIVE_BEFORE_ACKNOWLEDGED", "true");
    let server = place.server(&start.with("TILL_ARCHIVE_SEGMENT_BYTES", "1"));
    let shop = server.shop();
    take(&server, "one");
    let before = shop.pay(100);
    fs::rename(place.at("archive"), place.at("elsewhere")).expect("it can be moved");
    let card = json!({
        "number": "4242424242424242", "name": "Ada Example", "expiration_date": "12/49", "security_code": "123",
        "usage": "SINGLE",
    });
    let refused = shop.sdk("tokenize-card", &card);
    assert_eq!((refused.status, refused.code()), (503, "UNAVAILABLE"), "{refused:?}");
    assert_eq!(shop.payment(&before)["status"], "SUCCESSFUL", "reading goes on");
    fs::rename(place.at("elsewhere"), place.at("archive")).expect("it can be moved back");
    wait_until(PATIENCE, "calls are taken again", || shop.sdk("tokenize-card", &card).status == 200);
    let after = shop.pay(200);
    place.restores_all(server, &shop, &[&before, &after]);
}

#[test]
fn nothing_is_acknowledged_into_an_archive_that_was_deleted() {
    let place = ArchiveDirectories::new();
    let server = place.server(&place.start().with("TILL_ARCHIVE_BEFORE_ACKNOWLEDGED", "true"));
    let shop = server.shop();
    take(&server, "one");
    let before = shop.pay(100);
    fs::rename(place.at("archive"), place.at("elsewhere")).expect("it can be moved");
    for _ in 0..2 {
        let refused = shop.call("invite-user", &json!({ "email": "ada@shop.example" }));
        assert_eq!((refused.status, refused.code()), (503, "UNAVAILABLE"), "{refused:?}");
        assert_eq!(refused.details(), json!({ "outcome": "not_done" }));
        wait_until(PATIENCE, "it is counted", || server.metric("till_archive_failures_total") > Some(0.0));
        fs::create_dir_all(place.at("archive")).expect("another one is made in its place");
    }
    fs::remove_dir_all(place.at("archive")).expect("it is there");
    fs::rename(place.at("elsewhere"), place.at("archive")).expect("it can be moved back");
    let invite = || shop.call("invite-user", &json!({ "email": "ada@shop.example" })).status == 200;
    wait_until(PATIENCE, "calls are taken again", invite);
    let after = shop.pay(200);
    place.restores_all(server, &shop, &[&before, &after]);
}

#[test]
fn an_idle_server_notices_that_its_archive_is_gone() {
    let place = ArchiveDirectories::new();
    let log = place.at("log");
    let server = place.server(&place.start().recording(&log));
    let shop = server.shop();
    take(&server, "one");
    let first = shop.pay(100);
    shop.settled(&first);
    server.wait_until_archived();
    fs::rename(place.at("archive"), place.at("elsewhere")).expect("it can be moved");
    wait_until(PATIENCE, "it is counted", || server.metric("till_archive_failures_total") > Some(0.0));
    let said = fs::read_to_string(&log).expect("it was recorded");
    let line = said.lines().find(|line| line.contains("the archive cannot be written to")).expect("it is logged");
    assert!(line.contains("was moved away, deleted or replaced") && line.contains("ERROR"), "{line}");
    let second = shop.pay(200);
    fs::rename(place.at("elsewhere"), place.at("archive")).expect("it can be moved back");
    server.wait_until_archived();
    place.restores_all(server, &shop, &[&first, &second]);
}

#[test]
fn a_restored_book_has_the_payouts_of_the_archive() {
    let place = ArchiveDirectories::new();
    let server = place.server(&place.start());
    let shop = server.shop();
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 1_000 })).ok();
    take(&server, "one");
    let payout = shop.call("send-payout", &json!({ "amount": 100 })).id();
    let status = |shop: &Shop| shop.call("find-payout", &json!({ "payout_id": payout })).ok()["status"].clone();
    wait_until(PATIENCE, "it is paid", || status(&shop) == "SUCCESSFUL");
    server.wait_until_archived();
    drop(server);
    let mut copy = place.restored("one", "copy", &[]);
    assert_eq!(status(&shop.on(&copy)), "SUCCESSFUL");
    assert!(copy.stop());
    let (code, verified, errors) = run_command(copy.command(), &["verify"]);
    assert!(code == Some(0) && verified.ends_with("no faults\n"), "{verified}{errors}");
}

#[test]
fn segments_are_listed_verified_and_pruned() {
    let place = ArchiveDirectories::new();
    let mut server = place.server(&place.start().with("TILL_ARCHIVE_SEGMENT_BYTES", "1"));
    let shop = server.shop();
    take(&server, "early");
    for _ in 0..4 {
        server.wait_until_archived();
        shop.pay(100);
    }
    server.wait_until_archived();
    take(&server, "late");
    assert!(server.stop());
    let archive = place.at("archive");
    let (code, listed, _) = place.till(&["archive", "list", text(&archive)]);
    let segments = place.segments();
    assert_eq!((code, listed.lines().count()), (Some(0), segments.len() + 1), "{listed}");
    let (code, verified, errors) = place.till(&["archive", "verify", text(&archive)]);
    assert!(code == Some(0) && verified.ends_with("every checksum is correct\n"), "{verified}{errors}");
    let bytes = fs::read(&segments[1]).expect("readable");
    let mut flipped = bytes.clone();
    flipped[150] ^= 1;
    fs::write(&segments[1], &flipped).expect("writable");
    let (code, _, errors) = place.till(&["archive", "verify", text(&archive)]);
    assert!(code == Some(1) && errors.contains(text(&segments[1])) && errors.contains("offset 92"), "{errors}");
    fs::write(&segments[1], &bytes).expect("writable");
    fs::rename(&segments[1], place.at("aside")).expect("it can be moved");
    place.refused("early", &[], &["segment 2 of the archive", "is missing"]);
    fs::rename(place.at("aside"), &segments[1]).expect("it can be moved");
    let late = place.at("checkpoints/late");
    let (code, removed, errors) = place.till(&["archive", "prune", "--before", text(&late), text(&archive)]);
    assert!(code == Some(0) && removed.contains(text(&segments[1])), "{removed}{errors}");
    place.refused("early", &[], &["are not in the archive", "use a checkpoint that has them"]);
    drop(place.restored("late", "copy", &[]));
    server.restart();
    assert!(shop.on(&server).pay(100).starts_with("pay_"), "the store goes on with what is left");
}

#[test]
fn what_customers_did_after_the_checkpoint_is_restored_with_the_archive() {
    let place = ArchiveDirectories::new();
    let server = place.server(&place.start());
    let (shop, browser) = (server.shop(), Browser::of(&server));
    let given_up = challenged(&shop, &json!({}));
    take(&server, "one");
    assert_eq!(shop.sdk("cancel-payment-session", &json!({ "payment_session_id": given_up.session })).ok(), true);
    let body = json!({ "merchant_id": shop.merchant_id, "payment_id": given_up.payment, "outcome": "SUCCEEDED" });
    assert_eq!(server.admin("complete-action", &body).ok(), true);
    let is_back = || shop.payment(&given_up.payment)["late_success"]["returned_at"].is_u64();
    wait_until(PATIENCE, "the late success is not given back", is_back);
    let newer = challenged(&shop, &json!({}));
    page(&browser.get(&newer.step), 200);
    server.wait_until_archived();
    drop(server);
    let (code, output, errors) = place.restore("one", "copy", &[]);
    assert_eq!(code, Some(0), "{output}{errors}");
    let (code, output, errors) = run_command(Start::default().command(&place.at("copy")), &["verify"]);
    assert_eq!(code, Some(0), "{output}{errors}");
    let restored = Start::default().try_server_on(&place.at("copy"), None).expect("a server of the restored store");
    assert_eq!(restored.admin("resume-effects", &json!({})).ok(), true);
    acts_after_the_restore(&restored, &shop.on(&restored), &newer);
}

/// The address that the customer has leads to the page of the action, and an address that nobody was given to none.
fn acts_after_the_restore(restored: &Server, shop: &Shop, asked: &Asked) {
    let browser = Browser::of(restored);
    wait_until(PATIENCE, "the sandbox was not asked again", || browser.get(&asked.step).status == 303);
    let made_up = format!("{}0000", &asked.step[..asked.step.len() - 4]);
    page(&browser.get(&made_up), 404);
    let led = browser.get(&asked.step);
    let there = led.header("location").expect("an address");
    assert_ne!(there, asked.step);
    page(&browser.get(there), 200);
    assert_eq!(browser.post(there, "outcome=succeed").status, 303);
    assert_eq!(shop.settled(&asked.payment)["status"], "SUCCESSFUL");
    page(&browser.get(&asked.step), 404);
}
