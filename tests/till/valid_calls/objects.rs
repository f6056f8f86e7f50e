//! The objects of the fixture: the placeholder of each, what makes it, and whether a call can still use it.

use serde_json::{Value, json};

use super::fixture::Fixture;
use crate::harness::{ApiAnswer, CARD, entries_of, ids_of, merged};
use crate::pages::browser::{by_method, challenged, enable};

/// A placeholder, the function that makes its object, and the one that says whether the object is not used up.
type FixtureObject = (&'static str, fn(&Fixture) -> String, fn(&Fixture, &str) -> bool);

pub(super) static OBJECTS: [FixtureObject; 42] = [
    ("@merchant@", |it| it.shop.merchant_id.clone(), always),
    ("@other@", |it| merchant(it, &json!({ "name": "Other" })), always),
    ("@fresh-merchant@", |it| merchant(it, &json!({ "name": "Fresh" })), never),
    ("@with-acquirers@", |it| merchant(it, &json!({ "name": "With accounts" })), always),
    ("@acquirer@", acquirer, has_acquirer),
    ("@spare-acquirer@", acquirer, has_acquirer),
    ("@tested@", |it| merchant(it, &json!({ "name": "Tested", "test_clock": true })), always),
    ("@soon@", soon, never),
    ("@installation@", |it| it.shop.installation_id.clone(), always),
    ("@spare-installation@", spare_installation, |it, id| {
        let newest = about_merchant(it, "list-installations", &json!({ "per_page": 100 })).ok();
        ids_of(&newest, "installation_id").iter().any(|known| known == id)
    }),
    ("@key@", |it| text(&about_merchant(it, "generate-key", &json!({ "name": "Spare" })).ok()["key_id"]), always),
    ("@topup@", |it| about_merchant(it, "add-topup", &json!({ "amount": 900_000_000_009_u64 })).id(), always),
    ("@payment@", |it| text(&it.shop.pay_with(500, &json!({ "external_id": "order-1" }))["payment_id"]), always),
    ("@held-payment@", held_payment, |it, id| it.shop.payment(id)["capturable"] == true),
    ("@taken-payment@", |it| it.shop.pay(10_000), |it, id| it.shop.payment(id)["reversible"] == true),
    ("@session@", |it| it.shop.session(10_000), is_active),
    ("@bare-session@", |it| it.shop.session_with(10_000, &json!({})), is_active),
    ("@installment-session@", |it| it.shop.installment_session(10_000, "merchant"), is_active),
    ("@used-session@", |it| text(&it.shop.payment(&it.object("@payment@"))["payment_session_id"]), always),
    ("@checkout@", checkout, |it, id| has_status(it, "checkout", id, "OPEN")),
    ("@refund@", refund, always),
    ("@waiting-refund@", waiting_refund, |it, id| has_status(it, "refund", id, "PENDING")),
    ("@payout@", |it| it.shop.call("send-payout", &json!({ "amount": 100, "external_id": "out-1" })).id(), always),
    ("@waiting-payout@", waiting_payout, |it, id| has_status(it, "payout", id, "PENDING")),
    ("@dispute@", decided_dispute, always),
    ("@open-dispute@", open_dispute, |it, id| has_status(it, "dispute", id, "OPEN")),
    ("@customer@", |it| it.shop.saved_card(&json!({ "customer_email": "ada@shop.example" })).0, is_contact),
    ("@card@", card, |it, id| {
        let found = it.shop.call("find-card", &json!({ "card_id": id }));
        found.status == 200 && found.body["deleted_at"].is_null()
    }),
    ("@spare-contact@", |it| it.shop.call("add-contact", &json!({ "contact_name": "Spare" })).id(), is_contact),
    // A token ends with the card that is saved of it.
    ("@token@", |it| it.shop.token_of(CARD, "MULTIPLE"), never),
    ("@used-token@", used_token, always),
    (
        "@user@",
        |it| it.shop.join(&format!("user-{}@shop.example", it.fresh())),
        |it, id| it.shop.all("list-users").iter().any(|user| user["user_id"] == id),
    ),
    ("@invitation@", invitation, |it, id| {
        let is_open = |invitation: &Value| invitation["invitation_id"] == id && invitation["status"] == "PENDING";
        it.shop.all("list-user-invitations").iter().any(is_open)
    }),
    ("@plan@", |it| text(&it.shop.call("list-plans", &json!({})).ok()[1]["plan_id"]), always),
    ("@other-plan@", |it| text(&it.shop.call("list-plans", &json!({})).ok()[2]["plan_id"]), always),
    ("@webhook@", webhook, |it, id| has_status(it, "webhook", id, "CONNECTED")),
    ("@stopped-webhook@", stopped_webhook, |it, id| has_status(it, "webhook", id, "DISCONNECTED")),
    ("@event@", |it| newest(it, "list-events", "event_id"), always),
    ("@activity@", |it| newest(it, "list-activity-logs", "activity_log_id"), always),
    ("@entry@", |it| newest(it, "balance-history", "entry_id"), always),
    ("@cart@", |it| record(it, "sync-metadata", &json!({ "key": "cart", "metadata": { "tags": ["a"] } })), is_record),
    ("@basket@", |it| record(it, "add-to-metadata-set", &json!({ "key": "basket", "value": "b" })), is_record),
];

/// Payments whose customers are asked to act. They end after some minutes.
pub(super) static ASKED: [FixtureObject; 3] = [
    (
        "@asked-payment@",
        |it| challenged(&it.shop, &json!({})).payment,
        |it, id| has_status(it, "payment", id, "PENDING"),
    ),
    ("@asked-session@", |it| challenged(&it.shop, &json!({})).session, always),
    ("@scanned-session@", scanned_session, always),
];

const fn always(_: &Fixture, _: &str) -> bool {
    true
}

const fn never(_: &Fixture, _: &str) -> bool {
    false
}

fn is_active(it: &Fixture, session: &str) -> bool {
    it.shop.payment_session(session)["status"] == "ACTIVE"
}

fn is_contact(it: &Fixture, contact_id: &str) -> bool {
    it.shop.call("find-contact", &json!({ "contact_id": contact_id })).status == 200
}

fn is_record(it: &Fixture, key: &str) -> bool {
    it.shop.call("retrieve-metadata", &json!({ "key": key })).status == 200
}

/// True when an object of this kind has this status.
fn has_status(it: &Fixture, kind: &str, id: &str, status: &str) -> bool {
    it.shop.call(&format!("find-{kind}"), &json!({ format!("{kind}_id"): id })).ok()["status"] == status
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}")).to_owned()
}

