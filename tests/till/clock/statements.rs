//! Statements over HTTP: contract, sections 9.1a and 10.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::{PATIENCE, Shop, Stage, id_of_nothing, merged, wait_until};

fn shop_in(stage: &Stage, zone: &str) -> Shop {
    stage.shop_with(json!({ "name": "Shop \u{0E23}\u{0E49}\u{0E32}\u{0E19}", "currency": "THB", "time_zone": zone }))
}

fn top_up(stage: &Stage, shop: &Shop, minor: u64) {
    stage.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": minor })).ok();
}

fn charge(stage: &Stage, shop: &Shop, minor: u64) {
    stage.admin("charge-invoice", &json!({ "merchant_id": shop.merchant_id, "amount": minor })).ok();
}

/// The statements, oldest first, once there are `count` of them.
fn statements(shop: &Shop, count: usize) -> Vec<Value> {
    wait_until(PATIENCE, "the periods are not closed", || shop.all("list-statements").len() >= count);
    let mut statements = shop.all("list-statements");
    statements.reverse();
    statements
}

fn months(statements: &[Value]) -> Value {
    let members = ["month", "opening_balance", "credits", "debits", "closing_balance", "entry_count"];
    statements
        .iter()
        .map(|statement| members.map(|member| statement[member].clone()).to_vec().into())
        .collect::<Vec<Value>>()
        .into()
}

fn document(shop: &Shop, statement: &Value, more: &Value) -> Value {
    let body = merged(&json!({ "statement_id": statement["statement_id"] }), more);
    shop.call("retrieve-statement-document", &body).ok()
}

fn content(document: &Value) -> Vec<u8> {
    STANDARD.decode(document["content"].as_str().expect("a string")).expect("Base64")
}

#[test]
fn a_month_of_the_merchants_zone_becomes_a_statement_at_its_end() {
    let stage = Stage::at("2026-10-31T16:00:00Z");
    let shop = shop_in(&stage, "Asia/Bangkok");
    top_up(&stage, &shop, 1_000);
    stage.set("2026-10-31T16:59:59.999Z");
    charge(&stage, &shop, 30);
    stage.set("2026-10-31T17:00:00Z");
    let october = statements(&shop, 1).remove(0);
    let expected = json!({
        "statement_id": october["statement_id"], "month": "2026-10", "currency": "THB", "opening_balance": 0,
        "credits": 1_000, "debits": 30, "closing_balance": 970, "entry_count": 2, "closed_at": stage.now(),
    });
    assert_eq!(october, expected);
    assert!(october["statement_id"].as_str().is_some_and(|id| id.starts_with("stm_")));
    assert_eq!(shop.call("find-statement", &json!({ "statement_id": october["statement_id"] })).ok(), october);
    top_up(&stage, &shop, 5);
    let named: Vec<Value> =
        shop.all("balance-history").into_iter().map(|entry| entry["statement_id"].clone()).collect();
    assert_eq!(named, [json!(null), october["statement_id"].clone(), october["statement_id"].clone()]);
}

#[test]
fn missed_months_are_closed_in_order_with_joined_balances() {
    let stage = Stage::at("2026-02-10T00:00:00Z");
    let shop = shop_in(&stage, "America/New_York");
    top_up(&stage, &shop, 1_000);
    stage.set("2026-04-01T03:59:59Z");
    charge(&stage, &shop, 1_001);
    stage.set("2026-07-01T04:00:00Z");
    let statements = statements(&shop, 5);
    let expected = json!([
        ["2026-02", 0, 1_000, 0, 1_000, 1],
        ["2026-03", 1_000, 0, 1_001, -1, 1],
        ["2026-04", -1, 0, 0, -1, 0],
        ["2026-05", -1, 0, 0, -1, 0],
        ["2026-06", -1, 0, 0, -1, 0],
    ]);
    assert_eq!(months(&statements), expected, "the last minute of March is on the other side of a change of clocks");
    let page = shop.call("list-statements", &json!({ "per_page": 2 })).ok();
    assert_eq!(page["page"][1]["month"], "2026-05");
    let next = shop.call("list-statements", &page["next"]).ok();
    assert_eq!((&next["page"][0]["month"], &next["page"][1]["month"]), (&json!("2026-04"), &json!("2026-03")));
}

#[test]
fn a_statement_is_answered_as_csv_with_its_entries_in_order() {
    let stage = Stage::at("2026-11-02T00:00:00Z");
    let shop = shop_in(&stage, "Asia/Bangkok");
    for minor in 1..=300 {
        top_up(&stage, &shop, minor);
    }
    stage.set("2026-12-02T00:00:00Z");
    top_up(&stage, &shop, 7);
    let statement = statements(&shop, 1).remove(0);
    let answer = document(&shop, &statement, &json!({ "format": "CSV" }));
    let members = ["file_name", "content_type", "part", "parts"].map(|member| answer[member].clone());
    assert_eq!(json!(members), json!(["statement-2026-11.csv", "text/csv; charset=utf-8", 1, 1]));
    let text = String::from_utf8(content(&answer)).expect("UTF-8");
    let lines: Vec<Vec<&str>> = text.split_terminator("\r\n").map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 301);
    let mut entries = shop.all("balance-history");
    entries.reverse();
    for (line, entry) in lines[1..].iter().zip(&entries) {
        let columns = lines[0].iter().zip(line).filter(|(name, _)| !name.ends_with("_at"));
        for (name, column) in columns {
            let member = match &entry[*name] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(*column, member, "{name}");
        }
    }
    assert_eq!(lines[300][17], "2026-11-02T07:00:00+07:00");
    assert_eq!(document(&shop, &statement, &json!({ "format": "CSV", "part": 1 })), answer, "the same bytes");
    let beyond = shop.call(
        "retrieve-statement-document",
        &json!({ "statement_id": statement["statement_id"], "format": "CSV", "part": 2 }),
    );
    let details = beyond.refused("INVALID_ARGUMENTS");
    assert_eq!((&details[0]["argument"], &details[0]["type"]), (&json!("part"), &json!("invalid")));
}

#[test]
fn a_statement_is_answered_as_pdf() {
    let stage = Stage::at("2026-11-02T00:00:00Z");
    let shop = shop_in(&stage, "Asia/Bangkok");
    top_up(&stage, &shop, 1_000);
    stage.set("2026-12-02T00:00:00Z");
    let statement = statements(&shop, 1).remove(0);
    let answer = document(&shop, &statement, &json!({ "format": "PDF" }));
    let members = ["file_name", "content_type", "part", "parts"].map(|member| answer[member].clone());
    assert_eq!(json!(members), json!(["statement-2026-11.pdf", "application/pdf", 1, 1]));
    let file = content(&answer);
    assert!(file.starts_with(b"%PDF-") && file.ends_with(b"%%EOF"), "{} bytes", file.len());
}

#[test]
fn a_statement_of_another_merchant_is_not_found() {
    let stage = Stage::at("2026-11-02T00:00:00Z");
    let (shop, other) = (shop_in(&stage, "UTC"), shop_in(&stage, "UTC"));
    top_up(&stage, &shop, 1_000);
    stage.set("2026-12-02T00:00:00Z");
    let statement = statements(&shop, 1).remove(0);
    let id = statement["statement_id"].as_str().expect("an id");
    for id in [id.to_owned(), id_of_nothing(id)] {
        let bodies = [
            ("find-statement", json!({ "statement_id": id })),
            ("retrieve-statement-document", json!({ "statement_id": id, "format": "PDF" })),
        ];
        for (endpoint, body) in bodies {
            other.call(endpoint, &body).refused("NOT_FOUND");
        }
    }
}
