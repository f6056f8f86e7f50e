//! Each step is judged as a call of its own.

use std::fs;

use serde_json::{Value, json};

use super::{PipelineCaller, run, step, with_headers};
use crate::harness::{Start, temporary, thb};

#[test]
fn the_first_failing_step_ends_it_and_undoes_nothing() {
    let caller = PipelineCaller::arrive();
    let missing = json!({ "payment_id": "no-such-payment" });
    let alone = caller.shop.call("find-payment", &missing);
    let steps =
        [caller.keeping("a", &json!(1)), caller.step("find-payment", missing.clone()), caller.keeping("b", &json!(1))];
    let answer = caller.run(&steps);
    assert_eq!((answer.status, &answer.body), (400, &alone.body));
    assert_eq!((caller.kept("a"), caller.kept("b")), (json!(1), Value::Null));
    let faulty = caller.step("find-payment", json!({ "payment": 1 }));
    let alone = caller.shop.call("find-payment", &json!({ "payment": 1 }));
    assert_eq!(caller.run(&[faulty]).body, alone.body);
}

#[test]
fn a_refusal_is_problem_details_where_step_or_call_ask() {
    let caller = PipelineCaller::arrive();
    let find = caller.step("find-payment", json!({ "payment_id": "no-such-payment" }));
    let problem = json!({ "Accept": "application/problem+json" });
    let by_step = caller.run(&[with_headers(&find, problem)]);
    let asking = caller.shop.client().header("Accept", "application/problem+json");
    let by_call = run(&asking, std::slice::from_ref(&find));
    for answer in [by_step, by_call] {
        assert_eq!((answer.status, &answer.body["code"]), (404, &json!("NOT_FOUND")));
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    }
    run(&asking, &[with_headers(&find, json!({ "accept": "application/json" }))]).refused("NOT_FOUND");
}

#[test]
fn a_step_has_its_own_key_and_version_or_those_of_the_call() {
    let caller = PipelineCaller::arrive();
    let other = caller.server.shop_with(json!({ "name": "Other", "currency": "EUR" }));
    let balance = caller.step("get-balance", json!({}));
    let own = json!({ "authorization": format!("Bearer {}", other.key), "Api-Version": "2025-04-01" });
    let none = json!({ "Authorization": null });
    let all = caller.run(&[balance.clone(), with_headers(&balance, own.clone()), with_headers(&balance, none)]).ok();
    let currencies: Vec<&Value> = all.as_array().expect("results").iter().map(|one| &one["currency"]).collect();
    assert_eq!(currencies, ["THB", "EUR", "THB"]);
    let keyless = caller.server.client();
    assert_eq!(run(&keyless, &[with_headers(&balance, own)]).ok()[0]["currency"], "EUR");
    run(&keyless, std::slice::from_ref(&balance)).refused("UNAUTHORIZED");
    let wrong = with_headers(&balance, json!({ "Authorization": "Bearer sk_wrong" }));
    caller.run(&[wrong]).refused("UNAUTHORIZED");
    caller.run(&[with_headers(&balance, json!({ "Api-Version": "1999-12-31" }))]).refused("BAD_VERSION");
    run(&caller.shop.client().header("Api-Version", "1999-12-31"), &[balance]).refused("BAD_VERSION");
}

#[test]
fn other_headers_of_a_step_count_for_nothing() {
    let caller = PipelineCaller::arrive();
    let ignored = json!({
        "Content-Type": "text/plain", "Content-Encoding": "gzip", "User-Agent": 1, "Origin": ["x"],
            "X-Request-Id": "step",
        "Host": "elsewhere", "Content-Length": "1",
    });
    let client = caller.shop.client().header("X-Request-Id", "call");
    let answer = run(&client, &[with_headers(&caller.step("get-balance", json!({})), ignored)]);
    assert_eq!((answer.status, answer.header("x-request-id")), (200, Some("call")));
}

#[test]
fn a_step_is_done_once_under_its_own_idempotency_key() {
    let caller = PipelineCaller::arrive();
    let named = json!({ "Idempotency-Key": "order 17" });
    let token = caller.shop.session(100);
    let pay = |minor: u64| {
        with_headers(&caller.step("initiate-payment-flow", caller.shop.initiation(&token, minor)), named.clone())
    };
    let steps = |minor| [pay(minor), caller.step("find-payment", json!({ "payment_id": "$[0]" }))];
    let first = caller.run_for("$[0]", &steps(100)).id();
    assert_eq!(caller.run_for("$[0]", &steps(100)).id(), first);
    let single = caller.shop.client().idempotency_key("order 17");
    let alone = single.post("/merchants/initiate-payment-flow", &caller.shop.initiation(&token, 100));
    assert_eq!(alone.header("idempotent-replayed"), Some("true"), "it is the same call");
    assert_eq!(alone.id(), first);
    caller.run(&steps(200)).refused("IDEMPOTENCY_KEY_REUSED");
    assert_eq!(caller.shop.all("list-payments").len(), 1);
}

