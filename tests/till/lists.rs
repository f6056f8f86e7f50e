//! Lists and the balance: contract, section 6.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Server, SetOnDrop, Shop, id_of_nothing, ids_of, merged};

/// The number of entries that a list gets before it is paged through.
const ENTRIES: usize = 300;

/// A list: its endpoint, the member with the id of an entry, and the call that adds an entry.
struct GrowingList {
    endpoint: &'static str,
    id: &'static str,
    write: fn(&Server, &Shop, usize),
}

const HISTORY: GrowingList = GrowingList { endpoint: "balance-history", id: "entry_id", write: top_up };
const ACTIVITY: GrowingList = GrowingList { endpoint: "list-activity-logs", id: "activity_log_id", write: pay };

fn top_up(server: &Server, shop: &Shop, number: usize) {
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": number + 1 })).ok();
}

fn pay(_: &Server, shop: &Shop, _: usize) {
    let payment =
        shop.initiate(&shop.installment_session(100, "merchant"), 100, &json!({ "interest_bearer": "merchant" }));
    shop.settled(&payment.id());
}

impl GrowingList {
    fn fill(&self, server: &Server, shop: &Shop, entries: usize) {
        thread::scope(|scope| {
            for part in 0..4 {
                scope.spawn(move || (part..entries).step_by(4).for_each(|number| (self.write)(server, shop, number)));
            }
        });
    }

    /// The ids of a page.
    fn ids(&self, page: &Value) -> Vec<String> {
        ids_of(page, self.id)
    }

    /// The ids of the first page and of every page that `member` leads to, page by page.
    fn pages(&self, shop: &Shop, from: &Value, member: &str) -> Vec<Vec<String>> {
        shop.follow(self.endpoint, from, member).iter().map(|page| self.ids(page)).collect()
    }

    fn paged_both_ways_while_others_write(&self) {
        let (server, shop) = Server::with_shop();
        self.fill(&server, &shop, ENTRIES);
        let before: Vec<String> = self.pages(&shop, &json!({ "per_page": 100 }), "next").concat();
        assert_eq!(before.len(), ENTRIES);
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let stop = SetOnDrop(&done);
            let writer = scope.spawn(|| {
                let mut number = ENTRIES;
                while !done.load(Ordering::Relaxed) {
                    (self.write)(&server, &shop, number);
                    number += 1;
                }
                number - ENTRIES
            });
            let forth: Vec<String> = self.pages(&shop, &json!({ "per_page": 7 }), "next").concat();
            let oldest = json!({ "per_page": 7, "after": before[before.len() - 8] });
            let end = shop.call(self.endpoint, &oldest).ok();
            assert_eq!(self.ids(&end), before[before.len() - 7..]);
            assert_eq!(end["next"], Value::Null);
            drop(stop);
            assert!(writer.join().expect("the writer ends well") > 0, "somebody wrote meanwhile");
            self.assert_none_lost_none_twice(&forth, &before);
            let mut back = self.pages(&shop, &oldest, "previous");
            back.reverse();
            self.assert_none_lost_none_twice(&back.concat(), &before);
            assert_eq!(back.concat(), self.pages(&shop, &json!({ "per_page": 100 }), "next").concat());
        });
    }

    #[track_caller]
    fn assert_none_lost_none_twice(&self, seen: &[String], before: &[String]) {
        assert!(seen.windows(2).all(|pair| pair[0] > pair[1]), "newest first, none twice");
        assert!(seen.ends_with(before), "all that was there when it began, in the same order");
    }
}

#[test]
fn the_balance_history_pages_completely_while_others_write() {
    HISTORY.paged_both_ways_while_others_write();
}

#[test]
fn the_activity_log_pages_completely_while_others_write() {
    ACTIVITY.paged_both_ways_while_others_write();
}

