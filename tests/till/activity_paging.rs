//! Paging through a long activity log, both ways, while more is written.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::harness::{Server, Shop, merged};

/// Entries that are paged through unless `TILL_PAGING_ENTRIES` says how many.
const ENTRIES: usize = 3_000;
/// Programs that write at once.
const WRITERS: usize = 8;

fn entries() -> usize {
    std::env::var("TILL_PAGING_ENTRIES").map_or(ENTRIES, |text| text.parse().expect("a number"))
}

/// Says that it is done when it goes, also when a check fails.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Somebody is invited, joins and is removed: three entries.
fn come_and_go(shop: &Shop, email: &str) {
    let invitation = shop.call("invite-user", &json!({ "email": email })).id();
    let user = shop.call("accept-invitation", &json!({ "invitation_id": invitation })).id();
    shop.call("remove-user", &json!({ "user_id": user })).ok();
}

fn fill(shop: &Shop) {
    let each = entries().div_ceil(3 * WRITERS);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let write =
                move || (0..each).for_each(|number| come_and_go(shop, &format!("w{writer}@n{}.example", number % 9)));
            scope.spawn(write);
        }
    });
}

fn ids(page: &Value) -> Vec<String> {
    let page = page["page"].as_array().expect("a page");
    page.iter().map(|entry| entry["activity_log_id"].as_str().expect("an id").to_owned()).collect()
}

/// The pages from `body` on, in the direction that a member of each names.
fn follow(shop: &Shop, body: &Value, member: &str) -> Vec<Value> {
    let mut pages = vec![shop.call("list-activity-logs", body).ok()];
    while let Some(next) = pages.last().map(|page| page[member].clone()).filter(|next| !next.is_null()) {
        pages.push(shop.call("list-activity-logs", &next).ok());
    }
    pages
}

/// Pages through a filter both ways and checks that nothing is skipped or repeated.
fn page_both_ways(shop: &Shop, filter: &Value, expected: &[String]) {
    let there = follow(shop, &merged(filter, &json!({ "per_page": 100 })), "next");
    let listed: Vec<String> = there.iter().flat_map(ids).collect();
    assert_eq!(listed.iter().collect::<HashSet<_>>().len(), listed.len(), "{filter}: none is repeated");
    let known: HashSet<&String> = expected.iter().collect();
    let of_before: Vec<&String> = listed.iter().filter(|id| known.contains(id)).collect();
    assert_eq!(of_before, expected.iter().collect::<Vec<_>>(), "{filter}: none is skipped, and the order is kept");
    let last = there.last().expect("at least one page");
    let back = follow(shop, &last["previous"], "previous");
    let again: Vec<String> = back.iter().rev().flat_map(ids).collect();
    let before_last = &listed[..listed.len() - ids(last).len()];
    assert!(again.ends_with(before_last), "{filter}: what was listed comes again on the way back");
    assert_eq!(again.iter().collect::<HashSet<_>>().len(), again.len(), "{filter}: none is repeated on the way back");
    let filters = |neighbour: &Value| merged(neighbour, filter);
    assert!(
        back.iter()
            .filter(|page| !page["previous"].is_null())
            .all(|page| filters(&page["previous"]) == page["previous"])
    );
}

#[test]
fn pages_skip_and_repeat_nothing_while_entries_are_written() {
    let server = Server::start();
    let shop = server.shop();
    fill(&shop);
    let filters = [
        json!({}),
        json!({ "activity_type": "user_removed" }),
        json!({ "actor_key_id": shop.key_id }),
        json!({ "object_id": shop.merchant_id }),
        json!({ "terms": "@n3.example" }),
        json!({ "terms": "mer_0" }),
        json!({ "created_at": "2020-01-01..", "activity_type": "user_invited", "terms": "w1@" }),
    ];
    let before: Vec<Vec<String>> = filters
        .iter()
        .map(|filter| {
            let pages = follow(&shop, &merged(filter, &json!({ "per_page": 100 })), "next");
            pages.iter().flat_map(ids).collect()
        })
        .collect();
    assert!(before[0].len() >= entries() && before[1].len() * 3 == before[0].len());
    assert!(before.iter().all(|found| found.len() > 100), "each filter has several pages");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                come_and_go(&shop, "w1@n3.example");
            }
        });
        let _done = Done(&is_done);
        for (filter, expected) in filters.iter().zip(&before) {
            page_both_ways(&shop, filter, expected);
        }
    });
}
