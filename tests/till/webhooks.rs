//! Merchants connect, change and stop webhooks: contract, section 11.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop, Stage, Start, merged};

/// The arguments that connect a webhook.
fn connection() -> Value {
    json!({ "name": "Orders", "destination_url": "https://shop.example/events", "events": ["*"] })
}

/// Connects a webhook, and returns the answer.
fn connect(shop: &Shop, more: &Value) -> ApiAnswer {
    shop.call("connect-webhook", &merged(&connection(), more))
}

/// Connects a webhook, and returns its id.
fn connected(shop: &Shop) -> Value {
    json!({ "webhook_id": connect(shop, &json!({})).ok()["webhook_id"] })
}

fn found(shop: &Shop, webhook: &Value) -> Value {
    shop.call("find-webhook", &json!({ "webhook_id": webhook["webhook_id"] })).ok()
}

/// The message of the fault of one argument.
#[track_caller]
fn fault(answer: &ApiAnswer, argument: &str) -> String {
    assert_eq!(answer.faults(), [format!("invalid {argument}")], "{}", answer.body);
    answer.details()[0]["message"].as_str().expect("a message").to_owned()
}

#[test]
fn a_webhook_shows_every_member_through_its_changes() {
    let (stage, shop) = Stage::with_shop("2025-04-01T00:00:00Z");
    let events = json!(["refund_completed", "PAYMENT_COMPLETED"]);
    let made = connect(&shop, &json!({ "events": events })).ok();
    let webhook = json!({ "webhook_id": made["webhook_id"] });
    let as_connected = json!({
        "webhook_id": made["webhook_id"], "name": "Orders", "destination_url": "https://shop.example/events",
        "events": ["PAYMENT_COMPLETED", "REFUND_COMPLETED"], "api_version": "2025-04-01",
        "signature_header": "X-Webhook-Signature", "status": "CONNECTED", "created_at": stage.now(),
        "disabled_at": null,
    });
    assert_eq!(found(&shop, &webhook), as_connected);
    stage.pass_seconds(60);
    let changes = json!({
        "name": "Bookkeeping", "destination_url": "https://books.example/till?shop=1", "events": ["*"],
        "signature_header": "X-Books",
    });
    let update = |more: &Value| shop.call("update-webhook", &merged(&webhook, more)).ok();
    assert_eq!((update(&json!({})), update(&changes), update(&changes)), (json!(false), json!(true), json!(false)));
    let changed = merged(&as_connected, &changes);
    assert_eq!(found(&shop, &webhook), changed);
    let does = |endpoint: &str| shop.call(endpoint, &webhook).ok();
    assert_eq!((does("reconnect-webhook"), does("disconnect-webhook")), (json!(false), json!(true)));
    assert_eq!(found(&shop, &webhook), merged(&changed, &json!({ "status": "DISCONNECTED" })));
    assert_eq!((does("disconnect-webhook"), does("reconnect-webhook")), (json!(false), json!(true)));
    assert_eq!(found(&shop, &webhook), changed);
}

#[test]
fn webhooks_are_listed_newest_first_and_a_disconnected_one_too() {
    let (_server, shop, other) = Server::with_shops();
    let webhooks: Vec<Value> = (0..3).map(|_| connected(&shop)).collect();
    shop.call("disconnect-webhook", &webhooks[1]).ok();
    let newest_first: Vec<Value> = webhooks.iter().rev().map(|webhook| found(&shop, webhook)).collect();
    assert_eq!((shop.all("list-webhooks"), other.all("list-webhooks").len()), (newest_first.clone(), 0));
    let first = shop.call("list-webhooks", &json!({ "per_page": 2 })).ok();
    assert_eq!(first["page"], json!(newest_first[..2]));
    assert_eq!(shop.call("list-webhooks", &first["next"]).ok()["page"], json!(newest_first[2..]));
}

#[test]
fn a_secret_is_shown_only_by_its_own_call_and_its_repetition() {
    let (mut server, shop) = Server::with_shop();
    let connect =
        |shop: &Shop| shop.client().idempotency_key("orders").post("/merchants/connect-webhook", &connection());
    let first = connect(&shop).ok();
    let text = |member: &str| first[member].as_str().expect("a text").to_owned();
    let (secret, public_key) = (text("secret"), text("public_key"));
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "the Base64 of 32 bytes: {secret}");
    assert!(public_key.starts_with("whpk_") && public_key.len() == 49, "the Base64 of 32 bytes: {public_key}");
    let shop = server.restart_with(&shop);
    let again = connect(&shop);
    assert_eq!((again.header("idempotent-replayed"), again.clone().ok()), (Some("true"), first.clone()));
    let shown = shop.call("list-webhooks", &json!({})).ok().to_string() + &found(&shop, &first).to_string();
    assert!(!shown.contains(&secret[6..]) && !shown.contains(&public_key[5..]), "{shown}");
    let other = self::connect(&shop, &json!({})).ok();
    assert_ne!((&other["webhook_id"], &other["secret"]), (&first["webhook_id"], &first["secret"]));
    assert_ne!(other["public_key"], first["public_key"]);
}

