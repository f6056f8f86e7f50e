//! Credentials by an address: somebody joins a team, or a member sets its credentials anew. Nothing changes before the
//! last step; until then the browser keeps the new credentials, sealed.

use till_actors::Secret;
use till_domain::command::{Caller, Command, SeatCommand, TeamChange};
use till_domain::event::Answer;
use till_domain::ids::{CredentialsId, InvitationId, MerchantId, RawId, UserId};
use till_domain::records::{Invitations, Rows, Users};
use till_domain::role::Role;
use till_domain::team::TEAM_MAX;
use till_protocol::arguments::id;
use till_storage::rows::ScanDirection;
use till_storage::vault::{AddressKind, Credentials};
use zeroize::Zeroizing;

use super::members::{SECRET_INTAKE, begin_session, share, text, wrong};
use crate::endpoints::forms::words;
use crate::endpoints::pages::checkout::profile;
use crate::endpoints::prelude::*;
use crate::seats::{Draft, RecoveryCodes, check_password, provisioning_uri, secret_text};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[
    Endpoint(&SHOW_LINK, &show_link),
    Endpoint(&DRAFT_CREDENTIALS, &draft_credentials),
    Endpoint(&CONFIRM_AUTHENTICATOR, &confirm_authenticator),
    Endpoint(&SET_CREDENTIALS, &set_credentials),
];

till_domain::word_enum! {
    /// The kind of an address.
    enum LinkKind: name {
        /// Somebody joins.
        Invitation => "invitation",
        /// A member sets its credentials anew.
        Credentials => "credentials",
    }
}

/// An address that can be used now.
struct Opened {
    merchant_id: MerchantId,
    merchant: String,
    link: CredentialsId,
    email: String,
    role: Role,
    by: By,
}

/// The object behind an address.
enum By {
    Invitation(InvitationId),
    Reset(UserId, CredentialsId),
}

object! {
    /// An address that can be used now.
    OPENED_LINK "opened_link" as OpenedShape<'a> of (opened: &'a Opened) {
        merchant_name: STRING = opened.merchant, "The merchant's name.";
        email: STRING = opened.email, "The address of the person.";
        role_id: words_of(Role) = opened.role.name(), "The role of the person.";
    }
}

type Link = (MerchantId, LinkKind, CredentialsId);

const LINK: ArgumentSet<Link> = arguments!({
    merchant_id: id::<MerchantId>().required("The merchant (`mer_...`)."),
    kind: words!(LinkKind).required("The kind of address."),
    link: id::<CredentialsId>().required("The last segment of the address (`crt_...`)."),
} => (merchant_id, kind, link));

/// The call of the first step.
pub(crate) static SHOW_LINK: Declaration = Declaration {
    name: "show-credentials-link",
    summary: "Returns whose credentials an address sets.",
    arguments: LINK.declared,
    returns: Returns::Object(&OPENED_LINK),
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "seats")
};

async fn show_link(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let link = call.fields().parse(&LINK)?;
    Ok(Reply::new(&OpenedShape::new(&open(&service, &call, link).await?)))
}

