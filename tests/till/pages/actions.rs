//! The course of a payment while its customer pays, row by row, by the pages and by the operator's call: contract,
//! sections 9.4 and 9.5.

use serde_json::{Value, json};

use super::browser::{
    Asked, Browser, CHALLENGED, asked, each, enable, form_target, leads_back, page, page_of, shop_with_all_methods,
};
use super::told::{Told, told};
use crate::harness::{CARD, PATIENCE, Server, Shop, first_answer, merged};

/// The means of payment of a case, with its amount where that matters.
#[derive(Debug, Clone, Copy)]
enum Means {
    Card(&'static str),
    /// The same, authorized and not captured.
    Authorized(&'static str),
    /// A card of the customer's that was saved in an earlier payment.
    Saved(&'static str),
    Installment,
    MobileBanking(u64),
    PromptPay(u64),
}
use Means::{Authorized, Card, Installment, MobileBanking, PromptPay, Saved};

/// The end of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By itself: the customer is never asked.
    Unasked,
    /// By a button of the page.
    Act(&'static str),
    GivesUp,
    Voided,
    LeftAlone,
}
use Way::{Act, GivesUp, LeftAlone, Unasked, Voided};

/// Flow, `transStatus` and ECI of an authentication.
type Authentication = Option<(&'static str, &'static str, Option<&'static str>)>;

const NONE: Authentication = None;
const FRICTIONLESS: Authentication = Some(("FRICTIONLESS", "Y", Some("05")));
const PASSED: Authentication = Some(("CHALLENGE", "Y", Some("05")));
const NOT_PASSED: Authentication = Some(("CHALLENGE", "N", None));

/// A payment, the way in which it ends, and its status, failure and authentication afterwards.
type Case = (Means, Way, &'static str, Option<&'static str>, Authentication);

const CASES: [Case; 43] = [
    // Cards.
    (Card(CHALLENGED), Act("succeed"), "SUCCESSFUL", None, PASSED),
    (Authorized(CHALLENGED), Act("succeed"), "AUTHORIZED", None, PASSED),
    (Card(CHALLENGED), Act("fail"), "FAILED", Some("authentication_failed"), NOT_PASSED),
    (Card(CHALLENGED), Act("cancel"), "FAILED", Some("canceled_by_customer"), NOT_PASSED),
    (Card(CHALLENGED), GivesUp, "FAILED", Some("canceled_by_customer"), NOT_PASSED),
    (Authorized(CHALLENGED), GivesUp, "FAILED", Some("canceled_by_customer"), NOT_PASSED),
    (Card(CHALLENGED), Voided, "VOIDED", None, NOT_PASSED),
    (Authorized(CHALLENGED), Voided, "VOIDED", None, NOT_PASSED),
    (Card(CHALLENGED), LeftAlone, "EXPIRED", Some("customer_action_timed_out"), NOT_PASSED),
    (Card("4000003800000446"), Act("succeed"), "SUCCESSFUL", None, PASSED),
    (Card("4000002500003155"), Act("succeed"), "SUCCESSFUL", None, PASSED),
    (Card("4000002500003155"), Act("fail"), "FAILED", Some("authentication_failed"), NOT_PASSED),
    (Saved("4000002500003155"), Unasked, "SUCCESSFUL", None, FRICTIONLESS),
    (Saved(CHALLENGED), Act("succeed"), "SUCCESSFUL", None, PASSED),
    (Card("4000008260003178"), Act("succeed"), "FAILED", Some("insufficient_funds"), PASSED),
    (Authorized("4000008260003178"), Act("succeed"), "FAILED", Some("insufficient_funds"), PASSED),
    (Card("4000008260003178"), Act("fail"), "FAILED", Some("authentication_failed"), NOT_PASSED),
    (Card("4000008400001629"), Act("succeed"), "FAILED", Some("card_declined"), PASSED),
    (Card("4000008400001280"), Unasked, "FAILED", Some("authentication_unavailable"), unanswered("U")),
    (Card("4000008400001611"), Unasked, "FAILED", Some("authentication_rejected"), unanswered("R")),
    (Card("378282246310005"), Unasked, "SUCCESSFUL", None, NONE),
    (Authorized("378282246310005"), Unasked, "AUTHORIZED", None, NONE),
    (Card(CARD), Unasked, "SUCCESSFUL", None, FRICTIONLESS),
    (Authorized(CARD), Unasked, "AUTHORIZED", None, FRICTIONLESS),
    (Card("4000000000000002"), Unasked, "FAILED", Some("card_declined"), FRICTIONLESS),
    (Installment, Unasked, "SUCCESSFUL", None, NONE),
    // The customer's bank.
    (MobileBanking(50_000), Act("succeed"), "SUCCESSFUL", None, NONE),
    (MobileBanking(50_000), Act("fail"), "FAILED", Some("payment_declined"), NONE),
    (MobileBanking(50_000), Act("cancel"), "FAILED", Some("canceled_by_customer"), NONE),
    (MobileBanking(50_000), GivesUp, "FAILED", Some("canceled_by_customer"), NONE),
    (MobileBanking(50_000), Voided, "VOIDED", None, NONE),
    (MobileBanking(50_000), LeftAlone, "EXPIRED", Some("customer_action_timed_out"), NONE),
    // The customer's wallet.
    (PromptPay(50_000), Act("succeed"), "SUCCESSFUL", None, NONE),
    (PromptPay(50_000), Act("fail"), "FAILED", Some("payment_declined"), NONE),
    (PromptPay(50_000), GivesUp, "FAILED", Some("canceled_by_customer"), NONE),
    (PromptPay(50_000), Voided, "VOIDED", None, NONE),
    (PromptPay(50_000), LeftAlone, "EXPIRED", Some("customer_action_timed_out"), NONE),
    // Amounts.
    (PromptPay(50_091), Act("succeed"), "SUCCESSFUL", None, NONE),
    (MobileBanking(50_091), Act("fail"), "FAILED", Some("payment_declined"), NONE),
    (PromptPay(50_092), Unasked, "FAILED", Some("method_unavailable"), NONE),
    (MobileBanking(50_092), Unasked, "FAILED", Some("method_unavailable"), NONE),
    (PromptPay(50_093), Act("succeed"), "SUCCESSFUL", None, NONE),
    (MobileBanking(50_093), Act("succeed"), "SUCCESSFUL", None, NONE),
];

/// The authentication of a card that the issuer does not even question.
const fn unanswered(trans_status: &'static str) -> Authentication {
    Some(("FRICTIONLESS", trans_status, None))
}

impl Means {
    const fn minor(self) -> u64 {
        match self {
            MobileBanking(minor) | PromptPay(minor) => minor,
            Card(_) | Authorized(_) | Saved(_) | Installment => 50_000,
        }
    }

    fn session(self, shop: &Shop, browser: &Browser) -> String {
        let minor = self.minor();
        match self {
            Card(number) | Authorized(number) => shop.session_of(number, minor),
            Saved(number) => shop.saved_card_session(&save_by_challenge(shop, browser, number), minor),
            Installment => shop.installment_session(minor, "customer"),
            MobileBanking(_) => shop.session_with(minor, &json!({ "payment_method": "MOBILE_BANKING" })),
            PromptPay(_) => shop.session_with(minor, &json!({ "payment_method": "PROMPTPAY" })),
        }
    }

    /// The optional arguments of the initiation.
    fn arguments(self) -> Value {
        match self {
            Authorized(_) => json!({ "capture": false }),
            Saved(_) => json!({ "customer_id": "ada" }),
            Installment => json!({ "interest_bearer": "customer" }),
            Card(_) | MobileBanking(_) | PromptPay(_) => json!({}),
        }
    }

    const fn is_qr(self) -> bool {
        matches!(self, PromptPay(_))
    }

    /// The seconds that the customer has.
    const fn lifetime_seconds(self) -> u64 {
        match self {
            Card(_) | Authorized(_) | Saved(_) | Installment => 600,
            MobileBanking(_) => 1_800,
            PromptPay(_) => 900,
        }
    }
}

/// The id of a card that is saved by a payment with a challenge: it is saved after the challenge.
fn save_by_challenge(shop: &Shop, browser: &Browser, number: &str) -> String {
    let session = shop.session_with(100, &json!({ "token": shop.token_of(number, "MULTIPLE") }));
    let payment = shop.initiate(&session, 100, &json!({ "customer_id": "ada", "save_card": "DEFAULT" })).id();
    let asked = asked(shop, session, payment);
    assert_eq!(shop.contact("ada")["default_card_id"], Value::Null, "the challenge is not passed yet");
    assert_eq!(browser.post(&asked.step, "outcome=succeed").status, 303);
    shop.settled(&asked.payment);
    shop.contact("ada")["default_card_id"].as_str().expect("the card was saved").to_owned()
}

/// The customer, or the operator who plays one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Page,
    Call,
}

/// Follows one case from the selection to the end.
struct Walk<'a> {
    server: &'a Server,
    browser: Browser,
    shop: Shop,
    case: Case,
    by: By,
}

#[test]
fn every_row_holds_when_the_customer_acts_on_the_pages() {
    every_row_holds(By::Page);
}

#[test]
fn every_row_holds_when_the_operator_plays_the_customer() {
    every_row_holds(By::Call);
}

fn every_row_holds(by: By) {
    let server = Server::start();
    let is_by_both = |case: &&Case| by == By::Page || matches!(case.1, Act(_));
    let cases: Vec<Case> = CASES.iter().filter(is_by_both).copied().collect();
    each(&cases, |case| {
        let shop = shop_with_all_methods(&server, &json!({ "test_clock": case.1 == LeftAlone }));
        Walk { server: &server, browser: Browser::of(&server), shop, case: *case, by }.follow();
    });
}

impl Walk<'_> {
    fn follow(&self) {
        let (means, way, ..) = self.case;
        let session = means.session(&self.shop, &self.browser);
        let before = self.shop.picture(&[]);
        self.is_told(&session, &Told::of("PENDING WAIT", means.is_qr()));
        let payment = self.shop.initiate(&session, means.minor(), &means.arguments()).id();
        if means.minor() % 100 == 91 {
            self.checks_waiting(&session, &payment);
        }
        if way == Unasked {
            let ended = self.ends(&session, &payment);
            self.refuses_acts(&payment, &ended["status"]);
            return self.checks_books(&payment, &ended, &before);
        }
        let asked = asked(&self.shop, session, payment);
        let action_page = page_of(&self.browser, &asked);
        self.checks_open(&asked, &action_page);
        assert_eq!(self.shop.picture(&[]), before, "nothing is posted before the end: {:?}", self.case);
        self.acts(&asked, &action_page);
        if means.minor() % 100 == 93 {
            self.checks_waiting(&asked.session, &asked.payment);
        }
        let ended = self.ends(&asked.session, &asked.payment);
        self.checks_books(&asked.payment, &ended, &before);
        self.closed(&asked, &action_page, &ended);
        if matches!(way, Act(_)) {
            self.refuses_acts(&asked.payment, &ended["status"]);
        }
        self.closed(&asked, &action_page, &ended);
    }

    #[track_caller]
    fn is_told(&self, session: &str, expected: &Told) {
        assert_eq!(&told(&self.shop, session), expected, "{:?}", self.case);
    }

    /// Nobody can act: the acquirer has not answered, or works.
    fn checks_waiting(&self, session: &str, payment: &str) {
        let case = self.case;
        self.is_told(session, &Told::of("INITIATED WAIT", case.0.is_qr()));
        let found = self.shop.payment(payment);
        assert_eq!((&found["status"], &found["next_action"]), (&json!("PENDING"), &Value::Null), "{case:?}");
        assert_eq!((&found["expires_at"], &found["voidable"]), (&Value::Null, &json!(false)), "{case:?}: {found}");
        let void = self.shop.call("void-payment", &json!({ "payment_id": payment }));
        assert_eq!(void.refused("INVALID_STATE"), json!({ "status": "PENDING", "operation": null }), "{case:?}");
        assert_eq!(self.gives_up(session), false, "{case:?}");
        self.refuses_acts(payment, &json!("PENDING"));
        assert_eq!(self.shop.payment(payment), found, "nothing of it changed anything: {case:?}");
    }

    fn gives_up(&self, session: &str) -> Value {
        self.shop.sdk("cancel-payment-session", &json!({ "payment_session_id": session })).ok()
    }

    fn complete(&self, payment: &str, outcome: &str) -> crate::harness::ApiAnswer {
        let body = json!({ "merchant_id": self.shop.merchant_id, "payment_id": payment, "outcome": outcome });
        self.server.admin("complete-action", &body)
    }

    /// The operator cannot play a customer who has acted, or never had to.
    fn refuses_acts(&self, payment: &str, status: &Value) {
        for outcome in ["SUCCEEDED", "FAILED", "CANCELED"] {
            let refused = self.complete(payment, outcome).refused("INVALID_STATE");
            assert_eq!(refused, json!({ "status": status, "operation": null }), "{outcome} of {:?}", self.case);
        }
    }

    fn checks_open(&self, asked: &Asked, action_page: &str) {
        let (case, found) = (self.case, self.shop.payment(&asked.payment));
        let next = &found["next_action"];
        let url = [self.server.public(), action_page].concat();
        let (kind, step) = if case.0.is_qr() { ("DISPLAY_QR", &asked.step) } else { ("REDIRECT", &url) };
        let (address, qr_data) = if case.0.is_qr() { (None, Some(step)) } else { (Some(step), None) };
        let expected = json!({
            "type": kind, "redirect_url": address, "qr_data": qr_data, "expires_at": next["expires_at"],
        });
        assert_eq!(next, &expected, "{case:?}");
        for _ in 0..2 {
            self.is_told(&asked.session, &Told::of(&format!("INITIATED {kind}"), case.0.is_qr()).step(step));
        }
        let end = next["expires_at"].as_u64().expect("a time") - case.0.lifetime_seconds();
        let created = found["created_at"].as_u64().expect("a time");
        assert!((created..=created + 20).contains(&end), "{case:?}: {found}");
        let is_challenge = matches!(case.0, Card(_) | Authorized(_) | Saved(_));
        let authentication = is_challenge.then_some(("CHALLENGE", "C", None));
        let flags = json!({
            "status": "PENDING", "failure_code": null, "late_success": null, "expires_at": next["expires_at"],
            "authentication": authentication_of(authentication, &Value::Null), "authorized_at": null,
            "amount_captured": 0, "operation": null, "checkout_id": null, "capturable": false, "voidable": true,
            "reversible": false, "refundable": false,
        });
        assert_eq!(merged(&found, &flags), found, "{case:?}");
        let opened = self.browser.get(action_page);
        page(&opened, 200);
        assert_eq!(form_target(&opened), "https://shop.example");
    }

    /// Does what ends the action.
    fn acts(&self, asked: &Asked, action_page: &str) {
        match (self.case.1, self.by) {
            (Act(outcome), By::Page) => self.posts(asked, action_page, outcome),
            (Act(outcome), By::Call) => {
                let outcome = match outcome {
                    "succeed" => "SUCCEEDED",
                    "fail" => "FAILED",
                    _ => "CANCELED",
                };
                assert_eq!(self.complete(&asked.payment, outcome).ok(), true);
            }
            (GivesUp, _) => {
                assert_eq!((self.gives_up(&asked.session), self.gives_up(&asked.session)), (json!(true), json!(false)));
            }
            (Voided, _) => {
                let body = json!({ "payment_id": asked.payment });
                assert_eq!(self.shop.call("void-payment", &body).ok(), true);
                let again = self.shop.call("void-payment", &body).refused("INVALID_STATE");
                assert_eq!(again, json!({ "status": "VOIDED", "operation": null }));
            }
            (LeftAlone, _) => self.lets_time_pass(asked, action_page),
            (Unasked, _) => panic!("nobody is asked"),
        }
        assert_eq!(self.shop.payment(&asked.payment)["next_action"], Value::Null, "at once: {:?}", self.case);
    }

    fn posts(&self, asked: &Asked, action_page: &str, outcome: &str) {
        let acted = self.browser.post(action_page, &format!("outcome={outcome}"));
        if self.case.0.is_qr() && outcome == "succeed" {
            page(&acted, 200);
        } else {
            leads_back(&acted, &self.shop, asked);
        }
        // The sandbox has it in its book, and Till a moment later.
        let is_over = |payment: &Value| payment["next_action"].is_null();
        first_answer(PATIENCE, "still asked", || self.shop.payment(&asked.payment), is_over);
    }

    fn lets_time_pass(&self, asked: &Asked, action_page: &str) {
        let end = self.shop.payment(&asked.payment)["expires_at"].as_u64().expect("a time");
        let advance = |to: u64| {
            let body = json!({ "merchant_id": self.shop.merchant_id, "to": to });
            assert_eq!(self.server.admin("advance-clock", &body).ok(), true);
        };
        advance(end - 20);
        assert_eq!(self.shop.payment(&asked.payment)["status"], "PENDING", "{:?}", self.case);
        page(&self.browser.get(action_page), 200);
        // The action ends within this second.
        advance(end + 1);
        assert_eq!(self.shop.payment(&asked.payment)["status"], "EXPIRED", "{:?}", self.case);
    }

    /// The payment once it has ended.
    fn ends(&self, session: &str, payment: &str) -> Value {
        let (means, _, status, failure_code, authentication) = self.case;
        let ended = self.shop.settled(payment);
        let is_held = status == "AUTHORIZED";
        let captured = if status == "SUCCESSFUL" { means.minor() } else { 0 };
        let expected = json!({
            "status": status, "failure_code": failure_code, "next_action": null, "late_success": null,
            "authentication": authentication_of(authentication, &ended["authentication"]["authenticated_at"]),
            "amount_captured": captured, "operation": null, "checkout_id": null, "voidable": is_held,
            "capturable": is_held, "reversible": captured > 0, "refundable": captured > 0,
        });
        assert_eq!(merged(&ended, &expected), ended, "{:?}", self.case);
        assert_eq!(ended["failure_message"].is_string(), failure_code.is_some(), "{ended}");
        assert_eq!(ended["expires_at"].is_u64(), is_held, "{ended}");
        let is_answered = authentication.is_some() && !self.is_unanswered();
        assert_eq!(ended["authentication"]["authenticated_at"].is_u64(), is_answered, "{:?}: {ended}", self.case);
        let state = if captured > 0 || is_held { "SUCCESSFUL CHECK_STATUS" } else { "FAILED CHECK_STATUS" };
        let back = format!("https://shop.example/done?payment_id={payment}");
        self.is_told(session, &Told::of(state, means.is_qr()).back(&back));
        let returned = self.browser.get(&format!("/return/{}/{session}", self.shop.merchant_id));
        assert_eq!((returned.status, returned.header("location")), (303, Some(&*back)), "{:?}", self.case);
        assert_eq!(self.gives_up(session), false, "{:?}", self.case);
        assert_eq!(self.shop.payment(payment), ended, "it is over: {:?}", self.case);
        ended
    }

    /// True when nobody answered the challenge.
    const fn is_unanswered(&self) -> bool {
        matches!(self.case.1, GivesUp | Voided | LeftAlone)
    }

    /// The page is closed: further posts change nothing.
    fn closed(&self, asked: &Asked, action_page: &str, ended: &Value) {
        for outcome in ["succeed", "fail", "cancel", "other"] {
            let again = page(&self.browser.post(action_page, &format!("outcome={outcome}")), 410);
            assert!(again.contains("<h1>This page has expired</h1>"), "{again}");
        }
        page(&self.browser.get(action_page), 410);
        assert_eq!(&self.shop.payment(&asked.payment), ended, "{:?}", self.case);
    }

    /// The events, the ledger and the activity log of the payment.
    fn checks_books(&self, payment: &str, ended: &Value, before: &[Value]) {
        let (means, way, status, ..) = self.case;
        let first = (way != Unasked).then_some(("payment_action_required", "PENDING"));
        let name = match status {
            "AUTHORIZED" => "payment_authorized",
            "VOIDED" => "payment_voided",
            "EXPIRED" => "payment_expired",
            _ => "payment_completed",
        };
        let told = events_of(&self.shop, payment);
        let told: Vec<(&str, &str)> = told.iter().map(|(name, status)| (name.as_str(), status.as_str())).collect();
        let expected: Vec<(&str, &str)> = first.into_iter().chain([(name, status)]).collect();
        assert_eq!(told, expected, "{:?}", self.case);
        let after = self.shop.picture(&[]);
        let new: Vec<&Value> = after.iter().filter(|item| !before.contains(item)).collect();
        match (status, &new[..]) {
            ("SUCCESSFUL", [balance, entry, activity]) => {
                let before = before[0]["pending"].as_u64().expect("an amount");
                assert_eq!(balance["pending"], before + means.minor());
                assert_eq!((&entry["type"], &entry["amount"]), (&json!("PAYMENT"), &json!(means.minor())));
                assert_eq!((&entry["payment_id"], &entry["created_at"]), (&json!(payment), &ended["captured_at"]));
                assert_eq!(
                    (&activity["activity_type"], &activity["actor_type"]),
                    (&json!("PAYMENT_CAPTURED"), &json!("SYSTEM"))
                );
            }
            ("VOIDED", [activity]) => {
                let actor = (&activity["actor_type"], &activity["actor_key_id"]);
                assert_eq!(activity["activity_type"], "PAYMENT_VOIDED");
                assert_eq!(actor, (&json!("API_KEY"), &json!(self.shop.key_id)));
                assert_eq!(activity["object_id"], payment);
            }
            ("AUTHORIZED" | "FAILED" | "EXPIRED", []) => {}
            (_, new) => panic!("{:?}: {new:?}", self.case),
        }
    }
}

/// An authentication as `find-payment` shows it.
fn authentication_of(authentication: Authentication, at: &Value) -> Value {
    authentication.map_or(Value::Null, |(flow, trans_status, eci)| {
        json!({ "version": "2.2.0", "flow": flow, "trans_status": trans_status, "eci": eci, "authenticated_at": at })
    })
}

/// Names and statuses of the events of a payment, the oldest first.
pub(super) fn events_of(shop: &Shop, payment: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let events = shop.all_of("list-events", &json!({ "payment_id": payment })).into_iter().rev();
    events.map(|event| (text(&event["event"]), text(&event["status"]))).collect()
}

#[test]
fn of_many_who_post_at_once_one_acts() {
    let (server, shop) = Server::with_shop();
    enable(&server, &shop, "MOBILE_BANKING");
    let browser = Browser::of(&server);
    let session = shop.session_with(700, &json!({ "payment_method": "MOBILE_BANKING" }));
    let payment = shop.initiate(&session, 700, &json!({})).id();
    let asked = asked(&shop, session, payment);
    let statuses = std::sync::Mutex::new(Vec::new());
    each(&["succeed"; 8], |outcome| {
        let answer = browser.post(&asked.step, &format!("outcome={outcome}"));
        statuses.lock().expect("no thread panics with it").push(answer.status);
    });
    let mut statuses = statuses.into_inner().expect("no thread panicked with it");
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 410, 410, 410, 410, 410, 410, 410]);
    shop.settled(&asked.payment);
    assert_eq!((shop.all("balance-history").len(), shop.balance()["pending"].clone()), (1, json!(700)));
}

