//! The sections of the guide against the declarations of the program.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::guide::{Guide, Section};
use crate::harness::{Client, Server};

/// Every endpoint of the package documents, by its path.
fn declared() -> BTreeMap<String, Value> {
    let server = Server::start();
    let mut endpoints = BTreeMap::new();
    for (base, package) in
        [(server.public(), "/merchants"), (server.public(), "/sdk"), (server.admin_address(), "/admin")]
    {
        let document = Client::new(base).get(package).ok();
        for endpoint in document["endpoints"].as_array().expect("an array") {
            let name = endpoint["name"].as_str().expect("a name");
            endpoints.insert(format!("{package}/{name}"), endpoint.clone());
        }
    }
    endpoints
}

/// The sections that describe an endpoint, by its path, in the guide's order.
fn sections(guide: &Guide) -> Vec<(&str, &Section)> {
    guide.sections.iter().filter_map(|section| Some((section.endpoint.as_deref()?, section))).collect()
}

fn names(list: &Value, name: &str) -> Vec<String> {
    let items = list.as_array().unwrap_or_else(|| panic!("an array: {list}"));
    items.iter().map(|item| item[name].as_str().expect("a string").to_owned()).collect()
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}

#[test]
fn every_endpoint_has_one_section_with_an_example() {
    let guide = Guide::read();
    let paths: Vec<String> = sections(&guide).iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(sorted(paths), declared().into_keys().collect::<Vec<_>>());
    for (path, section) in sections(&guide) {
        assert_eq!(section.examples.first().map(|example| example.path.as_str()), Some(path), "its first example");
        assert!(section.examples.iter().all(|example| example.path == path), "{path}: no other endpoint's example");
        assert!(section.introduction().ends_with(".\n"), "{path} says what it is for");
    }
}

#[test]
fn each_section_names_the_declared_arguments_and_errors() {
    let (guide, declared) = (Guide::read(), declared());
    for (path, section) in sections(&guide) {
        let endpoint = &declared[path];
        let (required, optional) = section.takes();
        let arguments = endpoint["arguments"].as_array().expect("an array");
        let of = |is_required: bool| -> Value {
            arguments.iter().filter(|argument| argument["required"] == is_required).cloned().collect()
        };
        assert_eq!((required, optional), (names(&of(true), "name"), names(&of(false), "name")), "{path}");
        assert_eq!(sorted(section.codes()), sorted(names(&endpoint["errors"], "code")), "{path}");
    }
}

#[test]
fn the_calls_of_the_specification_come_first_and_operators_last() {
    let guide = Guide::read();
    let paths: Vec<&str> = sections(&guide).into_iter().map(|(path, _)| path).collect();
    let four = ["initiate-payment-flow", "add-to-metadata-set", "list-activity-logs", "balance-history"];
    assert_eq!(paths[..4], four.map(|name| format!("/merchants/{name}")));
    let packages: Vec<&str> = paths.iter().filter_map(|path| path.split('/').nth(1)).collect();
    let mut groups = packages.clone();
    groups.dedup();
    assert_eq!(groups, ["merchants", "sdk", "admin"]);
    assert_eq!(groups.len(), packages.iter().collect::<BTreeSet<_>>().len());
}
