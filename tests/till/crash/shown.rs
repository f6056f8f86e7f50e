//! The lists that a server shows of a merchant. A restart takes nothing of them away and sets nothing back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::harness::Shop;

use super::inspection::eventually;
use super::object_kind::{DISPUTE, ENTRY, LISTED, ObjectKind};

/// The evidence with which the acquirer decides for the merchant, and for the customer.
pub(super) const WINNING: &str = "winning_evidence";
pub(super) const LOSING: &str = "losing_evidence";

/// The statuses that nothing follows.
const FINAL: &str = "FAILED VOIDED EXPIRED REFUNDED REVERSED WON LOST CONCEDED ACCEPTED EFFECTIVE CANCELED";

/// The lists of a merchant, by their endpoints.
#[derive(Debug, Default)]
pub(super) struct Shown(BTreeMap<&'static str, Vec<Value>>);

impl Shown {
    /// Reads all lists, once the acquirer has answered every call for what is in them.
    pub(super) fn read(shop: &Shop) -> Shown {
        let read_list = |kind: &ObjectKind| {
            let end = format!("an end of everything in {}", kind.list);
            eventually(&end, || shop.all(kind.list), |objects| !objects.iter().any(is_on_its_way))
        };
        Shown(LISTED.into_iter().map(|kind| (kind.list, read_list(kind))).collect())
    }

    /// Reads them, once no entry is on hold any more except those of open disputes: of a merchant whose captures settle
    /// soon.
    pub(super) fn read_settled(shop: &Shop) -> Shown {
        let mut shown = Shown::read(shop);
        let open = shown.objects(&DISPUTE).filter(|dispute| dispute["closed_at"].is_null());
        let open: BTreeSet<&str> = open.map(|dispute| text(dispute, DISPUTE.id)).collect();
        let is_of_open = |entry: &Value| entry["dispute_id"].as_str().is_some_and(|id| open.contains(id));
        let is_due = |entry: &Value| entry["status"] == "ON_HOLD" && !is_of_open(entry);
        let list = || shop.all(ENTRY.list);
        let entries = eventually("the settlement of what is due", list, |entries| !entries.iter().any(is_due));
        shown.0.insert(ENTRY.list, entries);
        shown
    }

    /// The objects of a kind.
    pub(super) fn objects<'a>(&'a self, kind: &'static ObjectKind) -> impl Iterator<Item = &'a Value> {
        self.0.get(kind.list).into_iter().flatten().filter(|entry| !entry[kind.id].is_null())
    }

    /// Checks that the lists have each object once, newest first, and all that they had `before`, except what was
    /// removed since.
    pub(super) fn check_follows(&self, before: &Shown, removed: &BTreeSet<String>) {
        for kind in LISTED {
            let ids: Vec<&str> = self.objects(kind).map(|object| text(object, kind.id)).collect();
            assert!(ids.windows(2).all(|pair| pair[0] > pair[1]), "{} is newest first, each once", kind.list);
            let now: BTreeMap<&str, &Value> = ids.into_iter().zip(self.objects(kind)).collect();
            for object in before.objects(kind).filter(|object| !removed.contains(text(object, kind.id))) {
                let found = now.get(text(object, kind.id)).unwrap_or_else(|| panic!("lost: {object}"));
                check_object_follows(kind, object, found);
            }
        }
    }
}

/// An attribute keeps its value, unless it may change: an empty one may get a value, an amount may grow.
fn check_object_follows(kind: &ObjectKind, before: &Value, now: &Value) {
    for (name, value) in before.as_object().expect("an object") {
        let is_final = name == "status" && FINAL.split(' ').any(|status| *value == status);
        let may_follow = *value == now[name]
            || value.is_null()
            || *value == json!([])
            || (name.starts_with("amount_") && value.as_u64() < now[name].as_u64())
            || (kind.changing.contains(&name.as_str()) && !is_final);
        assert!(may_follow, "{name} was {value}: {before}, and now {now}");
    }
}

/// True while the acquirer has not answered a call for the object.
fn is_on_its_way(object: &Value) -> bool {
    let is_pending = object["status"] == "PENDING" && object["invitation_id"].is_null();
    let is_decisive = object["evidence"] == WINNING || object["evidence"] == LOSING;
    is_pending || !object["operation"].is_null() || (is_decisive && object["closed_at"].is_null())
}

/// A text of an object.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_else(|| panic!("no {name} in {object}"))
}

/// An amount of an object.
pub(super) fn amount(object: &Value, name: &str) -> u64 {
    object[name].as_u64().unwrap_or_else(|| panic!("no {name} in {object}"))
}