/// Opens an address. One that was used, or is over, is `INVALID_STATE`.
async fn open(
    service: &Shared,
    call: &Call<MerchantCaller>,
    (merchant_id, kind, link): Link,
) -> Result<Opened, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "There is no such address.");
    let reader = service.reader(merchant_id).await?;
    let merchant = profile(&reader)?.ok_or_else(unknown)?.name.as_str().to_owned();
    call.log_subject(merchant_id, None);
    let now = service.merchant_now(merchant_id)?;
    let (email, role, by, is_open) = match kind {
        LinkKind::Invitation => {
            let at = |random| InvitationId::from_raw(RawId::new(link.raw().position(), random));
            let found = reader.scan_rows::<Invitations>(at(0)..=at(u64::MAX), ScanDirection::Forward, 1)?;
            let is_own = |id: InvitationId| service.is_link_of(merchant_id, AddressKind::Invitation, id.raw(), link);
            let found = found.into_iter().find(|found| is_own(found.id)).ok_or_else(unknown)?;
            let is_open = found.is_open(now);
            (found.email, found.role, By::Invitation(found.id), is_open)
        }
        LinkKind::Credentials => {
            let users = reader.scan_rows::<Users>(.., ScanDirection::Forward, TEAM_MAX)?;
            let is_own = |id: CredentialsId| service.is_link_of(merchant_id, AddressKind::Reset, id.raw(), link);
            let own =
                users.into_iter().find_map(|user| Some((user.seat.reset.filter(|reset| is_own(reset.id))?, user)));
            let (reset, user) = own.ok_or_else(unknown)?;
            (user.email, user.role, By::Reset(user.id, reset.id), user.seat.may_be_reset(reset.id, now))
        }
    };
    let over = || ApiError::new(Code::InvalidState, "The address was used, or is over.");
    let opened = Opened { merchant_id, merchant, link, email: email.as_str().to_owned(), role, by };
    is_open.then_some(opened).ok_or_else(over)
}

object! {
    /// A new authenticator that is not confirmed yet.
    pub(super) DRAFT "credentials_draft" as DraftShape of (draft: String, secret: String, uri: String) {
        draft: STRING = draft, "The new credentials, sealed.";
        secret: STRING = secret, "The secret of the authenticator, as it is typed.";
        uri: STRING = uri, "The address that an authenticator scans.";
    }
}

const DRAFTED: ArgumentSet<(Link, Zeroizing<String>)> = arguments!({
    link: LINK,
    password: text("password"),
} => (link, Zeroizing::new(password)));

/// The call of the second step. The message of its refusal is for the person.
pub(crate) static DRAFT_CREDENTIALS: Declaration = Declaration {
    name: "draft-credentials",
    summary: "Hashes a password, and makes a secret for the authenticator.",
    arguments: DRAFTED.declared,
    returns: Returns::Object(&DRAFT),
    flags: SECRET_INTAKE,
    ..Declaration::command(Package::Sdk, "seats")
};

async fn draft_credentials(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (link, password) = call.fields().parse(&DRAFTED)?;
    let opened = open(&service, &call, link).await?;
    let credentials = with_password(&service, &call, Credentials::default(), password, &opened.email).await?;
    draft_authenticator(&service, opened.merchant_id, opened.link.raw(), &opened.email, credentials)
}

/// The credentials with a password that follows the rules.
pub(super) async fn with_password(
    service: &Shared,
    call: &Call<MerchantCaller>,
    credentials: Credentials,
    password: Zeroizing<String>,
    email: &str,
) -> Result<Credentials, ApiError> {
    call.give_permit_back();
    let (checked, email) = (password.clone(), email.to_owned());
    let judged = tokio::task::spawn_blocking(move || check_password(&checked, &[&email]));
    let judged = judged.await.map_err(|_| ApiError::unhandled())?;
    judged.map_err(|reasons| ApiError::new(Code::InvalidArguments, reasons))?;
    service.seats().with_password(credentials, share(call), password).await
}

/// The credentials with a new authenticator, as a draft.
pub(super) fn draft_authenticator(
    service: &Shared,
    merchant_id: MerchantId,
    owner: RawId,
    email: &str,
    credentials: Credentials,
) -> Result<Reply, ApiError> {
    let credentials = service.seats().with_new_authenticator(credentials)?;
    let secret = secret_text(&credentials.authenticator);
    let uri = provisioning_uri(&credentials.authenticator, email);
    let draft = Draft { begun: service.now(), credentials, step: None };
    Ok(Reply::new(&DraftShape::new(service.seats().seal_draft(merchant_id, owner, &draft)?, secret, uri)))
}

