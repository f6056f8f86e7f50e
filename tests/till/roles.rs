//! What each role may call, what masked callers are shown, and how roles are given.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Client, Server, Shop, entries_of, ids_of, merged};

const ROLES: [&str; 4] = ["OWNER", "DEVELOPER", "SUPPORT", "VIEWER"];

/// The cells of the table of roles, in the order of the roles, with the calls that each row is about. `limit` is for a
/// caller with a refund limit.
const TABLE: [(&str, &str); 9] = [
    (
        "yes yes yes yes",
        "find-payment list-payments find-refund list-refunds list-refunds-by-payment find-dispute list-disputes \
            find-checkout list-checkouts list-activity-logs list-entries-by-payment find-event find-contact \
            list-contacts find-card list-cards list-users list-user-invitations",
    ),
    (
        "yes - - yes",
        "get-balance balance-history find-topup list-topups list-statements find-statement \
            retrieve-statement-document find-payout list-payouts",
    ),
    (
        "yes - yes -",
        "capture-payment void-payment challenge-dispute add-contact update-contact save-card set-default-card \
            forget-card",
    ),
    ("yes - limit -", "refund-payment reverse-payment concede-dispute"),
    (
        "yes yes - -",
        "initiate-payment-flow add-to-metadata-set remove-from-metadata-set sync-metadata delete-metadata \
            retrieve-metadata list-metadata connect-webhook update-webhook disconnect-webhook reconnect-webhook \
            rotate-webhook-secret test-webhook redeliver-webhook find-webhook list-webhooks list-webhook-deliveries \
            list-events list-keys find-key update-key revoke-key",
    ),
    ("yes yes yes -", "start-checkout expire-checkout"),
    (
        "yes - - -",
        "send-payout remove-contact generate-key invite-user accept-invitation update-user remove-user \
        reset-user-credentials",
    ),
    ("yes yes - yes", "list-plans retrieve-current-plan"),
    ("yes - - -", "select-plan"),
];

/// Calls that are open to everybody about a payment, so that they are judged by their body.
const JUDGED_BY_BODY: [&str; 2] = ["balance-history", "list-events"];

/// A client with a key of a role.
fn key_of(server: &Server, shop: &Shop, role: &str, more: &Value) -> Client {
    let made = shop.call("generate-key", &merged(&json!({ "name": role, "role_id": role }), more)).ok();
    server.client().bearer(made["key"].as_str().expect("its text"))
}

fn call(client: &Client, endpoint: &str, body: &Value) -> ApiAnswer {
    client.post(&format!("/merchants/{endpoint}"), body)
}

fn cells() -> impl Iterator<Item = (&'static str, usize, &'static str)> {
    let row = |(cells, calls): &(&'static str, &'static str)| {
        let (cells, calls) = (*cells, *calls);
        let of_call = move |call| cells.split(' ').enumerate().map(move |(role, cell)| (call, role, cell));
        calls.split_whitespace().flat_map(of_call).collect::<Vec<_>>()
    };
    TABLE.iter().flat_map(row)
}

#[test]
fn the_table_of_roles_has_every_call_that_takes_a_key() {
    let (server, _) = Server::with_shop();
    let document = server.client().get("/merchants").ok();
    let takes_key = |endpoint: &&Value| endpoint["bearer_auth"] == true;
    let endpoints = document["endpoints"].as_array().expect("a list").iter().filter(takes_key);
    let declared: BTreeSet<&str> = endpoints.filter_map(|endpoint| endpoint["name"].as_str()).collect();
    let listed: BTreeSet<&str> = cells().map(|(call, ..)| call).collect();
    assert_eq!(listed, declared);
}

#[test]
fn every_call_is_open_to_its_roles_alone() {
    let (server, shop) = Server::with_shop();
    let plain = ROLES.map(|role| key_of(&server, &shop, role, &json!({})));
    let limited = key_of(&server, &shop, "SUPPORT", &json!({ "refund_limit": 100 }));
    for (endpoint, role, cell) in cells() {
        let is_open = |client: &Client, body: &[u8]| {
            client.post_bytes(&format!("/merchants/{endpoint}"), body).code() != "FORBIDDEN"
        };
        assert_eq!(is_open(&plain[role], b"{}"), cell == "yes", "{endpoint} as {}", ROLES[role]);
        if !JUDGED_BY_BODY.contains(&endpoint) {
            assert_eq!(is_open(&plain[role], b"["), cell == "yes", "{endpoint} as {}, before the body", ROLES[role]);
        }
        if ROLES[role] == "SUPPORT" {
            assert_eq!(is_open(&limited, b"{}"), cell != "-", "{endpoint} with a limit");
        }
    }
}

