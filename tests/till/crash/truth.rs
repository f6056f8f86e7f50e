//! The expected state of each merchant, from acknowledged calls and repeated ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::harness::Shop;

use super::call_record::{CallEffect, LoadCall};
use super::metadata::{ExpectedRecord, RecordChange};
use super::object_kind::{KEY, ObjectKind, PAYMENT};
use super::shown::Shown;

/// The known attributes of objects, by their ids.
pub(super) type KnownObjects = BTreeMap<String, Map<String, Value>>;

/// The expected state of one merchant.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// The objects that are known, by the attribute with their id.
    objects: BTreeMap<&'static str, KnownObjects>,
    /// The ids of objects that calls have made.
    created: BTreeSet<String>,
    /// The ids of objects that are listed no more.
    pub(super) removed: BTreeSet<String>,
    /// The identifiers that no object of a kind has, with the attribute with the id of such an object.
    pub(super) absent: BTreeSet<(&'static str, String)>,
    /// The number of times that a call of a path was done for an object, also where the acquirer has refused it.
    done: BTreeMap<(&'static str, String), usize>,
    /// The types and objects of activities that calls have caused.
    pub(super) activities: BTreeSet<(&'static str, String)>,
    /// The merchant's own identifiers of the customers of payments.
    pub(super) customers: BTreeMap<String, Option<String>>,
    /// The texts of keys, where the answer was not lost.
    pub(super) key_texts: BTreeMap<String, String>,
    pub(super) records: BTreeMap<String, ExpectedRecord>,
    /// The plan that was selected last.
    pub(super) plan_id: Option<String>,
    /// The lists at the last check.
    pub(super) shown: Shown,
}

impl Truth {
    /// The state of a new merchant, which has one key.
    pub(super) fn begin(shop: &Shop) -> Truth {
        let mut truth = Truth::default();
        truth.create(&KEY, &shop.key_id, Map::new());
        truth
    }

    /// Records that a call was done once, with this answer. Objects are recorded before their changes, and changes of
    /// one caller in their order.
    pub(super) fn note(&mut self, call: &LoadCall, answer: &Value) {
        match &call.effect {
            CallEffect::Creates(kind) => {
                let id = id_in(kind, answer);
                self.create(kind, &id, call.shown_arguments());
                if kind.id == PAYMENT.id {
                    self.customers.insert(id.clone(), call.text("customer_id").map(str::to_owned));
                }
                let text = answer["key"].as_str().map(|text| (id.clone(), text.to_owned()));
                self.key_texts.extend(text);
                self.note_done(call, &id);
            }
            CallEffect::Changes(kind, id, attributes) => {
                let times = self.note_done(call, id);
                assert!(times == 1 || kind.id == KEY.id, "it was done twice: {call:?}");
                self.change(kind, id, attributes.as_object().expect("attributes"));
            }
            CallEffect::RefusedCapture(id) => *self.done.entry((call.path, id.clone())).or_default() += 1,
            CallEffect::Removes(id) => {
                assert!(self.removed.insert(id.clone()), "{id} was removed twice");
            }
            CallEffect::Record(name, change) => {
                let is_same = matches!(change, RecordChange::AddedAgain);
                assert!(!is_same || *answer == false, "an item that is there is not added: {call:?}");
                let after = ExpectedRecord::apply(self.records.remove(name), change);
                self.records.extend(after.map(|record| (name.clone(), record)));
            }
            CallEffect::SelectsPlan(plan_id) => self.plan_id = Some(plan_id.clone()),
            CallEffect::Refused(..) => panic!("it must be refused: {call:?}"),
        }
    }

    /// Records that a call was not done: its external id is free.
    pub(super) fn note_not_done(&mut self, call: &LoadCall) {
        let name = match &call.effect {
            CallEffect::Creates(kind) if kind.has_external_id() => call.text("external_id").map(|name| (kind.id, name)),
            CallEffect::Refused(_, name) => Some((PAYMENT.id, name.as_str())),
            _ => None,
        };
        self.absent.extend(name.map(|(id, name)| (id, name.to_owned())));
    }

    fn create(&mut self, kind: &ObjectKind, id: &str, attributes: Map<String, Value>) {
        assert!(self.created.insert(id.to_owned()), "{id} was answered to two calls");
        self.change(kind, id, &attributes);
    }

    fn change(&mut self, kind: &ObjectKind, id: &str, attributes: &Map<String, Value>) {
        let known = self.objects.entry(kind.id).or_default().entry(id.to_owned()).or_default();
        for (name, value) in attributes {
            let before = known.insert(name.clone(), value.clone());
            let fits = kind.id == KEY.id || before.is_none() || before.as_ref() == Some(value);
            assert!(fits, "{name} of {id} is {value}, and was acknowledged as {before:?}");
        }
    }

    fn note_done(&mut self, call: &LoadCall, id: &str) -> usize {
        self.activities.extend(activity_of(call.path).map(|activity| (activity, id.to_owned())));
        let times = self.done.entry((call.path, id.to_owned())).or_default();
        *times += 1;
        *times
    }

    /// The known objects of a kind.
    pub(super) fn objects(&self, kind: &ObjectKind) -> impl Iterator<Item = (&String, &Map<String, Value>)> {
        self.objects.get(kind.id).into_iter().flatten()
    }

    /// True when a call has made the object.
    pub(super) fn has_made(&self, id: &str) -> bool {
        self.created.contains(id)
    }

    /// The number of times that a call of a path was done for an object.
    pub(super) fn times_done(&self, path: &'static str, id: &str) -> usize {
        self.done.get(&(path, id.to_owned())).copied().unwrap_or_default()
    }

    /// The number of calls that were done, by their paths.
    pub(super) fn add_counts(&self, counts: &mut BTreeMap<&'static str, usize>) {
        for ((path, _), times) in &self.done {
            *counts.entry(path).or_default() += times;
        }
    }
}

/// The type of the activity that a call causes once for its object.
fn activity_of(path: &str) -> Option<&'static str> {
    match path {
        "/merchants/capture-payment" => Some("PAYMENT_CAPTURED"),
        "/merchants/void-payment" => Some("PAYMENT_VOIDED"),
        "/merchants/reverse-payment" => Some("PAYMENT_REVERSED"),
        "/merchants/refund-payment" => Some("REFUND_CREATED"),
        "/merchants/send-payout" => Some("PAYOUT_CREATED"),
        "/merchants/challenge-dispute" => Some("DISPUTE_CHALLENGED"),
        "/merchants/concede-dispute" => Some("DISPUTE_CONCEDED"),
        "/admin/escalate-dispute" => Some("DISPUTE_ESCALATED"),
        _ => None,
    }
}

/// The id of an object in the answer of the call that made it.
pub(super) fn id_in(kind: &ObjectKind, answer: &Value) -> String {
    let id = answer.as_str().or_else(|| answer[kind.id].as_str());
    id.unwrap_or_else(|| panic!("no {} in {answer}", kind.id)).to_owned()
}
