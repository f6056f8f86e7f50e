//! A merchant on a test clock beside the load: money is paid in and out while its months pass. Its statements are
//! compared with its entries by `till verify`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Client, Server, Shop, TestDice};

use super::ledger_inspection::check_balance;
use super::object_kind::{ENTRY, PAYMENT};
use super::shown::Shown;

const DAY_SECONDS: u64 = 86_400;

/// The most days of one advance of the clock: some captures settle on the way, and some months end.
const DAYS_MAX: u64 = 25;

/// A merchant whose months pass, and the answers that it got.
pub(super) struct Calendar {
    shop: Shop,
    operator: Client,
    dice: TestDice,
    /// The amounts of top-ups and invoices, each asked for once, with true when they were acknowledged.
    asked: BTreeMap<u64, bool>,
    /// Payments that were acknowledged.
    payments: Vec<String>,
    /// The last time to which an acknowledged call has advanced the clock.
    reached: u64,
    advances: u64,
    /// The lists at the last check.
    shown: Shown,
}

impl Calendar {
    pub(super) fn begin(server: &Server, dice: TestDice) -> Calendar {
        let shop = server.shop_with(json!({
            "name": "Calendar", "currency": "THB", "time_zone": "Asia/Bangkok", "settlement_delay_seconds": DAY_SECONDS,
            "test_clock": true,
        }));
        let operator = server.admin_client();
        let (asked, payments, shown) = (BTreeMap::new(), Vec::new(), Shown::default());
        Calendar { shop, operator, dice, asked, payments, reached: 0, advances: 0, shown }
    }

    /// Makes further calls to a restarted server.
    pub(super) fn move_to(&mut self, server: &Server) {
        self.shop = self.shop.on(server);
        self.operator = server.admin_client();
    }

    /// Calls until the server no longer answers.
    pub(super) fn call_until_unanswered(&mut self) {
        while self.call_once().is_some() {}
    }

    /// Makes one call. None when the server no longer answers.
    fn call_once(&mut self) -> Option<()> {
        match self.dice.between(0, 100) {
            0..40 => self.admin("add-topup"),
            40..60 => self.admin("charge-invoice"),
            60..85 => self.pay(),
            _ => self.advance(),
        }
    }

    fn admin(&mut self, endpoint: &str) -> Option<()> {
        let minor = 1_000 + u64::try_from(self.asked.len()).expect("few");
        self.asked.insert(minor, false);
        let body = json!({ "merchant_id": self.shop.merchant_id, "amount": minor });
        read_answer(&self.operator.post(&format!("/admin/{endpoint}"), &body))?;
        self.asked.insert(minor, true);
        Some(())
    }

    fn pay(&mut self) -> Option<()> {
        let minor = self.dice.between(1, 5_000);
        let card = json!({
            "number": "4242424242424242", "name": "Ada Example", "expiration_date": "12/49", "security_code": "123",
        });
        let token = read_answer(&self.shop.sdk("tokenize-card", &card))?;
        let chosen = json!({ "amount": minor, "currency": "THB", "payment_method": "CARD", "token": token });
        let session = read_answer(&self.shop.sdk("select-payment-method", &chosen))?;
        let session = session.as_str().expect("an id");
        let payment = read_answer(&self.shop.initiate(session, minor, &json!({})))?;
        self.payments.push(payment.as_str().expect("an id").to_owned());
        Some(())
    }

    fn advance(&mut self) -> Option<()> {
        let now = read_answer(&self.find())?["test_clock"]["now"].as_u64().expect("a time");
        let to = now + self.dice.between(1, DAYS_MAX * DAY_SECONDS);
        let body = json!({ "merchant_id": self.shop.merchant_id, "to": to });
        read_answer(&self.operator.post("/admin/advance-clock", &body))?;
        self.reached = to;
        self.advances += 1;
        Some(())
    }

    fn find(&self) -> ApiAnswer {
        self.operator.post("/admin/find-merchant", &json!({ "merchant_id": self.shop.merchant_id }))
    }

    /// Checks that the restarted server has everything that was acknowledged, and that the entries are its balance.
    pub(super) fn check(&mut self) {
        let now = self.find().ok()["test_clock"]["now"].as_u64().expect("a time");
        assert!(now >= self.reached, "the clock is at {now} and was advanced to {}", self.reached);
        let shown = Shown::read(&self.shop);
        shown.check_follows(&self.shown, &BTreeSet::new());
        let entries: Vec<&Value> = shown.objects(&ENTRY).collect();
        self.check_amounts(&entries);
        let paid: BTreeSet<&str> = entries.iter().filter_map(|entry| entry[PAYMENT.id].as_str()).collect();
        let lost: Vec<&String> = self.payments.iter().filter(|payment| !paid.contains(payment.as_str())).collect();
        assert!(lost.is_empty(), "no entries of {lost:?}");
        check_balance(&self.shop, &entries);
        self.shown = shown;
    }

    /// A short description for the report.
    pub(super) fn report(&self) -> String {
        format!("a clock advanced {} times past {} payments", self.advances, self.payments.len())
    }

    fn check_amounts(&self, entries: &[&Value]) {
        let of_operator = entries.iter().filter(|entry| entry["type"] == "ADD_PREFUND" || entry["type"] == "INVOICE");
        let mut found = BTreeSet::new();
        for entry in of_operator {
            let minor = entry["amount"].as_u64().expect("an amount");
            assert!(self.asked.contains_key(&minor), "nobody asked for {entry}");
            assert!(found.insert(minor), "{entry} is there twice");
        }
        for (minor, is_acknowledged) in &self.asked {
            assert!(!is_acknowledged || found.contains(minor), "{minor} was acknowledged and is not there");
        }
    }
}

/// The answer; None when the server no longer answers.
pub(super) fn read_answer(answer: &ApiAnswer) -> Option<Value> {
    if matches!(answer.status, 0 | 503) {
        return None;
    }
    Some(answer.clone().ok())
}
