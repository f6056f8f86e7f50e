//! A customer, a merchant and an operator in one thread, which makes one call after the other and remembers all of
//! them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Server, TestDice, merged, thb};

use super::calendar::read_answer;
use super::call_record::{CallClients, CallEffect, CallOutcome, CallRecord, LoadCall};
use super::cards::{CARDS, REFUSING_CAPTURES};
use super::cashier::Cashier;
use super::changer::Changer;
use super::disputer::Disputer;
use super::merchants::LoadedMerchant;
use super::object_kind::{INVOICE, ObjectKind, PAYMENT, PAYOUT, SESSION, TOPUP};
use super::recent_payments::Sale;

/// Customers of one merchant: few, so that several calls at once make the same one.
const CUSTOMERS: u64 = 20;

/// The path of initiations.
pub(super) const INITIATE: &str = "/merchants/initiate-payment-flow";

/// The last two digits of amounts whose payouts fail, and of those that wait for the operator.
const FAILS: u64 = 99;
const WAITS: u64 = 98;

/// The calls of one thread.
pub(super) struct LoadCaller {
    merchant: usize,
    clients: CallClients,
    dice: TestDice,
    /// The prefix of its names, which no other caller has.
    name: String,
    number: u64,
    /// The payment that was acknowledged last, which is used for wrong calls.
    last_sale: Option<LoadCall>,
    changer: Changer,
    cashier: Cashier,
    disputer: Disputer,
    call_records: Vec<CallRecord>,
}

impl LoadCaller {
    /// A caller of one merchant. No other caller has `name`, and only one caller of a merchant has plans to choose
    /// from.
    pub(super) fn new(
        server: &Server,
        (merchant, merchants): (usize, &[LoadedMerchant]),
        (name, plans): (String, Vec<String>),
        dice: TestDice,
    ) -> LoadCaller {
        LoadCaller {
            changer: Changer::new(&name, plans),
            cashier: Cashier::new(&name, Arc::clone(&merchants[merchant].payments)),
            disputer: Disputer::new(&name, Arc::clone(&merchants[merchant].payments)),
            merchant,
            clients: CallClients::new(server, &merchants[merchant].shop),
            dice,
            name,
            number: 0,
            last_sale: None,
            call_records: Vec::new(),
        }
    }

    /// Calls until it is told to stop or the server no longer answers.
    pub(super) fn call_while(mut self, go_on: impl Fn() -> bool) -> Vec<CallRecord> {
        while go_on() && self.call_once().is_some() {}
        self.call_records
    }

    fn call_once(&mut self) -> Option<()> {
        match self.dice.between(0, 100) {
            0..6 => self.topup(),
            6..8 => self.payout(),
            8..9 => self.invoice(),
            9..18 => self.refused(),
            18..24 => self.prepare_sale().map(drop),
            24..42 => self.change(),
            42..62 => self.move_money(),
            62..74 => self.dispute(),
            _ => {
                let sale = self.prepare_sale()?;
                self.initiate(sale)
            }
        }
    }

    fn fresh(&mut self, kind: &str) -> String {
        self.number += 1;
        format!("{kind}-{}-{}", self.name, self.number)
    }

    fn sometimes_fresh(&mut self, in_hundred: u64, kind: &str) -> Option<String> {
        self.dice.in_hundred(in_hundred).then(|| self.fresh(kind))
    }

    /// Makes a call and records it. None when the server no longer answers.
    fn make(&mut self, call: LoadCall) -> Option<CallOutcome> {
        let outcome = call.outcome(&self.clients.ask(&call));
        self.call_records.push(CallRecord { merchant: self.merchant, call, outcome: outcome.clone() });
        (outcome != CallOutcome::Unknown).then_some(outcome)
    }

    /// Makes a session and prepares an initiation with it. None when the server no longer answers.
    pub(super) fn prepare_sale(&mut self) -> Option<Sale> {
        let minor = self.dice.between(100, 1_000_000);
        if self.dice.in_hundred(10) {
            let bearer = self.dice.pick(&["customer", "merchant"]);
            let more = json!({
                "payment_method": "INSTALLMENT", "installment_plan_id": "sandbox_3_months", "interest_bearer": bearer,
            });
            let session = self.select(minor, &more)?;
            return Some(self.sale(&session, minor, &json!({ "interest_bearer": bearer }), None));
        }
        let number = self.dice.pick(&CARDS);
        let is_kept = self.dice.in_hundred(20);
        let token = self.tokenize(number, if is_kept { "MULTIPLE" } else { "SINGLE" })?;
        let session = self.select(minor, &json!({ "payment_method": "CARD", "token": token }))?;
        let more = if is_kept { json!({ "save_card": "ADD" }) } else { json!({}) };
        Some(self.sale(&session, minor, &more, Some(number)))
    }

    fn tokenize(&self, number: &str, usage: &str) -> Option<String> {
        let card = json!({
            "number": number, "name": "Ada Example", "expiration_date": "12/49", "security_code": "123", "usage": usage,
        });
        let token = read_answer(&self.clients.shop.sdk("tokenize-card", &card))?;
        token.as_str().filter(|token| token.contains('_')).map(str::to_owned)
    }

