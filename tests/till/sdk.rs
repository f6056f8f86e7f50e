//! The endpoints of customers' devices: contract, section 9.1.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, CARD, Server, Shop, Start, id_of_nothing, merged};
use crate::valid_calls::Fixture;

/// The endpoints whose argument is a session.
pub(crate) const SESSION_ENDPOINTS: [&str; 7] = [
    "check-status",
    "discover-next-action",
    "retrieve-payment-session",
    "get-redirect-url",
    "retrieve-qr-data",
    "get-return-url",
    "cancel-payment-session",
];

/// Every SDK endpoint with a valid body; the calls about a customer's action are about open ones.
fn endpoints(fixture: &Fixture) -> Vec<(&str, Value)> {
    let of_devices = fixture.endpoints.iter().filter(|endpoint| endpoint.package == "sdk");
    of_devices.map(|endpoint| (endpoint.name.as_str(), fixture.arguments(endpoint, &[]))).collect()
}

fn card(more: &Value) -> Value {
    let card = json!({
        "number": CARD, "name": "Ada Example", "expiration_date": "12/49", "security_code": "123", "usage": "SINGLE",
    });
    merged(&card, more)
}

fn selection(more: &Value) -> Value {
    merged(&json!({ "amount": "100", "currency": "THB", "payment_method": "CARD" }), more)
}

fn installment(more: &Value) -> Value {
    let plan = json!({
        "payment_method": "INSTALLMENT", "installment_plan_id": "sandbox_3_months", "interest_bearer": "customer",
    });
    merged(&selection(&plan), more)
}

#[track_caller]
fn refuses(shop: &Shop, endpoint: &str, body: &Value, name: &str, values: &[Value]) {
    for value in values {
        let answer = shop.sdk(endpoint, &merged(body, &json!({ name: value })));
        assert_eq!(answer.faults(), [format!("invalid {name}")], "{value}");
        // The message may contain a short value in its advice.
        let text = value.as_str().filter(|text| text.len() > 5).unwrap_or("\u{0}");
        assert!(!answer.body.to_string().contains(text), "repeats {value}: {}", answer.body);
    }
}

#[track_caller]
fn requires(shop: &Shop, endpoint: &str, body: &Value, name: &str) {
    let mut without = body.clone();
    without.as_object_mut().expect("an object").remove(name);
    assert_eq!(shop.sdk(endpoint, &without).faults(), [format!("missing {name}")]);
    assert_eq!(shop.sdk(endpoint, &merged(body, &json!({ name: null }))).faults(), [format!("missing {name}")]);
}

#[test]
fn every_endpoint_names_its_merchant_and_installation() {
    let fixture = Fixture::start(Start::default());
    let shop = &fixture.shop;
    for (endpoint, body) in endpoints(&fixture) {
        shop.sdk(endpoint, &body).ok();
        for name in ["merchant_id", "installation_id"] {
            let wrong = [json!(1), json!(""), json!("mer_1"), json!("ins_1"), json!(shop.key_id), json!({})];
            refuses(shop, endpoint, &body, name, &wrong);
            let missing = shop.sdk(endpoint, &merged(&body, &json!({ name: null })));
            assert_eq!(missing.faults(), [format!("missing {name}")]);
        }
        let unknown = shop.sdk(endpoint, &merged(&body, &json!({ "merchantId": 1 })));
        assert_eq!(unknown.faults(), ["unknown merchantId"], "{endpoint}");
        assert_eq!(unknown.details()[0]["suggestion"], "merchant_id");
    }
}

#[test]
fn a_device_cannot_tell_which_merchants_exist() {
    let fixture = Fixture::start(Start::default());
    let (shop, other) = (&fixture.shop, fixture.server.shop());
    for (endpoint, body) in endpoints(&fixture) {
        let answers = [
            json!({ "merchant_id": id_of_nothing(&shop.merchant_id) }),
            json!({ "installation_id": id_of_nothing(&shop.installation_id) }),
            json!({ "merchant_id": other.merchant_id }),
            json!({ "installation_id": other.installation_id }),
        ]
        .map(|wrong| shop.sdk(endpoint, &merged(&body, &wrong)));
        for answer in &answers {
            assert_eq!(answer.refused("NOT_FOUND"), json!({ "argument": "installation_id" }), "{endpoint}");
            assert_eq!(answer.message(), answers[0].message(), "{endpoint}");
        }
    }
}

