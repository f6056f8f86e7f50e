//! Signing in: credentials, codes that each open once, and the end of sessions.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::activity::Actor;
use till_domain::command::SeatCommand;
use till_domain::event::{Answer, VaultWrite};
use till_domain::ids::{CredentialsId, InvitationId, UserId};
use till_domain::records::{Activities, Users};
use till_domain::refusal::Refusal;
use till_domain::team::{CredentialsPart, INVITATION_LIFETIME_SECONDS, RESET_LIFETIME_SECONDS, SignInCode};

const ADDRESS: &str = "ada@shop.example";

/// A code of the authenticator at a time step.
const fn code(step: u64) -> SignInCode {
    SignInCode::Authenticator { step }
}

fn sign_in(member: UserId, code: SignInCode, session: u32) -> Ask {
    change_seat(member, SeatCommand::SignIn { code, session })
}

fn invited(world: &mut ScenarioWorld) -> InvitationId {
    match world.given(invite(ADDRESS)) {
        Answer::Invitation(id) => id,
        other => panic!("{other:?} is no invitation"),
    }
}

/// A member who joined with the code of the time step 100.
fn joined(world: &mut ScenarioWorld) -> UserId {
    let invitation = invited(world);
    match world.given(join(invitation, 100)) {
        Answer::User(id) => id,
        other => panic!("{other:?} is no member"),
    }
}

fn reset(world: &mut ScenarioWorld, member: UserId) -> CredentialsId {
    match world.given(change_seat(member, SeatCommand::AllowReset)) {
        Answer::CredentialsReset(id) => id,
        other => panic!("{other:?} is no reset"),
    }
}

#[test]
fn whoever_joins_with_credentials_is_signed_in_and_the_actor() {
    let (mut world, member) = ScenarioWorld::open_with(joined);
    let seat = world.look_up::<Users>(member).seat;
    assert_eq!((seat.credentials_at, seat.last_signed_in_at), (Some(world.clock), Some(world.clock)));
    let accepted = world.all::<Activities>().pop().expect("it is an activity");
    assert_eq!(accepted.actor, Actor::User { email: Some(email(ADDRESS)) });
    world.when(sign_in(member, code(100), 0)).refused(Refusal::CodeUsedUp);
}

#[test]
fn an_invitation_is_joined_by_once_and_within_a_week() {
    let mut world = ScenarioWorld::open();
    let invitation = invited(&mut world);
    let (answer, vault) = world.when(join(invitation, 1)).writes_to_the_vault();
    let Answer::User(user_id) = answer else { panic!("{answer:?} is no member") };
    assert_eq!(vault, [VaultWrite::KeepCredentials(user_id)]);
    world.when(join(invitation, 2)).refused(Refusal::InvitationAccepted { user_id });
    world.given(remove_user(user_id));
    let late = invited(&mut world);
    world.after_seconds(INVITATION_LIFETIME_SECONDS);
    world.when(join(late, 3)).refused(Refusal::InvitationNotFound);
}

#[test]
fn each_code_opens_once_and_none_of_an_earlier_step() {
    let (mut world, member) = ScenarioWorld::open_with(joined);
    world.after_seconds(30);
    world.when(sign_in(member, code(101), 0)).takes_effect();
    assert_eq!(world.look_up::<Users>(member).seat.last_signed_in_at, Some(world.clock));
    for step in [99, 100, 101] {
        world.when(sign_in(member, code(step), 0)).refused(Refusal::CodeUsedUp);
        world
            .when(change_seat(member, SeatCommand::UseCode { code: code(step), session: 0 }))
            .refused(Refusal::CodeUsedUp);
    }
    world.when(change_seat(member, SeatCommand::UseCode { code: code(102), session: 0 })).takes_effect();
    world.when(sign_in(member, code(102), 0)).refused(Refusal::CodeUsedUp);
}

