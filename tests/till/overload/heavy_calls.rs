//! Expensive calls from many connections without a pause, and beside them a merchant with cheap calls: see
//! `heavy_load.rs`.

use std::thread;

use serde_json::{Value, json};

use super::closed_loop::{PreparedRequest, key_of};
use super::heavy_load::{CAMPAIGN_P99_MAX, COMPRESSED, HeavyCalls, RECORDS_BYTES, many_connections};
use crate::harness::{EventReceiver, Manner, Server, Shop, Start, TestDice, dead_url, merged};

/// Bytes of a large array, which a record and the body of a call have room for.
const ARRAY_BYTES: usize = 1_000_000;

/// Entries of the activity log that pass the one of two filters, and of those that pass the other: below the most
/// invitations that a merchant may have open.
const ENTRIES: usize = 500;

/// Random numbers of five digits for a large array.
fn random_numbers(seed: u64) -> Vec<u64> {
    let mut dice = TestDice::new(seed);
    (0..ARRAY_BYTES / 6).map(|_| dice.between(10_000, 100_000)).collect()
}

/// Different numbers of six digits for a large array.
fn distinct_numbers() -> Vec<u64> {
    (100_000..).take(ARRAY_BYTES / 7).collect()
}

/// The body that makes these numbers a merchant's record.
fn record(key: &str, numbers: &[u64]) -> Value {
    json!({ "key": key, "metadata": numbers })
}

/// A call of a merchant with its key.
fn call(shop: &Shop, endpoint: &str, body: &Value) -> PreparedRequest {
    PreparedRequest::post(&format!("/merchants/{endpoint}"), &key_of(shop), &body.to_string())
}

/// A call without a key whose body has `bytes` bytes and no argument of the endpoint.
fn anybodys_call(bytes: usize) -> PreparedRequest {
    let frame = json!({ "a": [0] }).to_string().len();
    let body = json!({ "a": vec![0; (bytes - frame) / 2 + 1] });
    PreparedRequest::post("/sdk/check-status", "", &body.to_string())
}

#[test]
fn bodies_without_a_key_delay_no_light_calls() {
    let request = anybodys_call(64 << 10);
    let calls = HeavyCalls::alike("bodies of 64 KiB without a key", &request, 64);
    HeavyCalls { expected: &[400], ..calls }.delay_no_light_calls(&Server::start());
}

#[test]
fn bodies_that_are_too_large_delay_no_light_calls() {
    let request = anybodys_call(ARRAY_BYTES);
    let calls = HeavyCalls::alike("bodies of 1 MB without a key", &request, 64);
    HeavyCalls { expected: &[413], ..calls }.delay_no_light_calls(&Server::start());
}

#[test]
fn compressed_documents_delay_no_light_calls() {
    let request = PreparedRequest::get("/openapi.json", COMPRESSED);
    HeavyCalls::alike("compressed documents without a key", &request, 64).delay_no_light_calls(&Server::start());
}

#[test]
fn compressed_pages_of_large_records_delay_no_light_calls() {
    let (server, shop) = Server::with_shop();
    for seed in 0..8 {
        shop.call("sync-metadata", &record(&format!("large {seed}"), &random_numbers(seed))).ok();
    }
    let headers = key_of(&shop) + COMPRESSED;
    let request = PreparedRequest::post("/merchants/list-metadata", &headers, "{\"per_page\":100}");
    HeavyCalls::alike("compressed pages of 8 MB", &request, many_connections()).delay_no_light_calls(&server);
}

#[test]
fn fetched_large_records_delay_no_light_calls() {
    let (server, shop) = Server::with_shop();
    shop.call("sync-metadata", &record("large", &random_numbers(0))).ok();
    let request = call(&shop, "retrieve-metadata", &json!({ "key": "large" }));
    HeavyCalls::alike("records of 1 MB, fetched", &request, many_connections()).delay_no_light_calls(&server);
}

#[test]
fn written_large_records_delay_no_light_calls() {
    let server = Server::start();
    let request = call(&server.shop(), "sync-metadata", &record("large", &random_numbers(0)));
    HeavyCalls::alike("records of 1 MB, written", &request, 32).delay_no_light_calls(&server);
}

#[test]
fn large_arrays_that_become_sets_delay_no_light_calls() {
    let server = Server::start();
    let (shop, numbers) = (server.shop(), distinct_numbers());
    let turns = |connection: usize| {
        let key = format!("large {connection}");
        let addition = json!({ "key": key, "value": "one more" });
        vec![call(&shop, "sync-metadata", &record(&key, &numbers)), call(&shop, "add-to-metadata-set", &addition)]
    };
    let (name, turns) = ("arrays of 1 MB that become sets", (0..8).map(turns).collect());
    // Each call is a commit of some 300,000 rows, for which the others wait.
    let (p99_max, more_bytes) = (10 * CAMPAIGN_P99_MAX, RECORDS_BYTES);
    HeavyCalls { p99_max, more_bytes, ..HeavyCalls::in_turns(name, turns, &[200]) }.delay_no_light_calls(&server);
}