#[test]
fn the_settings_have_the_data_of_a_payment_form() {
    let (server, shop) = Server::with(|server| server.shop_with(json!({ "name": "ร้าน Ada", "currency": "THB" })));
    let expected = json!({
        "merchant_name": "ร้าน Ada", "currency": "THB", "installation_name": "Web shop", "platform": "WEB",
        "payment_methods": [
            {
                "name": "CARD", "display_name": "Card", "category": "card", "banks": [], "interest_bearer": null,
                "card_entry": "FORM",
            },
            {
                "name": "INSTALLMENT", "display_name": "Instalments", "category": "installment", "banks": [],
                "interest_bearer": "customer", "card_entry": null,
            },
        ],
        "interest_bearer": "customer",
    });
    assert_eq!(shop.sdk("retrieve-installation-settings", &json!({})).ok(), expected);
    for platform in ["IOS", "ANDROID", "TERMINAL"] {
        let body =
            json!({ "merchant_id": shop.merchant_id, "name": "App", "platform": platform, "identifier": "th.example" });
        let installation = json!({ "installation_id": server.admin("add-installation", &body).id() });
        assert_eq!(shop.sdk("retrieve-installation-settings", &installation).ok()["platform"], platform);
    }
}

#[test]
fn a_disabled_method_is_not_shown_and_cannot_be_selected() {
    let (server, shop) = Server::with_shop();
    let disable = |method: &str| server.configure(&shop, method, &json!({ "enabled": false })).ok();
    disable("INSTALLMENT");
    let settings = shop.sdk("retrieve-installation-settings", &json!({})).ok();
    assert_eq!(
        (&settings["payment_methods"][0]["name"], &settings["payment_methods"][1]),
        (&json!("CARD"), &Value::Null)
    );
    assert_eq!(settings["interest_bearer"], Value::Null, "there are no instalments");
    assert_eq!(shop.sdk("list-installment-plans", &json!({})).ok(), json!([]));
    assert_eq!(shop.sdk("select-payment-method", &installment(&json!({}))).refused("NOT_SUPPORTED"), Value::Null);
    disable("CARD");
    let token = shop.token_of(CARD, "SINGLE");
    shop.sdk("select-payment-method", &selection(&json!({ "token": token }))).refused("NOT_SUPPORTED");
    assert_eq!(shop.sdk("retrieve-installation-settings", &json!({})).ok()["payment_methods"], json!([]));
}

#[test]
fn the_instalment_plans_are_those_that_can_be_selected() {
    let (_server, shop) = Server::with_shop();
    let expected = json!([{
        "installment_plan_id": "sandbox_3_months", "name": "Sandbox instalments, 3 months", "terms": 3,
        "interest_bearers": ["customer", "merchant"], "interest_rate": "1.00", "monthly_amount": null,
        "total_amount": null,
    }]);
    assert_eq!(shop.sdk("list-installment-plans", &json!({})).ok(), expected);
}

#[test]
fn the_same_card_gets_another_token_each_time() {
    let (_server, shop) = Server::with_shop();
    let (first, second) = (shop.token_of(CARD, "SINGLE"), shop.token_of(CARD, "MULTIPLE"));
    for token in [&first, &second] {
        assert!(token.starts_with("tok_") && token.len() == 30, "{token}");
    }
    assert_ne!(first, second);
}

