//! Customers and saved cards: contract, sections 4.1, 9.1a and 9.3.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use till_storage::engine::{EngineOptions, StoppedStore};
use till_storage::family::Family;
use till_storage::rows::{RowRange, RowReader};
use till_storage::vault::{SubjectKind, VaultKey};

use crate::harness::{CARD, Server, Shop, Stage, first_answer, id_of_nothing, merged};

const OTHER_CARD: &str = "5555555555554444";

/// The time for which removals are collected before the files are rewritten, and some for that.
const GATHERED: Duration = Duration::from_secs(8);

/// The time in which a key must have left the files.
const PURGE_PATIENCE: Duration = Duration::from_secs(60);

fn ada() -> Value {
    json!({
        "external_id": "ada", "contact_email": "ada.lovelace@example.com", "contact_mobile": "+66811112222",
        "contact_name": "Ada Lovelace",
    })
}

fn add(shop: &Shop, contact: &Value) -> String {
    shop.call("add-contact", contact).id()
}

fn save(shop: &Shop, contact_id: &str, number: &str, more: &Value) -> String {
    let token = shop.token_of(number, "MULTIPLE");
    shop.call("save-card", &merged(&json!({ "token": token, "contact_id": contact_id }), more)).id()
}

fn card(shop: &Shop, card_id: &str) -> Value {
    shop.call("find-card", &json!({ "card_id": card_id })).ok()
}

fn cards(shop: &Shop, contact_id: &str) -> Vec<Value> {
    let cards = shop.all_of("list-cards", &json!({ "contact_id": contact_id }));
    cards.iter().map(|card| card["card_id"].clone()).collect()
}

#[test]
fn a_contact_is_added_found_listed_changed_and_removed() {
    let (stage, shop) = Stage::with_shop("2025-04-01T00:00:00Z");
    let id = add(&shop, &ada());
    let contact = shop.contact("ada");
    assert_eq!((&contact["created_at"], &contact["updated_at"]), (&json!(stage.now()), &contact["created_at"]));
    assert_eq!((&contact["contact_id"], &contact["name"]), (&json!(id), &json!("Ada Lovelace")));
    let other = add(&shop, &json!({ "contact_name": "Grace Hopper" }));
    let listed: Vec<Value> = shop.all("list-contacts").iter().map(|contact| contact["contact_id"].clone()).collect();
    assert_eq!(listed, [json!(other), json!(id)]);
    let page = shop.call("list-contacts", &json!({ "per_page": 1, "before": id })).ok();
    assert_eq!((&page["page"][0]["contact_id"], &page["previous"]), (&json!(other), &Value::Null));
    let change = json!({ "contact_id": id, "contact_name": null, "contact_email": "ada@example.com" });
    stage.pass_seconds(5);
    assert_eq!(shop.call("update-contact", &change).ok(), true);
    stage.pass_seconds(5);
    assert_eq!(shop.call("update-contact", &change).ok(), false);
    assert_eq!(shop.contact(&id)["updated_at"], json!(stage.now() - 5));
    assert_eq!(
        (&shop.contact(&id)["email"], &shop.contact(&id)["name"]),
        (&json!("ada@example.com"), &json!("Ada Lovelace"))
    );
    assert_eq!(shop.call("remove-contact", &json!({ "contact_id": "ada" })).ok(), true);
    for call in ["remove-contact", "find-contact", "update-contact", "list-cards"] {
        let answer = shop.call(call, &json!({ "contact_id": id }));
        assert_eq!(answer.refused("NOT_FOUND"), json!({ "argument": "contact_id" }), "{call}");
    }
    assert_ne!(add(&shop, &ada()), id, "identifier, address and number are free");
}

#[test]
fn contact_data_of_another_contact_is_a_conflict_that_names_it() {
    let (_server, shop) = Server::with_shop();
    let id = add(&shop, &ada());
    let other = add(&shop, &json!({ "external_id": "grace" }));
    for argument in ["external_id", "contact_email", "contact_mobile"] {
        let taken = json!({ argument: ada()[argument] });
        let details = json!({ "argument": argument, "contact_id": id });
        assert_eq!(shop.call("add-contact", &taken).refused("CONFLICT"), details);
        let update = merged(&taken, &json!({ "contact_id": other }));
        assert_eq!(shop.call("update-contact", &update).refused("CONFLICT"), details);
    }
    assert_eq!(shop.call("add-contact", &json!({})).faults(), ["missing contact_email"]);
    let faulty = json!({ "external_id": id, "contact_email": "ada", "contact_name": "4242 4242 4242 4242" });
    let faults = shop.call("add-contact", &faulty).faults();
    assert_eq!(faults, ["invalid external_id", "invalid contact_email", "invalid contact_name"]);
}

