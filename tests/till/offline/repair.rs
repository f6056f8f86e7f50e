//! `till repair rows`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::keys::AppliedKey;

use super::store::{Tampering, contents, ends, run};
use crate::harness::{Server, Shop, Start, TestDice, run_command, text};

/// Tables of derived rows, by their tags: payments, entries, balances, effects beside.
const PAYMENTS: u8 = 8;
const BALANCES: u8 = 5;

/// The answers of two merchants.
struct Scene {
    server: Server,
    shops: [Shop; 2],
    pictures: [Vec<Value>; 2],
}

impl Scene {
    /// A stopped server: everything is in tables.
    fn stopped() -> Scene {
        let mut server = Server::start();
        let shops = [server.shop(), server.shop()];
        for (number, shop) in (0..).zip(&shops) {
            for sale in 0..15 {
                let email = format!("ada{number}-{sale}@example.com");
                shop.pay_with(100 + sale, &json!({ "customer_email": email, "external_id": format!("o-{sale}") }));
            }
        }
        let pictures = shops.clone().map(|shop| picture(&shop));
        assert!(server.stop());
        Scene { server, shops, pictures }
    }

    fn key_of(&self, shop: usize, rest: &[u8]) -> Vec<u8> {
        let merchant: MerchantId = self.shops[shop].merchant_id.parse().expect("a merchant's id");
        [merchant.to_bytes().as_slice(), rest].concat()
    }

    /// Changes derived rows of a merchant in several ways.
    fn spoil(&self, shop: usize) {
        let tampering = Tampering::with(self.server.data());
        let payments = tampering.rows(Family::Rows, &self.key_of(shop, &[PAYMENTS]));
        tampering.delete(Family::Rows, &payments[3].0);
        tampering.put(Family::Rows, &payments[4].0, &payments[5].1);
        tampering.put(Family::Rows, &self.key_of(shop, &[BALANCES]), &[1, 0, 0, 0, 0]);
        let mut stray = payments[6].0.clone();
        stray[20] ^= 0xff;
        tampering.put(Family::Rows, &stray, &payments[6].1);
        for (key, _) in tampering.rows(Family::Indexes, &self.key_of(shop, &[])).into_iter().step_by(7) {
            tampering.delete(Family::Indexes, &key);
        }
        for (key, _) in tampering.rows(Family::Timers, &self.key_of(shop, &[])) {
            tampering.delete(Family::Timers, &key);
        }
        // The directory of keys: a key without its row is unknown.
        for (key, value) in tampering.rows(Family::Directory, &[96]) {
            if value.windows(16).any(|window| window == &self.key_of(shop, &[])[..]) {
                tampering.delete(Family::Directory, &key);
            }
        }
    }

    /// Checks that everything is served as before, and that further payments succeed.
    fn assert_served(&mut self) {
        self.server.restart();
        for (shop, picture_before) in self.shops.iter().zip(&self.pictures) {
            let shop = shop.on(&self.server);
            assert_eq!(&picture(&shop), picture_before, "{}", shop.merchant_id);
            shop.pay(5);
        }
        assert!(self.server.stop());
        ends(&self.server, &["verify"], 0);
    }

    fn db(&self) -> PathBuf {
        self.server.data().join("db")
    }

    /// The table files of a family.
    fn tables(&self, family: &str) -> Vec<PathBuf> {
        let property = format!("name{family}");
        let is_of = |table: &PathBuf| {
            let bytes = fs::read(table).expect("readable");
            let tail = &bytes[bytes.len().saturating_sub(4_096)..];
            tail.windows(property.len()).any(|window| window == property.as_bytes())
        };
        let files = fs::read_dir(self.db()).expect("readable").map(|file| file.expect("it lists").path());
        let tables = files.filter(|file| file.extension().is_some_and(|end| end == "sst"));
        let found: Vec<PathBuf> = tables.filter(is_of).collect();
        assert!(!found.is_empty(), "no table of {family}");
        found
    }
}

fn picture(shop: &Shop) -> Vec<Value> {
    let mut seen = shop.picture(&[]);
    seen.extend(shop.all("list-payments"));
    let external = json!({ "payment_id": Value::Null, "external_id": "o-3" });
    seen.push(shop.call("find-payment", &external).body);
    seen
}

/// Overwrites a stretch of a file.
fn overwrite(file: &Path, from: usize, length: usize) {
    let mut bytes = fs::read(file).expect("readable");
    let end = (from + length).min(bytes.len());
    bytes[from..end].iter_mut().for_each(|byte| *byte ^= 0x55);
    fs::write(file, bytes).expect("writable");
}

