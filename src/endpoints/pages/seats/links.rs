//! Credentials by an address: somebody joins a team, or a member sets its credentials anew. Nothing changes before the
//! last step; until then the browser keeps the new credentials, sealed.

use serde_json::json;
use till_actors::Secret;
use till_domain::command::{Caller, Command, SeatCommand, TeamChange};
use till_domain::event::Answer;
use till_domain::ids::{CredentialsId, InvitationId, MerchantId, RawId, UserId};
use till_domain::records::{Invitations, Users};
use till_domain::role::Role;
use till_domain::team::TEAM_MAX;
use till_domain::text::Email;
use till_storage::rows::ScanDirection;
use till_storage::vault::{AddressKind, Credentials};
use zeroize::Zeroizing;

use super::members::{Given, SECRET_INTAKE, begin_session, declared, share, wrong};
use crate::endpoints::pages::checkout::profile;
use crate::endpoints::prelude::*;
use crate::seats::{Draft, check_password, provisioning_uri, secret_text};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[
    Endpoint(&SHOW_LINK, &show_link),
    Endpoint(&DRAFT_CREDENTIALS, &draft_credentials),
    Endpoint(&CONFIRM_AUTHENTICATOR, &confirm_authenticator),
    Endpoint(&SET_CREDENTIALS, &set_credentials),
];

/// An address that can be used now.
struct Opened {
    merchant_id: MerchantId,
    merchant: String,
    link: RawId,
    email: Email,
    role: Role,
    by: By,
}

/// The object behind an address.
enum By {
    Invitation(InvitationId),
    Reset(UserId, CredentialsId),
}

/// Opens the address that a page has. One that was used, or is over, is `INVALID_STATE`.
async fn open(service: &Shared, call: &Call<MerchantCaller>, given: &Given) -> Result<Opened, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "There is no such address.");
    let merchant_id: MerchantId = given.merchant_id.as_ref().and_then(|id| id.parse().ok()).ok_or_else(unknown)?;
    let link: CredentialsId = given.link.as_ref().and_then(|link| link.parse().ok()).ok_or_else(unknown)?;
    let reader = service.reader(merchant_id).await?;
    let merchant = profile(&reader)?.ok_or_else(unknown)?.name.as_str().to_owned();
    call.log_subject(merchant_id, None);
    let now = service.merchant_now(merchant_id)?;
    let (email, role, by, is_open) = if given.kind.as_deref() == Some("invitation") {
        let at = |random| InvitationId::from_raw(RawId::new(link.raw().position(), random));
        let found = reader.scan_rows::<Invitations>(at(0)..=at(u64::MAX), ScanDirection::Forward, 1)?;
        let is_own = |id: InvitationId| service.is_link_of(merchant_id, AddressKind::Invitation, id.raw(), link);
        let found = found.into_iter().find(|found| is_own(found.id)).ok_or_else(unknown)?;
        let is_open = found.is_open(now);
        (found.email, found.role, By::Invitation(found.id), is_open)
    } else {
        let users = reader.scan_rows::<Users>(.., ScanDirection::Forward, TEAM_MAX)?;
        let is_own = |id: CredentialsId| service.is_link_of(merchant_id, AddressKind::Reset, id.raw(), link);
        let own = users.into_iter().find_map(|user| Some((user.seat.reset.filter(|reset| is_own(reset.id))?, user)));
        let (reset, user) = own.ok_or_else(unknown)?;
        (user.email, user.role, By::Reset(user.id, reset.id), user.seat.may_be_reset(reset.id, now))
    };
    let over = || ApiError::new(Code::InvalidState, "The address was used, or is over.");
    is_open.then_some(Opened { merchant_id, merchant, link: link.raw(), email, role, by }).ok_or_else(over)
}

/// The first step: whose credentials an address sets.
pub(crate) static SHOW_LINK: Declaration = declared("show-credentials-link", Flags::OPEN_QUERY);

async fn show_link(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let opened = open(&service, &call, &Given::of(&call)?).await?;
    let (email, role_id) = (opened.email.as_str(), opened.role.name());
    Ok(Reply::new(&json!({ "merchant_name": opened.merchant, "email": email, "role_id": role_id })))
}

/// The second step: hashes a password, and makes a secret for the authenticator. The message of its refusal is for the
/// person.
pub(crate) static DRAFT_CREDENTIALS: Declaration = declared("draft-credentials", SECRET_INTAKE);

