//! The invitations to a merchant's team, with their addresses, as the operator's pages show them.

use till_domain::ids::{InvitationId, MerchantId};
use till_domain::records::Invitations;
use till_domain::team::Invitation;

use crate::endpoints::admin::{MERCHANT_ARGUMENT, check_exists};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::team::{INVITATION, InvitationShape};
use crate::service::read_list_page;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&LIST_USER_INVITATIONS, &list_user_invitations)];

const LISTED: ArgumentSet<(MerchantId, ListPageRequest<InvitationId>)> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, page: list_page::<InvitationId>() } => (merchant_id, page));

pub(super) static LIST_USER_INVITATIONS: Declaration = Declaration {
    name: "list-user-invitations",
    summary: "Lists the invitations to a merchant's team, newest first.",
    arguments: LISTED.declared,
    returns: Returns::ListPage(&INVITATION),
    ..Declaration::query(Package::Admin, "team")
};

/// Without `public_url` an address is a path of the public listener.
async fn list_user_invitations(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, request) = call.fields().parse(&LISTED)?;
    check_exists(&service, merchant_id)?;
    let now = service.merchant_now(merchant_id)?;
    let page = read_list_page::<Invitations>(&service.reader(merchant_id).await?, request)?;
    let address = |invitation: &Invitation| {
        let path = service.invitation_path(merchant_id, invitation.id);
        invitation.is_open(now).then(|| [service.public_url().unwrap_or_default(), &path].concat())
    };
    Reply::list_page(&page.map(|invitation| InvitationShape::new(invitation, now, address(invitation))))
}
