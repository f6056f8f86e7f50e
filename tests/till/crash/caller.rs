//! A customer, a merchant and an operator in one thread, which makes one call after the other and remembers all of
//! them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Client, Server, Shop, TestDice, merged, thb};

use super::call_record::{CallKind, CallOutcome, CallRecord, CreationCall, Sale};
use super::cards::{CARDS, Fate};
use super::cashier::Cashier;
use super::changer::Changer;
use super::disputer::Disputer;
use super::merchants::LoadedMerchant;
use super::{invoice, payout};

/// Customers of one merchant: few, so that several calls at once make the same one.
const CUSTOMERS: u64 = 20;

/// The calls of one thread.
pub(super) struct LoadCaller {
    merchant: usize,
    shop: Shop,
    /// The client of the SDK's endpoints that need headers of their own.
    device: Client,
    operator: Client,
    dice: TestDice,
    /// The prefix of its names, which no other caller has.
    name: String,
    number: u64,
    /// The payment that was acknowledged last, which is used for wrong calls.
    last_sale: Option<Sale>,
    changer: Changer,
    cashier: Cashier,
    disputer: Disputer,
    call_records: Vec<CallRecord>,
}

/// A session that was made for a sale.
struct Chosen {
    session: String,
    minor: u64,
    fate: Fate,
    /// The arguments that the initiation must have because of the session.
    more: Value,
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
            shop: merchants[merchant].shop.on(server),
            device: server.client(),
            operator: server.admin_client(),
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

    /// Makes a session and prepares an initiation with it. None when the server no longer answers.
    pub(super) fn prepare_sale(&mut self) -> Option<Sale> {
        let chosen = self.choose()?;
        Some(self.sale(chosen))
    }

