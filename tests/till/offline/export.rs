//! `till export`

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use till_domain::ids::MerchantId;
use till_storage::family::Family;

use super::store::{Tampering, contents, ends};
use crate::harness::{Server, Shop, directory, run_command, text, wait_until};

const FILES: [&str; 10] = [
    "merchants.jsonl",
    "payments.jsonl",
    "contacts.jsonl",
    "cards.jsonl",
    "refunds.jsonl",
    "disputes.jsonl",
    "payouts.jsonl",
    "entries.jsonl",
    "activity.jsonl",
    "log.jsonl",
];

fn paid(server: &Server) -> (Shop, Shop) {
    let (shop, other) = (server.shop(), server.shop());
    for number in 0..12 {
        let email = format!("ada{number}@example.com");
        let more = json!({ "customer_email": email, "external_id": format!("order-{number}") });
        shop.pay_with(100 + number, &more);
    }
    other.pay(777);
    (shop, other)
}

fn lines(directory: &Path, file: &str) -> Vec<Map<String, Value>> {
    let text = fs::read_to_string(directory.join(file)).expect("it is there");
    let line = |line: &str| serde_json::from_str(line).expect("a JSON object a line");
    text.lines().map(line).collect()
}

/// The lines of one merchant as they are answered, the newest first.
fn answered(directory: &Path, file: &str, kind: &str, shop: &Shop) -> Vec<Value> {
    let own = lines(directory, file).into_iter().filter(|line| line["merchant_id"] == shop.merchant_id);
    let answered = own.map(|mut line| {
        assert_eq!(line.remove("kind"), Some(json!(kind)));
        line.remove("merchant_id");
        line.remove("cause_id");
        Value::Object(line)
    });
    let mut answered: Vec<Value> = answered.collect();
    answered.reverse();
    answered
}

#[test]
fn an_export_has_everything_as_answered_and_its_manifest() {
    let (mut server, place) = (Server::start(), directory());
    let (shop, other) = paid(&server);
    let lists = ["list-payments", "balance-history", "list-activity-logs"].map(|endpoint| shop.all(endpoint));
    assert!(server.stop());
    let to = place.path().join("export");
    ends(&server, &["export", "--to", text(&to), "--open-personal-data"], 0);
    let files = [("payments.jsonl", "payment"), ("entries.jsonl", "entry"), ("activity.jsonl", "activity")];
    for (list, (file, kind)) in lists.iter().zip(files) {
        assert_eq!(&answered(&to, file, kind, &shop), list, "{file}");
    }
    let records = lines(&to, "log.jsonl");
    for merchant in lines(&to, "merchants.jsonl") {
        let own: Vec<_> = records.iter().filter(|line| line["merchant_id"] == merchant["merchant_id"]).collect();
        assert_eq!(json!(own.len()), merchant["records"]);
        assert_eq!(own.last().expect("it has records")["hash"], merchant["hash"]);
    }
    assert_eq!(lines(&to, "merchants.jsonl").len(), 2);
    assert_eq!(answered(&to, "payments.jsonl", "payment", &other).len(), 1);
    let manifest: Value = serde_json::from_slice(&fs::read(to.join("export.json")).expect("there")).expect("JSON");
    assert_eq!((&manifest["format"], &manifest["personal_data"]), (&json!(1), &json!("opened")));
    for (file, name) in manifest["files"].as_array().expect("files").iter().zip(FILES) {
        let bytes = fs::read(to.join(name)).expect("readable");
        let hash = blake3::hash(&bytes).to_hex();
        let expected = json!({
            "name": name, "lines": lines(&to, name).len(), "bytes": bytes.len(), "blake3": hash.as_str(),
        });
        assert_eq!(file, &expected);
    }
}

