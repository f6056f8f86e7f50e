//! Sessions: how they begin, whose they are, and the code that some acts ask for again.

use serde_json::json;
use till_domain::command::SeatCommand;
use till_domain::ids::MerchantId;
use till_domain::records::{Profiles, Rows, Single, Users};

use super::members::{Given, SECRET_INTAKE, Seated, address, begin_session, declared, share, wrong};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> =
    &[Endpoint(&SIGN_IN, &sign_in), Endpoint(&FIND_MEMBER, &find_member), Endpoint(&USE_CODE, &use_code)];

/// Begins a session by e-mail, password and code. Answers its cookie.
pub(crate) static SIGN_IN: Declaration = declared("sign-in", SECRET_INTAKE);

async fn sign_in(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let given = Given::of(&call)?;
    let (merchant_id, email) = (given.merchant_id.as_deref(), given.email.as_deref().unwrap_or_default());
    service.seats().attempts().begin(address(&call), email)?;
    call.give_permit_back();
    let found = match merchant_id.and_then(|id| id.parse().ok()) {
        Some(merchant_id) => Seated::by_email(&service.reader(merchant_id).await?, email)?,
        None => None,
    };
    let credentials = found.as_ref().map(|found| &found.credentials);
    let is_password = service.seats().is_password(share(&call), credentials, given.password()).await?;
    let member = found.filter(|_| is_password).ok_or_else(wrong)?;
    let Seated { merchant_id, ref user, ref credentials } = member;
    let code = service.seats().code(merchant_id, credentials, given.code(), service.now()).ok_or_else(wrong)?;
    let command = SeatCommand::SignIn { code, session: user.sessions_ended };
    let signed_in = member.change(&service, &call, command, None).await;
    signed_in.map_err(|error| if error.code() == Code::Unavailable { error } else { wrong() })?;
    service.seats().attempts().succeeded(address(&call), email);
    call.log_subject(merchant_id, None);
    Ok(Reply::new(&begin_session(&service, merchant_id, user.id).await?))
}

/// Finds the member of a session, and renews its cookie.
pub(crate) static FIND_MEMBER: Declaration = declared("find-member", Flags::OPEN_QUERY);

async fn find_member(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let over = || ApiError::new(Code::NotFound, "The session is over.");
    let Given { merchant_id, session, .. } = Given::of(&call)?;
    let merchant_id: MerchantId = merchant_id.and_then(|id| id.parse().ok()).ok_or_else(over)?;
    let session = session.and_then(|session| service.seats().session(merchant_id, &session, service.now()));
    let session = session.ok_or_else(over)?;
    let reader = service.reader(merchant_id).await?;
    let user = reader.get::<Users>(session.user_id())?.ok_or_else(over)?;
    let profile = reader.get::<Profiles>(Single)?.ok_or_else(over)?;
    if user.sessions_ended != session.number {
        return Err(over());
    }
    call.log_subject(merchant_id, None);
    Ok(Reply::new(&json!({
        "user_id": user.id.to_string(),
        "email": user.email.as_str(),
        "role_id": user.role.name(),
        "refund_limit": user.refund_limit.map(|limit| limit.get()),
        "merchant_name": profile.name.as_str(),
        "currency": profile.currency.code(),
        "time_zone": profile.time_zone.as_str(),
        "session": service.seats().cookie(merchant_id, session, service.now())?,
    })))
}

/// Uses a code of the calling member up, for an act that asks for one again.
pub(crate) static USE_CODE: Declaration = declared("use-code", Flags { carries_card_data: true, ..Flags::COMMAND });

async fn use_code(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let given = Given::of(&call)?;
    let member = Seated::calling(&service, &call).await?;
    let name = member.user.id.to_string();
    service.seats().attempts().begin(address(&call), &name)?;
    let code = service.seats().code(member.merchant_id, &member.credentials, given.code(), service.now());
    let command = SeatCommand::UseCode { code: code.ok_or_else(wrong)?, session: member.user.sessions_ended };
    member.change(&service, &call, command, None).await?;
    service.seats().attempts().succeeded(address(&call), &name);
    Ok(Reply::new(&true))
}