/// The draft in a form, confirmed with a code of its authenticator.
pub(super) fn confirmed(
    service: &Shared,
    merchant_id: MerchantId,
    owner: RawId,
    draft: &str,
    code: &str,
) -> Result<Draft, ApiError> {
    let draft = service.seats().draft(merchant_id, owner, draft, service.now()).ok_or_else(too_late)?;
    let step = service.seats().step(&draft.credentials, code, service.now()).ok_or_else(wrong)?;
    Ok(Draft { step: Some(step), ..draft })
}

fn too_late() -> ApiError {
    ApiError::new(Code::InvalidState, "The form was open for too long. Begin again.")
}

object! {
    /// Recovery codes, which are shown once.
    pub(super) SHOWN_CODES "recovery_codes" as CodesShape<'a> of (kept: String, codes: &'a RecoveryCodes) {
        kept: STRING = kept, "What the browser keeps: the draft, or the cookie of the session.";
        codes: Array(&ValueType::STRING) = codes.0.iter().map(|code| code.as_str()).collect::<Vec<_>>(), "The codes.";
    }
}

const CONFIRMED: ArgumentSet<(Link, String, String)> =
    arguments!({ link: LINK, draft: text("draft"), code: text("code") } => (link, draft, code));

/// The call of the third step.
pub(crate) static CONFIRM_AUTHENTICATOR: Declaration = Declaration {
    name: "confirm-authenticator",
    summary: "Compares a code of the new authenticator, and makes recovery codes.",
    arguments: CONFIRMED.declared,
    returns: Returns::Object(&SHOWN_CODES),
    flags: SECRET_INTAKE,
    ..Declaration::command(Package::Sdk, "seats")
};

async fn confirm_authenticator(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (link, draft, code) = call.fields().parse(&CONFIRMED)?;
    let opened = open(&service, &call, link).await?;
    let owner = opened.link.raw();
    let draft = confirmed(&service, opened.merchant_id, owner, &draft, &code)?;
    let (credentials, codes) = service.seats().with_new_recovery_codes(opened.merchant_id, draft.credentials)?;
    let draft = Draft { credentials, ..draft };
    let kept = service.seats().seal_draft(opened.merchant_id, owner, &draft)?;
    Ok(Reply::new(&CodesShape::new(kept, &codes)))
}

const SET: ArgumentSet<(Link, String)> = arguments!({ link: LINK, draft: text("draft") } => (link, draft));

/// The call of the last step.
pub(crate) static SET_CREDENTIALS: Declaration = Declaration {
    name: "set-credentials",
    summary: "Sets confirmed credentials, and begins a session. Answers its cookie.",
    arguments: SET.declared,
    returns: Returns::Text(ValueType::STRING),
    flags: SECRET_INTAKE,
    ..Declaration::command(Package::Sdk, "seats")
};

async fn set_credentials(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (link, draft) = call.fields().parse(&SET)?;
    let opened = open(&service, &call, link).await?;
    let merchant_id = opened.merchant_id;
    let draft = service.seats().draft(merchant_id, opened.link.raw(), &draft, service.now()).ok_or_else(too_late)?;
    let step = draft.step.ok_or_else(too_late)?;
    let change = match opened.by {
        By::Invitation(id) => TeamChange::Join(id, step),
        By::Reset(user_id, id) => TeamChange::ChangeSeat(user_id, SeatCommand::Renew { id, step }),
    };
    let (command, secret) =
        (Command::ChangeTeam(merchant_id, change), Secret::Credentials(Box::new(draft.credentials)));
    let answered = service.submit(&call, merchant_id, Caller::System, command, Some(secret)).await?;
    let user_id = match (opened.by, answered.answer) {
        (By::Reset(user_id, _), _) | (By::Invitation(_), Answer::User(user_id)) => user_id,
        (By::Invitation(_), _) => return Err(ApiError::unhandled()),
    };
    begin_session(&service, merchant_id, user_id).await
}