#[test]
fn a_saved_card_is_found_listed_made_the_default_and_forgotten() {
    let (_server, shop) = Server::with_shop();
    let contact_id = add(&shop, &ada());
    let first = save(&shop, "ada", CARD, &json!({ "external_id": "visa" }));
    let second = save(&shop, &contact_id, OTHER_CARD, &json!({ "default": true }));
    let found = card(&shop, "visa");
    let expected = json!({
        "card_id": first, "external_id": "visa", "contact_id": contact_id, "scheme": "VISA", "first_digits": "424242",
        "last_digits": "4242", "expiration_date": "12/49", "cardholder_name": "Ada Example", "default": false,
        "created_at": found["created_at"], "deleted_at": null,
    });
    assert_eq!(found, expected);
    assert_eq!(cards(&shop, "ada"), [json!(second), json!(first)]);
    let page = shop.call("list-cards", &json!({ "contact_id": "ada", "per_page": 1 })).ok();
    assert_eq!(page["next"], json!({ "after": second, "per_page": 1, "contact_id": "ada" }));
    let set = json!({ "contact_id": "ada", "card_id": "visa" });
    assert_eq!(
        (shop.call("set-default-card", &set).ok(), shop.call("set-default-card", &set).ok()),
        (json!(true), json!(false))
    );
    assert_eq!(card(&shop, &first)["default"], true);
    assert_eq!((shop.call("forget-card", &set).ok(), cards(&shop, "ada")), (json!(true), vec![json!(second)]));
    assert_eq!(shop.contact("ada")["default_card_id"], json!(second), "the newest other one");
    let forgotten = card(&shop, &first);
    assert!(forgotten["deleted_at"].is_u64() && forgotten["cardholder_name"].is_null(), "{forgotten}");
    shop.call("find-card", &json!({ "card_id": "visa" })).refused("NOT_FOUND");
    let again = json!({ "contact_id": "ada", "card_id": first });
    assert_eq!(shop.call("forget-card", &again).ok(), false);
    shop.call("set-default-card", &again).refused("NOT_FOUND");
}

#[test]
fn a_forgotten_card_and_its_sessions_cannot_pay() {
    let (_server, shop) = Server::with_shop();
    add(&shop, &ada());
    let saved = save(&shop, "ada", CARD, &json!({}));
    let session = shop.saved_card_session(&saved, 100);
    shop.call("forget-card", &json!({ "contact_id": "ada", "card_id": saved })).ok();
    let answer = shop.initiate(&session, 100, &json!({ "customer_id": "ada" }));
    assert_eq!(answer.refused("NOT_FOUND"), json!({ "argument": "payment_session_id" }));
    shop.sdk("retrieve-payment-session", &json!({ "payment_session_id": session })).refused("NOT_FOUND");
    let unnamed = shop.session_with(100, &json!({}));
    let answer = shop.initiate(&unnamed, 100, &json!({ "card_id": saved }));
    assert_eq!(answer.refused("NOT_FOUND"), json!({ "argument": "card_id" }));
}

#[test]
fn a_token_is_saved_for_several_uses_only_and_a_known_card_once() {
    let (_server, shop) = Server::with_shop();
    let contact_id = add(&shop, &ada());
    let single = shop.token_of(CARD, "SINGLE");
    assert_eq!(shop.call("save-card", &json!({ "token": single, "contact_id": "ada" })).faults(), ["invalid token"]);
    let unknown = json!({ "token": id_of_nothing(&single), "contact_id": "ada" });
    assert_eq!(shop.call("save-card", &unknown).refused("NOT_FOUND"), json!({ "argument": "token" }));
    let saved = save(&shop, "ada", CARD, &json!({ "external_id": "visa" }));
    let renewed = json!({
        "number": CARD, "name": "Ada Example", "expiration_date": "11/48", "security_code": "123", "usage": "MULTIPLE",
    });
    let token = shop.sdk("tokenize-card", &renewed).id();
    let again = json!({ "token": token, "contact_id": contact_id });
    assert_eq!(shop.call("save-card", &again).id(), saved);
    assert_eq!((&card(&shop, &saved)["expiration_date"], cards(&shop, "ada").len()), (&json!("11/48"), 1));
    let other_name = merged(&again, &json!({ "external_id": "visa-2" }));
    let details = json!({ "argument": "external_id", "card_id": saved });
    assert_eq!(shop.call("save-card", &other_name).refused("CONFLICT"), details);
    let paid = shop.pay_with_token(CARD, &json!({ "customer_id": "ada", "save_card": "ADD" }));
    assert_eq!((&paid["status"], &card(&shop, &saved)["expiration_date"]), (&json!("SUCCESSFUL"), &json!("12/49")));
}

