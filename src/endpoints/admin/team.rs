//! `POST /admin/invite-user`

use till_domain::command::{Command, InviteUser, TeamChange};
use till_domain::ids::{InvitationId, MerchantId};

use super::about_merchant::{ByOperator, MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND};
use crate::endpoints::arguments::{INVITED, NOT_INVITED};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(
    &INVITE_USER,
    &ByOperator(OF_MERCHANT, |(merchant_id, invite)| Command::ChangeTeam(merchant_id, TeamChange::InviteUser(invite))),
)];

const OF_MERCHANT: ArgumentSet<(MerchantId, (MerchantId, InviteUser))> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, invited: INVITED } => (merchant_id, (merchant_id, invited)));

static INVITE_USER: Declaration = Declaration {
    name: "invite-user",
    summary: "Invites somebody to a merchant's team. Answers the invitation id.",
    docs: "It can be accepted for a week. Till sends no e-mail. The first member of a team is invited like this, with \
        the role OWNER.",
    arguments: OF_MERCHANT.declared,
    returns: Returns::Id(InvitationId::PREFIX),
    errors: &[MERCHANT_NOT_FOUND, NOT_INVITED],
    ..Declaration::command(Package::Admin, "team")
};
