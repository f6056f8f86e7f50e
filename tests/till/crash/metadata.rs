//! The expected state of a merchant's records of metadata.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::harness::{Server, Shop};

use super::inspection::{assert_same, in_parallel};

/// The change of a record. Items belong to one caller.
#[derive(Debug, Clone)]
pub(super) enum RecordChange {
    Added(String),
    /// An item that is there already is added again.
    AddedAgain,
    Removed(String),
    Replaced(Vec<String>),
    Deleted,
}

/// A record.
#[derive(Debug, Default, Clone)]
pub(super) struct ExpectedRecord {
    pub(super) items: BTreeSet<String>,
    /// The version, which grows by one with every change.
    pub(super) version: u64,
}

impl ExpectedRecord {
    /// The record after a change that was made once.
    pub(super) fn apply(before: Option<ExpectedRecord>, change: &RecordChange) -> Option<ExpectedRecord> {
        let mut record = before.unwrap_or_default();
        match change {
            RecordChange::AddedAgain => return Some(record),
            RecordChange::Deleted => return None,
            RecordChange::Added(item) => drop(record.items.insert(item.clone())),
            RecordChange::Removed(item) => drop(record.items.remove(item)),
            RecordChange::Replaced(items) => record.items = items.iter().cloned().collect(),
        }
        record.version += 1;
        Some(record)
    }
}

/// Checks that each record has each of its items once, and the version of its changes; and there is no other record.
pub(super) fn check(server: &Server, shop: &Shop, records: &BTreeMap<String, ExpectedRecord>) {
    let mut listed: Vec<String> = shop.all("list-metadata").iter().map(|record| text(&record["key"])).collect();
    listed.sort();
    assert_same("metadata", &listed, &records.keys().cloned().collect::<Vec<_>>());
    let records: Vec<(&String, &ExpectedRecord)> = records.iter().collect();
    in_parallel(&records, |records| {
        let shop = shop.on(server);
        for (name, record) in records {
            check_one(&shop.call("retrieve-metadata", &json!({ "key": name })).ok(), name, record);
        }
        Vec::<()>::new()
    });
}

fn check_one(found: &Value, name: &str, record: &ExpectedRecord) {
    let set = found["metadata"].pointer("/a/tags").unwrap_or(&found["metadata"]);
    let mut items: Vec<String> = set.as_array().expect("a set").iter().map(text).collect();
    items.sort();
    assert_same(&format!("items of {name}"), &items, &record.items.iter().cloned().collect::<Vec<_>>());
    assert_eq!(found["version"], json!(record.version), "the version of {name} counts its changes");
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}
