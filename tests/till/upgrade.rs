//! Stores that released versions of the program wrote open under this one: they verify, answer as they did, and go on,
//! also when the first start is killed half way.
//!
//! Each file in `tests/stores/` is the data directory of a server that was killed, with `answers.json` beside it: the
//! keys to call with, and what calls were answered then. `make upgrade-store NAME=...` makes one with the program of
//! the tree, at a release. RocksDB's files `LOG*`, `OPTIONS*` and `LOCK` are left out, as they name paths of the
//! machine that made them; the database opens without them. So is the file `running`, by which the store would be taken
//! for a copy.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write, copy};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::harness::{CARD, PATIENCE, Server, Shop, Start, directory, first_answer, temporary, wait_until};

/// The vault key of every store here.
const VAULT_KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// The file of the answers in an archive.
const ANSWERS: &str = "answers.json";

/// A lifetime that no test reaches: what was authorized or asked stays so until the store is opened.
const FOR_EVER: &str = "4000000000";

/// A card whose calls are carried out at once, and answered after five seconds.
const ANSWERED_LATE: &str = "4000000000003238";

/// A card whose first call times out at once.
const TIMES_OUT_FIRST: &str = "4000000000003097";

/// The longest time that money stays on hold.
const A_YEAR_SECONDS: u64 = 31_536_000;

/// A card whose refunds stay pending until the operator ends them.
const REFUNDED_BY_HAND: &str = "4000000000007726";

/// Moments of a start at which it is killed.
const KILLED_AFTER: [u64; 6] = [1, 10, 30, 60, 120, 250];

fn start() -> Start {
    Start::default()
        .with("TILL_VAULT_KEY", VAULT_KEY)
        .with("TILL_PENDING_SECONDS_MAX", FOR_EVER)
        .with("TILL_AUTHORIZED_SECONDS_MAX", FOR_EVER)
        .with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8")
}

fn stores() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores")
}

/// A store of a released version, unpacked into a directory of its own.
struct Unpacked {
    name: String,
    directory: TempDir,
    answers: Value,
}

impl Unpacked {
    /// All of them.
    fn all() -> Vec<Unpacked> {
        let files = fs::read_dir(stores()).expect("the stores are there").map(|entry| entry.expect("it lists").path());
        let mut archives: Vec<PathBuf> =
            files.filter(|file| file.extension().is_some_and(|end| end == "zip")).collect();
        archives.sort();
        assert!(!archives.is_empty(), "no store is in {}", stores().display());
        archives.iter().map(|archive| Unpacked::of(archive)).collect()
    }

    fn of(archive: &Path) -> Unpacked {
        let name = archive.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let directory = directory();
        let mut archive = ZipArchive::new(File::open(archive).expect("it is there")).expect("it is a ZIP archive");
        let mut answers = Vec::new();
        for index in 0..archive.len() {
            let mut packed = archive.by_index(index).expect("it is whole");
            if packed.enclosed_name().as_deref() == Some(Path::new(ANSWERS)) {
                packed.read_to_end(&mut answers).expect("it is whole");
                continue;
            }
            let file = directory.path().join(packed.enclosed_name().expect("a path below the directory"));
            fs::create_dir_all(file.parent().expect("it has a parent")).expect("a directory can be made");
            copy(&mut packed, &mut File::create(file).expect("a file can be made")).expect("it is whole");
        }
        let answers = serde_json::from_slice(&answers).expect("the answers are JSON");
        Unpacked { name, directory, answers }
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn start(&self) -> Server {
        start().server_in(&self.data())
    }

    /// Verifies it, and fails at any fault. Gives the number of records.
    #[track_caller]
    fn verify(&self) -> u64 {
        let output = start().command(&self.data()).args(["verify", "--json"]).output();
        let output = output.expect("the binary can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{}: {error}: {said}", self.name));
        let shown = (&report["clean"], &report["faults"]);
        assert_eq!(shown, (&json!(true), &json!([])), "{}: {report:#}", self.name);
        report["records"].as_u64().expect("a number")
    }

    /// The merchants, with the answers of their calls.
    fn shops<'a>(&'a self, server: &'a Server) -> impl Iterator<Item = (Shop, &'a Value)> {
        let shops = self.answers["shops"].as_array().expect("an array");
        shops.iter().map(|known| (Shop::known(server, &known["shop"]), &known["answers"]))
    }
}

