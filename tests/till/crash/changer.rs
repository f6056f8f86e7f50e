//! Chooses a caller's changes of metadata, keys, team and plan, and remembers the objects that they made.

use serde_json::{Value, json};

use crate::harness::TestDice;

use super::change::{Change, Meaning};

/// Records that all callers of a merchant add to.
const SHARED: [&str; 3] = ["shared-0", "shared-1", "shared-2"];
/// The path of the set in a shared record.
pub(super) const PATH: &str = "a.tags";
/// The most keys of one caller, and people whom it invites: a merchant may have 1,000 of either.
const EACH_MAX: usize = 8;
/// The lifetime of a record, in seconds, where a call sets it: longer than any round.
const TTL: u64 = 86_400;

/// The objects that a caller has made so far.
pub(super) struct Changer {
    /// The prefix of its names, which no other caller has.
    name: String,
    number: u64,
    /// The plans to choose from, if this caller selects plans.
    plans: Vec<String>,
    /// Its items in shared records.
    shared: Vec<(String, String)>,
    /// Its own record: items and version.
    own: Option<(Vec<String>, u64)>,
    keys: Vec<String>,
    invited: Vec<(String, String)>,
    joined: Vec<(String, String)>,
    keys_made: usize,
    people_asked: usize,
}

impl Changer {
    pub(super) fn new(name: &str, plans: Vec<String>) -> Changer {
        Changer {
            name: name.to_owned(),
            number: 0,
            plans,
            shared: Vec::new(),
            own: None,
            keys: Vec::new(),
            invited: Vec::new(),
            joined: Vec::new(),
            keys_made: 0,
            people_asked: 0,
        }
    }

    /// The next change, without an Idempotency-Key.
    pub(super) fn next(&mut self, dice: &mut TestDice) -> Change {
        self.number += 1;
        match dice.between(0, 100) {
            0..24 => self.add_to_shared(dice),
            24..30 => self.add_again(),
            30..36 => self.remove_from_shared(dice),
            36..58 => self.change_own(dice),
            58..72 => self.change_keys(dice),
            72..92 => self.change_team(dice),
            _ => self.select_plan(dice),
        }
        .unwrap_or_else(|| self.added_to(dice.pick(&SHARED)))
    }

    fn fresh(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", self.name, self.number)
    }

    fn own_record(&self) -> String {
        format!("own-{}", self.name)
    }

    fn added_to(&self, record: &str) -> Change {
        let item = self.fresh("item");
        let body = json!({ "key": record, "path": PATH, "value": item });
        change("add-to-metadata-set", body, Meaning::ItemAdded { record: record.to_owned(), item })
    }

    fn add_to_shared(&self, dice: &mut TestDice) -> Option<Change> {
        Some(self.added_to(dice.pick(&SHARED)))
    }

    fn add_again(&self) -> Option<Change> {
        let (record, item) = self.shared.last()?;
        let body = json!({ "key": record, "path": PATH, "value": item });
        Some(change("add-to-metadata-set", body, Meaning::Nothing))
    }

    fn remove_from_shared(&self, dice: &mut TestDice) -> Option<Change> {
        let (record, item) = self.shared.get(dice.index(self.shared.len().max(1)))?.clone();
        let body = json!({ "key": record, "path": PATH, "value": item });
        Some(change("remove-from-metadata-set", body, Meaning::ItemRemoved { record, item }))
    }

    /// Only this caller changes its own record, so that its version is known; half of the calls name it.
    fn change_own(&self, dice: &mut TestDice) -> Option<Change> {
        let record = self.own_record();
        let version = self.own.as_ref().map_or(0, |(_, version)| *version);
        let named = json!(version).as_u64().filter(|_| dice.in_hundred(50));
        let (items, choice) = (self.own.as_ref().map(|(items, _)| items), dice.between(0, 100));
        let item = self.fresh("item");
        Some(match (items, choice) {
            (Some(_), 0..10) => {
                let body = json!({ "key": record, "version": named });
                change("delete-metadata", body, Meaning::RecordDeleted { record })
            }
            (_, 10..35) => {
                let items = items_to_replace_with(&item, dice);
                let body = json!({ "key": record, "metadata": items, "version": version, "ttl": TTL });
                change("sync-metadata", body, Meaning::RecordReplaced { record, items })
            }
            (Some(items), 35..50) if !items.is_empty() => {
                let item = items[dice.index(items.len())].clone();
                let body = json!({ "key": record, "value": item, "version": named });
                change("remove-from-metadata-set", body, Meaning::ItemRemoved { record, item })
            }
            _ => {
                let body = json!({ "key": record, "value": item, "version": named, "ttl": TTL });
                change("add-to-metadata-set", body, Meaning::ItemAdded { record, item })
            }
        })
    }