#[test]
fn a_card_number_is_12_to_19_luhn_digits_and_never_repeated() {
    let (_server, shop) = Server::with_shop();
    let wrong = [
        "",
        "4242424242424241",
        "4242 4242 4242 4242",
        "4242-4242-4242-4242",
        "42424242424",
        "42424242424242424242",
        "424242424242424a",
        "๔๒๔๒๔๒๔๒๔๒๔๒๔๒๔๒",
        " 4242424242424242",
    ];
    refuses(&shop, "tokenize-card", &card(&json!({})), "number", &wrong.map(Value::from));
    refuses(
        &shop,
        "tokenize-card",
        &card(&json!({})),
        "number",
        &[json!(4_242_424_242_424_242_u64), json!(true), json!([CARD])],
    );
    requires(&shop, "tokenize-card", &card(&json!({})), "number");
    for number in ["4242424242424242", "5555555555554444", "30569309025904", "6304000000000000000", "6212345678901232"]
    {
        let answer = shop.sdk("tokenize-card", &card(&json!({ "number": number })));
        assert!(answer.status == 200 || number == "6304000000000000000", "{number}: {}", answer.body);
    }
}

#[test]
fn the_name_on_a_card_is_1_to_255_characters() {
    let (_server, shop) = Server::with_shop();
    let wrong = [json!(""), json!("ä".repeat(256)), json!("a\nb"), json!(1)];
    refuses(&shop, "tokenize-card", &card(&json!({})), "name", &wrong);
    requires(&shop, "tokenize-card", &card(&json!({})), "name");
    shop.sdk("tokenize-card", &card(&json!({ "name": "ä".repeat(255) }))).id();
}

#[test]
fn an_expiration_date_is_mm_yy_and_not_in_the_past() {
    let (_server, shop) = Server::with_shop();
    let wrong =
        ["", "1/49", "12/2049", "1249", "13/49", "00/49", "12-49", "+1/49", "aa/bb", "12/49 ", "01/20", "12/24"];
    refuses(&shop, "tokenize-card", &card(&json!({})), "expiration_date", &wrong.map(Value::from));
    refuses(&shop, "tokenize-card", &card(&json!({})), "expiration_date", &[json!(1249), json!({})]);
    requires(&shop, "tokenize-card", &card(&json!({})), "expiration_date");
    shop.sdk("tokenize-card", &card(&json!({ "expiration_date": "01/99" }))).id();
}

#[test]
fn a_security_code_is_4_digits_for_american_express_else_3() {
    let (_server, shop) = Server::with_shop();
    let wrong = [json!(""), json!("12"), json!("1234"), json!("12a"), json!(" 123"), json!(123), json!("๑๒๓")];
    refuses(&shop, "tokenize-card", &card(&json!({})), "security_code", &wrong);
    requires(&shop, "tokenize-card", &card(&json!({})), "security_code");
    for number in ["378282246310005", "341111111111111"] {
        let american_express = card(&json!({ "number": number, "security_code": "1234" }));
        refuses(&shop, "tokenize-card", &american_express, "security_code", &[json!("123"), json!("12345")]);
        shop.sdk("tokenize-card", &american_express).id();
    }
}

#[test]
fn a_usage_is_single_or_multiple_and_single_when_left_out() {
    let (_server, shop) = Server::with_shop();
    refuses(
        &shop,
        "tokenize-card",
        &card(&json!({})),
        "usage",
        &[json!(""), json!("single"), json!("TWICE"), json!(1)],
    );
    let mut left_out = card(&json!({}));
    left_out.as_object_mut().expect("an object").remove("usage");
    for card in [left_out, card(&json!({ "usage": null }))] {
        let token = shop.sdk("tokenize-card", &card).id();
        let select = json!({ "amount": 5, "currency": "THB", "payment_method": "CARD", "token": token });
        shop.sdk("select-payment-method", &select).id();
        shop.sdk("select-payment-method", &select).refused("TOKEN_ALREADY_USED");
    }
}

#[test]
fn all_faults_of_a_card_come_at_once_without_its_values() {
    let (_server, shop) = Server::with_shop();
    let wrong = json!({ "number": "4111111111111112", "name": "", "expiration_date": "99/99",
        "security_code": "98765", "usage": "x" });
    let answer = shop.sdk("tokenize-card", &wrong);
    let expected =
        ["invalid number", "invalid name", "invalid expiration_date", "invalid security_code", "invalid usage"];
    assert_eq!(answer.faults(), expected);
    for secret in ["4111111111111112", "411111", "98765"] {
        assert!(!answer.body.to_string().contains(secret), "{}", answer.body);
    }
}