fn scanned_session(it: &Fixture) -> String {
    enable(&it.server, &it.shop, "PROMPTPAY");
    by_method(&it.shop, "PROMPTPAY").session
}

/// The newest entry of a list.
fn newest(it: &Fixture, list: &str, id: &str) -> String {
    text(&entries_of(&it.shop.call(list, &json!({})).ok())[0][id])
}

/// Calls an operator's endpoint about the merchant.
fn about_merchant(it: &Fixture, endpoint: &str, more: &Value) -> ApiAnswer {
    it.server.admin(endpoint, &merged(&json!({ "merchant_id": it.shop.merchant_id }), more))
}

fn merchant(it: &Fixture, more: &Value) -> String {
    it.server.admin("create-merchant", &merged(&json!({ "currency": "THB" }), more)).id()
}

/// An account at an acquirer.
fn acquirer(it: &Fixture) -> String {
    let account = json!({ "merchant_id": it.object("@with-acquirers@"), "acquirer": "stripe", "name": "A",
        "secret": "sk_test_EXAMPLE000000000000000000", "unchecked": true });
    it.server.admin("add-acquirer", &account).id()
}

fn has_acquirer(it: &Fixture, id: &str) -> bool {
    let named = json!({ "merchant_id": it.object("@with-acquirers@"), "acquirer_id": id });
    it.server.admin("find-acquirer", &named).status == 200
}

