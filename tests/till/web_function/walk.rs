//! Calls of every endpoint that is listed, in every way that its declaration allows or forbids.

use serde_json::{Value, json};

use super::client::{Client, InvocationResult, agent, code, value};
use super::package::{PackageEndpoint, is_of};
use super::stranger::Stranger;
use crate::harness::VAULT_KEY;
use crate::valid_calls::{Fixture, PACKAGES};

/// Values of other types than an argument is declared to take.
fn of_other_types(types: &[String]) -> Vec<Value> {
    let all = [json!({ "a": 1 }), json!([1]), json!("\u{7}"), json!(1.5), json!(true)];
    all.into_iter().filter(|value| !is_of(value, types)).collect()
}

fn with(arguments: &Value, name: &str, value: Value) -> Value {
    let mut arguments = arguments.clone();
    arguments[name] = value;
    arguments
}

/// The refusal of calls about a month that has ended, which need a clock that can be set: `clock::statements` makes
/// these.
fn refusal_for_more(endpoint: &PackageEndpoint) -> Option<&'static str> {
    ["find-statement", "retrieve-statement-document"].contains(&endpoint.name.as_str()).then_some("NOT_FOUND")
}

/// Visits every endpoint of every package.
fn walk(stranger: &Stranger, step: impl Fn(&str, &PackageEndpoint)) {
    for package in PACKAGES {
        stranger.endpoints(package).iter().for_each(|endpoint| step(package, endpoint));
    }
}

fn succeeds(stranger: &Stranger, package: &str, endpoint: &PackageEndpoint) {
    let arguments = stranger.arguments(package, endpoint, &[]);
    match stranger.call(package, endpoint, &arguments) {
        InvocationResult::Value(_) => assert_eq!(refusal_for_more(endpoint), None, "{}", endpoint.name),
        InvocationResult::Refused { code, .. } if refusal_for_more(endpoint) == Some(code.as_str()) => {}
        refused @ InvocationResult::Refused { .. } => panic!("{} with {arguments}: {refused:?}", endpoint.name),
    }
}

#[test]
fn every_endpoint_succeeds_with_its_required_arguments() {
    let mut stranger = Stranger::arrive();
    walk(&stranger, |package, endpoint| succeeds(&stranger, package, endpoint));
    stranger.fixture.is_sound(VAULT_KEY);
}

#[test]
fn every_optional_argument_is_taken_or_refused_as_declared() {
    let stranger = Stranger::arrive();
    walk(&stranger, |package, endpoint| {
        for argument in endpoint.arguments.iter().filter(|argument| !argument.has_flag("required")) {
            let arguments = stranger.arguments(package, endpoint, &[&argument.name]);
            stranger.call(package, endpoint, &arguments);
            for choice in &argument.choices {
                let arguments = stranger.arguments(package, endpoint, &[&argument.name]);
                stranger.call(package, endpoint, &with(&arguments, &argument.name, choice.clone()));
            }
        }
    });
}

#[test]
fn every_endpoint_works_in_every_version() {
    let agent = agent();
    let mut stranger = Stranger::arrive();
    for version in stranger.client("merchants").package.versions.clone() {
        works(&mut stranger, |_, url| Client::of_document(&agent, url).with_version(&version));
        works(&mut stranger, |_, url| Client::of_document(&agent, &format!("{url}?api_version={version}")));
        works(&mut stranger, |package, url| {
            let prefixed = url.replace(&format!("/{package}"), &format!("/{version}/{package}"));
            let client = Client::of_document(&agent, &prefixed);
            assert!(client.package.base_url.contains(&version), "{}", client.package.base_url);
            client
        });
    }
    stranger.turn_to(|_, url| Client::of_package_endpoint(&agent, url).with_version("1999-12-31"));
    walk(&stranger, |package, endpoint| {
        code(stranger.call(package, endpoint, &json!({})));
    });
}

/// Every endpoint succeeds through these clients.
fn works(stranger: &mut Stranger, clients: impl Fn(&str, &str) -> Client) {
    stranger.turn_to(clients);
    assert!(PACKAGES.iter().all(|package| stranger.client(package).package.has_flag("versioned")));
    walk(stranger, |package, endpoint| succeeds(stranger, package, endpoint));
}

