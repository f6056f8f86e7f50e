//! The JSON of users, invitations and plans.

use serde::Serialize;
use till_domain::ids::{InvitationId, PlanId, UserId};
use till_domain::plan::Plan;
use till_domain::team::{Invitation, User};
use till_domain::time::Millis;

use crate::protocol::declaration::{Attribute, ObjectType, ValueType};

pub(in crate::endpoints) static USER: ObjectType = ObjectType {
    name: "user",
    attributes: &[
        Attribute::always("user_id", ValueType::Id(UserId::PREFIX), "The user's id (`usr_...`)."),
        Attribute::always("email", ValueType::EMAIL, "The user's address."),
        Attribute::always(
            "invitation_id",
            ValueType::Id(InvitationId::PREFIX),
            "The invitation (`ivt_...`) that was accepted.",
        ),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which the user joined the team."),
    ],
};

#[derive(Serialize)]
pub(in crate::endpoints) struct UserShape {
    user_id: String,
    email: String,
    invitation_id: String,
    created_at: u64,
}

impl UserShape {
    /// The object for a user.
    pub(in crate::endpoints) fn new(user: &User) -> UserShape {
        UserShape {
            user_id: user.id.to_string(),
            email: user.email.as_str().to_owned(),
            invitation_id: user.invitation_id.to_string(),
            created_at: user.created_at.unix_seconds(),
        }
    }
}

pub(in crate::endpoints) static INVITATION: ObjectType = ObjectType {
    name: "user_invitation",
    attributes: &[
        Attribute::always(
            "invitation_id",
            ValueType::Id(InvitationId::PREFIX),
            "The invitation's id (`ivt_...`): anybody who has it may accept.",
        ),
        Attribute::always("email", ValueType::EMAIL, "The address of the invited person."),
        Attribute::always("status", ValueType::words(&["PENDING", "ACCEPTED", "EXPIRED"]), "The status."),
        Attribute::nullable(
            "user_id",
            ValueType::Id(UserId::PREFIX),
            "The user (`usr_...`) that the invited person became.",
        ),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was created."),
        Attribute::always("expires_at", ValueType::TIMESTAMP, "The time until which it can be accepted.")
            .such_as("1767830400"),
        Attribute::nullable("accepted_at", ValueType::TIMESTAMP, "The time at which it was accepted."),
    ],
};

#[derive(Serialize)]
pub(in crate::endpoints) struct InvitationShape {
    invitation_id: String,
    email: String,
    status: &'static str,
    user_id: Option<String>,
    created_at: u64,
    expires_at: u64,
    accepted_at: Option<u64>,
}

impl InvitationShape {
    /// The object for an invitation at the time `now`.
    pub(in crate::endpoints) fn new(invitation: &Invitation, now: Millis) -> InvitationShape {
        let status = match invitation.accepted {
            Some(_) => "ACCEPTED",
            None if invitation.is_open(now) => "PENDING",
            None => "EXPIRED",
        };
        InvitationShape {
            invitation_id: invitation.id.to_string(),
            email: invitation.email.as_str().to_owned(),
            status,
            user_id: invitation.accepted.map(|accepted| accepted.user_id.to_string()),
            created_at: invitation.created_at.unix_seconds(),
            expires_at: invitation.expires_at.unix_seconds(),
            accepted_at: invitation.accepted.map(|accepted| accepted.at.unix_seconds()),
        }
    }
}

pub(in crate::endpoints) static CURRENT_PLAN: ObjectType = ObjectType {
    name: "current_plan",
    attributes: &[
        Attribute::always("plan_id", ValueType::Id(PlanId::PREFIX), "The plan's id (`pln_...`).")
            .such_as("pln_01jqq2sx00e008000000000001"),
        Attribute::always("name", ValueType::STRING, "The plan's name.").such_as("Starter"),
        Attribute::always("since", ValueType::TIMESTAMP, "The time since which the merchant has it."),
    ],
};

#[derive(Serialize)]
pub(in crate::endpoints) struct CurrentPlanShape {
    /// The plan's id.
    pub(in crate::endpoints) plan_id: String,
    /// The plan's name.
    pub(in crate::endpoints) name: String,
    /// The time since which the merchant has it, in Unix seconds.
    pub(in crate::endpoints) since: u64,
}

pub(in crate::endpoints) static PLAN: ObjectType = ObjectType {
    name: "plan",
    attributes: &[
        Attribute::always("plan_id", ValueType::Id(PlanId::PREFIX), "The plan's id (`pln_...`).")
            .such_as("pln_01jqq2sx00e008000000000001"),
        Attribute::always("name", ValueType::STRING, "The plan's name.").such_as("Starter"),
        Attribute::always("description", ValueType::STRING, "The purpose.")
            .such_as("For merchants that take their first payments."),
    ],
};

/// A plan of the catalogue.
#[derive(Serialize)]
pub(in crate::endpoints) struct PlanShape {
    plan_id: String,
    name: &'static str,
    description: &'static str,
}

impl PlanShape {
    /// The object for a plan.
    pub(in crate::endpoints) fn new(plan: Plan) -> PlanShape {
        PlanShape { plan_id: plan.id.to_string(), name: plan.name, description: plan.description }
    }
}
