//! Metadata over HTTP: specification 4.2 and contract, section 5. The rules are tested in the domain; here are forms of
//! answers, pages, expiry for readers, and many calls at once.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, PATIENCE, Server, Shop, merged, wait_until};

/// Calls of one merchant about one record.
struct RecordCalls {
    shop: Shop,
}

impl RecordCalls {
    fn call(&self, endpoint: &str, arguments: &Value) -> ApiAnswer {
        self.shop.call(endpoint, &merged(&json!({ "key": "cart" }), arguments))
    }

    fn add(&self, path: &str, value: &Value) -> ApiAnswer {
        self.add_with(path, value, &json!({}))
    }

    fn add_with(&self, path: &str, value: &Value, more: &Value) -> ApiAnswer {
        self.call("add-to-metadata-set", &merged(&json!({ "path": path, "value": value }), more))
    }

    fn remove(&self, path: &str, value: &Value) -> ApiAnswer {
        self.call("remove-from-metadata-set", &json!({ "path": path, "value": value }))
    }

    fn sync(&self, metadata: &Value) -> Value {
        self.call("sync-metadata", &json!({ "metadata": metadata })).ok()
    }

    fn record(&self) -> Value {
        self.call("retrieve-metadata", &json!({})).ok()
    }

    fn value(&self) -> Value {
        self.call("retrieve-metadata", &json!({ "data_only": true })).ok()
    }

    fn version(&self) -> u64 {
        self.record()["version"].as_u64().expect("a version")
    }
}

fn record(server: &Server) -> RecordCalls {
    RecordCalls { shop: server.shop() }
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("an integer")
}

/// Checks the whole store while no server runs on it.
fn verify(server: &Server) {
    let output = server.command().arg("verify").output().expect("the binary can be started");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
}

#[test]
fn the_example_of_the_specification_holds() {
    let (_server, record) = Server::with(record);
    record.sync(&json!({ "tags": ["a"] }));
    assert_eq!(record.add("tags", &json!("b")).ok(), json!(true));
    assert_eq!(record.add("tags", &json!("a")).ok(), json!(false));
    assert_eq!(record.value(), json!({ "tags": ["a", "b"] }));
}

#[test]
fn a_missing_record_path_and_object_are_made() {
    let (_server, record) = Server::with(record);
    assert_eq!(record.add("a.b.tags", &json!(1)).ok(), json!(true));
    assert_eq!(record.add("", &json!(1)).faults(), ["not_a_set path"]);
    assert_eq!(record.value(), json!({ "a": { "b": { "tags": [1] } } }));
    let found = record.record();
    let mut members: Vec<&str> = found.as_object().expect("an object").keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, ["bytesize", "created_at", "expires_at", "key", "metadata", "updated_at", "version"]);
    assert_eq!((&found["key"], &found["version"], &found["bytesize"]), (&json!("cart"), &json!(1), &json!(24)));
    assert_eq!(number(&found["expires_at"]), number(&found["created_at"]) + 63_072_000);
}

