//! `till journal import`, `export` and `verify`.

use serde_json::{Value, json};

use crate::harness::{Server, Start, directory};

use super::{begin_anew, database, fails, succeeds};

/// The records of every merchant, as `till export` writes the log.
fn exported_log(server: &Server, start: &Start) -> Vec<String> {
    let to = directory();
    let to = to.path().join("export");
    let arguments = ["export", "--what", "log", "--to", to.to_str().expect("ASCII")];
    succeeds(start.command(server.data()), &arguments);
    let log = std::fs::read_to_string(to.join("log.jsonl")).expect("it was written");
    let without_commit = |line: &str| {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        record.as_object_mut().expect("an object").remove("commit");
        record.to_string()
    };
    log.lines().map(without_commit).collect()
}

#[test]
fn a_store_is_imported_served_and_exported_with_the_same_log() {
    let embedded = Start::default();
    let (mut server, shop) = embedded.server_with_shop();
    let other = server.shop();
    let paid = shop.pay(1_000);
    other.pay(2_000);
    let (customer, _) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let picture = shop.picture(&[&paid, &customer]);
    assert!(server.stop());
    let before = exported_log(&server, &embedded);
    let (_database, start) = database();
    succeeds(start.command(server.data()), &["journal", "import"]);
    assert!(fails(start.command(server.data()), &["journal", "import"]).contains("start with --journal"));
    let mut served = start.server_in(server.data());
    assert_eq!(shop.on(&served).picture(&[&paid, &customer]), picture, "with the directory as it was");
    begin_anew(&mut served);
    assert_eq!(shop.on(&served).picture(&[&paid, &customer]), picture, "without it");
    shop.on(&served).pay(3_000);
    assert!(served.stop());
    let verified = succeeds(start.command(served.data()), &["journal", "verify"]);
    assert!(verified.contains("lines of the sandbox's book"), "{verified}");
    assert!(!verified.contains(" 0 lines of the sandbox's book"), "the book is compared, too: {verified}");
    succeeds(start.command(served.data()), &["verify"]);
    let here = exported_log(&served, &start);
    assert!(here.len() > before.len() && before.iter().all(|record| here.contains(record)));
    let back = directory();
    let back = back.path().join("data");
    succeeds(start.command(&back), &["journal", "export"]);
    let mut back = embedded.server_in(&back);
    assert_eq!(shop.on(&back).all("list-payments").len(), 3);
    assert!(back.stop());
    assert_eq!(exported_log(&back, &embedded), here, "equal logs");
    succeeds(embedded.command(back.data()), &["verify"]);
    let refused = fails(start.command(served.data()), &["serve"]);
    assert!(refused.contains("an embedded store was made of the log"), "{refused}");
    succeeds(start.command(served.data()), &["journal", "export", "--undo"]);
    served.restart();
}

#[test]
fn a_copy_beside_a_running_server_is_read_and_starts_paused() {
    let (_database, start) = database();
    let (_server, shop) = start.server_with_shop();
    let paid = shop.pay(1_000);
    shop.settled(&paid);
    let place = directory();
    let copy = place.path().join("copy");
    succeeds(start.command(&copy), &["journal", "export", "--copy"]);
    let embedded = Start::default();
    let records = succeeds(embedded.command(&copy), &["inspect", &shop.merchant_id, "--payment", &paid]);
    assert!(records.contains(&paid), "{records}");
    shop.pay(500);
    assert_eq!(embedded.server_in(&copy).metric("till_effects_paused"), Some(1.0));
}

#[test]
fn an_import_needs_an_empty_log() {
    let (_database, start) = database();
    let server = start.server();
    server.shop();
    let mut embedded = Start::default().server();
    embedded.shop();
    embedded.stop();
    let said = fails(start.command(embedded.data()), &["journal", "import"]);
    assert!(said.contains("is not empty"), "{said}");
    embedded.restart();
}