#[test]
fn next_and_previous_are_whole_bodies_for_their_pages() {
    let (server, shop) = Server::with_shop();
    HISTORY.fill(&server, &shop, 10);
    let first = shop.call("balance-history", &json!({ "per_page": 4 })).ok();
    let ids = HISTORY.ids(&first);
    assert_eq!(first["previous"], Value::Null, "there is nothing newer");
    assert_eq!(first["next"], json!({ "after": ids[3], "per_page": 4 }));
    let second = shop.call("balance-history", &first["next"]).ok();
    let ids = HISTORY.ids(&second);
    assert_eq!(second["previous"], json!({ "before": ids[0], "per_page": 4 }));
    assert_eq!(second["next"], json!({ "after": ids[3], "per_page": 4 }));
    let third = shop.call("balance-history", &second["next"]).ok();
    assert_eq!((HISTORY.ids(&third).len(), &third["next"]), (2, &Value::Null), "there is nothing older");
    assert_eq!(shop.call("balance-history", &third["previous"]).ok(), second);
    assert_eq!(shop.call("balance-history", &second["previous"]).ok(), first);
}

#[test]
fn the_page_with_the_oldest_entry_has_no_next() {
    let (server, shop) = Server::with_shop();
    HISTORY.fill(&server, &shop, 8);
    let pages = HISTORY.pages(&shop, &json!({ "per_page": 4 }), "next");
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4]);
    let whole = shop.call("balance-history", &json!({ "per_page": 8 })).ok();
    assert_eq!((&whole["next"], &whole["previous"]), (&Value::Null, &Value::Null));
}

#[test]
fn before_answers_the_entries_next_to_the_cursor() {
    let (server, shop) = Server::with_shop();
    HISTORY.fill(&server, &shop, 10);
    let all = HISTORY.ids(&shop.call("balance-history", &json!({})).ok());
    let page = shop.call("balance-history", &json!({ "before": all[9], "per_page": 3 })).ok();
    assert_eq!(HISTORY.ids(&page), all[6..9]);
    assert_eq!(page["previous"], json!({ "before": all[6], "per_page": 3 }));
    assert_eq!(page["next"], json!({ "after": all[8], "per_page": 3 }));
    let newest = shop.call("balance-history", &json!({ "before": all[0] })).ok();
    assert_eq!((HISTORY.ids(&newest).len(), &newest["previous"]), (0, &Value::Null));
    assert_eq!(HISTORY.ids(&shop.call("balance-history", &newest["next"]).ok()), all);
}

#[test]
fn a_page_has_25_entries_unless_1_to_100_are_asked_for() {
    let (server, shop) = Server::with_shop();
    HISTORY.fill(&server, &shop, 130);
    let size = |body: Value| HISTORY.ids(&shop.call("balance-history", &body).ok()).len();
    assert_eq!((size(json!({})), size(json!({ "per_page": null }))), (25, 25));
    assert_eq!(
        (size(json!({ "per_page": 1 })), size(json!({ "per_page": 100 })), size(json!({ "per_page": 3.0 }))),
        (1, 100, 3)
    );
    for list in [HISTORY, ACTIVITY] {
        for wrong in [json!(0), json!(101), json!(-1), json!(2.5), json!("25"), json!(true), json!([25])] {
            assert_eq!(
                shop.call(list.endpoint, &json!({ "per_page": wrong })).faults(),
                ["invalid per_page"],
                "{wrong}"
            );
        }
    }
}

/// A merchant whose activity log has `entries` entries.
fn invited(server: &Server, entries: usize) -> Shop {
    let shop = server.shop();
    for number in 0..entries {
        shop.call("invite-user", &json!({ "email": format!("e{number}@shop.example") })).id();
    }
    shop
}

