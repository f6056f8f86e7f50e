//! Roles of members and keys, as commands are decided.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::activity::Actor;
use till_domain::command::NewRefundLimit;
use till_domain::event::Answer;
use till_domain::ids::{
    CardId, CheckoutId, CustomerId, DisputeId, InvitationId, KeyId, PaymentId, SessionId, TokenId, UserId, WebhookId,
};
use till_domain::money::AmountMinor;
use till_domain::plan::GROWTH;
use till_domain::records::{Activities, ApiKeys, Users};
use till_domain::refusal::{DecisionError, Refusal};
use till_domain::role::{Act, Role};

const OWNER: &[Role] = &[Role::Owner];
const DEVELOPERS: &[Role] = &[Role::Owner, Role::Developer];
const SUPPORT: &[Role] = &[Role::Owner, Role::Support];
const NOT_VIEWERS: &[Role] = &[Role::Owner, Role::Developer, Role::Support];

/// Every command of a merchant, about objects that do not exist, with the roles that may send it. SUPPORT has a limit.
fn commands(world: &ScenarioWorld) -> Vec<(&'static [Role], Ask)> {
    let payment = raw_id(9, PaymentId::from_raw);
    let dispute = raw_id(9, DisputeId::from_raw);
    let contact = raw_id(9, CustomerId::from_raw);
    let (card, webhook) = (raw_id(9, CardId::from_raw), raw_id(9, WebhookId::from_raw));
    let user = raw_id(9, UserId::from_raw);
    vec![
        (DEVELOPERS, initiate(raw_id(9, SessionId::from_raw)).into()),
        (SUPPORT, capture(payment)),
        (SUPPORT, void(payment)),
        (SUPPORT, challenge(dispute, "proof")),
        (SUPPORT, refund(payment).into()),
        (SUPPORT, reverse(payment)),
        (SUPPORT, concede(dispute)),
        (NOT_VIEWERS, start_checkout(world.first_installation()).into()),
        (NOT_VIEWERS, expire_checkout(raw_id(9, CheckoutId::from_raw))),
        (OWNER, payout(1)),
        (SUPPORT, add_contact(&customer_fields())),
        (SUPPORT, update_contact(contact, &customer_fields())),
        (SUPPORT, save_card(raw_id(9, TokenId::from_raw), contact)),
        (SUPPORT, set_default_card(contact, card)),
        (SUPPORT, forget_card(contact, card)),
        (OWNER, remove_contact(contact)),
        (DEVELOPERS, add("key", "", "1")),
        (DEVELOPERS, remove("key", "", "1")),
        (DEVELOPERS, sync("key", "1")),
        (DEVELOPERS, delete("key")),
        (DEVELOPERS, connect_webhook(&[])),
        (DEVELOPERS, rename_webhook(webhook, "x")),
        (DEVELOPERS, disconnect_webhook(webhook)),
        (DEVELOPERS, reconnect_webhook(webhook)),
        (DEVELOPERS, rotate_webhook_secret(webhook)),
        (DEVELOPERS, redeliver_event(webhook, None)),
        (DEVELOPERS, judge_webhook_test(webhook)),
        (OWNER, generate_key(world.merchant_id, 99, None)),
        (DEVELOPERS, rename_key(raw_id(9, KeyId::from_raw), "x")),
        (DEVELOPERS, revoke_key(raw_id(9, KeyId::from_raw))),
        (OWNER, invite("new@shop.example")),
        (OWNER, accept(raw_id(9, InvitationId::from_raw))),
        (OWNER, update_user(user, None, None)),
        (OWNER, remove_user(user)),
        (OWNER, select_plan(GROWTH.id)),
    ]
}

/// A key and a member of each role, SUPPORT with a refund limit.
fn seats(world: &mut ScenarioWorld) -> Vec<(Role, [TestCaller; 2])> {
    let limit = |role| (role == Role::Support).then(|| amount(4_000));
    let seat = |role: Role| {
        let key = world.key(key_of_role(world.merchant_id, 100 + role as u8, role, limit(role)));
        let member = world.member(&format!("{}@shop.example", role.name().to_lowercase()), role, limit(role));
        (role, [TestCaller::MerchantWith(key), TestCaller::Member(member)])
    };
    Role::ALL.map(seat).to_vec()
}

fn is_forbidden(world: &mut ScenarioWorld, ask: &Ask) -> bool {
    matches!(world.step(ask), Err(DecisionError::Refused(Refusal::Forbidden { .. })))
}

