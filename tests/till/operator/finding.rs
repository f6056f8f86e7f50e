//! The operator's searches: payments of any merchant, and keys with their merchants.

use serde_json::{Value, json};

use crate::harness::{Server, Shop, id_of_nothing, ids_of, merged};

/// The card that is declined.
const DECLINED: &str = "4000000000000002";

fn shop(server: &Server, name: &str) -> Shop {
    server.shop_with(json!({ "name": name, "currency": "THB" }))
}

fn found(server: &Server, body: &Value) -> Value {
    server.admin("find-payments", body).ok()
}

/// The ids of the payments on a page.
fn ids(page: &Value) -> Vec<String> {
    ids_of(page, "payment_id")
}

/// A payment of a card, once the acquirer has answered.
fn pay(shop: &Shop, card: &str, external_id: &str) -> Value {
    let more = json!({ "external_id": external_id, "customer_email": "ada@shop.example" });
    shop.settled(&shop.initiate(&shop.session_of(card, 1_250), 1_250, &more).id())
}

#[test]
fn a_payment_is_found_by_id_order_number_or_card_digits() {
    let server = Server::start();
    let (first, second) = (shop(&server, "First"), shop(&server, "Second"));
    let paid = pay(&first, "4242424242424242", "order-7");
    let declined = pay(&second, DECLINED, "order-7");
    let expected = json!({
        "merchant_id": second.merchant_id, "merchant_name": "Second", "payment_id": declined["payment_id"],
        "external_id": "order-7", "status": "FAILED", "amount": 1_250, "currency": "THB", "payment_method": "CARD",
        "failure_code": "card_declined", "created_at": declined["created_at"],
    });
    let by_id = found(&server, &json!({ "payment_id": declined["payment_id"] }));
    assert_eq!(by_id, json!({ "previous": null, "page": [expected], "next": null }), "and nothing of a customer");
    let text = |payment: &Value| payment["payment_id"].as_str().expect("an id").to_owned();
    let both = [text(&declined), text(&paid)];
    assert_eq!(ids(&found(&server, &json!({ "external_id": "order-7" }))), both, "of both merchants, newest first");
    let of_first = json!({ "external_id": "order-7", "merchant_id": first.merchant_id });
    assert_eq!(ids(&found(&server, &of_first)), both[1..]);
    assert_eq!(ids(&found(&server, &json!({ "external_id": "order" }))), [""; 0], "the identifier as a whole");
    for more in [json!({ "created_at": "today" }), json!({ "merchant_id": second.merchant_id })] {
        let by_digits = merged(&json!({ "last_digits": "0002" }), &more);
        assert_eq!(ids(&found(&server, &by_digits)), both[..1], "{more}");
    }
    let earlier = json!({ "last_digits": "0002", "created_at": "..2025-12" });
    assert_eq!(ids(&found(&server, &earlier)), [""; 0]);
    let unknown = json!({ "payment_id": id_of_nothing(&both[0]) });
    assert_eq!(ids(&found(&server, &unknown)), [""; 0]);
}

#[test]
fn payments_of_all_merchants_are_paged_newest_first() {
    let server = Server::start();
    let shops = ["A", "B", "C"].map(|name| shop(&server, name));
    let mut expected: Vec<String> = (0..3).flat_map(|_| shops.iter().map(|shop| shop.pay(100))).collect();
    expected.reverse();
    let first = json!({ "last_digits": "4242", "created_at": "today", "per_page": 4 });
    let mut pages = vec![found(&server, &first)];
    while let Some(next) = pages.last().map(|page| page["next"].clone()).filter(|next| !next.is_null()) {
        assert_eq!((&next["last_digits"], next["created_at"].is_string()), (&json!("4242"), true), "{next}");
        pages.push(found(&server, &next));
    }
    assert_eq!(pages.iter().map(|page| ids(page).len()).collect::<Vec<_>>(), [4, 4, 1]);
    assert_eq!(pages.iter().flat_map(ids).collect::<Vec<_>>(), expected);
    assert_eq!(pages[0]["previous"], Value::Null);
    let back = found(&server, &pages[2]["previous"]);
    assert_eq!(ids(&back), expected[4..8]);
    assert_eq!(ids(&found(&server, &back["previous"])), expected[..4]);
}

#[test]
fn a_search_takes_exactly_one_clue() {
    let (server, shop) = Server::with_shop();
    let payment = shop.pay(100);
    let faults = |body: Value| server.admin("find-payments", &body).faults();
    assert_eq!(faults(json!({})), ["missing payment_id"]);
    assert_eq!(faults(json!({ "payment_id": null, "merchant_id": shop.merchant_id })), ["missing payment_id"]);
    let two = json!({ "payment_id": payment, "external_id": "order-1", "last_digits": "4242" });
    assert_eq!(faults(two), ["invalid external_id", "invalid last_digits"]);
    assert_eq!(faults(json!({ "last_digits": "4242" })), ["missing created_at"], "all payments of all merchants");
    for digits in ["424", "42424", "424a", "٤٢٤٢"] {
        let body = json!({ "last_digits": digits, "created_at": "today" });
        assert_eq!(faults(body), ["invalid last_digits"], "{digits}");
    }
    assert_eq!(faults(json!({ "external_id": payment })), ["invalid external_id"], "it is an id");
    let nobody = json!({ "payment_id": payment, "merchant_id": id_of_nothing(&shop.merchant_id) });
    assert_eq!(server.admin("find-payments", &nobody).refused("NOT_FOUND"), json!({ "argument": "merchant_id" }));
}

