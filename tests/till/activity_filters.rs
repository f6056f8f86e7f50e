//! The filters of `list-activity-logs`, each by itself and together.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};
use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop, id_of_nothing, merged};

fn list(shop: &Shop, filter: &Value) -> ApiAnswer {
    shop.call("list-activity-logs", filter)
}

/// The types of the entries that pass a filter, newest first.
#[track_caller]
fn types(shop: &Shop, filter: &Value) -> Vec<String> {
    let page = list(shop, filter).ok();
    let page = page["page"].as_array().expect("a page");
    page.iter().map(|entry| entry["activity_type"].as_str().expect("a string").to_owned()).collect()
}

#[track_caller]
fn count(shop: &Shop, filter: &Value) -> usize {
    types(shop, filter).len()
}

fn plan(shop: &Shop, place: usize) -> String {
    shop.call("list-plans", &json!({})).ok()[place]["plan_id"].as_str().expect("an id").to_owned()
}

/// A merchant with a captured payment, a plan switch, and a user who joined and was removed.
fn lively_shop(server: &Server) -> (Shop, String) {
    let shop = server.shop_with(json!({ "name": "Shop", "currency": "THB", "support_email": "help@till.example" }));
    let payment = shop.pay_with(100, &json!({ "external_id": "order-1" }));
    shop.call("select-plan", &json!({ "plan_id": plan(&shop, 1) })).ok();
    let user = shop.join("ada@shop.example");
    shop.call("remove-user", &json!({ "user_id": user })).ok();
    (shop, payment["payment_id"].as_str().expect("an id").to_owned())
}

const ALL: [&str; 5] = ["USER_REMOVED", "INVITATION_ACCEPTED", "USER_INVITED", "PLAN_SWITCHED", "PAYMENT_CAPTURED"];

fn now() -> Timestamp {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    Timestamp::from_second(i64::try_from(seconds).expect("small")).expect("a time of today")
}

#[test]
fn without_a_filter_everything_is_listed() {
    let (_server, (shop, _)) = Server::with(lively_shop);
    assert_eq!(types(&shop, &json!({})), ALL);
    assert_eq!(types(&shop, &json!({ "activity_type": null, "terms": null })), ALL, "null is omitted");
}

#[test]
fn activity_type_finds_one_type() {
    let (_server, (shop, _)) = Server::with(lively_shop);
    for found in ALL {
        assert_eq!(types(&shop, &json!({ "activity_type": found.to_lowercase() })), [found]);
    }
    for none in ["payment_voided", "payment_reversed", "refund_created", "payout_created", "dispute_challenged"] {
        assert_eq!(count(&shop, &json!({ "activity_type": none })), 0, "{none}");
    }
}

#[test]
fn activity_type_dispute_is_a_group_and_types_are_lower_case() {
    let (_server, (shop, _)) = Server::with(lively_shop);
    assert_eq!(count(&shop, &json!({ "activity_type": "dispute" })), 0);
    for refused in ["DISPUTE", "PAYMENT_CAPTURED", "captured", ""] {
        assert_eq!(list(&shop, &json!({ "activity_type": refused })).faults(), ["invalid activity_type"], "{refused}");
    }
}

#[test]
fn actor_key_id_finds_the_entries_of_a_revoked_key() {
    let (server, (shop, _)) = Server::with(lively_shop);
    let made = shop.call("generate-key", &json!({ "name": "Second" })).ok();
    let second = server.client().bearer(made["key"].as_str().expect("its text"));
    second.post("/merchants/invite-user", &json!({ "email": "bob@shop.example" })).ok();
    let by_second = json!({ "actor_key_id": made["key_id"] });
    assert_eq!(types(&shop, &by_second), ["USER_INVITED"]);
    shop.call("revoke-key", &json!({ "key_id": made["key_id"] })).ok();
    assert_eq!(types(&shop, &by_second), ["USER_INVITED"]);
    assert_eq!(types(&shop, &json!({ "actor_key_id": shop.key_id })), ALL[..4]);
}

