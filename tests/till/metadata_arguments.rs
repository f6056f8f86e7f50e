//! The arguments of `add-to-metadata-set` one by one: specification 4.2 and contract, section 5.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop, Stage, merged};

fn add(shop: &Shop, more: &Value) -> ApiAnswer {
    shop.call("add-to-metadata-set", &merged(&json!({ "key": "k", "path": "l", "value": 1 }), more))
}

fn record(shop: &Shop, key: &str) -> Value {
    shop.call("retrieve-metadata", &json!({ "key": key })).ok()
}

#[track_caller]
fn refuses(shop: &Shop, name: &str, values: &[Value]) {
    for value in values {
        assert_eq!(add(shop, &json!({ name: value })).faults(), [format!("invalid {name}")], "{value}");
    }
    shop.call("retrieve-metadata", &json!({ "key": "k" })).refused("NOT_FOUND");
}

#[test]
fn a_key_is_1_to_255_bytes_and_names_one_record() {
    let (_server, shop) = Server::with_shop();
    assert_eq!(add(&shop, &json!({ "key": null })).faults(), ["missing key"]);
    let long = [json!("k".repeat(256)), json!("é".repeat(128))];
    refuses(&shop, "key", &long);
    refuses(&shop, "key", &[json!(""), json!("a\u{0}"), json!("a\n"), json!("\u{7f}"), json!(1), json!(["k"])]);
    for key in ["k".repeat(255), format!("{}k", "é".repeat(127)), " a.b/ü ".to_owned(), "K".to_owned()] {
        assert_eq!(add(&shop, &json!({ "key": key })).ok(), true, "{key}");
        assert_eq!(add(&shop, &json!({ "key": key })).ok(), false, "the same key is the same record: {key}");
        assert_eq!(record(&shop, &key)["key"], json!(key));
    }
    assert_eq!(shop.all("list-metadata").len(), 4);
}

#[test]
fn every_kind_of_json_value_can_be_an_item() {
    let (_server, shop) = Server::with_shop();
    let items = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-9_007_199_254_740_991_i64),
        json!(0.5),
        json!(""),
        json!("\u{0}\n ü 💳"),
        json!([]),
        json!([null, [1, "a"]]),
        json!({}),
        json!({ "": { "b": [1] }, "a": null }),
    ];
    for (place, item) in items.iter().enumerate() {
        assert_eq!(add(&shop, &json!({ "value": item })).ok(), true, "{item}");
        assert_eq!(add(&shop, &json!({ "value": item })).ok(), false, "{item}");
        assert_eq!(record(&shop, "k")["version"], json!(place + 1));
    }
    assert_eq!(record(&shop, "k")["metadata"], json!({ "l": items }));
}

#[test]
fn a_path_is_names_between_single_dots_or_the_root() {
    let (_server, shop) = Server::with_shop();
    refuses(&shop, "path", &[".", ".a", "a.", "a..b"].map(Value::from));
    refuses(&shop, "path", &[json!(1), json!(["a"]), json!({}), json!(true)]);
    for (key, path) in [("none", json!(null)), ("empty", json!(""))] {
        assert_eq!(add(&shop, &json!({ "key": key, "path": path })).ok(), true);
        assert_eq!(record(&shop, key)["metadata"], json!([1]), "{key}");
    }
    assert_eq!(add(&shop, &json!({ "path": "a.ü b.0" })).ok(), true);
    assert_eq!(record(&shop, "k")["metadata"], json!({ "a": { "ü b": { "0": [1] } } }), "a number is a name, too");
}

#[test]
fn a_ttl_is_1_second_to_two_years_and_of_the_whole_record() {
    let (stage, shop) = Stage::with_shop("2025-04-01T00:00:00Z");
    refuses(&shop, "ttl", &[json!(0), json!(-1), json!(63_072_001), json!(1.5), json!("60"), json!(true)]);
    for ttl in [json!(63_072_000), json!(60.0), json!(1)] {
        add(&shop, &json!({ "path": "a.b", "ttl": ttl })).ok();
        let seconds = ttl.as_f64().map_or(0, |ttl| format!("{ttl:.0}").parse().expect("whole seconds"));
        assert_eq!(record(&shop, "k")["expires_at"], json!(stage.now() + seconds));
    }
    stage.pass_seconds(1);
    shop.call("retrieve-metadata", &json!({ "key": "k" })).refused("NOT_FOUND");
    assert_eq!(add(&shop, &json!({ "ttl": null })).ok(), true);
    assert_eq!(record(&shop, "k")["expires_at"], json!(stage.now() + 63_072_000), "a new record forgets the old ttl");
}

#[test]
fn a_version_is_an_integer_and_a_stale_one_changes_nothing() {
    let (stage, shop) = Stage::with_shop("2025-04-01T00:00:00Z");
    refuses(&shop, "version", &[json!(-1), json!(0.5), json!("0"), json!(true), json!([])]);
    assert_eq!(add(&shop, &json!({ "version": 0 })).ok(), true);
    let before = record(&shop, "k");
    stage.pass_seconds(10);
    for stale in [0, 2, 9_007_199_254_740_991_u64] {
        let answer = add(&shop, &json!({ "value": 2, "version": stale, "ttl": 5 }));
        let details = answer.refused("INVALID_ARGUMENTS");
        assert_eq!((&details[0]["type"], &details[0]["argument"]), (&json!("version_mismatch"), &json!("version")));
        assert_eq!((&details[0]["current"], details.as_array().map(Vec::len)), (&json!(1), Some(1)));
    }
    assert_eq!(record(&shop, "k"), before);
    assert_eq!(add(&shop, &json!({ "value": 2, "version": null })).ok(), true);
    assert_eq!(add(&shop, &json!({ "value": 3, "version": 2 })).ok(), true);
    assert_eq!(record(&shop, "k")["version"], 3);
}

#[test]
fn arguments_of_a_wrong_form_are_refused_all_at_once() {
    let (_server, shop) = Server::with_shop();
    let refused = |endpoint: &str, body: Value| shop.call(endpoint, &body).faults();
    let body = json!({ "key": "", "path": "a..b", "version": -1, "ttl": 0, "Path": "x" });
    let expected = ["invalid key", "invalid path", "missing value", "invalid version", "invalid ttl", "unknown Path"];
    assert_eq!(refused("add-to-metadata-set", body), expected);
    assert_eq!(refused("sync-metadata", json!({ "key": "k", "metadata": null })), ["missing metadata"]);
    assert_eq!(refused("remove-from-metadata-set", json!({ "key": "k", "ttl": 1, "value": 1 })), ["unknown ttl"]);
    assert_eq!(refused("delete-metadata", json!({})), ["missing key"]);
    assert_eq!(refused("list-metadata", json!({ "after": "cart" })), ["invalid after"]);
    let both = json!({ "key": "k", "after": 1, "before": 2 });
    assert_eq!(refused("retrieve-metadata", both), ["invalid before"]);
    let longest = json!({ "key": "é".repeat(127), "value": 1, "ttl": 63_072_000.0, "version": 0, "path": null });
    assert_eq!(shop.call("add-to-metadata-set", &longest).ok(), json!(true));
}
