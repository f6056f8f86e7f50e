//! Pages of every state, for tests.

use serde_json::{Value, json};

use crate::endpoints::pages::ShownState;

/// The text of a PromptPay code.
pub(super) const QR_TEXT: &str =
    "00020101021230630016A0000006770101120115000000000000000022061050R3GG28A1C60T3GF530376454071000.005802TH6304DB74";

/// A checkout with everything in it, in a state.
pub(super) fn checkout(state: ShownState) -> Value {
    let card = |id, scheme, digits| {
        json!({
            "card_id": id,
            "scheme": scheme,
            "last_digits": digits,
            "expiration_date": "12/49",
        })
    };
    json!({
        "installation_id": "ins_01jz0000000000000000000001",
        "checkout_id": "chk_01jz0000000000000000000001",
        "merchant_name": "Example Shop",
        "origin": "https://shop.example",
        "color": null,
        "amount": 123_450,
        "currency": "THB",
        "lines": [
            { "name": "Coffee beans, 500 g", "amount": 35_000, "quantity": 2 },
            { "name": "Hand grinder", "amount": 53_450, "quantity": 1 },
        ],
        "shop": "https://shop.example/cart?checkout_id=chk_01jz0000000000000000000001",
        "payment_methods": ["CARD", "INSTALLMENT", "PROMPTPAY", "MOBILE_BANKING"],
        "card_page": null,
        "saved_cards": [card("crd_1", "VISA", "4242"), card("crd_2", "MASTERCARD", "4444")],
        "installment_plans": [{
            "installment_plan_id": "sandbox_3_months",
            "name": "Sandbox instalments, 3 months",
            "interest_rate": "1.25",
            "monthly_amount": 42_694,
            "total_amount": 128_082,
        }],
        "offers_saving": true,
        "is_sandbox": true,
        "state": state.name(),
        "payment_session_id": null,
        "payment_method": null,
        "failure_code": null,
        "was_just_paid": false,
    })
}

/// An object with some of its attributes replaced.
pub(super) fn with(mut object: Value, attributes: Value) -> Value {
    let Value::Object(attributes) = attributes else { panic!("an object") };
    for (name, value) in attributes {
        object[name] = value;
    }
    object
}

/// Every state, each with a name.
pub(super) fn states() -> Vec<(&'static str, Value)> {
    let of = |state: ShownState, attributes| with(checkout(state), attributes);
    let last = |method: &str, failure_code: Option<&str>| {
        json!({
            "payment_session_id": "pse_1",
            "payment_method": method,
            "failure_code": failure_code,
        })
    };
    let in_progress = |attributes| with(json!({ "payment_session_id": "pse_01jz0000000000000000000001" }), attributes);
    let scan = |seconds_left, wallet: Option<&str>| {
        in_progress(json!({
            "payment_method": "PROMPTPAY",
            "qr_text": QR_TEXT,
            "seconds_left": seconds_left,
            "seconds_whole": 900,
            "wallet": wallet,
        }))
    };
    let successful = |was_just_paid| {
        let shop = "https://shop.example/done?order=1&payment_id=pay_1&checkout_id=chk_1";
        json!({ "shop": shop, "was_just_paid": was_just_paid })
    };
    let bank = json!({ "action_url": "http://127.0.0.1:8080/sandbox/bank/act_1" });
    let used_up = last("CARD", Some("insufficient_funds"));
    vec![
        ("choosing", of(ShownState::Choosing, json!({}))),
        ("choosing-card", of(ShownState::Choosing, last("CARD", None))),
        ("choosing-instalments", of(ShownState::Choosing, last("INSTALLMENT", None))),
        ("failed", of(ShownState::Choosing, used_up.clone())),
        ("cancelled", of(ShownState::Choosing, last("PROMPTPAY", Some("canceled_by_customer")))),
        ("processing", of(ShownState::Processing, in_progress(json!({})))),
        ("confirm", of(ShownState::Confirm, in_progress(bank))),
        ("scan", of(ShownState::Scan, scan(900, Some("http://127.0.0.1:8080/sandbox/wallet/act_1")))),
        ("scan-late", of(ShownState::Scan, scan(185, None))),
        ("successful", of(ShownState::Successful, successful(false))),
        ("successful-now", of(ShownState::Successful, successful(true))),
        ("expired", of(ShownState::Expired, json!({}))),
        ("attempts-used-up", of(ShownState::Expired, used_up)),
        ("suspended", of(ShownState::Suspended, json!({}))),
    ]
}

/// A payment form with every method.
pub(super) fn form() -> Value {
    let checkout = checkout(ShownState::Choosing);
    let shared = ["installation_id", "origin", "payment_methods", "installment_plans", "is_sandbox"];
    let of_form = shared.map(|name| (name.to_owned(), checkout[name].clone()));
    with(Value::Object(of_form.into_iter().collect()), json!({ "interest_bearer": "customer" }))
}