#[test]
fn every_endpoint_refuses_undeclared_values_with_declared_codes() {
    let stranger = Stranger::arrive();
    walk(&stranger, |package, endpoint| {
        let arguments = stranger.arguments(package, endpoint, &[]);
        let refused = |arguments: &Value| code(stranger.call(package, endpoint, arguments));
        refused(&with(&arguments, "not_an_argument", json!(1)));
        for argument in &endpoint.arguments {
            for value in of_other_types(&argument.types) {
                refused(&with(&arguments, &argument.name, value));
            }
            if argument.has_flag("required") {
                let mut without = arguments.clone();
                without.as_object_mut().expect("an object").remove(&argument.name);
                refused(&without);
            }
        }
    });
}

#[test]
fn repeated_calls_and_unknown_ids_have_declared_results() {
    let stranger = Stranger::arrive();
    walk(&stranger, |package, endpoint| {
        let arguments = stranger.arguments(package, endpoint, &[]);
        stranger.call(package, endpoint, &arguments);
        stranger.call(package, endpoint, &arguments);
        for (name, value) in arguments.as_object().expect("an object") {
            if let Some(turned) = value.as_str().and_then(turned_id) {
                stranger.call(package, endpoint, &with(&arguments, name, turned));
            }
        }
    });
}

/// An id with another end, which belongs to no object.
fn turned_id(id: &str) -> Option<Value> {
    let (kind, rest) = id.split_once('_')?;
    let turned: String = rest.chars().rev().take(5).collect();
    (kind.len() == 3 && rest.len() == 26).then(|| json!(format!("{kind}_{}{turned}", &rest[..21])))
}

#[test]
fn endpoints_need_a_token_exactly_where_they_declare_it() {
    let stranger = Stranger::arrive();
    walk(&stranger, |package, endpoint| {
        let arguments = stranger.arguments(package, endpoint, &[]);
        let client = stranger.client(package);
        let outcome = client.clone().without_bearer().call(endpoint, &arguments);
        if endpoint.has_flag("bearer_auth") {
            let InvocationResult::Refused { code, details, .. } = outcome else {
                panic!("{}: {outcome:?}", endpoint.name)
            };
            assert_eq!((code.as_str(), &details), ("UNAUTHORIZED", &Value::Null), "{}", endpoint.name);
            client.package.check_code(endpoint, &code);
        } else {
            client.package.check_value(endpoint, &value(outcome));
        }
    });
}

/// Calls that stop the use of a leaked key, that return money to customers, or by which a customer or the merchant
/// gives up.
const WORKS_WHILE_SUSPENDED: &str = "
    revoke-key void-payment reverse-payment refund-payment challenge-dispute concede-dispute disconnect-webhook
    rotate-webhook-secret remove-user update-user reset-user-credentials cancel-payment-session expire-checkout
";

#[test]
fn suspension_is_refused_exactly_where_it_is_declared() {
    let stranger = Stranger::arrive();
    let mut prepared = Vec::new();
    for package in ["merchants", "sdk"] {
        for endpoint in stranger.endpoints(package) {
            let arguments = stranger.arguments(package, &endpoint, &[]);
            prepared.push((package, endpoint, arguments));
        }
    }
    let suspend = stranger.client("admin").package.endpoint("suspend-merchant");
    let suspended = stranger.call("admin", suspend, &json!({ "merchant_id": stranger.fixture.shop.merchant_id }));
    assert_eq!(value(suspended), true);
    for (package, endpoint, arguments) in prepared {
        let declares = |code: &str| endpoint.errors.iter().any(|declared| declared == code);
        let works = WORKS_WHILE_SUSPENDED.split_whitespace().any(|name| name == endpoint.name);
        let declared = declares("MERCHANT_SUSPENDED");
        let changes = declares("IDEMPOTENCY_KEY_REUSED");
        assert_eq!(declared, !works && (changes || package == "sdk"), "{}", endpoint.name);
        let outcome = stranger.call(package, &endpoint, &arguments);
        let refused = matches!(&outcome, InvocationResult::Refused { code, details: Value::Null, .. }
            if code == "MERCHANT_SUSPENDED");
        assert_eq!(refused, declared, "{}: {outcome:?}", endpoint.name);
    }
    let resume = stranger.client("admin").package.endpoint("resume-merchant");
    let resumed = stranger.call("admin", resume, &json!({ "merchant_id": stranger.fixture.shop.merchant_id }));
    assert_eq!(value(resumed), true);
    for package in ["merchants", "sdk"] {
        stranger.endpoints(package).iter().for_each(|endpoint| succeeds(&stranger, package, endpoint));
    }
}

