//! The expected state of a merchant's metadata, keys, team and plan.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::change::Meaning;
use super::changer::member;

/// The answer of a plan selection that was done before, or was not needed.
pub(super) const DONE_OR_NEEDLESS: &str = "done or needless";

/// A record of metadata.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ExpectedRecord {
    pub(super) items: BTreeSet<String>,
    /// The version, which grows by one with every change.
    pub(super) version: u64,
}

/// An API key.
#[derive(Debug)]
pub(super) struct ExpectedKey {
    pub(super) name: String,
    /// Its text, unless the answer that showed it was lost.
    pub(super) text: Option<String>,
    pub(super) is_revoked: bool,
}

/// A person who was invited.
#[derive(Debug)]
pub(super) struct Person {
    pub(super) invitation: String,
    pub(super) user: Option<String>,
    pub(super) is_removed: bool,
}

/// The expected state of all of these.
#[derive(Debug, Default)]
pub(super) struct Affairs {
    pub(super) records: BTreeMap<String, ExpectedRecord>,
    /// The keys by uid.
    pub(super) keys: BTreeMap<String, ExpectedKey>,
    /// The people by address.
    pub(super) people: BTreeMap<String, Person>,
    /// The first plan, and all later ones, in order.
    pub(super) plans: Vec<String>,
}

impl Affairs {
    /// The state of a merchant that has only a plan.
    pub(super) fn beginning_with(plan_id: String) -> Affairs {
        Affairs { plans: vec![plan_id], ..Affairs::default() }
    }

    /// Applies a change that has taken effect, with its answer. Changes of one caller come in their order.
    pub(super) fn note(&mut self, meaning: &Meaning, answered: &str) {
        match meaning {
            Meaning::ItemAdded { .. }
            | Meaning::ItemRemoved { .. }
            | Meaning::RecordReplaced { .. }
            | Meaning::RecordDeleted { .. } => self.note_record(meaning, answered),
            Meaning::Nothing => assert_eq!(answered, "false", "an item that is there is not added"),
            Meaning::KeyGenerated { .. } | Meaning::KeyRenamed { .. } | Meaning::KeyRevoked { .. } => {
                self.note_key(meaning, answered);
            }
            Meaning::UserInvited { .. } | Meaning::InvitationAccepted { .. } | Meaning::UserRemoved { .. } => {
                self.note_person(meaning, answered);
            }
            Meaning::PlanSelected { plan_id } => self.note_plan(plan_id, answered),
        }
    }

    fn note_record(&mut self, meaning: &Meaning, answered: &str) {
        let (Meaning::ItemAdded { record: name, .. }
        | Meaning::ItemRemoved { record: name, .. }
        | Meaning::RecordReplaced { record: name, .. }
        | Meaning::RecordDeleted { record: name }) = meaning
        else {
            panic!("{meaning:?} is no change of a record");
        };
        let record = self.records.entry(name.clone()).or_default();
        record.version += 1;
        let is_expected = match meaning {
            Meaning::ItemAdded { item, .. } => record.items.insert(item.clone()) && answered == "true",
            Meaning::ItemRemoved { item, .. } => record.items.remove(item) && answered == "true",
            Meaning::RecordReplaced { items, .. } => {
                record.items = items.iter().cloned().collect();
                answered.contains(&format!("\"version\":{}", record.version))
            }
            _ => {
                self.records.remove(name);
                answered == "true"
            }
        };
        assert!(is_expected, "{meaning:?} was answered {answered}: {:?}", self.records.get(name));
    }

    fn note_key(&mut self, meaning: &Meaning, answered: &str) {
        match meaning {
            Meaning::KeyGenerated { name } => {
                let object: Value = serde_json::from_str(answered).expect("a key is told as an object");
                let text = object["key"].as_str().map(str::to_owned);
                let key = ExpectedKey { name: name.clone(), text, is_revoked: false };
                let before = self.keys.insert(member(answered, "key_id"), key);
                assert!(before.is_none(), "{answered} was answered to two calls: {before:?}");
            }
            Meaning::KeyRenamed { key_id, name } => self.key(key_id).name.clone_from(name),
            Meaning::KeyRevoked { key_id } => self.key(key_id).is_revoked = true,
            _ => panic!("{meaning:?} is no change of a key"),
        }
    }

    fn key(&mut self, key_id: &str) -> &mut ExpectedKey {
        self.keys.get_mut(key_id).unwrap_or_else(|| panic!("{key_id} was generated before"))
    }

    fn note_person(&mut self, meaning: &Meaning, answered: &str) {
        match meaning {
            Meaning::UserInvited { email } => {
                let person = Person { invitation: answered.to_owned(), user: None, is_removed: false };
                assert!(self.people.insert(email.clone(), person).is_none(), "{email} is invited once");
            }
            Meaning::InvitationAccepted { email } => self.person(email).user = Some(answered.to_owned()),
            Meaning::UserRemoved { email } => self.person(email).is_removed = true,
            _ => panic!("{meaning:?} is no change of the team"),
        }
    }

    fn person(&mut self, email: &str) -> &mut Person {
        self.people.get_mut(email).unwrap_or_else(|| panic!("{email} was invited before"))
    }

    fn note_plan(&mut self, plan_id: &str, answered: &str) {
        let is_other = self.plans.last().is_none_or(|last| last != plan_id);
        if is_other && answered != "false" {
            self.plans.push(plan_id.to_owned());
        }
        let fits = answered == DONE_OR_NEEDLESS || is_other == (answered == "true");
        assert!(fits, "{plan_id} after {:?} was answered {answered}", self.plans);
    }

    /// The activity that the team has caused: type and address, sorted.
    pub(super) fn team_activity(&self) -> Vec<(String, String)> {
        let of = |kind: &str, email: &String| (kind.to_owned(), email.clone());
        let mut activity: Vec<(String, String)> = Vec::new();
        for (email, person) in &self.people {
            activity.push(of("USER_INVITED", email));
            activity.extend(person.user.as_ref().map(|_| of("INVITATION_ACCEPTED", email)));
            activity.extend(person.is_removed.then(|| of("USER_REMOVED", email)));
        }
        activity.sort();
        activity
    }
}
