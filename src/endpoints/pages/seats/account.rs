//! What signed-in members change of their own credentials. Each ends all sessions; a new one begins for the member who
//! asked. The page has asked for a code before.

use till_domain::command::SeatCommand;
use till_domain::team::CredentialsPart;
use till_storage::vault::Credentials;
use zeroize::Zeroizing;

use super::links::{CodesShape, DRAFT, SHOWN_CODES, confirmed, draft_authenticator, with_password};
use super::members::{SECRET_INTAKE, Seated, begin_session, text};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[
    Endpoint(&CHANGE_PASSWORD, &change_password),
    Endpoint(&DRAFT_AUTHENTICATOR, &new_authenticator),
    Endpoint(&SET_AUTHENTICATOR, &set_authenticator),
    Endpoint(&RENEW_RECOVERY_CODES, &renew_recovery_codes),
    Endpoint(&END_SESSIONS, &end_sessions),
];

/// Calls of a member with secrets in their arguments.
const MEMBERS_SECRETS: Flags = Flags { needs_key: true, ..SECRET_INTAKE };

const PASSWORD: Required<String> = text("password");

/// Changes the calling member's password.
pub(crate) static CHANGE_PASSWORD: Declaration = Declaration {
    name: "change-password",
    summary: "Changes the calling member's password. Answers the cookie of a new session.",
    arguments: &[PASSWORD.argument],
    returns: Returns::Text(ValueType::STRING),
    flags: MEMBERS_SECRETS,
    ..Declaration::command(Package::Sdk, "seats")
};

async fn change_password(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let password = Zeroizing::new(call.fields().parse(&PASSWORD)?);
    let member = Seated::calling(&service, &call).await?;
    let email = member.user.email.as_str();
    let new = with_password(&service, &call, member.credentials.clone(), password, email).await?;
    replace(&service, &call, &member, CredentialsPart::Password, None, new).await?;
    begin_session(&service, member.merchant_id, member.user.id).await
}

async fn replace(
    service: &Shared,
    call: &Call<MerchantCaller>,
    member: &Seated,
    part: CredentialsPart,
    step: Option<u64>,
    new: Credentials,
) -> Result<(), ApiError> {
    let session = member.user.sessions_ended;
    member.change(service, call, SeatCommand::Replace { part, step, session }, Some(new)).await
}

/// Makes a secret for another authenticator of the calling member.
pub(crate) static DRAFT_AUTHENTICATOR: Declaration = Declaration {
    name: "draft-authenticator",
    summary: "Makes a secret for the calling member's next authenticator.",
    returns: Returns::Object(&DRAFT),
    flags: Flags::QUERY,
    ..Declaration::query(Package::Sdk, "seats")
};

async fn new_authenticator(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let Seated { merchant_id, user, credentials } = Seated::calling(&service, &call).await?;
    draft_authenticator(&service, merchant_id, user.id.raw(), user.email.as_str(), credentials)
}

const SET: ArgumentSet<(String, String)> = arguments!({ draft: text("draft"), code: text("code") } => (draft, code));

/// Replaces the calling member's authenticator.
pub(crate) static SET_AUTHENTICATOR: Declaration = Declaration {
    name: "set-authenticator",
    summary: "Replaces the calling member's authenticator. Answers the cookie of a new session.",
    arguments: SET.declared,
    returns: Returns::Text(ValueType::STRING),
    flags: MEMBERS_SECRETS,
    ..Declaration::command(Package::Sdk, "seats")
};

async fn set_authenticator(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (draft, code) = call.fields().parse(&SET)?;
    let member = Seated::calling(&service, &call).await?;
    let draft = confirmed(&service, member.merchant_id, member.user.id.raw(), &draft, &code)?;
    // Only the authenticator is taken from the draft: the rest may have been changed since.
    let mut new = member.credentials.clone();
    new.authenticator = draft.credentials.authenticator;
    replace(&service, &call, &member, CredentialsPart::Authenticator, draft.step, new).await?;
    begin_session(&service, member.merchant_id, member.user.id).await
}

/// Replaces the calling member's recovery codes.
pub(crate) static RENEW_RECOVERY_CODES: Declaration = Declaration {
    name: "renew-recovery-codes",
    summary: "Replaces the calling member's recovery codes.",
    returns: Returns::Object(&SHOWN_CODES),
    flags: MEMBERS_SECRETS,
    ..Declaration::command(Package::Sdk, "seats")
};

async fn renew_recovery_codes(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let member = Seated::calling(&service, &call).await?;
    let (new, codes) = service.seats().with_new_recovery_codes(member.merchant_id, member.credentials.clone())?;
    replace(&service, &call, &member, CredentialsPart::RecoveryCodes, None, new).await?;
    let cookie = begin_session(&service, member.merchant_id, member.user.id).await?;
    Ok(Reply::new(&CodesShape::new(cookie, &codes)))
}

/// Ends all sessions of the calling member.
pub(crate) static END_SESSIONS: Declaration = Declaration {
    name: "end-sessions",
    summary: "Ends all sessions of the calling member.",
    flags: Flags::COMMAND,
    ..Declaration::command(Package::Sdk, "seats")
};

async fn end_sessions(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let member = Seated::calling(&service, &call).await?;
    member.change(&service, &call, SeatCommand::EndSessions, None).await?;
    Ok(Reply::new(&true))
}
