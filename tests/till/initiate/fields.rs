//! The form of each argument. Faults are refused before anything is looked up.

use serde_json::{Value, json};

use super::attempt::{PATH, RefusedAttempt};
use crate::harness::{Server, Shop, merged};

/// The largest amount: 2^53-1.
const AMOUNT_MAX: u64 = 9_007_199_254_740_991;
/// Texts with a control character: of ASCII, DEL, and of Latin-1.
const CONTROLS: [&str; 4] = ["a\u{0}b", "a\nb", "a\u{7f}", "a\u{85}b"];

/// A merchant, and a session on which wrong arguments are tried.
struct Form {
    shop: Shop,
    session: String,
    _server: Server,
}

impl Form {
    fn new() -> Form {
        let (server, shop) = Server::with_shop();
        Form { session: shop.session(100), shop, _server: server }
    }

    fn attempt(&self) -> RefusedAttempt<'_> {
        RefusedAttempt::on(&self.shop, self.session.clone(), 100)
    }

    /// Checks that the argument must be there, and that null counts as missing.
    #[track_caller]
    fn requires(&self, name: &str) {
        let mut body = self.attempt().body(&json!({}));
        body.as_object_mut().expect("a body is an object").remove(name);
        assert_eq!(self.attempt().body_without_trace(&body.to_string()).faults(), [format!("missing {name}")]);
        assert_eq!(self.attempt().faults(&json!({ name: null })), [format!("missing {name}")]);
    }

    /// Checks that each of these is refused for its form, and that the message does not repeat it.
    #[track_caller]
    fn refuses(&self, name: &str, values: &[Value]) {
        for value in values {
            let answer = self.attempt().without_trace(&json!({ name: value }));
            assert_eq!(answer.faults(), [format!("invalid {name}")], "{value}");
            let message = answer.details()[0]["message"].as_str().unwrap_or_default().to_owned();
            assert!(!message.is_empty(), "{value}");
            // The message may contain a short value in its advice.
            let text = value.as_str().filter(|text| text.len() > 12).unwrap_or("\u{0}");
            assert!(!answer.message().contains(text) && !message.contains(text), "repeats {value}: {message}");
        }
    }

    /// Checks that each of these is accepted, each with a session of its own, and returns the payments.
    #[track_caller]
    fn takes(&self, name: &str, values: &[Value]) -> Vec<Value> {
        let pay = |value: &Value| {
            let answer = self.shop.initiate(&self.shop.session(100), 100, &json!({ name: value }));
            assert_eq!(answer.status, 200, "{value}: {}", answer.body);
            self.shop.payment(&answer.id())
        };
        values.iter().map(pay).collect()
    }

    /// Checks that only strings are accepted.
    #[track_caller]
    fn wants_a_string(&self, name: &str) {
        self.refuses(name, &[json!(1), json!(true), json!([]), json!({}), json!(["x"])]);
    }

    /// Checks that null is the same as a missing argument, and that the session can be paid after all the refusals.
    #[track_caller]
    fn ignores_null_and_pays(&self, name: &str) {
        self.attempt().still_pays_with(&json!({ name: null }));
    }
}

#[test]
fn external_id_is_1_to_255_bytes_and_no_payment_id() {
    let form = Form::new();
    form.wants_a_string("external_id");
    form.refuses("external_id", &CONTROLS.map(Value::from));
    let payment = form.shop.pay(100);
    form.refuses("external_id", &[json!(""), json!("a".repeat(256)), json!("ä".repeat(128)), json!(payment)]);
    let longest = format!("{}a", "ä".repeat(127));
    let other_kind = payment.replace("pay_", "ctc_");
    let taken = [json!("x"), json!(longest), json!("inv_1001"), json!("pay_1001"), json!(other_kind), json!(" a b ")];
    for (payment, sent) in form.takes("external_id", &taken).iter().zip(&taken) {
        assert_eq!(&payment["external_id"], sent);
    }
    form.ignores_null_and_pays("external_id");
}

#[test]
fn amount_is_digits_or_an_integer_from_1_to_2_to_the_53_less_1() {
    let form = Form::new();
    form.requires("amount");
    for text in ["", "0", "00", "0100", "-100", "+100", "1e2", "100.0", "100.", "1,00", " 100", "100 ", "0x64", "๑๐๐"]
    {
        form.refuses("amount", &[json!(text)]);
    }
    form.refuses("amount", &[json!("9007199254740992"), json!("18446744073709551716"), json!("9".repeat(400))]);
    form.refuses("amount", &[json!(0), json!(-100), json!(100.5), json!(true), json!([100]), json!({ "minor": 100 })]);
    form.takes("amount", &[json!("100"), json!(100), json!(100.0)]);
    let body = form.attempt().body(&json!({})).to_string().replace("\"100\"", "1e2");
    form.shop.settled(&form.shop.client().post_bytes(PATH, body.as_bytes()).id());
}