#[test]
fn actor_key_id_that_never_belonged_is_not_found() {
    let (_server, shop, other) = Server::with_shops();
    for key_id in [id_of_nothing(&shop.key_id), other.key_id] {
        list(&shop, &json!({ "actor_key_id": key_id })).refused("NOT_FOUND");
    }
    assert_eq!(list(&shop, &json!({ "actor_key_id": "key_1" })).faults(), ["invalid actor_key_id"]);
}

#[test]
fn actor_email_finds_members_former_members_and_support() {
    let (_server, (shop, _)) = Server::with(lively_shop);
    shop.join("bob@shop.example");
    for email in ["ada@shop.example", "Bob@SHOP.example", "help@till.example"] {
        assert_eq!(count(&shop, &json!({ "actor_email": email })), 0, "{email} has belonged, and did nothing");
    }
}

#[test]
fn actor_email_that_never_belonged_is_not_found() {
    let (_server, shop, other) = Server::with_shops();
    shop.call("invite-user", &json!({ "email": "invited@shop.example" })).ok();
    other.join("theirs@shop.example");
    for email in ["invited@shop.example", "theirs@shop.example", "nobody@shop.example"] {
        list(&shop, &json!({ "actor_email": email })).refused("NOT_FOUND");
    }
    assert_eq!(list(&shop, &json!({ "actor_email": "ada" })).faults(), ["invalid actor_email"]);
}

#[test]
fn object_id_finds_by_payment_external_identifier_and_merchant() {
    let (_server, (shop, payment)) = Server::with(lively_shop);
    assert_eq!(types(&shop, &json!({ "object_id": payment })), ["PAYMENT_CAPTURED"]);
    assert_eq!(types(&shop, &json!({ "object_id": "order-1" })), ["PAYMENT_CAPTURED"]);
    assert_eq!(types(&shop, &json!({ "object_id": shop.merchant_id })), ALL[..4]);
}

#[test]
fn object_id_finds_every_object_with_the_identifier() {
    let (_server, shop) = Server::with_shop();
    let body = json!({ "external_id": "ref-1" });
    // The payment settles at once, so that the balance covers the payout.
    let payment = shop.initiate(&shop.session_of("4000000000000077", 100), 100, &body).id();
    shop.settled(&payment);
    shop.call("refund-payment", &merged(&body, &json!({ "payment_id": "ref-1", "amount": 10 }))).id();
    shop.call("send-payout", &merged(&body, &json!({ "amount": 20 }))).id();
    let expected = ["PAYOUT_CREATED", "REFUND_CREATED", "PAYMENT_CAPTURED"];
    assert_eq!(types(&shop, &json!({ "object_id": "ref-1" })), expected);
    assert_eq!(types(&shop, &json!({ "parent_id": "ref-1" })), ["REFUND_CREATED"]);
}

#[test]
fn object_id_of_nothing_finds_nothing() {
    let (_server, (shop, payment)) = Server::with(lively_shop);
    let refund = format!("rfn{}", &payment[3..]);
    for object_id in [id_of_nothing(&payment), refund, "order-2".to_owned(), id_of_nothing(&shop.merchant_id)] {
        assert_eq!(count(&shop, &json!({ "object_id": object_id })), 0, "{object_id}");
    }
    assert_eq!(list(&shop, &json!({ "object_id": "" })).faults(), ["invalid object_id"]);
}

#[test]
fn parent_id_is_a_payment_of_something_else() {
    let (_server, (shop, payment)) = Server::with(lively_shop);
    for parent_id in [payment.as_str(), "order-1", "order-2"] {
        assert_eq!(count(&shop, &json!({ "parent_id": parent_id })), 0, "nothing has a parent yet");
    }
    assert_eq!(list(&shop, &json!({ "parent_id": 7 })).faults(), ["invalid parent_id"]);
}