#[test]
fn every_command_is_decided_for_the_roles_that_may_send_it_alone() {
    let (mut world, seats) = ScenarioWorld::open_with(seats);
    for (roles, ask) in commands(&world) {
        for (role, callers) in &seats {
            for caller in callers {
                let forbidden = is_forbidden(&mut world, &ask.clone().by(*caller));
                assert_eq!(forbidden, !roles.contains(role), "{role:?} {caller:?}: {:?}", ask.command);
            }
        }
    }
}

#[test]
fn what_no_merchant_sends_is_refused_to_an_owner() {
    let (mut world, seats) = ScenarioWorld::open_with(seats);
    let refusal = Refusal::Forbidden { act: None, role: Role::Owner };
    for caller in seats[0].1 {
        world.when(topup(100).by(caller)).refused(refusal);
        world.when(suspend().by(caller)).refused(refusal);
    }
}

#[test]
fn the_role_is_judged_before_a_kept_answer_is_looked_for() {
    let mut world = ScenarioWorld::open();
    let (key, member) = (world.first_key(), world.member("ada@shop.example", Role::Developer, None));
    let ask = || rename_key(key, "shop").named("call-1").by(TestCaller::Member(member));
    let renamed = world.given(ask());
    world.when(ask()).replays(renamed);
    world.given(update_user(member, Some(Role::Support), None));
    world.when(ask()).refused(Refusal::Forbidden { act: Some(Act::KeepKeys), role: Role::Support });
    world.given(remove_user(member));
    world.when(ask()).refused(Refusal::CallerNotLive);
}

#[test]
fn a_refund_limit_is_judged_after_what_the_payment_has_and_before_the_balance() {
    let (mut world, payment) = ScenarioWorld::open_with(ScenarioWorld::held);
    let support =
        TestCaller::MerchantWith(world.key(key_of_role(world.merchant_id, 2, Role::Support, Some(amount(400)))));
    let part = |minor| Ask::from(refund(payment).part(minor)).by(support);
    let above = Refusal::AmountExceedsRefundLimit { limit_minor: 400 };
    world.when(part(PRICE_MINOR + 1)).refused(Refusal::AmountExceedsPayment { limit_minor: PRICE_MINOR });
    world.when(part(401)).refused(above);
    world.when(Ask::from(refund(payment)).by(support)).refused(above);
    world.when(part(400)).takes_effect();
    world.when(part(400)).takes_effect();
}

#[test]
fn a_reversal_and_a_concession_are_within_the_refund_limit() {
    let (mut world, payment) = ScenarioWorld::open_with(ScenarioWorld::held);
    let key_with = |world: &mut ScenarioWorld, digest, minor| {
        let ask = key_of_role(world.merchant_id, digest, Role::Support, Some(amount(minor)));
        TestCaller::MerchantWith(world.key(ask))
    };
    let (less, enough) = (key_with(&mut world, 2, PRICE_MINOR - 1), key_with(&mut world, 3, PRICE_MINOR));
    let above = Refusal::AmountExceedsRefundLimit { limit_minor: PRICE_MINOR - 1 };
    world.when(reverse(payment).by(less)).refused(above);
    let disputed = world.held();
    let dispute_id = world.dispute(dispute(disputed));
    world.when(concede(dispute_id).by(less)).refused(above);
    world.when(concede(dispute_id).by(enough)).takes_effect();
    world.when(reverse(payment).by(enough)).takes_effect();
}

#[test]
fn support_without_a_limit_gives_nothing_back() {
    let (mut world, payment) = ScenarioWorld::open_with(ScenarioWorld::held);
    let member = TestCaller::Member(world.member("ada@shop.example", Role::Support, None));
    let forbidden = Refusal::Forbidden { act: Some(Act::GiveBack), role: Role::Support };
    world.when(Ask::from(refund(payment).part(1)).by(member)).refused(forbidden);
    world.when(reverse(payment).by(member)).refused(forbidden);
}