#[test]
fn the_largest_amount_is_exact_and_a_larger_number_is_refused() {
    let form = Form::new();
    let answer = form.attempt().without_trace(&json!({ "amount": AMOUNT_MAX + 1 }));
    assert_eq!(answer.refused("INVALID_ARGUMENTS"), json!([]), "a number that readers cannot hold spoils the body");
    let session = form.shop.session(AMOUNT_MAX);
    let payment = form.shop.initiate(&session, 1, &json!({ "amount": AMOUNT_MAX })).id();
    assert_eq!(form.shop.settled(&payment)["amount_captured"], AMOUNT_MAX);
    assert_eq!(form.shop.balance()["pending"], AMOUNT_MAX);
}

#[test]
fn currency_is_an_upper_case_iso_4217_code() {
    let form = Form::new();
    form.requires("currency");
    form.wants_a_string("currency");
    form.refuses("currency", &["", "thb", "Thb", "TH", "THBX", "ZZZ", "764", "฿", " THB"].map(Value::from));
    form.attempt().still_pays_with(&json!({ "currency": "THB" }));
}

#[test]
fn payment_session_id_is_a_session_id() {
    let form = Form::new();
    form.requires("payment_session_id");
    form.wants_a_string("payment_session_id");
    let upper = form.session.to_uppercase();
    let other_kind = form.session.replace("pse_", "pay_");
    let short = &form.session[..form.session.len() - 1];
    let long = format!("{}0", form.session);
    form.refuses(
        "payment_session_id",
        &["", "pse_", "pse_1", "order", &upper, &other_kind, short, &long].map(Value::from),
    );
    form.attempt().still_pays();
}

#[test]
fn card_id_is_1_to_255_bytes_also_where_it_is_ignored() {
    let form = Form::new();
    form.wants_a_string("card_id");
    form.refuses("card_id", &CONTROLS.map(Value::from));
    form.refuses("card_id", &[json!(""), json!("a".repeat(256)), json!("ä".repeat(128))]);
    form.takes("card_id", &[json!("crd_1"), json!("a".repeat(255)), json!("my card")]);
    form.ignores_null_and_pays("card_id");
}

#[test]
fn capture_is_true_or_false_and_nothing_like_it() {
    let form = Form::new();
    form.requires("capture");
    form.refuses("capture", &[json!("true"), json!(1), json!(0), json!(""), json!([]), json!({})]);
    let taken = form.takes("capture", &[json!(true), json!(false)]);
    assert_eq!((&taken[0]["capture"], &taken[1]["capture"]), (&json!("automatic"), &json!("manual")));
    form.attempt().still_pays();
}

#[test]
fn return_url_is_an_absolute_http_address_of_at_most_2048_bytes() {
    let form = Form::new();
    form.requires("return_url");
    form.wants_a_string("return_url");
    for text in ["", "/done", "shop.example/done", "//shop.example", "ftp://shop.example", "javascript:alert(1)"] {
        form.refuses("return_url", &[json!(text)]);
    }
    for text in [
        "https:shop.example",
        "https://",
        "https:///done",
        "https://shop example/",
        "https://a.co/a b",
        "mailto:a@b.co",
    ] {
        form.refuses("return_url", &[json!(text)]);
    }
    form.refuses("return_url", &CONTROLS.map(|text| json!(format!("https://shop.example/{text}"))));
    let of_length = |length: usize| json!(format!("https://shop.example/{}", "a".repeat(length - 21)));
    form.refuses("return_url", &[of_length(2_049)]);
    let taken = [
        of_length(2_048),
        json!("http://localhost:3000/?a=b&c=%20#d"),
        json!("HTTPS://Shop.Example"),
        json!("https://ร้าน.ไทย/เสร็จ"),
    ];
    for (payment, sent) in form.takes("return_url", &taken).iter().zip(&taken) {
        assert_eq!(&payment["return_url"], sent, "as it was sent");
    }
    form.attempt().still_pays();
}

