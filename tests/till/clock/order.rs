//! Ids and times while the clock steps back: contract, section 3.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Shop, Stage};

/// The 128 bits of an id.
fn bits(id: &str) -> u128 {
    let suffix = id.split_once('_').expect("a prefix and a suffix").1;
    assert_eq!(suffix.len(), 26, "{id}");
    let alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
    suffix.chars().fold(0, |bits, letter| {
        let value = alphabet.find(letter).unwrap_or_else(|| panic!("{letter} in {id}"));
        (bits << 5) | u128::try_from(value).expect("small")
    })
}

fn invited(shop: &Shop, number: usize) -> String {
    shop.call("invite-user", &json!({ "email": format!("e{number}@shop.example") })).id()
}

#[test]
fn ids_and_entries_keep_their_order_when_the_clock_steps_back() {
    let (stage, shop) = Stage::with_shop("2025-04-02T00:00:00Z");
    let mut ids = Vec::new();
    for instant in ["2025-04-02T00:00:00Z", "2025-04-01T00:00:00Z", "2024-01-01T00:00:00Z", "2025-04-02T00:00:00.001Z"]
    {
        stage.set(instant);
        ids.extend((0..5).map(|number| invited(&shop, ids.len() + number)).collect::<Vec<_>>());
    }
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    let listed = shop.all("list-activity-logs");
    let emails: Vec<&str> = listed.iter().filter_map(|entry| entry["user_email"].as_str()).collect();
    let expected: Vec<String> = (0..20).rev().map(|number| format!("e{number}@shop.example")).collect();
    assert_eq!(emails, expected, "newest first is the order of the calls");
    let times: Vec<u64> = listed.iter().filter_map(|entry| entry["created_at"].as_u64()).collect();
    assert!(times.windows(2).all(|pair| pair[0] >= pair[1]), "{times:?}");
}

#[test]
fn an_id_has_a_time_a_counter_and_62_random_bits() {
    let (stage, shop) = Stage::with_shop("2025-04-02T00:00:00Z");
    let sessions: Vec<u128> = (0..40).map(|_| bits(&shop.session_with(100, &json!({})))).collect();
    for id in &sessions {
        assert_eq!((id >> 76 & 0xf, id >> 62 & 0b11), (7, 0b10), "version and variant of a UUIDv7: {id:x}");
        assert_eq!(id >> 80, u128::from(stage.now()) * 1_000, "milliseconds since 1970");
    }
    assert!(sessions.windows(2).all(|pair| pair[0] >> 62 < pair[1] >> 62), "the counter gives the order");
    let chance: BTreeSet<u128> = sessions.iter().map(|id| id & ((1 << 62) - 1)).collect();
    assert_eq!(chance.len(), sessions.len());
    let (low, high) = (chance.first().copied().unwrap_or(0), chance.last().copied().unwrap_or(0));
    assert!(high - low > 1 << 60, "spread over the whole range: {low:x} to {high:x}");
}

#[test]
fn expired_objects_stay_expired_when_the_clock_steps_back() {
    let (stage, shop) = Stage::with_shop("2025-04-02T00:00:00Z");
    let session = json!({ "payment_session_id": shop.session(100) });
    let body = json!({ "name": "Short", "expires_at": stage.now() + 60 });
    let key = shop.call("generate-key", &body).ok()["key"].as_str().expect("a key").to_owned();
    let ask = || stage.client().bearer(&key).post("/merchants/get-balance", &json!({}));
    ask().ok();
    stage.set("2025-04-02T01:00:00Z");
    invited(&shop, 0);
    stage.set("2025-04-02T00:00:30Z");
    assert_eq!(shop.sdk("check-status", &session).ok(), "FAILED");
    assert_eq!(shop.sdk("discover-next-action", &session).ok(), "CHECK_STATUS");
    assert_eq!(shop.sdk("retrieve-payment-session", &session).ok()["status"], "EXPIRED");
    ask().refused("UNAUTHORIZED");
    stage.set("2025-04-10T00:00:00Z");
    invited(&shop, 1);
    stage.set("2025-04-02T02:00:00Z");
    let statuses: Vec<Value> = shop.all("list-user-invitations").iter().map(|it| it["status"].clone()).collect();
    assert_eq!(statuses, ["PENDING", "EXPIRED"]);
}
