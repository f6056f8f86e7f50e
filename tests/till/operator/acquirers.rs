//! Accounts at acquirers, as far as they go without anybody who could be asked about a secret.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop, Start, entries_of, merged};

const SECRET: &str = "sk_test_EXAMPLE000000000000001234";
const OTHER: &str = "sk_test_EXAMPLE000000000000005678";
const LIVE: &str = "sk_live_EXAMPLE000000000000001234";
const OF_NOTICES: &str = "whsec_EXAMPLE0000000000000000";

fn merchant(server: &Server, more: &Value) -> String {
    let body = json!({ "name": "Shop", "currency": "THB" });
    server.admin("create-merchant", &merged(&body, more)).id()
}

/// Adds an account without trying its secret.
fn add(server: &Server, merchant: &str, more: &Value) -> ApiAnswer {
    let body = json!({
        "merchant_id": merchant, "acquirer": "stripe", "name": "Bangkok", "secret": SECRET, "unchecked": true,
    });
    server.admin("add-acquirer", &merged(&body, more))
}

fn about(server: &Server, endpoint: &str, merchant: &str, id: &str, more: &Value) -> ApiAnswer {
    server.admin(endpoint, &merged(&json!({ "merchant_id": merchant, "acquirer_id": id }), more))
}

fn configure(server: &Server, merchant: &str, acquirer: &str, more: &Value) -> ApiAnswer {
    let body = json!({
        "merchant_id": merchant, "payment_method": "CARD", "acquirer": acquirer, "enabled": true,
        "authorizes_without_capture": true,
    });
    server.admin("configure-payment-method", &merged(&body, more))
}

fn card_of(server: &Server, merchant: &str) -> Value {
    server.admin("find-merchant", &json!({ "merchant_id": merchant })).ok()["payment_methods"][0].clone()
}

#[test]
fn an_account_shows_everything_but_its_secrets() {
    let server = Start::default().with("TILL_PUBLIC_URL", "https://till.example").server();
    let merchant = merchant(&server, &json!({}));
    let id = add(&server, &merchant, &json!({ "webhook_secret": OF_NOTICES })).id();
    assert!(id.starts_with("acq_") && id.len() == 30, "{id}");
    let found = about(&server, "find-acquirer", &merchant, &id, &json!({})).ok();
    let expected = json!({
        "acquirer_id": id, "acquirer": "stripe", "name": "Bangkok", "mode": "TEST", "account": null,
        "card_entry": "PAGE", "secret_hint": "sk_test_...1234", "has_webhook_secret": true,
        "notices_url": format!("https://till.example/acquirers/{id}/notices"), "state": "READY",
        "state_since": found["created_at"], "last_answer_at": null, "created_at": found["created_at"],
    });
    assert_eq!(found, expected);
    let listed = server.admin("list-acquirers", &json!({ "merchant_id": merchant })).ok();
    assert_eq!(entries_of(&listed), &vec![found]);
}

#[test]
fn an_account_is_changed_and_removed() {
    let server = Server::start();
    let merchant = merchant(&server, &json!({}));
    let id = add(&server, &merchant, &json!({})).id();
    let update = |more: &Value| about(&server, "update-acquirer", &merchant, &id, more);
    assert_eq!(update(&json!({})).ok(), false);
    assert_eq!(update(&json!({ "name": "Phuket", "card_entry": "NUMBER" })).ok(), true);
    assert_eq!(update(&json!({ "secret": OTHER, "unchecked": true })).ok(), true);
    let found = about(&server, "find-acquirer", &merchant, &id, &json!({})).ok();
    assert_eq!((&found["name"], &found["card_entry"]), (&json!("Phuket"), &json!("NUMBER")));
    assert_eq!(found["secret_hint"], "sk_test_...5678");
    assert_eq!(update(&json!({ "secret": LIVE, "unchecked": true })).code(), "CONFLICT");
    assert_eq!(update(&json!({ "secret": OF_NOTICES, "unchecked": true })).faults(), ["invalid secret"]);
    assert_eq!(about(&server, "remove-acquirer", &merchant, &id, &json!({})).ok(), true);
    for endpoint in ["find-acquirer", "update-acquirer", "remove-acquirer"] {
        let details = about(&server, endpoint, &merchant, &id, &json!({})).refused("NOT_FOUND");
        assert_eq!(details["argument"], "acquirer_id", "{endpoint}");
    }
}

#[test]
fn a_secret_that_nobody_answers_for_is_not_taken_unless_asked() {
    let server = Server::start();
    let shop = merchant(&server, &json!({}));
    let unavailable = |answer: ApiAnswer| {
        assert_eq!((answer.status, answer.code()), (503, "UNAVAILABLE"), "{}", answer.body);
        assert_eq!(answer.details(), json!({ "outcome": "not_done" }));
    };
    unavailable(add(&server, &shop, &json!({ "unchecked": false })));
    let id = add(&server, &shop, &json!({})).id();
    let update = json!({ "secret": OTHER });
    unavailable(about(&server, "update-acquirer", &shop, &id, &update));
    let found = about(&server, "find-acquirer", &shop, &id, &json!({})).ok();
    assert_eq!(found["secret_hint"], "sk_test_...1234", "nothing was changed");
    // What the rules refuse is refused before anybody is asked.
    let clocked = merchant(&server, &json!({ "test_clock": true }));
    add(&server, &clocked, &json!({ "unchecked": false })).refused("NOT_SUPPORTED");
}