#[test]
fn personal_data_is_sealed_and_card_numbers_are_left_out() {
    let (mut server, place) = (Server::start(), directory());
    paid(&server);
    assert!(server.stop());
    let [sealed, opened] = ["sealed", "opened"].map(|name| place.path().join(name));
    let mut without_key = server.command();
    without_key.env_remove("TILL_VAULT_KEY");
    let (code, _, errors) = run_command(without_key, &["export", "--to", text(&sealed)]);
    assert_eq!(code, Some(0), "{errors}");
    ends(&server, &["export", "--to", text(&opened), "--open-personal-data"], 0);
    let all = |directory: &Path| FILES.map(|file| fs::read_to_string(directory.join(file)).expect("UTF-8")).concat();
    let (sealed, opened) = (all(&sealed), all(&opened));
    for word in ["ada3@example.com", "Ada Example", "tok_"] {
        assert!(!sealed.contains(word) && opened.contains(word), "{word}");
    }
    for text in [&sealed, &opened] {
        assert!(!text.contains("4242424242424242"));
    }
    assert_eq!(sealed.lines().count(), opened.lines().count());
}

#[test]
fn exported_files_are_readable_by_the_owner_only() {
    let (mut server, place) = (Server::start(), directory());
    assert!(server.stop());
    let to = place.path().join("exports/one");
    ends(&server, &["export", "--to", text(&to), "--open-personal-data"], 0);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&to), 0o700);
    for file in FILES.into_iter().chain(["export.json"]) {
        assert_eq!(mode(&to.join(file)), 0o600, "{file}");
    }
}

/// A shop with a refund, a dispute, a payout and a saved card, of which one customer has all but the payout.
fn with_everything(server: &Server) -> Shop {
    let shop = server.shop();
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 5_000 })).ok();
    shop.pay_with(300, &json!({ "customer_email": "other@example.com" }));
    let ada = json!({ "customer_id": "ada", "customer_email": "ada@example.com" });
    let paid = shop.pay_with(500, &ada);
    shop.saved_card(&json!({ "customer_id": "ada" }));
    let payment = json!({ "merchant_id": shop.merchant_id, "payment_id": paid["payment_id"], "amount": 100 });
    shop.call("refund-payment", &json!({ "payment_id": paid["payment_id"], "amount": 50 })).ok();
    server.admin("open-dispute", &payment).ok();
    shop.call("send-payout", &json!({ "amount": 10 })).ok();
    let is_settled = || {
        let all = [shop.all("list-payouts"), shop.all("list-refunds")].concat();
        all.iter().all(|one| one["status"] == "SUCCESSFUL")
    };
    wait_until(Duration::from_secs(30), "the sandbox has not answered", is_settled);
    shop
}

#[test]
fn what_is_stored_of_one_customer_is_exported() {
    let (mut server, place) = (Server::start(), directory());
    let shop = with_everything(&server);
    let contact = shop.contact("ada");
    let cards = shop.all_of("list-cards", &json!({ "contact_id": "ada" }));
    let listed = |endpoint: &str, filters: &Value| shop.all_of(endpoint, filters);
    let payments = listed("list-payments", &json!({ "contact_id": "ada" }));
    let (refunds, disputes, payouts) = (shop.all("list-refunds"), shop.all("list-disputes"), shop.all("list-payouts"));
    assert!(server.stop());
    let to = place.path().join("ada");
    let what = ["--merchant", &shop.merchant_id, "--contact", "ada", "--open-personal-data"];
    ends(&server, &[&["export", "--to", text(&to)], what.as_slice()].concat(), 0);
    let of = |file: &str, kind: &str| answered(&to, file, kind, &shop);
    assert_eq!(of("contacts.jsonl", "contact"), [contact]);
    assert_eq!((of("cards.jsonl", "card"), of("payments.jsonl", "payment")), (cards, payments));
    assert_eq!((of("refunds.jsonl", "refund"), of("disputes.jsonl", "dispute")), (refunds, disputes));
    assert!(of("entries.jsonl", "entry").iter().all(|entry| entry["type"] != "PAY_OUT"));
    assert!(!to.join("payouts.jsonl").exists() && !to.join("log.jsonl").exists());
    let all = place.path().join("all");
    ends(&server, &["export", "--to", text(&all)], 0);
    assert_eq!(answered(&all, "payouts.jsonl", "payout", &shop), payouts);
    let sealed = answered(&all, "contacts.jsonl", "contact", &shop);
    assert!(sealed.len() == 2 && sealed.iter().all(|contact| contact["email"] == "[sealed]"), "{sealed:?}");
    assert_eq!(answered(&all, "cards.jsonl", "card", &shop)[0]["cardholder_name"], "[sealed]");
    for wrong in [&["--contact", "nobody"][..], &["--contact", "ada", "--what", "log"]] {
        let to = place.path().join("wrong");
        ends(&server, &[&["export", "--to", text(&to), "--merchant", &shop.merchant_id], wrong].concat(), 1);
        assert!(!to.exists());
    }
}

