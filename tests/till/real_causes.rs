//! Every type of activity and of ledger entry from its real cause, over HTTP, with every member of the specification's
//! tables.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::harness::{PATIENCE, Server, Shop, merged, wait_until};

/// A merchant with one event of every kind, and the ids of the objects.
struct Life {
    shop: Shop,
    ids: BTreeMap<&'static str, String>,
}

impl Life {
    fn lead(server: &Server) -> Life {
        let shop = server.shop();
        server.configure(&shop, "CARD", &json!({ "fee_basis_points": 100 })).ok();
        let mut life = Life { shop, ids: BTreeMap::new() };
        life.move_money_of_the_balance(server);
        life.sell_and_give_back();
        life.dispute(server);
        life.change_team_and_plan();
        life
    }

    fn note(&mut self, name: &'static str, id: String) -> String {
        self.ids.insert(name, id.clone());
        id
    }

    fn move_money_of_the_balance(&mut self, server: &Server) {
        let named = |more: Value| merged(&json!({ "merchant_id": self.shop.merchant_id }), &more);
        let topup = server.admin("add-topup", &named(json!({ "amount": 50_000 }))).id();
        let invoice = server.admin("charge-invoice", &named(json!({ "amount": 500 }))).id();
        let payout = self.shop.call("send-payout", &json!({ "amount": 1_200 })).id();
        self.until("find-payout", &json!({ "payout_id": payout }), |found| found["status"] == "SUCCESSFUL");
        for (name, id) in [("topup", topup), ("invoice", invoice), ("payout", payout)] {
            self.note(name, id);
        }
    }

    fn sell_and_give_back(&mut self) {
        let sold = self.shop.pay(10_000);
        let refund = self.shop.call("refund-payment", &json!({ "payment_id": sold, "amount": 1_000 })).id();
        self.until("find-refund", &json!({ "refund_id": refund }), |found| found["status"] == "SUCCESSFUL");
        let voided = self.shop.initiate(&self.shop.session(700), 700, &json!({ "capture": false })).id();
        self.shop.settled(&voided);
        self.operate("void-payment", &voided);
        let reversed = self.shop.pay(3_000);
        self.operate("reverse-payment", &reversed);
        let more = json!({ "interest_bearer": "merchant" });
        let instalment = self.shop.initiate(&self.shop.installment_session(2_000, "merchant"), 2_000, &more).id();
        self.shop.settled(&instalment);
        let made = [("sold", sold), ("refund", refund), ("voided", voided), ("reversed", reversed)];
        for (name, id) in made.into_iter().chain([("instalment", instalment)]) {
            self.note(name, id);
        }
    }

    fn dispute(&mut self, server: &Server) {
        let payment = self.shop.pay(4_000);
        let payment = self.note("disputed", payment);
        let named = |more: Value| merged(&json!({ "merchant_id": self.shop.merchant_id }), &more);
        let won = server.admin("open-dispute", &named(json!({ "payment_id": payment, "amount": 900 }))).id();
        server.admin("escalate-dispute", &named(json!({ "dispute_id": won }))).ok();
        let evidence = json!({ "dispute_id": won, "evidence": "Signed for on 3 March." });
        self.shop.call("challenge-dispute", &evidence).ok();
        server.admin("close-dispute", &named(json!({ "dispute_id": won, "outcome": "WON" }))).ok();
        let conceded = server.admin("open-dispute", &named(json!({ "payment_id": payment, "amount": 800 }))).id();
        self.shop.call("concede-dispute", &json!({ "dispute_id": conceded })).ok();
        self.note("won", won);
        self.note("conceded", conceded);
    }

    fn change_team_and_plan(&mut self) {
        let user = self.shop.join("bob@shop.example");
        self.shop.call("remove-user", &json!({ "user_id": user })).ok();
        let plans = self.shop.call("list-plans", &json!({})).ok();
        for (name, place) in [("first plan", 0), ("second plan", 1)] {
            self.note(name, plans[place]["plan_id"].as_str().expect("an id").to_owned());
        }
        self.shop.call("select-plan", &json!({ "plan_id": self.ids["second plan"] })).ok();
    }

    fn operate(&self, endpoint: &str, payment: &str) {
        self.shop.call(endpoint, &json!({ "payment_id": payment })).ok();
        self.until("find-payment", &json!({ "payment_id": payment }), |found| found["operation"].is_null());
    }

    fn until(&self, endpoint: &str, body: &Value, is_so: impl Fn(&Value) -> bool) {
        wait_until(PATIENCE, &format!("{endpoint} {body} did not come about"), || {
            is_so(&self.shop.call(endpoint, body).ok())
        });
    }
}

