//! The team and the plan, and their activities.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor};
use till_domain::event::Answer;
use till_domain::ids::{InvitationId, PlanId, UserId};
use till_domain::plan::{GROWTH, SCALE, STARTER};
use till_domain::records::{Activities, ActivityEmails, CurrentPlan, Invitations, Single};
use till_domain::refusal::Refusal;
use till_domain::team::{INVITATION_LIFETIME_SECONDS, INVITATIONS_OPEN_MAX, TEAM_MAX};

fn invited(world: &mut ScenarioWorld, address: &str) -> InvitationId {
    match world.given(invite(address)) {
        Answer::Invitation(id) => id,
        other => panic!("an invitation was asked for, not {other:?}"),
    }
}

fn joined(world: &mut ScenarioWorld, address: &str) -> UserId {
    let invitation = invited(world, address);
    match world.given(accept(invitation)) {
        Answer::User(id) => id,
        other => panic!("a user was asked for, not {other:?}"),
    }
}

fn last_activity(world: &ScenarioWorld) -> Activity {
    world.all::<Activities>().pop().expect("something was recorded")
}

#[test]
fn invitation_membership_and_removal_are_activities_of_the_key() {
    let mut world = ScenarioWorld::open();
    let actor = Actor::ApiKey(world.first_key());
    let user = joined(&mut world, "ada@shop.example");
    assert_eq!(world.state.users[&user].email, email("ada@shop.example"));
    assert!(world.state.invitations.is_empty());
    world.when(remove_user(user)).answers(Answer::Changed(true));
    let activities = world.all::<Activities>();
    let types: Vec<ActivityType> = activities.iter().map(|activity| activity.activity_type).collect();
    assert_eq!(types, [ActivityType::UserInvited, ActivityType::InvitationAccepted, ActivityType::UserRemoved]);
    for activity in activities {
        assert_eq!((&activity.actor, activity.object), (&actor, ActivityObject::Merchant(world.merchant_id)));
        assert_eq!((activity.user_email, activity.at), (Some(email("ada@shop.example")), world.clock));
        assert_eq!((activity.object.type_name(), activity.parent), (None, None));
    }
}

#[test]
fn a_suspended_merchant_removes_users_and_takes_nobody_in() {
    let mut world = ScenarioWorld::open();
    let user = joined(&mut world, "ada@shop.example");
    world.given(suspend());
    world.when(invite("eve@shop.example")).refused(Refusal::MerchantSuspended);
    world.when(remove_user(user)).answers(Answer::Changed(true));
}

#[test]
fn the_operators_actions_are_activities_of_its_support() {
    let mut world = ScenarioWorld::open();
    world.given(invite("ada@shop.example").by(TestCaller::Operator));
    assert_eq!(last_activity(&world).actor, Actor::User { email: None }, "none is configured");
}

#[test]
fn an_address_has_one_open_invitation_and_no_second_membership() {
    let (mut world, invitation_id) = ScenarioWorld::open_with(|world| invited(world, "ada@shop.example"));
    world.when(invite("ada@shop.example")).refused(Refusal::AlreadyInvited { invitation_id });
    let user_id = match world.given(accept(invitation_id)) {
        Answer::User(id) => id,
        other => panic!("{other:?}"),
    };
    world.when(invite("ada@shop.example")).refused(Refusal::AlreadyMember { user_id });
    world.given(remove_user(user_id));
    world.when(invite("ada@shop.example")).takes_effect();
}

#[test]
fn an_invitation_is_accepted_once() {
    let (mut world, invitation) = ScenarioWorld::open_with(|world| invited(world, "ada@shop.example"));
    let Answer::User(user_id) = world.given(accept(invitation)) else { panic!("a user was asked for") };
    world.when(accept(invitation)).refused(Refusal::InvitationAccepted { user_id });
    assert!(world.look_up::<Invitations>(invitation).accepted.is_some());
}

