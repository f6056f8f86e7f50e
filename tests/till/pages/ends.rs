//! Payments that end before their customer has acted: giving up in every stage, voids, a suspended merchant, and
//! successes that come after the end. Contract, section 9.4.

use serde_json::{Value, json};

use super::actions::events_of;
use super::browser::{
    Asked, Browser, CHALLENGED, asked, by_method, challenged, each, enable, page, page_of, shop_with_all_methods,
};
use super::told::{Told, told};
use crate::harness::{ApiAnswer, PATIENCE, Server, Shop, first_answer, merged};

fn gives_up(shop: &Shop, session: &str) -> Value {
    shop.sdk("cancel-payment-session", &json!({ "payment_session_id": session })).ok()
}

fn complete(server: &Server, shop: &Shop, payment: &str, outcome: &str) -> ApiAnswer {
    let body = json!({ "merchant_id": shop.merchant_id, "payment_id": payment, "outcome": outcome });
    server.admin("complete-action", &body)
}

#[test]
fn giving_up_ends_a_session_that_no_payment_used() {
    let (server, shop) = Server::with_shop();
    enable(&server, &shop, "PROMPTPAY");
    for session in [shop.session(100), shop.session_with(100, &json!({ "payment_method": "PROMPTPAY" }))] {
        let before = shop.picture(&[]);
        assert_eq!((gives_up(&shop, &session), gives_up(&shop, &session)), (json!(true), json!(false)));
        assert_eq!(shop.payment_session(&session)["status"], "EXPIRED");
        let is_qr = shop.payment_session(&session)["payment_method"] == "PROMPTPAY";
        let expected = Told::of("FAILED CHECK_STATUS", is_qr).back("NOT_FOUND");
        assert_eq!(told(&shop, &session), expected);
        let refused = shop.initiate(&session, 100, &json!({})).refused("NOT_FOUND");
        assert_eq!(refused, json!({ "argument": "payment_session_id" }));
        assert_eq!(shop.picture(&[]), before);
    }
}

#[test]
fn giving_up_under_a_key_is_answered_again() {
    let (server, shop) = Server::with_shop();
    let session = shop.session(100);
    let body = shop.named(&json!({ "payment_session_id": session }));
    let ask = || server.client().idempotency_key("back-button").post("/sdk/cancel-payment-session", &body);
    assert_eq!(ask().ok(), true);
    let again = ask();
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &json!(true)));
}

#[test]
fn a_customer_cannot_give_up_before_the_acquirer_has_answered() {
    let (_server, shop) = Server::with_shop();
    let session = shop.session_of("4000000000003238", 100); // It answers after five seconds.
    let payment = shop.initiate(&session, 100, &json!({})).id();
    let waiting = Told::of("INITIATED WAIT", false);
    assert_eq!((gives_up(&shop, &session), told(&shop, &session)), (json!(false), waiting));
    assert_eq!(shop.settled(&payment)["status"], "SUCCESSFUL");
    assert_eq!(gives_up(&shop, &session), false);
}