#[test]
fn customer_id_is_1_to_255_bytes_without_control_characters() {
    let form = Form::new();
    form.wants_a_string("customer_id");
    form.refuses("customer_id", &CONTROLS.map(Value::from));
    form.refuses("customer_id", &[json!(""), json!("a".repeat(256)), json!("ä".repeat(128))]);
    let longest = json!(format!("{}a", "ä".repeat(127)));
    let payment = form.takes("customer_id", &[json!("x"), longest.clone()]).pop().expect("two payments");
    let contact = form.shop.contact(payment["customer_id"].as_str().expect("a customer"));
    assert_eq!(contact["external_id"], longest);
    form.ignores_null_and_pays("customer_id");
}

#[test]
fn customer_email_is_an_address_and_kept_in_lower_case() {
    let form = Form::new();
    form.wants_a_string("customer_email");
    for text in ["", "ada", "ada@", "@example.com", "ada example@example.com", "a@b@c.co", "ada@exa mple.com"] {
        form.refuses("customer_email", &[json!(text)]);
    }
    for text in ["Ada <ada@example.com>", "ada@[127.0.0.1]", "ada@example.com\n", "a..b@example.com", "ada@-x-.com"] {
        form.refuses("customer_email", &[json!(text)]);
    }
    form.refuses("customer_email", &[json!(format!("{}@example.com", "a".repeat(65)))]);
    form.refuses("customer_email", &[json!(format!("a@{}example.com", "abcdefgh.".repeat(30)))]);
    let taken =
        form.takes("customer_email", &[json!("Ada.Example+Shop@Example.COM"), json!("o'hara_1@sub.example.co.th")]);
    assert_eq!(taken[0]["customer_email"], "ada.example+shop@example.com");
    form.ignores_null_and_pays("customer_email");
}

#[test]
fn customer_mobile_is_a_plus_and_8_to_15_digits() {
    let form = Form::new();
    form.wants_a_string("customer_mobile");
    for text in ["", "+", "66812345678", "0812345678", "+1234567", "+1234567890123456", "+66 81 234 5678", "+66-812345"]
    {
        form.refuses("customer_mobile", &[json!(text)]);
    }
    form.refuses(
        "customer_mobile",
        &["+06812345678", "+6681234567a", "++6681234567", "+๑๒๓๔๕๖๗๘", "+66812345678\n"].map(Value::from),
    );
    let taken = [json!("+12345678"), json!("+123456789012345")];
    for (payment, sent) in form.takes("customer_mobile", &taken).iter().zip(&taken) {
        assert_eq!(&payment["customer_mobile"], sent);
    }
    form.ignores_null_and_pays("customer_mobile");
}

#[test]
fn customer_name_is_1_to_255_printable_characters() {
    let form = Form::new();
    form.wants_a_string("customer_name");
    form.refuses("customer_name", &CONTROLS.map(Value::from));
    form.refuses("customer_name", &[json!(""), json!("ä".repeat(256))]);
    let taken = [json!("ä".repeat(255)), json!("สมชาย ใจดี"), json!("X")];
    for (payment, sent) in form.takes("customer_name", &taken).iter().zip(&taken) {
        assert_eq!(&payment["customer_name"], sent);
    }
    form.ignores_null_and_pays("customer_name");
}

#[test]
fn save_card_is_add_or_default() {
    let form = Form::new();
    form.refuses("save_card", &["", "add", "Default", "NONE", "ADD "].map(Value::from));
    form.refuses("save_card", &[json!(true), json!(1), json!(["ADD"])]);
    form.takes("save_card", &[json!("ADD"), json!("DEFAULT")]);
    form.ignores_null_and_pays("save_card");
}

#[test]
fn interest_bearer_is_customer_or_merchant() {
    let form = Form::new();
    form.refuses("interest_bearer", &["", "CUSTOMER", "Merchant", "bank"].map(Value::from));
    form.refuses("interest_bearer", &[json!(true), json!(1), json!([])]);
    let taken = form.takes("interest_bearer", &[json!("customer"), json!("merchant")]);
    assert!(taken.iter().all(|payment| payment["interest_bearer"].is_null()), "it belongs to instalments");
    form.ignores_null_and_pays("interest_bearer");
}

