//! The calls with which a merchant manages its own API keys.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Shop, entries_of, id_of_nothing, ids_of, now_seconds};

fn generated(shop: &Shop, name: &str) -> (String, String) {
    let made = shop.call("generate-key", &json!({ "name": name })).ok();
    let text = |member: &str| made[member].as_str().expect("a string").to_owned();
    (text("key_id"), text("key"))
}

fn call_with(server: &Server, key: &str, endpoint: &str, body: &Value) -> ApiAnswer {
    server.client().bearer(key).post(&format!("/merchants/{endpoint}"), body)
}

#[test]
fn a_generated_key_is_accepted_and_never_shown_again() {
    let (server, shop) = Server::with_shop();
    let made = shop.call("generate-key", &json!({ "name": "Till 2" })).ok();
    let key = made["key"].as_str().expect("its text").to_owned();
    assert!(key.starts_with("sk_") && key.len() == 41, "{key}");
    let found = call_with(&server, &key, "find-key", &json!({ "key_id": made["key_id"] })).ok();
    assert_eq!((&found["name"], &found["display"]), (&json!("Till 2"), &json!(key[..8])));
    assert!(found.get("key").is_none() && !found.to_string().contains(&key), "{found}");
    assert_eq!(found["created_at"], made["created_at"]);
    assert_eq!((&found["expires_at"], &found["revoked_at"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_repeated_call_has_the_first_answer_also_after_a_rename() {
    let (_server, shop) = Server::with_shop();
    let generate =
        || shop.client().idempotency_key("till-2").post("/merchants/generate-key", &json!({ "name": "Till 2" }));
    let first = generate().ok();
    let renaming = json!({ "key_id": first["key_id"], "name": "Till 3" });
    assert_eq!(shop.call("update-key", &renaming).ok(), json!(true));
    assert_eq!(generate().ok(), first);
    assert_eq!(shop.call("find-key", &json!({ "key_id": first["key_id"] })).ok()["name"], json!("Till 3"));
}

#[test]
fn keys_are_listed_newest_first_with_revoked_ones() {
    let (_server, shop) = Server::with_shop();
    let ids: Vec<String> = (0..3).map(|number| generated(&shop, &format!("Till {number}")).0).collect();
    shop.call("revoke-key", &json!({ "key_id": ids[1] })).ok();
    let listed = shop.call("list-keys", &json!({})).ok();
    let page = entries_of(&listed);
    let listed_ids: Vec<&str> = page.iter().filter_map(|key| key["key_id"].as_str()).collect();
    assert_eq!(listed_ids, [&ids[2], &ids[1], &ids[0], &shop.key_id]);
    assert!(page[1]["revoked_at"].is_number() && page[0]["revoked_at"].is_null());
    let first = shop.call("list-keys", &json!({ "per_page": 2 })).ok();
    let rest = shop.call("list-keys", &first["next"]).ok();
    // The key that calls was used again meanwhile, perhaps in another second.
    let rest_ids = ids_of(&rest, "key_id");
    assert_eq!(rest_ids, listed_ids[2..]);
}

#[test]
fn the_last_use_of_a_key_is_shown_and_survives_a_stop() {
    let (mut server, shop) = Server::with_shop();
    let (key_id, key) = generated(&shop, "Till 2");
    let unused = shop.call("find-key", &json!({ "key_id": key_id })).ok();
    assert_eq!(unused["last_used_at"], Value::Null);
    let before = now_seconds();
    call_with(&server, &key, "get-balance", &json!({})).ok();
    let used = shop.call("find-key", &json!({ "key_id": key_id })).ok()["last_used_at"].clone();
    assert!(used.as_u64().is_some_and(|at| (before..=now_seconds()).contains(&at)), "{used}");
    assert!(server.stop());
    server.restart();
    let again = shop.on(&server).call("find-key", &json!({ "key_id": key_id })).ok();
    assert_eq!(again["last_used_at"], used);
}

#[test]
fn a_key_that_revoked_itself_opens_nothing_any_more() {
    let (server, shop) = Server::with_shop();
    let (key_id, key) = generated(&shop, "Till 2");
    let body = json!({ "key_id": key_id });
    assert_eq!(call_with(&server, &key, "revoke-key", &body).ok(), json!(true));
    call_with(&server, &key, "revoke-key", &body).refused("UNAUTHORIZED");
    assert_eq!(shop.call("revoke-key", &body).ok(), json!(false));
}

#[test]
fn an_expired_key_is_refused_like_an_unknown_one() {
    let (server, shop) = Server::with_shop();
    let end = now_seconds() + 2;
    let made = shop.call("generate-key", &json!({ "name": "Soon gone", "expires_at": end })).ok();
    let key = made["key"].as_str().expect("its text");
    call_with(&server, key, "get-balance", &json!({})).ok();
    while now_seconds() <= end {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let expired = call_with(&server, key, "get-balance", &json!({}));
    let unknown = call_with(&server, "sk_000000000000000000000000000000002wjyrI", "get-balance", &json!({}));
    assert_eq!((expired.code(), expired.message()), (unknown.code(), unknown.message()));
    expired.refused("UNAUTHORIZED");
}

#[test]
fn keys_of_others_and_unknown_keys_are_not_found() {
    let (_server, shop, other) = Server::with_shops();
    for key_id in [other.key_id.clone(), id_of_nothing(&shop.key_id)] {
        shop.call("find-key", &json!({ "key_id": key_id })).refused("NOT_FOUND");
        shop.call("revoke-key", &json!({ "key_id": key_id })).refused("NOT_FOUND");
        shop.call("update-key", &json!({ "key_id": key_id, "name": "x" })).refused("NOT_FOUND");
    }
    other.call("get-balance", &json!({})).ok();
}

#[test]
fn faulty_arguments_are_named_all_at_once() {
    let (_server, shop) = Server::with_shop();
    let faults = shop.call("generate-key", &json!({ "name": "", "expires_at": -1 })).faults();
    assert_eq!(faults, ["invalid name", "invalid expires_at"]);
    assert_eq!(shop.call("update-key", &json!({ "key_id": "key_1" })).faults(), ["invalid key_id", "missing name"]);
}
