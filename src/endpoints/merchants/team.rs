//! `POST /merchants/invite-user`, `accept-invitation`, `remove-user`, `list-users`, `list-user-invitations`

use till_domain::command::{Command, InviteUser, TeamChange};
use till_domain::ids::{InvitationId, UserId};
use till_domain::records::{Invitations, Users};
use till_domain::role::Role;
use till_domain::text::Email;
use till_domain::time::Millis;
use till_protocol::arguments::id;

use super::by_merchant::ByMerchant;
use crate::endpoints::forms::CLEAR_EMAIL;
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::team::{INVITATION, InvitationShape, USER, UserShape};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[
    Endpoint(
        &INVITE_USER,
        &ByMerchant(EMAIL_ARGUMENT, |merchant_id, email| {
            let invite = InviteUser { email, role: Role::Viewer, refund_limit: None };
            Command::ChangeTeam(merchant_id, TeamChange::InviteUser(invite))
        }),
    ),
    Endpoint(
        &ACCEPT_INVITATION,
        &ByMerchant(INVITATION_ARGUMENT, |merchant_id, id| {
            Command::ChangeTeam(merchant_id, TeamChange::AcceptInvitation(id))
        }),
    ),
    Endpoint(
        &REMOVE_USER,
        &ByMerchant(USER_ARGUMENT, |merchant_id, id| Command::ChangeTeam(merchant_id, TeamChange::RemoveUser(id))),
    ),
    Endpoint(&LIST_USERS, &list::<Users>),
    Endpoint(&LIST_USER_INVITATIONS, &list::<Invitations>),
];

const EMAIL_ARGUMENT: Required<Email> = CLEAR_EMAIL.required("The address of the invited person.").with_name("email");

static INVITE_USER: Declaration = Declaration {
    name: "invite-user",
    summary: "Invites somebody to the merchant's team. Answers the invitation id.",
    docs: "Anybody who has its id can accept the invitation for a week. Till sends no e-mail.",
    arguments: &[EMAIL_ARGUMENT.argument],
    returns: Returns::Id(InvitationId::PREFIX),
    errors: &[DeclaredError::new(
        Code::Conflict,
        "A user has this address (details name `user_id`), it is invited already (details name `invitation_id`), or \
            1,000 invitations are open.",
    )
    .with(r#"{"argument": "email", "user_id": "usr_01h2e8kqvbfwea724h75qc655w"}"#)],
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

static REMOVE_USER: Declaration = Declaration {
    name: "remove-user",
    summary: "Removes a user from the merchant's team.",
    arguments: &[USER_ARGUMENT.argument],
    errors: &[DeclaredError::new(Code::NotFound, "No user of this merchant has this id.")],
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

static LIST_USER_INVITATIONS: Declaration = Declaration {
    name: "list-user-invitations",
    summary: "Lists the invitations to the merchant's team, newest first.",
    docs: "Accepted and expired invitations are listed, too.",
    arguments: &list_page_arguments(InvitationId::PREFIX),
    returns: Returns::ListPage(&INVITATION),
    ..Declaration::query(Package::Merchants, "team")
};

kind!(Users => UserShape::new);
kind!(Invitations, Millis: |service, reader| service.merchant_now(reader.merchant_id())
    => |invitation, now, _| Ok(InvitationShape::new(invitation, *now)));
