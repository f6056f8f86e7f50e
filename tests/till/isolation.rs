//! To a merchant, an object of another merchant looks exactly like one that does not exist.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, CARD, Server, Shop, id_of_nothing, merged};
use crate::sdk::SESSION_ENDPOINTS;

/// A merchant with one object of every kind.
struct Rich {
    shop: Shop,
    payment: String,
    customer: String,
    card: String,
    token: String,
    session: String,
    used_session: String,
    entry: String,
    activity: String,
}

impl Rich {
    fn new(server: &Server) -> Rich {
        let shop = server.shop();
        let (customer, card) = shop.saved_card(&json!({ "customer_id": "ada", "customer_email": "ada@example.com" }));
        let paid = shop.pay_with(100, &json!({ "external_id": "order-1" }));
        let text = |value: &Value| value.as_str().expect("an id").to_owned();
        Rich {
            payment: text(&paid["payment_id"]),
            used_session: text(&paid["payment_session_id"]),
            token: shop.token_of(CARD, "MULTIPLE"),
            session: shop.session(100),
            entry: text(&shop.all("balance-history")[0]["entry_id"]),
            activity: text(&shop.all("list-activity-logs")[0]["activity_log_id"]),
            customer,
            card,
            shop,
        }
    }
}

/// Checks that the answer to a foreign id is the same as that to an unknown one: status, code, message and details.
#[track_caller]
fn assert_same(foreign: &str, call: impl Fn(&str) -> ApiAnswer) -> ApiAnswer {
    let (of_foreign, of_nothing) = (call(foreign), call(&id_of_nothing(foreign)));
    assert_eq!((of_foreign.status, &of_foreign.body), (of_nothing.status, &of_nothing.body), "{foreign}");
    of_foreign
}

/// Two merchants: the owner of the objects, and the one that calls.
fn owner_and_other(server: &Server) -> (Rich, Shop) {
    let owner = Rich::new(server);
    let other = server.shop();
    other.pay(100);
    (owner, other)
}

#[test]
fn a_payment_of_another_merchant_cannot_be_found() {
    let (_server, (owner, other)) = Server::with(owner_and_other);
    assert_same(&owner.payment, |id| other.call("find-payment", &json!({ "payment_id": id }))).refused("NOT_FOUND");
    let external = other.call("find-payment", &json!({ "payment_id": "order-1" }));
    let nothing = other.call("find-payment", &json!({ "payment_id": "order-0" }));
    assert_eq!((&external.body, external.status), (&nothing.body, nothing.status));
}

#[test]
fn a_customer_of_another_merchant_cannot_be_found_or_named() {
    let (_server, (owner, other)) = Server::with(owner_and_other);
    assert_same(&owner.customer, |id| other.call("find-contact", &json!({ "contact_id": id }))).refused("NOT_FOUND");
    let (external, nothing) = ("ada", "bob");
    let find = |id: &str| other.call("find-contact", &json!({ "contact_id": id }));
    assert_eq!(find(external).body, find(nothing).body);
    let session = other.session(100);
    assert_same(&owner.customer, |id| other.initiate(&session, 100, &json!({ "customer_id": id })))
        .refused("NOT_FOUND");
    let selected =
        |id: &str| other.session_with(100, &json!({ "token": other.token_of(CARD, "SINGLE"), "customer_id": id }));
    assert_same(&owner.customer, |id| other.initiate(&selected(id), 100, &json!({}))).refused("NOT_FOUND");
    let (_, card) = other.saved_card(&json!({ "customer_email": "own@example.com" }));
    let session = other.saved_card_session(&card, 100);
    assert_same(&owner.customer, |id| other.initiate(&session, 100, &json!({ "customer_id": id })))
        .refused("NOT_FOUND");
    assert_ne!(
        other.pay_with(100, &json!({ "customer_email": "ada@example.com" }))["customer_id"],
        json!(owner.customer)
    );
}

#[test]
fn a_session_of_another_merchant_cannot_be_used_or_seen() {
    let (_server, (owner, other)) = Server::with(owner_and_other);
    for session in [&owner.session, &owner.used_session] {
        assert_same(session, |id| other.initiate(id, 100, &json!({}))).refused("NOT_FOUND");
        for endpoint in SESSION_ENDPOINTS {
            assert_same(session, |id| other.sdk(endpoint, &json!({ "payment_session_id": id }))).refused("NOT_FOUND");
        }
    }
    assert_eq!(owner.shop.payment_session(&owner.session)["status"], "ACTIVE");
}

#[test]
fn a_card_of_another_merchant_cannot_be_selected_or_paid_with() {
    let (_server, (owner, other)) = Server::with(owner_and_other);
    let selection = |id: &str| json!({ "amount": 100, "currency": "THB", "payment_method": "CARD", "card_id": id });
    assert_same(&owner.card, |id| other.sdk("select-payment-method", &selection(id))).refused("NOT_FOUND");
    let session = other.session_with(100, &json!({}));
    for more in [json!({}), json!({ "customer_email": "ada@example.com" }), json!({ "customer_id": "ada" })] {
        let pay = |id: &str| other.initiate(&session, 100, &merged(&more, &json!({ "card_id": id })));
        assert_same(&owner.card, pay).refused("NOT_FOUND");
    }
}

