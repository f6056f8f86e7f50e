//! Refusals before the first step.

use serde_json::{Value, json};

use super::{PipelineCaller, run, step};
use crate::harness::Client;

#[test]
fn all_faults_of_steps_are_named_at_once() {
    let caller = PipelineCaller::arrive();
    let public = caller.server.public();
    let body = json!({
        "steps": [
            { "url": "https://elsewhere.example/merchants/get-balance", "body": {} },
            { "url": format!("{public}/merchants/get-balance"), "heders": {}, "method": "POST", "body": {} },
            { "url": 1, "headers": [], "body": [] },
            { "headers": { "Authorization": 1, "Accept": ["a"], "Idempotency-Key": "a\nb" } },
            "get-balance",
            { "url": format!("{public}/merchants/pipeline"), "body": { "steps": [] } },
            { "url": format!("{public}/2025-04-01/sdk/pipeline"), "body": {} },
        ],
        "returns": "$..id",
        "idempotent": true,
    });
    let faults = [
        "invalid returns",
        "invalid steps[0].url",
        "unknown steps[1].heders",
        "unknown steps[1].method",
        "invalid steps[2].url",
        "invalid steps[2].headers",
        "invalid steps[2].body",
        "missing steps[3].url",
        "invalid steps[3].headers.accept",
        "invalid steps[3].headers.authorization",
        "missing steps[3].body",
        "invalid steps[4]",
        "invalid steps[5].url",
        "invalid steps[6].url",
        "unknown idempotent",
        "invalid Idempotency-Key",
    ];
    let answer = caller.shop.client().idempotency_key("k").post("/merchants/pipeline", &body);
    assert_eq!(answer.faults(), faults);
    let details = answer.details();
    assert_eq!(details[2]["suggestion"], "headers");
    assert!(details[1]["message"].as_str().is_some_and(|text| text.contains(public)), "{}", details[1]);
}

#[test]
fn a_pipeline_has_one_to_thirty_two_steps() {
    let caller = PipelineCaller::arrive();
    let balance = caller.step("get-balance", json!({}));
    let run_so_many = |count: usize| caller.run(&vec![balance.clone(); count]);
    assert_eq!(run_so_many(32).ok().as_array().map(Vec::len), Some(32));
    assert_eq!(
        (run_so_many(0).faults(), run_so_many(33).faults()),
        (vec!["invalid steps".to_owned()], vec!["invalid steps".to_owned()])
    );
    for (steps, fault) in [(Value::Null, "missing steps"), (json!({}), "invalid steps"), (json!("$"), "invalid steps")]
    {
        let answer = caller.shop.client().post("/merchants/pipeline", &json!({ "steps": steps }));
        assert_eq!(answer.faults(), [fault]);
    }
}

#[test]
fn a_pipeline_without_authorization_has_at_most_64_kib() {
    let caller = PipelineCaller::arrive();
    let anybody = caller.server.client();
    let of_bytes = |bytes: usize| {
        let body = |padding: usize| json!({ "steps": ["x".repeat(padding)] });
        let frame = body(0).to_string().len();
        body(bytes - frame)
    };
    let answer = anybody.post("/merchants/pipeline", &of_bytes(1 << 16));
    assert_eq!(answer.faults(), ["invalid steps[0]"]);
    let answer = anybody.post("/merchants/pipeline", &of_bytes((1 << 16) + 1));
    assert_eq!((answer.status, answer.code()), (413, "BODY_TOO_LARGE"));
    assert!(answer.message().contains("a pipeline without Authorization"), "{}", answer.message());
    let answer = caller.shop.client().post("/merchants/pipeline", &of_bytes((1 << 16) + 1));
    assert_eq!(answer.faults(), ["invalid steps[0]"], "with a key it is read");
}

#[test]
fn at_most_100_faults_of_steps_are_reported() {
    let caller = PipelineCaller::arrive();
    let members: serde_json::Map<String, Value> =
        (0..500).map(|number| (format!("k{number}"), json!("$[9]"))).collect();
    let step = json!({ "url": caller.step("find-key", json!({}))["url"], "body": members, "other": 1 });
    let faults = caller.run(&[step]).faults();
    assert_eq!((faults.len(), faults[0].as_str()), (100, "unknown steps[0].other"));
}

#[test]
fn an_idempotency_key_of_the_whole_pipeline_is_refused() {
    let caller = PipelineCaller::arrive();
    let answer = run(&caller.shop.client().idempotency_key("k"), &[caller.keeping("a", &json!(1))]);
    assert_eq!(answer.faults(), ["invalid Idempotency-Key"]);
    assert_eq!(caller.kept("a"), Value::Null);
}

#[test]
fn steps_are_endpoints_of_the_same_listener() {
    let caller = PipelineCaller::arrive();
    let (public, admin) = (caller.server.public(), caller.server.admin_address());
    let list = |base: &str| step(base, "/admin/list-merchants", json!({}));
    let keep = caller.keeping("a", &json!(1));
    assert_eq!(caller.run(&[list(admin)]).faults(), ["invalid steps[0].url"]);
    for path in ["/admin/list-merchants", "/merchants/get-balances", "/nothing", "/health/ready"] {
        let answer = caller.run(&[keep.clone(), step(public, path, json!({}))]);
        assert_eq!((answer.status, answer.code()), (404, "UNKNOWN_ENDPOINT"), "{path}");
    }
    assert_eq!(caller.kept("a"), Value::Null, "it is told before anything is done");
    let operator = caller.server.admin_client();
    let made = [
        step(admin, "/admin/create-merchant", json!({ "name": "Another", "currency": "THB" })),
        step(admin, "/admin/generate-key", json!({ "merchant_id": "$[0]", "name": "First" })),
    ];
    let key = operator.post("/admin/pipeline", &json!({ "steps": made, "returns": "$[1].key" })).id();
    let balance = Client::new(public).bearer(&key).post("/merchants/get-balance", &json!({}));
    balance.refused("NOT_FOUND");
    assert_eq!(operator.post("/merchants/pipeline", &json!({ "steps": [] })).status, 404);
}

#[test]
fn a_pipeline_itself_is_judged_like_any_call() {
    let caller = PipelineCaller::arrive();
    let client = caller.shop.client();
    assert_eq!(client.get("/merchants/pipeline").status, 405);
    let plain = client.clone().header("Content-Type", "text/plain");
    assert_eq!(plain.post("/merchants/pipeline", &json!({ "steps": [] })).status, 415);
    let large = json!({ "steps": "x".repeat(1 << 20) });
    assert_eq!(client.post("/merchants/pipeline", &large).code(), "BODY_TOO_LARGE");
    client.post("/merchants/pipeline?api_version=1999-12-31", &json!({})).refused("BAD_VERSION");
    assert_eq!(client.post("/2025-04-01/merchants/pipeline", &json!({})).faults(), ["missing steps"]);
}
