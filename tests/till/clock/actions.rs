//! Customers' deadlines, to the millisecond: contract, section 9.4.

use serde_json::{Value, json};

use crate::harness::{PATIENCE, Shop, Stage, wait_until};
use crate::pages::browser::{Asked, Browser, METHODS, by_method, challenged, enabled, page, page_of};
use crate::pages::told::{Told, told};

/// The time at which the tests begin.
const START: &str = "2025-04-01T00:00:00.250Z";

/// The payments that ask the customer, with the seconds that the customer has.
const LIFETIMES: [(&str, u64); 3] = [("CARD", 600), ("MOBILE_BANKING", 1_800), ("PROMPTPAY", 900)];

fn stage_at(instant: &str, merchant: Value) -> (Stage, Shop, Browser) {
    let stage = Stage::at(instant);
    let shop = stage.shop_with(merchant);
    METHODS.iter().for_each(|method| _ = stage.admin("configure-payment-method", &enabled(&shop, method)).ok());
    let browser = Browser::at(stage.public());
    (stage, shop, browser)
}

fn asked_by(shop: &Shop, by: &str) -> Asked {
    if by == "CARD" { challenged(shop, &json!({})) } else { by_method(shop, by) }
}

fn shop() -> Value {
    json!({ "name": "Shop", "currency": "THB" })
}

fn on_test_clock() -> Value {
    json!({ "name": "Shop", "currency": "THB", "test_clock": true })
}

/// Checks a payment whose customer can still act.
#[track_caller]
fn is_open(shop: &Shop, browser: &Browser, asked: &Asked, path: &str) {
    let found = shop.payment(&asked.payment);
    assert_eq!((&found["status"], found["next_action"].is_object()), (&json!("PENDING"), true), "{found}");
    assert_eq!(found["voidable"], true);
    page(&browser.get(path), 200);
}

/// Checks that nobody can act any more, also before the end is recorded.
#[track_caller]
fn is_closed(shop: &Shop, browser: &Browser, asked: &Asked, path: &str) {
    page(&browser.get(path), 410);
    page(&browser.post(path, "outcome=succeed"), 410);
    let found = shop.payment(&asked.payment);
    assert_eq!((&found["next_action"], &found["voidable"]), (&Value::Null, &json!(false)), "{found}");
    let is_qr = !asked.step.starts_with('/');
    if told(shop, &asked.session) == Told::of("INITIATED WAIT", is_qr) {
        return; // The timer is about to fire.
    }
    let back = format!("https://shop.example/done?payment_id={}", asked.payment);
    assert_eq!(told(shop, &asked.session), Told::of("FAILED CHECK_STATUS", is_qr).back(&back));
}

#[track_caller]
fn expires(shop: &Shop, asked: &Asked, at: u64) {
    wait_until(PATIENCE, "it did not expire", || shop.payment(&asked.payment)["status"] == "EXPIRED");
    let found = shop.payment(&asked.payment);
    assert_eq!((&found["failure_code"], &found["late_success"]), (&json!("customer_action_timed_out"), &Value::Null));
    let [expired, required] = &shop.all_of("list-events", &json!({ "payment_id": asked.payment }))[..] else {
        panic!("two events")
    };
    assert_eq!((&expired["event"], &expired["created_at"]), (&json!("payment_expired"), &json!(at)));
    assert_eq!(required["event"], "payment_action_required");
}

#[test]
fn a_customer_can_act_until_the_millisecond_before_the_deadline() {
    for (by, seconds) in LIFETIMES {
        let (stage, shop, browser) = stage_at(START, shop());
        let asked = asked_by(&shop, by);
        let path = page_of(&browser, &asked);
        let found = shop.payment(&asked.payment);
        let until = stage.now() + seconds;
        assert_eq!((&found["expires_at"], &found["next_action"]["expires_at"]), (&json!(until), &json!(until)));
        stage.pass_millis(seconds * 1_000 - 1);
        is_open(&shop, &browser, &asked, &path);
        stage.pass_millis(1);
        is_closed(&shop, &browser, &asked, &path);
        expires(&shop, &asked, until);
        is_closed(&shop, &browser, &asked, &path);
    }
}

