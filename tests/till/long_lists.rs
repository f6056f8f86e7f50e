//! Paging through long lists, both ways, while more is written.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::{Server, SetOnDrop, Shop, from_environment, ids_of, merged};

/// Threads that fill a list at the same time.
const WRITERS: usize = 8;

/// A list that is paged through.
#[derive(Clone, Copy)]
pub(crate) struct LongList {
    endpoint: &'static str,
    /// The member that names an entry.
    id: &'static str,
    /// The default length of the list, which takes a few seconds to fill. `TILL_PAGING_ENTRIES` sets another.
    usually: usize,
}

const ACTIVITY: LongList = LongList { endpoint: "list-activity-logs", id: "activity_log_id", usually: 4_800 };
const HISTORY: LongList = LongList { endpoint: "balance-history", id: "entry_id", usually: 3_000 };
pub(crate) const PAYMENTS: LongList = LongList { endpoint: "list-payments", id: "payment_id", usually: 1_500 };
const METADATA: LongList = LongList { endpoint: "list-metadata", id: "key", usually: 3_000 };

impl LongList {
    fn entries(self) -> usize {
        from_environment("TILL_PAGING_ENTRIES", self.usually)
    }

    fn ids(self, page: &Value) -> Vec<String> {
        ids_of(page, self.id)
    }

    /// The pages from `body` on, each requested by the body in `member` of the page before.
    fn follow(self, shop: &Shop, body: &Value, member: &str) -> Vec<Value> {
        shop.follow(self.endpoint, body, member)
    }

    /// The ids of all entries that a filter finds now.
    pub(crate) fn found(self, shop: &Shop, filter: &Value) -> Vec<String> {
        let pages = self.follow(shop, &merged(&json!({ "per_page": 100 }), filter), "next");
        pages.iter().flat_map(|page| self.ids(page)).collect()
    }

    /// Pages through a filter both ways and checks that nothing is skipped or repeated.
    pub(crate) fn page_both_ways(self, shop: &Shop, filter: &Value, expected: &[String]) {
        let there = self.follow(shop, &merged(&json!({ "per_page": 100 }), filter), "next");
        let listed: Vec<String> = there.iter().flat_map(|page| self.ids(page)).collect();
        assert_eq!(listed.iter().collect::<HashSet<_>>().len(), listed.len(), "{filter}: none is repeated");
        let known: HashSet<&String> = expected.iter().collect();
        let of_before: Vec<&String> = listed.iter().filter(|id| known.contains(id)).collect();
        assert!(of_before.iter().copied().eq(expected), "{filter}: none is skipped, and the order is kept");
        let last = there.last().expect("at least one page");
        let has_previous = !last["previous"].is_null();
        let back = if has_previous { self.follow(shop, &last["previous"], "previous") } else { Vec::new() };
        let again: Vec<String> = back.iter().rev().flat_map(|page| self.ids(page)).collect();
        let before_last = &listed[..listed.len() - self.ids(last).len()];
        assert!(again.ends_with(before_last), "{filter}: what was listed comes again on the way back");
        assert_eq!(
            again.iter().collect::<HashSet<_>>().len(),
            again.len(),
            "{filter}: none is repeated on the way back"
        );
        for neighbour in there.iter().chain(&back).flat_map(|page| [&page["next"], &page["previous"]]) {
            assert!(neighbour.is_null() || merged(neighbour, filter) == *neighbour, "{neighbour} carries {filter}");
        }
        println!(
            "{} {filter}: {} entries in {} pages, {} in {} on the way back",
            self.endpoint,
            listed.len(),
            there.len(),
            again.len(),
            back.len()
        );
    }
}

/// Writes `times` times, from several threads at once.
fn fill(times: usize, write: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let write = &write;
            scope.spawn(move || (writer..times).step_by(WRITERS).for_each(write));
        }
    });
}

