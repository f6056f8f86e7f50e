//! The team and the plan of a merchant, over HTTP.

use serde_json::{Value, json};

use crate::harness::{Server, Shop, id_of_nothing};

fn activities(shop: &Shop) -> Vec<Value> {
    shop.all("list-activity-logs")
}

#[test]
fn an_invited_user_joins_is_listed_and_is_removed() {
    let (_server, shop) = Server::with_shop();
    let invitation = shop.call("invite-user", &json!({ "email": "Ada@Shop.example" })).id();
    assert!(invitation.starts_with("ivt_"));
    let pending = &shop.all("list-user-invitations")[0];
    assert_eq!((&pending["status"], &pending["email"]), (&json!("PENDING"), &json!("ada@shop.example")));
    assert_eq!(pending["expires_at"].as_u64(), pending["created_at"].as_u64().map(|at| at + 7 * 86_400));
    let user = shop.call("accept-invitation", &json!({ "invitation_id": invitation })).id();
    let accepted = &shop.all("list-user-invitations")[0];
    assert_eq!((&accepted["status"], &accepted["user_id"]), (&json!("ACCEPTED"), &json!(user)));
    let listed = shop.all("list-users");
    assert_eq!((&listed[0]["user_id"], &listed[0]["email"]), (&json!(user), &json!("ada@shop.example")));
    assert_eq!(listed[0]["invitation_id"], json!(invitation));
    assert_eq!(shop.call("remove-user", &json!({ "user_id": user })).ok(), json!(true));
    assert!(shop.all("list-users").is_empty());
    shop.call("remove-user", &json!({ "user_id": user })).refused("NOT_FOUND");
}

#[test]
fn each_change_of_the_team_is_activity_of_its_key() {
    let (_server, shop) = Server::with_shop();
    let user = shop.join("ada@shop.example");
    shop.call("remove-user", &json!({ "user_id": user })).ok();
    let logged = activities(&shop);
    let types: Vec<&str> = logged.iter().filter_map(|entry| entry["activity_type"].as_str()).collect();
    assert_eq!(types, ["USER_REMOVED", "INVITATION_ACCEPTED", "USER_INVITED"]);
    for entry in logged {
        assert_eq!(entry["user_email"], json!("ada@shop.example"));
        assert_eq!((&entry["object_id"], &entry["object_type"]), (&json!(shop.merchant_id), &Value::Null));
        assert_eq!((&entry["actor_type"], &entry["actor_key_id"]), (&json!("API_KEY"), &json!(shop.key_id)));
        assert_eq!((&entry["actor_email"], &entry["parent_id"]), (&Value::Null, &Value::Null));
    }
}

#[test]
fn an_address_in_clear_is_no_card_number_before_the_at() {
    let (_server, shop) = Server::with_shop();
    let body = |local: &str| json!({ "email": format!("{local}@shop.example") });
    let refused = shop.call("invite-user", &body("4539578763621486"));
    assert_eq!(refused.faults(), ["invalid email"]);
    assert!(!refused.body.to_string().contains("4539578763621486"), "{}", refused.body);
    shop.call("invite-user", &body("4539578763621487")).ok();
}

#[test]
fn conflicts_name_the_object_in_conflict() {
    let (_server, shop) = Server::with_shop();
    let body = json!({ "email": "ada@shop.example" });
    let invitation = shop.call("invite-user", &body).id();
    assert_eq!(shop.call("invite-user", &body).refused("CONFLICT")["invitation_id"], json!(invitation));
    let accepting = json!({ "invitation_id": invitation });
    let user = shop.call("accept-invitation", &accepting).id();
    assert_eq!(shop.call("accept-invitation", &accepting).refused("CONFLICT")["user_id"], json!(user));
    assert_eq!(shop.call("invite-user", &body).refused("CONFLICT")["user_id"], json!(user));
}