#[test]
fn tokenize_card_takes_no_idempotency_key() {
    let (server, shop) = Server::with_shop();
    let tokenize =
        || server.client().idempotency_key("same").post("/sdk/tokenize-card", &shop.named(&card(&json!({}))));
    let (first, second) = (tokenize(), tokenize());
    assert_eq!((first.header("idempotent-replayed"), second.header("idempotent-replayed")), (None, None));
    assert_ne!(first.id(), second.id());
    assert!(
        server
            .client()
            .idempotency_key("a\tb")
            .post("/sdk/tokenize-card", &shop.named(&card(&json!({}))))
            .id()
            .starts_with("tok_")
    );
}

#[test]
fn a_selection_needs_amount_currency_and_method_of_their_forms() {
    let (_server, shop) = Server::with_shop();
    let endpoint = "select-payment-method";
    for name in ["amount", "currency", "payment_method"] {
        requires(&shop, endpoint, &selection(&json!({})), name);
    }
    let amounts = [
        json!("0"),
        json!(0),
        json!("01"),
        json!("1.0"),
        json!(1.5),
        json!("9007199254740992"),
        json!(-1),
        json!(true),
    ];
    refuses(&shop, endpoint, &selection(&json!({})), "amount", &amounts);
    refuses(&shop, endpoint, &selection(&json!({})), "currency", &[json!("thb"), json!("ZZZ"), json!(1), json!("")]);
    refuses(
        &shop,
        endpoint,
        &selection(&json!({})),
        "payment_method",
        &[json!("card"), json!("CASH"), json!(1), json!("")],
    );
    shop.sdk(endpoint, &selection(&json!({ "amount": 9_007_199_254_740_991_u64 }))).id();
}

#[test]
fn a_selection_in_another_currency_is_invalid() {
    let (_server, shop) = Server::with_shop();
    let answer = shop.sdk("select-payment-method", &selection(&json!({ "currency": "USD" })));
    assert_eq!(answer.faults(), ["invalid currency"]);
    let token = shop.token_of(CARD, "SINGLE");
    shop.sdk("select-payment-method", &selection(&json!({ "currency": "USD", "token": token }))).faults();
    shop.sdk("select-payment-method", &selection(&json!({ "token": token }))).id();
}

#[test]
fn arguments_of_the_method_are_required_and_others_refused() {
    let (_server, shop) = Server::with_shop();
    let faults = |body: &Value| shop.sdk("select-payment-method", body).faults();
    let plan = json!({ "installment_plan_id": "sandbox_3_months", "interest_bearer": "customer" });
    assert_eq!(faults(&selection(&plan)), ["invalid installment_plan_id", "invalid interest_bearer"]);
    let card = json!({ "token": shop.token_of(CARD, "SINGLE"), "card_id": "crd_1" });
    assert_eq!(faults(&installment(&card)), ["invalid token", "invalid card_id"]);
    assert_eq!(faults(&selection(&card)), ["invalid card_id"], "one of the two");
    let bare = selection(&json!({ "payment_method": "INSTALLMENT" }));
    assert_eq!(faults(&bare), ["missing installment_plan_id", "missing interest_bearer"]);
    assert_eq!(faults(&installment(&json!({ "installment_plan_id": null }))), ["missing installment_plan_id"]);
    assert_eq!(faults(&installment(&json!({ "installment_plan_id": "other" }))), ["invalid installment_plan_id"]);
    assert_eq!(faults(&installment(&json!({ "interest_bearer": "CUSTOMER" }))), ["invalid interest_bearer"]);
}

