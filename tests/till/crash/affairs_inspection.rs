//! Compares the metadata, keys, team and plan that a server shows with the expected state.

use serde_json::{Value, json};

use crate::harness::{Server, Shop};

use super::affairs::{Affairs, ExpectedKey, ExpectedRecord};
use super::inspection::assert_same;
use super::merchants::LoadedMerchant;
use super::reckoning::in_parallel;

/// Checks everything of a merchant except its activity.
pub(super) fn inspect(server: &Server, merchant: &LoadedMerchant, affairs: &Affairs) {
    let shop = merchant.shop.on(server);
    check_records(server, merchant, affairs);
    check_keys(server, merchant, affairs);
    check_team(&shop, affairs);
    assert_eq!(shop.call("retrieve-current-plan", &json!({})).ok()["plan_id"], json!(affairs.plans.last()));
}

fn texts(list: &[Value], member: &str) -> Vec<String> {
    let mut texts: Vec<String> =
        list.iter().map(|entry| entry[member].as_str().expect("a string").to_owned()).collect();
    texts.sort();
    texts
}

/// Each record has each of its items once, and the version of its changes; and there is no other record.
fn check_records(server: &Server, merchant: &LoadedMerchant, affairs: &Affairs) {
    let expected: Vec<String> = affairs.records.keys().cloned().collect();
    let listed = merchant.shop.on(server).all("list-metadata");
    assert_same("metadata", &texts(&listed, "key"), &expected);
    let records: Vec<(&String, &ExpectedRecord)> = affairs.records.iter().collect();
    in_parallel(&records, |records| {
        let shop = merchant.shop.on(server);
        for (name, record) in records {
            check_record(&shop.call("retrieve-metadata", &json!({ "key": name })).ok(), name, record);
        }
        Vec::<()>::new()
    });
}

fn check_record(found: &Value, name: &str, record: &ExpectedRecord) {
    let set = found["metadata"].pointer("/a/tags").unwrap_or(&found["metadata"]);
    let mut items: Vec<String> =
        set.as_array().expect("a set").iter().map(|item| item.as_str().expect("a string").to_owned()).collect();
    items.sort();
    let expected: Vec<String> = record.items.iter().cloned().collect();
    assert_same(&format!("items of {name}"), &items, &expected);
    assert_eq!(found["version"], json!(record.version), "the version of {name} counts its changes");
}

/// Each key has its name, active or revoked, beside the one that the operator created for the merchant.
fn check_keys(server: &Server, merchant: &LoadedMerchant, affairs: &Affairs) {
    let shop = merchant.shop.on(server);
    let mut expected: Vec<String> = affairs.keys.keys().chain([&shop.key_id]).cloned().collect();
    expected.sort();
    let listed = shop.all("list-keys");
    assert_same("keys", &texts(&listed, "key_id"), &expected);
    for found in listed.iter().filter(|found| found["key_id"] != json!(shop.key_id)) {
        let key = &affairs.keys[found["key_id"].as_str().expect("a uid")];
        assert_eq!((&found["name"], found["revoked_at"].is_null()), (&json!(key.name), !key.is_revoked), "{found}");
    }
    let keys: Vec<(&String, &ExpectedKey)> = affairs.keys.iter().collect();
    in_parallel(&keys, |keys| {
        let client = server.client();
        for (key_id, key) in keys {
            let Some(text) = &key.text else { continue };
            let answer = client.clone().bearer(text).post("/merchants/find-key", &json!({ "key_id": key_id }));
            if key.is_revoked { drop(answer.refused("UNAUTHORIZED")) } else { drop(answer.ok()) }
        }
        Vec::<()>::new()
    });
}

/// Each person who was invited, joined or is still a member is listed once.
fn check_team(shop: &Shop, affairs: &Affairs) {
    let mut invited: Vec<String> = affairs.people.values().map(|person| person.invitation.clone()).collect();
    invited.sort();
    let invitations = shop.all("list-user-invitations");
    assert_same("invitations", &texts(&invitations, "invitation_id"), &invited);
    for invitation in &invitations {
        let person = &affairs.people[invitation["email"].as_str().expect("an address")];
        assert_eq!(invitation["user_id"], json!(person.user), "{invitation}");
    }
    let present = affairs.people.values().filter(|person| !person.is_removed);
    let mut users: Vec<String> = present.filter_map(|person| person.user.clone()).collect();
    users.sort();
    assert_same("users", &texts(&shop.all("list-users"), "user_id"), &users);
}

/// One activity for each change of the team, and one for each switch of the plan, each from the plan before.
pub(super) fn check_activity(activity: &[Value], affairs: &Affairs) {
    let is_switch = |entry: &&Value| entry["activity_type"] == "PLAN_SWITCHED";
    let text = |entry: &Value, member: &str| entry[member].as_str().unwrap_or_else(|| panic!("{entry}")).to_owned();
    let others = activity.iter().filter(|entry| !is_switch(entry));
    let mut team: Vec<(String, String)> =
        others.map(|entry| (text(entry, "activity_type"), text(entry, "user_email"))).collect();
    team.sort();
    assert_same("changes of the team in the activity log", &team, &affairs.team_activity());
    let switches: Vec<&Value> = activity.iter().filter(is_switch).collect();
    let pair = |entry: &&Value| (text(entry, "previous_plan_id"), text(entry, "new_plan_id"));
    let found: Vec<(String, String)> = switches.iter().rev().map(pair).collect();
    let expected = affairs.plans.windows(2).map(|pair| (pair[0].clone(), pair[1].clone()));
    assert_eq!(found, expected.collect::<Vec<_>>(), "switches of the plan in the activity log");
}