#[test]
fn invitations_and_users_of_another_merchant_are_not_found() {
    let (_server, shop, other) = Server::with_shops();
    let invitation = other.call("invite-user", &json!({ "email": "ada@shop.example" })).id();
    let user = other.join("bob@shop.example");
    for id in [invitation.clone(), id_of_nothing(&invitation)] {
        shop.call("accept-invitation", &json!({ "invitation_id": id })).refused("NOT_FOUND");
    }
    shop.call("remove-user", &json!({ "user_id": user })).refused("NOT_FOUND");
}

#[test]
fn a_repeated_invitation_under_an_idempotency_key_is_one() {
    let (_server, shop) = Server::with_shop();
    let client = shop.client().idempotency_key("invite-ada");
    let first = client.post("/merchants/invite-user", &json!({ "email": "ada@shop.example" })).id();
    let again = client.post("/merchants/invite-user", &json!({ "email": "ADA@shop.example" }));
    assert_eq!((again.header("idempotent-replayed"), again.body.as_str()), (Some("true"), Some(first.as_str())));
    assert_eq!(activities(&shop).len(), 1);
}

#[test]
fn an_address_that_is_none_is_refused_without_being_repeated() {
    let (_server, shop) = Server::with_shop();
    let refused = shop.call("invite-user", &json!({ "email": "ada at shop" }));
    assert_eq!(refused.faults(), ["invalid email"]);
    assert!(!refused.body.to_string().contains("ada at shop"));
}

#[test]
fn a_plan_is_selected_from_the_catalogue() {
    let (_server, shop) = Server::with_shop();
    let plans = shop.call("list-plans", &json!({})).ok();
    let names: Vec<&str> =
        plans.as_array().expect("an array").iter().filter_map(|plan| plan["name"].as_str()).collect();
    assert_eq!(names, ["Starter", "Growth", "Scale"]);
    let first = shop.call("retrieve-current-plan", &json!({})).ok();
    assert_eq!(first["plan_id"], plans[0]["plan_id"]);
    let growth = json!({ "plan_id": plans[1]["plan_id"] });
    assert_eq!(shop.call("select-plan", &growth).ok(), json!(true));
    assert_eq!(shop.call("select-plan", &growth).ok(), json!(false));
    let current = shop.call("retrieve-current-plan", &json!({})).ok();
    assert_eq!((&current["plan_id"], &current["name"]), (&plans[1]["plan_id"], &json!("Growth")));
    let logged = activities(&shop);
    assert_eq!(logged.len(), 1);
    assert_eq!(logged[0]["activity_type"], json!("PLAN_SWITCHED"));
    assert_eq!((&logged[0]["new_plan_id"], &logged[0]["new_plan_name"]), (&plans[1]["plan_id"], &json!("Growth")));
    let previous = (&logged[0]["previous_plan_id"], &logged[0]["previous_plan_name"]);
    assert_eq!(previous, (&plans[0]["plan_id"], &json!("Starter")));
    assert_eq!((&logged[0]["object_id"], &logged[0]["object_type"]), (&json!(shop.merchant_id), &Value::Null));
    shop.call("select-plan", &json!({ "plan_id": id_of_nothing(current["plan_id"].as_str().expect("an id")) }))
        .refused("NOT_FOUND");
}

#[test]
fn a_plan_changes_nothing_but_itself_and_the_activity_log() {
    let (server, shop) = Server::with_shop();
    shop.pay(1_000);
    let merchant = || server.admin("find-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    let settings = || shop.sdk("retrieve-installation-settings", &json!({})).ok();
    let seen = || [merchant(), settings(), shop.balance(), shop.call("balance-history", &json!({})).ok()];
    let before = seen();
    let plan = shop.call("list-plans", &json!({})).ok()[2]["plan_id"].clone();
    assert_eq!(shop.call("select-plan", &json!({ "plan_id": plan })).ok(), json!(true));
    assert_eq!(seen(), before);
    assert_eq!(activities(&shop).len(), 2, "the capture and the switch");
    assert_eq!(shop.payment(&shop.pay(1_000))["fees"], json!([]), "no price hangs on it");
}
