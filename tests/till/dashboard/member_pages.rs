//! The pages of members: who sees which, what a form does and how often, and that nothing of another merchant is shown.

use serde_json::{Value, json};

use super::seat::{Seat, Visitor, invited, text};
use crate::harness::{Server, Shop};

/// The roles, in the order of the columns below.
const ROLES: [&str; 4] = ["OWNER", "DEVELOPER", "SUPPORT", "VIEWER"];

/// Who sees which page. Source: contract, section 13. `{payment}`, `{checkout}` and `{customer}` are ids.
const SEEN: [(&str, [bool; 4]); 27] = [
    ("", [true, true, true, true]),
    ("/payments", [true, true, true, true]),
    ("/payments.csv", [true, true, true, true]),
    ("/payments/{payment}", [true, true, true, true]),
    ("/payments/{payment}/refund", [true, false, true, false]),
    ("/payments/{payment}/reverse", [true, false, true, false]),
    ("/payments/{payment}/void", [true, false, true, false]),
    ("/refunds", [true, true, true, true]),
    ("/disputes", [true, true, true, true]),
    ("/payouts", [true, false, false, true]),
    ("/payouts/new", [true, false, false, false]),
    ("/checkouts", [true, true, true, true]),
    ("/checkouts/{checkout}", [true, true, true, true]),
    ("/checkouts/new", [true, true, true, false]),
    ("/customers", [true, true, true, true]),
    ("/customers/{customer}", [true, true, true, true]),
    ("/customers/new", [true, false, true, false]),
    ("/balance", [true, false, false, true]),
    ("/statements", [true, false, false, true]),
    ("/activity", [true, true, true, true]),
    ("/webhooks", [true, true, false, false]),
    ("/keys", [true, true, false, false]),
    ("/keys/new", [true, false, false, false]),
    ("/installations", [true, true, false, false]),
    ("/team", [true, true, true, true]),
    ("/team/invite", [true, false, false, false]),
    ("/plan", [true, true, false, true]),
];

/// A shop with a payment, a checkout and a customer, and their ids.
struct Things {
    payment: String,
    checkout: String,
    customer: String,
}

impl Things {
    fn of(shop: &Shop) -> Things {
        let payment =
            shop.pay_with(10_000, &json!({ "customer_email": "somchai@example.com", "customer_name": "<i>" }));
        let checkout = shop.start_checkout(500, &json!({}));
        Things {
            payment: payment["payment_id"].as_str().expect("an id").to_owned(),
            checkout: checkout.split(['/', '.']).find(|part| part.starts_with("chk_")).expect("an id").to_owned(),
            customer: payment["customer_id"].as_str().expect("an id").to_owned(),
        }
    }

    fn path(&self, pattern: &str) -> String {
        let named = pattern.replace("{payment}", &self.payment).replace("{checkout}", &self.checkout);
        named.replace("{customer}", &self.customer)
    }
}

fn joined(server: &Server, shop: &Shop, role: &str) -> (Seat, Visitor) {
    let limit = if role == "SUPPORT" { json!({ "refund_limit": "1000" }) } else { json!({}) };
    let arguments = crate::harness::merged(&json!({ "role_id": role }), &limit);
    Seat::join(server, shop, &invited(&format!("{}@shop.example", role.to_lowercase()), &arguments))
}

/// The value of the hidden field with the key of a form.
fn key_of(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"idempotency_key\" value=\"").expect("a form");
    rest.split('"').next().expect("a key").to_owned()
}

fn refunds(shop: &Shop) -> Vec<Value> {
    shop.all("list-refunds")
}

#[test]
fn each_role_sees_the_pages_that_its_acts_allow() {
    let (server, shop) = Server::with_shop();
    let things = Things::of(&shop);
    for (place, role) in ROLES.into_iter().enumerate() {
        let (seat, visitor) = joined(&server, &shop, role);
        for (pattern, seen) in SEEN {
            let answer = visitor.get(&format!("{}{}", seat.path(), things.path(pattern)));
            assert_eq!(answer.status, if seen[place] { 200 } else { 403 }, "{role} {pattern}");
            let policy = answer.header("content-security-policy").expect("a policy");
            assert!(
                policy.contains("frame-ancestors 'none'") && answer.header("referrer-policy") == Some("same-origin")
            );
        }
    }
}

#[test]
fn who_may_not_know_a_customer_reads_nothing_of_one_on_any_page() {
    let (server, shop) = Server::with_shop();
    let things = Things::of(&shop);
    for (role, knows) in [("OWNER", true), ("SUPPORT", true), ("DEVELOPER", false), ("VIEWER", false)] {
        let (seat, visitor) = joined(&server, &shop, role);
        for pattern in ["/payments/{payment}", "/customers", "/customers/{customer}", "/payments.csv"] {
            let page = text(&visitor.get(&format!("{}{}", seat.path(), things.path(pattern))), 200);
            assert_eq!(page.contains("somchai@example.com"), knows, "{role} {pattern}");
            assert!(!page.contains("<i>") || pattern == "/payments.csv", "{role} {pattern}");
        }
    }
}

