//! PromptPay and mobile banking: what they are offered, selected and initiated with, and the text of the QR code.
//! Contract, sections 9.1, 9.4 and 12.

use serde_json::{Value, json};

use super::browser::{METHODS, by_method, enable, enabled, shop_with_all_methods};
use crate::harness::{Server, merged, thb};

#[test]
fn a_method_of_a_customers_own_is_off_until_it_is_enabled() {
    let (server, shop) = Server::with_shop();
    for method in METHODS {
        let selection = merged(&thb(100), &json!({ "payment_method": method }));
        shop.sdk("select-payment-method", &selection).refused("NOT_SUPPORTED");
        enable(&server, &shop, method);
        shop.sdk("select-payment-method", &selection).id();
    }
    let settings = shop.sdk("retrieve-installation-settings", &json!({})).ok();
    let offered = settings["payment_methods"].as_array().expect("an array");
    let members = |method: &Value| ["name", "display_name", "category", "banks"].map(|member| method[member].clone());
    let offered: Vec<[Value; 4]> = offered.iter().map(members).collect();
    let expected =
        |name: &str, display_name: &str, category: &str| [json!(name), json!(display_name), json!(category), json!([])];
    assert!(offered.contains(&expected("PROMPTPAY", "PromptPay QR", "scan_to_pay")), "{offered:?}");
    assert!(offered.contains(&expected("MOBILE_BANKING", "Mobile banking", "mobile_banking")), "{offered:?}");
}

#[test]
fn the_operator_cannot_enable_what_a_method_never_does() {
    let (server, shop) = Server::with_shop();
    let yen = server.shop_with(json!({ "name": "Yen", "currency": "JPY" }));
    let configure = |body: &Value| server.admin("configure-payment-method", body);
    assert_eq!(configure(&enabled(&yen, "PROMPTPAY")).faults(), ["invalid payment_method"]);
    configure(&enabled(&yen, "MOBILE_BANKING")).ok();
    for method in METHODS {
        let holding = merged(&enabled(&shop, method), &json!({ "authorizes_without_capture": true }));
        assert_eq!(configure(&holding).faults(), ["invalid authorizes_without_capture"], "{method}");
    }
    let names = |currency: &str, shop: &crate::harness::Shop| {
        let settings = shop.sdk("retrieve-installation-settings", &json!({})).ok();
        assert_eq!(settings["currency"], currency);
        settings["payment_methods"].as_array().map(Vec::len)
    };
    assert_eq!((names("JPY", &yen), names("THB", &shop)), (Some(3), Some(2)));
}

#[test]
fn a_selection_takes_no_argument_of_another_method() {
    let (_server, shop) = Server::with(|server| shop_with_all_methods(server, &json!({})));
    for method in METHODS {
        let others = json!({ "token": shop.token_of(crate::harness::CARD, "SINGLE"), "card_id": "crd_1" });
        let plan = json!({ "installment_plan_id": "sandbox_3_months", "interest_bearer": "customer" });
        for (name, value) in merged(&others, &plan).as_object().expect("an object") {
            let body = merged(&thb(100), &json!({ "payment_method": method, (name): value }));
            assert_eq!(shop.sdk("select-payment-method", &body).faults(), [format!("invalid {name}")], "{method}");
        }
    }
    let select =
        |minor: u64| shop.sdk("select-payment-method", &merged(&thb(minor), &json!({ "payment_method": "PROMPTPAY" })));
    assert_eq!(select(1_000_000_000_000).faults(), ["invalid amount"]);
    select(999_999_999_999).id();
}

#[test]
fn a_payment_of_a_customers_own_method_is_captured_at_once_or_not_made() {
    let (_server, shop) = Server::with(|server| shop_with_all_methods(server, &json!({})));
    for method in METHODS {
        let session = shop.session_with(100, &json!({ "payment_method": method }));
        let refused = shop.initiate(&session, 100, &json!({ "capture": false }));
        assert_eq!(refused.refused("NOT_SUPPORTED"), Value::Null, "{method}");
        assert_eq!(shop.payment_session(&session)["status"], "ACTIVE");
        shop.initiate(&session, 100, &json!({})).id();
    }
}

/// Refunds and reversals are possible for all methods.
#[test]
fn what_a_customer_paid_at_a_bank_or_by_a_wallet_can_be_given_back() {
    let (server, shop) = Server::with(|server| shop_with_all_methods(server, &json!({})));
    for method in METHODS {
        let [refunded, reversed, disputed] = [0; 3].map(|_| {
            let payment = by_method(&shop, method).payment;
            let body = json!({ "merchant_id": shop.merchant_id, "payment_id": payment, "outcome": "SUCCEEDED" });
            server.admin("complete-action", &body).ok();
            shop.settled(&payment);
            payment
        });
        shop.call("refund-payment", &json!({ "payment_id": refunded, "amount": 100 })).id();
        shop.call("reverse-payment", &json!({ "payment_id": reversed })).ok();
        let body = json!({ "merchant_id": shop.merchant_id, "payment_id": disputed });
        server.admin("open-dispute", &body).id();
        for (payment, status) in [(&refunded, "PARTIALLY_REFUNDED"), (&reversed, "REVERSED"), (&disputed, "DISPUTED")] {
            crate::harness::wait_until(crate::harness::PATIENCE, &format!("{method} is not {status}"), || {
                shop.payment(payment)["status"] == status
            });
        }
    }
}

/// The text of a QR code is an EMVCo merchant-presented one, to the letter.
#[test]
fn a_promptpay_code_names_the_payment_and_its_amount() {
    let (_server, shop) = Server::with(|server| shop_with_all_methods(server, &json!({})));
    let session = shop.session_with(5, &json!({ "payment_method": "PROMPTPAY" }));
    let payment = shop.initiate(&session, 5, &json!({})).id();
    let small = super::browser::asked(&shop, session, payment);
    for (asked, amount) in [(by_method(&shop, "PROMPTPAY"), "54071234.50"), (small, "54040.05")] {
        let reference = asked.payment[asked.payment.len() - 20..].to_uppercase();
        let account = format!("0016A00000067701011201150000000000000000220{reference}");
        let text = format!("00020101021230{}{account}5303764{amount}5802TH6304", account.len());
        let expected = format!("{text}{:04X}", crc(&text));
        assert_eq!(asked.step, expected);
    }
}

/// The CRC-16 with the polynomial 1021 and the initial value FFFF.
fn crc(text: &str) -> u16 {
    text.bytes().fold(0xffff, |crc: u16, byte| {
        (0..8).fold(
            crc ^ (u16::from(byte) << 8),
            |crc, _| {
                if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
            },
        )
    })
}