/// The members of an object that are not null, without those that differ from run to run.
fn shown(object: &Value, unlike: &[&str]) -> Value {
    let members = object.as_object().expect("an object").iter();
    let shown = members.filter(|(name, value)| !value.is_null() && !unlike.contains(&name.as_str()));
    Value::Object(shown.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

fn names(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[test]
fn every_type_of_activity_comes_from_its_real_cause() {
    let (_server, life) = Server::with(Life::lead);
    let (id, key) = (|name: &str| life.ids[name].clone(), life.shop.key_id.clone());
    let listed = life.shop.all("list-activity-logs");
    let members = [
        "activity_log_id",
        "activity_type",
        "actor_email",
        "actor_key_id",
        "actor_type",
        "created_at",
        "new_plan_id",
        "new_plan_name",
        "object_id",
        "object_type",
        "parent_id",
        "parent_type",
        "previous_plan_id",
        "previous_plan_name",
        "user_email",
    ];
    assert!(listed.iter().all(|entry| names(entry) == members), "{listed:?}");
    let by_key = json!({ "actor_type": "API_KEY", "actor_key_id": key });
    let by_system = json!({ "actor_type": "SYSTEM" });
    let about = |kind: &str, name: &str| json!({ "object_type": kind, "object_id": id(name) });
    let below = |kind: &str, name: &str, parent: &str| {
        merged(&about(kind, name), &json!({ "parent_type": "PAYMENT", "parent_id": id(parent) }))
    };
    let of_merchant = |more: Value| merged(&json!({ "object_id": life.shop.merchant_id }), &more);
    let of_bob = of_merchant(json!({ "user_email": "bob@shop.example" }));
    let plan = of_merchant(json!({
        "new_plan_id": id("second plan"), "new_plan_name": "Growth", "previous_plan_id": id("first plan"),
        "previous_plan_name": "Starter",
    }));
    let expected = [
        ("PAYOUT_CREATED", &by_key, about("PAYOUT", "payout")),
        ("PAYMENT_CAPTURED", &by_system, about("PAYMENT", "sold")),
        ("REFUND_CREATED", &by_key, below("REFUND", "refund", "sold")),
        ("PAYMENT_VOIDED", &by_key, about("PAYMENT", "voided")),
        ("PAYMENT_CAPTURED", &by_system, about("PAYMENT", "reversed")),
        ("PAYMENT_REVERSED", &by_key, about("PAYMENT", "reversed")),
        ("PAYMENT_CAPTURED", &by_system, about("PAYMENT", "instalment")),
        ("PAYMENT_CAPTURED", &by_system, about("PAYMENT", "disputed")),
        ("DISPUTE_ESCALATED", &by_system, below("DISPUTE", "won", "disputed")),
        ("DISPUTE_CHALLENGED", &by_key, below("DISPUTE", "won", "disputed")),
        ("DISPUTE_CONCEDED", &by_key, below("DISPUTE", "conceded", "disputed")),
        ("USER_INVITED", &by_key, of_bob.clone()),
        ("INVITATION_ACCEPTED", &by_key, of_bob.clone()),
        ("USER_REMOVED", &by_key, of_bob),
        ("PLAN_SWITCHED", &by_key, plan),
    ];
    let expected: Vec<Value> = expected
        .into_iter()
        .map(|(kind, actor, more)| merged(&merged(&json!({ "activity_type": kind }), actor), &more))
        .collect();
    let found: Vec<Value> = listed.iter().rev().map(|entry| shown(entry, &["activity_log_id", "created_at"])).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_type_of_ledger_entry_comes_from_its_real_cause() {
    let (_server, life) = Server::with(Life::lead);
    let id = |name: &str| life.ids[name].clone();
    let listed = life.shop.all("balance-history");
    let declared = life.shop.declared("entry", &json!({}));
    for entry in &listed {
        assert_eq!(names(entry), names(&declared));
        let at = |name: &str| entry[name].is_u64();
        let times = (at("created_at"), at("effective_at"), at("canceled_at"));
        assert_eq!(times, (true, entry["status"] == "EFFECTIVE", entry["status"] == "CANCELED"), "{entry}");
    }
    let of_payment = |name: &str| json!({ "payment_id": id(name) });
    let refund = merged(&of_payment("sold"), &json!({ "refund_id": id("refund") }));
    let of_dispute = |name: &str| {
        let dispute = json!({ "dispute_id": id(name), "parent_id": id("disputed"), "parent_type": "PAYMENT" });
        merged(&of_payment("disputed"), &dispute)
    };
    let expected = [
        ("ADD_PREFUND", "CREDIT", "EFFECTIVE", 50_000, json!({ "topup_id": id("topup") })),
        ("INVOICE", "DEBIT", "EFFECTIVE", 500, json!({ "invoice_id": id("invoice") })),
        ("PAY_OUT", "DEBIT", "EFFECTIVE", 1_200, json!({ "payout_id": id("payout") })),
        ("PAYMENT", "CREDIT", "ON_HOLD", 10_000, of_payment("sold")),
        ("PAYMENT_FEE", "DEBIT", "ON_HOLD", 100, of_payment("sold")),
        ("REFUND", "DEBIT", "ON_HOLD", 1_000, refund),
        ("PAYMENT", "CREDIT", "CANCELED", 3_000, of_payment("reversed")),
        ("PAYMENT_FEE", "DEBIT", "CANCELED", 30, of_payment("reversed")),
        ("PAYMENT", "CREDIT", "ON_HOLD", 2_000, of_payment("instalment")),
        ("INTEREST", "DEBIT", "ON_HOLD", 60, of_payment("instalment")),
        ("PAYMENT", "CREDIT", "ON_HOLD", 4_000, of_payment("disputed")),
        ("PAYMENT_FEE", "DEBIT", "ON_HOLD", 40, of_payment("disputed")),
        ("DISPUTE", "DEBIT", "CANCELED", 900, of_dispute("won")),
        ("DISPUTE", "DEBIT", "ON_HOLD", 800, of_dispute("conceded")),
    ];
    let expected: Vec<Value> = expected
        .into_iter()
        .map(|(kind, direction, status, minor, more)| {
            let entry =
                json!({ "type": kind, "direction": direction, "status": status, "amount": minor, "currency": "THB" });
            merged(&entry, &more)
        })
        .collect();
    let unlike = ["entry_id", "transaction_id", "created_at", "effective_at", "canceled_at"];
    let found: Vec<Value> = listed.iter().rev().map(|entry| shown(entry, &unlike)).collect();
    assert_eq!(found, expected);
    let balance = json!({ "currency": "THB", "available": 48_300, "pending": 13_900 + 1_940 - 1_000 - 840 });
    assert_eq!(life.shop.balance(), balance);
}
