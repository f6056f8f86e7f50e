//! Order: one merchant's commands one after the other, without waiting for the disk.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use till_domain::command::{Caller, Command, InviteUser, TeamChange, UpdateUser};
use till_domain::event::Answer;
use till_domain::refusal::Refusal;
use till_domain::role::{Act, Role};
use till_domain::text::{Email, Name};

use crate::shop::{by, initiate, named, topup, topup_known_as};
use crate::world::{EngineWorld, all, assert_refused, done, is_pending};

#[actix_rt::test]
async fn answers_come_in_the_order_of_the_commits() {
    let (world, shop) = EngineWorld::with_shop().await;
    let (answered, asked) = (Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(0)));
    world.store.hold_appends();
    let mut waiting = Vec::new();
    for _ in 0..300 {
        let (answer, answered) = (world.send(shop.merchant_id, topup(1)), Rc::clone(&answered));
        let asked = Rc::clone(&asked);
        waiting.push(actix_rt::spawn(async move {
            asked.set(asked.get() + 1);
            let reply = answer.await.expect("no request panics");
            answered.borrow_mut().push(done(reply));
        }));
    }
    // All of them wait by now: a request after the answer is there would be answered before those that are only woken.
    while asked.get() < 300 {
        tokio::task::yield_now().await;
    }
    world.store.resume_appends();
    for one in waiting {
        one.await.expect("all were done");
    }
    let ids: Vec<_> = answered.borrow().iter().map(|answer| format!("{answer:?}")).collect();
    // Ids of one merchant grow in the order in which it decides.
    assert!(ids.is_sorted(), "{ids:?}");
    assert_eq!(world.totals(&shop).effective_credit_minor, 300);
}

#[actix_rt::test]
async fn many_commands_in_flight_share_a_few_appends() {
    let (world, shop) = EngineWorld::with_shop().await;
    let groups = world.engine.commit_stats().groups();
    world.store.hold_appends();
    let sent: Vec<_> = (0..500).map(|_| world.send(shop.merchant_id, topup(1))).collect();
    world.handled(&shop).await;
    world.store.resume_appends();
    for reply in all(sent).await {
        done(reply);
    }
    let appends = world.engine.commit_stats().groups() - groups;
    assert!(appends <= 4, "500 commands took {appends} appends");
}

#[actix_rt::test]
async fn a_refusal_based_on_staged_state_waits_until_it_is_durable() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.store.hold_appends();
    let first = world.send(shop.merchant_id, topup_known_as("bank-1"));
    let mut refused = world.send(shop.merchant_id, topup_known_as("bank-1"));
    world.handled(&shop).await;
    assert!(is_pending(&mut refused).await, "answered on what is not durable yet");
    world.store.resume_appends();
    let replies = all([first, refused]).await;
    let Ok(Answer::Topup(topup_id)) = replies[0].clone().map(|answered| answered.answer) else {
        panic!("{replies:?}");
    };
    assert_refused(&replies[1], Refusal::TopupExternalIdTaken { topup_id });
}

#[actix_rt::test]
async fn a_refusal_based_on_durable_state_waits_for_no_append() {
    let (world, shop) = EngineWorld::with_shop().await;
    let first = done(world.submit(shop.merchant_id, topup_known_as("bank-1")).await);
    let Answer::Topup(topup_id) = first else { panic!("{first:?}") };
    world.store.hold_appends();
    let refused = world.submit(shop.merchant_id, topup_known_as("bank-1")).await;
    assert_refused(&refused, Refusal::TopupExternalIdTaken { topup_id });
    world.store.resume_appends();
}

#[actix_rt::test]
async fn no_command_follows_a_change_of_role_even_before_it_is_durable() {
    let (world, shop) = EngineWorld::with_shop().await;
    let change = |change| by(Caller::ApiKey(shop.key_id), Command::ChangeTeam(shop.merchant_id, change));
    let email = Email::new("ada@shop.example").expect("an address of proper form");
    let invite = TeamChange::InviteUser(InviteUser { email, role: Role::Developer, refund_limit: None });
    let invited = done(world.submit(shop.merchant_id, change(invite)).await);
    let Answer::Invitation(invitation) = invited else { panic!("{invited:?}") };
    let joined = done(world.submit(shop.merchant_id, change(TeamChange::AcceptInvitation(invitation))).await);
    let Answer::User(member) = joined else { panic!("{joined:?}") };
    let rename = |key: &str| {
        let name = Name::new(key).expect("a name of proper form");
        named(by(Caller::User(member), Command::RenameKey(shop.key_id, name)), key)
    };
    done(world.submit(shop.merchant_id, rename("first")).await);
    world.store.hold_appends();
    let update = UpdateUser { user_id: member, role: Some(Role::Viewer), refund_limit: None };
    let updated = world.send(shop.merchant_id, change(TeamChange::UpdateUser(update)));
    let late = world.send(shop.merchant_id, rename("late"));
    let replay = world.send(shop.merchant_id, rename("first"));
    world.handled(&shop).await;
    world.store.resume_appends();
    let replies = all([updated, late, replay]).await;
    assert_eq!(done(replies[0].clone()), Answer::Changed(true));
    let forbidden = Refusal::Forbidden { act: Some(Act::KeepKeys), role: Role::Viewer };
    assert_refused(&replies[1], forbidden);
    assert_refused(&replies[2], forbidden);
}

#[actix_rt::test]
async fn no_command_follows_a_revocation_even_before_it_is_durable() {
    let (world, shop) = EngineWorld::with_shop().await;
    let session_id = world.session(&shop).await;
    world.store.hold_appends();
    let revoked = world.send(shop.merchant_id, by(Caller::Operator, Command::RevokeKey(shop.key_id)));
    let late = world.send(shop.merchant_id, initiate(session_id).by(&shop));
    let late_replay = world.send(shop.merchant_id, named(initiate(session_id).by(&shop), "late"));
    world.handled(&shop).await;
    world.store.resume_appends();
    let replies = all([revoked, late, late_replay]).await;
    assert_eq!(done(replies[0].clone()), Answer::Changed(true));
    assert_refused(&replies[1], Refusal::CallerNotLive);
    assert_refused(&replies[2], Refusal::CallerNotLive);
    assert_refused(&world.submit(shop.merchant_id, initiate(session_id).by(&shop)).await, Refusal::CallerNotLive);
}