#[test]
fn created_at_takes_days_months_and_keywords_in_the_zone() {
    let server = Server::start();
    // Zones at both ends of the world: neither always has the same day as UTC.
    for name in ["Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"] {
        let shop = server.shop_with(json!({ "name": "Shop", "currency": "THB", "time_zone": name }));
        let zone = TimeZone::get(name).expect("a zone");
        let before: Zoned = now().to_zoned(zone.clone());
        shop.call("select-plan", &json!({ "plan_id": plan(&shop, 1) })).ok();
        let day = before.date();
        let next = day.tomorrow().expect("not the last day");
        assert_eq!(count(&shop, &json!({ "created_at": format!("{day}..{next}") })), 1, "{name}");
        let past = day.checked_sub(2.days()).expect("not the first days");
        assert_eq!(count(&shop, &json!({ "created_at": past.to_string() })), 0, "{name}");
        if now().to_zoned(zone).date() != day {
            continue; // The day has changed during the test.
        }
        for (filter, expected) in [
            (day.to_string(), 1),
            (day.strftime("%Y-%m").to_string(), 1),
            ("today".to_owned(), 1),
            ("this_week".to_owned(), 1),
            ("this_month".to_owned(), 1),
            ("yesterday".to_owned(), 0),
            ("last_week".to_owned(), 0),
            ("last_month".to_owned(), 0),
        ] {
            assert_eq!(count(&shop, &json!({ "created_at": filter })), expected, "{filter} in {name}");
        }
    }
}

#[test]
fn created_at_to_the_minute_or_second_is_that_unit() {
    let (_server, shop) = Server::with_shop();
    shop.call("select-plan", &json!({ "plan_id": plan(&shop, 1) })).ok();
    let entry = list(&shop, &json!({})).ok()["page"][0].clone();
    let at = Timestamp::from_second(entry["created_at"].as_i64().expect("a time")).expect("a time of today");
    let second = |offset: i64| format!("{}", at.checked_add(offset.seconds()).expect("near now"));
    let minute =
        |offset: i64| at.checked_add(offset.minutes()).expect("near now").strftime("%Y-%m-%dT%H:%MZ").to_string();
    for (filter, expected) in [
        (second(0), 1),
        (second(-1), 0),
        (second(1), 0),
        (minute(0), 1),
        (minute(-1), 0),
        (minute(1), 0),
        (second(0).replace('Z', "+00:00"), 1),
        (second(0).replace('Z', ""), 1),
        (format!("{}..{}", second(-1), second(0)), 1),
        (format!("{}..{}", second(0), second(1)), 1),
        (format!("{}..", second(0)), 1),
        (format!("{}..", second(1)), 0),
        (format!("..{}", second(0)), 1),
        (format!("..{}", second(-1)), 0),
    ] {
        assert_eq!(count(&shop, &json!({ "created_at": filter })), expected, "{filter}");
    }
}

#[test]
fn created_at_of_no_form_is_refused() {
    let (_server, shop) = Server::with_shop();
    for refused in ["tomorrow", "2025-02-30", "..", "2025-04-02..2025-04-01", "1743500000", ""] {
        assert_eq!(list(&shop, &json!({ "created_at": refused })).faults(), ["invalid created_at"], "{refused}");
    }
    assert_eq!(list(&shop, &json!({ "created_at": 1_743_500_000 })).faults(), ["invalid created_at"]);
}

#[test]
fn a_keyword_is_carried_as_the_days_that_it_stood_for() {
    let (_server, (shop, _)) = Server::with(lively_shop);
    let page = list(&shop, &json!({ "created_at": "this_month", "per_page": 2 })).ok();
    let today = now().to_zoned(TimeZone::UTC).date();
    let month = format!("{}..{}", today.first_of_month(), today.last_of_month());
    assert_eq!(page["next"]["created_at"], json!(month));
    assert_eq!(count(&shop, &page["next"]), 2);
}