#[test]
fn an_unknown_argument_is_refused_with_the_nearest_known_one() {
    let form = Form::new();
    for (unknown, suggestion) in [
        ("external_Id", Some("external_id")),
        ("externalId", Some("external_id")),
        ("amout", Some("amount")),
        ("payment-session-id", Some("payment_session_id")),
        ("customer_mail", Some("customer_email")),
        ("CAPTURE", Some("capture")),
        ("zzzzzzzzzzzz", None),
    ] {
        let details = form.attempt().refused("INVALID_ARGUMENTS", &json!({ unknown: "x" }));
        assert_eq!(details.as_array().map(Vec::len), Some(1), "{details}");
        assert_eq!((&details[0]["type"], &details[0]["argument"]), (&json!("unknown"), &json!(unknown)));
        assert_eq!(details[0].get("suggestion").and_then(Value::as_str), suggestion, "{details}");
    }
    assert_eq!(form.attempt().faults(&json!({ "external_Id": null })), ["unknown external_Id"], "null is sent, too");
    form.attempt().still_pays();
}

#[test]
fn all_faults_come_at_once_in_the_order_of_the_arguments() {
    let form = Form::new();
    let wrong = json!({
        "zzz": 1, "interest_bearer": 1, "save_card": 1, "customer_name": 1, "customer_mobile": 1, "customer_email": 1,
        "customer_id": 1, "return_url": 1, "capture": 1, "card_id": 1, "payment_session_id": 1, "currency": 1,
        "amount": 0, "external_id": 1, "external_Id": 1,
    });
    let attempt = form.attempt().idempotency_key("with\ttab");
    let faults = attempt.faults(&wrong);
    let expected = [
        "invalid external_id",
        "invalid amount",
        "invalid currency",
        "invalid payment_session_id",
        "invalid card_id",
        "invalid capture",
        "invalid return_url",
        "invalid customer_id",
        "invalid customer_email",
        "invalid customer_mobile",
        "invalid customer_name",
        "invalid save_card",
        "invalid interest_bearer",
        "unknown external_Id",
        "unknown zzz",
        "invalid Idempotency-Key",
    ];
    assert_eq!(faults, expected);
    let required =
        ["missing amount", "missing currency", "missing payment_session_id", "missing capture", "missing return_url"];
    assert_eq!(form.attempt().body_without_trace("{}").faults(), required);
    form.attempt().still_pays();
}

#[test]
fn every_fault_has_a_type_an_argument_and_a_message() {
    let form = Form::new();
    let details =
        form.attempt().refused("INVALID_ARGUMENTS", &json!({ "amount": "x", "capture": null, "nonsense": 1 }));
    for fault in details.as_array().expect("an array of faults") {
        for key in ["type", "argument", "message"] {
            assert!(fault[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {fault}");
        }
    }
    form.attempt().still_pays();
}

#[test]
fn an_unreadable_body_is_refused_with_an_empty_array() {
    let form = Form::new();
    let sound = form.attempt().body(&json!({})).to_string();
    let twice = sound.replacen('{', "{\"amount\":\"100\",", 1);
    let beyond = sound.replacen('{', "{\"note\":9007199254740993,", 1);
    let huge = sound.replacen('{', "{\"note\":1e999,", 1);
    let surrogate = sound.replacen('{', r#"{"external_id":"\ud800","#, 1);
    let deep = sound.replacen('{', &format!("{{\"note\":{}{},", "[".repeat(64), "]".repeat(64)), 1);
    let open = &sound[..sound.len() - 1];
    for body in
        ["", "[]", "null", "\"x\"", "{", open, &twice, &beyond, &huge, &surrogate, &deep, &format!("{sound}{sound}")]
    {
        assert_eq!(form.attempt().body_without_trace(body).refused("INVALID_ARGUMENTS"), json!([]), "{body}");
    }
    let not_utf8 = [b"{\"external_id\":\"\xff\",", &sound.as_bytes()[1..]].concat();
    assert_eq!(form.shop.client().post_bytes(PATH, &not_utf8).refused("INVALID_ARGUMENTS"), json!([]));
    form.attempt().still_pays();
}

#[test]
fn arguments_may_have_any_order_and_optional_ones_may_be_null() {
    let form = Form::new();
    let nothing = json!({
        "external_id": null, "card_id": null, "customer_id": null, "customer_email": null, "customer_mobile": null,
        "customer_name": null, "save_card": null, "interest_bearer": null,
    });
    let body = merged(&nothing, &form.attempt().body(&json!({})));
    let paid = form.shop.settled(&form.shop.call("initiate-payment-flow", &body).id());
    assert_eq!((&paid["external_id"], &paid["customer_id"]), (&Value::Null, &Value::Null));
}
