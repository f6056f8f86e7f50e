//! What signed-in members change of their own credentials. Each ends all sessions; a new one begins for the member who
//! asked, whose cookie is answered. The page has asked for a code before.

use serde_json::json;
use till_domain::command::SeatCommand;
use till_domain::team::CredentialsPart;
use till_storage::vault::Credentials;

use super::links::{confirmed, draft_authenticator, with_password};
use super::members::{Given, SECRET_INTAKE, Seated, begin_session, declared};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[
    Endpoint(&CHANGE_PASSWORD, &change_password),
    Endpoint(&DRAFT_AUTHENTICATOR, &new_authenticator),
    Endpoint(&SET_AUTHENTICATOR, &set_authenticator),
    Endpoint(&RENEW_RECOVERY_CODES, &renew_recovery_codes),
    Endpoint(&END_SESSIONS, &end_sessions),
];

/// Changes the calling member's password.
pub(crate) static CHANGE_PASSWORD: Declaration = declared("change-password", SECRET_INTAKE);

async fn change_password(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let given = Given::of(&call)?;
    let member = Seated::calling(&service, &call).await?;
    let (before, email) = (member.credentials.clone(), &member.user.email);
    let new = with_password(&service, &call, before, given.password(), email).await?;
    Ok(Reply::new(&replace(&service, &call, &member, CredentialsPart::Password, None, new).await?))
}

/// Sets credentials of which a part is new. Answers the cookie of the new session.
async fn replace(
    service: &Shared,
    call: &Call<MerchantCaller>,
    member: &Seated,
    part: CredentialsPart,
    step: Option<u64>,
    new: Credentials,
) -> Result<String, ApiError> {
    let session = member.user.sessions_ended;
    member.change(service, call, SeatCommand::Replace { part, step, session }, Some(new)).await?;
    begin_session(service, member.merchant_id, member.user.id).await
}

/// Makes a secret for another authenticator of the calling member.
pub(crate) static DRAFT_AUTHENTICATOR: Declaration = declared("draft-authenticator", Flags::QUERY);

async fn new_authenticator(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    Given::of(&call)?;
    let Seated { merchant_id, user, credentials } = Seated::calling(&service, &call).await?;
    draft_authenticator(&service, merchant_id, user.id.raw(), &user.email, credentials)
}

/// Replaces the calling member's authenticator.
pub(crate) static SET_AUTHENTICATOR: Declaration = declared("set-authenticator", SECRET_INTAKE);

async fn set_authenticator(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let given = Given::of(&call)?;
    let member = Seated::calling(&service, &call).await?;
    let (drafted, step) = confirmed(&service, member.merchant_id, member.user.id.raw(), &given)?;
    // Only the authenticator is taken from the draft: the rest may have been changed since.
    let mut new = member.credentials.clone();
    new.authenticator = drafted.authenticator;
    Ok(Reply::new(&replace(&service, &call, &member, CredentialsPart::Authenticator, Some(step), new).await?))
}

/// Replaces the calling member's recovery codes.
pub(crate) static RENEW_RECOVERY_CODES: Declaration = declared("renew-recovery-codes", SECRET_INTAKE);

async fn renew_recovery_codes(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    Given::of(&call)?;
    let member = Seated::calling(&service, &call).await?;
    let (new, codes) = service.seats().with_new_recovery_codes(member.merchant_id, member.credentials.clone())?;
    let session = replace(&service, &call, &member, CredentialsPart::RecoveryCodes, None, new).await?;
    Ok(Reply::new(&json!({ "session": session, "codes": codes.each_ref().map(|code| code.as_str()) })))
}

/// Ends all sessions of the calling member.
pub(crate) static END_SESSIONS: Declaration = declared("end-sessions", Flags::COMMAND);

async fn end_sessions(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    Given::of(&call)?;
    let member = Seated::calling(&service, &call).await?;
    member.change(&service, &call, SeatCommand::EndSessions, None).await?;
    Ok(Reply::new(&true))
}
