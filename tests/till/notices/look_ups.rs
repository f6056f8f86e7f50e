//! What a genuine notice does: one open call of its account is looked up.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::sender::{NoticeSender, about};
use crate::acquirers::fake::StripeFake;
use crate::harness::{PATIENCE, Server, Shop, Start, first_answer};

/// A card whose charges are under way until the test ends them.
const SLOW_CARD: &str = "4000990000000012";
const MINOR: u64 = 20_000;
/// The time in which a call that was hastened has ended: it would be looked up after a minute.
const SOON: Duration = Duration::from_secs(10);

/// A merchant whose cards are at an account at the fake of Stripe.
struct AtFake {
    fake: StripeFake,
    server: Server,
    shop: Shop,
    account: NoticeSender,
}

impl AtFake {
    fn start() -> AtFake {
        let fake = StripeFake::start();
        let server = Start::default()
            .with("TILL_STRIPE_URL", &fake.url())
            .with("TILL_PUBLIC_URL", "https://till.example")
            .server();
        let made = fake.control("POST", "accounts", &json!({}));
        fake.control("POST", "cards", &json!({ "number": SLOW_CARD, "outcome": { "processing_seconds": 1e9 } }));
        let shop = server.shop_with(json!({ "name": "Shop", "currency": "THB" }));
        let secret = "whsec_of_the_fake_0000000000".to_owned();
        let account = json!({
            "merchant_id": shop.merchant_id, "acquirer": "stripe", "name": "A", "secret": made["secret"],
            "card_entry": "NUMBER", "webhook_secret": secret,
        });
        let acquirer_id = server.admin("add-acquirer", &account).id();
        server.configure(&shop, "CARD", &json!({ "acquirer": acquirer_id })).ok();
        let account = NoticeSender { acquirer_id, secret };
        AtFake { fake, server, shop, account }
    }

    /// A payment whose charge is under way, and the fake's id of it.
    fn pending(&self) -> (String, String) {
        let session = self.shop.session_of(SLOW_CARD, MINOR);
        let payment = self.shop.initiate(&session, MINOR, &json!({})).id();
        let find = || {
            let intents = self.fake.control("GET", "intents", &json!({}));
            let is_charged = |found: &&Value| {
                found["metadata"]["till_payment"] == payment.as_str() && found["status"] == "processing"
            };
            let found = intents.as_array().expect("a list").iter().find(is_charged)?;
            found["id"].as_str().map(str::to_owned)
        };
        let intent = first_answer(PATIENCE, "it is not charged", find, Option::is_some).expect("it is there");
        (payment, intent)
    }

    fn end(&self, intent: &str) {
        self.fake.control("POST", &format!("intents/{intent}/end"), &json!({ "answer": "paid" }));
    }

    /// The number of look-ups of intents.
    fn look_ups(&self) -> u64 {
        let requests = self.fake.control("GET", "requests", &json!({}));
        let of_intents = |row: &&Value| row["method"] == "GET" && row["route"] == "/v1/payment_intents/{id}";
        let counted = requests["counted"].as_array().expect("a list").iter().filter(of_intents);
        counted.map(|row| row["count"].as_u64().expect("a number")).sum()
    }
}

#[test]
fn a_genuine_notice_ends_a_pending_call_at_once() {
    let at = AtFake::start();
    let (payment, intent) = at.pending();
    let (stranger, other_shop) = (at.server.shop(), about(&format!("{payment}/authorize")));
    let own_test = NoticeSender::add(&at.server, &stranger.merchant_id, "second");
    at.end(&intent);
    let before = at.look_ups();
    assert_eq!(own_test.send(&at.server, &other_shop).status, 200, "it is genuine, of another merchant");
    thread::sleep(Duration::from_secs(1));
    assert_eq!((at.look_ups(), &at.shop.payment(&payment)["status"]), (before, &json!("PENDING")));
    assert_eq!(at.account.send(&at.server, &other_shop).status, 200);
    let status = || at.shop.payment(&payment)["status"].clone();
    first_answer(SOON, "it still waits", status, |status| status == "SUCCESSFUL");
    let after = at.look_ups();
    for _ in 0..3 {
        assert_eq!(at.account.send(&at.server, &other_shop).status, 200, "doubled and late");
    }
    let unknown = about("pay_01h2e8kqvbfwea724h75qc655w/authorize");
    assert_eq!(at.account.send(&at.server, &unknown).status, 200);
    thread::sleep(Duration::from_secs(1));
    assert_eq!((at.look_ups(), status()), (after, json!("SUCCESSFUL")));
    assert_eq!(at.fake.control("GET", "charges", &json!({})).as_array().map(Vec::len), Some(1));
}

#[test]
fn a_thousand_notices_cause_few_look_ups_and_none_twice_at_once() {
    let at = AtFake::start();
    let (payment, _) = at.pending();
    let (before, body, started) = (at.look_ups(), about(&format!("{payment}/authorize")), Instant::now());
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| (0..50).for_each(|_| assert_eq!(at.account.send(&at.server, &body).status, 200)));
        }
    });
    let took = started.elapsed();
    thread::sleep(Duration::from_secs(3));
    let (look_ups, most) = (at.look_ups() - before, 2 + took.as_secs() / 2);
    assert!((1..=most).contains(&look_ups), "{look_ups} in {took:?}");
    let requests = at.fake.control("GET", "requests", &json!({}));
    let at_once = requests["at_once"].as_object().expect("an object");
    assert!(at_once.keys().all(|what| !what.contains("payment_intents")), "{at_once:?}");
}