#[test]
fn a_selection_reads_the_customer_as_an_initiation_does() {
    let (_server, shop) = Server::with_shop();
    let wrong =
        json!({ "customer_id": "", "customer_email": "ada", "customer_mobile": "0812345678", "customer_name": "" });
    let expected =
        ["invalid customer_id", "invalid customer_email", "invalid customer_mobile", "invalid customer_name"];
    assert_eq!(shop.sdk("select-payment-method", &selection(&wrong)).faults(), expected);
    let sound = json!({ "customer_id": "ctc_nobody", "customer_email": "ada@example.com", "customer_name": null });
    shop.sdk("select-payment-method", &selection(&sound)).id();
    shop.call("find-contact", &json!({ "contact_id": "ada@example.com" })).refused("NOT_FOUND");
}

#[test]
fn a_selection_uses_up_only_a_single_use_token() {
    let (_server, shop) = Server::with_shop();
    let single = selection(&json!({ "token": shop.token_of(CARD, "SINGLE") }));
    let session = shop.sdk("select-payment-method", &single).id();
    assert!(session.starts_with("pse_") && session.len() == 30, "{session}");
    assert_eq!(shop.sdk("select-payment-method", &single).refused("TOKEN_ALREADY_USED"), Value::Null);
    let multiple = selection(&json!({ "token": shop.token_of(CARD, "MULTIPLE") }));
    let sessions = [0; 3].map(|_| shop.sdk("select-payment-method", &multiple).id());
    assert!(sessions[0] < sessions[1] && sessions[1] < sessions[2], "ids grow: {sessions:?}");
}

#[test]
fn a_refused_selection_leaves_its_token_usable() {
    let (_server, shop) = Server::with_shop();
    let token = shop.token_of(CARD, "SINGLE");
    for wrong in [json!({ "amount": "0" }), json!({ "currency": "USD" }), json!({ "card_id": "crd_1" })] {
        shop.sdk("select-payment-method", &merged(&selection(&json!({ "token": token })), &wrong))
            .refused("INVALID_ARGUMENTS");
    }
    shop.sdk("select-payment-method", &selection(&json!({ "token": token }))).id();
}

#[test]
fn a_token_or_saved_card_that_there_is_not_is_not_found() {
    let (_server, shop) = Server::with_shop();
    let token = id_of_nothing(&shop.token_of(CARD, "SINGLE"));
    let unknown = shop.sdk("select-payment-method", &selection(&json!({ "token": token })));
    assert_eq!(unknown.refused("NOT_FOUND"), json!({ "argument": "token" }));
    let (_, card) = shop.saved_card(&json!({ "customer_id": "ada" }));
    for card in [id_of_nothing(&card), "crd_1".to_owned(), "my card".to_owned()] {
        let answer = shop.sdk("select-payment-method", &selection(&json!({ "card_id": card })));
        assert_eq!(answer.refused("NOT_FOUND"), json!({ "argument": "card_id" }), "{card}");
    }
    let wrong = [json!("tok_1"), json!(""), json!(1), json!(card)];
    refuses(&shop, "select-payment-method", &selection(&json!({})), "token", &wrong);
    refuses(
        &shop,
        "select-payment-method",
        &selection(&json!({})),
        "card_id",
        &[json!(""), json!("a".repeat(256)), json!(1)],
    );
}

#[test]
fn a_selection_under_a_key_is_made_once() {
    let (server, shop) = Server::with_shop();
    let body = shop.named(&selection(&json!({ "token": shop.token_of(CARD, "SINGLE") })));
    let select = |body: &Value| server.client().idempotency_key("cart-1").post("/sdk/select-payment-method", body);
    let first = select(&body).id();
    let again = select(&merged(&body, &json!({ "amount": 100 })));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.id(), first);
    select(&merged(&body, &json!({ "amount": 101 }))).refused("IDEMPOTENCY_KEY_REUSED");
    let add = json!({ "merchant_id": shop.merchant_id, "name": "App", "platform": "IOS", "identifier": "th.example" });
    let other = json!({ "installation_id": server.admin("add-installation", &add).id(), "token": null });
    let elsewhere = select(&merged(&body, &other));
    assert_eq!(elsewhere.header("idempotent-replayed"), None, "a key belongs to its installation");
    assert_ne!(elsewhere.id(), first);
}