#[test]
fn an_act_in_the_last_millisecond_counts() {
    for (by, seconds) in LIFETIMES {
        let (stage, shop, browser) = stage_at(START, shop());
        let asked = asked_by(&shop, by);
        let path = page_of(&browser, &asked);
        stage.pass_millis(seconds * 1_000 - 1);
        assert!(browser.post(&path, "outcome=succeed").status < 400, "{by}");
        let paid = shop.settled(&asked.payment);
        assert_eq!((&paid["status"], &paid["captured_at"]), (&json!("SUCCESSFUL"), &json!(stage.now())), "{by}");
        stage.pass_millis(1);
        assert_eq!(shop.payment(&asked.payment), paid, "the deadline is nothing to it: {by}");
    }
}

/// An amount that ends in 91 is asked for five seconds late.
#[test]
fn the_time_counts_from_the_record_of_the_action() {
    let (stage, shop, _browser) = stage_at(START, shop());
    let session = shop.session_with(50_091, &json!({ "payment_method": "PROMPTPAY" }));
    let payment = shop.initiate(&session, 50_091, &json!({})).id();
    stage.pass_seconds(777);
    let found = || shop.payment(&payment);
    wait_until(PATIENCE, "nothing is asked", || found()["next_action"].is_object());
    assert_eq!(
        (&found()["created_at"], &found()["expires_at"]),
        (&json!(stage.now() - 777), &json!(stage.now() + 900))
    );
}

#[test]
fn a_test_clock_that_is_advanced_to_the_deadline_expires_the_payment() {
    for (by, seconds) in LIFETIMES {
        let (stage, shop, browser) = stage_at("2025-04-01T00:00:00Z", on_test_clock());
        let asked = asked_by(&shop, by);
        let path = page_of(&browser, &asked);
        let until = stage.now() + seconds;
        let advance =
            |to: u64| stage.admin("advance-clock", &json!({ "merchant_id": shop.merchant_id, "to": to })).ok();
        assert_eq!(advance(until - 1), true);
        is_open(&shop, &browser, &asked, &path);
        assert_eq!(advance(until), true);
        assert_eq!(shop.payment(&asked.payment)["status"], "EXPIRED", "when the advance is answered: {by}");
        expires(&shop, &asked, until);
        is_closed(&shop, &browser, &asked, &path);
    }
}

#[test]
fn each_customers_deadline_passes_at_its_own_instant_during_a_long_advance() {
    let (stage, shop, _browser) = stage_at("2025-04-01T00:00:00Z", on_test_clock());
    let asked = LIFETIMES.map(|(by, seconds)| (asked_by(&shop, by), stage.now() + seconds));
    let body = json!({ "merchant_id": shop.merchant_id, "to": stage.now() + 30 * 86_400 });
    assert_eq!(stage.admin("advance-clock", &body).ok(), true, "it waits for no customer");
    asked.iter().for_each(|(asked, until)| expires(&shop, asked, *until));
}

#[test]
fn a_session_that_ended_unused_has_no_address_to_come_back_to() {
    let (stage, shop, _browser) = stage_at(START, shop());
    let sessions = METHODS.map(|method| shop.session_with(100, &json!({ "payment_method": method })));
    let pending = |session: &String| told(&shop, session);
    assert_eq!(sessions.each_ref().map(pending), [true, false].map(|is_qr| Told::of("PENDING WAIT", is_qr)));
    stage.pass_seconds(1_800);
    let ended = |is_qr: bool| Told::of("FAILED CHECK_STATUS", is_qr).back("NOT_FOUND");
    assert_eq!(sessions.each_ref().map(pending), [true, false].map(ended));
    for session in &sessions {
        let gives_up = shop.sdk("cancel-payment-session", &json!({ "payment_session_id": session }));
        assert_eq!(gives_up.ok(), false, "there is nothing left to give up");
    }
}