#[test]
fn a_rotation_gives_a_new_secret_and_the_old_ones_end() {
    let (stage, shop) = Stage::with_shop("2025-04-01T00:00:00Z");
    let key = |name: &str| shop.client().idempotency_key(name);
    let first = key("orders").post("/merchants/connect-webhook", &connection()).ok();
    let webhook = json!({ "webhook_id": first["webhook_id"] });
    let rotate = |name: &str| key(name).post("/merchants/rotate-webhook-secret", &webhook);
    let rotated = rotate("april").ok();
    let members: Vec<&String> = rotated.as_object().expect("an object").keys().collect();
    assert_eq!(members, ["previous_expires_at", "public_key", "secret"]);
    assert_eq!(rotated["previous_expires_at"], stage.now() + 86_400);
    assert_ne!((&rotated["secret"], &rotated["public_key"]), (&first["secret"], &first["public_key"]));
    stage.pass_seconds(10);
    let again = rotate("april");
    assert_eq!((again.header("idempotent-replayed"), again.clone().ok()), (Some("true"), rotated.clone()));
    let connected_again = key("orders").post("/merchants/connect-webhook", &connection()).ok();
    assert_eq!(connected_again["secret"], rotated["secret"], "the one that signs by now");
    let may = rotate("may").ok();
    assert_ne!(may["secret"], rotated["secret"]);
    assert_eq!(may["previous_expires_at"], stage.now() + 86_400);
}

#[test]
fn an_internal_address_and_one_without_https_are_refused() {
    let (_server, shop) = Server::with_shop();
    for (address, message) in [
        ("http://shop.example/events", "must begin with https://"),
        ("ftp://shop.example/events", "must begin with https://"),
        ("shop.example/events", "must be an absolute URL"),
        ("https://ada@shop.example/events", "must not have a user name or a password"),
        ("https://shop.example/events#top", "must not have a fragment"),
        ("https://0.0.0.0/", "must not lead to the unspecified address"),
        ("https://0.1.2.3/", "must not lead to an address of \"this network\""),
        ("https://10.1.2.3/", "must not lead to a private address"),
        ("https://[fd12:3456:789a::1]/", "must not lead to a private address"),
        ("https://100.64.0.1/", "must not lead to an address of carrier-grade NAT"),
        ("https://127.0.0.1:8443/", "must not lead to a loopback address"),
        ("https://localhost/", "must not lead to a loopback address"),
        ("https://0x7f000001/", "must not lead to a loopback address"),
        ("https://[::ffff:127.0.0.1]/", "must not lead to a loopback address"),
        ("https://169.254.1.1/", "must not lead to a link-local address"),
        ("https://[fec0::1]/", "must not lead to a site-local address"),
        ("https://169.254.169.254/latest/meta-data", "must not lead to a metadata service of a cloud"),
        ("https://192.0.2.1/", "must not lead to an address for documentation"),
        ("https://198.18.0.1/", "must not lead to an address for benchmarking"),
        ("https://224.0.0.1/", "must not lead to a multicast address"),
        ("https://255.255.255.255/", "must not lead to the broadcast address"),
        ("https://240.0.0.1/", "must not lead to a reserved address"),
    ] {
        let answer = connect(&shop, &json!({ "destination_url": address }));
        let refusal = fault(&answer, "destination_url");
        assert!(refusal.starts_with(message), "{address}: {refusal}");
    }
    let long = format!("https://shop.example/{}", "a".repeat(2_048));
    let answer = connect(&shop, &json!({ "destination_url": long }));
    assert_eq!(fault(&answer, "destination_url"), "must be at most 2048 bytes");
    assert_eq!(shop.all("list-webhooks").len(), 0);
    let webhook = connected(&shop);
    let inside = merged(&webhook, &json!({ "destination_url": "https://127.0.0.1/" }));
    let refusal = fault(&shop.call("update-webhook", &inside), "destination_url");
    assert!(refusal.starts_with("must not lead to a loopback address; the operator may allow"), "{refusal}");
}

#[test]
fn an_allowed_network_gets_deliveries_without_tls_too() {
    let (_server, shop) =
        Start::default().with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8,10.1.0.0/16").server_with_shop();
    for address in ["http://127.0.0.1:8080/events", "https://10.1.2.3/", "http://localhost/", "https://shop.example/"] {
        let made = connect(&shop, &json!({ "destination_url": address })).ok();
        assert_eq!(found(&shop, &made)["destination_url"], address);
    }
    for (address, message) in [
        ("https://10.2.0.1/", "must not lead to a private address"),
        ("http://8.8.8.8/", "must not lead to an address outside of the allowed networks, which takes https"),
    ] {
        let refusal = fault(&connect(&shop, &json!({ "destination_url": address })), "destination_url");
        assert!(refusal.starts_with(message), "{address}: {refusal}");
    }
}

#[test]
fn at_most_fifty_webhooks_are_connected_at_a_time() {
    let (_server, shop) = Server::with_shop();
    let webhooks: Vec<Value> = (0..50).map(|_| connected(&shop)).collect();
    let one_more = connect(&shop, &json!({}));
    assert_eq!(one_more.refused("CONFLICT"), json!({ "limit": 50 }));
    shop.call("disconnect-webhook", &webhooks[7]).ok();
    connected(&shop);
    assert_eq!(shop.call("reconnect-webhook", &webhooks[7]).refused("CONFLICT"), json!({ "limit": 50 }));
    assert_eq!(shop.all("list-webhooks").len(), 51);
}

#[test]
fn a_suspended_merchant_may_only_stop_webhooks_and_rotate() {
    let (server, shop) = Server::with_shop();
    let webhook = connected(&shop);
    server.admin("suspend-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    connect(&shop, &json!({})).refused("MERCHANT_SUSPENDED");
    shop.call("update-webhook", &merged(&webhook, &json!({ "name": "Other" }))).refused("MERCHANT_SUSPENDED");
    assert!(shop.call("rotate-webhook-secret", &webhook).ok()["secret"].is_string());
    assert_eq!(shop.call("disconnect-webhook", &webhook).ok(), true);
    shop.call("reconnect-webhook", &webhook).refused("MERCHANT_SUSPENDED");
    assert_eq!(found(&shop, &webhook)["status"], "DISCONNECTED");
}
