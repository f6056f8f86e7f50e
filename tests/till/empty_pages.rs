//! Pages without entries: a caller that paged past an end finds the way back. Contract, section 6.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop, ids_of, merged};

/// A list of at least five entries: its call, and the member that identifies its entries.
struct PagedList<'a> {
    call: Box<dyn Fn(&Value) -> ApiAnswer + 'a>,
    id: &'static str,
}

impl PagedList<'_> {
    fn page(&self, body: &Value) -> Value {
        (self.call)(body).ok()
    }

    fn ids(&self, page: &Value) -> Vec<String> {
        ids_of(page, self.id)
    }

    /// Pages past both ends and back.
    fn leads_back(&self) {
        let all = self.ids(&self.page(&json!({})));
        assert!(all.len() >= 5, "{}: {all:?}", self.id);
        let (newest, oldest) = (self.cursor_at(0), self.cursor_at(all.len() - 1));
        let past_the_end = self.page(&json!({ "after": oldest, "per_page": 2 }));
        assert_eq!((self.ids(&past_the_end).len(), &past_the_end["next"]), (0, &Value::Null), "{}", self.id);
        let last = self.page(&past_the_end["previous"]);
        assert_eq!(self.ids(&last), all[all.len() - 2..], "{}", self.id);
        assert_eq!(last["next"], Value::Null);
        let before = self.page(&json!({ "before": newest, "per_page": 2 }));
        assert_eq!((self.ids(&before).len(), &before["previous"]), (0, &Value::Null), "{}", self.id);
        let first = self.page(&before["next"]);
        assert_eq!(self.ids(&first), all[..2], "{}", self.id);
        assert_eq!(first["previous"], Value::Null);
    }

    /// The cursor of an entry: its id, which pages of one entry name in their neighbours.
    fn cursor_at(&self, place: usize) -> String {
        let mut page = self.page(&json!({ "per_page": 1 }));
        let mut newer = Value::Null;
        for _ in 0..place {
            newer = page["next"]["after"].clone();
            page = self.page(&page["next"]);
        }
        let own = if page["next"].is_null() { &page["previous"]["before"] } else { &page["next"]["after"] };
        assert_ne!(*own, newer);
        own.as_str().expect("a cursor").to_owned()
    }
}

fn of_shop<'a>(shop: &'a Shop, endpoint: &'a str, id: &'static str) -> PagedList<'a> {
    PagedList { call: Box::new(move |body| shop.call(endpoint, body)), id }
}

/// Fills every list of a merchant.
fn fill(server: &Server, shop: &Shop) {
    for number in 0..5 {
        shop.pay(100);
        shop.call("sync-metadata", &json!({ "key": format!("k{number}"), "metadata": {} })).ok();
        shop.call("generate-key", &json!({ "name": "Other" })).ok();
        shop.join(&format!("u{number}@shop.example"));
        server.admin("create-merchant", &json!({ "name": "Other", "currency": "THB" })).id();
    }
}

#[test]
fn an_empty_page_leads_back_to_the_page_of_its_cursor() {
    let (server, shop) = Server::with_shop();
    fill(&server, &shop);
    for (endpoint, id) in [
        ("balance-history", "entry_id"),
        ("list-activity-logs", "activity_log_id"),
        ("list-payments", "payment_id"),
        ("list-metadata", "key"),
        ("list-keys", "key_id"),
        ("list-users", "user_id"),
        ("list-user-invitations", "invitation_id"),
    ] {
        of_shop(&shop, endpoint, id).leads_back();
    }
    PagedList { call: Box::new(|body| server.admin("list-merchants", body)), id: "merchant_id" }.leads_back();
    let filter = json!({ "activity_type": "payment_captured" });
    let call = |body: &Value| shop.call("list-activity-logs", &merged(&filter, body));
    PagedList { call: Box::new(call), id: "activity_log_id" }.leads_back();
    let past = json!({ "activity_type": "user_removed", "after": format!("act_7{}", "z".repeat(25)) });
    let empty = json!({ "previous": null, "page": [], "next": null });
    assert_eq!(shop.call("list-activity-logs", &past).ok(), empty, "nothing passes the filter on either side");
}

#[test]
fn a_page_whose_entries_were_removed_leads_back() {
    let (_server, shop) = Server::with_shop();
    let put = |key: &str| drop(shop.call("sync-metadata", &json!({ "key": key, "metadata": {} })).ok());
    let remove = |key: &str| drop(shop.call("delete-metadata", &json!({ "key": key })).ok());
    ["a", "b", "c", "d"].into_iter().for_each(put);
    let list = of_shop(&shop, "list-metadata", "key");
    let first = list.page(&json!({ "per_page": 2 }));
    ["a", "b"].into_iter().for_each(remove);
    let empty = list.page(&first["next"]);
    assert_eq!((list.ids(&empty).len(), &empty["next"]), (0, &Value::Null));
    assert_eq!(list.ids(&list.page(&empty["previous"])), ["d", "c"]);
    remove("c");
    let empty = list.page(&first["next"]);
    assert_eq!(list.ids(&list.page(&empty["previous"])), ["d"], "the cursor's own entry is gone, too");
    remove("d");
    assert_eq!(list.page(&first["next"]), json!({ "previous": null, "page": [], "next": null }));
}

#[test]
fn a_page_of_a_set_without_items_leads_back() {
    let (_server, shop) = Server::with_shop();
    shop.call("sync-metadata", &json!({ "key": "k", "metadata": [0, 1, 2, 3] })).ok();
    let page =
        |body: &Value| shop.call("retrieve-metadata", &merged(&json!({ "key": "k", "data_only": true }), body)).ok();
    // The list is first one of an array, then one of the set that the array becomes.
    for _ in 0..2 {
        let past_the_end = page(&json!({ "after": 3, "per_page": 2 }));
        assert_eq!((&past_the_end["page"], &past_the_end["next"]), (&json!([]), &Value::Null));
        assert_eq!(page(&past_the_end["previous"])["page"], json!([2, 3]));
        let before = page(&json!({ "before": 0, "per_page": 2 }));
        assert_eq!((&before["page"], &before["previous"]), (&json!([]), &Value::Null));
        assert_eq!(page(&before["next"])["page"], json!([0, 1]));
        assert_eq!(shop.call("add-to-metadata-set", &json!({ "key": "k", "value": 3 })).ok(), json!(false));
    }
    shop.call("remove-from-metadata-set", &json!({ "key": "k", "value": 0 })).ok();
    let before = page(&json!({ "before": 1, "per_page": 2 }));
    assert_eq!((&before["page"], &before["previous"]), (&json!([]), &Value::Null));
    assert_eq!(page(&before["next"])["page"], json!([1, 2]), "the item at the cursor is the first");
}