#[test]
fn rows_of_all_merchants_are_derived_after_the_faults_are_named() {
    let mut scene = Scene::stopped();
    scene.spoil(0);
    scene.spoil(1);
    let before = contents(scene.server.data());
    for arguments in [["repair", "rows"].as_slice(), &["repair", "rows", "--dry-run"]] {
        let printed = ends(&scene.server, arguments, 1);
        for shop in &scene.shops {
            assert!(printed.contains(&format!("{}: Payments(", shop.merchant_id)), "{printed}");
        }
        assert!(printed.contains("nothing was changed") && printed.contains("of all merchants"), "{printed}");
        assert_eq!(contents(scene.server.data()), before);
    }
    let printed = ends(&scene.server, &["repair", "rows", "--yes"], 0);
    assert!(printed.contains("no faults") && printed.contains("db-before-repair"), "{printed}");
    scene.assert_served();
}

#[test]
fn rows_of_one_merchant_are_derived_and_others_are_kept() {
    let mut scene = Scene::stopped();
    scene.spoil(0);
    scene.spoil(1);
    let [first, second] = scene.shops.clone();
    let printed = ends(&scene.server, &["repair", "rows", "--merchant", &first.merchant_id, "--yes"], 1);
    assert!(!printed.contains(&format!("{}:", first.merchant_id)), "{printed}");
    assert!(printed.contains(&format!("{}: Payments(", second.merchant_id)), "{printed}");
    ends(&scene.server, &["repair", "rows", "--merchant", &second.merchant_id, "--yes"], 0);
    scene.assert_served();
    let unknown_merchant = "mer_01h2e8kqvbfwea724h75qc655w";
    let printed = ends(&scene.server, &["repair", "rows", "--merchant", unknown_merchant, "--yes"], 1);
    assert!(printed.contains(&format!("there is no merchant {unknown_merchant}")), "{printed}");
}

#[test]
fn an_intact_store_has_nothing_to_repair_and_stays_valid() {
    let mut scene = Scene::stopped();
    let printed = ends(&scene.server, &["repair", "rows"], 0);
    assert!(printed.contains("there is nothing to repair"), "{printed}");
    ends(&scene.server, &["repair", "rows", "--yes"], 0);
    ends(&scene.server, &["repair", "rows", "--yes"], 0);
    scene.assert_served();
}

#[test]
fn damaged_or_unreadable_tables_of_derived_rows_are_rebuilt() {
    let mut scene = Scene::stopped();
    for family in ["rows", "indexes", "timers", "directory"] {
        let table = scene.tables(family).remove(0);
        let length = fs::read(&table).expect("readable").len();
        // The whole second half: rows, and the table's metadata.
        overwrite(&table, length / 2, length);
    }
    fs::write(scene.server.data().join("table-damaged"), "db/000001.sst Corruption: a block\n").expect("writable");
    assert_ne!(run(&scene.server, &["verify"]).0, Some(0), "it is damaged");
    let printed = ends(&scene.server, &["repair", "rows"], 1);
    assert!(
        printed.contains("derived rows cannot be opened") && printed.contains("derived again from the log"),
        "{printed}"
    );
    ends(&scene.server, &["repair", "rows", "--yes"], 0);
    assert!(!scene.server.data().join("table-damaged").exists(), "the note goes with the table that it names");
    scene.assert_served();
}

#[test]
fn a_damaged_log_is_not_repaired_and_nothing_is_changed() {
    let scene = Scene::stopped();
    let table = scene.tables("journal").remove(0);
    let length = fs::read(&table).expect("readable").len();
    overwrite(&table, length / 3, 200);
    scene.spoil_nothing_but_check("a block of the log");
    let scene = Scene::stopped();
    let tampering = Tampering::with(scene.server.data());
    let key = scene.key_of(1, &7_u64.to_be_bytes());
    tampering.delete(Family::Journal, &key);
    drop(tampering);
    scene.spoil_nothing_but_check("record 7");
    let scene = Scene::stopped();
    let tampering = Tampering::with(scene.server.data());
    let key = tampering.rows(Family::Vault, &scene.key_of(0, &[3])).remove(0);
    tampering.put(Family::Vault, &key.0, &key.1[..key.1.len() - 1]);
    drop(tampering);
    scene.spoil_nothing_but_check("a person's key");
}

impl Scene {
    fn spoil_nothing_but_check(&self, what: &str) {
        let before = contents(self.server.data());
        for arguments in [["repair", "rows"].as_slice(), &["repair", "rows", "--yes"]] {
            let printed = ends(&self.server, arguments, 1);
            assert!(printed.contains("only a restore can repair"), "{what}: {printed}");
        }
        assert_eq!(contents(self.server.data()), before, "{what}");
    }
}