async fn draft_credentials(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let given = Given::of(&call)?;
    let opened = open(&service, &call, &given).await?;
    let credentials = with_password(&service, &call, Credentials::default(), given.password(), &opened.email).await?;
    draft_authenticator(&service, opened.merchant_id, opened.link, &opened.email, credentials)
}

/// The credentials with a password that follows the rules.
pub(super) async fn with_password(
    service: &Shared,
    call: &Call<MerchantCaller>,
    credentials: Credentials,
    password: Zeroizing<String>,
    email: &Email,
) -> Result<Credentials, ApiError> {
    call.give_permit_back();
    let (checked, email) = (password.clone(), email.as_str().to_owned());
    let judged = tokio::task::spawn_blocking(move || check_password(&checked, &[&email]));
    let judged = judged.await.map_err(|_| ApiError::unhandled())?;
    judged.map_err(|reasons| ApiError::new(Code::InvalidArguments, reasons))?;
    service.seats().with_password(credentials, share(call), password).await
}

/// The credentials with a new authenticator, as a draft of this owner.
pub(super) fn draft_authenticator(
    service: &Shared,
    merchant_id: MerchantId,
    owner: RawId,
    email: &Email,
    credentials: Credentials,
) -> Result<Reply, ApiError> {
    let credentials = service.seats().with_new_authenticator(credentials)?;
    let secret = secret_text(&credentials.authenticator);
    let uri = provisioning_uri(&credentials.authenticator, email.as_str());
    let draft = Draft::of(&credentials, None, service.now());
    let draft = service.seats().seal_draft(merchant_id, owner, &draft)?;
    Ok(Reply::new(&json!({ "draft": draft, "secret": secret, "uri": uri })))
}

/// The credentials in a draft, with the time step of the code by which their authenticator is confirmed.
pub(super) fn confirmed(
    service: &Shared,
    merchant_id: MerchantId,
    owner: RawId,
    given: &Given,
) -> Result<(Credentials, u64), ApiError> {
    let draft = service.seats().draft(merchant_id, owner, given.draft(), service.now());
    let credentials = draft.and_then(|draft| draft.credentials()).ok_or_else(too_late)?;
    let step = service.seats().step(&credentials, given.code(), service.now()).ok_or_else(wrong)?;
    Ok((credentials, step))
}

fn too_late() -> ApiError {
    ApiError::new(Code::InvalidState, "The form was open for too long. Begin again.")
}

/// The third step: compares a code of the new authenticator, and makes recovery codes.
pub(crate) static CONFIRM_AUTHENTICATOR: Declaration = declared("confirm-authenticator", SECRET_INTAKE);

async fn confirm_authenticator(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let given = Given::of(&call)?;
    let opened = open(&service, &call, &given).await?;
    let (credentials, step) = confirmed(&service, opened.merchant_id, opened.link, &given)?;
    let (credentials, codes) = service.seats().with_new_recovery_codes(opened.merchant_id, credentials)?;
    let draft = Draft::of(&credentials, Some(step), service.now());
    let draft = service.seats().seal_draft(opened.merchant_id, opened.link, &draft)?;
    Ok(Reply::new(&json!({ "draft": draft, "codes": codes.each_ref().map(|code| code.as_str()) })))
}

/// The last step: sets confirmed credentials, and begins a session. Answers its cookie.
pub(crate) static SET_CREDENTIALS: Declaration = declared("set-credentials", SECRET_INTAKE);

async fn set_credentials(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let given = Given::of(&call)?;
    let Opened { merchant_id, link, by, .. } = open(&service, &call, &given).await?;
    let draft = service.seats().draft(merchant_id, link, given.draft(), service.now()).ok_or_else(too_late)?;
    let (credentials, step) = draft.credentials().zip(draft.step).ok_or_else(too_late)?;
    let change = match by {
        By::Invitation(id) => TeamChange::Join(id, step),
        By::Reset(user_id, id) => TeamChange::ChangeSeat(user_id, SeatCommand::Renew { id, step }),
    };
    let secret = Some(Secret::Credentials(Box::new(credentials)));
    let command = Command::ChangeTeam(merchant_id, change);
    let answered = service.submit(&call, merchant_id, Caller::System, command, secret).await?;
    let user_id = match (by, answered.answer) {
        (By::Reset(user_id, _), _) | (By::Invitation(_), Answer::User(user_id)) => user_id,
        (By::Invitation(_), _) => return Err(ApiError::unhandled()),
    };
    Ok(Reply::new(&begin_session(&service, merchant_id, user_id).await?))
}
