//! The JSON of users, invitations and plans.

use till_domain::ids::{InvitationId, PlanId, UserId};
use till_domain::plan::{Plan, PlanChoice};
use till_domain::role::Role;
use till_domain::team::{Invitation, User};
use till_domain::time::Millis;

use super::object::object;

object! {
    /// A user.
    pub(in crate::endpoints) USER "user" as UserShape<'a> of (user: &'a User) {
        user_id: Id(UserId::PREFIX) = user.id, "The user's id (`usr_...`).";
        email: EMAIL = user.email, "The user's address.";
        role_id: words_of(Role) = user.role, "What the user may do.";
        refund_limit: MINOR_UNITS or null = user.refund_limit,
            "The largest amount that the user may give back in one call, in minor units; null without a limit and \
                without the role SUPPORT.", such_as("null");
        invitation_id: Id(InvitationId::PREFIX) = user.invitation_id, "The invitation (`ivt_...`) that was accepted.";
        created_at: TIMESTAMP = user.created_at, "The time at which the user joined the team.";
        last_signed_in_at: TIMESTAMP or null = user.seat.last_signed_in_at,
            "The time at which the user last signed in to the dashboard.";
    }
}

object! {
    /// An invitation at the time `now`.
    pub(in crate::endpoints) INVITATION "user_invitation" as InvitationShape<'a> of (
        invitation: &'a Invitation,
        now: Millis,
        url: Option<String>
    ) {
        invitation_id: Id(InvitationId::PREFIX) = invitation.id,
            "The invitation's id (`ivt_...`).";
        email: EMAIL = invitation.email, "The address of the invited person.";
        role_id: words_of(Role) = invitation.role, "What the person may do as a user.";
        inviter_id: Id(UserId::PREFIX) or null = invitation.inviter_id,
            "The user (`usr_...`) who invited; null for an API key or the operator.";
        url: STRING or null = url,
            "The address to send to the invited person, who joins there; null unless it is PENDING and the caller may \
                invite.";
        status: words(&["PENDING", "ACCEPTED", "EXPIRED"]) = status(invitation, *now), "The status.";
        user_id: Id(UserId::PREFIX) or null = invitation.accepted.map(|accepted| accepted.user_id),
            "The user (`usr_...`) that the invited person became.";
        created_at: TIMESTAMP = invitation.created_at, "The time at which it was created.";
        expires_at: TIMESTAMP = invitation.expires_at,
            "The time until which it can be accepted.", such_as("1767830400");
        accepted_at: TIMESTAMP or null = invitation.accepted.map(|accepted| accepted.at),
            "The time at which it was accepted.";
    }
}

/// The status of an invitation at the time `now`.
fn status(invitation: &Invitation, now: Millis) -> &'static str {
    match invitation.accepted {
        Some(_) => "ACCEPTED",
        None if invitation.is_open(now) => "PENDING",
        None => "EXPIRED",
    }
}

object! {
    /// The plan of a merchant.
    pub(in crate::endpoints) CURRENT_PLAN "current_plan" as CurrentPlanShape<'a> of (choice: &'a PlanChoice) {
        plan_id: Id(PlanId::PREFIX) = choice.plan.id,
            "The plan's id (`pln_...`).", such_as("pln_01jqq2sx00e008000000000001");
        name: STRING = choice.plan.name, "The plan's name.", such_as("Starter");
        since: TIMESTAMP = choice.since, "The time since which the merchant has it.";
    }
}

object! {
    /// A plan of the catalogue.
    pub(in crate::endpoints) PLAN "plan" as PlanShape of (plan: Plan) {
        plan_id: Id(PlanId::PREFIX) = plan.id, "The plan's id (`pln_...`).", such_as("pln_01jqq2sx00e008000000000001");
        name: STRING = plan.name, "The plan's name.", such_as("Starter");
        description: STRING = plan.description,
            "The purpose.", such_as("For merchants that take their first payments.");
    }
}