/// A call whose answer is kept: its endpoint and its body.
type Call = (&'static str, Value);

/// Calls that find payments.
fn payment_calls(payments: &[&str]) -> Vec<Call> {
    payments.iter().map(|id| ("find-payment", json!({ "payment_id": id }))).collect()
}

/// The calls whose answers are kept, of a merchant with these payments and customers.
fn all_calls(payments: &[&str], customers: &[&str]) -> Vec<Call> {
    let mut calls = payment_calls(payments);
    for customer in customers {
        calls.push(("find-contact", json!({ "contact_id": customer })));
        calls.push(("list-cards", json!({ "contact_id": customer, "per_page": 100 })));
    }
    let lists = ["list-payments", "list-refunds", "list-disputes", "list-payouts", "list-contacts", "list-metadata"];
    let of_the_account = ["balance-history", "list-activity-logs", "list-topups"];
    calls.extend(lists.into_iter().chain(of_the_account).map(|endpoint| (endpoint, json!({ "per_page": 100 }))));
    calls.push(("get-balance", json!({})));
    calls
}

/// The calls and their answers, to be kept.
fn answered(shop: &Shop, calls: Vec<Call>) -> Value {
    let answer = |(endpoint, body): Call| {
        let answer = shop.call(endpoint, &body).ok();
        json!({ "endpoint": endpoint, "body": body, "answer": answer })
    };
    calls.into_iter().map(answer).collect()
}

/// Checks that an answer has every member that it had, with the same value: a later version may add members.
#[track_caller]
fn check_covers(now: &Value, then: &Value, place: &str) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            // The month of an entry may be over by now.
            for (name, value) in then.iter().filter(|(name, _)| *name != "statement_id") {
                let member = format!("{place}.{name}");
                check_covers(now.get(name).unwrap_or_else(|| panic!("{member} is gone")), value, &member);
            }
        }
        (Value::Array(now), Value::Array(then)) => {
            assert_eq!(now.len(), then.len(), "{place}");
            now.iter().zip(then).for_each(|(now, then)| check_covers(now, then, place));
        }
        (now, then) => assert_eq!(now, then, "{place}"),
    }
}

/// Pays with a new card, and checks that the balance has it.
#[track_caller]
fn pay_anew(shop: &Shop) {
    let before = shop.balance();
    let payment = shop.pay(777);
    assert_eq!(shop.payment(&payment)["status"], "SUCCESSFUL");
    let sum = |balance: &Value| balance["available"].as_i64().zip(balance["pending"].as_i64()).map(|(a, p)| a + p);
    assert_eq!(sum(&shop.balance()), sum(&before).map(|sum| sum + 777), "{before}");
    assert_eq!(shop.call("list-payments", &json!({ "per_page": 1 })).ok()["page"][0]["payment_id"], payment);
}

#[test]
fn a_store_of_an_earlier_release_answers_as_it_did_and_goes_on() {
    for store in Unpacked::all() {
        let before = store.verify();
        let mut server = store.start();
        for (shop, answers) in store.shops(&server) {
            for kept in answers.as_array().expect("an array") {
                let endpoint = kept["endpoint"].as_str().expect("a name");
                let now = shop.call(endpoint, &kept["body"]).ok();
                check_covers(&now, &kept["answer"], &format!("{}: {endpoint} {}", store.name, kept["body"]));
            }
        }
        for (shop, _) in store.shops(&server) {
            pay_anew(&shop);
        }
        check_pending(&store, &server);
        assert!(server.stop(), "{}", store.name);
        assert!(store.verify() > before, "{}: what was paid is recorded", store.name);
    }
}

/// Payments whose calls to the acquirer were open are carried out.
fn check_pending(store: &Unpacked, server: &Server) {
    let pending = &store.answers["pending"];
    let shop = Shop::known(server, &pending["shop"]);
    for payment in pending["payments"].as_array().expect("an array") {
        let paid = shop.settled(payment.as_str().expect("an id"));
        assert_eq!(paid["status"], "SUCCESSFUL", "{}: {paid}", store.name);
    }
}

#[test]
fn a_first_start_that_is_killed_half_way_is_begun_again() {
    for store in Unpacked::all() {
        for millis in KILLED_AFTER {
            let mut command = start().command(&store.data());
            let mut child = command.arg("serve").spawn().expect("the binary can be started");
            thread::sleep(Duration::from_millis(millis));
            child.kill().expect("a child can be killed");
            child.wait().expect("a child can be waited for");
        }
        let mut server = store.start();
        check_pending(&store, &server);
        for (shop, _) in store.shops(&server) {
            pay_anew(&shop);
        }
        assert!(server.stop(), "{}", store.name);
        store.verify();
    }
}

/// Not a test: makes the store of this version, which a release adds to `tests/stores/`.
#[test]
#[ignore = "make upgrade-store NAME=... makes a store with it"]
fn the_store_of_this_version_is_made() {
    let name = std::env::var("TILL_STORE_NAME").expect("TILL_STORE_NAME names the store");
    let (_directory, [data]) = temporary(["data"]);
    let answers = trade(&data);
    let file = stores().join(format!("{name}.zip"));
    pack(&data, &answers, &file);
    println!("{} has {} bytes", file.display(), fs::metadata(&file).expect("it is there").len());
}