#[test]
fn an_action_survives_a_kill_and_its_address_follows_the_server() {
    let (mut server, shop) = Server::with_shop();
    let (session, other) = (shop.session_of(CHALLENGED, 700), shop.session_of(CHALLENGED, 700));
    let [asked, acted] = [session, other].map(|session| {
        let payment = shop.initiate(&session, 700, &json!({})).id();
        asked(&shop, session, payment)
    });
    let before = shop.payment(&asked.payment);
    assert_eq!(Browser::of(&server).post(&acted.step, "outcome=succeed").status, 303);
    let shop = server.restart_with(&shop);
    let mut expected = before;
    let url = [server.public(), &asked.step].concat();
    expected["next_action"]["redirect_url"] = json!(url);
    assert_eq!(shop.payment(&asked.payment), expected, "the same page at the new port");
    assert_eq!(told(&shop, &asked.session), Told::of("INITIATED REDIRECT", false).step(&url));
    assert_eq!(shop.settled(&acted.payment)["status"], "SUCCESSFUL", "what was acknowledged is kept");
    let browser = Browser::of(&server);
    page(&browser.post(&acted.step, "outcome=fail"), 410);
    assert_eq!(browser.post(&asked.step, "outcome=succeed").status, 303);
    shop.settled(&asked.payment);
    for payment in [&asked.payment, &acted.payment] {
        let names: Vec<String> = events_of(&shop, payment).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["payment_action_required", "payment_completed"], "each once");
    }
    assert_eq!(shop.balance()["pending"], 1_400);
}

#[test]
fn an_address_begins_with_the_public_url_where_one_is_set() {
    let (server, shop) =
        crate::harness::Start::default().with("TILL_PUBLIC_URL", "https://pay.example").server_with_shop();
    let asked = super::browser::challenged(&shop, &json!({}));
    let url = format!("https://pay.example{}", asked.step);
    assert_eq!(shop.payment(&asked.payment)["next_action"]["redirect_url"], url);
    assert_eq!(told(&shop, &asked.session), Told::of("INITIATED REDIRECT", false).step(&url));
    let browser = Browser::of(&server);
    let own = [("Origin", "https://pay.example")];
    let acted = browser.post_with(&asked.step, &own, "outcome=succeed");
    leads_back(&acted, &shop, &asked);
}
