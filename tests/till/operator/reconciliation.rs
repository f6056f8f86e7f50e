//! The acquirer's list of an account compared with a server's payments, over HTTP and by the command.

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use crate::acquirers::fake::StripeFake;
use crate::harness::{
    ApiAnswer, PATIENCE, Server, Shop, Start, directory, empty_acquirer, first_answer, merged, run_command, text,
};

/// The fake's clock is an hour behind: what it lists is older than the last 15 minutes.
const BEHIND: i64 = -3_600;

/// The options of a comparison from yesterday to tomorrow.
struct Asked {
    merchant_id: String,
    acquirer_id: String,
    from: String,
    to: String,
}

impl Asked {
    fn new(shop: &Shop, acquirer_id: &str) -> Asked {
        let day = |hours: i64| {
            let at = Timestamp::now().checked_add(hours.hours()).expect("a time");
            at.strftime("%Y-%m-%d").to_string()
        };
        let (merchant_id, acquirer_id) = (shop.merchant_id.clone(), acquirer_id.to_owned());
        Asked { merchant_id, acquirer_id, from: day(-24), to: day(24) }
    }

    fn body(&self) -> Value {
        let Asked { merchant_id, acquirer_id, from, to } = self;
        json!({ "merchant_id": merchant_id, "acquirer_id": acquirer_id, "from": from, "to": to })
    }

    fn call(&self, server: &Server) -> Value {
        server.admin("reconcile-acquirer", &self.body()).ok()
    }

    /// The exit code and the answer of the command.
    fn command(&self, server: &Server) -> (Option<i32>, Value) {
        let Asked { merchant_id, acquirer_id, from, to } = self;
        let options = ["--merchant-id", merchant_id, "--acquirer-id", acquirer_id, "--from", from, "--to", to];
        let (code, output, errors) = run_command(server.command(), &[&["reconcile"], &options[..]].concat());
        (code, serde_json::from_str(&output).unwrap_or_else(|_| panic!("{output}{errors}")))
    }
}

/// A server, a shop that takes card numbers for the fake, and the options of a comparison.
fn open() -> (StripeFake, Server, Shop, Asked) {
    let fake = StripeFake::start();
    fake.control("POST", "clock", &json!({ "offset_seconds": BEHIND }));
    let (server, shop) = settings(&fake).server_with_shop();
    let made = fake.control("POST", "accounts", &json!({ "livemode": false, "rate_per_second": 100_000 }));
    let account = json!({
        "merchant_id": shop.merchant_id, "acquirer": "stripe", "name": "Shop", "secret": made["secret"],
        "card_entry": "NUMBER",
    });
    let acquirer_id = server.admin("add-acquirer", &account).id();
    server.configure(&shop, "CARD", &json!({ "acquirer": acquirer_id })).ok();
    let asked = Asked::new(&shop, &acquirer_id);
    (fake, server, shop, asked)
}

fn settings(fake: &StripeFake) -> Start {
    Start::default().with("TILL_STRIPE_URL", &fake.url()).with("TILL_PUBLIC_URL", "http://till.example")
}

fn refund(shop: &Shop, payment_id: &str, minor: u64) {
    let refund_id = shop.call("refund-payment", &json!({ "payment_id": payment_id, "amount": minor.to_string() })).id();
    let find = || shop.call("find-refund", &json!({ "refund_id": refund_id })).ok()["status"].clone();
    first_answer(PATIENCE, "the refund does not end", find, |status| status == "SUCCESSFUL");
}

/// The intent of the only payment.
fn intent(fake: &StripeFake) -> String {
    fake.all("intents")[0]["id"].as_str().expect("an id").to_owned()
}

#[test]
fn captures_and_refunds_are_compared_and_what_the_dashboard_did_is_unknown() {
    let (fake, server, shop, asked) = open();
    let payment_id = shop.pay(10_000);
    refund(&shop, &payment_id, 3_000);
    let same = json!({
        "compared": { "captures": 1, "captured_amount": 10_000, "refunds": 1, "refunded_amount": 3_000 },
        "under_way": 0, "acquirer_fees": 365, "count": 0, "differences": [],
    });
    assert_eq!(asked.call(&server), same);
    assert_eq!(asked.command(&server), (Some(0), same.clone()));
    fake.control("POST", &format!("intents/{}/refund", intent(&fake)), &json!({ "amount": 100 }));
    let (code, found) = asked.command(&server);
    assert_eq!((code, &found["count"], &found["compared"]), (Some(1), &json!(1), &same["compared"]));
    let difference = &found["differences"][0];
    let expected = json!({
        "kind": "unknown_to_till", "payment_id": null, "refund_id": null, "type": "refund", "amount": null,
        "acquirer_amount": -100, "currency": "THB",
    });
    assert_eq!(&merged(difference, &expected), difference);
    assert!(difference["acquirer_reference"].as_str().is_some_and(|id| id.starts_with("re_")), "{difference}");
}

