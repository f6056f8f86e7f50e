//! References: strings of a step that stand for results of earlier ones.

use serde_json::{Value, json};

use super::PipelineCaller;
use crate::harness::{CARD, merged, thb};

#[test]
fn a_payment_is_selected_initiated_and_found_in_one_request() {
    let caller = PipelineCaller::arrive();
    let token = caller.shop.token_of(CARD, "SINGLE");
    let steps = [
        caller.sdk("select-payment-method", &merged(&thb(100), &json!({ "payment_method": "CARD", "token": token }))),
        caller.step("initiate-payment-flow", caller.shop.initiation("$[0]", 100)),
        caller.step("find-payment", json!({ "payment_id": "$[1]" })),
    ];
    let all = caller.run(&steps).ok();
    let payment = all[1].as_str().expect("an id");
    assert!(all[0].as_str().is_some_and(|id| id.starts_with("pse_")) && payment.starts_with("pay_"), "{all}");
    assert_eq!((&all[2]["payment_id"], &all[2]["amount"]), (&json!(payment), &json!(100)));
    assert_eq!(caller.shop.settled(payment)["status"], "SUCCESSFUL");
}

#[test]
fn a_pipeline_answers_all_results_or_those_of_its_path() {
    let caller = PipelineCaller::arrive();
    caller.keep("a", &json!({ "list": [{ "id": 1 }, { "id": 2 }, { "id": 3 }] }));
    caller.keep("b", &json!([true]));
    let steps = [caller.finding("a"), caller.finding("b")];
    let all = json!([{ "list": [{ "id": 1 }, { "id": 2 }, { "id": 3 }] }, [true]]);
    assert_eq!(caller.run(&steps).ok(), all);
    for (returns, expected) in [
        ("$", all.clone()),
        ("$[-1:]", json!([true])),
        ("$[-2:]", all.clone()),
        ("$[0]", all[0].clone()),
        ("$[0].list[-1].id", json!(3)),
        ("$[0]['list'][1:].id", json!([2, 3])),
        ("$[0].list[*].id", json!([1, 2, 3])),
        ("$[0].list[7].id", Value::Null),
    ] {
        assert_eq!(caller.run_for(returns, &steps).ok(), expected, "{returns}");
    }
}

#[test]
fn a_reference_is_a_whole_string_that_is_a_path() {
    let caller = PipelineCaller::arrive();
    caller.keep("a", &json!({ "page": [{ "id": "x\"y" }, 1.5], "none": null, "a-b": true }));
    let value = json!({
        "whole": "$[0]", "deep": ["$[0].page[0].id", { "more": "$[0]['page'][-1]" }], "null": "$[0].none",
        "all": "$", "slice": "$[0].page[1:]", "last": "$[-1:]", "hyphen": "$[0].a-b", "$[0]": "a name is none",
        "price": "$100", "in": "id: $[0].page[0].id", "bearer": "Bearer $[0]", "escaped": "\\$[0]", "dollar": "\\$100",
        "wild": "\\$[*]", "slash": "\\a",
    });
    let first = caller.kept("a");
    caller.run(&[caller.finding("a"), caller.keeping("b", &value)]).ok();
    let expected = json!({
        "whole": first, "deep": ["x\"y", { "more": 1.5 }], "null": null, "all": [first], "slice": [1.5],
        "last": first, "hyphen": true, "$[0]": "a name is none", "price": "$100", "in": "id: $[0].page[0].id",
        "bearer": "Bearer $[0]", "escaped": "$[0]", "dollar": "$100", "wild": "$[*]", "slash": "\\a",
    });
    assert_eq!(caller.kept("b"), expected);
}

#[test]
fn a_path_to_more_than_one_value_is_refused_in_a_step() {
    let caller = PipelineCaller::arrive();
    caller.keep("a", &json!(1));
    for path in ["$[*]", "$..a", "$[0]['a','b']", "$[?@.a]", "$[0][0:4:2]"] {
        let refused = caller.run(&[caller.finding("a"), caller.keeping("b", &json!({ "deep": [path] }))]);
        let faults = refused.refused("INVALID_ARGUMENTS");
        assert_eq!(faults[0]["argument"], "steps[1].body.metadata", "{path}: {faults}");
        assert!(faults[0]["message"].as_str().is_some_and(|it| it.contains("more than one value")), "{faults}");
    }
}

#[test]
fn a_whole_body_can_be_a_reference_as_to_the_next_page() {
    let caller = PipelineCaller::arrive();
    for key in ["a", "b"] {
        caller.keep(key, &json!(1));
    }
    let first = caller.step("list-metadata", json!({ "per_page": 1 }));
    let pages = caller.run(&[first.clone(), caller.step("list-metadata", json!("$[0].next"))]).ok();
    assert_eq!((&pages[0]["page"][0]["key"], &pages[1]["page"][0]["key"]), (&json!("b"), &json!("a")));
    let behind = caller.run(&[first, caller.step("list-metadata", json!("$[0].previous"))]);
    assert_eq!(behind.refused("INVALID_ARGUMENTS"), json!([]), "the body is null: {}", behind.body);
}

#[test]
fn a_reference_to_nothing_names_its_step_and_undoes_nothing() {
    let caller = PipelineCaller::arrive();
    caller.keep("a", &json!({ "id": 1 }));
    let steps =
        [caller.finding("a"), caller.keeping("b", &json!(1)), caller.keeping("c", &json!({ "x": ["$[0].nothing"] }))];
    assert_eq!(caller.run(&steps).faults(), ["invalid steps[2].body.metadata"]);
    assert_eq!((caller.kept("b"), caller.kept("c")), (json!(1), Value::Null));
    let headers = super::with_headers(&caller.finding("a"), json!({ "Api-Version": "$[0].id" }));
    let answer = caller.run(&[caller.finding("a"), headers]);
    assert_eq!(answer.faults(), ["invalid steps[1].headers.api-version"], "a number is no header");
}

#[test]
fn an_impossible_reference_is_refused_before_the_first_step() {
    let caller = PipelineCaller::arrive();
    let steps = [
        caller.keeping("a", &json!("$[0].id")),
        caller.keeping("$[1].id", &json!(1)),
        caller.step("list-metadata", json!("$[-3]")),
    ];
    let faults =
        ["invalid steps[0].body.metadata", "invalid steps[1].body.key", "invalid steps[2].body"].map(str::to_owned);
    assert_eq!(caller.run(&steps).faults(), faults);
    assert_eq!(caller.run_for("$[1]", &[caller.keeping("a", &json!(1))]).faults(), ["invalid returns"]);
    assert_eq!(caller.kept("a"), Value::Null);
}
