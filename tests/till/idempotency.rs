//! The header Idempotency-Key on every call that changes something: contract, section 8.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, CARD, Server, Shop, Start, dead_url, id_of_nothing};

/// A server whose webhooks may be on this machine, and whose addresses stay the same when it starts again.
fn start() -> Server {
    let allowed = Start::default().with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8");
    allowed.with("TILL_PUBLIC_URL", "https://pay.example").server()
}

/// Every call of a merchant and of a device that changes something, with valid arguments.
fn calls(shop: &Shop) -> Vec<(&'static str, &'static str, Value)> {
    let joined = |email: &str| {
        let invitation = shop.call("invite-user", &json!({ "email": email })).id();
        shop.call("accept-invitation", &json!({ "invitation_id": invitation })).id()
    };
    let invitation = shop.call("invite-user", &json!({ "email": "eve@shop.example" })).id();
    let key = || shop.call("generate-key", &json!({ "name": "Spare" })).ok()["key_id"].clone();
    let plan = shop.call("list-plans", &json!({})).ok()[1]["plan_id"].clone();
    shop.call("sync-metadata", &json!({ "key": "old", "metadata": { "l": [1] } })).ok();
    shop.call("sync-metadata", &json!({ "key": "gone", "metadata": 1 })).ok();
    let selection =
        json!({ "amount": 100, "currency": "THB", "payment_method": "CARD", "token": shop.token_of(CARD, "SINGLE") });
    let webhook = json!({ "name": "Shop", "destination_url": dead_url(), "events": ["PAYMENT_EXPIRED"] });
    let connected = || shop.call("connect-webhook", &webhook).ok()["webhook_id"].clone();
    let stopped = connected();
    shop.call("disconnect-webhook", &json!({ "webhook_id": stopped })).ok();
    // The payment settles at once, so that the balance covers a payout.
    shop.settled(&shop.initiate(&shop.session_of("4000000000000077", 100), 100, &json!({})).id());
    let contact = || shop.call("add-contact", &json!({ "contact_name": "Ada" })).id();
    let card = || {
        let contact_id = contact();
        let token = shop.token_of(CARD, "MULTIPLE");
        let card_id = shop.call("save-card", &json!({ "token": token, "contact_id": contact_id })).id();
        json!({ "contact_id": contact_id, "card_id": card_id })
    };
    let authorized = || shop.pay_with(100, &json!({ "capture": false }))["payment_id"].clone();
    let checkout = json!({
        "installation_id": shop.installation_id, "amount": 100, "currency": "THB",
        "return_url": "https://shop.example/done",
    });
    let started = || {
        let url = shop.call("start-checkout", &checkout).id();
        json!({ "checkout_id": url.rsplit('/').next().expect("a segment") })
    };
    // The acquirer declines the card, so that the payment has no entry.
    let declined = json!({ "payment_method": "CARD", "token": shop.token_of("4000000000009995", "SINGLE") });
    // The payment is disputed as soon as it is captured.
    let disputed = || {
        shop.settled(&shop.initiate(&shop.session_of("4000000000000259", 100), 100, &json!({})).id());
        shop.call("list-disputes", &json!({})).ok()["page"][0]["dispute_id"].clone()
    };
    vec![
        ("merchants", "initiate-payment-flow", shop.initiation(&shop.session(100), 100)),
        ("merchants", "capture-payment", json!({ "payment_id": authorized() })),
        ("merchants", "void-payment", json!({ "payment_id": authorized() })),
        ("merchants", "reverse-payment", json!({ "payment_id": shop.pay(100) })),
        ("merchants", "refund-payment", json!({ "payment_id": shop.pay(100) })),
        ("merchants", "challenge-dispute", json!({ "dispute_id": disputed(), "evidence": "winning_evidence" })),
        ("merchants", "concede-dispute", json!({ "dispute_id": disputed() })),
        ("merchants", "send-payout", json!({ "amount": 1 })),
        ("merchants", "add-contact", json!({ "contact_email": "new@example.com" })),
        ("merchants", "update-contact", json!({ "contact_id": contact(), "contact_name": "Grace" })),
        ("merchants", "remove-contact", json!({ "contact_id": contact() })),
        ("merchants", "save-card", json!({ "token": shop.token_of(CARD, "MULTIPLE"), "contact_id": contact() })),
        ("merchants", "set-default-card", card()),
        ("merchants", "forget-card", card()),
        ("merchants", "add-to-metadata-set", json!({ "key": "new", "path": "l", "value": 1 })),
        ("merchants", "remove-from-metadata-set", json!({ "key": "old", "path": "l", "value": 1 })),
        ("merchants", "sync-metadata", json!({ "key": "synced", "metadata": { "a": 1 } })),
        ("merchants", "delete-metadata", json!({ "key": "gone" })),
        ("merchants", "generate-key", json!({ "name": "New" })),
        ("merchants", "update-key", json!({ "key_id": key(), "name": "Renamed" })),
        ("merchants", "revoke-key", json!({ "key_id": key() })),
        ("merchants", "invite-user", json!({ "email": "ada@shop.example" })),
        ("merchants", "accept-invitation", json!({ "invitation_id": invitation })),
        ("merchants", "remove-user", json!({ "user_id": joined("bob@shop.example") })),
        ("merchants", "select-plan", json!({ "plan_id": plan })),
        ("merchants", "connect-webhook", webhook.clone()),
        ("merchants", "update-webhook", json!({ "webhook_id": connected(), "name": "Renamed" })),
        ("merchants", "disconnect-webhook", json!({ "webhook_id": connected() })),
        ("merchants", "reconnect-webhook", json!({ "webhook_id": stopped })),
        ("merchants", "rotate-webhook-secret", json!({ "webhook_id": connected() })),
        ("merchants", "redeliver-webhook", json!({ "webhook_id": connected(), "since": 0 })),
        ("merchants", "test-webhook", json!({ "webhook_id": connected() })),
        ("merchants", "start-checkout", checkout.clone()),
        ("merchants", "expire-checkout", started()),
        ("sdk", "pay-checkout", shop.named(&crate::harness::merged(&started(), &declined))),
        ("sdk", "select-payment-method", shop.named(&selection)),
        ("sdk", "cancel-payment-session", shop.named(&json!({ "payment_session_id": shop.session(100) }))),
    ]
}