#[test]
fn after_a_restore_what_was_paid_since_is_unknown_and_resume_names_the_accounts() {
    let (fake, server, shop, asked) = open();
    shop.pay(10_000);
    server.admin("create-checkpoint", &json!({ "name": "before" })).ok();
    let lost = shop.pay(20_000);
    let place = directory();
    let (to, checkpoint) = (place.path().join("copy"), server.data().join("checkpoints/before"));
    let restore = ["restore", "--from", text(&checkpoint), "--to", text(&to)];
    assert_eq!(run_command(server.command(), &restore).0, Some(0));
    drop(server);
    let copy = settings(&fake).try_server_on(&to, None).unwrap_or_else(|error| panic!("it does not start: {error}"));
    let found = asked.call(&copy);
    let difference = &found["differences"][0];
    assert_eq!((&found["count"], &found["compared"]["captured_amount"]), (&json!(1), &json!(10_000)), "{found}");
    assert_eq!((&difference["kind"], &difference["payment_id"]), (&json!("unknown_to_till"), &json!(lost)));
    let (_, output, errors) = run_command(copy.command(), &["resume"]);
    assert_eq!(output, "true\n", "{errors}");
    assert!(errors.contains(&format!("--acquirer-id {}", asked.acquirer_id)), "{errors}");
}

#[test]
fn a_comparison_that_cannot_be_made_is_refused() {
    let (_fake, server, _, asked) = open();
    let call = |more: &Value| -> ApiAnswer { server.admin("reconcile-acquirer", &merged(&asked.body(), more)) };
    let days = |from: &str, to: &str| call(&json!({ "from": from, "to": to }));
    assert_eq!(days("2026-01-01", "2026-01-31").ok()["count"], 0);
    assert_eq!(days("2026-01-01", "2026-02-01").faults(), ["invalid to"]);
    assert_eq!(days("2026-01-02", "2026-01-01").faults(), ["invalid to"]);
    assert_eq!(days("today", "2026-02-30").faults(), ["invalid from", "invalid to"]);
    call(&json!({ "acquirer_id": "acq_01h455vb4pex5vsknk084sn02q" })).refused("NOT_FOUND");
    call(&json!({ "merchant_id": "mer_01h455vb4pex5vsknk084sn02q" })).refused("NOT_FOUND");
}

#[test]
fn one_account_is_reconciled_at_a_time() {
    let (fake, server, _, asked) = open();
    fake.control(
        "POST",
        "faults/next",
        &json!({ "fault": "delay", "method": "GET", "path": "/v1/balance*", "seconds": 2 }),
    );
    let call = || server.admin("reconcile-acquirer", &asked.body());
    let mut answers = std::thread::scope(|scope| {
        let calls = [scope.spawn(call), scope.spawn(call)];
        calls.map(|call| call.join().expect("it is answered"))
    });
    answers.sort_by_key(|answer| answer.status);
    let [made, refused] = answers;
    assert_eq!((made.ok()["count"].clone(), refused.code()), (json!(0), "CONFLICT"));
    assert_eq!(call().ok()["count"], 0, "the next one");
}

#[test]
fn an_acquirer_that_does_not_answer_is_told() {
    let server = Start::default().with("TILL_STRIPE_URL", &empty_acquirer()).server();
    let shop = server.shop();
    let account = json!({
        "merchant_id": shop.merchant_id, "acquirer": "stripe", "name": "Shop",
        "secret": "sk_test_EXAMPLE000000000000001234", "unchecked": true,
    });
    let acquirer_id = server.admin("add-acquirer", &account).id();
    assert_eq!(Asked::new(&shop, &acquirer_id).call(&server)["count"], 0);
    let deaf = Start::default().with("TILL_STRIPE_URL", "http://127.0.0.1:1").server();
    let shop = deaf.shop();
    let account = merged(&account, &json!({ "merchant_id": shop.merchant_id }));
    let asked = Asked::new(&shop, &deaf.admin("add-acquirer", &account).id());
    let answer = deaf.admin("reconcile-acquirer", &asked.body());
    assert_eq!((answer.status, answer.code()), (503, "UNAVAILABLE"), "{}", answer.body);
    assert_eq!(answer.details(), json!({ "outcome": "not_done" }));
}