#[test]
fn a_refund_limit_needs_the_role_support_and_goes_with_it() {
    let mut world = ScenarioWorld::open();
    let limit = || Some(NewRefundLimit::Set(amount(400)));
    let of_owner = key_of_role(world.merchant_id, 2, Role::Owner, Some(amount(1)));
    world.when(of_owner).refused(Refusal::RefundLimitNotPossible);
    world.when(invite_as("ada@shop.example", Role::Viewer, Some(amount(1)))).refused(Refusal::RefundLimitNotPossible);
    let member = world.member("ada@shop.example", Role::Viewer, None);
    world.when(update_user(member, None, limit())).refused(Refusal::RefundLimitNotPossible);
    world.when(update_user(member, Some(Role::Support), limit())).answers(Answer::Changed(true));
    world.when(update_user(member, None, limit())).changes_nothing(Answer::Changed(false));
    assert_eq!(world.look_up::<Users>(member).refund_limit, Some(amount(400)));
    world.given(update_user(member, None, Some(NewRefundLimit::Remove)));
    assert_eq!(world.look_up::<Users>(member).refund_limit, None::<AmountMinor>);
    world.given(update_user(member, None, limit()));
    world.given(update_user(member, Some(Role::Developer), None));
    assert_eq!(world.look_up::<Users>(member).refund_limit, None::<AmountMinor>);
}

#[test]
fn another_role_ends_the_sessions_of_a_member() {
    let (mut world, member) = ScenarioWorld::open_with(|world| world.member("ada@shop.example", Role::Support, None));
    let ended = |world: &ScenarioWorld| world.look_up::<Users>(member).sessions_ended;
    world.given(update_user(member, Some(Role::Viewer), None));
    assert_eq!(ended(&world), 1);
    world.when(update_user(member, Some(Role::Viewer), None)).changes_nothing(Answer::Changed(false));
    world.given(update_user(member, Some(Role::Support), Some(NewRefundLimit::Set(amount(1)))));
    world.given(update_user(member, None, Some(NewRefundLimit::Set(amount(2)))));
    assert_eq!(ended(&world), 2, "a limit ends nothing");
}

#[test]
fn the_last_owner_is_neither_removed_nor_made_less() {
    let (mut world, ada) = ScenarioWorld::open_with(|world| world.member("ada@shop.example", Role::Owner, None));
    world.when(remove_user(ada)).refused(Refusal::LastOwner);
    world.when(update_user(ada, Some(Role::Viewer), None)).refused(Refusal::LastOwner);
    let bob = world.member("bob@shop.example", Role::Owner, None);
    world.when(update_user(ada, Some(Role::Viewer), None)).answers(Answer::Changed(true));
    world.when(remove_user(bob)).refused(Refusal::LastOwner);
    world.when(remove_user(ada)).answers(Answer::Changed(true));
}

#[test]
fn a_member_changes_no_role_of_its_own() {
    let (mut world, ada) = ScenarioWorld::open_with(|world| world.member("ada@shop.example", Role::Owner, None));
    let bob = world.member("bob@shop.example", Role::Owner, None);
    let by_ada = |ask: Ask| ask.by(TestCaller::Member(ada));
    world.when(by_ada(update_user(ada, Some(Role::Viewer), None))).refused(Refusal::OwnRole);
    world.when(by_ada(update_user(ada, Some(Role::Owner), None))).changes_nothing(Answer::Changed(false));
    world.when(by_ada(update_user(bob, Some(Role::Viewer), None))).answers(Answer::Changed(true));
}

#[test]
fn what_a_member_does_is_activity_of_its_address() {
    let (mut world, ada) = ScenarioWorld::open_with(|world| world.member("ada@shop.example", Role::Owner, None));
    world.given(invite("bob@shop.example").by(TestCaller::Member(ada)));
    let activity = world.all::<Activities>().pop().expect("it is logged");
    assert_eq!(activity.actor, Actor::User { email: Some(email("ada@shop.example")) });
    let invitation = world.state.invitations.values().next().expect("it is open");
    assert_eq!((invitation.inviter_id, invitation.role), (Some(ada), Role::Viewer));
}

#[test]
fn a_suspended_merchant_changes_roles() {
    let (mut world, ada) = ScenarioWorld::open_with(|world| world.member("ada@shop.example", Role::Support, None));
    world.given(suspend());
    world.when(update_user(ada, Some(Role::Viewer), None)).answers(Answer::Changed(true));
}

#[test]
fn a_key_keeps_its_role_when_it_is_renamed() {
    let mut world = ScenarioWorld::open();
    let key_id = world.key(key_of_role(world.merchant_id, 2, Role::Support, Some(amount(7))));
    world.given(rename_key(key_id, "till"));
    let key = world.look_up::<ApiKeys>(key_id);
    assert_eq!((key.role, key.refund_limit), (Role::Support, Some(amount(7))));
}