/// Trades as two merchants, and leaves the data directory as a kill does. Gives the answers to keep.
fn trade(data: &Path) -> Value {
    // The server is paused at first: a payment is over time when its first call goes out, which has no result.
    fs::create_dir_all(data).expect("a directory can be made");
    fs::write(data.join("effects-paused"), "").expect("writable");
    let mut server = start().with("TILL_PENDING_SECONDS_MAX", "1").server_in(data);
    let merchant =
        |name: &str, delay: u64| json!({ "name": name, "currency": "THB", "settlement_delay_seconds": delay });
    let (settling, holding) =
        (server.shop_with(merchant("Now", 0)), server.shop_with(merchant("Later", A_YEAR_SECONDS)));
    pay(&settling, "order-expired", TIMES_OUT_FIRST, true);
    thread::sleep(Duration::from_secs(2));
    server.admin("resume-effects", &json!({})).ok();
    until(&settling, "order-expired", "EXPIRED");
    assert!(server.stop());
    server = start().server_in(data);
    let (settling, holding) = (settling.on(&server), holding.on(&server));
    let known = trade_settling(&server, &settling);
    let known_holding = trade_holding(&server, &holding);
    // Written to tables, so that the store has rows in tables as well as in its log.
    assert!(server.stop());
    server = start().server_in(data);
    let (settling, holding) = (settling.on(&server), holding.on(&server));
    let answers = json!([
        { "shop": settling.known_as(), "answers": answered(&settling, known) },
        { "shop": holding.known_as(), "answers": answered(&holding, known_holding) },
    ]);
    let pending_shop = server.shop_with(json!({ "name": "Was killed", "currency": "THB" }));
    let pending = ["order-pending-1", "order-pending-2"].map(|order| pay(&pending_shop, order, ANSWERED_LATE, true));
    server.kill();
    let program = format!("till {}", env!("CARGO_PKG_VERSION"));
    json!({
        "program": program, "shops": answers,
        "pending": { "shop": pending_shop.known_as(), "payments": pending },
    })
}

/// Initiates a payment.
fn pay(shop: &Shop, order: &str, card: &str, capture: bool) -> String {
    let more = json!({ "capture": capture, "external_id": order });
    shop.initiate(&shop.session_of(card, 10_000), 10_000, &more).id()
}

fn until(shop: &Shop, order: &str, status: &str) -> Value {
    let is_so = |found: &Value| found["status"] == status && found["operation"].is_null();
    first_answer(PATIENCE, &format!("{order} is not {status}"), || shop.payment(order), is_so)
}

fn paid(shop: &Shop, order: &str, status: &str) {
    let card = if status == "FAILED" { "4000000000000002" } else { CARD };
    pay(shop, order, card, status != "AUTHORIZED");
    until(shop, order, status);
}

/// Refunds, payouts, disputes, customers and metadata of a merchant whose money is available at once.
fn trade_settling(server: &Server, shop: &Shop) -> Vec<Call> {
    let order = |name: &str| json!({ "payment_id": name });
    let call = |endpoint: &str, body: &Value| shop.call(endpoint, body).ok();
    for (name, status) in [("successful", "SUCCESSFUL"), ("authorized", "AUTHORIZED"), ("failed", "FAILED")] {
        paid(shop, &format!("order-{name}"), status);
    }
    for name in ["order-refunded", "order-refunded-in-part", "order-lost", "order-won", "order-disputed"] {
        paid(shop, name, "SUCCESSFUL");
    }
    call("refund-payment", &order("order-refunded"));
    until(shop, "order-refunded", "REFUNDED");
    let part = json!({ "payment_id": "order-refunded-in-part", "amount": 2_500, "reason": "one was broken" });
    call("refund-payment", &part);
    until(shop, "order-refunded-in-part", "PARTIALLY_REFUNDED");
    pay(shop, "order-refund-open", REFUNDED_BY_HAND, true);
    until(shop, "order-refund-open", "SUCCESSFUL");
    call("refund-payment", &order("order-refund-open"));
    dispute(server, shop);
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 5_000 })).ok();
    call("send-payout", &json!({ "amount": 1_200, "external_id": "payout-1", "description": "March" }));
    wait_until(PATIENCE, "the payout did not end", || {
        call("find-payout", &json!({ "payout_id": "payout-1" }))["status"] == "SUCCESSFUL"
    });
    call("sync-metadata", &json!({ "key": "article-1", "metadata": { "name": "Tea", "sizes": [1, 2.5] } }));
    call("add-to-metadata-set", &json!({ "key": "article-1", "path": "tags", "value": "green" }));
    let webhook = json!({ "name": "Orders", "destination_url": "http://127.0.0.1:9/events", "events": ["*"] });
    call("connect-webhook", &webhook);
    let orders =
        ["successful", "authorized", "failed", "refunded", "refunded-in-part", "lost", "won", "disputed", "expired"];
    let orders: Vec<String> = orders.iter().map(|name| format!("order-{name}")).collect();
    add_customers(shop);
    all_calls(&orders.iter().map(String::as_str).collect::<Vec<_>>(), &["ada", "grace"])
}

