//! After a crash: a change that was not acknowledged is asked for again until it is known to be there once.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Shop};

use super::affairs::DONE_OR_NEEDLESS;
use super::call_record::answer_text;
use super::change::{Change, Meaning};
use super::reckoning::{assert_replays, is_replay};

/// The result of a repeated change.
pub(super) struct RepeatedChange {
    /// The answer; None when the change was not done and has no id.
    pub(super) answered: Option<String>,
    /// True when the first call had taken effect.
    pub(super) was_done: bool,
}

impl RepeatedChange {
    fn of(answered: impl Into<String>, was_done: bool) -> RepeatedChange {
        RepeatedChange { answered: Some(answered.into()), was_done }
    }
}

/// Asks for the change again.
pub(super) fn ask_again(shop: &Shop, change: &Change) -> RepeatedChange {
    if change.key.is_none() {
        return ask_again_without_key(shop, change);
    }
    let first = change.ask(&shop.client());
    assert_eq!(first.status, 200, "{change:?}: {}", first.body);
    let again = RepeatedChange::of(answer_text(&first.body), is_replay(&first));
    assert_replays(&change.ask(&shop.client()), &answer_text(&first.body));
    again
}

fn ask_again_without_key(shop: &Shop, change: &Change) -> RepeatedChange {
    let ask = || change.ask(&shop.client());
    match &change.meaning {
        Meaning::ItemAdded { .. } | Meaning::ItemRemoved { .. } | Meaning::RecordDeleted { .. } => {
            RepeatedChange::of("true", was_done_before(change, &ask()))
        }
        Meaning::RecordReplaced { record, .. } => {
            let was_done = was_done_before(change, &ask());
            RepeatedChange::of(answer_text(&shop.call("retrieve-metadata", &json!({ "key": record })).ok()), was_done)
        }
        Meaning::Nothing => RepeatedChange::of(answer_text(&ask().ok()), false),
        Meaning::KeyGenerated { name } => {
            let found = shop.all("list-keys").into_iter().find(|key| key["name"] == json!(name));
            RepeatedChange { was_done: found.is_some(), answered: found.map(|key| answer_text(&key)) }
        }
        Meaning::KeyRenamed { key_id, name } => {
            let was_done = key(shop, key_id)["name"] == json!(name);
            RepeatedChange::of(answer_text(&ask().ok()), was_done)
        }
        Meaning::KeyRevoked { key_id } => {
            let was_done = !key(shop, key_id)["revoked_at"].is_null();
            RepeatedChange::of(answer_text(&ask().ok()), was_done)
        }
        Meaning::UserInvited { .. } => id_or_conflict(&ask(), "invitation_id"),
        Meaning::InvitationAccepted { .. } => id_or_conflict(&ask(), "user_id"),
        Meaning::UserRemoved { .. } => {
            let answer = ask();
            if answer.status != 200 {
                answer.refused("NOT_FOUND");
            }
            RepeatedChange::of("true", answer.status != 200)
        }
        Meaning::PlanSelected { .. } => match answer_text(&ask().ok()).as_str() {
            "true" => RepeatedChange::of("true", false),
            _ => RepeatedChange::of(DONE_OR_NEEDLESS, false),
        },
    }
}

/// True when a change of a record had been done already: the answer is `false`, or the version that it names is old.
fn was_done_before(change: &Change, answer: &ApiAnswer) -> bool {
    if answer.status == 200 {
        return answer.body == false;
    }
    assert_eq!(answer.faults(), ["version_mismatch version"], "{change:?}");
    let named = change.body["version"].as_u64().expect("it names a version");
    let after = if matches!(change.meaning, Meaning::RecordDeleted { .. }) { 0 } else { named + 1 };
    assert_eq!(answer.details()[0]["current"], json!(after), "{change:?} is done once");
    true
}

fn key(shop: &Shop, key_id: &str) -> Value {
    shop.call("find-key", &json!({ "key_id": key_id })).ok()
}

/// The id in the answer, or in the refusal that names the existing object.
fn id_or_conflict(answer: &ApiAnswer, member: &str) -> RepeatedChange {
    if answer.status == 200 {
        return RepeatedChange::of(answer.clone().id(), false);
    }
    let details = answer.refused("CONFLICT");
    RepeatedChange::of(details[member].as_str().unwrap_or_else(|| panic!("no {member} in {details}")), true)
}