#[test]
fn values_with_the_same_canonical_form_are_one_item() {
    let (_server, record) = Server::with(record);
    let add = |value: &str| {
        let body = format!(r#"{{"key":"cart","path":"l","value":{value}}}"#);
        record.shop.client().post_bytes("/merchants/add-to-metadata-set", body.as_bytes()).ok()
    };
    for (first, others) in [
        ("1", vec!["1.0", "1e0", "10E-1"]),
        (r#"{"a":1,"b":[2]}"#, vec![r#"{ "b": [2.0], "a": 1 }"#]),
        (r#""\u0041""#, vec![r#""A""#]),
        ("1e15", vec!["1000000000000000.0"]),
        ("0", vec!["-0", "-0.0"]),
    ] {
        assert_eq!(add(first), json!(true), "{first}");
        others.into_iter().for_each(|other| assert_eq!(add(other), json!(false), "{other}"));
    }
    for different in [r#""1""#, "[1]", "true", r#"{"a":1,"b":[3]}"#] {
        assert_eq!(add(different), json!(true), "{different}");
    }
}

#[test]
fn a_value_nests_at_most_so_deep_that_it_can_be_sent_back() {
    let (_server, record) = Server::with(record);
    let path = vec!["a"; 60].join(".");
    assert_eq!(record.add(&path, &json!([[[]]])).faults(), ["invalid value"]);
    assert_eq!(record.add(&path, &json!([[]])).ok(), json!(true));
    let value = record.value();
    assert_eq!(record.sync(&value)["metadata"], value);
}

#[test]
fn a_version_is_the_one_that_the_caller_saw_or_zero_for_none() {
    let (_server, record) = Server::with(record);
    let mismatch = |answer: ApiAnswer, current: u64| {
        assert_eq!(answer.faults(), ["version_mismatch version"]);
        assert_eq!(answer.details()[0]["current"], current, "{}", answer.body);
    };
    mismatch(record.add_with("l", &json!(1), &json!({ "version": 1 })), 0);
    assert_eq!(record.add_with("l", &json!(1), &json!({ "version": 0 })).ok(), json!(true));
    mismatch(record.add_with("l", &json!(1), &json!({ "version": 0 })), 1);
    assert_eq!(record.add_with("l", &json!(1), &json!({ "version": 1.0 })).ok(), json!(false));
    mismatch(record.call("sync-metadata", &json!({ "metadata": {}, "version": 2 })), 1);
    mismatch(record.call("remove-from-metadata-set", &json!({ "path": "l", "value": 1, "version": 0 })), 1);
    mismatch(record.call("delete-metadata", &json!({ "version": 7 })), 1);
    let client = record.shop.client().header("Accept", "application/problem+json");
    let problem = client.post("/merchants/delete-metadata", &json!({ "key": "cart", "version": 7 }));
    assert_eq!((problem.status, &problem.body["code"]), (409, &json!("INVALID_ARGUMENTS")));
    assert_eq!(problem.body["details"][0]["current"], 1);
    assert_eq!(record.call("delete-metadata", &json!({ "version": 1 })).ok(), json!(true));
    assert_eq!(record.call("delete-metadata", &json!({ "version": 0 })).ok(), json!(false));
}

#[test]
fn an_expired_record_is_not_found_and_removed_later() {
    let (mut server, record) = Server::with(record);
    record.add("l", &json!("old")).ok();
    record.add_with("l", &json!("older"), &json!({ "ttl": 1 })).ok();
    let expires_at = number(&record.record()["expires_at"]);
    wait_until(PATIENCE, "it does not expire", || record.call("retrieve-metadata", &json!({})).status != 200);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    assert!(now >= expires_at);
    record.call("retrieve-metadata", &json!({})).refused("NOT_FOUND");
    assert_eq!(record.shop.call("list-metadata", &json!({})).ok()["page"], json!([]));
    assert_eq!(record.remove("l", &json!("old")).ok(), json!(false));
    assert_eq!(record.call("delete-metadata", &json!({})).ok(), json!(false));
    assert_eq!(record.add_with("l", &json!("new"), &json!({ "version": 0 })).ok(), json!(true));
    assert_eq!(record.value(), json!({ "l": ["new"] }));
    assert!(server.stop());
    verify(&server);
}

#[test]
fn syncing_replaces_the_whole_value_and_answers_the_record() {
    let (_server, record) = Server::with(record);
    let first = record.sync(&json!({ "b": 1.50, "a": [1, 1], "é": "ü" }));
    assert_eq!(first["metadata"], json!({ "b": 1.5, "a": [1, 1], "é": "ü" }));
    assert_eq!((&first["version"], &first["bytesize"]), (&json!(1), &json!(29)));
    record.add("a", &json!(2)).ok();
    let second = record.call("sync-metadata", &json!({ "metadata": [7], "ttl": 60, "version": 2 })).ok();
    assert_eq!((&second["metadata"], &second["version"]), (&json!([7]), &json!(3)));
    assert_eq!(second["created_at"], first["created_at"]);
    assert_eq!(number(&second["expires_at"]), number(&second["updated_at"]) + 60);
    assert_eq!(record.record(), second);
    for metadata in [json!(7), json!("text"), json!(false)] {
        assert_eq!(record.sync(&metadata)["metadata"], metadata);
        assert_eq!(record.value(), metadata);
    }
}

#[test]
fn a_part_of_the_value_is_answered_by_its_path() {
    let (_server, record) = Server::with(record);
    record.sync(&json!({ "a": { "l": [1], "s": "x", "n": null } }));
    record.add("a.l", &json!(2)).ok();
    let at = |path: &str| record.call("retrieve-metadata", &json!({ "path": path, "data_only": true })).ok();
    assert_eq!((at("a.l"), at("a.s"), at("a.n")), (json!([1, 2]), json!("x"), Value::Null));
    assert_eq!(at("a"), json!({ "l": [1, 2], "s": "x", "n": null }));
    let part = record.call("retrieve-metadata", &json!({ "path": "a.l" })).ok();
    assert_eq!((&part["metadata"], &part["version"]), (&json!([1, 2]), &json!(2)));
    for path in ["b", "a.l.x", "a.s.x", "a.n.x"] {
        record.call("retrieve-metadata", &json!({ "path": path })).refused("NOT_FOUND");
    }
}

#[test]
fn a_set_of_over_ten_thousand_items_is_answered_in_pages() {
    let (_server, record) = Server::with(record);
    let all: Vec<u64> = (0..20_500).collect();
    record.sync(&json!({ "big": all[..20_499], "few": [1] }));
    assert_eq!(record.add("big", &json!(20_499)).ok(), json!(true));
    let (mut seen, mut pages) = (Vec::new(), 0);
    let mut body = json!({ "key": "cart", "path": "big" });
    while !body.is_null() {
        let page = record.shop.call("retrieve-metadata", &body).ok();
        assert_eq!((&page["version"], page["previous"].is_null()), (&json!(2), pages == 0));
        seen.extend(page["metadata"].as_array().expect("items").iter().map(number));
        body = page["next"].clone();
        pages += 1;
    }
    assert_eq!((seen == all, pages), (true, 3));
    let first = record.call("retrieve-metadata", &json!({ "path": "big", "data_only": true })).ok();
    assert_eq!(first["page"].as_array().map(Vec::len), Some(10_000));
    let second = record.shop.call("retrieve-metadata", &first["next"]).ok();
    assert_eq!((&second["page"][0], &second["previous"]["before"]), (&json!(10_000), &json!(10_000)));
    assert_eq!(record.shop.call("retrieve-metadata", &second["previous"]).ok()["page"], first["page"]);
    assert_eq!(record.call("retrieve-metadata", &json!({ "data_only": true })).faults(), ["invalid data_only"]);
    let whole = record.record();
    assert_eq!(whole["metadata"]["big"].as_array().map(Vec::len), Some(10_000));
    assert_eq!(whole["metadata"]["few"], json!([1]));
    let rest = record.shop.call("retrieve-metadata", &whole["truncated"][0]).ok();
    assert_eq!(rest["metadata"][0], json!(10_000));
    let listed = record.shop.call("list-metadata", &json!({})).ok();
    assert_eq!(listed["page"][0], whole);
}

#[test]
fn a_smaller_set_has_pages_when_they_are_asked_for() {
    let (_server, record) = Server::with(record);
    record.sync(&json!({ "l": [0, 1, 2, 3, 4], "s": "x" }));
    let page = |arguments: &Value| {
        let body = merged(&json!({ "path": "l", "data_only": true }), arguments);
        record.call("retrieve-metadata", &body).ok()
    };
    for _ in 0..2 {
        let first = page(&json!({ "per_page": 2 }));
        assert_eq!((&first["page"], &first["previous"]), (&json!([0, 1]), &Value::Null));
        let second = record.shop.call("retrieve-metadata", &first["next"]).ok();
        assert_eq!(second["page"], json!([2, 3]));
        let last = record.shop.call("retrieve-metadata", &second["next"]).ok();
        assert_eq!((&last["page"], &last["next"]), (&json!([4]), &Value::Null));
        assert_eq!(record.shop.call("retrieve-metadata", &second["previous"]).ok(), first);
        // In the second round the array has become a set.
        assert_eq!(record.add("l", &json!(0)).ok(), json!(false));
    }
    record.remove("l", &json!(1)).ok();
    assert_eq!(page(&json!({ "after": 0, "per_page": 1 }))["page"], json!([2]), "a cursor outlives its item");
    assert_eq!(record.call("retrieve-metadata", &json!({ "path": "s", "per_page": 1 })).faults(), ["not_a_set path"]);
}

#[test]
fn no_item_is_skipped_when_an_array_becomes_a_set_meanwhile() {
    let (_server, record) = Server::with(record);
    let array = json!([3, 3, 1, 3, 2, 1, 1, 4, 2, 5]);
    for (start, link) in [(json!({ "per_page": 2 }), "next"), (json!({ "per_page": 2, "before": 10 }), "previous")] {
        for pages_before in 0..5 {
            record.sync(&json!({ "l": array }));
            let mut seen = BTreeSet::new();
            let mut body = merged(&json!({ "key": "cart", "path": "l", "data_only": true }), &start);
            for pages in 0.. {
                if pages == pages_before {
                    assert_eq!(record.add("l", &json!(3)).ok(), json!(false));
                }
                let page = record.shop.call("retrieve-metadata", &body).ok();
                seen.extend(page["page"].as_array().expect("items").iter().map(number));
                body = page[link].clone();
                if body.is_null() {
                    break;
                }
            }
            assert_eq!(seen, BTreeSet::from([1, 2, 3, 4, 5]), "{link}, a set after {pages_before} pages");
            assert_eq!(record.value(), json!({ "l": [3, 1, 2, 4, 5] }));
        }
    }
}

#[test]
fn records_are_listed_newest_first_in_both_directions() {
    let (server, shop) = Server::with_shop();
    for number in 0..7 {
        shop.call("sync-metadata", &json!({ "key": format!("k{number}"), "metadata": { "n": number } })).ok();
    }
    shop.call("sync-metadata", &json!({ "key": "k2", "metadata": { "n": 2 } })).ok();
    shop.call("delete-metadata", &json!({ "key": "k4" })).ok();
    shop.call("add-to-metadata-set", &json!({ "key": "k5", "path": "l", "value": 1, "ttl": 1 })).ok();
    wait_until(PATIENCE, "it does not expire", || {
        shop.call("retrieve-metadata", &json!({ "key": "k5" })).status != 200
    });
    let keys = |page: &Value| -> Vec<String> {
        let page = page["page"].as_array().expect("a page").iter();
        page.map(|record| record["key"].as_str().expect("a key").to_owned()).collect()
    };
    let list = |body: &Value| shop.call("list-metadata", body).ok();
    let first = list(&json!({ "per_page": 2 }));
    assert_eq!((keys(&first), &first["previous"]), (vec!["k6".to_owned(), "k3".to_owned()], &Value::Null));
    shop.call("sync-metadata", &json!({ "key": "later", "metadata": {} })).ok();
    let second = list(&first["next"]);
    assert_eq!(keys(&second), ["k2", "k1"]);
    let last = list(&second["next"]);
    assert_eq!((keys(&last), &last["next"]), (vec!["k0".to_owned()], &Value::Null));
    assert_eq!(keys(&list(&last["previous"])), ["k2", "k1"]);
    let newest = list(&list(&second["previous"])["previous"]);
    assert_eq!((keys(&newest), &newest["previous"]), (vec!["later".to_owned()], &Value::Null));
    assert_eq!(second["page"][0]["metadata"], json!({ "n": 2 }));
    assert_eq!(keys(&list(&json!({}))), ["later", "k6", "k3", "k2", "k1", "k0"]);
    assert_eq!(keys(&server.shop().call("list-metadata", &first["next"]).ok()), Vec::<String>::new());
}

#[test]
fn records_of_another_merchant_are_not_found() {
    let server = Server::start();
    let (record, other) = (record(&server), record(&server));
    record.add("l", &json!(1)).ok();
    other.call("retrieve-metadata", &json!({})).refused("NOT_FOUND");
    assert_eq!(other.add_with("l", &json!(1), &json!({ "version": 0 })).ok(), json!(true));
}

#[test]
fn a_named_call_is_answered_as_before_however_it_is_spelt() {
    let (mut server, record) = Server::with(record);
    let named = |shop: &Shop, key: &str, endpoint: &str, body: &str| {
        let client = shop.client().idempotency_key(key);
        client.post_bytes(&format!("/merchants/{endpoint}"), body.as_bytes())
    };
    let add = r#"{"key":"cart","path":"l","value":{"a":1.0,"b":[1e0]}}"#;
    assert_eq!(named(&record.shop, "1", "add-to-metadata-set", add).ok(), json!(true));
    record.call("delete-metadata", &json!({})).ok();
    let again = r#"{"value":{"b":[1],"a":1},"path":"l","key":"cart","ttl":null}"#;
    let replayed = named(&record.shop, "1", "add-to-metadata-set", again);
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    assert_eq!(replayed.ok(), json!(true));
    record.call("retrieve-metadata", &json!({})).refused("NOT_FOUND");
    let other = r#"{"key":"cart","path":"l","value":{"a":1,"b":[2]}}"#;
    named(&record.shop, "1", "add-to-metadata-set", other).refused("IDEMPOTENCY_KEY_REUSED");
    let sync = named(&record.shop, "2", "sync-metadata", r#"{"key":"cart","metadata":{"b":1,"a":2.0}}"#).ok();
    record.add("c", &json!(1)).ok();
    server.restart();
    let shop = record.shop.on(&server);
    let replayed = named(&shop, "2", "sync-metadata", r#"{"key":"cart","metadata":{"a":2,"b":1}}"#);
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    assert_eq!(replayed.ok(), sync);
}

#[test]
fn an_empty_path_and_none_are_one_call() {
    let (_server, record) = Server::with(record);
    let named = |body: &Value| record.shop.client().idempotency_key("1").post("/merchants/add-to-metadata-set", body);
    assert_eq!(named(&json!({ "key": "cart", "value": "" })).ok(), json!(true));
    for same in [json!({ "key": "cart", "path": "", "value": "" }), json!({ "key": "cart", "path": null, "value": "" })]
    {
        let replayed = named(&same);
        assert_eq!(replayed.header("idempotent-replayed"), Some("true"), "{same}");
        assert_eq!(replayed.ok(), json!(true));
    }
    named(&json!({ "key": "cart", "path": "l", "value": "" })).refused("IDEMPOTENCY_KEY_REUSED");
}

#[test]
fn a_value_that_grows_too_large_in_canonical_form_is_refused() {
    let (_server, record) = Server::with(record);
    // 1e15 is 16 digits long in canonical form.
    let expanding = format!(r#"{{"key":"cart","metadata":[{}1]}}"#, "1e15,".repeat(100_000));
    let client = record.shop.client();
    assert_eq!(client.post_bytes("/merchants/sync-metadata", expanding.as_bytes()).faults(), ["invalid metadata"]);
}

#[test]
fn a_set_of_over_eight_mebibytes_is_answered_in_pages() {
    let (_server, record) = Server::with(record);
    for number in 0..10 {
        let item = json!(format!("{number}{}", "x".repeat(1_000_000)));
        assert_eq!(record.add("l", &item).ok(), json!(true));
    }
    let first = record.call("retrieve-metadata", &json!({ "path": "l", "data_only": true })).ok();
    let second = record.shop.call("retrieve-metadata", &first["next"]).ok();
    let items = [&first, &second].map(|page| page["page"].as_array().expect("items").len());
    assert_eq!((items[0] + items[1], &second["next"]), (10, &Value::Null), "{items:?}");
}

#[test]
fn of_two_hundred_first_writers_one_is_first() {
    let (_server, record) = Server::with(record);
    let at_once = Barrier::new(200);
    let answers: Vec<ApiAnswer> = thread::scope(|scope| {
        let add = |number: usize| {
            let (record, at_once) = (&record, &at_once);
            move || {
                at_once.wait();
                record.add_with("l", &json!(number), &json!({ "version": 0 }))
            }
        };
        let threads: Vec<_> = (0..200).map(|number| scope.spawn(add(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let (first, others): (Vec<ApiAnswer>, Vec<ApiAnswer>) =
        answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!((first.len(), others.len()), (1, 199));
    assert_eq!(first[0].body, json!(true));
    for other in others {
        assert_eq!(other.faults(), ["version_mismatch version"]);
        assert_eq!(other.details()[0]["current"], 1);
    }
    assert_eq!((record.version(), record.value()["l"].as_array().map(Vec::len)), (1, Some(1)));
}

#[test]
fn a_thousand_simultaneous_items_are_there_after_a_kill() {
    let (mut server, record) = Server::with(record);
    let at_once = Barrier::new(200);
    thread::scope(|scope| {
        for thread in 0..200 {
            let (record, at_once) = (&record, &at_once);
            scope.spawn(move || {
                at_once.wait();
                for number in 0..5 {
                    assert_eq!(record.add("l", &json!(format!("{thread}-{number}"))).ok(), json!(true));
                }
            });
        }
    });
    let before = record.record();
    assert_eq!(before["version"], 1_000);
    let items = before["metadata"]["l"].as_array().expect("items");
    let distinct: BTreeSet<&str> = items.iter().filter_map(Value::as_str).collect();
    assert_eq!((items.len(), distinct.len()), (1_000, 1_000));
    server.restart();
    let record = RecordCalls { shop: record.shop.on(&server) };
    assert_eq!(record.record(), before);
    assert_eq!(record.add("l", &json!("0-0")).ok(), json!(false));
    assert_eq!(record.add("l", &json!("new")).ok(), json!(true));
    assert!(server.stop());
    verify(&server);
}

#[test]
fn garbage_left_by_a_kill_is_removed_after_it() {
    let (mut server, record) = Server::with(record);
    let items: Vec<u64> = (0..5_000).collect();
    record.sync(&json!({ "l": items }));
    record.add("l", &json!("one more")).ok();
    record.sync(&json!({ "l": items, "m": [1] }));
    record.add("l", &json!("one more")).ok();
    record.add("m", &json!(2)).ok();
    record.call("delete-metadata", &json!({})).ok();
    server.restart();
    let record = RecordCalls { shop: record.shop.on(&server) };
    record.add("l", &json!("new")).ok();
    assert_eq!(record.value(), json!({ "l": ["new"] }));
    thread::sleep(Duration::from_millis(500));
    assert!(server.stop());
    verify(&server);
}