/// Calls with the same key for all endpoints: each endpoint has keys of its own.
fn named(shop: &Shop, (package, endpoint, body): &(&str, &str, Value)) -> ApiAnswer {
    shop.client().idempotency_key("one-name-for-all").post(&format!("/{package}/{endpoint}"), body)
}

/// The endpoints that declare an Idempotency-Key.
fn declared(server: &Server) -> BTreeSet<String> {
    let mut declared = BTreeSet::new();
    for package in ["merchants", "sdk"] {
        let document = server.client().get(&format!("/{package}")).ok();
        for endpoint in document["endpoints"].as_array().expect("endpoints") {
            let errors = endpoint["errors"].as_array().expect("errors");
            if errors.iter().any(|error| error["code"] == "IDEMPOTENCY_KEY_REUSED") {
                declared.insert(format!("{package}/{}", endpoint["name"].as_str().expect("a name")));
            }
        }
    }
    declared
}

#[test]
fn every_change_is_done_once_under_its_key_over_a_crash() {
    let mut server = start();
    let shop = server.shop();
    let calls = calls(&shop);
    let listed: BTreeSet<String> = calls.iter().map(|(package, endpoint, _)| format!("{package}/{endpoint}")).collect();
    assert_eq!(declared(&server), listed, "this test must call each endpoint that takes a key");
    let first: Vec<ApiAnswer> = calls.iter().map(|call| named(&shop, call)).collect();
    for (answer, call) in first.iter().zip(&calls) {
        assert_eq!((answer.status, answer.header("idempotent-replayed")), (200, None), "{call:?}: {}", answer.body);
    }
    let is_repeated = |shop: &Shop| {
        for (answer, call) in first.iter().zip(&calls) {
            let again = named(shop, call);
            assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &answer.body), "{call:?}");
        }
    };
    is_repeated(&shop);
    let activity = shop.all("list-activity-logs");
    let shop = server.restart_with(&shop);
    is_repeated(&shop);
    let later = shop.all("list-activity-logs");
    let of_the_team = |entries: &[Value]| entries.iter().filter(|entry| entry["object_type"].is_null()).count();
    assert_eq!(of_the_team(&later), of_the_team(&activity), "nothing was done again");
    shop.settled(first[0].body.as_str().expect("a payment"));
    let kinds = |kind: &str| shop.all("balance-history").iter().filter(|entry| entry["type"] == kind).count();
    assert_eq!((kinds("PAYMENT"), kinds("REFUND")), (7, 1), "six captures of before, and the one of the call");
}

