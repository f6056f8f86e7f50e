//! Members with what they sign in with, and what the calls of this folder share.

use std::net::{IpAddr, Ipv4Addr};

use till_actors::Secret;
use till_domain::command::{Caller, Command, SeatCommand, TeamChange};
use till_domain::ids::{MerchantId, UserId};
use till_domain::records::{Rows, Users};
use till_domain::team::{TEAM_MAX, User};
use till_protocol::connection::{ShareOf, address_group};
use till_protocol::field;
use till_storage::rows::ScanDirection;
use till_storage::vault::Credentials;
use zeroize::Zeroizing;

use crate::endpoints::prelude::*;
use crate::seats::Session;

/// What members type, or their browsers keep, in bytes: more than any password, code or sealed text has.
const TEXT_BYTES_MAX: usize = 4 * 1_024;

pub(in crate::endpoints::pages) const TEXT: Optional<String> =
    Field { value_type: ValueType::STRING, parse: |value| field::text(0..=TEXT_BYTES_MAX)(value) }.optional("A text.");

/// What a page passes on of its address, its cookie and its form.
pub(super) struct Given {
    pub(super) merchant_id: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) link: Option<String>,
    pub(super) session: Option<String>,
    pub(super) email: Option<String>,
    pub(super) password: Option<String>,
    pub(super) code: Option<String>,
    pub(super) draft: Option<String>,
}

const GIVEN: ArgumentSet<Given> = arguments!(Given {
    merchant_id: TEXT,
    kind: TEXT,
    link: TEXT,
    session: TEXT,
    email: TEXT,
    password: TEXT,
    code: TEXT,
    draft: TEXT,
});

impl Given {
    pub(super) fn of(call: &Call<MerchantCaller>) -> Result<Given, ApiError> {
        call.fields().parse(&GIVEN)
    }

    pub(super) fn password(&self) -> Zeroizing<String> {
        Zeroizing::new(self.password.clone().unwrap_or_default())
    }

    pub(super) fn code(&self) -> &str {
        self.code.as_deref().unwrap_or_default()
    }

    pub(super) fn draft(&self) -> &str {
        self.draft.as_deref().unwrap_or_default()
    }
}

/// A call with a password or a code in its arguments. They are wiped from memory after the call, and no fingerprint of
/// them is kept.
pub(super) const SECRET_INTAKE: Flags = Flags::CARD_INTAKE;

/// A call that only pages make, and no document has.
pub(super) const fn declared(name: &'static str, flags: Flags) -> Declaration {
    let declaration = Declaration::query(Package::Sdk, "seats");
    Declaration { name, summary: name, arguments: GIVEN.declared, returns: Returns::Any("{}"), flags, ..declaration }
}

/// The same words whatever is wrong.
pub(super) fn wrong() -> ApiError {
    ApiError::new(Code::InvalidArguments, "Email, password or code is wrong")
}

/// A member who has credentials.
pub(super) struct Seated {
    pub(super) merchant_id: MerchantId,
    pub(super) user: User,
    pub(super) credentials: Credentials,
}

impl Seated {
    /// The member of a merchant with this address.
    pub(super) fn by_email(reader: &Reader<'_>, email: &str) -> Result<Option<Seated>, ApiError> {
        let users = reader.scan_rows::<Users>(.., ScanDirection::Forward, TEAM_MAX)?;
        let user = users.into_iter().find(|user| user.email.as_str().eq_ignore_ascii_case(email.trim()));
        user.map_or(Ok(None), |user| Seated::of(reader, user))
    }

    /// The member who makes a call.
    pub(super) async fn calling(service: &Shared, call: &Call<MerchantCaller>) -> Result<Seated, ApiError> {
        let Caller::User(user_id) = call.caller().as_domain() else { return Err(ApiError::unauthorized()) };
        let reader = service.reader(call.caller().merchant_id).await?;
        let user = reader.get::<Users>(user_id)?.ok_or_else(ApiError::unauthorized)?;
        Seated::of(&reader, user)?.ok_or_else(ApiError::unauthorized)
    }

    fn of(reader: &Reader<'_>, user: User) -> Result<Option<Seated>, ApiError> {
        let credentials = reader.credentials(user.id)?;
        Ok(credentials.map(|credentials| Seated { merchant_id: reader.merchant_id(), user, credentials }))
    }

    /// Submits a change of the seat.
    pub(super) async fn change(
        &self,
        service: &Shared,
        call: &Call<MerchantCaller>,
        command: SeatCommand,
        new: Option<Credentials>,
    ) -> Result<(), ApiError> {
        let command = Command::ChangeTeam(self.merchant_id, TeamChange::ChangeSeat(self.user.id, command));
        let secret = new.map(|credentials| Secret::Credentials(Box::new(credentials)));
        service.submit(call, self.merchant_id, Caller::System, command, secret).await.map(|_| ())
    }
}

/// The cookie of a session that begins now, with the number that the member's row has.
pub(super) async fn begin_session(
    service: &Shared,
    merchant_id: MerchantId,
    user_id: UserId,
) -> Result<String, ApiError> {
    let user = service.reader(merchant_id).await?.get::<Users>(user_id)?.ok_or_else(ApiError::unauthorized)?;
    let session = Session::begin(user_id, user.sessions_ended, service.now());
    service.seats().cookie(merchant_id, session, service.now())
}

/// The address from which a call comes.
pub(in crate::endpoints::pages) fn address<C>(call: &Call<C>) -> IpAddr {
    call.peer().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

/// The share of the computing of hashes against which a call counts.
pub(super) fn share(call: &Call<MerchantCaller>) -> ShareOf {
    ShareOf::Address(address_group(address(call)))
}