    fn call_once(&mut self) -> Option<()> {
        match self.dice.between(0, 100) {
            0..6 => self.topup(),
            6..8 => self.payout(),
            8..9 => self.invoice(),
            9..18 => self.refused(),
            18..24 => self.choose().map(drop),
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

    /// Records a call. None when the server no longer answers.
    fn note(&mut self, what: CallKind, outcome: CallOutcome) -> Option<()> {
        let is_there = outcome != CallOutcome::Unknown;
        self.call_records.push(CallRecord { merchant: self.merchant, what, outcome });
        is_there.then_some(())
    }

    fn choose(&mut self) -> Option<Chosen> {
        let minor = self.dice.between(100, 1_000_000);
        if self.dice.in_hundred(10) {
            let bearer = self.dice.pick(&["customer", "merchant"]);
            let more = json!({
                "payment_method": "INSTALLMENT", "installment_plan_id": "sandbox_3_months", "interest_bearer": bearer,
            });
            let session = self.select(minor, &more)?;
            let more = json!({ "interest_bearer": bearer });
            return Some(Chosen { session, minor, fate: Fate::Approved, more });
        }
        let (number, fate) = self.dice.pick(&CARDS);
        let is_kept = self.dice.in_hundred(20);
        let token = self.tokenize(number, if is_kept { "MULTIPLE" } else { "SINGLE" })?;
        let session = self.select(minor, &json!({ "payment_method": "CARD", "token": token }))?;
        let more = if is_kept { json!({ "save_card": "ADD" }) } else { json!({}) };
        Some(Chosen { session, minor, fate, more })
    }

    fn tokenize(&mut self, number: &str, usage: &str) -> Option<String> {
        let card = json!({
            "number": number, "name": "Ada Example", "expiration_date": "12/49", "security_code": "123", "usage": usage,
        });
        match CallOutcome::of(&self.shop.sdk("tokenize-card", &card)) {
            CallOutcome::Acknowledged(token) => Some(token),
            CallOutcome::NotDone | CallOutcome::Unknown => None,
        }
    }

    fn select(&mut self, minor: u64, more: &Value) -> Option<String> {
        let body = self.shop.named(&merged(&thb(minor), more));
        let key = self.sometimes_fresh(50, "select");
        let outcome = CallOutcome::of(&post(&self.device, "/sdk/select-payment-method", &body, key.as_deref()));
        let asked = CreationCall { minor, external_id: None, key, body };
        self.note(CallKind::Session(asked), outcome.clone())?;
        match outcome {
            CallOutcome::Acknowledged(session) => Some(session),
            CallOutcome::NotDone | CallOutcome::Unknown => None,
        }
    }

    fn sale(&mut self, chosen: Chosen) -> Sale {
        let capture = self.dice.in_hundred(75);
        let external_id = self.sometimes_fresh(50, "order");
        let customer = self.dice.in_hundred(30).then(|| format!("customer-{}", self.dice.between(0, CUSTOMERS)));
        let key = self.sometimes_fresh(50, "pay");
        let more = json!({ "capture": capture, "external_id": external_id, "customer_id": customer });
        let required = self.shop.initiation(&chosen.session, chosen.minor);
        let body = merged(&merged(&required, &more), &chosen.more);
        let Chosen { session, minor, fate, more: _ } = chosen;
        Sale { session, minor, capture, fate, external_id, customer, key, body }
    }

    fn initiate(&mut self, sale: Sale) -> Option<()> {
        let outcome = CallOutcome::of(&self.ask(&sale.body, sale.key.as_deref()));
        if let CallOutcome::Acknowledged(payment_id) = &outcome {
            self.cashier.note(payment_id, &sale);
            self.last_sale = Some(sale.clone());
        }
        self.note(CallKind::Payment(sale), outcome)
    }

    fn ask(&self, body: &Value, key: Option<&str>) -> ApiAnswer {
        post(&self.shop.client(), "/merchants/initiate-payment-flow", body, key)
    }

    fn move_money(&mut self) -> Option<()> {
        let Some(movement) = self.cashier.next(&mut self.dice) else { return Some(()) };
        let outcome = movement.outcome(&movement.ask(&self.shop.client()));
        self.note(CallKind::Movement(movement), outcome)
    }

    fn dispute(&mut self) -> Option<()> {
        let Some(call) = self.disputer.next(&self.shop, &mut self.dice) else { return Some(()) };
        let outcome = call.outcome(&call.ask(&self.shop, &self.operator));
        self.note(CallKind::Dispute(call), outcome)
    }

    fn topup(&mut self) -> Option<()> {
        // Top-ups without an external id are recognized by their amounts.
        let minor = self.dice.between(1_000_000, 1_000_000_000_000);
        let external_id = self.sometimes_fresh(50, "topup");
        let key = self.sometimes_fresh(50, "add");
        let names = json!({ "merchant_id": self.shop.merchant_id, "external_id": external_id });
        let body = merged(&names, &json!({ "amount": minor }));
        let outcome = CallOutcome::of(&post(&self.operator, "/admin/add-topup", &body, key.as_deref()));
        self.note(CallKind::Topup(CreationCall { minor, external_id, key, body }), outcome)
    }

    fn payout(&mut self) -> Option<()> {
        let external_id = self.sometimes_fresh(50, "payout");
        // Without one of them the result could not be looked up when the answer is lost.
        let key = self.sometimes_fresh(if external_id.is_some() { 50 } else { 100 }, "send");
        let minor = payout::amount(&mut self.dice);
        let body = json!({ "amount": minor, "external_id": external_id, "description": "of the week" });
        let asked = CreationCall { minor, external_id, key, body };
        let outcome = payout::outcome(&payout::ask(&self.shop, &asked));
        self.note(CallKind::Payout(asked), outcome)
    }

    fn invoice(&mut self) -> Option<()> {
        let external_id = self.sometimes_fresh(50, "bill");
        // Without one of them the result could not be looked up when the answer is lost.
        let key = self.sometimes_fresh(if external_id.is_some() { 50 } else { 100 }, "charge");
        let minor = invoice::amount(&mut self.dice);
        let body = json!({
            "merchant_id": self.shop.merchant_id, "amount": minor, "external_id": external_id, "description": "March \
                2026",
        });
        let asked = CreationCall { minor, external_id, key, body };
        let outcome = CallOutcome::of(&invoice::ask(&self.operator, &asked));
        self.note(CallKind::Invoice(asked), outcome)
    }

    fn change(&mut self) -> Option<()> {
        let mut change = self.changer.next(&mut self.dice);
        change.key = self.sometimes_fresh(50, "change");
        let outcome = CallOutcome::of(&change.ask(&self.shop.client()));
        if let CallOutcome::Acknowledged(answered) = &outcome {
            self.changer.remember(&change.meaning, answered);
        }
        self.note(CallKind::Change(change), outcome)
    }

    /// Makes one of several initiations that must be refused, with an external id that must never be found.
    fn refused(&mut self) -> Option<()> {
        let external_id = self.fresh("refused");
        let named = json!({ "external_id": external_id });
        let (answer, code) = match (self.last_sale.clone(), self.dice.between(0, 4)) {
            (Some(used), 0) => (self.ask(&merged(&used.body, &named), None), "NOT_FOUND"),
            (Some(Sale { key: Some(key), body, .. }), 1) => {
                (self.ask(&merged(&body, &named), Some(&key)), "IDEMPOTENCY_KEY_REUSED")
            }
            (Some(Sale { external_id: Some(taken), .. }), 2) => {
                let sale = self.prepare_sale()?;
                (self.ask(&merged(&sale.body, &json!({ "external_id": taken })), None), "CONFLICT")
            }
            (Some(_) | None, _) => {
                let sale = self.prepare_sale()?;
                let other = json!({ "external_id": external_id, "amount": sale.minor + 1 });
                (self.ask(&merged(&sale.body, &other), sale.key.as_deref()), "CONFLICT")
            }
        };
        let was_refused = answer.status == 400;
        if was_refused {
            answer.refused(code);
        } else {
            assert!(matches!(answer.status, 0 | 503), "to be refused with {code}: {} {}", answer.status, answer.body);
        }
        let outcome = if was_refused { CallOutcome::NotDone } else { CallOutcome::Unknown };
        self.note(CallKind::RefusedPayment(external_id), outcome)
    }
}

/// Posts with an Idempotency-Key when there is one.
pub(super) fn post(client: &Client, path: &str, body: &Value, key: Option<&str>) -> ApiAnswer {
    match key {
        Some(key) => client.clone().idempotency_key(key).post(path, body),
        None => client.post(path, body),
    }
}