#[test]
fn a_refused_call_names_the_roles_that_may() {
    let (server, shop) = Server::with_shop();
    let viewer = key_of(&server, &shop, "VIEWER", &json!({}));
    let refused = call(&viewer, "capture-payment", &json!({}));
    assert_eq!(refused.refused("FORBIDDEN"), json!({ "role_id": "VIEWER", "roles": ["OWNER", "SUPPORT"] }));
    assert!(refused.message().contains("OWNER, SUPPORT"), "{}", refused.message());
    let problem =
        viewer.clone().header("Accept", "application/problem+json").post("/merchants/send-payout", &json!({}));
    assert_eq!((problem.status, &problem.body["code"]), (403, &json!("FORBIDDEN")));
    let unlimited = key_of(&server, &shop, "SUPPORT", &json!({}));
    let refused = call(&unlimited, "refund-payment", &json!({}));
    assert!(refused.message().contains("without a refund_limit"), "{}", refused.message());
    let pipeline = json!({ "steps": [{ "url": "/merchants/generate-key", "body": { "name": "x" } }], "returns": "$" });
    call(&viewer, "pipeline", &pipeline).refused("FORBIDDEN");
    assert_eq!(shop.all("list-keys").len(), 3, "no key was made");
}

#[test]
fn what_is_about_a_payment_is_open_to_everybody_who_looks_at_payments() {
    let (server, shop) = Server::with_shop();
    let payment = shop.pay(10_000);
    shop.call("send-payout", &json!({ "amount": 1 })).refused("INSUFFICIENT_BALANCE");
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 100 })).ok();
    shop.call("send-payout", &json!({ "amount": 1 })).ok();
    let events = loop {
        let events = shop.all("list-events");
        if events.len() == 2 {
            break events;
        }
    };
    let body = json!({ "payment_id": payment });
    for role in ["SUPPORT", "VIEWER"] {
        let client = key_of(&server, &shop, role, &json!({}));
        assert_eq!(ids_of(&call(&client, "list-events", &body).ok(), "event_id").len(), 1);
        call(&client, "find-event", &json!({ "event_id": events[1]["event_id"] })).ok();
        call(&client, "find-event", &json!({ "event_id": events[0]["event_id"] })).refused("FORBIDDEN");
        let entries = call(&client, "balance-history", &body).ok();
        assert_eq!(entries, merged(&call(&client, "list-entries-by-payment", &body).ok(), &json!({})));
        assert!(!entries_of(&entries).is_empty());
    }
}

/// The members of an answer that are about a person, in every object of it.
fn persons(answer: &Value) -> Vec<&Value> {
    const MEMBERS: [&str; 7] =
        ["customer_email", "customer_mobile", "customer_name", "email", "mobile", "name", "cardholder_name"];
    let shown = if answer["page"].is_array() { entries_of(answer).iter().collect() } else { vec![answer] };
    shown.into_iter().flat_map(|object| MEMBERS.iter().filter_map(|member| object.get(member))).collect()
}

#[test]
fn customers_are_masked_for_developers_and_viewers() {
    let (server, shop) = Server::with_shop();
    let person =
        json!({ "customer_email": "ada@shop.example", "customer_mobile": "+66812345678", "customer_name": "Ada" });
    let (contact, card) = shop.saved_card(&person);
    let checkout = shop.start_checkout(100, &person);
    let payments = shop.all("list-payments");
    let looks = [
        ("find-payment", json!({ "payment_id": payments[0]["payment_id"] })),
        ("list-payments", json!({})),
        ("list-payments", json!({ "contact_id": contact })),
        ("find-contact", json!({ "contact_id": contact })),
        ("list-contacts", json!({})),
        ("find-card", json!({ "card_id": card })),
        ("list-cards", json!({ "contact_id": contact })),
        ("find-checkout", json!({ "checkout_id": checkout.rsplit('/').next() })),
        ("list-checkouts", json!({})),
    ];
    for (role, is_masked) in [("DEVELOPER", true), ("SUPPORT", false), ("VIEWER", true)] {
        let client = key_of(&server, &shop, role, &json!({}));
        for (endpoint, body) in &looks {
            let (answer, in_full) = (call(&client, endpoint, body).ok(), shop.call(endpoint, body).ok());
            assert!(
                !persons(&in_full).is_empty() && persons(&in_full).iter().all(|value| !value.is_null()),
                "{in_full}"
            );
            assert_eq!(persons(&answer).len(), persons(&in_full).len());
            let hidden = persons(&answer).iter().all(|value| value.is_null());
            assert_eq!(hidden, is_masked, "{endpoint} as {role}: {answer}");
            assert!(
                !is_masked || !answer.to_string().contains("Ada") && !answer.to_string().contains("ada@"),
                "{answer}"
            );
        }
        let found =
            |terms: &str| ids_of(&call(&client, "list-payments", &json!({ "terms": terms })).ok(), "payment_id");
        assert_eq!(found("ada@shop.example").is_empty(), is_masked, "{role}");
        assert_eq!(found("4242").len(), 1, "{role}");
    }
}

#[test]
fn the_address_of_a_checkout_is_told_to_those_who_may_start_one() {
    let (server, shop) = Server::with_shop();
    let address = shop.start_checkout(100, &json!({ "external_id": "order-1" }));
    let body = json!({ "checkout_id": "order-1" });
    for (role, is_told) in [("OWNER", true), ("DEVELOPER", true), ("SUPPORT", true), ("VIEWER", false)] {
        let client = key_of(&server, &shop, role, &json!({}));
        let expected = if is_told { json!(address) } else { Value::Null };
        assert_eq!(call(&client, "find-checkout", &body).ok()["url"], expected, "{role}");
        assert_eq!(entries_of(&call(&client, "list-checkouts", &json!({})).ok())[0]["url"], expected, "{role}");
    }
    shop.call("expire-checkout", &body).ok();
    assert_eq!(entries_of(&shop.call("list-checkouts", &json!({})).ok())[0]["url"], Value::Null, "it is over");
}