#[test]
fn every_change_refuses_another_body_under_the_same_key() {
    let server = start();
    let shop = server.shop();
    for call in calls(&shop) {
        named(&shop, &call).ok();
        let (package, endpoint, mut body) = call;
        let members = body.as_object_mut().expect("an object");
        let (name, value) =
            members.iter().find(|(name, value)| !is_judged_first(package, name, value)).expect("an argument");
        let (name, other) = (name.clone(), another(value));
        members.insert(name, other);
        let answer = named(&shop, &(package, endpoint, body));
        assert_eq!(answer.refused("IDEMPOTENCY_KEY_REUSED"), Value::Null, "{endpoint}");
    }
}

/// True for what names the caller, and for what a device's call is judged by before its key: the address of a checkout
/// and the payment method.
fn is_judged_first(package: &str, name: &str, value: &Value) -> bool {
    let is_reference = value.as_str().is_some_and(|text| text.starts_with("chk_") && text.contains('.'));
    match name {
        "merchant_id" | "installation_id" => true,
        "checkout_id" => package == "sdk" && is_reference,
        _ => name == "payment_method",
    }
}

/// Another value of the same form.
fn another(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains('@') => json!(format!("x{text}")),
        Value::String(text) if text.len() == 30 && text.as_bytes()[3] == b'_' => json!(id_of_nothing(text)),
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => json!(format!("{text}0")),
        Value::String(text) => json!(format!("{text}x")),
        Value::Number(_) => json!(7),
        other => panic!("no other value than {other}"),
    }
}

#[test]
fn a_key_is_1_to_255_characters_and_its_faults_join_the_others() {
    let server = start();
    let shop = server.shop();
    for (package, endpoint, body) in calls(&shop) {
        let path = format!("/{package}/{endpoint}");
        for wrong in ["", "a\tb", &"k".repeat(256)] {
            let answer = shop.client().idempotency_key(wrong).post(&path, &body);
            assert_eq!(answer.faults(), ["invalid Idempotency-Key"], "{endpoint} under {wrong:?}");
            let unknown = crate::harness::merged(&body, &json!({ "never_declared": 1 }));
            let both = shop.client().idempotency_key(wrong).post(&path, &unknown);
            assert_eq!(both.faults(), ["unknown never_declared", "invalid Idempotency-Key"], "{endpoint}");
        }
        shop.client().idempotency_key(&"k".repeat(255)).post(&path, &body).ok();
    }
}

#[test]
fn a_key_may_have_spaces_inside_and_is_trimmed() {
    let (_server, shop) = Server::with_shop();
    let body = shop.initiation(&shop.session(100), 100);
    let initiate = |key: &str| shop.client().idempotency_key(key).post("/merchants/initiate-payment-flow", &body);
    let payment = initiate("order 1, first try").id();
    let again = initiate("  order 1, first try ");
    assert_eq!((again.header("idempotent-replayed"), again.body.as_str()), (Some("true"), Some(&*payment)));
    initiate("order 1,  first try").refused("NOT_FOUND");
}

#[test]
fn a_key_belongs_to_its_merchant() {
    let (_server, shop, other) = Server::with_shops();
    let initiate = |shop: &Shop| {
        let body = shop.initiation(&shop.session(100), 100);
        shop.client().idempotency_key("order-1").post("/merchants/initiate-payment-flow", &body)
    };
    let (own, foreign) = (initiate(&shop), initiate(&other));
    assert_eq!(foreign.header("idempotent-replayed"), None);
    assert_ne!(foreign.id(), own.id());
}
