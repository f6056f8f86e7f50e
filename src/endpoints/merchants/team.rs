//! `POST /merchants/invite-user`, `accept-invitation`, `remove-user`, `list-users`, `list-user-invitations`

use till_domain::command::{Command, TeamChange};
use till_domain::ids::{InvitationId, UserId};
use till_domain::records::{Invitations, Users};

use super::by_merchant;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::shapes::team::{INVITATION, InvitationShape, USER, UserShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType, page_arguments,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::{Shared, read_page};

pub(super) static INVITE_USER: Declaration = Declaration {
    name: "invite-user",
    package: Package::Merchants,
    group: "team",
    summary: "Invites somebody to the merchant's team. Answers the invitation id.",
    docs: "Anybody who has its id can accept the invitation for a week. Till sends no e-mail.",
    arguments: &[Argument::required("email", ValueType::EMAIL, "The address of the invited person.")],
    returns: Returns::Id(InvitationId::PREFIX),
    errors: &[DeclaredError::when(
        Code::Conflict,
        "A user has this address (details name `user_id`), it is invited already (details name `invitation_id`), or 1,000 invitations are open.",
    ).with(r#"{"argument": "email", "user_id": "usr_01h2e8kqvbfwea724h75qc655w"}"#)],
    flags: Flags::COMMAND,
};

pub(super) static ACCEPT_INVITATION: Declaration = Declaration {
    name: "accept-invitation",
    package: Package::Merchants,
    group: "team",
    summary: "Makes the invited person a user of the merchant's team. Answers the user id.",
    docs: "",
    arguments: &[Argument::required(
        "invitation_id",
        ValueType::Id(InvitationId::PREFIX),
        "The invitation (`ivt_...`).",
    )],
    returns: Returns::Id(UserId::PREFIX),
    errors: &[
        DeclaredError::when(Code::NotFound, "No invitation of this merchant has this id, or it has expired."),
        DeclaredError::when(
            Code::Conflict,
            "The invitation was accepted before (details name `user_id`), or the team has 1,000 users already.",
        )
        .with(r#"{"user_id": "usr_01h2e8kqvbfwea724h75qc655w"}"#),
    ],
    flags: Flags::COMMAND,
};

pub(super) static REMOVE_USER: Declaration = Declaration {
    name: "remove-user",
    package: Package::Merchants,
    group: "team",
    summary: "Removes a user from the merchant's team.",
    docs: "",
    arguments: &[Argument::required("user_id", ValueType::Id(UserId::PREFIX), "The user (`usr_...`).")],
    returns: Returns::Boolean,
    errors: &[DeclaredError::when(Code::NotFound, "No user of this merchant has this id.")],
    flags: Flags::COMMAND,
};

pub(super) static LIST_USERS: Declaration = Declaration {
    name: "list-users",
    package: Package::Merchants,
    group: "team",
    summary: "Lists the users of the merchant's team, newest first.",
    docs: "Removed users are not listed.",
    arguments: &page_arguments(UserId::PREFIX),
    returns: Returns::Page(&USER),
    errors: &[],
    flags: Flags::QUERY,
};

pub(super) static LIST_USER_INVITATIONS: Declaration = Declaration {
    name: "list-user-invitations",
    package: Package::Merchants,
    group: "team",
    summary: "Lists the invitations to the merchant's team, newest first.",
    docs: "Accepted and expired invitations are listed, too.",
    arguments: &page_arguments(InvitationId::PREFIX),
    returns: Returns::Page(&INVITATION),
    errors: &[],
    flags: Flags::QUERY,
};

/// `POST /merchants/invite-user`
pub(super) async fn invite_user(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let email = fields.required("email", arguments::clear_email);
    let change = fields.finish(|| Some(TeamChange::InviteUser(email?)))?;
    by_merchant::submit(&service, &INVITE_USER, &call, of_caller(&call, change)).await
}

/// `POST /merchants/accept-invitation`
pub(super) async fn accept_invitation(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("invitation_id", arguments::id("an invitation id (ivt_...)"));
    let change = fields.finish(|| Some(TeamChange::AcceptInvitation(id?)))?;
    by_merchant::submit(&service, &ACCEPT_INVITATION, &call, of_caller(&call, change)).await
}

/// `POST /merchants/remove-user`
pub(super) async fn remove_user(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("user_id", arguments::id("a user id (usr_...)"));
    let change = fields.finish(|| Some(TeamChange::RemoveUser(id?)))?;
    by_merchant::submit(&service, &REMOVE_USER, &call, of_caller(&call, change)).await
}

/// The change as a command to the calling merchant.
pub(super) fn of_caller(call: &Call<MerchantCaller>, change: TeamChange) -> Command {
    Command::ChangeTeam(call.caller().merchant_id, change)
}

/// `POST /merchants/list-users`
pub(super) async fn list_users(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<UserId>("a user id (usr_...)"));
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Reply::page(&read_page::<Users>(&reader, request)?.map(UserShape::new))
}

/// `POST /merchants/list-user-invitations`
pub(super) async fn list_user_invitations(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<InvitationId>("an invitation id (ivt_...)"));
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let page = read_page::<Invitations>(&reader, request)?;
    let now = service.merchant_now(reader.merchant_id())?;
    Reply::page(&page.map(|invitation| InvitationShape::new(invitation, now)))
}
