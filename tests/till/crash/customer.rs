//! A customer who pays by challenge, bank and wallet at a merchant of its own, whose clock only this customer advances:
//! acts, acts twice at once, gives up, is too late; the merchant voids meanwhile, and the operator plays the customer.

use std::thread;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Client, PATIENCE, RawAnswer, Server, Shop, TestDice, first_answer, merged};
use crate::pages::browser::{Browser, CHALLENGED, METHODS, enable};

use super::calendar::read_answer;
use super::customer_story::{Deed, Heard, Story};
use super::object_kind::PAYMENT;
use super::reckoning::find;
use super::shown::{Shown, text};

/// A customer with its payments.
pub(super) struct Customer {
    pub(super) shop: Shop,
    operator: Client,
    browser: Browser,
    dice: TestDice,
    pub(super) stories: Vec<Story>,
    /// The lists at the last check.
    pub(super) shown: Shown,
}

impl Customer {
    pub(super) fn begin(server: &Server, dice: TestDice) -> Customer {
        let shop = server.shop_with(json!({ "name": "Customer", "currency": "THB", "test_clock": true }));
        METHODS.iter().for_each(|method| enable(server, &shop, method));
        let (operator, browser) = (server.admin_client(), Browser::of(server));
        Customer { shop, operator, browser, dice, stories: Vec::new(), shown: Shown::default() }
    }

    /// Makes further calls to a restarted server.
    pub(super) fn move_to(&mut self, server: &Server) {
        self.shop = self.shop.on(server);
        (self.operator, self.browser) = (server.admin_client(), Browser::of(server));
    }

    /// Pays until the server no longer answers.
    pub(super) fn pay_until_unanswered(&mut self) {
        while self.pay_once().is_some() {}
    }

    /// Pays once. None when the server no longer answers.
    fn pay_once(&mut self) -> Option<()> {
        let mut story = self.choose()?;
        let went_on = self.go_through(&mut story);
        self.stories.push(story);
        went_on
    }

    fn choose(&mut self) -> Option<Story> {
        let minor = self.amount();
        let method = self.dice.pick(&["CARD", METHODS[0], METHODS[1]]);
        let is_card = method == "CARD";
        let token = if is_card { self.tokenize()? } else { Value::Null };
        let chosen = json!({ "amount": minor, "currency": "THB", "payment_method": method, "token": token });
        let session = read_answer(&self.shop.sdk("select-payment-method", &chosen))?;
        let capture = !(is_card && self.dice.in_hundred(20));
        let more = json!({ "external_id": format!("order-{}", self.stories.len()), "capture": capture });
        let body = merged(&self.shop.initiation(session.as_str().expect("an id"), minor), &more);
        Some(Story { body, payment: None, minor, is_card, asked: Vec::new(), late: None, end: None })
    }

    /// Mostly an ordinary amount; sometimes one whose answer comes five seconds after the act or after the deadline.
    fn amount(&mut self) -> u64 {
        let hundreds = self.dice.between(1, 1_000) * 100;
        if self.dice.in_hundred(4) { hundreds + self.dice.between(93, 95) } else { hundreds + self.dice.between(0, 91) }
    }

    fn tokenize(&self) -> Option<Value> {
        let card = json!({
            "number": CHALLENGED, "name": "Ada Example", "expiration_date": "12/49", "security_code": "123",
        });
        read_answer(&self.shop.sdk("tokenize-card", &card))
    }

    fn go_through(&mut self, story: &mut Story) -> Option<()> {
        let made = read_answer(&self.shop.call("initiate-payment-flow", &story.body))?;
        story.payment = Some(made.as_str().expect("an id").to_owned());
        let page = self.page_of(story)?;
        self.do_something(story, &page)?;
        if story.acknowledged_end().is_some() && !story.may_be_acted() && self.dice.in_hundred(50) {
            let heard = self.complete(story, Deed::Succeed);
            assert_ne!(heard, Heard::Refused, "nobody acted before: {story:?}");
            story.late = Some(heard);
            heard.go_on()?;
        }
        self.come_back(story).map(|_| ())
    }

    /// The path of the page on which the customer acts, once there is one.
    fn page_of(&self, story: &Story) -> Option<String> {
        loop {
            let payment = read_answer(&self.find(story))?;
            if payment["next_action"].is_object() {
                return self.page_in(&payment);
            }
        }
    }

    /// The path of the page to which a payment leads its customer.
    fn page_in(&self, payment: &Value) -> Option<String> {
        let next = &payment["next_action"];
        if let Some(url) = next["redirect_url"].as_str() {
            return Some(format!("/{}", url.splitn(4, '/').nth(3).expect("an absolute address")));
        }
        let form = format!("text={}", next["qr_data"].as_str()?);
        self.browser.attempt("/sandbox/scan", &form).header("location").map(str::to_owned)
    }

    fn find(&self, story: &Story) -> ApiAnswer {
        self.shop.call("find-payment", &json!({ "payment_id": story.id() }))
    }

    fn do_something(&mut self, story: &mut Story, page: &str) -> Option<()> {
        let (first, second) = (self.act_of(page), self.act_of(page));
        match self.dice.between(0, 100) {
            0..30 => story.note(first, self.post(page, first)),
            30..42 => self.at_once(story, page, (first, second)),
            42..50 => story.note(first, self.complete(story, first)),
            50..58 => story.note(Deed::GiveUp, self.make(story, page, Deed::GiveUp)),
            58..66 => story.note(Deed::Void, self.make(story, page, Deed::Void)),
            66..76 => self.at_once(story, page, (first, Deed::GiveUp)),
            76..86 => self.at_once(story, page, (first, Deed::Void)),
            _ => story.note(Deed::LeaveAlone, self.make(story, page, Deed::LeaveAlone)),
        }
    }