/// A dispute that was lost, one that was won, and one that waits for the operator.
fn dispute(server: &Server, shop: &Shop) {
    for (order, outcome) in [("order-lost", Some("LOST")), ("order-won", Some("WON")), ("order-disputed", None)] {
        let dispute = json!({ "merchant_id": shop.merchant_id, "payment_id": order, "reason": "not received" });
        let id = server.admin("open-dispute", &dispute).id();
        match outcome {
            Some(outcome) => {
                let body = json!({ "merchant_id": shop.merchant_id, "dispute_id": id, "outcome": outcome });
                server.admin("close-dispute", &body).ok();
            }
            // Evidence of no known outcome waits for the operator.
            None => drop(shop.call("challenge-dispute", &json!({ "dispute_id": id, "evidence": "a receipt" })).ok()),
        }
    }
    until(shop, "order-disputed", "DISPUTED");
}

/// A customer with two saved cards of which one was forgotten, another, and one who was removed.
fn add_customers(shop: &Shop) {
    let ada = json!({ "external_id": "ada", "contact_email": "ada@example.com", "contact_name": "Ada Example" });
    for contact in [ada, json!({ "external_id": "grace" }), json!({ "external_id": "gone", "contact_name": "Gone" })] {
        shop.call("add-contact", &contact).ok();
    }
    for (card, number) in [("card-kept", CARD), ("card-forgotten", "5555555555554444")] {
        let token = shop.token_of(number, "MULTIPLE");
        shop.call("save-card", &json!({ "token": token, "contact_id": "ada", "external_id": card })).id();
    }
    shop.call("forget-card", &json!({ "contact_id": "ada", "card_id": "card-forgotten" })).ok();
    shop.call("remove-contact", &json!({ "contact_id": "gone" })).ok();
}

/// Voids and reversals of a merchant whose money stays on hold.
fn trade_holding(server: &Server, shop: &Shop) -> Vec<Call> {
    paid(shop, "order-voided", "AUTHORIZED");
    shop.call("void-payment", &json!({ "payment_id": "order-voided" })).ok();
    until(shop, "order-voided", "VOIDED");
    paid(shop, "order-reversed", "SUCCESSFUL");
    shop.call("reverse-payment", &json!({ "payment_id": "order-reversed" })).ok();
    until(shop, "order-reversed", "REVERSED");
    paid(shop, "order-captured", "AUTHORIZED");
    shop.call("capture-payment", &json!({ "payment_id": "order-captured", "amount": 4_000 })).ok();
    until(shop, "order-captured", "SUCCESSFUL");
    let invoice = json!({ "merchant_id": shop.merchant_id, "amount": 300, "external_id": "invoice-1" });
    server.admin("charge-invoice", &invoice).ok();
    // Transactions on hold settle one day: only those that are over stay as they are.
    payment_calls(&["order-voided", "order-reversed"])
}

/// Packs a data directory and the answers.
fn pack(data: &Path, answers: &Value, file: &Path) {
    fs::create_dir_all(stores()).expect("a directory can be made");
    let mut archive = ZipWriter::new(File::create(file).expect("a file can be made"));
    let mut files = BTreeMap::new();
    collect(data, "data", &mut files);
    files.insert(ANSWERS.to_owned(), serde_json::to_vec_pretty(answers).expect("it is JSON"));
    for (name, bytes) in files {
        archive.start_file(name, SimpleFileOptions::default()).expect("a file can be begun");
        archive.write_all(&bytes).expect("it can be packed");
    }
    archive.finish().expect("the archive can be ended");
}

/// The files below a directory that belong to a store.
fn collect(directory: &Path, name: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(directory).expect("readable") {
        let path = entry.expect("it lists").path();
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        let below = format!("{name}/{file}");
        let is_left_out = file.starts_with("LOG") || file.starts_with("OPTIONS") || file == "LOCK" || file == "running";
        if path.is_dir() {
            collect(&path, &below, files);
        } else if !is_left_out {
            files.insert(below, fs::read(&path).expect("readable"));
        }
    }
}