#[test]
fn each_step_counts_against_the_rate_of_its_key() {
    let caller = PipelineCaller::on(Start::default().with("TILL_KEY_CALLS_PER_SECOND", "3").server());
    let keep: Vec<Value> = (0..20).map(|number| caller.keeping(&format!("k{number}"), &json!(number))).collect();
    let answer = caller.run(&keep);
    assert_eq!((answer.status, answer.code()), (429, "RATE_LIMITED"));
    assert!(answer.header("retry-after").is_some());
    std::thread::sleep(std::time::Duration::from_secs(2));
    let kept = caller.shop.call("list-metadata", &json!({})).ok();
    let count = kept["page"].as_array().map_or(0, Vec::len);
    assert!((3..20).contains(&count), "{count} of 20 were let in");
}

#[test]
fn a_steps_body_is_limited_with_its_references_replaced() {
    let caller = PipelineCaller::arrive();
    caller.keep("large", &json!("x".repeat(200_000)));
    let twice = |count: usize| caller.keeping("b", &Value::from(vec!["$[0]"; count]));
    caller.run(&[caller.finding("large"), twice(4)]).ok();
    let answer = caller.run(&[caller.finding("large"), twice(6)]);
    assert_eq!((answer.status, answer.code()), (413, "BODY_TOO_LARGE"));
    assert_eq!(caller.kept("b").as_array().map(Vec::len), Some(4));
    let deep = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    caller.keep("deep", &deep(40));
    let nested = caller.keeping("b", &(0..30).fold(json!("$[0]"), |inner, _| json!([inner])));
    let answer = caller.run(&[caller.finding("deep"), nested]);
    assert!(answer.refused("INVALID_ARGUMENTS") == json!([]) && answer.message().contains("deeper"), "{}", answer.body);
}

#[test]
fn results_are_bounded_together() {
    let caller = PipelineCaller::arrive();
    caller.keep("large", &json!("x".repeat(900_000)));
    let steps = vec![caller.finding("large"); 4];
    assert_eq!(caller.run_for("$[0:1]", &steps).faults(), ["invalid steps[2]"]);
    assert_eq!(caller.run_for("$[-1:]", &steps[..2]).ok().as_str().map(str::len), Some(900_000));
}

#[test]
fn each_step_is_a_call_in_the_log_and_in_the_counters() {
    let (_directory, [log]) = temporary(["log"]);
    let start = Start::default().with("TILL_LOG_FILTER", "info").with("TILL_LOG_FORMAT", "json").recording(&log);
    let mut caller = PipelineCaller::on(start.server());
    let client = caller.shop.client().header("X-Request-Id", "pipeline-1");
    let find = caller.step("find-payment", json!({ "payment_id": "secret-$[0]" }));
    run(&client, &[caller.step("get-balance", json!({})), find]).refused("NOT_FOUND");
    let metrics = caller.server.metrics();
    for counted in [
        "till_http_requests_total{code=\"OK\",endpoint=\"get-balance\"} 1",
        "till_http_requests_total{code=\"NOT_FOUND\",endpoint=\"find-payment\"} 1",
        "till_http_requests_total{code=\"NOT_FOUND\",endpoint=\"pipeline\"} 1",
    ] {
        assert!(metrics.lines().any(|line| line == counted), "{counted} is not in\n{metrics}");
    }
    assert!(caller.server.stop());
    let text = fs::read_to_string(&log).expect("the log was kept");
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of_call: Vec<Value> = lines.filter(|line| line["span"]["request_id"] == "pipeline-1").collect();
    let told: Vec<_> = of_call.iter().map(|line| (&line["path"], &line["status"], &line["caller"])).collect();
    let key = json!(caller.shop.key_id);
    let expected = [
        (&json!("/merchants/get-balance"), &json!(200), &key),
        (&json!("/merchants/find-payment"), &json!(400), &key),
        (&json!("/merchants/pipeline"), &json!(400), &Value::Null),
    ];
    assert_eq!(told, expected, "{text}");
    assert!(!text.contains("secret-"), "{text}");
}

#[test]
fn card_data_goes_through_a_pipeline_of_the_device() {
    let caller = PipelineCaller::arrive();
    let card = json!({
        "number": "4242424242424242", "name": "Ada Example", "expiration_date": "12/49", "security_code": "123",
        "usage": "SINGLE",
    });
    let mut select = thb(100);
    (select["payment_method"], select["token"]) = (json!("CARD"), json!("$[0]"));
    let steps = [caller.sdk("tokenize-card", &card), caller.sdk("select-payment-method", &select)];
    let answer = caller.server.client().post("/sdk/pipeline", &json!({ "steps": steps, "returns": "$[-1:]" }));
    assert!(answer.id().starts_with("pse_"));
}

#[test]
fn a_step_may_ask_for_a_package_document() {
    let caller = PipelineCaller::arrive();
    let asked = step(caller.server.public(), "/merchants", json!({}));
    let document = caller.run_for("$[0].pipeline_url", &[asked]).id();
    assert_eq!(document, format!("{}/merchants/pipeline", caller.server.public()));
}