/// Pipelines of 0.9 MB whose steps have faults, each as one call: unknown members of a step, and references to results
/// that will not be there.
fn pipelines_with_faults(headers: &str) -> [(&'static str, PreparedRequest); 2] {
    let members = |count: usize, member: fn(usize) -> String| (0..count).map(member).collect::<Vec<_>>().join(",");
    let unknown = members(70_000, |number| format!("\"urk{number}\":1"));
    let references = members(60_000, |number| format!("\"k{number}\":\"$[9]\""));
    let body = format!("{{\"url\":\"/merchants/find-key\",\"body\":{{{references}}}}}");
    [("unknown members", format!("{{{unknown}}}")), ("references", body)].map(|(name, step)| {
        (name, PreparedRequest::post("/merchants/pipeline", headers, &format!("{{\"steps\":[{step}]}}")))
    })
}

#[test]
fn pipelines_with_many_faults_delay_no_light_calls() {
    let server = Server::start();
    let key = key_of(&server.shop());
    for (headers, expected) in [("", &[413]), (key.as_str(), &[400])] {
        for (name, request) in pipelines_with_faults(headers) {
            let calls = HeavyCalls::alike(name, &request, 64);
            HeavyCalls { expected, ..calls }.delay_no_light_calls(&server);
        }
    }
}

/// Payouts of a merchant, each of which has an event: more than deliveries of a webhook may wait.
const PAYOUTS: usize = 1_100;

/// A server whose merchants may have webhooks on this machine.
fn server_with_webhooks() -> Server {
    Start::default().with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8").server()
}

/// The body of calls for a webhook with this address.
fn webhook_at(shop: &Shop, url: &str) -> Value {
    let body = json!({ "name": "a", "destination_url": url, "events": ["*"] });
    json!({ "webhook_id": shop.call("connect-webhook", &body).ok()["webhook_id"] })
}

#[test]
fn orders_to_deliver_again_delay_no_light_calls() {
    let server = server_with_webhooks();
    let shop = server.shop();
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": PAYOUTS })).ok();
    (0..PAYOUTS).for_each(|_| _ = shop.call("send-payout", &json!({ "amount": 1 })).ok());
    let webhooks: Vec<Value> = (0..8).map(|_| webhook_at(&shop, &dead_url())).collect();
    let order = |webhook: &Value| call(&shop, "redeliver-webhook", &merged(webhook, &json!({ "since": 0 })));
    let turns = (0..64).map(|_| webhooks.iter().map(order).collect()).collect();
    let name = "orders to deliver 1,100 events again";
    HeavyCalls::in_turns(name, turns, &[200, 429]).delay_no_light_calls(&server);
}

#[test]
fn tests_of_slow_endpoints_delay_no_light_calls() {
    let server = server_with_webhooks();
    let receiver = EventReceiver::start(Manner::Slow);
    let tests =
        [server.shop(), server.shop()].map(|shop| call(&shop, "test-webhook", &webhook_at(&shop, &receiver.url())));
    let turns = (0..128).map(|connection| vec![tests[connection % 2].clone()]).collect();
    let name = "tests of slow endpoints by two merchants";
    HeavyCalls::in_turns(name, turns, &[200, 429]).delay_no_light_calls(&server);
}

/// Invites users with one key of a merchant and switches the plan with another one, both at once, so that their entries
/// in the activity log alternate.
fn alternating_entries(server: &Server, shop: &Shop) {
    let other = server.admin("generate-key", &json!({ "merchant_id": shop.merchant_id, "name": "Other" })).ok();
    let other = server.client().bearer(other["key"].as_str().expect("a string"));
    let plans = shop.call("list-plans", &json!({})).ok();
    let switch = |number: usize| {
        let plan = &plans[(number + 1) % 2]["plan_id"];
        other.post("/merchants/select-plan", &json!({ "plan_id": plan })).ok();
    };
    thread::scope(|scope| {
        scope.spawn(|| (0..ENTRIES).for_each(switch));
        for number in 0..ENTRIES {
            shop.call("invite-user", &json!({ "email": format!("user-{number}@shop.example") })).ok();
        }
    });
}

#[test]
fn compressed_pages_of_a_list_delay_no_light_calls() {
    let (server, shop) = Server::with_shop();
    for number in 0..100 {
        shop.call("invite-user", &json!({ "email": format!("user-{number}@shop.example") })).ok();
    }
    let headers = key_of(&shop) + COMPRESSED;
    let request = PreparedRequest::post("/merchants/list-activity-logs", &headers, "{\"per_page\":100}");
    HeavyCalls::alike("compressed pages of a list", &request, many_connections()).delay_no_light_calls(&server);
}

#[test]
fn filters_that_never_meet_delay_no_light_calls() {
    let (server, shop) = Server::with_shop();
    alternating_entries(&server, &shop);
    let filters = json!({ "activity_type": "plan_switched", "actor_key_id": shop.key_id });
    assert_eq!(shop.call("list-activity-logs", &filters).ok()["page"], json!([]));
    let request = call(&shop, "list-activity-logs", &filters);
    HeavyCalls::alike("filters that never meet", &request, 64).delay_no_light_calls(&server);
}