#[test]
fn an_activity_page_has_25_entries_unless_1_to_100_are_asked() {
    let (_server, shop) = Server::with(|server| invited(server, 103));
    let size = |body: Value| ACTIVITY.ids(&shop.call("list-activity-logs", &body).ok()).len();
    assert_eq!((size(json!({})), size(json!({ "per_page": null }))), (25, 25));
    assert_eq!((size(json!({ "per_page": 1 })), size(json!({ "per_page": 100 }))), (1, 100));
    let first = shop.call("list-activity-logs", &json!({})).ok();
    let expected = json!({ "after": first["page"][24]["activity_log_id"], "per_page": 25 });
    assert_eq!(first["next"], expected, "the size that was not asked for is carried on, too");
}

#[test]
fn after_and_before_answer_the_entries_next_to_the_cursor() {
    let (_server, shop) = Server::with(|server| invited(server, 10));
    let all = ACTIVITY.ids(&shop.call("list-activity-logs", &json!({})).ok());
    let page = |body: Value| shop.call("list-activity-logs", &body).ok();
    let older = page(json!({ "after": all[2], "per_page": 3 }));
    assert_eq!(ACTIVITY.ids(&older), all[3..6]);
    assert_eq!(older["previous"], json!({ "before": all[3], "per_page": 3 }));
    assert_eq!(older["next"], json!({ "after": all[5], "per_page": 3 }));
    let newer = page(json!({ "before": all[9], "per_page": 3 }));
    assert_eq!(ACTIVITY.ids(&newer), all[6..9]);
    assert_eq!(newer["previous"], json!({ "before": all[6], "per_page": 3 }));
    let newest = page(json!({ "before": all[0] }));
    assert_eq!((ACTIVITY.ids(&newest).len(), &newest["previous"]), (0, &Value::Null));
    let oldest = page(json!({ "after": all[9] }));
    assert_eq!((ACTIVITY.ids(&oldest).len(), &oldest["next"]), (0, &Value::Null));
}

#[test]
fn cursors_are_ids_of_the_list_and_one_at_a_time() {
    let (server, shop) = Server::with_shop();
    HISTORY.fill(&server, &shop, 2);
    pay(&server, &shop, 0);
    for list in [HISTORY, ACTIVITY] {
        let id = HISTORY.ids(&shop.call("balance-history", &json!({})).ok()).remove(0);
        let id = id.replace("ent_", if list.id == "entry_id" { "ent_" } else { "act_" });
        for name in ["after", "before"] {
            for wrong in [
                json!(""),
                json!("x"),
                json!(1),
                json!(id[4..]),
                json!(id.to_uppercase()),
                json!(shop.key_id),
                json!({}),
            ] {
                assert_eq!(
                    shop.call(list.endpoint, &json!({ name: wrong })).faults(),
                    [format!("invalid {name}")],
                    "{wrong}"
                );
            }
            shop.call(list.endpoint, &json!({ name: null })).ok();
        }
        assert_eq!(shop.call(list.endpoint, &json!({ "after": id, "before": id })).faults(), ["invalid before"]);
        shop.call(list.endpoint, &json!({ "after": id, "before": null })).ok();
        let all = json!({ "per_page": 0, "after": 1, "before": 1, "perpage": 1 });
        let expected = ["invalid per_page", "invalid after", "invalid before", "invalid before", "unknown perpage"];
        assert_eq!(shop.call(list.endpoint, &all).faults(), expected);
    }
}

#[test]
fn an_unknown_cursor_stands_for_its_time() {
    let (server, shop) = Server::with_shop();
    HISTORY.fill(&server, &shop, 3);
    let all = HISTORY.ids(&shop.call("balance-history", &json!({})).ok());
    let page = |body: Value| HISTORY.ids(&shop.call("balance-history", &body).ok());
    let (first, last) = (format!("ent_{}", "0".repeat(26)), format!("ent_7{}", "z".repeat(25)));
    assert_eq!((page(json!({ "after": last })), page(json!({ "before": first }))), (all.clone(), all.clone()));
    assert_eq!((page(json!({ "after": first })).len(), page(json!({ "before": last })).len()), (0, 0));
    let near = id_of_nothing(&all[1]);
    let (older, newer) = (page(json!({ "after": near })), page(json!({ "before": near })));
    assert_eq!([newer, older].concat(), all, "it parts the list");
}

