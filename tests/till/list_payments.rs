//! `list-payments`

use serde_json::{Value, json};

use crate::harness::{Server, Shop, ids_of};

fn ids(page: &Value) -> Vec<String> {
    ids_of(page, "payment_id")
}

fn list(shop: &Shop, body: &Value) -> Value {
    shop.call("list-payments", body).ok()
}

#[test]
fn payments_are_listed_newest_first_as_find_payment_shows_them() {
    let (_server, shop, other) = Server::with_shops();
    let (first, second) = (shop.pay(100), shop.pay(200));
    other.pay(300);
    let page = list(&shop, &json!({}));
    assert_eq!(ids(&page), [second.clone(), first.clone()]);
    assert_eq!(page["page"][0], shop.payment(&second));
    assert_eq!((&page["next"], &page["previous"]), (&Value::Null, &Value::Null));
}

#[test]
fn pages_have_no_gaps_both_ways_while_payments_are_made() {
    let (_server, shop) = Server::with_shop();
    let mut made: Vec<String> = (1..=5).map(|minor| shop.pay(minor)).collect();
    made.reverse();
    let first = list(&shop, &json!({ "per_page": 2 }));
    let later = shop.pay(6);
    let second = list(&shop, &first["next"]);
    let third = list(&shop, &second["next"]);
    assert_eq!([ids(&first), ids(&second), ids(&third)].concat(), made);
    assert_eq!(third["next"], Value::Null);
    assert_eq!(ids(&list(&shop, &third["previous"])), ids(&second));
    let newest = list(&shop, &first["next"])["previous"].clone();
    let back = list(&shop, &newest);
    assert_eq!((ids(&back), &newest["per_page"]), (ids(&first), &json!(2)));
    assert_eq!(ids(&list(&shop, &back["previous"])), [later]);
}

#[test]
fn faulty_cursors_are_refused() {
    let (_server, shop) = Server::with_shop();
    let payment = shop.pay(1);
    assert_eq!(shop.call("list-payments", &json!({ "after": "pay_1" })).faults(), ["invalid after"]);
    let both = json!({ "after": payment, "before": payment });
    assert_eq!(shop.call("list-payments", &both).faults(), ["invalid before"]);
    assert_eq!(shop.call("list-payments", &json!({ "per_page": 101 })).faults(), ["invalid per_page"]);
}