#[test]
fn every_list_pages_by_next_and_back_by_previous() {
    let stranger = Stranger::arrive();
    for _ in 0..3 {
        walk(&stranger, |package, endpoint| succeeds(&stranger, package, endpoint));
    }
    stranger.fixture.settle();
    walk(&stranger, |package, endpoint| {
        // No month ends during the walk: `clock::statements` pages through several.
        if endpoint.has_flag("paginated") && endpoint.name != "list-statements" {
            pages_both_ways(&stranger, package, endpoint);
        }
    });
}

/// Entries that are created meanwhile may come before the others; nothing else may differ on the way back.
fn pages_both_ways(stranger: &Stranger, package: &str, endpoint: &PackageEndpoint) {
    let arguments = with(&stranger.arguments(package, endpoint, &[]), "per_page", json!(2));
    add_entries(&stranger.fixture, &endpoint.name, &arguments);
    let page = |arguments: &Value| value(stranger.call(package, endpoint, arguments));
    let there = follow(page(&arguments), "next", page);
    let last = there.last().expect("the first page at least");
    let back = follow(last.clone(), "previous", page);
    let entries = |page: &Value| -> Vec<Value> {
        page["page"].as_array().expect("an array").iter().map(without_what_time_changes).collect()
    };
    let listed: Vec<Value> = there.iter().flat_map(entries).collect();
    let again: Vec<Value> = back.iter().rev().flat_map(entries).collect();
    assert!(listed.len() >= 3, "{} has several pages: {listed:?}", endpoint.name);
    let repeated = listed.iter().enumerate().find(|(at, entry)| listed[..*at].contains(entry));
    assert_eq!(repeated, None, "{} repeats nothing", endpoint.name);
    assert!(again.ends_with(&listed), "{}: {again:?} does not end with {listed:?}", endpoint.name);
}

/// Three entries of lists to which the walk adds fewer.
fn add_entries(fixture: &Fixture, list: &str, arguments: &Value) {
    let shop = &fixture.shop;
    let add = |endpoint: &str, body: Value| drop(shop.call(endpoint, &body).ok());
    for (number, card) in ["4242424242424242", "5555555555554444", "3566002020360505"].into_iter().enumerate() {
        match list {
            "list-refunds-by-payment" | "list-entries-by-payment" => {
                add("refund-payment", json!({ "payment_id": arguments["payment_id"], "amount": "1" }));
            }
            "list-acquirers" => {
                let account = json!({ "merchant_id": arguments["merchant_id"], "acquirer": "stripe", "name": "A",
                    "secret": "sk_test_EXAMPLE000000000000000000", "unchecked": true });
                fixture.server.admin("add-acquirer", &account).ok();
            }
            "list-metadata" => add("sync-metadata", json!({ "key": format!("walk-{number}"), "metadata": [number] })),
            "list-cards" => {
                let token = shop.token_of(card, "MULTIPLE");
                add("save-card", json!({ "token": token, "contact_id": arguments["contact_id"] }));
            }
            _ => {}
        }
    }
}

/// An entry without the members that the acquirer's answer or the time changes.
fn without_what_time_changes(entry: &Value) -> Value {
    let mut entry = entry.clone();
    if let Some(members) = entry.as_object_mut() {
        members.retain(|name, _| {
            !matches!(
                name.as_str(),
                "status"
                    | "acquirer_reference"
                    | "refunded_at"
                    | "refundable"
                    | "effective_at"
                    | "test_clock"
                    | "last_used_at"
            )
        });
    }
    entry
}

/// The pages from `first` on, each requested by the body in `member` of the page before.
fn follow(first: Value, member: &str, page: impl Fn(&Value) -> Value) -> Vec<Value> {
    let mut pages = vec![first];
    while let Some(body) = pages.last().map(|page| page[member].clone()).filter(|body| !body.is_null()) {
        pages.push(page(&body));
    }
    pages
}