#[test]
fn a_token_of_another_merchant_cannot_be_selected() {
    let (_server, (owner, other)) = Server::with(owner_and_other);
    let selection = |id: &str| json!({ "amount": 100, "currency": "THB", "payment_method": "CARD", "token": id });
    assert_same(&owner.token, |id| other.sdk("select-payment-method", &selection(id))).refused("NOT_FOUND");
    let single = owner.shop.token_of(CARD, "SINGLE");
    assert_same(&single, |id| other.sdk("select-payment-method", &selection(id))).refused("NOT_FOUND");
    owner.shop.sdk("select-payment-method", &selection(&single)).id();
    assert_same(&single, |id| other.sdk("select-payment-method", &selection(id))).refused("NOT_FOUND");
}

#[test]
fn a_token_may_be_selected_by_any_installation_of_its_merchant() {
    let (server, shop) = Server::with_shop();
    let add = json!({ "merchant_id": shop.merchant_id, "name": "App", "platform": "IOS", "identifier": "th.example" });
    let app = json!({ "installation_id": server.admin("add-installation", &add).id() });
    let token = shop.token_of(CARD, "SINGLE");
    let selection = json!({ "amount": 100, "currency": "THB", "payment_method": "CARD", "token": token });
    let session = shop.sdk("select-payment-method", &merged(&selection, &app)).id();
    shop.sdk("select-payment-method", &selection).refused("TOKEN_ALREADY_USED");
    let paid = shop.settled(&shop.initiate(&session, 100, &json!({})).id());
    assert_eq!((&paid["status"], &paid["card"]["last_digits"]), (&json!("SUCCESSFUL"), &json!("4242")));
}

#[test]
fn an_installation_is_unknown_under_another_merchant() {
    let (_server, (owner, other)) = Server::with(owner_and_other);
    let session = json!({ "payment_session_id": owner.session });
    let card =
        json!({ "number": CARD, "name": "A", "expiration_date": "12/49", "security_code": "123", "usage": "SINGLE" });
    let selection = json!({ "amount": 100, "currency": "THB", "payment_method": "CARD", "token": owner.token });
    for (endpoint, body) in [
        ("retrieve-installation-settings", &json!({})),
        ("list-installment-plans", &json!({})),
        ("tokenize-card", &card),
        ("select-payment-method", &selection),
        ("check-status", &session),
        ("discover-next-action", &session),
        ("retrieve-payment-session", &session),
    ] {
        let under = |name: &str, id: &str| other.sdk(endpoint, &merged(body, &json!({ name: id })));
        assert_same(&owner.shop.installation_id, |id| under("installation_id", id)).refused("NOT_FOUND");
        let not_theirs = under("merchant_id", &owner.shop.merchant_id).refused("NOT_FOUND");
        assert_eq!(not_theirs, json!({ "argument": "installation_id" }), "a merchant's id is no secret");
    }
}

#[test]
fn a_foreign_cursor_is_only_a_time_and_reveals_nothing() {
    let (_server, (owner, other)) = Server::with(owner_and_other);
    for (endpoint, cursor) in [("balance-history", &owner.entry), ("list-activity-logs", &owner.activity)] {
        for name in ["after", "before"] {
            let page = assert_same(cursor, |id| beside_named(other.call(endpoint, &json!({ name: id })), id)).ok();
            let all = other.all(endpoint);
            assert!(page["page"].as_array().expect("a page").iter().all(|entry| all.contains(entry)));
        }
    }
}

/// The answer with a placeholder for the cursor directly beside the one of the call: a page without entries leads back
/// by it, and it reveals nothing that the caller did not send.
fn beside_named(mut answer: ApiAnswer, asked: &str) -> ApiAnswer {
    for (neighbour, cursor) in [("previous", "before"), ("next", "after")] {
        let found = answer.body[neighbour][cursor].as_str();
        if found.is_some_and(|found| found[..found.len() - 5] == asked[..asked.len() - 5]) {
            answer.body[neighbour][cursor] = json!("beside the one that was asked for");
        }
    }
    answer
}

#[test]
fn lists_and_the_balance_are_the_merchants_own() {
    let (server, owner) = Server::with(Rich::new);
    let before = owner.shop.picture(&[&owner.payment, &owner.customer, &owner.session]);
    let other = server.shop();
    assert_eq!((other.all("balance-history").len(), other.all("list-activity-logs").len()), (0, 0));
    assert_eq!(other.balance(), json!({ "currency": "THB", "available": 0, "pending": 0 }));
    other.pay_with(700, &json!({ "external_id": "order-1", "customer_id": "ada", "customer_name": "Eve" }));
    assert_eq!(other.balance()["pending"], 700);
    assert_eq!(owner.shop.picture(&[&owner.payment, &owner.customer, &owner.session]), before);
}

#[test]
fn an_operators_call_does_not_reach_another_merchants_key() {
    let (server, (owner, other)) = Server::with(owner_and_other);
    let revoke = |id: &str| server.admin("revoke-key", &json!({ "merchant_id": other.merchant_id, "key_id": id }));
    assert_same(&owner.shop.key_id, revoke).refused("NOT_FOUND");
    owner.shop.balance();
}

#[test]
fn an_external_id_taken_by_another_merchant_is_free_here() {
    let (_server, (owner, other)) = Server::with(owner_and_other);
    let paid = other.pay_with(100, &json!({ "external_id": "order-1" }));
    assert_ne!(paid["payment_id"], json!(owner.payment));
    assert_eq!(other.payment("order-1"), paid);
}