#[test]
fn terms_find_a_part_of_an_address_in_any_letter_case() {
    let (_server, (shop, _)) = Server::with(lively_shop);
    for terms in ["ada@shop.example", "ADA@", "@shop", "a", "Shop.Example"] {
        let found = types(&shop, &json!({ "terms": terms, "activity_type": "user_invited" }));
        assert_eq!(found, ["USER_INVITED"], "{terms}");
    }
    assert_eq!(types(&shop, &json!({ "terms": "ada@" })), ALL[..3]);
    assert_eq!(count(&shop, &json!({ "terms": "bob@" })), 0);
}

#[test]
fn terms_find_whole_ids_and_parts_of_them() {
    let (_server, (shop, payment)) = Server::with(lively_shop);
    for terms in [payment.as_str(), &payment.to_uppercase(), &payment[12..], "pay_", "Y_0"] {
        assert_eq!(types(&shop, &json!({ "terms": terms })), ["PAYMENT_CAPTURED"], "{terms}");
    }
    assert_eq!(types(&shop, &json!({ "terms": shop.merchant_id })), ALL[..4]);
    assert_eq!(types(&shop, &json!({ "terms": shop.merchant_id[5..].to_owned() })), ALL[..4]);
    for nothing in [id_of_nothing(&payment), shop.key_id.clone(), "order-1".to_owned()] {
        assert_eq!(count(&shop, &json!({ "terms": nothing })), 0, "{nothing}");
    }
}

#[test]
fn terms_are_1_to_255_bytes() {
    let (_server, shop) = Server::with_shop();
    for refused in [json!(""), json!("x".repeat(256)), json!(7), json!("a\nb")] {
        assert_eq!(list(&shop, &json!({ "terms": refused })).faults(), ["invalid terms"]);
    }
    assert_eq!(count(&shop, &json!({ "terms": "x".repeat(255) })), 0);
}

#[test]
fn filters_together_must_all_hold() {
    let (_server, (shop, payment)) = Server::with(lively_shop);
    let key = json!({ "actor_key_id": shop.key_id });
    for (more, expected) in [
        (json!({ "activity_type": "plan_switched" }), &ALL[3..4]),
        (json!({ "activity_type": "payment_captured" }), &[]),
        (json!({ "object_id": payment }), &[]),
        (json!({ "object_id": shop.merchant_id, "terms": "ada@shop" }), &ALL[..3]),
        (json!({ "terms": "mer_", "created_at": "..2020-01-01" }), &[]),
        (json!({ "terms": "mer_", "created_at": "2020-01-01..", "activity_type": "user_removed" }), &ALL[..1]),
    ] {
        assert_eq!(types(&shop, &merged(&key, &more)), expected, "{more}");
    }
}

#[test]
fn next_and_previous_are_complete_bodies_with_the_filters() {
    let (_server, (shop, _)) = Server::with(lively_shop);
    let filters = json!({
        "actor_key_id": shop.key_id, "object_id": shop.merchant_id, "terms": "MER_", "created_at": "2020-01-01..",
    });
    let first = list(&shop, &merged(&filters, &json!({ "per_page": 1 }))).ok();
    assert_eq!(first["previous"], Value::Null);
    let expected = json!({ "per_page": 1, "after": first["page"][0]["activity_log_id"] });
    assert_eq!(first["next"], merged(&filters, &expected));
    let second = list(&shop, &first["next"]).ok();
    let expected = json!({ "per_page": 1, "before": second["page"][0]["activity_log_id"] });
    assert_eq!(second["previous"], merged(&filters, &expected));
    assert_eq!(list(&shop, &second["previous"]).ok(), first);
}

#[test]
fn all_faults_come_at_once_and_before_actors_are_looked_up() {
    let (_server, shop) = Server::with_shop();
    let body = json!({
        "per_page": 0, "after": "act_1", "activity_type": "x", "actor_email": "nobody@shop.example",
        "actor_key_id": 1, "created_at": "x", "terms": "", "actorEmail": "x",
    });
    let expected = [
        "invalid per_page",
        "invalid after",
        "invalid activity_type",
        "invalid actor_key_id",
        "invalid created_at",
        "invalid terms",
        "unknown actorEmail",
    ];
    assert_eq!(list(&shop, &body).faults(), expected);
}