#[test]
fn a_things_id_of_another_merchant_is_like_one_that_does_not_exist() {
    let (server, shop, other) = Server::with_shops();
    let (seat, visitor) = joined(&server, &shop, "OWNER");
    let theirs = Things::of(&other);
    let of_nothing = Things {
        payment: "pay_01h2e8kqvbfwea724h75qc655w".to_owned(),
        checkout: "chk_01h2e8kqvbfwea724h75qc655w".to_owned(),
        customer: "ctc_01h2e8kqvbfwea724h75qc655w".to_owned(),
    };
    let patterns = SEEN.iter().map(|(pattern, _)| *pattern).filter(|pattern| pattern.contains('{'));
    for pattern in patterns.chain(["/checkouts/{checkout}/expire", "/customers/{customer}/change", "/disputes/x"]) {
        for things in [&theirs, &of_nothing] {
            let path = format!("{}{}", seat.path(), things.path(pattern));
            assert_eq!(visitor.get(&path).status, 404, "{path}");
        }
    }
}

#[test]
fn a_form_does_its_thing_once_and_who_may_not_does_nothing() {
    let (server, shop) = Server::with_shop();
    let things = Things::of(&shop);
    let path = |seat: &Seat| format!("{}/payments/{}/refund", seat.path(), things.payment);
    let (seat, viewer) = joined(&server, &shop, "VIEWER");
    let fields = [("idempotency_key", "k"), ("entered_amount", "1")];
    assert_eq!(viewer.post(&path(&seat), &fields).status, 403);
    let (seat, support) = joined(&server, &shop, "SUPPORT");
    let above = support.post(&path(&seat), &[("idempotency_key", "k"), ("entered_amount", "10.01")]);
    assert!(above.status == 403 && refunds(&shop).is_empty(), "{above:?}");
    let (seat, owner) = joined(&server, &shop, "OWNER");
    let key = key_of(&text(&owner.get(&path(&seat)), 200));
    for _ in 0..2 {
        let fields = [("idempotency_key", &*key), ("entered_amount", "12.50"), ("reason", "<b>broken</b>")];
        let answer = owner.post(&path(&seat), &fields);
        let back = format!("{}/payments/{}?done=refund-payment", seat.path(), things.payment);
        assert_eq!((answer.status, answer.header("location")), (303, Some(&*back)));
    }
    let made = refunds(&shop);
    assert_eq!((made.len(), &made[0]["amount"]), (1, &json!(1_250)));
    let mut activity = shop.all_of("list-activity-logs", &json!({ "actor_email": "owner@shop.example" }));
    activity.retain(|entry| entry["activity_type"] == "REFUND_CREATED");
    assert_eq!(activity.len(), 1, "{activity:?}");
    assert_eq!((&activity[0]["actor_type"], &activity[0]["object_id"]), (&json!("USER"), &made[0]["refund_id"]));
    let page = text(&owner.get(&format!("{}/payments/{}", seat.path(), things.payment)), 200);
    assert!(page.contains("owner@shop.example") && !page.contains("<b>broken"), "{page}");
}

#[test]
fn a_faulty_amount_is_told_beside_its_field_and_nothing_is_done() {
    let (server, shop) = Server::with_shop();
    let things = Things::of(&shop);
    let (seat, owner) = joined(&server, &shop, "OWNER");
    let path = format!("{}/payments/{}/refund", seat.path(), things.payment);
    for entered in ["12.505", "1e3", "-1", "1,000", "<script>"] {
        let page = text(&owner.post(&path, &[("idempotency_key", "k"), ("entered_amount", entered)]), 400);
        assert!(page.contains("Enter an amount such as 12.50") && !page.contains("<script>"), "{entered}: {page}");
    }
    let more = owner.post(&path, &[("idempotency_key", "k"), ("entered_amount", "100.01")]);
    let page = text(&more, 422);
    assert!(page.contains("role=\"alert\"") && page.contains("value=\"100.01\""), "{page}");
    assert!(refunds(&shop).is_empty());
}

#[test]
fn an_address_has_the_arguments_of_the_call_and_pages_lead_to_each_other() {
    let (server, shop) = Server::with_shop();
    for minor in [1_000, 2_000, 3_000] {
        shop.pay(minor);
    }
    let (seat, owner) = joined(&server, &shop, "OWNER");
    let list = format!("{}/payments", seat.path());
    let filtered = owner.get(&format!("{list}?terms=&status=SUCCESSFUL&entered_amount=15..&created_at="));
    let plain = format!("{list}?amount=1500..&status=SUCCESSFUL");
    assert_eq!((filtered.status, filtered.header("location")), (303, Some(&*plain)));
    let page = text(&owner.get(&plain), 200);
    assert!(page.contains("20.00") && page.contains("30.00") && !page.contains("THB\u{a0}10.00"), "{page}");
    let first = text(&owner.get(&format!("{list}?per_page=2")), 200);
    let (_, rest) = first.split_once("class=\"pages\"").expect("links to other pages");
    let older = rest.split('"').nth(3).expect("an address").replace("&#38;", "&");
    let second = text(&owner.get(&older), 200);
    assert!(second.contains("THB\u{a0}10.00") && second.contains(">Newer<"), "{older}: {second}");
    let faulty = text(&owner.get(&format!("{list}?status=NONE")), 400);
    assert!(faulty.contains("id=\"status-fault\""), "{faulty}");
    let exported = text(&owner.get(&format!("{}/payments.csv?amount=1500..", seat.path())), 200);
    assert_eq!(exported.lines().count(), 3, "{exported}");
}