/// The values of the vault's rows of customers' keys, of a stopped server.
fn keys_of_customers(data: &Path) -> Vec<Vec<u8>> {
    let store = StoppedStore::open(&EngineOptions::new(data)).expect("it is stopped");
    let rows = store.scan(RowRange::forward(Family::Vault, &[], &[0xff; 40]), usize::MAX).expect("readable");
    let is_of_customer = |key: &[u8]| {
        matches!(VaultKey::decode(key), Some(VaultKey::SubjectKey { subject,
        .. }) if subject.kind == SubjectKind::Customer)
    };
    rows.into_iter().filter(|(key, _)| is_of_customer(key)).map(|(_, value)| value).collect()
}

/// The files below a directory that contain one of the texts.
fn files_with(directory: &Path, texts: &[&[u8]]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, texts));
        } else if let Ok(bytes) = fs::read(&path) {
            let has = |text: &&[u8]| bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text));
            if texts.iter().any(has) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_removed_contact_is_in_no_file_and_payments_stay() {
    let (mut server, shop) = Server::with_shop();
    let id = add(&shop, &ada());
    let card_id = save(&shop, "ada", CARD, &json!({ "default": true }));
    let paid = shop.pay_with(100, &json!({ "customer_id": "ada" }));
    assert_eq!(paid["customer_email"], "ada.lovelace@example.com");
    let payment_id = paid["payment_id"].as_str().expect("an id").to_owned();
    let pending = shop.initiate(&shop.session(100), 100, &json!({ "customer_id": "ada", "capture": false })).id();
    shop.settled(&pending);
    assert!(server.stop());
    let keys = keys_of_customers(server.data());
    assert_eq!(keys.len(), 1, "of the one customer");
    let shop = server.restart_with(&shop);
    // The actor has rows with the person in memory, which must not restore the person.
    shop.call("find-payment", &json!({ "payment_id": pending })).ok();
    shop.call("update-contact", &json!({ "contact_id": "ada", "contact_name": "Ada King Lovelace" })).ok();
    assert_eq!(shop.call("remove-contact", &json!({ "contact_id": "ada" })).ok(), true);
    shop.call("capture-payment", &json!({ "payment_id": pending })).ok();
    let sealed = [keys[0].as_slice()];
    // A file that is replaced during the search may be missed, so the search is repeated.
    std::thread::sleep(GATHERED);
    let files = || [files_with(server.data(), &sealed), files_with(server.data(), &sealed)].concat();
    first_answer(PURGE_PATIENCE, "the key is still there", files, Vec::is_empty);
    let shop = server.restart_with(&shop);
    let named: [&[u8]; 4] = [b"lovelace", b"66811112222", CARD.as_bytes(), &keys[0]];
    assert_eq!(files_with(server.data(), &named), Vec::<PathBuf>::new());
    for payment_id in [&payment_id, &pending] {
        let payment = shop.payment(payment_id);
        let person = ["customer_name", "customer_email", "customer_mobile"].map(|member| payment[member].clone());
        assert_eq!((person, &payment["amount"]), ([Value::Null, Value::Null, Value::Null], &json!(100)));
        assert_eq!(payment["customer_id"], json!(id));
    }
    shop.call("find-card", &json!({ "card_id": card_id })).refused("NOT_FOUND");
    assert!(server.stop());
    assert_eq!(keys_of_customers(server.data()), Vec::<Vec<u8>>::new());
    let verified = server.command().arg("verify").arg("--data").arg(server.data()).output().expect("it runs");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