#[test]
fn an_invitation_ends_after_a_week_and_can_be_repeated() {
    let mut world = ScenarioWorld::open();
    let (first, second) = (invited(&mut world, "ada@shop.example"), invited(&mut world, "bob@shop.example"));
    world.after_seconds(INVITATION_LIFETIME_SECONDS);
    world.clock.0 -= 1;
    world.when(accept(first)).takes_effect();
    world.clock.0 += 1;
    world.when(accept(second)).refused(Refusal::InvitationNotFound);
    world.when(invite("bob@shop.example")).takes_effect();
    assert_eq!(world.state.invitations.len(), 1, "what has expired is forgotten");
}

#[test]
fn unknown_invitations_users_and_plans_are_not_found() {
    let mut world = ScenarioWorld::open();
    world.when(accept(raw_id(9, InvitationId::from_raw))).refused(Refusal::InvitationNotFound);
    world.when(remove_user(raw_id(9, UserId::from_raw))).refused(Refusal::UserNotFound);
    world.when(select_plan(raw_id(9, PlanId::from_raw))).refused(Refusal::PlanNotFound);
    let user = joined(&mut world, "ada@shop.example");
    world.given(remove_user(user));
    world.when(remove_user(user)).refused(Refusal::UserNotFound);
}

#[test]
fn the_number_of_open_invitations_and_of_users_is_limited() {
    let mut world = ScenarioWorld::open();
    let mut invitations = Vec::new();
    for number in 0..INVITATIONS_OPEN_MAX {
        world.step(&invite(&format!("{number}@shop.example"))).expect("there is room");
        invitations.extend(world.state.invitations.keys().next_back().copied());
    }
    world
        .when(invite("one@more.example"))
        .refused(Refusal::TooMany { kind: "open invitations", limit: INVITATIONS_OPEN_MAX });
    for invitation in invitations.iter().take(TEAM_MAX) {
        world.step(&accept(*invitation)).expect("there is room");
    }
    let one_more = invited(&mut world, "one@more.example");
    world.when(accept(one_more)).refused(Refusal::TooMany { kind: "users", limit: TEAM_MAX });
}

#[test]
fn a_former_member_has_belonged_and_an_invited_person_has_not() {
    let (mut world, user) = ScenarioWorld::open_with(|world| joined(world, "ada@shop.example"));
    world.given(remove_user(user));
    world.given(invite("ada@shop.example"));
    world.given(invite("bob@shop.example"));
    assert!(world.look_up::<ActivityEmails>(email("ada@shop.example")).has_belonged);
    assert!(!world.look_up::<ActivityEmails>(email("bob@shop.example")).has_belonged);
}

#[test]
fn a_merchant_starts_with_the_first_plan_and_switches_name_both() {
    let mut world = ScenarioWorld::open();
    world.when(select_plan(STARTER.id)).changes_nothing(Answer::Changed(false));
    world.when(select_plan(GROWTH.id)).answers(Answer::Changed(true));
    world.when(select_plan(SCALE.id)).answers(Answer::Changed(true));
    let switches: Vec<(String, String)> = world
        .all::<Activities>()
        .into_iter()
        .filter_map(|activity| activity.plan_switch)
        .map(|plans| (plans.previous.name.as_str().to_owned(), plans.new.name.as_str().to_owned()))
        .collect();
    let expected = [("Starter", "Growth"), ("Growth", "Scale")].map(|(from, to)| (from.to_owned(), to.to_owned()));
    assert_eq!(switches, expected);
    assert_eq!(world.look_up::<CurrentPlan>(Single).plan, SCALE.named_plan());
    assert_eq!(last_activity(&world).user_email, None);
}

#[test]
fn a_suspended_merchants_team_and_plan_stay_as_they_are() {
    let mut world = ScenarioWorld::open();
    world.given(suspend());
    world.when(invite("ada@shop.example")).refused(Refusal::MerchantSuspended);
    world.when(select_plan(GROWTH.id)).refused(Refusal::MerchantSuspended);
}