#[test]
fn lists_are_empty_at_first_and_the_history_needs_a_balance() {
    let (server, merchant_id) =
        Server::with(|server| server.admin("create-merchant", &json!({ "name": "New", "currency": "USD" })).id());
    let named = json!({ "merchant_id": merchant_id });
    let key = server.admin("generate-key", &merged(&named, &json!({ "name": "Server" }))).ok();
    let client = server.client().bearer(key["key"].as_str().expect("a key"));
    let empty = json!({ "previous": null, "page": [], "next": null });
    assert_eq!(client.post("/merchants/list-activity-logs", &json!({})).ok(), empty);
    for endpoint in ["/merchants/balance-history", "/merchants/get-balance"] {
        assert_eq!(client.post(endpoint, &json!({})).refused("NOT_FOUND"), Value::Null);
    }
    assert_eq!(
        client.post("/merchants/balance-history", &json!({ "per_page": 0 })).faults(),
        ["invalid per_page"],
        "faults first"
    );
    assert_eq!(server.admin("open-balance", &named).ok(), true);
    assert_eq!(client.post("/merchants/balance-history", &json!({})).ok(), empty);
    let balance = json!({ "currency": "USD", "available": 0, "pending": 0 });
    assert_eq!(client.post("/merchants/get-balance", &json!({})).ok(), balance);
    assert_eq!(client.post("/merchants/get-balance", &json!({ "x": 1 })).faults(), ["unknown x"]);
}

#[test]
fn a_top_up_is_an_effective_credit_and_available_at_once() {
    let (server, shop) = Server::with_shop();
    let topup = server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": "12345" })).id();
    let entry = shop.all("balance-history").remove(0);
    let expected = shop.declared(
        "entry",
        &json!({
            "entry_id": entry["entry_id"], "transaction_id": entry["transaction_id"], "direction": "CREDIT",
            "type": "ADD_PREFUND", "amount": 12_345, "currency": "THB", "status": "EFFECTIVE",
            "topup_id": topup,
            "created_at": entry["created_at"], "effective_at": entry["created_at"],
        }),
    );
    assert_eq!(entry, expected);
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 12_345, "pending": 0 }));
    assert_eq!(shop.all("list-activity-logs").len(), 0);
}

#[test]
fn the_balance_is_the_sum_of_the_history() {
    let (server, shop) = Server::with_shop();
    top_up(&server, &shop, 999);
    (0..5).for_each(|_| drop(shop.pay(700)));
    shop.settled(&shop.initiate(&shop.session_of("4000000000000077", 50), 50, &json!({})).id());
    let sum = |status: &str| -> i64 {
        let entries = shop.all("balance-history");
        let of_status = entries.iter().filter(|entry| entry["status"] == status);
        of_status.map(|entry| entry["amount"].as_i64().expect("an amount")).sum()
    };
    let expected = json!({ "currency": "THB", "available": sum("EFFECTIVE"), "pending": sum("ON_HOLD") });
    assert_eq!((shop.balance(), sum("EFFECTIVE"), sum("ON_HOLD")), (expected, 1_050, 3_500));
}

#[test]
fn ids_of_a_merchant_grow_in_the_order_of_the_calls() {
    let (server, shop) = Server::with_shop();
    HISTORY.fill(&server, &shop, 40);
    let amounts: BTreeSet<u64> =
        shop.all("balance-history").iter().filter_map(|entry| entry["amount"].as_u64()).collect();
    assert_eq!(amounts, (1..=40).collect());
    let payments = [0; 20].map(|_| shop.initiate(&shop.session(100), 100, &json!({})).id());
    assert!(payments.windows(2).all(|pair| pair[0] < pair[1]), "{payments:?}");
}
