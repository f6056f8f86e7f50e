//! The story of one payment: who pays how, and what the merchant does with the money.

use serde_json::{Value, json};

use super::field::{Entry, Field};
use crate::acquirers::account::come_back;
use crate::acquirers::fake::Remote;
use crate::harness::{ApiAnswer, CARD, RawAnswer, TestDice, merged, thb};

const DECLINED: &str = "4000000000009995";
const CHALLENGED: &str = "4000002500003155";
/// Its refunds are pending for a while.
const REFUNDED_LATER: &str = "4000000000007726";
/// It is charged after two seconds.
const PROCESSED: &str = "4000999904000002";
/// Cards by number; the first is as frequent as all others.
const CARDS: [&str; 8] = [CARD, CARD, CARD, CARD, DECLINED, CHALLENGED, REFUNDED_LATER, PROCESSED];
const MINOR: u64 = 20_000;

/// A way of payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Number(&'static str),
    Page,
    PromptPay,
}

struct Story<'f> {
    field: &'f Field,
    entry: Entry,
    /// The payment's own id, which is that of the story.
    name: String,
    dice: TestDice,
}

/// Plays a story to its end.
pub(super) fn play(field: &Field, number: u64, mut dice: TestDice) {
    let way = match dice.between(0, 10) {
        0..=5 => Way::Number(dice.pick(&CARDS)),
        6..=8 => Way::Page,
        _ => Way::PromptPay,
    };
    let entry = if way == Way::Page { Entry::Page } else { Entry::Number };
    let mut story = Story { field, entry, name: format!("story-{number}"), dice };
    story.begin(way);
    let payment = story.acted(way);
    let word = payment["failure_code"].as_str().or(payment["status"].as_str()).expect("a status");
    story.field.count(format!(
        "{} {word}",
        match way {
            Way::Number(_) => "by number",
            Way::Page => "at the page",
            Way::PromptPay => "by PromptPay",
        }
    ));
    story.follow(&payment);
}

impl Story<'_> {
    fn begin(&mut self, way: Way) {
        let chosen = match way {
            Way::Number(number) => json!({ "payment_method": "CARD", "token": self.token_of(number) }),
            Way::Page => json!({ "payment_method": "CARD" }),
            Way::PromptPay => json!({ "payment_method": "PROMPTPAY" }),
        };
        let chosen = merged(&thb(MINOR), &chosen);
        let session = self.field.ask(self.entry, |shop| shop.sdk("select-payment-method", &chosen)).id();
        let capture = way == Way::PromptPay || self.dice.in_hundred(60);
        let more = json!({ "external_id": self.name, "capture": capture });
        let shop = self.field.account(self.entry).shop;
        let body = merged(&shop.initiation(&session, MINOR), &more);
        self.change("initiate-payment-flow", &body).id();
    }

    fn token_of(&self, number: &str) -> String {
        let card = json!({
            "number": number, "name": "Ada Example", "expiration_date": "12/49", "security_code": "123",
            "usage": "MULTIPLE",
        });
        self.field.ask(self.entry, |shop| shop.sdk("tokenize-card", &card)).id()
    }

    fn change(&self, endpoint: &str, body: &Value) -> ApiAnswer {
        self.field.change(self.entry, endpoint, body, &self.name)
    }

    fn find(&self, is_done: impl Fn(&Value) -> bool) -> Value {
        self.field.wait_for(self.entry, "find-payment", &json!({ "payment_id": self.name }), is_done)
    }

    /// The payment once it is not pending any more. Its customer acts when that is asked, or gives up.
    fn acted(&mut self, way: Way) -> Value {
        let is_pending = |payment: &Value| payment["status"] == "PENDING";
        let payment = self.find(|payment| !is_pending(payment) || !payment["next_action"].is_null());
        if is_pending(&payment) {
            match self.dice.between(0, 50) {
                0..=4 => _ = self.change("void-payment", &json!({ "payment_id": self.name })),
                // The time for an action is not divided.
                5 if self.field.extent.divisor == 1 => {}
                _ => self.act(way, &payment),
            }
        }
        self.find(|payment| !is_pending(payment))
    }

    fn act(&mut self, way: Way, payment: &Value) {
        match (way, payment["next_action"]["redirect_url"].as_str()) {
            (Way::Page, Some(page)) => {
                if self.dice.in_hundred(20) {
                    self.answer(|remote| remote.enter_card(page, DECLINED));
                }
                self.answer(|remote| remote.enter_card(page, CARD));
            }
            (_, Some(page)) => {
                let answer = self.dice.pick(&["authenticate", "authenticate", "attempt", "fail"]);
                self.answer(|remote| remote.post(page, &format!("answer={answer}")));
            }
            (_, None) => {
                let answer = self.dice.pick(&["paid", "paid", "failed"]);
                self.field.until_answered(|| self.end_code(payment, answer));
            }
        }
    }

    /// Answers a page. Most customers come back from it.
    fn answer(&mut self, post: impl Fn(&Remote) -> RawAnswer) {
        let answered = self.field.until_answered(|| Some(post(&self.field.remote)).filter(|answer| answer.status > 0));
        if answered.status == 303 && self.dice.in_hundred(70) {
            let server = self.field.server.lock().expect("no panic");
            // One that has been killed is not there.
            let _way_on = come_back(&server, &answered);
        }
    }

    /// The payer's bank ends the code of the payment's intent; one that has ended meanwhile stays as it is.
    fn end_code(&self, payment: &Value, answer: &str) -> Option<()> {
        let intents = self.field.remote.control("GET", "intents", &json!({}))?;
        let of_payment = |intent: &&Value| intent["metadata"]["till_payment"] == payment["payment_id"];
        let waiting = |intent: &&Value| intent["status"] == "requires_action";
        let Some(intent) = intents.as_array()?.iter().filter(of_payment).find(waiting) else { return Some(()) };
        let path = format!("intents/{}/end", intent["id"].as_str()?);
        self.field.remote.control("POST", &path, &json!({ "answer": answer })).map(|_| ())
    }

    /// What the merchant does with the money of a payment.
    fn follow(&mut self, payment: &Value) {
        match payment["status"].as_str() {
            Some("AUTHORIZED") => match self.dice.between(0, 3) {
                0 => self.operate("void-payment", &json!({})),
                1 => self.operate("capture-payment", &json!({ "amount": MINOR / 2 })),
                _ => self.operate("capture-payment", &json!({})),
            },
            Some("SUCCESSFUL") => match self.dice.between(0, 4) {
                0 => self.operate("reverse-payment", &json!({})),
                1 => self.refund(&[MINOR]),
                2 => self.refund(&[MINOR / 4, MINOR / 2]),
                _ => {}
            },
            _ => {}
        }
    }

    fn operate(&self, endpoint: &str, more: &Value) {
        self.change(endpoint, &merged(&json!({ "payment_id": self.name }), more)).ok();
        let ended = self.find(|payment| payment["operation"].is_null());
        assert_eq!(ended["last_operation"], Value::Null, "{endpoint} is refused: {ended}");
    }

    fn refund(&self, parts: &[u64]) {
        for (number, minor) in parts.iter().enumerate() {
            let name = format!("{}-{number}", self.name);
            let body = json!({ "payment_id": self.name, "amount": minor, "external_id": name });
            self.field.change(self.entry, "refund-payment", &body, &name).id();
            let named = json!({ "refund_id": name });
            let refund = self.field.wait_for(self.entry, "find-refund", &named, |refund| refund["status"] != "PENDING");
            assert_eq!(refund["status"], "SUCCESSFUL", "{refund}");
        }
    }
}
