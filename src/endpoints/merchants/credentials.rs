//! `POST /merchants/reset-user-credentials`, `list-user-invitations`: addresses at which people get credentials.

use till_domain::command::{Command, SeatCommand, TeamChange};
use till_domain::event::Answer;
use till_domain::ids::{InvitationId, UserId};
use till_domain::records::Invitations;
use till_domain::team::Invitation;
use till_protocol::arguments::id;

use super::checkouts::ADDRESS;
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::team::{INVITATION, InvitationShape};
use crate::service::read_list_page;

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::ChangeTeam, &RESET_USER_CREDENTIALS, &reset_user_credentials),
    MerchantEndpoint(Act::SeeTeam, &LIST_USER_INVITATIONS, &list_user_invitations),
];

/// The argument that names the user.
pub(in crate::endpoints) const RESET_USER: Required<UserId> =
    id::<UserId>().required("The user (`usr_...`).").with_name("user_id");

/// The description of the call in both interfaces.
pub(in crate::endpoints) const RESET_DOCS: &str = "The address can be used once within 24 hours, and replaces one \
    that was answered before. Until then the user signs in as before. Till sends no e-mail.";

static RESET_USER_CREDENTIALS: Declaration = Declaration {
    name: "reset-user-credentials",
    summary: "Returns an address at which a user sets password, authenticator and recovery codes anew.",
    docs: RESET_DOCS,
    arguments: &[RESET_USER.argument],
    returns: Returns::Text(ADDRESS),
    errors: &[DeclaredError::new(Code::NotFound, "No user of this merchant has this id.")],
    flags: Flags { answers_addresses: true, works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "team")
};

async fn reset_user_credentials(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let user_id = call.fields().parse(&RESET_USER)?;
    let caller = call.caller();
    let command = Command::ChangeTeam(caller.merchant_id, TeamChange::ChangeSeat(user_id, SeatCommand::AllowReset));
    let answered = service.submit(&call, caller.merchant_id, caller.as_domain(), command, None).await?;
    let Answer::CredentialsReset(id) = answered.answer else { return Err(ApiError::unhandled()) };
    let url = call.absolute(&service.reset_path(caller.merchant_id, id));
    Ok(Reply::new(&url).replayed(answered.replayed))
}

static LIST_USER_INVITATIONS: Declaration = Declaration {
    name: "list-user-invitations",
    summary: "Lists the invitations to the merchant's team, newest first.",
    docs: "Accepted and expired invitations are listed, too.",
    arguments: &list_page_arguments(InvitationId::PREFIX),
    returns: Returns::ListPage(&INVITATION),
    flags: Flags { answers_addresses: true, ..Flags::QUERY },
    ..Declaration::query(Package::Merchants, "team")
};

async fn list_user_invitations(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let request = call.fields().parse(&list_page::<InvitationId>())?;
    let (caller, merchant_id) = (call.caller(), call.caller().merchant_id);
    let reader = caller.reader(&service).await?;
    let now = service.merchant_now(merchant_id)?;
    let shown = |invitation: &Invitation| caller.may(Act::ChangeTeam) && invitation.is_open(now);
    let url = |invitation: &Invitation| call.absolute(&service.invitation_path(merchant_id, invitation.id));
    let page = read_list_page::<Invitations>(&reader, request)?;
    Reply::list_page(&page.try_map(|invitation| {
        let url = shown(invitation).then(|| url(invitation));
        Ok::<_, ApiError>(InvitationShape::new(invitation, now, url))
    })?)
}
