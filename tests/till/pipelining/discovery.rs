//! Clients find the pipeline by package documents, and published clients can use it without a change.

use serde_json::{Value, json};

use super::PipelineCaller;
use crate::harness::{Client, Start};

/// A step as the published clients send it, with the headers that they send with every call.
fn published_step(base_url: &Value, endpoint: &str, key: &str, body: Value) -> Value {
    let base_url = base_url.as_str().expect("a text");
    let headers = json!({
        "Content-Type": "application/json", "Accept": "application/json", "User-Agent": "webfunction/0.1.0",
        "Accept-Encoding": "gzip", "Authorization": format!("Bearer {key}"),
    });
    json!({ "url": format!("{base_url}{endpoint}"), "headers": headers, "body": body })
}

#[test]
fn every_pipeline_url_accepts_calls_of_published_clients() {
    let caller = PipelineCaller::arrive();
    let admin = caller.server.admin_address().to_owned();
    let (public, key) = (caller.server.public(), caller.shop.key.as_str());
    for (base, package, endpoint, key) in [
        (public, "merchants", "available-api-versions", key),
        (public, "2025-04-01/merchants", "available-api-versions", key),
        (public, "sdk", "list-installment-plans", key),
        (admin.as_str(), "admin", "list-merchants", "admin-token-of-a-test"),
    ] {
        let document = Client::new(base).get(&format!("/{package}")).ok();
        let pipeline_url = document["pipeline_url"].as_str().expect("a text");
        assert_eq!(pipeline_url, format!("{base}/{package}/pipeline"));
        let arguments = if package == "sdk" { caller.shop.named(&json!({})) } else { json!({}) };
        let step = published_step(&document["base_url"], endpoint, key, arguments);
        let answer = Client::new(pipeline_url).post("", &json!({ "steps": [step], "returns": "$[-1:]" }));
        assert_eq!(answer.status, 200, "{package}: {}", answer.body);
        let listed = document["endpoints"].as_array().expect("endpoints");
        assert!(listed.iter().all(|endpoint| endpoint["name"] != "pipeline"), "a pipeline is no endpoint for a step");
    }
}

#[test]
fn behind_a_proxy_the_shown_addresses_are_this_servers() {
    let caller = PipelineCaller::on(Start::default().with("TILL_PUBLIC_URL", "https://pay.example/till/").server());
    let document = caller.server.client().get("/merchants").ok();
    assert_eq!(document["pipeline_url"], "https://pay.example/till/merchants/pipeline");
    let step = |base: &str| json!({ "url": format!("{base}/merchants/get-balance"), "body": {} });
    let steps =
        [step("https://pay.example/till"), step("http://pay.example/till"), step(caller.server.public()), step("")];
    caller.run(&steps).ok();
    let others =
        [step("https://pay.example"), step("https://pay.example:8443/till"), step("https://till.example/till")];
    assert_eq!(caller.run(&others).faults(), ["invalid steps[0].url", "invalid steps[1].url", "invalid steps[2].url"]);
}