/// An hour from now by the clock of a merchant.
fn soon(it: &Fixture) -> String {
    let found = it.server.admin("find-merchant", &json!({ "merchant_id": it.object("@tested@") })).ok();
    (found["test_clock"]["now"].as_u64().expect("a time") + 3_600).to_string()
}

/// An installation that no client uses.
fn spare_installation(it: &Fixture) -> String {
    about_merchant(it, "add-installation", &json!({ "name": "A", "platform": "IOS", "identifier": "a.b" })).id()
}

/// A payment that is authorized and not captured.
fn held_payment(it: &Fixture) -> String {
    text(&it.shop.pay_with(10_000, &json!({ "capture": false }))["payment_id"])
}

/// An open checkout: the last segment of its address.
fn checkout(it: &Fixture) -> String {
    it.shop.start_checkout(10_000, &json!({})).rsplit('/').next().expect("a segment").to_owned()
}

/// A refund of a payment of its own.
fn refund(it: &Fixture) -> String {
    it.shop.call("refund-payment", &json!({ "payment_id": it.shop.pay(100), "external_id": "return-1" })).id()
}

/// A refund that waits for the operator.
fn waiting_refund(it: &Fixture) -> String {
    let payment = it.shop.initiate(&it.shop.session_of("4000000000007726", 100), 100, &json!({})).id();
    it.shop.settled(&payment);
    it.shop.call("refund-payment", &json!({ "payment_id": payment })).id()
}

/// A payout that the operator ends, as all of such amounts.
fn waiting_payout(it: &Fixture) -> String {
    it.shop.call("send-payout", &json!({ "amount": 198 })).id()
}

/// A dispute about a payment of its own.
fn open_dispute(it: &Fixture) -> String {
    about_merchant(it, "open-dispute", &json!({ "payment_id": it.shop.pay(100) })).id()
}

fn decided_dispute(it: &Fixture) -> String {
    let id = open_dispute(it);
    about_merchant(it, "close-dispute", &json!({ "dispute_id": id, "outcome": "WON" })).ok();
    id
}

/// A saved card of the customer.
fn card(it: &Fixture) -> String {
    let body = json!({ "token": it.shop.token_of(CARD, "MULTIPLE"), "contact_id": it.object("@customer@") });
    it.shop.call("save-card", &body).id()
}

fn used_token(it: &Fixture) -> String {
    let token = it.shop.token_of(CARD, "SINGLE");
    it.shop.session_with(10, &json!({ "token": token }));
    token
}

fn invitation(it: &Fixture) -> String {
    it.shop.call("invite-user", &json!({ "email": format!("invited-{}@shop.example", it.fresh()) })).id()
}

/// A webhook whose deliveries fail at once, because its address refuses connections. A merchant may have 50 that are
/// connected: most of them are disconnected before.
fn webhook(it: &Fixture) -> String {
    let all = it.shop.all("list-webhooks");
    for other in all.iter().filter(|webhook| webhook["status"] == "CONNECTED").skip(40) {
        it.shop.call("disconnect-webhook", &json!({ "webhook_id": other["webhook_id"] })).ok();
    }
    let events = ["PAYMENT_EXPIRED"];
    let body = json!({ "name": "A", "destination_url": "http://127.0.0.1:1/events", "events": events });
    text(&it.shop.call("connect-webhook", &body).ok()["webhook_id"])
}

fn stopped_webhook(it: &Fixture) -> String {
    let webhook_id = webhook(it);
    it.shop.call("disconnect-webhook", &json!({ "webhook_id": webhook_id })).ok();
    webhook_id
}

/// The key of a record that the call makes.
fn record(it: &Fixture, endpoint: &str, body: &Value) -> String {
    it.shop.call(endpoint, body).ok();
    text(&body["key"])
}
