//! The header Idempotency-Key on every call that changes something: contract, section 8.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop, Start, id_of_nothing, merged};
use crate::valid_calls::{DescribedEndpoint, Fixture};

/// The lists to which a call that is done twice adds an entry.
const LISTS: [&str; 12] = [
    "list-payments",
    "list-checkouts",
    "list-refunds",
    "list-payouts",
    "list-topups",
    "list-disputes",
    "list-contacts",
    "list-metadata",
    "list-keys",
    "list-users",
    "list-user-invitations",
    "list-webhooks",
];

/// A server whose addresses stay the same when it starts again.
fn start() -> Fixture {
    Fixture::start(Start::default().with("TILL_PUBLIC_URL", "https://pay.example"))
}

/// The endpoints that change something under an Idempotency-Key.
fn keyed(fixture: &Fixture) -> Vec<&DescribedEndpoint> {
    let is_keyed = |endpoint: &&DescribedEndpoint| endpoint.declares("IDEMPOTENCY_KEY_REUSED");
    let keyed: Vec<&DescribedEndpoint> = fixture.endpoints.iter().filter(is_keyed).collect();
    assert!(keyed.len() > 50, "there are many");
    keyed
}

/// Calls with the same key for all endpoints: each endpoint has keys of its own.
fn named(fixture: &Fixture, path: &str, body: &Value) -> ApiAnswer {
    let (package, _) = path.split_once('/').expect("a package and an endpoint");
    fixture.client(package).idempotency_key("one-name-for-all").post(&format!("/{path}"), body)
}

#[test]
fn every_change_is_done_once_under_its_key_over_a_crash() {
    let mut fixture = start();
    let call = |endpoint: &DescribedEndpoint| {
        let (path, body) = (endpoint.path(), fixture.arguments(endpoint, &[]));
        let answer = named(&fixture, &path, &body);
        assert_eq!((answer.status, answer.header("idempotent-replayed")), (200, None), "{path}: {}", answer.body);
        (path, body, answer.body)
    };
    let calls: Vec<(String, Value, Value)> = keyed(&fixture).into_iter().map(call).collect();
    let is_repeated = |fixture: &Fixture| {
        for (path, body, first) in &calls {
            let again = named(fixture, path, body);
            assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), first), "{path}");
        }
    };
    let entries = |shop: &Shop| -> Vec<usize> {
        let is_of_the_team = |entry: &&Value| entry["object_type"].is_null();
        let of_the_team = shop.all("list-activity-logs").iter().filter(is_of_the_team).count();
        LISTS.map(|list| shop.all(list).len()).into_iter().chain([of_the_team]).collect()
    };
    let (before, other) = (entries(&fixture.shop), json!({ "merchant_id": fixture.object("@other@") }));
    fixture.server.admin("resume-merchant", &other).ok();
    is_repeated(&fixture);
    assert_eq!(entries(&fixture.shop), before, "nothing was done again");
    fixture.restart();
    is_repeated(&fixture);
    assert_eq!(entries(&fixture.shop), before, "nothing was done again");
    let initiated = calls.iter().find(|(path, ..)| path == "merchants/initiate-payment-flow").expect("it was called");
    fixture.shop.settled(initiated.2.as_str().expect("a payment"));
    fixture.settle();
    let history = fixture.shop.all("balance-history");
    for (kind, member) in [("PAYMENT", "payment_id"), ("REFUND", "refund_id")] {
        let entries: Vec<&Value> = history.iter().filter(|entry| entry["type"] == kind).collect();
        let objects: BTreeSet<&str> = entries.iter().filter_map(|entry| entry[member].as_str()).collect();
        assert!(objects.len() > 1 && entries.len() == objects.len(), "each {kind} is posted once: {entries:?}");
    }
    let found = fixture.server.admin("find-merchant", &other).ok();
    assert_eq!(found["suspended"], false, "it was suspended once, before it was resumed");
}

#[test]
fn every_change_refuses_another_body_under_the_same_key() {
    let fixture = start();
    for endpoint in keyed(&fixture).into_iter().filter(|endpoint| endpoint.package != "admin") {
        let (path, body) = (endpoint.path(), fixture.arguments(endpoint, &[]));
        named(&fixture, &path, &body).ok();
        let (name, value) = body
            .as_object()
            .and_then(|members| members.iter().find(|(name, value)| !is_judged_first(&endpoint.package, name, value)))
            .expect("an argument");
        let answer = named(&fixture, &path, &merged(&body, &json!({ name: another(value) })));
        assert_eq!(answer.refused("IDEMPOTENCY_KEY_REUSED"), Value::Null, "{path}");
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
        Value::String(text) if text == "SUPPORT" => json!("VIEWER"),
        Value::String(text) => json!(format!("{text}x")),
        Value::Number(_) => json!(7),
        other => panic!("no other value than {other}"),
    }
}

#[test]
fn a_key_is_1_to_255_characters_and_its_faults_join_the_others() {
    let fixture = start();
    for endpoint in keyed(&fixture) {
        let (path, body) = (format!("/{}", endpoint.path()), fixture.arguments(endpoint, &[]));
        let call = |key: &str, body: &Value| fixture.client(&endpoint.package).idempotency_key(key).post(&path, body);
        for wrong in ["", "a\tb", &"k".repeat(256)] {
            assert_eq!(call(wrong, &body).faults(), ["invalid Idempotency-Key"], "{path} under {wrong:?}");
            let both = call(wrong, &merged(&body, &json!({ "never_declared": 1 })));
            assert_eq!(both.faults(), ["unknown never_declared", "invalid Idempotency-Key"], "{path}");
        }
        call(&"k".repeat(255), &body).ok();
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
