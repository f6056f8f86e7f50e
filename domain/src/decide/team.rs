//! The team and the plan. The caller is the actor of the activity.

use super::caller::actor;
use super::context::{Context, Decision};
use crate::activity::{Activity, ActivityObject, ActivityType, PlanSwitch};
use crate::command::{Caller, InviteUser, NewRefundLimit, UpdateUser};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::{InvitationId, MerchantId, PlanId, UserId};
use crate::money::AmountMinor;
use crate::plan::{Plan, PlanChoice, STARTER};
use crate::records::{Invitations, MerchantState, Records};
use crate::refusal::{DecisionError, Refusal};
use crate::role::{Act, Grant, Role};
use crate::team::{INVITATION_LIFETIME_SECONDS, INVITATIONS_OPEN_MAX, Invitation, Seat, TEAM_MAX, User};

/// The caller and the merchant.
#[derive(Clone, Copy)]
pub(super) struct Asker<'a> {
    pub(super) state: &'a MerchantState,
    pub(super) merchant_id: MerchantId,
    pub(super) caller: Caller,
}

impl Asker<'_> {
    /// The member, when one asks.
    fn member(self) -> Option<UserId> {
        if let Caller::User(user_id) = self.caller { Some(user_id) } else { None }
    }

    /// The entry of the activity log for the command.
    fn activity(self, activity_type: ActivityType, context: &mut Context<'_>) -> Result<Activity, Refusal> {
        let object = ActivityObject::Merchant(self.merchant_id);
        Ok(Activity::new(context.mint(), context.now, activity_type, actor(self.state, self.caller)?, object))
    }
}

pub(super) fn invite_user(
    asker: Asker<'_>,
    command: &InviteUser,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Refusal> {
    check_limit_of(command.role, command.refund_limit)?;
    let email = &command.email;
    if let Some(user) = asker.state.users.values().find(|user| user.email == *email) {
        return Err(Refusal::AlreadyMember { user_id: user.id });
    }
    let open = || asker.state.invitations.values().filter(|invitation| invitation.is_open(context.now));
    if let Some(invitation) = open().find(|invitation| invitation.email == *email) {
        return Err(Refusal::AlreadyInvited { invitation_id: invitation.id });
    }
    if open().count() >= INVITATIONS_OPEN_MAX {
        return Err(Refusal::TooMany { kind: "open invitations", limit: INVITATIONS_OPEN_MAX });
    }
    let invitation = Invitation {
        id: context.mint(),
        email: email.clone(),
        created_at: context.now,
        expires_at: context.now.plus_seconds(INVITATION_LIFETIME_SECONDS),
        accepted: None,
        role: command.role,
        refund_limit: command.refund_limit,
        inviter_id: asker.member(),
    };
    let activity = asker.activity(ActivityType::UserInvited, context)?;
    let activity = Activity { user_email: Some(email.clone()), ..activity };
    let answer = Answer::Invitation(invitation.id);
    Ok((Decision::one(Event::UserInvited { invitation, activity }), answer))
}

pub(super) fn accept_invitation(
    records: &impl Records,
    asker: Asker<'_>,
    id: InvitationId,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let invitation = records.get::<Invitations>(id)?.ok_or(Refusal::InvitationNotFound)?;
    if let Some(accepted) = invitation.accepted {
        return Err(Refusal::InvitationAccepted { user_id: accepted.user_id }.into());
    }
    if !invitation.is_open(context.now) {
        return Err(Refusal::InvitationNotFound.into());
    }
    if asker.state.users.len() >= TEAM_MAX {
        return Err(Refusal::TooMany { kind: "users", limit: TEAM_MAX }.into());
    }
    let email = invitation.email;
    let user = User {
        id: context.mint(),
        email: email.clone(),
        invitation_id: id,
        created_at: context.now,
        role: invitation.role,
        refund_limit: invitation.refund_limit,
        sessions_ended: 0,
        seat: Seat::default(),
    };
    let activity = asker.activity(ActivityType::InvitationAccepted, context)?;
    let activity = Activity { user_email: Some(email), ..activity };
    let answer = Answer::User(user.id);
    Ok((Decision::one(Event::InvitationAccepted { user, activity }), answer))
}

/// Another role ends the sessions of the member, and takes its refund limit away.
pub(super) fn update_user(asker: Asker<'_>, command: UpdateUser) -> Result<(Decision, Answer), Refusal> {
    let user = asker.state.users.get(&command.user_id).ok_or(Refusal::UserNotFound)?;
    let role = command.role.unwrap_or(user.role);
    let changes_role = role != user.role;
    let refund_limit = match command.refund_limit {
        Some(NewRefundLimit::Set(limit)) => Some(limit),
        Some(NewRefundLimit::Remove) => None,
        None => user.refund_limit.filter(|_| !changes_role),
    };
    check_limit_of(role, refund_limit)?;
    if changes_role {
        if asker.member() == Some(user.id) {
            return Err(Refusal::OwnRole);
        }
        check_owner_left(asker.state, user)?;
    }
    let sessions_ended = user.sessions_ended.saturating_add(u32::from(changes_role));
    let updated = User { role, refund_limit, sessions_ended, ..user.clone() };
    if updated == *user {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    }
    Ok((Decision::one(Event::UserUpdated(updated)), Answer::Changed(true)))
}

/// A refund limit limits what SUPPORT may do; other roles have none.
pub(super) fn check_limit_of(role: Role, refund_limit: Option<AmountMinor>) -> Result<(), Refusal> {
    let is_possible = refund_limit.is_none() || Act::GiveBack.grant(role) == Grant::UpToRefundLimit;
    if is_possible { Ok(()) } else { Err(Refusal::RefundLimitNotPossible) }
}

/// Refuses that the last owner leaves or becomes less.
fn check_owner_left(state: &MerchantState, leaving: &User) -> Result<(), Refusal> {
    let is_owner = |user: &User| user.role == Role::Owner;
    let is_left = |user: &User| is_owner(user) && user.id != leaving.id;
    if is_owner(leaving) && !state.users.values().any(is_left) { Err(Refusal::LastOwner) } else { Ok(()) }
}

pub(super) fn remove_user(
    asker: Asker<'_>,
    user_id: UserId,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Refusal> {
    let user = asker.state.users.get(&user_id).ok_or(Refusal::UserNotFound)?;
    check_owner_left(asker.state, user)?;
    let activity = asker.activity(ActivityType::UserRemoved, context)?;
    let activity = Activity { user_email: Some(user.email.clone()), ..activity };
    let mut removed = Decision::one(Event::UserRemoved { user_id, activity });
    removed.vault.extend(user.seat.credentials_at.map(|_| VaultWrite::ForgetCredentials(user_id)));
    Ok((removed, Answer::Changed(true)))
}

pub(super) fn select_plan(
    asker: Asker<'_>,
    plan_id: PlanId,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Refusal> {
    let plan = Plan::find(plan_id).ok_or(Refusal::PlanNotFound)?;
    let chosen = asker.state.plan.as_ref();
    let previous = chosen.map_or_else(|| STARTER.named_plan(), |choice| choice.plan.clone());
    if previous.id == plan_id {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    }
    let activity = asker.activity(ActivityType::PlanSwitched, context)?;
    let activity = Activity { plan_switch: Some(PlanSwitch { new: plan.named_plan(), previous }), ..activity };
    let choice = PlanChoice { plan: plan.named_plan(), since: context.now };
    Ok((Decision::one(Event::PlanSwitched { choice, activity }), Answer::Changed(true)))
}
