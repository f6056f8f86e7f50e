//! Starts of a server whose log is in a database.

use std::time::Duration;

use serde_json::json;

use crate::harness::{EventReceiver, Manner, Start, directory, holds_within};

use super::postgres::Postgres;
use super::{begin_anew, database, fails, over};

#[test]
fn everything_is_there_again_without_the_data_directory() {
    let (_database, start) = database();
    let receiver = EventReceiver::start(Manner::Healthy);
    let (mut server, shop) = start.with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8").server_with_shop();
    let webhook = json!({ "name": "shop", "destination_url": receiver.url(), "events": ["*"] });
    shop.call("connect-webhook", &webhook).ok();
    let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let paid = shop.pay(1_000);
    shop.call("add-to-metadata-set", &json!({ "key": "tags", "path": "", "value": "kept" })).ok();
    let events = shop.all("list-events").len();
    assert!(holds_within(Duration::from_secs(20), || receiver.taken().len() == events), "{events} events");
    let (picture, requests) = (shop.picture(&[&paid, &customer]), receiver.requests());
    for _ in 0..2 {
        begin_anew(&mut server);
        let shop = shop.on(&server);
        assert_eq!(shop.picture(&[&paid, &customer]), picture);
    }
    let shop = shop.on(&server);
    let session = shop.saved_card_session(&card, 500);
    let again = shop.initiate(&session, 500, &json!({ "customer_email": "ada@example.com" })).id();
    assert_eq!(shop.settled(&again)["status"], "SUCCESSFUL", "the vault has the card");
    let arrived = || receiver.taken().len() == shop.all("list-events").len();
    assert!(holds_within(Duration::from_secs(20), arrived), "the deliveries go on");
    let more = shop.all("list-events").len() - events;
    assert_eq!(receiver.requests(), requests + more, "nothing that was delivered is delivered again");
}

/// The screen of a server whose database is away, as the operator reads it.
#[test]
fn the_screen_tells_where_the_log_is_and_that_nothing_can_be_written() {
    let (database, start) = database();
    let (server, shop) = start.with("TILL_JOURNAL_SECONDS_MAX", "1").server_with_shop();
    let found = || server.admin("status", &json!({})).ok();
    let before = found();
    assert_eq!((&before["state"], &before["journal"]["shards_held"]), (&json!("READY"), &json!(64)), "{before}");
    assert!(before["journal"]["server"].is_string(), "{before}");
    database.stop("immediate");
    assert_eq!(shop.call("invite-user", &json!({ "email": "ada@example.com" })).status, 503);
    let dark = found();
    let conditions = dark["conditions"].as_array().expect("a list");
    assert!(dark["state"] == "REFUSING_WRITES" && conditions.contains(&json!("TillWritesFail")), "{dark}");
    assert!(holds_within(Duration::from_secs(60), || found()["journal"]["server"].is_null()), "{}", found());
    database.run();
    let invited = || shop.call("invite-user", &json!({ "email": "bob@example.com" })).status == 200;
    assert!(holds_within(Duration::from_secs(60), invited));
    assert!(holds_within(Duration::from_secs(60), || found()["state"] == "READY"), "{}", found());
}

#[test]
fn each_host_that_cannot_be_used_is_named_with_its_reason() {
    let (database, _) = database();
    let address = format!("postgres://nobody@127.0.0.1:{},127.0.0.1:1/till", database.port());
    let start = over(database.port()).with("TILL_JOURNAL", &address);
    let data = directory();
    let said = fails(start.command(&data.path().join("data")), &["serve"]);
    assert!(said.contains("nobody") && said.contains("onnection refused"), "{said}");
}

#[test]
fn a_start_says_what_is_missing_in_the_database() {
    let database = Postgres::start();
    let data = directory();
    let data = data.path().join("data");
    let refused = |start: &Start| fails(start.command(&data), &["serve"]);
    let unreplicated = over(database.port());
    assert!(refused(&unreplicated).contains("there is no log in the schema till: run till journal migrate"));
    super::succeeds(unreplicated.command(&data), &["journal", "migrate"]);
    let replicated = unreplicated.clone().with("TILL_JOURNAL_UNREPLICATED", "false");
    let said = refused(&replicated);
    assert!(said.contains("runs with fsync = off") && said.contains("journal_unreplicated"), "{said}");
    let without_key = unreplicated.clone().without("TILL_VAULT_KEY");
    assert!(refused(&without_key).contains("set TILL_VAULT_KEY"), "a key in the directory would go with it");
    let archived = unreplicated.clone().with("TILL_ARCHIVE_DIRECTORY", "/archive");
    assert!(refused(&archived).contains("archive_directory: does not go with journal"));
    let address = format!("postgres://till:secret@127.0.0.1:{}/till", database.port());
    let said = refused(&unreplicated.clone().with("TILL_JOURNAL", &address));
    assert!(said.contains("the address has a password") && !said.contains("secret"), "{said}");
    database.stop("fast");
    assert!(refused(&unreplicated).contains("cannot be reached"));
}

#[test]
fn a_directory_is_used_with_its_own_log_only() {
    let (database, start) = database();
    let mut server = start.server();
    server.stop();
    let said = fails(Start::default().command(server.data()), &["serve"]);
    assert!(said.contains("repeats a log in a database: start with --journal"), "{said}");
    let other = start.clone().with("TILL_JOURNAL_SCHEMA", "other");
    super::succeeds(other.command(server.data()), &["journal", "migrate"]);
    let said = fails(other.command(server.data()), &["serve"]);
    assert!(said.contains("repeats another log") && said.contains("remove it"), "{said}");
    let mut embedded = Start::default().server();
    embedded.stop();
    let said = fails(start.command(embedded.data()), &["serve"]);
    assert!(said.contains("has a store with a log of its own"), "{said}");
    server.restart();
    drop(database);
}

#[test]
fn a_server_whose_log_is_claimed_ends() {
    let (_database, start) = database();
    let mut first = start.server();
    let shop = first.shop();
    let second = start.server();
    shop.call("invite-user", &json!({ "email": "ada@example.com" }));
    assert!(first.ended_by_itself(Duration::from_secs(10)));
    let status = first.ended().expect("it has ended");
    assert_eq!(status.code(), Some(3), "{status}");
    shop.on(&second).pay(700);
}

#[test]
fn a_start_that_is_refused_takes_the_log_from_nobody() {
    let (_database, start) = database();
    let (_server, shop) = start.server_with_shop();
    let another_key = start.clone().with("TILL_VAULT_KEY", &"5a".repeat(32));
    let (new, mut embedded) = (directory(), Start::default().server());
    embedded.stop();
    let said = fails(another_key.command(&new.path().join("data")), &["serve"]);
    assert!(said.contains("is wrapped under the key"), "{said}");
    let said = fails(start.command(embedded.data()), &["serve"]);
    assert!(said.contains("has a store with a log of its own"), "{said}");
    shop.pay(700);
}

#[test]
fn commands_that_the_database_stands_in_for_say_so() {
    let (_database, start) = database();
    let data = directory();
    for arguments in [
        &["checkpoint", "list"][..],
        &["archive", "list"],
        &["repair", "rows"],
        &["restore", "--from", "/checkpoint", "--to", "/data"],
    ] {
        let said = fails(start.command(data.path()), arguments);
        assert!(said.contains("the log is in a database"), "{arguments:?}: {said}");
    }
    let server = start.server();
    let answer = server.admin("create-checkpoint", &json!({}));
    assert_eq!(answer.status, 503);
    assert!(answer.body.to_string().contains("backed up instead"), "{}", answer.body);
}
