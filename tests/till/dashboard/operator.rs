//! The operator's pages: who is let in, for how long, and that each does what its call does.

use std::fs;

use serde_json::{Value, json};

use super::seat::{Visitor, between, hidden, text};
use crate::harness::{Client, Server, Start, Wire, temporary};

const TOKEN: &str = "admin-token-of-a-test";

fn sign_in(visitor: &Visitor, token: &str) -> crate::harness::RawAnswer {
    visitor.post("/operator", &[("token", token)])
}

fn operator(server: &Server) -> Visitor {
    let visitor = Visitor::of_operator(server);
    let answer = sign_in(&visitor, TOKEN);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/operator")));
    visitor
}

/// Opens a form at this path, fills it in and posts it. Answers where it leads.
#[track_caller]
fn act(operator: &Visitor, path: &str, fields: &[(&str, &str)]) -> String {
    let key = hidden(&text(&operator.get(path), 200), "idempotency_key");
    let fields = [fields, &[("idempotency_key", &*key)]].concat();
    let answer = operator.post(path, &fields);
    assert_eq!(answer.status, 303, "{}", String::from_utf8_lossy(&answer.body));
    let again = operator.post(path, &fields);
    assert_eq!(again.header("location"), answer.header("location"), "a double click does it once");
    answer.header("location").expect("an address").to_owned()
}

fn merchants(server: &Server) -> Vec<Value> {
    server.admin("list-merchants", &json!({})).ok()["page"].as_array().expect("a list").clone()
}