/// Reads while other threads write; at least one write is done meanwhile.
pub(crate) fn read_while_writing(read: impl FnOnce(), write: impl Fn(usize) + Sync) {
    let (is_done, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                write(written.fetch_add(1, Ordering::Relaxed));
            }
        });
        let _done = SetOnDrop(&is_done);
        while written.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        read();
    });
    println!("written to meanwhile {} times", written.into_inner());
}

/// Invites a user, who joins and is removed: three entries.
fn come_and_go(shop: &Shop, email: &str) {
    let user = shop.join(email);
    shop.call("remove-user", &json!({ "user_id": user })).ok();
}

/// Fills a list, then pages through it while more is written; each write makes at least one entry.
fn page_while_written(list: LongList, shop: &Shop, write: impl Fn(usize) + Sync, meanwhile: impl Fn(usize) + Sync) {
    fill(list.entries(), write);
    let expected = list.found(shop, &json!({}));
    assert!(expected.len() >= list.entries(), "{} entries", expected.len());
    read_while_writing(|| list.page_both_ways(shop, &json!({}), &expected), meanwhile);
}

#[test]
fn the_activity_log_pages_completely_under_any_filter() {
    let (_server, shop) = Server::with_shop();
    let each = |number: usize| come_and_go(&shop, &format!("w{}-{number}@n{}.example", number % 8, number / 8 % 9));
    fill(ACTIVITY.entries().div_ceil(3), each);
    let filters = [
        json!({}),
        json!({ "activity_type": "user_removed" }),
        json!({ "actor_key_id": shop.key_id }),
        json!({ "object_id": shop.merchant_id }),
        json!({ "terms": "@n3.example" }),
        json!({ "terms": "mer_0" }),
        json!({ "created_at": "2020-01-01..", "activity_type": "user_invited", "terms": "w1-" }),
        json!({ "activity_type": "invitation_accepted", "actor_key_id": shop.key_id, "object_id": shop.merchant_id }),
        json!({ "actor_key_id": shop.key_id, "terms": "@N3.", "created_at": "2020-01..2100-01" }),
    ];
    let before: Vec<Vec<String>> = filters.iter().map(|filter| ACTIVITY.found(&shop, filter)).collect();
    assert!(before[0].len() >= ACTIVITY.entries() && before[1].len() * 3 == before[0].len());
    assert!(before.iter().all(|found| found.len() > 100), "each filter has several pages");
    let read = || filters.iter().zip(&before).for_each(|(filter, found)| ACTIVITY.page_both_ways(&shop, filter, found));
    read_while_writing(read, |_| come_and_go(&shop, "w1-late@n3.example"));
}

#[test]
fn the_balance_history_pages_completely_while_it_grows() {
    let (server, shop) = Server::with_shop();
    let top_up = |number: usize| {
        let body = json!({ "merchant_id": shop.merchant_id, "amount": number + 1 });
        server.admin("add-topup", &body).id();
    };
    page_while_written(HISTORY, &shop, top_up, top_up);
}

#[test]
fn payments_page_completely_while_payments_settle() {
    let (_server, shop) = Server::with_shop();
    let pay = |number: usize| {
        let minor = u64::try_from(number % 1_000).expect("it is small") + 1;
        let session = shop.installment_session(minor, "merchant");
        shop.initiate(&session, minor, &json!({ "interest_bearer": "merchant" })).id();
    };
    page_while_written(PAYMENTS, &shop, pay, pay);
}

#[test]
fn metadata_pages_completely_while_records_change() {
    let (_server, shop) = Server::with_shop();
    let add = |key: String, item: usize| {
        shop.call("add-to-metadata-set", &json!({ "key": key, "value": item })).ok();
    };
    let meanwhile = |number: usize| {
        add(format!("late-{number}"), 0);
        add(format!("record-{}", number * 7 % METADATA.entries()), number + 1);
    };
    page_while_written(METADATA, &shop, |number| add(format!("record-{number}"), 0), meanwhile);
}