#[test]
fn a_session_shows_its_selection_for_30_minutes() {
    let (_server, shop) = Server::with_shop();
    for (body, name, bearer) in [
        (selection(&json!({ "token": shop.token_of(CARD, "SINGLE") })), "Visa 4242", Value::Null),
        (selection(&json!({})), "Card", Value::Null),
        (installment(&json!({})), "Sandbox instalments, 3 months", json!("customer")),
    ] {
        let id = shop.sdk("select-payment-method", &body).id();
        let session = shop.payment_session(&id);
        let created = session["created_at"].as_u64().expect("a time");
        let expected = json!({
            "payment_session_id": id, "status": "ACTIVE", "amount": 100, "currency": "THB",
            "payment_method": body["payment_method"], "payment_method_display_name": name, "interest_bearer": bearer,
            "failure_code": null, "created_at": created, "expires_at": created + 1_800,
        });
        assert_eq!(session, expected);
    }
}

#[test]
fn a_session_tells_its_client_the_next_action_throughout() {
    let (_server, shop) = Server::with_shop();
    let insufficient = "4000000000009995";
    for (number, end, code) in
        [(CARD, "SUCCESSFUL", Value::Null), (insufficient, "FAILED", json!("insufficient_funds"))]
    {
        let session = shop.session_of(number, 100);
        let body = json!({ "payment_session_id": session });
        let ask = |endpoint: &str| shop.sdk(endpoint, &body).id();
        assert_eq!((ask("check-status"), ask("discover-next-action")), ("PENDING".to_owned(), "WAIT".to_owned()));
        let payment = shop.initiate(&session, 100, &json!({})).id();
        assert_eq!(shop.payment_session(&session)["status"], "USED");
        let between = ask("check-status");
        assert!(between == "INITIATED" || between == end, "{between}");
        shop.settled(&payment);
        assert_eq!((ask("check-status"), ask("discover-next-action")), (end.to_owned(), "CHECK_STATUS".to_owned()));
        let ended = shop.payment_session(&session);
        assert_eq!((&ended["status"], &ended["failure_code"]), (&json!("USED"), &code));
    }
}

#[test]
fn a_session_that_there_is_not_is_not_found_by_any_endpoint() {
    let (_server, shop) = Server::with_shop();
    let session = shop.session(100);
    for endpoint in SESSION_ENDPOINTS {
        let body = json!({ "payment_session_id": session });
        requires(&shop, endpoint, &body, "payment_session_id");
        refuses(
            &shop,
            endpoint,
            &body,
            "payment_session_id",
            &[json!(""), json!("pse_1"), json!(1), json!(shop.key_id)],
        );
        let unknown = json!({ "payment_session_id": id_of_nothing(&session) });
        let expected = json!({ "argument": "payment_session_id" });
        assert_eq!(shop.sdk(endpoint, &unknown).refused("NOT_FOUND"), expected, "{endpoint}");
    }
}

/// A call as a page of this origin makes it.
fn from_page(server: &Server, origin: &str, endpoint: &str, body: &Value) -> ApiAnswer {
    server.client().header("Origin", origin).post(&format!("/sdk/{endpoint}"), body)
}

#[test]
fn only_a_page_of_the_installations_origin_reads_answers() {
    let fixture = Fixture::start(Start::default());
    let Fixture { server, shop, .. } = &fixture;
    for (endpoint, body) in endpoints(&fixture) {
        let body = shop.named(&body);
        let own = from_page(server, "https://shop.example", endpoint, &body);
        assert_eq!(own.header("access-control-allow-origin"), Some("https://shop.example"), "{endpoint}");
        assert!(own.header("vary").is_some_and(|vary| vary.contains("Origin")), "{endpoint}");
        own.ok();
        for origin in [
            "https://evil.example",
            "http://shop.example",
            "https://shop.example:8443",
            "https://sub.shop.example",
            "null",
        ] {
            let other = from_page(server, origin, endpoint, &body);
            assert_eq!(other.header("access-control-allow-origin"), None, "{endpoint} from {origin}");
        }
        let none = server.client().post(&format!("/sdk/{endpoint}"), &body);
        assert_eq!(none.header("access-control-allow-origin"), None, "{endpoint}");
    }
}

