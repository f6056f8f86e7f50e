//! `POST /merchants/invite-user`, `update-user`, `accept-invitation`, `remove-user`, `list-users`

use till_domain::command::{Command, NewRefundLimit, TeamChange, UpdateUser};
use till_domain::ids::{InvitationId, UserId};
use till_domain::records::Users;
use till_domain::role::Role;
use till_protocol::arguments::id;

use super::by_merchant::ByMerchant;
use crate::endpoints::arguments::{INVITED, NOT_INVITED};
use crate::endpoints::forms::{AMOUNT, words};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::team::{USER, UserShape};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(
        Act::ChangeTeam,
        &INVITE_USER,
        &ByMerchant(INVITED, |merchant_id, invite| Command::ChangeTeam(merchant_id, TeamChange::InviteUser(invite))),
    ),
    MerchantEndpoint(
        Act::ChangeTeam,
        &UPDATE_USER,
        &ByMerchant(UPDATED, |merchant_id, update| Command::ChangeTeam(merchant_id, TeamChange::UpdateUser(update))),
    ),
    MerchantEndpoint(
        Act::ChangeTeam,
        &ACCEPT_INVITATION,
        &ByMerchant(INVITATION_ARGUMENT, |merchant_id, id| {
            Command::ChangeTeam(merchant_id, TeamChange::AcceptInvitation(id))
        }),
    ),
    MerchantEndpoint(
        Act::ChangeTeam,
        &REMOVE_USER,
        &ByMerchant(USER_ARGUMENT, |merchant_id, id| Command::ChangeTeam(merchant_id, TeamChange::RemoveUser(id))),
    ),
    MerchantEndpoint(Act::SeeTeam, &LIST_USERS, &list::<Users>),
];

static INVITE_USER: Declaration = Declaration {
    name: "invite-user",
    summary: "Invites somebody to the merchant's team. Answers the invitation id.",
    docs: "It can be accepted for a week. Till sends no e-mail.",
    arguments: INVITED.declared,
    returns: Returns::Id(InvitationId::PREFIX),
    errors: &[NOT_INVITED],
    ..Declaration::command(Package::Merchants, "team")
};

const INVITATION_ARGUMENT: Required<InvitationId> =
    id::<InvitationId>().required("The invitation (`ivt_...`).").with_name("invitation_id");

static ACCEPT_INVITATION: Declaration = Declaration {
    name: "accept-invitation",
    summary: "Makes the invited person a user of the merchant's team. Answers the user id.",
    arguments: &[INVITATION_ARGUMENT.argument],
    returns: Returns::Id(UserId::PREFIX),
    errors: &[
        DeclaredError::new(Code::NotFound, "No invitation of this merchant has this id, or it has expired."),
        DeclaredError::new(
            Code::Conflict,
            "The invitation was accepted before (details name `user_id`), or the team has 1,000 users already.",
        )
        .with(r#"{"user_id": "usr_01h2e8kqvbfwea724h75qc655w"}"#),
    ],
    ..Declaration::command(Package::Merchants, "team")
};

const USER_ARGUMENT: Required<UserId> = id::<UserId>().required("The user (`usr_...`).").with_name("user_id");

const USER_NOT_FOUND: DeclaredError = DeclaredError::new(Code::NotFound, "No user of this merchant has this id.");
const LAST_OWNER: DeclaredError =
    DeclaredError::new(Code::InvalidState, "The user is the last one with the role OWNER.");

/// A refund limit, or the word that takes it away.
const NEW_REFUND_LIMIT: Field<NewRefundLimit> = Field {
    value_type: ValueType::Text(Text { pattern: Some("^([0-9]+|none)$"), example: Some("100000"), ..Text::PLAIN }),
    parse: |value| match value.as_str() {
        Some("none") => Ok(NewRefundLimit::Remove),
        Some(_) | None => (AMOUNT.parse)(value).map(NewRefundLimit::Set),
    },
};

const UPDATED: ArgumentSet<UpdateUser> = arguments!({
    user_id: USER_ARGUMENT,
    role_id: words!(Role).optional("Another role. It ends the user's sessions, and takes the refund limit away."),
    refund_limit: NEW_REFUND_LIMIT.optional("The largest amount that the user may give back in one call, in minor \
        units, only with the role SUPPORT; `none` takes it away."),
} => UpdateUser { user_id, role: role_id, refund_limit });

static UPDATE_USER: Declaration = Declaration {
    name: "update-user",
    summary: "Changes the role or the refund limit of a user; `false` when nothing changed.",
    docs: "Nobody changes their own role.",
    arguments: UPDATED.declared,
    errors: &[USER_NOT_FOUND, LAST_OWNER],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "team")
};

static REMOVE_USER: Declaration = Declaration {
    name: "remove-user",
    summary: "Removes a user from the merchant's team.",
    arguments: &[USER_ARGUMENT.argument],
    errors: &[USER_NOT_FOUND, LAST_OWNER],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "team")
};

static LIST_USERS: Declaration = Declaration {
    name: "list-users",
    summary: "Lists the users of the merchant's team, newest first.",
    docs: "Removed users are not listed.",
    arguments: &list_page_arguments(UserId::PREFIX),
    returns: Returns::ListPage(&USER),
    ..Declaration::query(Package::Merchants, "team")
};

kind!(Users => UserShape::new);