    fn change_keys(&self, dice: &mut TestDice) -> Option<Change> {
        let name = self.fresh("key");
        if self.keys.is_empty() || (dice.in_hundred(40) && self.keys_made < EACH_MAX) {
            let generated = change("generate-key", json!({ "name": name }), Meaning::KeyGenerated { name });
            return (self.keys_made < EACH_MAX).then_some(generated);
        }
        let key_id = self.keys[dice.index(self.keys.len())].clone();
        if dice.in_hundred(60) {
            let body = json!({ "key_id": key_id, "name": name });
            return Some(change("update-key", body, Meaning::KeyRenamed { key_id, name }));
        }
        Some(change("revoke-key", json!({ "key_id": key_id }), Meaning::KeyRevoked { key_id }))
    }

    fn change_team(&self, dice: &mut TestDice) -> Option<Change> {
        if let Some((email, user)) = self.joined.last().filter(|_| dice.in_hundred(70)).cloned() {
            let body = json!({ "user_id": user });
            return Some(change("remove-user", body, Meaning::UserRemoved { email }));
        }
        if let Some((email, invitation)) = self.invited.last().filter(|_| dice.in_hundred(80)).cloned() {
            let body = json!({ "invitation_id": invitation });
            return Some(change("accept-invitation", body, Meaning::InvitationAccepted { email }));
        }
        let email = format!("{}@crash.example", self.fresh("user"));
        let invited = change("invite-user", json!({ "email": email }), Meaning::UserInvited { email });
        (self.people_asked < EACH_MAX).then_some(invited)
    }

    fn select_plan(&self, dice: &mut TestDice) -> Option<Change> {
        let plan_id = self.plans.get(dice.index(self.plans.len().max(1)))?.clone();
        Some(change("select-plan", json!({ "plan_id": plan_id }), Meaning::PlanSelected { plan_id }))
    }

    /// Remembers the object that an acknowledged change has made.
    pub(super) fn remember(&mut self, meaning: &Meaning, answered: &str) {
        let own = self.own_record();
        match meaning {
            Meaning::ItemAdded { record, item } if *record == own => {
                let (items, version) = self.own.get_or_insert_default();
                items.push(item.clone());
                *version += 1;
            }
            Meaning::ItemAdded { record, item } => self.shared.push((record.clone(), item.clone())),
            Meaning::ItemRemoved { record, item } if *record == own => {
                let (items, version) = self.own.get_or_insert_default();
                items.retain(|known| known != item);
                *version += 1;
            }
            Meaning::ItemRemoved { item, .. } => self.shared.retain(|(_, known)| known != item),
            Meaning::RecordReplaced { items, .. } => {
                let before = self.own.as_ref().map_or(0, |(_, version)| *version);
                self.own = Some((items.clone(), before + 1));
            }
            Meaning::RecordDeleted { .. } => self.own = None,
            Meaning::Nothing | Meaning::KeyRenamed { .. } | Meaning::PlanSelected { .. } => {}
            Meaning::KeyGenerated { .. } => {
                self.keys_made += 1;
                self.keys.push(member(answered, "key_id"));
            }
            Meaning::KeyRevoked { key_id } => self.keys.retain(|known| known != key_id),
            Meaning::UserInvited { email } => {
                self.people_asked += 1;
                self.invited.push((email.clone(), answered.to_owned()));
            }
            Meaning::InvitationAccepted { email } => {
                self.invited.retain(|(known, _)| known != email);
                self.joined.push((email.clone(), answered.to_owned()));
            }
            Meaning::UserRemoved { email } => self.joined.retain(|(known, _)| known != email),
        }
    }
}

/// Items of a new value: sometimes so many that the record in the log is longer than a block of RocksDB's, 32 KiB.
fn items_to_replace_with(item: &str, dice: &mut TestDice) -> Vec<String> {
    if dice.in_hundred(20) {
        let padding = "x".repeat(1_000);
        return (0..dice.between(30, 120)).map(|number| format!("{item}-{number}-{padding}")).collect();
    }
    (0..dice.between(0, 4)).map(|number| format!("{item}-{number}")).collect()
}

/// A change whose body has no members that are null.
fn change(endpoint: &'static str, body: Value, meaning: Meaning) -> Change {
    Change { endpoint, body, key: None, meaning }
}

/// A member of an object that was answered as text.
pub(super) fn member(answered: &str, name: &str) -> String {
    let object: Value = serde_json::from_str(answered).unwrap_or_else(|error| panic!("{error}: {answered}"));
    object[name].as_str().unwrap_or_else(|| panic!("no {name} in {answered}")).to_owned()
}