#[test]
fn the_page_may_read_refusals_too_also_those_of_its_arguments() {
    let (server, shop) = Server::with_shop();
    let origin = "https://shop.example";
    let wrong = shop.named(&card(&json!({ "number": "4242424242424241" })));
    let unknown = shop.named(&json!({ "payment_session_id": id_of_nothing(&shop.session(100)) }));
    for (endpoint, body, code) in
        [("tokenize-card", &wrong, "INVALID_ARGUMENTS"), ("check-status", &unknown, "NOT_FOUND")]
    {
        let answer = from_page(&server, origin, endpoint, body);
        answer.refused(code);
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin), "{endpoint}");
        let elsewhere = from_page(&server, "https://evil.example", endpoint, body);
        assert_eq!(elsewhere.header("access-control-allow-origin"), None, "{endpoint}");
    }
    server.admin("suspend-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    let suspended = from_page(&server, origin, "list-installment-plans", &shop.named(&json!({})));
    suspended.refused("MERCHANT_SUSPENDED");
    assert_eq!(suspended.header("access-control-allow-origin"), Some(origin));
}

#[test]
fn an_installation_that_is_no_web_page_lets_no_page_read() {
    let (server, shop) = Server::with_shop();
    let add = json!({
        "merchant_id": shop.merchant_id, "name": "App", "platform": "ANDROID", "identifier": "https://app.example",
    });
    let body =
        json!({ "merchant_id": shop.merchant_id, "installation_id": server.admin("add-installation", &add).id() });
    let answer = from_page(&server, "https://app.example", "list-installment-plans", &body);
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, None));
}

#[test]
fn a_call_with_an_api_key_may_be_read_by_no_page() {
    let (_server, shop) = Server::with_shop();
    let answer = shop.client().header("Origin", "https://shop.example").post("/merchants/get-balance", &json!({}));
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, None));
}

/// The first answer with 429, which takes several calls on a slow machine.
#[track_caller]
fn turned_away(call: impl Fn() -> ApiAnswer) -> ApiAnswer {
    (0..200).map(|_| call()).find(|answer| answer.status == 429).expect("a call is turned away")
}

#[test]
fn an_address_over_its_rate_is_refused_for_the_installation() {
    let server = Start::default().with("TILL_SDK_CALLS_PER_SECOND", "2").server();
    let (shop, other) = (server.shop(), server.shop());
    let call = |shop: &Shop| shop.sdk("list-installment-plans", &json!({}));
    assert_eq!((call(&shop).status, call(&shop).status), (200, 200));
    let refused = turned_away(|| call(&shop));
    assert_eq!((refused.status, refused.code()), (429, "RATE_LIMITED"), "{}", refused.body);
    assert_eq!(refused.details(), json!({ "limit_per_second": 2 }), "{}", refused.body);
    let seconds: u64 = refused.header("retry-after").and_then(|text| text.parse().ok()).expect("seconds");
    assert!((1..=2).contains(&seconds), "{seconds}");
    assert_eq!(call(&other).status, 200, "another installation has its own count");
    std::thread::sleep(Duration::from_secs(seconds));
    assert_eq!(call(&shop).status, 200);
}

#[test]
fn faulty_calls_count_and_change_nothing_when_refused() {
    let (_server, shop) = Start::default().with("TILL_SDK_CALLS_PER_SECOND", "2").server_with_shop();
    let wrong = card(&json!({ "number": "4242424242424241" }));
    shop.sdk("tokenize-card", &wrong).refused("INVALID_ARGUMENTS");
    turned_away(|| shop.sdk("tokenize-card", &wrong));
    turned_away(|| shop.sdk("list-installment-plans", &json!({})));
}

#[test]
fn the_merchants_own_calls_are_not_counted() {
    let (_server, shop) = Start::default().with("TILL_SDK_CALLS_PER_SECOND", "1").server_with_shop();
    assert!((0..20).all(|_| shop.call("get-balance", &json!({})).status == 200));
}