#[test]
fn a_repeated_call_adds_one_account() {
    let server = Server::start();
    let merchant = merchant(&server, &json!({}));
    let body = json!({
        "merchant_id": merchant, "acquirer": "stripe", "name": "A", "secret": SECRET, "unchecked": true,
    });
    let client = server.admin_client().idempotency_key("once");
    let id = client.post("/admin/add-acquirer", &body).id();
    assert_eq!(client.post("/admin/add-acquirer", &body).id(), id);
    let other = merged(&body, &json!({ "secret": OTHER }));
    client.post("/admin/add-acquirer", &other).refused("IDEMPOTENCY_KEY_REUSED");
}

#[test]
fn a_text_that_is_no_secret_of_the_acquirer_is_refused_and_not_repeated() {
    let server = Server::start();
    let merchant = merchant(&server, &json!({}));
    for secret in ["pk_test_EXAMPLE00000000000000", "sk_test_short", "sk_test_EXAMPLE 00000000000000", ""] {
        let answer = add(&server, &merchant, &json!({ "secret": secret }));
        assert_eq!(answer.faults(), ["invalid secret"], "{secret}");
        assert!(secret.is_empty() || !answer.body.to_string().contains(secret), "{}", answer.body);
    }
    assert_eq!(add(&server, &merchant, &json!({ "acquirer": "sandbox" })).faults(), ["invalid acquirer"]);
}

#[test]
fn a_method_is_configured_to_an_account_and_shows_it() {
    let server = Start::default().with("TILL_PUBLIC_URL", "http://till.example").server();
    let shop = merchant(&server, &json!({}));
    let id = add(&server, &shop, &json!({})).id();
    assert_eq!(card_of(&server, &shop)["acquirer"], "sandbox");
    assert_eq!(configure(&server, &shop, &id, &json!({})).ok(), true);
    assert_eq!(card_of(&server, &shop)["acquirer"], id);
    let details = about(&server, "remove-acquirer", &shop, &id, &json!({})).refused("INVALID_STATE");
    assert_eq!(details, json!({ "payment_method": "CARD" }));
    assert_eq!(
        configure(&server, &shop, &id, &json!({ "payment_method": "INSTALLMENT" })).faults(),
        ["invalid payment_method"]
    );
    configure(&server, &shop, "acq_01h455vb4pex5vsknk084sn02q", &json!({})).refused("NOT_FOUND");
    assert_eq!(configure(&server, &shop, "stripe", &json!({})).faults(), ["invalid acquirer"]);
    // Real money needs TLS, and no play money beside it.
    let real = merchant(&server, &json!({}));
    let id = add(&server, &real, &json!({ "secret": LIVE })).id();
    configure(&server, &real, &id, &json!({})).refused("INVALID_STATE");
    assert_eq!(configure(&server, &real, "sandbox", &json!({})).refused("INVALID_STATE"), json!({ "mode": "LIVE" }));
    assert_eq!(card_of(&server, &real)["enabled"], false);
    let server = Server::start();
    let shop = merchant(&server, &json!({}));
    let id = add(&server, &shop, &json!({})).id();
    configure(&server, &shop, &id, &json!({})).refused("INVALID_STATE");
}

#[test]
fn a_payment_waits_at_its_account_and_keeps_it() {
    let start = Start::default().with("TILL_PUBLIC_URL", "https://till.example");
    let (server, shop) = start.with("TILL_STRIPE_URL", "http://127.0.0.1:1").server_with_shop();
    let id = add(&server, &shop.merchant_id, &json!({})).id();
    configure(&server, &shop.merchant_id, &id, &json!({})).ok();
    let payment = shop.initiate(&shop.session_with(1_000, &json!({})), 1_000, &json!({})).id();
    assert_eq!(shop.payment(&payment)["status"], "PENDING", "nobody is there who could carry it out");
    shop.call("send-payout", &json!({ "amount": 1 })).refused("NOT_SUPPORTED");
    configure(&server, &shop.merchant_id, "sandbox", &json!({})).ok();
    let details = about(&server, "remove-acquirer", &shop.merchant_id, &id, &json!({})).refused("INVALID_STATE");
    assert_eq!(details["open_payments"], 1);
}

/// `till acquirer` with these options and this standard input.
fn command(server: &Server, options: &[&str], input: &str) -> Output {
    let mut command = server.command();
    command.arg("acquirer").args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary can be started");
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[test]
fn commands_read_secrets_from_standard_input_and_files() {
    let (server, shop): (Server, Shop) = Start::default().server_with_shop();
    let merchant = ["--merchant-id", shop.merchant_id.as_str()];
    let new =
        ["--acquirer", "stripe", "--name", "A", "--secret-file", "-", "--webhook-secret-file", "-", "--unchecked"];
    let added = command(&server, &[&["add"], &merchant[..], &new].concat(), &format!("{SECRET}\n{OF_NOTICES}\n"));
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let id = String::from_utf8(added.stdout).expect("text").trim().to_owned();
    let file = server.data().join("secret");
    std::fs::write(&file, format!("{OTHER}\n")).expect("a file");
    let path = file.display().to_string();
    let named = ["--acquirer-id", id.as_str()];
    let changed = ["--secret-file", path.as_str(), "--unchecked"];
    let updated = command(&server, &[&["update"], &merchant[..], &named, &changed].concat(), "");
    assert_eq!(String::from_utf8_lossy(&updated.stdout).trim(), "true");
    let found = command(&server, &[&["find"], &merchant[..], &named].concat(), "");
    let found: Value = serde_json::from_slice(&found.stdout).expect("JSON");
    assert_eq!((&found["secret_hint"], &found["has_webhook_secret"]), (&json!("sk_test_...5678"), &json!(true)));
}
