//! Starts that are refused, and their messages.

use std::fs;
use std::path::Path;

use rocksdb::{DB, Options, WriteOptions};
use till_storage::engine::{FORMAT, ROW_FORMAT};
use till_storage::family::Family;
use till_storage::keys::MetaKey;

use crate::harness::{Server, Start};

use super::image::start;

/// A stopped server with a payment.
fn stopped() -> Server {
    let mut server = Server::start();
    server.shop().pay(1_000);
    assert!(server.stop(), "a stop ends well");
    server
}

/// Starts on this directory, which must be refused, and returns the one line with the reason.
#[track_caller]
fn refusal(start: &Start, data: &Path) -> String {
    let message = start.try_server_on(data, None).err().expect("it must not start");
    let line = message.lines().find_map(|line| line.split_once("till: ")).map(|(_, reason)| reason.to_owned());
    let line = line.unwrap_or_else(|| panic!("no reason is said: {message}"));
    assert!(!message.contains("panicked"), "{message}");
    println!("{line}");
    line
}

#[track_caller]
fn assert_refused(data: &Path, words: &[&str]) {
    let line = refusal(&start(), data);
    assert!(words.iter().all(|word| line.contains(word)), "{words:?} are not all in: {line}");
}

/// Writes a metadata row of the store, as a newer program would.
fn write_meta(data: &Path, key: MetaKey, value: u32) {
    let mut options = Options::default();
    options.set_atomic_flush(true);
    let families = Family::ALL.map(Family::name);
    let db = DB::open_cf(&options, data.join("db"), families).expect("it is sound");
    let meta = db.cf_handle(Family::Meta.name()).expect("it was opened");
    let mut synced = WriteOptions::default();
    synced.set_sync(true);
    db.put_cf_opt(meta, key.encode(), value.to_be_bytes(), &synced).expect("writable");
}

#[test]
fn a_missing_or_unreadable_current_is_refused_by_name() {
    let server = stopped();
    let current = server.data().join("db/CURRENT");
    fs::write(&current, "garbage").expect("writable");
    assert_refused(server.data(), &["CURRENT names no MANIFEST"]);
    fs::remove_file(&current).expect("it is there");
    assert_refused(server.data(), &["CURRENT cannot be read"]);
}

#[test]
fn a_missing_or_damaged_high_water_mark_is_refused_by_name() {
    let server = stopped();
    let mark = server.data().join("high-water");
    fs::write(&mark, [0x5a; 64]).expect("writable");
    assert_refused(server.data(), &["high-water", "is damaged"]);
    fs::remove_file(&mark).expect("it is there");
    assert_refused(server.data(), &["high-water", "is missing"]);
    assert!(!mark.exists(), "a refusal makes nothing");
    let verified = start().command(server.data()).arg("verify").output().expect("the binary can be started");
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(verified.status.code() == Some(2) && said.contains("high-water is missing"), "{said}");
}

#[test]
fn a_directory_in_the_place_of_a_lock_is_named() {
    let server = stopped();
    let lock = server.data().join("db/LOCK");
    fs::remove_file(&lock).expect("it is there");
    fs::create_dir(&lock).expect("writable");
    assert_refused(server.data(), &["could not lock", "db/LOCK", "is a directory"]);
}

#[test]
fn a_mark_above_the_last_commit_names_the_missing_commits() {
    let mut ahead = Server::start();
    let mut server = stopped();
    let shop = ahead.shop();
    (0..20).for_each(|_| drop(shop.pay(1_000)));
    ahead.kill();
    fs::copy(ahead.data().join("high-water"), server.data().join("high-water")).expect("it copies");
    server.kill();
    assert_refused(server.data(), &["acknowledged commits", "are missing"]);
}

#[test]
fn a_newer_format_is_refused_with_a_remedy() {
    let server = stopped();
    write_meta(server.data(), MetaKey::RowFormat, ROW_FORMAT + 1);
    assert_refused(server.data(), &["row format", "upgrade the program"]);
    let server = stopped();
    write_meta(server.data(), MetaKey::Format, FORMAT + 1);
    assert_refused(server.data(), &["the store has format", "upgrade the program"]);
}

#[test]
fn a_wrong_vault_key_is_refused_and_changes_nothing() {
    let mut server = stopped();
    let wrong = start().with("TILL_VAULT_KEY", &"5a".repeat(32));
    let line = refusal(&wrong, server.data());
    assert!(line.contains("vault key") && !line.contains("5a5a"), "{line}");
    server.restart();
}

#[test]
fn a_second_server_on_the_same_directory_is_refused() {
    let (server, shop) = Server::with_shop();
    assert_refused(server.data(), &["is in use by another process"]);
    shop.pay(1_000);
}

#[test]
fn an_unusable_data_directory_is_refused_by_name() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    let path = file.path().to_str().expect("its name is ASCII");
    assert_refused(file.path(), &[path]);
    assert_refused(&file.path().join("below"), &[path]);
    // No user can make a file there, not even root.
    assert_refused(Path::new("/proc"), &["/proc"]);
    assert_refused(Path::new("/proc/none"), &["/proc/none"]);
}