#[test]
fn a_recovery_code_opens_once_until_there_are_new_ones() {
    let (mut world, member) = ScenarioWorld::open_with(joined);
    for number in 0..10 {
        world.when(sign_in(member, SignInCode::Recovery { number }, 0)).takes_effect();
        world.when(sign_in(member, SignInCode::Recovery { number }, 0)).refused(Refusal::CodeUsedUp);
    }
    let renewed = SeatCommand::Replace { part: CredentialsPart::RecoveryCodes, step: None, session: 0 };
    world.when(change_seat(member, renewed)).takes_effect();
    world.when(sign_in(member, SignInCode::Recovery { number: 3 }, 1)).takes_effect();
}

#[test]
fn signing_in_is_no_activity() {
    let (mut world, member) = ScenarioWorld::open_with(joined);
    let before = world.all::<Activities>().len();
    world.given(sign_in(member, code(101), 0));
    assert_eq!(world.all::<Activities>().len(), before);
}

#[test]
fn new_credentials_and_signing_out_everywhere_end_all_sessions() {
    let (mut world, member) = ScenarioWorld::open_with(joined);
    let replaced = |part, session| change_seat(member, SeatCommand::Replace { part, step: None, session });
    let (_, vault) = world.when(replaced(CredentialsPart::Password, 0)).writes_to_the_vault();
    assert_eq!(vault, [VaultWrite::KeepCredentials(member)]);
    world.when(replaced(CredentialsPart::Password, 0)).refused(Refusal::CallerNotLive);
    world.when(change_seat(member, SeatCommand::EndSessions)).takes_effect();
    world.when(sign_in(member, code(101), 1)).refused(Refusal::CallerNotLive);
    world.when(sign_in(member, code(101), 2)).takes_effect();
}

#[test]
fn credentials_are_set_anew_once_within_a_day() {
    let (mut world, member) = ScenarioWorld::open_with(joined);
    let first = reset(&mut world, member);
    let second = reset(&mut world, member);
    let renew = |id| change_seat(member, SeatCommand::Renew { id, step: 7 });
    world.when(renew(first)).refused(Refusal::ResetOver);
    world.when(sign_in(member, code(101), 0)).takes_effect();
    world.when(renew(second)).takes_effect();
    assert_eq!(world.look_up::<Users>(member).sessions_ended, 1);
    world.when(renew(second)).refused(Refusal::ResetOver);
    world.when(sign_in(member, code(8), 1)).takes_effect();
    let third = reset(&mut world, member);
    world.after_seconds(RESET_LIFETIME_SECONDS);
    world.when(renew(third)).refused(Refusal::ResetOver);
}

#[test]
fn a_member_without_credentials_signs_in_after_a_reset() {
    let mut world = ScenarioWorld::open();
    let invitation = invited(&mut world);
    let Answer::User(member) = world.given(accept(invitation)) else { panic!("a user was asked for") };
    world.when(sign_in(member, code(1), 0)).refused(Refusal::CallerNotLive);
    let id = reset(&mut world, member);
    world.when(change_seat(member, SeatCommand::Renew { id, step: 1 })).takes_effect();
    world.when(sign_in(member, code(2), 1)).takes_effect();
}

#[test]
fn the_credentials_of_a_removed_member_are_forgotten() {
    let (mut world, member) = ScenarioWorld::open_with(joined);
    let (_, vault) = world.when(remove_user(member)).writes_to_the_vault();
    assert_eq!(vault, [VaultWrite::ForgetCredentials(member)]);
    world.when(sign_in(member, code(101), 0)).refused(Refusal::UserNotFound);
    world.when(change_seat(raw_id(9, UserId::from_raw), SeatCommand::AllowReset)).refused(Refusal::UserNotFound);
}

#[test]
fn members_of_a_suspended_merchant_sign_in() {
    let (mut world, member) = ScenarioWorld::open_with(joined);
    world.given(suspend());
    world.when(sign_in(member, code(101), 0)).takes_effect();
}
