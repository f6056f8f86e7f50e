//! Chooses a caller's changes of metadata, keys, team and plan, and remembers the objects that they made.

use serde_json::{Value, json};

use crate::harness::TestDice;

use super::call_record::{CallEffect, LoadCall};
use super::metadata::{ExpectedRecord, RecordChange};
use super::object_kind::{INVITATION, KEY, USER};
use super::truth::id_in;

/// Records that all callers of a merchant add to.
const SHARED: [&str; 3] = ["shared-0", "shared-1", "shared-2"];
/// The path of the set in a shared record.
const PATH: &str = "a.tags";
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
    /// Its own record.
    own: Option<ExpectedRecord>,
    keys: Vec<String>,
    invitations: Vec<String>,
    users: Vec<String>,
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
            invitations: Vec::new(),
            users: Vec::new(),
            keys_made: 0,
            people_asked: 0,
        }
    }

    /// The next change, without an Idempotency-Key.
    pub(super) fn next(&mut self, dice: &mut TestDice) -> LoadCall {
        self.number += 1;
        match dice.between(0, 100) {
            0..24 => None,
            24..30 => self.add_again(),
            30..36 => self.remove_from_shared(dice),
            36..58 => Some(self.change_own(dice)),
            58..72 => self.change_keys(dice),
            72..92 => self.change_team(dice),
            _ => self.select_plan(dice),
        }
        .unwrap_or_else(|| self.add_to_shared(dice))
    }

    fn fresh(&self, kind: &str) -> String {
        format!("{kind}-{}-{}", self.name, self.number)
    }

    fn own_record(&self) -> String {
        format!("own-{}", self.name)
    }

    fn add_to_shared(&self, dice: &mut TestDice) -> LoadCall {
        let item = self.fresh("item");
        in_shared("/merchants/add-to-metadata-set", dice.pick(&SHARED), &item, RecordChange::Added(item.clone()))
    }

    fn add_again(&self) -> Option<LoadCall> {
        let (record, item) = self.shared.last()?;
        Some(in_shared("/merchants/add-to-metadata-set", record, item, RecordChange::AddedAgain))
    }

    fn remove_from_shared(&self, dice: &mut TestDice) -> Option<LoadCall> {
        let (record, item) = self.shared.get(dice.index(self.shared.len().max(1)))?;
        Some(in_shared("/merchants/remove-from-metadata-set", record, item, RecordChange::Removed(item.clone())))
    }

    /// Only this caller changes its own record, so that its version is known; half of the calls name it.
    fn change_own(&self, dice: &mut TestDice) -> LoadCall {
        let record = self.own_record();
        let version = self.own.as_ref().map_or(0, |own| own.version);
        let named = dice.in_hundred(50).then_some(version);
        let item = self.fresh("item");
        let (path, body, change) = match (&self.own, dice.between(0, 100)) {
            (Some(_), 0..10) => {
                ("/merchants/delete-metadata", json!({ "key": record, "version": named }), RecordChange::Deleted)
            }
            (_, 10..35) => {
                let items = items_to_replace_with(&item, dice);
                let body = json!({ "key": record, "metadata": items, "version": version, "ttl": TTL });
                ("/merchants/sync-metadata", body, RecordChange::Replaced(items))
            }
            (Some(own), 35..50) if !own.items.is_empty() => {
                let item = own.items.iter().nth(dice.index(own.items.len())).expect("an index of an item").clone();
                let body = json!({ "key": record, "value": item, "version": named });
                ("/merchants/remove-from-metadata-set", body, RecordChange::Removed(item))
            }
            _ => {
                let body = json!({ "key": record, "value": item, "version": named, "ttl": TTL });
                ("/merchants/add-to-metadata-set", body, RecordChange::Added(item))
            }
        };
        LoadCall::new(path, body, CallEffect::Record(record, change))
    }

    fn change_keys(&self, dice: &mut TestDice) -> Option<LoadCall> {
        let named = json!({ "name": self.fresh("key") });
        if self.keys.is_empty() || (dice.in_hundred(40) && self.keys_made < EACH_MAX) {
            let generated = LoadCall::new("/merchants/generate-key", named, CallEffect::Creates(&KEY));
            return (self.keys_made < EACH_MAX).then_some(generated);
        }
        let key_id = self.keys[dice.index(self.keys.len())].clone();
        if dice.in_hundred(60) {
            let body = json!({ "key_id": key_id, "name": named["name"] });
            return Some(LoadCall::new("/merchants/update-key", body, CallEffect::Changes(&KEY, key_id, named)));
        }
        let revoked = CallEffect::Changes(&KEY, key_id.clone(), json!({ "revoked_at": true }));
        Some(LoadCall::new("/merchants/revoke-key", json!({ "key_id": key_id }), revoked))
    }

    fn change_team(&self, dice: &mut TestDice) -> Option<LoadCall> {
        if let Some(user) = self.users.last().filter(|_| dice.in_hundred(70)) {
            let removed = CallEffect::Removes(user.clone());
            return Some(LoadCall::new("/merchants/remove-user", json!({ "user_id": user }), removed));
        }
        if let Some(invitation) = self.invitations.last().filter(|_| dice.in_hundred(80)) {
            let body = json!({ "invitation_id": invitation });
            return Some(LoadCall::new("/merchants/accept-invitation", body, CallEffect::Creates(&USER)));
        }
        let body = json!({ "email": format!("{}@crash.example", self.fresh("user")) });
        let invited = LoadCall::new("/merchants/invite-user", body, CallEffect::Creates(&INVITATION));
        (self.people_asked < EACH_MAX).then_some(invited)
    }

    fn select_plan(&self, dice: &mut TestDice) -> Option<LoadCall> {
        let plan_id = self.plans.get(dice.index(self.plans.len().max(1)))?.clone();
        Some(LoadCall::new("/merchants/select-plan", json!({ "plan_id": plan_id }), CallEffect::SelectsPlan(plan_id)))
    }

    /// Remembers the object that an acknowledged change has made.
    pub(super) fn remember(&mut self, call: &LoadCall, answer: &Value) {
        match &call.effect {
            CallEffect::Record(record, change) if *record == self.own_record() => {
                self.own = ExpectedRecord::apply(self.own.take(), change);
            }
            CallEffect::Record(record, RecordChange::Added(item)) => self.shared.push((record.clone(), item.clone())),
            CallEffect::Record(_, RecordChange::Removed(item)) => self.shared.retain(|(_, known)| known != item),
            CallEffect::Creates(kind) if kind.id == KEY.id => {
                self.keys_made += 1;
                self.keys.push(id_in(kind, answer));
            }
            CallEffect::Creates(kind) if kind.id == INVITATION.id => {
                self.people_asked += 1;
                self.invitations.push(id_in(kind, answer));
            }
            CallEffect::Creates(kind) => {
                self.invitations.pop();
                self.users.push(id_in(kind, answer));
            }
            CallEffect::Changes(_, key_id, attributes) if !attributes["revoked_at"].is_null() => {
                self.keys.retain(|known| known != key_id);
            }
            CallEffect::Removes(user) => self.users.retain(|known| known != user),
            _ => {}
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

/// A change of an item of a shared record.
fn in_shared(path: &'static str, record: &str, item: &str, change: RecordChange) -> LoadCall {
    let body = json!({ "key": record, "path": PATH, "value": item });
    LoadCall::new(path, body, CallEffect::Record(record.to_owned(), change))
}