#[test]
fn one_merchant_and_one_file_are_exported_when_they_are_named() {
    let (mut server, place) = (Server::start(), directory());
    let (_, other) = paid(&server);
    assert!(server.stop());
    let to = place.path().join("export");
    let what = ["--merchant", &other.merchant_id, "--what", "entries,payments"];
    ends(&server, &[&["export", "--to", text(&to)], what.as_slice()].concat(), 0);
    let names: BTreeSet<String> = contents(&to).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["entries.jsonl", "export.json", "payments.jsonl"].map(str::to_owned).into());
    assert!(lines(&to, "entries.jsonl").iter().all(|line| line["merchant_id"] == other.merchant_id));
    let again = ends(&server, &["export", "--to", text(&to)], 1);
    assert!(again.contains("exists already"), "{again}");
}

#[test]
fn a_checkpoint_is_exported_while_the_server_runs() {
    let (mut server, place) = (Server::start(), directory());
    let (shop, _) = paid(&server);
    server.admin("create-checkpoint", &json!({ "name": "one" })).ok();
    let [of_checkpoint, of_store] = ["checkpoint", "store"].map(|name| place.path().join(name));
    let checkpoint = server.data().join("checkpoints/one");
    let before = contents(&checkpoint);
    let in_use = ends(&server, &["export", "--to", text(&of_store)], 1);
    assert!(in_use.contains("in use"), "{in_use}");
    let command = crate::harness::Start::default().command(&checkpoint);
    let (code, _, errors) = run_command(command, &["export", "--to", text(&of_checkpoint)]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(contents(&checkpoint), before, "nothing is written into a checkpoint");
    assert!(server.stop());
    ends(&server, &["export", "--to", text(&of_store)], 0);
    for file in FILES {
        assert_eq!(lines(&of_checkpoint, file), lines(&of_store, file), "{file}");
    }
    server.restart();
    shop.on(&server).pay(1);
}

#[test]
fn an_export_cut_off_by_damage_has_no_name_and_no_manifest() {
    let (mut server, place) = (Server::start(), directory());
    let (_, other) = paid(&server);
    assert!(server.stop());
    let merchant: MerchantId = other.merchant_id.parse().expect("a merchant's id");
    let key = [merchant.to_bytes().as_slice(), &4_u64.to_be_bytes()].concat();
    let tampering = Tampering::with(server.data());
    let sound = tampering.rows(Family::Journal, &key).remove(0).1;
    let mut value = sound.clone();
    value[60] ^= 1;
    tampering.put(Family::Journal, &key, &value);
    drop(tampering);
    let to = place.path().join("export");
    let printed = ends(&server, &["export", "--to", text(&to)], 1);
    assert!(printed.contains(&other.merchant_id) && printed.contains("record 4 cannot be used"), "{printed}");
    let unfinished = place.path().join("export.in-progress");
    assert!(!to.exists() && unfinished.exists() && !unfinished.join("export.json").exists());
    Tampering::with(server.data()).put(Family::Journal, &key, &sound);
    ends(&server, &["export", "--to", text(&to)], 0);
    assert!(to.join("export.json").exists() && !unfinished.exists());
}
