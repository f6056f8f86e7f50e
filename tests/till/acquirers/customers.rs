//! Payments at which the customer acts: the acquirer's card page, and PromptPay.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::account::{AtStripe, come_back};
use crate::harness::{CARD, PATIENCE, wait_until};

const DECLINED: &str = "4000000000009995";
const MINOR: u64 = 20_000;
/// The time that a customer has for the card page.
const PAGE_SECONDS: u64 = 1_800;
/// The time in which a customer who has paid is at the shop again.
const BACK_WITHIN: Duration = Duration::from_secs(5);

fn at_page() -> AtStripe {
    AtStripe::with(|start| start, "PAGE")
}

impl AtStripe {
    /// A payment whose customer is sent to the card page: its id, and the page.
    fn sent_to_page(&self, more: &Value) -> (String, String) {
        let session = self.account.shop.session_with(MINOR, &json!({}));
        let payment = self.account.shop.initiate(&session, MINOR, more).id();
        let page = self.account.asked(&payment);
        (payment, page)
    }

    /// A payment by PromptPay whose code is shown.
    fn shown_code(&self) -> String {
        let session = self.account.shop.session_with(MINOR, &json!({ "payment_method": "PROMPTPAY" }));
        let payment = self.account.shop.initiate(&session, MINOR, &json!({})).id();
        assert!(self.account.asked(&payment).starts_with("000201"));
        payment
    }

    /// The payer's bank ends the code of a payment.
    fn end_code(&self, payment: &str, answer: &str) -> Value {
        let intents = self.fake.all("intents");
        let intent = intents.iter().find(|intent| intent["metadata"]["till_payment"] == *payment).expect("it is made");
        let path = format!("intents/{}/end", intent["id"].as_str().expect("an id"));
        self.fake.control("POST", &path, &json!({ "answer": answer }));
        self.account.shop.settled(payment)
    }
}

#[test]
fn a_customer_who_paid_at_the_page_is_soon_at_the_shop() {
    let at = at_page();
    let (payment, page) = at.sent_to_page(&json!({}));
    let pending = at.account.shop.payment(&payment);
    let until = pending["next_action"]["expires_at"].as_u64().expect("a time");
    assert!(
        (PAGE_SECONDS - 10..=PAGE_SECONDS + 10).contains(&(until - pending["created_at"].as_u64().expect("a time")))
    );
    assert!(page.starts_with(&at.fake.url()), "{page}");
    assert!(pending["acquirer_reference"].as_str().is_some_and(|id| page.contains(id)), "{pending}");
    assert_eq!(pending["card"], Value::Null);
    let answer = at.fake.remote().enter_card(&page, CARD);
    let begun = Instant::now();
    while come_back(&at.server, &answer).status != 303 {
        assert!(begun.elapsed() < BACK_WITHIN, "the customer still waits");
        std::thread::sleep(Duration::from_millis(100));
    }
    let paid = at.account.shop.payment(&payment);
    assert_eq!((&paid["status"], &paid["next_action"]), (&json!("SUCCESSFUL"), &Value::Null));
    assert_eq!(paid["acquirer_reference"], at.charge_of(&paid)["payment_intent"]);
    let card = json!([paid["card"]["scheme"], paid["card"]["first_digits"], paid["card"]["last_digits"]]);
    assert_eq!(card, json!(["VISA", null, "4242"]));
    let found = at.account.shop.all_of("list-payments", &json!({ "terms": "4242" }));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_decline_at_the_page_is_the_acquirers_to_show() {
    let at = at_page();
    let (payment, page) = at.sent_to_page(&json!({ "capture": false }));
    assert_eq!(at.fake.remote().enter_card(&page, DECLINED).status, 200, "the page asks again");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(at.account.shop.payment(&payment)["status"], "PENDING");
    come_back(&at.server, &at.fake.remote().enter_card(&page, CARD));
    assert_eq!(at.account.shop.settled(&payment)["status"], "AUTHORIZED");
    let held = at.account.shop.payment(&payment);
    assert_eq!(at.account.operate("capture-payment", &held, &json!({}))["status"], "SUCCESSFUL");
}

#[test]
fn a_page_that_was_given_up_takes_no_money() {
    let at = at_page();
    let (payment, page) = at.sent_to_page(&json!({}));
    at.account.shop.call("void-payment", &json!({ "payment_id": payment })).ok();
    assert_eq!(at.account.shop.payment(&payment)["status"], "VOIDED");
    wait_until(PATIENCE, "the page is still open", || at.fake.all("sessions")[0]["status"] == "expired");
    at.fake.remote().enter_card(&page, CARD);
    assert_eq!(at.fake.all("charges"), Vec::<Value>::new());
}

#[test]
fn a_promptpay_code_is_paid_or_refused_by_the_payers_bank() {
    let at = AtStripe::by_number();
    at.account.configure(&at.server, "PROMPTPAY", &json!({ "authorizes_without_capture": false })).ok();
    let paid = at.end_code(&at.shown_code(), "paid");
    assert_eq!((&paid["status"], &paid["amount"]), (&json!("SUCCESSFUL"), &json!(MINOR)));
    at.charge_of(&paid);
    let refused = at.end_code(&at.shown_code(), "failed");
    let failure = (&refused["failure_code"], &refused["acquirer_code"]);
    assert_eq!(failure, (&json!("payment_declined"), &json!("payment_method_provider_decline")));
}