#[test]
fn customers_of_a_suspended_merchant_may_give_up_and_the_merchant_may_void() {
    let (server, shop, browser) = Browser::with_shop();
    let (unused, given_up, voided) = (shop.session(100), challenged(&shop, &json!({})), challenged(&shop, &json!({})));
    server.admin("suspend-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    shop.sdk("check-status", &json!({ "payment_session_id": given_up.session })).refused("MERCHANT_SUSPENDED");
    for session in [&unused, &given_up.session] {
        assert_eq!((gives_up(&shop, session), gives_up(&shop, session)), (json!(true), json!(false)));
    }
    shop.call("void-payment", &json!({ "payment_id": voided.payment })).ok();
    for (asked, status) in [(&given_up, "FAILED"), (&voided, "VOIDED")] {
        assert_eq!(shop.payment(&asked.payment)["status"], status);
        page(&browser.get(&asked.step), 410);
    }
    server.admin("resume-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    assert_eq!(shop.payment_session(&unused)["status"], "EXPIRED");
}

#[test]
fn a_void_is_in_the_activity_log_as_soon_as_the_call_is_accepted() {
    let (server, shop) = Server::with_shop();
    let asked = challenged(&shop, &json!({}));
    assert_eq!(shop.payment(&asked.payment)["voidable"], true);
    let client = shop.client().idempotency_key("void-1");
    let void = || client.post("/merchants/void-payment", &json!({ "payment_id": asked.payment }));
    assert_eq!(void().ok(), true);
    let [entry] = &shop.all("list-activity-logs")[..] else { panic!("one entry") };
    let expected = json!({
        "activity_type": "PAYMENT_VOIDED", "actor_type": "API_KEY", "actor_key_id": shop.key_id,
        "object_id": asked.payment, "object_type": "PAYMENT",
    });
    assert_eq!(&merged(entry, &expected), entry);
    let found = shop.payment(&asked.payment);
    assert_eq!((&found["voidable"], &found["operation"]), (&json!(false), &Value::Null));
    assert_eq!(void().header("idempotent-replayed"), Some("true"));
    let open = || server.metric("till_effects_open");
    first_answer(PATIENCE, "the action is not canceled at the acquirer", open, |open| *open == Some(0.0));
    assert_eq!(shop.payment(&asked.payment), found, "the cancellation changes nothing");
}

/// A way in which a payment ends whose customer has not acted.
#[derive(Debug, Clone, Copy)]
enum End {
    GivenUp,
    Voided,
    LeftAlone,
}

/// Cards with a challenge, authorized only or captured, and the two methods, each ended in every way.
fn ended_in_every_way() -> Vec<(&'static str, bool, End)> {
    let means = [(CHALLENGED, true), (CHALLENGED, false), ("PROMPTPAY", true), ("MOBILE_BANKING", true)];
    let ends = [End::GivenUp, End::Voided, End::LeftAlone];
    means.into_iter().flat_map(|(by, capture)| ends.map(|end| (by, capture, end))).collect()
}

fn asked_by(shop: &Shop, by: &str, capture: bool) -> Asked {
    if by == CHALLENGED { challenged(shop, &json!({ "capture": capture })) } else { by_method(shop, by) }
}

fn end(server: &Server, shop: &Shop, asked: &Asked, end: End) -> Value {
    match end {
        End::GivenUp => _ = gives_up(shop, &asked.session),
        End::Voided => _ = shop.call("void-payment", &json!({ "payment_id": asked.payment })).ok(),
        End::LeftAlone => leave_alone(server, shop, &asked.payment),
    }
    shop.payment(&asked.payment)
}

fn leave_alone(server: &Server, shop: &Shop, payment: &str) {
    let end = shop.payment(payment)["expires_at"].as_u64().expect("a time");
    let body = json!({ "merchant_id": shop.merchant_id, "to": end + 1 });
    server.admin("advance-clock", &body).ok();
}

/// The payment once its late success is given back.
fn returned(shop: &Shop, payment: &str) -> Value {
    let is_back = |payment: &Value| payment["late_success"]["returned_at"].is_u64();
    first_answer(PATIENCE, "the money is not back", || shop.payment(payment), is_back)
}

/// Checks that nothing but the late success and the acquirer's id changed of an ended payment, that it is told, and
/// that no money moved.
fn checks_returned(shop: &Shop, payment: &str, ended: &Value, before: &[Value]) {
    let found = returned(shop, payment);
    let late = &found["late_success"];
    let [received, back] = ["received_at", "returned_at"].map(|member| late[member].as_u64().expect("a time"));
    assert!(received <= back, "{late}");
    let expected = json!({ "amount": ended["amount"], "received_at": received, "returned_at": back });
    let known = json!({ "late_success": expected, "acquirer_reference": format!("sandbox:{payment}/authorize") });
    assert_eq!(found, merged(ended, &known), "authorized_at stays null");
    let events = events_of(shop, payment);
    let status = ended["status"].as_str().expect("a word");
    assert_eq!(events.len(), 3, "{events:?}");
    assert_eq!(events[2], ("payment_returned".to_owned(), status.to_owned()), "{events:?}");
    assert_eq!(shop.picture(&[]), before, "balance, history and activity are as before");
}

#[test]
fn a_success_after_the_end_is_given_back_and_told() {
    let server = Server::start();
    each(&ended_in_every_way(), |(by, capture, way)| {
        let shop = shop_with_all_methods(&server, &json!({ "test_clock": true }));
        let browser = Browser::of(&server);
        let asked = asked_by(&shop, by, *capture);
        let action_page = page_of(&browser, &asked);
        let ended = end(&server, &shop, &asked, *way);
        let before = shop.picture(&[]);
        assert_eq!(ended["late_success"], Value::Null, "{by} {way:?}");
        assert_eq!(complete(&server, &shop, &asked.payment, "SUCCEEDED").ok(), true, "{by} {way:?}");
        checks_returned(&shop, &asked.payment, &ended, &before);
        let found = shop.payment(&asked.payment);
        let again = complete(&server, &shop, &asked.payment, "SUCCEEDED").refused("INVALID_STATE");
        assert_eq!(again, json!({ "status": ended["status"], "operation": null }));
        page(&browser.post(&action_page, "outcome=succeed"), 410);
        assert_eq!((gives_up(&shop, &asked.session), shop.payment(&asked.payment)), (json!(false), found));
        assert_eq!(told(&shop, &asked.session), {
            let back = format!("https://shop.example/done?payment_id={}", asked.payment);
            Told::of("FAILED CHECK_STATUS", *by == "PROMPTPAY").back(&back)
        });
    });
}

#[test]
fn a_failure_after_the_end_changes_nothing() {
    let server = Server::start();
    each(&["FAILED", "CANCELED"], |outcome| {
        let shop = shop_with_all_methods(&server, &json!({}));
        for by in [CHALLENGED, "PROMPTPAY", "MOBILE_BANKING"] {
            let asked = asked_by(&shop, by, true);
            let ended = end(&server, &shop, &asked, End::GivenUp);
            let before = shop.picture(&[]);
            assert_eq!(complete(&server, &shop, &asked.payment, outcome).ok(), true);
            complete(&server, &shop, &asked.payment, "SUCCEEDED").refused("INVALID_STATE");
            assert_eq!((shop.payment(&asked.payment), shop.picture(&[])), (ended, before), "{by} {outcome}");
            assert_eq!(events_of(&shop, &asked.payment).len(), 2);
        }
    });
}

/// The issuer authenticates, and then declines.
#[test]
fn a_card_that_is_declined_after_the_end_changes_nothing() {
    let (server, shop) = Server::with_shop();
    let session = shop.session_of("4000008260003178", 100);
    let payment = shop.initiate(&session, 100, &json!({})).id();
    let asked = asked(&shop, session, payment);
    let ended = end(&server, &shop, &asked, End::GivenUp);
    assert_eq!(complete(&server, &shop, &asked.payment, "SUCCEEDED").ok(), true);
    assert_eq!((&ended["late_success"], shop.payment(&asked.payment)), (&Value::Null, ended.clone()));
}

/// An amount that ends in 94 succeeds by itself five seconds after the deadline.
#[test]
fn a_success_that_comes_by_itself_after_the_deadline_is_given_back() {
    let server = Server::start();
    each(&["PROMPTPAY", "MOBILE_BANKING"], |method| {
        let shop = shop_with_all_methods(&server, &json!({ "test_clock": true }));
        let session = shop.session_with(50_094, &json!({ "payment_method": method }));
        let payment = shop.initiate(&session, 50_094, &json!({})).id();
        let asked = asked(&shop, session, payment);
        let ended = end(&server, &shop, &asked, End::LeftAlone);
        let before = shop.picture(&[]);
        assert_eq!((&ended["status"], &ended["late_success"]), (&json!("EXPIRED"), &Value::Null), "not yet: {ended}");
        checks_returned(&shop, &asked.payment, &ended, &before);
        complete(&server, &shop, &asked.payment, "SUCCEEDED").refused("INVALID_STATE");
    });
}

/// An advance of the clock does not wait for customers, and each expires at a time of its own.
#[test]
fn an_advance_of_the_clock_expires_all_that_are_left_alone() {
    let server = Server::start();
    let shop = shop_with_all_methods(&server, &json!({ "test_clock": true }));
    let payments = [CHALLENGED, "PROMPTPAY", "MOBILE_BANKING"].map(|by| asked_by(&shop, by, true).payment);
    let ends = payments.each_ref().map(|payment| shop.payment(payment)["expires_at"].clone());
    let to = ends[2].as_u64().expect("a time") + 86_400;
    server.admin("advance-clock", &json!({ "merchant_id": shop.merchant_id, "to": to })).ok();
    for (payment, end) in payments.iter().zip(ends) {
        assert_eq!(shop.payment(payment)["status"], "EXPIRED");
        let filter = json!({ "payment_id": payment, "event": "PAYMENT_EXPIRED" });
        let [expired] = &shop.all_of("list-events", &filter)[..] else { panic!("one event") };
        assert_eq!(expired["created_at"], end, "its own time, not that of the advance");
    }
}

#[test]
fn a_payment_that_asks_nobody_cannot_be_given_up_or_acted_on() {
    let (server, shop) = Server::with_shop();
    let paid = shop.pay_with(100, &json!({ "external_id": "order-1" }));
    let session = paid["payment_session_id"].as_str().expect("an id");
    assert_eq!(gives_up(&shop, session), false);
    for name in ["order-1", paid["payment_id"].as_str().expect("an id")] {
        let refused = complete(&server, &shop, name, "SUCCEEDED").refused("INVALID_STATE");
        assert_eq!(refused, json!({ "status": "SUCCESSFUL", "operation": null }));
    }
    let unknown = complete(&server, &shop, "order-2", "SUCCEEDED").refused("NOT_FOUND");
    assert_eq!(unknown, json!({ "argument": "payment_id" }));
    let other = server.shop();
    complete(&server, &other, paid["payment_id"].as_str().expect("an id"), "SUCCEEDED").refused("NOT_FOUND");
    assert_eq!(complete(&server, &shop, "order-1", "succeed").faults(), ["invalid outcome"]);
    assert_eq!(shop.payment("order-1"), paid);
}

#[test]
fn the_operators_play_of_a_customer_is_answered_again_under_its_key() {
    let (server, shop) = Server::with_shop();
    let asked = challenged(&shop, &json!({}));
    let play = |outcome: &str| {
        let body = json!({ "merchant_id": shop.merchant_id, "payment_id": asked.payment, "outcome": outcome });
        server.admin_client().idempotency_key("customer-1").post("/admin/complete-action", &body)
    };
    assert_eq!(play("SUCCEEDED").ok(), true);
    let paid = shop.settled(&asked.payment);
    let again = play("SUCCEEDED");
    assert_eq!((again.header("idempotent-replayed"), again.clone().ok()), (Some("true"), json!(true)));
    assert_eq!(shop.payment(&asked.payment), paid);
}