    fn select(&mut self, minor: u64, more: &Value) -> Option<String> {
        let body = self.clients.shop.named(&merged(&thb(minor), more));
        let key = self.sometimes_fresh(50, "select");
        let effect = CallEffect::Creates(&SESSION);
        acknowledged_id(&self.make(LoadCall { key, ..LoadCall::new("/sdk/select-payment-method", body, effect) })?)
    }

    fn sale(&mut self, session: &str, minor: u64, more: &Value, card: Option<&str>) -> Sale {
        let capture = self.dice.in_hundred(75);
        let external_id = self.sometimes_fresh(50, "order");
        let customer = self.dice.in_hundred(30).then(|| format!("customer-{}", self.dice.between(0, CUSTOMERS)));
        let key = self.sometimes_fresh(50, "pay");
        let chosen = json!({ "capture": capture, "external_id": external_id, "customer_id": customer });
        let body = merged(&merged(&self.clients.shop.initiation(session, minor), &chosen), more);
        let call = LoadCall { key, ..LoadCall::new(INITIATE, body, CallEffect::Creates(&PAYMENT)) };
        Sale { call, minor, refuses_captures: card == Some(REFUSING_CAPTURES) }
    }

    fn initiate(&mut self, sale: Sale) -> Option<()> {
        let outcome = self.make(sale.call.clone())?;
        if let Some(payment_id) = acknowledged_id(&outcome) {
            self.cashier.note(&payment_id, &sale);
            self.last_sale = Some(sale.call);
        }
        Some(())
    }

    fn move_money(&mut self) -> Option<()> {
        let Some(call) = self.cashier.next(&mut self.dice) else { return Some(()) };
        self.make(call).map(drop)
    }

    fn dispute(&mut self) -> Option<()> {
        let Some(call) = self.disputer.next(&self.clients.shop, &mut self.dice) else { return Some(()) };
        self.make(call).map(drop)
    }

    fn topup(&mut self) -> Option<()> {
        let minor = self.dice.between(1_000_000, 1_000_000_000_000);
        let body = json!({ "merchant_id": self.clients.shop.merchant_id, "amount": minor });
        self.add_named("/admin/add-topup", &body, &TOPUP)
    }

    /// An amount whose payout does not wait for the operator, and fails one time in five.
    fn payout(&mut self) -> Option<()> {
        let minor = self.dice.between(1, 1_000_000_000);
        let fails = minor % 100 == WAITS || self.dice.in_hundred(20);
        let minor = if fails { minor - minor % 100 + FAILS } else { minor };
        self.add_named("/merchants/send-payout", &json!({ "amount": minor, "description": "of the week" }), &PAYOUT)
    }

    /// An amount below those of top-ups, so that payouts are still accepted.
    fn invoice(&mut self) -> Option<()> {
        let minor = self.dice.between(1, 1_000_000_000);
        let body = json!({
            "merchant_id": self.clients.shop.merchant_id, "amount": minor, "description": "March 2026",
        });
        self.add_named("/admin/charge-invoice", &body, &INVOICE)
    }

    /// Makes an object with an external id or a key: without either its result could not be looked up when the answer
    /// is lost.
    fn add_named(&mut self, path: &'static str, body: &Value, kind: &'static ObjectKind) -> Option<()> {
        let external_id = self.sometimes_fresh(50, "named");
        let key = self.sometimes_fresh(if external_id.is_some() { 50 } else { 100 }, "add");
        let body = merged(body, &json!({ "external_id": external_id }));
        self.make(LoadCall { key, ..LoadCall::new(path, body, CallEffect::Creates(kind)) }).map(drop)
    }

    fn change(&mut self) -> Option<()> {
        let mut call = self.changer.next(&mut self.dice);
        call.key = self.sometimes_fresh(50, "change");
        let outcome = self.make(call.clone())?;
        if let CallOutcome::Acknowledged(answer) = &outcome {
            self.changer.remember(&call, answer);
        }
        Some(())
    }

    /// Makes one of several initiations that must be refused, with an external id that must never be found.
    fn refused(&mut self) -> Option<()> {
        let external_id = self.fresh("refused");
        let named = json!({ "external_id": external_id });
        let taken = |used: &LoadCall| used.text("external_id").map(str::to_owned);
        let (body, key, code) = match (self.last_sale.clone(), self.dice.between(0, 4)) {
            (Some(used), 0) => (merged(&used.body, &named), None, "NOT_FOUND"),
            (Some(LoadCall { key: Some(key), body, .. }), 1) => {
                (merged(&body, &named), Some(key), "IDEMPOTENCY_KEY_REUSED")
            }
            (Some(used), 2) if taken(&used).is_some() => {
                let sale = self.prepare_sale()?;
                (merged(&sale.call.body, &json!({ "external_id": taken(&used) })), None, "CONFLICT")
            }
            (Some(_) | None, _) => {
                let sale = self.prepare_sale()?;
                let other = json!({ "external_id": external_id, "amount": sale.minor + 1 });
                (merged(&sale.call.body, &other), sale.call.key, "CONFLICT")
            }
        };
        let effect = CallEffect::Refused(code, external_id);
        self.make(LoadCall { path: INITIATE, body, key, effect }).map(drop)
    }
}

/// The id that an acknowledged call has answered.
fn acknowledged_id(outcome: &CallOutcome) -> Option<String> {
    match outcome {
        CallOutcome::Acknowledged(answer) => answer.as_str().map(str::to_owned),
        CallOutcome::NotDone | CallOutcome::Unknown => None,
    }
}