#[test]
fn rows_behind_the_log_are_derived() {
    let mut scene = Scene::stopped();
    let tampering = Tampering::with(scene.server.data());
    let merchant: MerchantId = scene.shops[0].merchant_id.parse().expect("a merchant's id");
    tampering.delete(Family::Rows, &AppliedKey(merchant).encode());
    drop(tampering);
    ends(&scene.server, &["verify"], 1);
    ends(&scene.server, &["repair", "rows", "--merchant", &scene.shops[0].merchant_id, "--yes"], 0);
    ends(&scene.server, &["verify"], 0); // No server has derived the rows by itself yet.
    scene.assert_served();
}

#[test]
fn a_repair_needs_the_directory_for_itself_and_the_vault_key() {
    let server = Server::start();
    assert!(ends(&server, &["repair", "rows", "--yes"], 1).contains("in use"));
    let mut scene = Scene::stopped();
    let mut command = scene.server.command();
    command.env("TILL_VAULT_KEY", "5a".repeat(32));
    let (code, _, errors) = run_command(command, &["repair", "rows", "--yes"]);
    assert!(code == Some(1) && errors.contains("vault key does not open"), "{errors}");
    scene.assert_served();
}

/// A server with a payment, killed, whose log is changed.
fn killed(change: impl FnOnce(&mut Vec<u8>)) -> (Server, Shop) {
    let (mut server, shop) = Server::with_shop();
    shop.pay(100);
    server.kill();
    let files = fs::read_dir(server.data().join("db")).expect("readable").map(|file| file.expect("it lists").path());
    let log = files.filter(|file| file.extension().is_some_and(|end| end == "log")).max().expect("a log");
    let mut bytes = fs::read(&log).expect("readable");
    change(&mut bytes);
    fs::write(log, bytes).expect("writable");
    (server, shop)
}

#[test]
fn a_log_without_acknowledged_commits_is_not_repaired() {
    let (server, _) = killed(|bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
    let before = contents(server.data());
    for arguments in [["repair", "rows"].as_slice(), &["repair", "rows", "--yes"]] {
        let printed = ends(&server, arguments, 1);
        assert!(printed.contains("only a restore can repair") && printed.contains("acknowledged commits"), "{printed}");
    }
    assert_eq!(contents(server.data()), before);
}

#[test]
fn a_torn_write_after_the_last_acknowledged_one_is_no_obstacle() {
    // The beginning of a record whose rest was not written.
    let (mut server, shop) = killed(|bytes| bytes.extend_from_within(..20));
    ends(&server, &["repair", "rows", "--yes"], 0);
    server.restart();
    shop.on(&server).pay(1);
}

#[test]
fn a_killed_repair_leaves_whole_rows_and_can_be_repeated() {
    let mut scene = Scene::stopped();
    let mut dice = TestDice::new(TestDice::seed("TILL_DAMAGE_SEED"));
    for _ in 0..6 {
        scene.spoil(0);
        let mut command = scene.server.command();
        command.args(["repair", "rows", "--yes"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary can be started");
        std::thread::sleep(Duration::from_millis(dice.between(10, 600)));
        child.kill().expect("a child can be killed");
        child.wait().expect("a child can be waited for");
        ends(&scene.server, &["repair", "rows", "--yes"], 0);
    }
    scene.assert_served();
}

#[test]
fn a_repair_killed_between_renames_is_named_and_finished() {
    let mut scene = Scene::stopped();
    scene.spoil(0);
    ends(&scene.server, &["repair", "rows", "--yes"], 0);
    fs::rename(scene.db(), scene.server.data().join("db-repaired")).expect("it can be renamed");
    let refused = Start::default().try_server_on(scene.server.data(), None).err().expect("there is no database");
    assert!(refused.contains("run till repair rows again"), "{refused}");
    let before = scene.server.data().join("db-before-repair");
    let to = scene.server.data().join("export");
    let export = ["export", "--to", text(&to)];
    let inspect = ["inspect", &scene.shops[0].merchant_id];
    for (arguments, code) in [(["verify"].as_slice(), 2), (&export, 1), (&inspect, 1)] {
        let printed = ends(&scene.server, arguments, code);
        let words = ["did not come to its end: run till repair rows again", text(&before)];
        assert!(words.iter().all(|word| printed.contains(word)), "{printed}");
    }
    let printed = ends(&scene.server, &["repair", "rows"], 0);
    assert!(printed.contains("there is nothing to repair"), "{printed}");
    scene.assert_served();
}