#[test]
fn a_key_tells_its_role_to_merchant_and_operator() {
    let (server, shop) = Server::with_shop();
    let made = json!({ "name": "Desk", "role_id": "SUPPORT", "refund_limit": "500" });
    let key_id = shop.call("generate-key", &made).ok()["key_id"].clone();
    let body = json!({ "key_id": key_id });
    let of_merchant = json!({ "merchant_id": shop.merchant_id });
    for found in [
        shop.call("find-key", &body).ok(),
        shop.all("list-keys").remove(0),
        server.admin("find-key", &body).ok(),
        entries_of(&server.admin("list-keys", &of_merchant).ok())[0].clone(),
    ] {
        assert_eq!((&found["role_id"], &found["refund_limit"]), (&json!("SUPPORT"), &json!(500)), "{found}");
    }
    let first = shop.call("find-key", &json!({ "key_id": shop.key_id })).ok();
    assert_eq!((&first["role_id"], &first["refund_limit"]), (&json!("OWNER"), &Value::Null));
    let limit = json!({ "name": "x", "role_id": "VIEWER", "refund_limit": 1 });
    assert_eq!(shop.call("generate-key", &limit).faults(), ["invalid refund_limit"]);
    let by_operator = merged(&of_merchant, &json!({ "name": "Books", "role_id": "VIEWER" }));
    let key = server.admin("generate-key", &by_operator).ok()["key"].clone();
    call(&server.client().bearer(key.as_str().expect("its text")), "send-payout", &json!({})).refused("FORBIDDEN");
}

#[test]
fn a_refund_above_the_limit_is_refused_and_one_within_it_is_made() {
    let (server, shop) = Server::with_shop();
    let desk = key_of(&server, &shop, "SUPPORT", &json!({ "refund_limit": 500 }));
    let refund = |minor: u64| call(&desk, "refund-payment", &json!({ "payment_id": "order-1", "amount": minor }));
    let payment = shop.pay_with(10_000, &json!({ "external_id": "order-1" }));
    assert_eq!(refund(10_001).refused("AMOUNT_EXCEEDS_LIMIT")["limit"], json!(10_000));
    assert_eq!(refund(501).refused("FORBIDDEN"), json!({ "roles": ["OWNER"], "limit": 500 }));
    call(&desk, "reverse-payment", &json!({ "payment_id": payment["payment_id"] })).refused("FORBIDDEN");
    refund(500).id();
}

#[test]
fn members_are_invited_with_a_role_that_an_owner_changes() {
    let (server, shop) = Server::with_shop();
    let invited = json!({ "merchant_id": shop.merchant_id, "email": "ada@shop.example", "role_id": "OWNER" });
    let invitation = server.admin("invite-user", &invited).id();
    let listed = &shop.all("list-user-invitations")[0];
    assert_eq!((&listed["role_id"], &listed["inviter_id"]), (&json!("OWNER"), &Value::Null));
    let ada = shop.call("accept-invitation", &json!({ "invitation_id": invitation })).id();
    let bob = shop.join("bob@shop.example");
    let seat = |user: &str| {
        let users = shop.all("list-users");
        let user = users.iter().find(|listed| listed["user_id"] == user).expect("it is listed");
        (user["role_id"].clone(), user["refund_limit"].clone())
    };
    assert_eq!((seat(&ada), seat(&bob)), ((json!("OWNER"), Value::Null), (json!("VIEWER"), Value::Null)));
    let update = |user: &str, more: Value| shop.call("update-user", &merged(&json!({ "user_id": user }), &more));
    assert_eq!(update(&bob, json!({ "role_id": "SUPPORT", "refund_limit": "500" })).ok(), json!(true));
    assert_eq!(seat(&bob), (json!("SUPPORT"), json!(500)));
    assert_eq!(update(&bob, json!({ "refund_limit": 500 })).ok(), json!(false));
    assert_eq!(update(&bob, json!({ "refund_limit": "none" })).ok(), json!(true));
    assert_eq!(seat(&bob), (json!("SUPPORT"), Value::Null));
    assert_eq!(update(&bob, json!({ "role_id": "VIEWER", "refund_limit": 1 })).faults(), ["invalid refund_limit"]);
    assert_eq!(update(&bob, json!({ "refund_limit": "all", "role_id": "ADMIN" })).faults().len(), 2);
    update(&ada, json!({ "role_id": "VIEWER" })).refused("INVALID_STATE");
    shop.call("remove-user", &json!({ "user_id": ada })).refused("INVALID_STATE");
    server
        .admin("invite-user", &merged(&invited, &json!({ "merchant_id": "mer_01h455vb4pex5vsknk084sn02q" })))
        .refused("NOT_FOUND");
}
