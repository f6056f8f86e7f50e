//! Entries of the ledger by payment, type and time, and refunds, payouts and disputes by time: contract, section 9.1a.

use serde_json::{Value, json};

use crate::harness::{Server, Shop, id_of_nothing};

/// A shop with fees, a payment that was refunded in parts and disputed, another one, a payout, a top-up and an invoice.
struct Books {
    server: Server,
    shop: Shop,
    payment: String,
}

impl Books {
    fn new() -> Books {
        let (server, shop) = Server::with_shop();
        server.configure(&shop, "CARD", &json!({ "fee_fixed": 7 })).ok();
        let add = json!({ "merchant_id": shop.merchant_id, "amount": 5_000, "external_id": "transfer-1" });
        server.admin("add-topup", &add).ok();
        let paid = shop.pay_with(1_000, &json!({ "external_id": "order-1" }));
        let payment = paid["payment_id"].as_str().expect("an id").to_owned();
        for number in 0..5 {
            let refund =
                json!({ "payment_id": "order-1", "amount": 10 + number, "external_id": format!("back-{number}") });
            shop.call("refund-payment", &refund).ok();
            shop.pay(300 + number);
        }
        let dispute = json!({ "merchant_id": shop.merchant_id, "payment_id": payment, "amount": 50 });
        server.admin("open-dispute", &dispute).ok();
        shop.call("send-payout", &json!({ "amount": 100, "external_id": "to-bank-1" })).ok();
        server.admin("charge-invoice", &json!({ "merchant_id": shop.merchant_id, "amount": 9 })).ok();
        Books { server, shop, payment }
    }

    /// All entries that pass a test, newest first, by paging through all.
    fn expected(&self, passes: impl Fn(&Value) -> bool) -> Vec<Value> {
        self.shop.all("balance-history").into_iter().filter(passes).collect()
    }

    /// The entries that a call finds on pages of this size, forwards and then backwards.
    fn paged(&self, endpoint: &str, filters: &Value, per_page: u64) -> Vec<Value> {
        let mut body = filters.clone();
        body["per_page"] = json!(per_page);
        let mut page = self.shop.call(endpoint, &body).ok();
        let mut pages = vec![entries(&page)];
        while page["next"].is_object() {
            page = self.shop.call(endpoint, &page["next"]).ok();
            pages.push(entries(&page));
        }
        let forwards: Vec<Value> = pages.concat();
        let mut back = vec![entries(&page)];
        while page["previous"].is_object() {
            page = self.shop.call(endpoint, &page["previous"]).ok();
            back.insert(0, entries(&page));
        }
        assert_eq!(back.concat(), forwards, "{endpoint} {filters}");
        forwards
    }
}

fn entries(page: &Value) -> Vec<Value> {
    page["page"].as_array().unwrap_or_else(|| panic!("no page: {page}")).clone()
}

#[test]
fn the_entries_of_a_payment_are_found_by_its_own_rows() {
    let books = Books::new();
    let of_payment = books.expected(|entry| entry["payment_id"] == json!(books.payment));
    // The capture and its fee, five refunds and a dispute.
    assert_eq!(of_payment.len(), 8);
    for named in ["order-1", books.payment.as_str()] {
        for per_page in [1, 2, 3, 100] {
            let filters = json!({ "payment_id": named });
            assert_eq!(books.paged("balance-history", &filters, per_page), of_payment, "{named}, {per_page}");
            assert_eq!(books.paged("list-entries-by-payment", &filters, per_page), of_payment, "{named}, {per_page}");
        }
    }
    let nothing = id_of_nothing(&books.payment);
    assert!(books.paged("balance-history", &json!({ "payment_id": nothing }), 10).is_empty());
    books.shop.call("list-entries-by-payment", &json!({ "payment_id": nothing })).refused("NOT_FOUND");
}

#[test]
fn entries_are_filtered_by_type_and_time_together() {
    let books = Books::new();
    for kind in ["PAYMENT", "PAYMENT_FEE", "REFUND", "DISPUTE", "PAY_OUT", "INVOICE", "ADD_PREFUND", "INTEREST"] {
        let expected = books.expected(|entry| entry["type"] == kind);
        assert_eq!(expected.is_empty(), kind == "INTEREST", "{kind}");
        assert_eq!(books.paged("balance-history", &json!({ "type": kind }), 2), expected, "{kind}");
        let both = json!({ "type": kind, "payment_id": "order-1", "created_at": "2020-01.." });
        let of_payment: Vec<_> =
            expected.into_iter().filter(|entry| entry["payment_id"] == json!(books.payment)).collect();
        assert_eq!(books.paged("balance-history", &both, 2), of_payment, "{kind}");
    }
    assert_eq!(books.shop.call("balance-history", &json!({ "type": "TOP_UP" })).faults(), ["invalid type"]);
    for endpoint in ["balance-history", "list-refunds", "list-disputes", "list-payouts"] {
        let all = books.shop.all(endpoint);
        assert!(!all.is_empty());
        assert_eq!(books.paged(endpoint, &json!({ "created_at": "2020-01.." }), 2), all, "{endpoint}");
        if endpoint != "balance-history" {
            let with_status = json!({ "created_at": "2020-01..", "status": all[0]["status"] });
            let same: Vec<_> = all.iter().filter(|one| one["status"] == all[0]["status"]).cloned().collect();
            assert_eq!(books.paged(endpoint, &with_status, 2), same, "{endpoint}");
        }
        assert!(books.paged(endpoint, &json!({ "created_at": "2020-01" }), 2).is_empty(), "{endpoint}");
        assert_eq!(books.shop.call(endpoint, &json!({ "created_at": "soon" })).faults(), ["invalid created_at"]);
    }
}

#[test]
fn entries_name_the_order_that_their_money_is_of() {
    let books = Books::new();
    for entry in books.shop.all("balance-history") {
        let expected = match entry["type"].as_str() {
            Some("ADD_PREFUND") => json!("transfer-1"),
            Some("PAY_OUT") => json!("to-bank-1"),
            Some("INVOICE") => Value::Null,
            _ if entry["payment_id"] == json!(books.payment) => json!("order-1"),
            _ => Value::Null,
        };
        assert_eq!(entry["external_id"], expected, "{entry}");
    }
    let of_another = books.server.shop().call("balance-history", &json!({ "payment_id": "order-1" })).ok();
    assert!(entries(&of_another).is_empty());
}
