//! The sandbox's issuer, bank and wallet: contract, section 9.5.

use serde_json::json;

use super::browser::{
    Browser, METHODS, by_method, challenged, enable, form_target, leads_back, page, page_of, return_path,
};
use crate::harness::Server;

/// Everything that a caller may write, with markup.
const HOSTILE: &str = "<b>A</b> & \"B\" <script>alert('1')</script>";

#[test]
fn each_page_shows_its_heading_its_buttons_the_merchant_and_the_amount() {
    let server = Server::start();
    let shop = server.shop_with(json!({ "name": HOSTILE, "currency": "THB" }));
    METHODS.iter().for_each(|method| enable(&server, &shop, method));
    let browser = Browser::of(&server);
    let bill = by_method(&shop, "PROMPTPAY");
    let wallet = page_of(&browser, &bill);
    let challenge = challenged(&shop, &json!({})).step;
    let bank = by_method(&shop, "MOBILE_BANKING").step;
    let buttons = |names: [(&str, &str); 3]| {
        names.map(|(value, words)| format!("<button name=\"outcome\" value=\"{value}\">{words}</button>"))
    };
    for (path, heading, buttons) in [
        (
            challenge,
            "Sandbox issuer",
            buttons([("succeed", "Authenticate"), ("fail", "Fail authentication"), ("cancel", "Cancel")]),
        ),
        (
            bank,
            "Sandbox bank",
            buttons([("succeed", "Approve payment"), ("fail", "Decline payment"), ("cancel", "Cancel")]),
        ),
        (wallet, "Sandbox wallet", buttons([("succeed", "Pay"), ("fail", "Decline"), ("fail", "Decline")])),
    ] {
        let answer = browser.get(&path);
        let text = page(&answer, 200);
        assert!(text.contains(&format!("<h1>{heading}</h1>")), "{text}");
        assert!(buttons.iter().all(|button| text.contains(button)), "{text}");
        assert!(text.contains("THB\u{a0}1,234.50") && text.contains("no money moves"), "{text}");
        assert!(text.contains("&#60;script&#62;alert(") && !text.contains("<b>"), "{text}");
        assert_eq!(form_target(&answer), "https://shop.example");
    }
}

#[test]
fn a_customer_acts_once() {
    let (_server, shop, browser) = Browser::with_shop();
    for (outcome, status, code) in [
        ("succeed", "SUCCESSFUL", None),
        ("fail", "FAILED", Some("authentication_failed")),
        ("cancel", "FAILED", Some("canceled_by_customer")),
    ] {
        let asked = challenged(&shop, &json!({}));
        let acted = browser.post(&asked.step, &format!("outcome={outcome}"));
        leads_back(&acted, &shop, &asked);
        for _ in 0..2 {
            let again = page(&browser.post(&asked.step, "outcome=succeed"), 410);
            assert!(again.contains("<h1>This page has expired</h1>"), "{again}");
            assert!(again.contains(&format!("href=\"{}.", return_path(&shop, &asked))), "it leads back: {again}");
            page(&browser.get(&asked.step), 410);
        }
        let payment = shop.settled(&asked.payment);
        assert_eq!((&payment["status"], payment["failure_code"].as_str()), (&json!(status), code));
    }
}

#[test]
fn a_paid_wallet_leads_nowhere_and_unknown_bills_and_actions_are_not_found() {
    let (server, shop) = Server::with_shop();
    enable(&server, &shop, "PROMPTPAY");
    let browser = Browser::of(&server);
    let bill = by_method(&shop, "PROMPTPAY");
    let wallet = page_of(&browser, &bill);
    page(&browser.post(&wallet, "outcome=cancel"), 400);
    let sent = page(&browser.post(&wallet, "outcome=succeed"), 200);
    assert!(
        sent.contains("<h1>Payment sent</h1>") && !sent.contains("href=\"http") && !sent.contains("<form"),
        "{sent}"
    );
    page(&browser.get(&wallet), 410);
    assert_eq!(shop.settled(&bill.payment)["status"], "SUCCESSFUL");
    for form in ["text=nothing", "text=", ""] {
        assert!(page(&browser.post("/sandbox/scan", form), 404).contains("<h1>No such bill</h1>"));
    }
    let action = wallet.rsplit('/').next().expect("a last segment");
    for path in [
        format!("/sandbox/bank/{action}"),
        format!("/sandbox/challenge/{action}"),
        format!("/sandbox/wallet/{}", "0".repeat(64)),
        "/sandbox/wallet/x".to_owned(),
    ] {
        page(&browser.get(&path), 404);
        page(&browser.post(&path, "outcome=succeed"), 404);
    }
}

#[test]
fn the_page_is_closed_after_a_void_when_the_customer_gives_up_and_after_the_deadline() {
    let (server, shop, browser) = Browser::with_shop();
    let voided = challenged(&shop, &json!({}));
    shop.call("void-payment", &json!({ "payment_id": voided.payment })).ok();
    let given_up = challenged(&shop, &json!({}));
    shop.sdk("cancel-payment-session", &json!({ "payment_session_id": given_up.session })).ok();
    let timed = server.shop_with(json!({ "name": "Clock", "currency": "THB", "test_clock": true }));
    let left_alone = challenged(&timed, &json!({}));
    let until = timed.payment(&left_alone.payment)["expires_at"].as_u64().expect("a time") + 1;
    server.admin("advance-clock", &json!({ "merchant_id": timed.merchant_id, "to": until })).ok();
    for (shop, asked) in [(&shop, voided), (&shop, given_up), (&timed, left_alone)] {
        page(&browser.get(&asked.step), 410);
        page(&browser.post(&asked.step, "outcome=succeed"), 410);
        let status = shop.payment(&asked.payment)["status"].clone();
        assert!(["VOIDED", "FAILED", "EXPIRED"].contains(&status.as_str().expect("a word")), "{status}");
    }
}