#[test]
fn a_key_is_found_with_its_merchant_and_listed() {
    let server = Server::start();
    let (first, second) = (shop(&server, "First"), shop(&server, "Second"));
    let more = json!({ "merchant_id": second.merchant_id, "name": "Terminal", "expires_at": 4_102_444_800_u64 });
    let made = server.admin("generate-key", &more).ok();
    second.call("get-balance", &json!({})).ok();
    let found = |key_id: &Value| server.admin("find-key", &json!({ "key_id": key_id })).ok();
    let prefix: String = made["key"].as_str().expect("a text").chars().take(8).collect();
    let terminal = json!({
        "merchant_id": second.merchant_id, "merchant_name": "Second", "key_id": made["key_id"], "name": "Terminal",
        "prefix": prefix, "role_id": "OWNER", "refund_limit": null, "created_at": made["created_at"],
        "last_used_at": null, "expires_at": 4_102_444_800_u64, "revoked_at": null,
    });
    assert_eq!(found(&made["key_id"]), terminal);
    let used = found(&json!(second.key_id));
    assert!(used["last_used_at"].is_u64(), "{used}");
    assert_eq!(found(&json!(first.key_id))["merchant_id"], first.merchant_id.as_str());
    let list = json!({ "merchant_id": second.merchant_id, "per_page": 1 });
    let page = server.admin("list-keys", &list).ok();
    assert_eq!(page["page"], json!([terminal]));
    assert_eq!(server.admin("list-keys", &page["next"]).ok()["page"], json!([used]));
    let nothing = json!({ "key_id": id_of_nothing(&first.key_id) });
    assert_eq!(server.admin("find-key", &nothing).refused("NOT_FOUND"), json!({ "argument": "key_id" }));
}

/// The standard output of a command that succeeds.
#[track_caller]
fn printed(server: &Server, arguments: &[&str]) -> String {
    let output = server.command().args(arguments).output().expect("the binary can be started");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

#[test]
fn found_payments_are_a_table_for_people_and_json_for_programs() {
    let (server, shop) = Server::with(|server| shop(server, "ร้านกาแฟ"));
    let declined = pay(&shop, DECLINED, "order-7");
    let payment = declined["payment_id"].as_str().expect("an id");
    let table = printed(&server, &["payment", "find", "--external-id", "order-7"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("PAYMENT "), "{table}");
    for cell in [payment, "FAILED", "card_declined", "12.50 THB", "CARD", "order-7", &shop.merchant_id, "ร้านกาแฟ"]
    {
        assert!(lines[1].contains(cell), "{cell} is not in {table}");
    }
    let by_id = ["payment", "find", "--payment-id", payment, "--json"];
    let json: Value = serde_json::from_str(&printed(&server, &by_id)).expect("it is JSON");
    assert_eq!(json, found(&server, &json!({ "payment_id": payment })));
    pay(&shop, DECLINED, "order-8");
    let digits = ["payment", "find", "--last-digits", "0002", "--created-at", "today", "--per-page", "1"];
    let table = printed(&server, &digits);
    assert!(table.lines().last().is_some_and(|line| line.starts_with("older ones with --after pay_")), "{table}");
    let nothing = printed(&server, &["payment", "find", "--external-id", "order-9"]);
    assert_eq!(nothing, "no such payment\n");
    for wrong in [&["payment", "find"][..], &["payment", "find", "--payment-id", "a", "--external-id", "b"]] {
        let code = server.command().args(wrong).output().expect("the binary can be started").status.code();
        assert_eq!(code, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_key_is_revoked_by_its_uid_alone() {
    let server = Server::start();
    let (first, second) = (shop(&server, "First"), shop(&server, "Second"));
    let table = printed(&server, &["key", "find", &second.key_id]);
    for cell in [second.key_id.as_str(), "Server", &second.key[..8], "Second", &second.merchant_id] {
        assert!(table.contains(cell), "{cell} is not in {table}");
    }
    assert_eq!(printed(&server, &["key", "revoke", &second.key_id]), "true\n");
    assert_eq!(printed(&server, &["key", "revoke", "--key-id", &second.key_id]), "false\n");
    assert_eq!(second.call("get-balance", &json!({})).code(), "UNAUTHORIZED");
    first.call("get-balance", &json!({})).ok();
    let listed = printed(&server, &["key", "list", "--merchant-id", &second.merchant_id, "--json"]);
    let listed: Value = serde_json::from_str(&listed).expect("it is JSON");
    assert!(listed["page"][0]["revoked_at"].is_u64(), "{listed}");
    let nothing = server.command().args(["key", "revoke", &id_of_nothing(&first.key_id)]).output();
    let nothing = nothing.expect("the binary can be started");
    let errors = String::from_utf8_lossy(&nothing.stderr);
    assert!(nothing.status.code() == Some(1) && errors.starts_with("till: NOT_FOUND: "), "{errors}");
}