#[test]
fn the_operator_signs_in_with_the_admin_token_and_out_again() {
    let server = Server::start();
    let visitor = Visitor::of_operator(&server);
    let page = text(&visitor.get("/operator"), 200);
    assert!(page.contains("<h1>Operator sign in</h1>") && page.contains("Admin token"), "{page}");
    for path in ["/operator/merchants", "/operator/checkpoint", "/operator/sandbox", "/operator/merchants/mer_1/keys"] {
        let asked = visitor.get(path);
        assert_eq!((asked.status, asked.header("location")), (303, Some("/operator")), "{path}");
    }
    let wrong = text(&sign_in(&visitor, "till-admin"), 400);
    assert!(wrong.contains("The admin token is wrong") && !wrong.contains("till-admin"), "{wrong}");
    let answer = sign_in(&visitor, TOKEN);
    let cookie = answer.header("set-cookie").expect("a session");
    assert!(cookie.starts_with("__Host-till_operator="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; Secure; HttpOnly; SameSite=Lax") && !cookie.contains(TOKEN), "{cookie}");
    let page = text(&visitor.get("/operator"), 200);
    assert!(page.contains("<h1>Overview</h1>") && page.contains("READY"), "{page}");
    let kept = visitor.cookie.borrow().clone();
    assert_eq!(visitor.post("/operator/sign-out", &[]).status, 303);
    assert_eq!(*visitor.cookie.borrow(), None);
    for forged in [None, kept.as_deref().map(|cookie| &cookie[..cookie.len() - 1]), Some("__Host-till_operator=")] {
        *visitor.cookie.borrow_mut() = forged.map(str::to_owned);
        assert_eq!(visitor.get("/operator/merchants").status, 303, "{forged:?}");
    }
    assert_eq!(Visitor::of(&server).get("/operator").status, 404, "the public listener has no such page");
}

#[test]
fn ten_wrong_tokens_from_one_address_are_the_last_for_a_while() {
    let server = Server::start();
    let visitor = Visitor::of_operator(&server);
    (0..10).for_each(|_| drop(text(&sign_in(&visitor, "guess"), 400)));
    text(&sign_in(&visitor, "guess"), 429);
    text(&sign_in(&visitor, TOKEN), 429);
    assert_eq!(sign_in(&visitor.from(9), TOKEN).status, 303);
}

#[test]
fn a_form_that_no_page_of_the_admin_listener_sent_does_nothing() {
    let server = Server::start();
    let operator = operator(&server);
    let own = server.admin_address();
    let public = server.public();
    for headers in [
        &[][..],
        &[("Origin", "null")],
        &[("Origin", public)],
        &[("Origin", own), ("Sec-Fetch-Site", "same-site")],
        &[("Origin", own), ("Sec-Fetch-Site", "cross-site")],
    ] {
        let fields = [("name", "Forged"), ("currency", "THB")];
        text(&operator.post_with("/operator/merchants/new", headers, &fields), 403);
        text(&operator.post_with("/operator/checkpoint", headers, &[]), 403);
        text(&operator.post_with("/operator/sign-out", headers, &[]), 403);
        text(&operator.post_with("/operator", headers, &[("token", TOKEN)]), 403);
    }
    assert_eq!(merchants(&server), Vec::<Value>::new());
    text(&operator.get("/operator/merchants"), 200);
}

#[test]
fn a_changed_admin_token_ends_the_session() {
    let (_directory, [file]) = temporary(["token"]);
    fs::write(&file, TOKEN).expect("a file can be written");
    let start = Start::default().without("TILL_ADMIN_TOKEN").with("TILL_ADMIN_TOKEN_FILE", &file.display().to_string());
    let server = start.server();
    let operator = operator(&server);
    let reload =
        |token: &str| drop(Client::new(server.admin_address()).bearer(token).post("/admin/reload", &json!({})).ok());
    fs::write(&file, format!("next-token\n{TOKEN}\n")).expect("a file can be written");
    reload(TOKEN);
    text(&operator.get("/operator/merchants"), 200);
    fs::write(&file, "next-token\n").expect("a file can be written");
    reload("next-token");
    assert_eq!(operator.get("/operator/merchants").status, 303);
    text(&sign_in(&operator, TOKEN), 400);
    assert_eq!(sign_in(&operator, "next-token").status, 303);
}

#[test]
fn the_pages_answer_by_the_names_of_the_admin_listener_and_take_no_token_over_plain_http() {
    let server = Server::start();
    let wire = Wire::new(server.admin_address());
    let answer = wire.receive("GET", "/operator", &[("Host", "rebound.example:9090")], b"");
    assert!(text(&answer, 421).contains("<h1>This is another server</h1>"));
    let page = text(&wire.receive("GET", "/operator", &[("Host", "192.168.1.7:9090")], b""), 200);
    assert!(!page.contains("name=\"token\"") && page.contains("https"), "{page}");
    let headers = [
        ("Host", "192.168.1.7:9090"),
        ("Origin", "http://192.168.1.7:9090"),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ];
    let refused = wire.receive("POST", "/operator", &headers, format!("token={TOKEN}").as_bytes());
    assert_eq!((refused.status, refused.header("set-cookie")), (403, None));
    let policy = page_policy(&wire);
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"), "{policy}");
}

fn page_policy(wire: &Wire) -> String {
    let answer = wire.receive("GET", "/operator", &[("Host", "localhost:9090")], b"");
    assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
    answer.header("content-security-policy").expect("a policy").to_owned()
}

#[test]
fn a_checkpoint_is_taken_and_the_overview_tells_of_it() {
    let (directory, [checkpoints]) = temporary(["checkpoints"]);
    let server = Start::default().with("TILL_CHECKPOINT_DIRECTORY", &checkpoints.display().to_string()).server();
    let operator = operator(&server);
    let before = text(&operator.get("/operator"), 200);
    assert!(before.contains("Take checkpoint") && before.contains("checkpoint_directory"), "{before}");
    assert!(!before.contains(TOKEN) && !before.contains(" ago"), "no secrets, and none was taken: {before}");
    let key = hidden(&before, "idempotency_key");
    let answer = operator.post("/operator/checkpoint", &[("idempotency_key", &key)]);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/operator?done=create-checkpoint")));
    let after = text(&operator.get("/operator?done=create-checkpoint"), 200);
    assert!(after.contains("Done: Take checkpoint") && after.contains(" ago"), "{after}");
    assert!(server.admin("status", &json!({})).ok()["last_checkpoint"]["taken_at"].is_u64());
    drop(directory);
}

#[test]
fn a_merchant_is_created_configured_suspended_and_resumed() {
    let server = Server::start();
    let operator = operator(&server);
    assert!(text(&operator.get("/operator/merchants"), 200).contains("No merchants yet"));
    let fields = [("name", "Tea <house>"), ("currency", "JPY"), ("time_zone", "Asia/Tokyo"), ("test_clock", "true")];
    let page = act(&operator, "/operator/merchants/new", &fields);
    let [merchant] = &merchants(&server)[..] else { panic!("one merchant") };
    let id = merchant["merchant_id"].as_str().expect("an id");
    assert_eq!(
        (merchant["currency"].as_str(), page.as_str()),
        (Some("JPY"), &*format!("/operator/merchants/{id}?done=create-merchant"))
    );
    let base = format!("/operator/merchants/{id}");
    let shown = text(&operator.get(&page), 200);
    assert!(shown.contains("<h1>Tea &#60;house&#62;</h1>") && shown.contains("Suspend merchant"), "{shown}");
    assert!(!shown.contains("Resume merchant"), "{shown}");
    assert!(text(&operator.get("/operator/merchants"), 200).contains(&*format!("href=\"{base}\"")));
    let found = || server.admin("find-merchant", &json!({ "merchant_id": id })).ok();
    act(&operator, &format!("{base}/suspend"), &[]);
    assert_eq!(found()["suspended"], true);
    assert!(text(&operator.get(&base), 200).contains("Resume merchant"));
    act(&operator, &format!("{base}/resume"), &[]);
    assert_eq!(found()["suspended"], false);
    act(&operator, &format!("{base}/balance"), &[]);
    assert_eq!(found()["balance_open"], true);
    let method = text(&operator.get(&format!("{base}/methods/CARD")), 200);
    assert!(method.contains("name=\"acquirer\" ") && method.contains("value=\"sandbox\""), "as it is: {method}");
    let fields = [
        ("acquirer", "sandbox"),
        ("enabled", "true"),
        ("authorizes_without_capture", "false"),
        ("entered_fee_fixed", "30"),
    ];
    act(&operator, &format!("{base}/methods/CARD"), &fields);
    let card = &found()["payment_methods"][0];
    assert_eq!((&card["payment_method"], &card["fee_fixed"]), (&json!("CARD"), &json!(30)), "yen have no decimals");
    let fields = [("name", "Shop"), ("platform", "WEB"), ("identifier", "https://shop.example")];
    act(&operator, &format!("{base}/installations"), &fields);
    assert!(text(&operator.get(&base), 200).contains("https://shop.example"));
    act(&operator, &format!("{base}/invitations"), &[("email", "ada@shop.example"), ("role_id", "OWNER")]);
    let invited = text(&operator.get(&base), 200);
    let path = format!("/dashboard/{id}/invitation/{}", between(&invited, "/invitation/", "<"));
    assert!(text(&Visitor::of(&server).get(&path), 200).contains("ada@shop.example"));
    assert!(text(&operator.get("/operator/merchants/mer_nothing"), 404).contains("Page not found"));
}

#[test]
fn a_key_is_shown_once_and_revoked() {
    let (server, shop) = Server::with_shop();
    let operator = operator(&server);
    let base = format!("/operator/merchants/{}", shop.merchant_id);
    let key = hidden(&text(&operator.get(&format!("{base}/keys")), 200), "idempotency_key");
    let made = text(&operator.post(&format!("{base}/keys"), &[("name", "Books"), ("idempotency_key", &key)]), 200);
    let secret = between(&made, ">sk_", "<");
    assert!(secret.len() > 20, "{made}");
    let listed = text(&operator.get(&base), 200);
    assert!(listed.contains("Books") && !listed.contains(secret), "{listed}");
    let keys = server.admin("list-keys", &json!({ "merchant_id": shop.merchant_id })).ok();
    let made = keys["page"].as_array().expect("a list").iter().find(|key| key["name"] == "Books").expect("it is there");
    act(&operator, &format!("{base}/keys/{}/revoke", made["key_id"].as_str().expect("an id")), &[]);
    let keys = server.admin("list-keys", &json!({ "merchant_id": shop.merchant_id })).ok();
    let revoked = keys["page"].as_array().expect("a list").iter().find(|key| key["name"] == "Books");
    assert!(revoked.expect("it is there")["revoked_at"].is_u64());
}

#[test]
fn money_is_added_in_major_units_and_the_sandbox_acts() {
    let (server, shop) = Server::with_shop();
    let payment = shop.pay(10_000);
    let operator = operator(&server);
    let merchant = format!("/operator/merchants/{}", shop.merchant_id);
    let form = text(&operator.get(&format!("{merchant}/topup")), 200);
    assert!(form.contains("Amount (THB)"), "{form}");
    let wrong = operator.post(&format!("{merchant}/topup"), &[("entered_amount", "12.505")]);
    assert!(text(&wrong, 400).contains("Enter an amount such as 12.50"));
    let available = || shop.balance()["available"].as_i64().expect("an amount");
    let before = available();
    act(&operator, &format!("{merchant}/topup"), &[("entered_amount", "12.50")]);
    assert_eq!(available(), before + 1_250);
    let sandbox = format!("/operator/sandbox/{}", shop.merchant_id);
    assert!(text(&operator.get("/operator/sandbox"), 200).contains(&*format!("href=\"{sandbox}\"")));
    let page = text(&operator.get(&sandbox), 200);
    assert!(page.contains("Open dispute") && !page.contains("Advance clock"), "it has no test clock: {page}");
    let key = hidden(&text(&operator.get(&format!("{sandbox}/dispute")), 200), "idempotency_key");
    let fields = [("payment_id", &*payment), ("entered_amount", "40"), ("idempotency_key", &*key)];
    let opened = text(&operator.post(&format!("{sandbox}/dispute"), &fields), 200);
    let dispute = format!("dsp_{}", between(&opened, ">dsp_", "<"));
    act(&operator, &format!("{sandbox}/escalation"), &[("dispute_id", &dispute)]);
    act(&operator, &format!("{sandbox}/decision"), &[("dispute_id", &dispute), ("outcome", "WON")]);
    let found = shop.call("find-dispute", &json!({ "dispute_id": dispute })).ok();
    assert_eq!((&found["status"], found["amount"].as_u64()), (&json!("WON"), Some(4_000)));
    let refused = operator.post(&format!("{sandbox}/escalation"), &[("dispute_id", &dispute)]);
    assert!(text(&refused, 410).contains("role=\"alert\""), "what the call says stands above the form");
}

#[test]
fn a_test_clock_is_advanced_in_the_time_zone_of_the_merchant() {
    let server = Server::start();
    let made = json!({ "name": "Shop", "currency": "THB", "time_zone": "Asia/Bangkok", "test_clock": true });
    let id = server.admin("create-merchant", &made).ok();
    let id = id.as_str().expect("an id");
    let operator = operator(&server);
    let path = format!("/operator/sandbox/{id}");
    assert!(text(&operator.get(&path), 200).contains("Advance clock"));
    let now = server.admin("find-merchant", &json!({ "merchant_id": id })).ok()["test_clock"]["now"].as_i64();
    let to = jiff::Timestamp::from_second(now.expect("a time") + 86_400).expect("a time");
    let zone = jiff::tz::TimeZone::get("Asia/Bangkok").expect("a zone");
    let entered = to.to_zoned(zone).strftime("%Y-%m-%dT%H:%M").to_string();
    act(&operator, &format!("{path}/clock"), &[("to", &entered)]);
    let clock = server.admin("find-merchant", &json!({ "merchant_id": id })).ok()["test_clock"].clone();
    let ahead = clock["ahead_seconds"].as_i64().expect("a number");
    assert!((86_300..=86_400).contains(&ahead), "{clock}");
}

#[test]
fn payments_are_found_by_what_is_known_of_them_and_lead_to_no_page() {
    let (server, shop) = Server::with_shop();
    let payment = shop.pay_with(10_000, &json!({ "external_id": "order-7", "customer_email": "somchai@example.com" }));
    let id = payment["payment_id"].as_str().expect("an id");
    let operator = operator(&server);
    let asked = text(&operator.get("/operator/payments"), 200);
    assert!(asked.contains("Last digits") && !asked.contains("aria-invalid"), "nothing is asked for yet: {asked}");
    let found = text(&operator.get("/operator/payments?external_id=order-7"), 200);
    assert!(found.contains(id) && found.contains("THB\u{a0}100.00") && !found.contains("somchai"), "{found}");
    assert!(
        !found.contains(&format!("/{id}\"")) && found.contains(&format!("/operator/merchants/{}", shop.merchant_id))
    );
    let refused = text(&operator.get("/operator/payments?last_digits=4242"), 400);
    assert!(refused.contains("Is required with last_digits"), "{refused}");
}
