//! Top-ups over HTTP as a merchant sees them: contract, section 9.1a.

use serde_json::{Value, json};

use crate::harness::{Server, id_of_nothing};

#[test]
fn topups_are_listed_newest_first_and_found_by_either_identifier() {
    let server = Server::start();
    let shop = server.shop();
    let add = |body: Value| server.admin("add-topup", &body).id();
    let first = add(json!({ "merchant_id": shop.merchant_id, "amount": 250, "external_id": "transfer-1" }));
    let second = add(json!({ "merchant_id": shop.merchant_id, "amount": "7" }));
    let listed = shop.all("list-topups");
    let expected = |id: &str, external_id: Value, amount: u64, at: &Value| {
        json!({
            "topup_id": id, "external_id": external_id, "status": "SUCCESSFUL", "amount": amount, "currency": "THB",
            "created_at": at,
        })
    };
    let at = |place: usize| listed[place]["created_at"].clone();
    let all = [expected(&second, Value::Null, 7, &at(0)), expected(&first, json!("transfer-1"), 250, &at(1))];
    assert_eq!(listed, all);
    assert!(at(0).is_u64());
    for name in [&first, "transfer-1"] {
        assert_eq!(shop.call("find-topup", &json!({ "topup_id": name })).ok(), all[1], "{name}");
    }
    let page = shop.call("list-topups", &json!({ "per_page": 1 })).ok();
    assert_eq!(page["next"], json!({ "after": second, "per_page": 1 }));
    for nothing in [id_of_nothing(&first).as_str(), "transfer-2"] {
        let details = shop.call("find-topup", &json!({ "topup_id": nothing })).refused("NOT_FOUND");
        assert_eq!(details, json!({ "argument": "topup_id" }), "{nothing}");
    }
    let other = server.shop();
    other.call("find-topup", &json!({ "topup_id": first })).refused("NOT_FOUND");
    assert!(other.all("list-topups").is_empty());
}