    /// Mostly a success. A wallet has no button to cancel.
    fn act_of(&mut self, page: &str) -> Deed {
        let kinds = if page.contains("/wallet/") { &Deed::ACTS[..2] } else { &Deed::ACTS[..] };
        if self.dice.in_hundred(60) { Deed::Succeed } else { self.dice.pick(kinds) }
    }

    /// The customer acts twice at the same time, or acts while the payment is closed.
    fn at_once(&self, story: &mut Story, page: &str, (first, second): (Deed, Deed)) -> Option<()> {
        let asked = &*story;
        let heard = thread::scope(|scope| {
            let first = scope.spawn(|| self.make(asked, page, first));
            let second = self.make(asked, page, second);
            (first.join().expect("it has said what was wrong"), second)
        });
        let noted = [story.note(first, heard.0), story.note(second, heard.1)];
        noted.into_iter().collect()
    }

    fn make(&self, story: &Story, page: &str, deed: Deed) -> Heard {
        match deed {
            Deed::Succeed | Deed::Fail | Deed::Cancel => self.post(page, deed),
            Deed::GiveUp => {
                let body = json!({ "payment_session_id": story.body["payment_session_id"] });
                read_outcome(&self.shop.sdk("cancel-payment-session", &body))
            }
            Deed::Void => read_outcome(&self.shop.call("void-payment", &json!({ "payment_id": story.id() }))),
            Deed::LeaveAlone => self.leave_alone(story),
        }
    }

    fn post(&self, page: &str, act: Deed) -> Heard {
        let answer = self.browser.attempt(page, act.words().0);
        match answer.status {
            200 | 303 => Heard::Done,
            410 => Heard::Refused,
            0 | 503 => Heard::Nothing,
            status => panic!("{act:?} was answered {status}: {}", String::from_utf8_lossy(&answer.body)),
        }
    }

    /// The operator plays the customer.
    fn complete(&self, story: &Story, act: Deed) -> Heard {
        let body = json!({
            "merchant_id": self.shop.merchant_id, "payment_id": story.id(), "outcome": act.words().1,
        });
        read_outcome(&self.operator.post("/admin/complete-action", &body))
    }

    fn leave_alone(&self, story: &Story) -> Heard {
        let Some(payment) = read_answer(&self.find(story)) else { return Heard::Nothing };
        let to = payment["expires_at"].as_u64().expect("the action is open") + 1;
        let body = json!({ "merchant_id": self.shop.merchant_id, "to": to });
        read_outcome(&self.operator.post("/admin/advance-clock", &body))
    }

    /// Follows the way back to the shop.
    fn come_back(&self, story: &Story) -> Option<RawAnswer> {
        let session = story.body["payment_session_id"].as_str().expect("an id");
        let answer = self.browser.attempt_get(&format!("/return/{}/{session}", self.shop.merchant_id));
        (!matches!(answer.status, 0 | 503)).then_some(answer)
    }

    /// After a restart: finds out what became of a payment, and ends it when nobody has.
    pub(super) fn finish(&self, story: &mut Story) {
        if story.payment.is_none() {
            story.payment = Some(self.made_once(story));
        }
        let ask = || {
            let payment = self.shop.payment(story.id());
            let is_untouched = story.acknowledged_act().is_none() && story.acknowledged_end().is_none();
            if let Some(page) = self.page_in(&payment).filter(|_| is_untouched) {
                story.note(Deed::Succeed, self.post(&page, Deed::Succeed)).expect("the server is there");
            }
            payment
        };
        let payment = first_answer(PATIENCE, "a payment has no end", ask, |payment| payment["status"] != "PENDING");
        if story.late == Some(Heard::Nothing) {
            // The call is done now, or was done before.
            assert_ne!(self.complete(story, Deed::Succeed), Heard::Nothing, "{story:?}");
            story.late = Some(Heard::Done);
        }
        if story.succeeds_after(payment["status"].as_str().expect("a word")) {
            self.wait_for_return(story);
        }
    }

    /// The id of a payment whose initiation may have been lost.
    fn made_once(&self, story: &Story) -> String {
        let again = || self.shop.call("initiate-payment-flow", &story.body).id();
        find(&self.shop, &PAYMENT, text(&story.body, "external_id")).unwrap_or_else(again)
    }

    /// The payment, once its late success is given back.
    pub(super) fn wait_for_return(&self, story: &Story) -> Value {
        let is_back = |payment: &Value| payment["late_success"]["returned_at"].is_u64();
        first_answer(PATIENCE, "a late success is not given back", || self.shop.payment(story.id()), is_back)
    }

    /// The address of the shop to which the customer of an ended payment is sent.
    pub(super) fn sent_to(&self, story: &Story) -> Option<String> {
        self.come_back(story)?.header("location").map(str::to_owned)
    }
}

/// Reads the answer to a call that answers a boolean, or that the payment does not permit.
#[track_caller]
fn read_outcome(answer: &ApiAnswer) -> Heard {
    match (answer.status, &answer.body) {
        (200, Value::Bool(true)) => Heard::Done,
        (200, Value::Bool(false)) => Heard::Refused,
        (400, _) if answer.code() == "INVALID_STATE" => Heard::Refused,
        (0 | 200 | 503, _) => Heard::Nothing, // Also an answer that was cut off.
        (status, body) => panic!("a sound call was answered {status}: {body}"),
    }
}
