//! `POST /admin/reset-user-credentials`

use till_domain::command::{Command, SeatCommand, TeamChange};
use till_domain::event::Answer;
use till_domain::ids::{MerchantId, UserId};

use super::about_merchant::{MERCHANT_ARGUMENT, submit};
use crate::endpoints::merchants::{ADDRESS, RESET_DOCS, RESET_USER};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&RESET_USER_CREDENTIALS, &reset_user_credentials)];

const RESET: ArgumentSet<(MerchantId, UserId)> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, user_id: RESET_USER } => (merchant_id, user_id));

static RESET_USER_CREDENTIALS: Declaration = Declaration {
    name: "reset-user-credentials",
    summary: "Returns an address at which a user sets password, authenticator and recovery codes anew. Without \
        `public_url` it is a path of the public listener.",
    docs: RESET_DOCS,
    arguments: RESET.declared,
    returns: Returns::Text(ADDRESS),
    errors: &[DeclaredError::new(Code::NotFound, "No merchant has this id, or no user of this merchant.")],
    ..Declaration::command(Package::Admin, "team")
};

async fn reset_user_credentials(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, user_id) = call.fields().parse(&RESET)?;
    let command = Command::ChangeTeam(merchant_id, TeamChange::ChangeSeat(user_id, SeatCommand::AllowReset));
    let answered = submit(&service, &call, merchant_id, command).await?;
    let Answer::CredentialsReset(id) = answered.answer else { return Err(ApiError::unhandled()) };
    let url = [service.public_url().unwrap_or_default(), &service.reset_path(merchant_id, id)].concat();
    Ok(Reply::new(&url).replayed(answered.replayed))
}
