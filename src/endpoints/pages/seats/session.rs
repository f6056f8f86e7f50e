//! Sessions: how they begin, whose they are, and the code that some acts ask for again.

use till_domain::command::SeatCommand;
use till_domain::ids::{MerchantId, UserId};
use till_domain::records::{Rows, Users};
use till_domain::role::Role;
use till_domain::team::User;
use till_protocol::arguments::id;
use zeroize::Zeroizing;

use super::members::{SECRET_INTAKE, Seated, address, begin_session, share, text, wrong};
use crate::endpoints::pages::checkout::profile;
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> =
    &[Endpoint(&SIGN_IN, &sign_in), Endpoint(&FIND_MEMBER, &find_member), Endpoint(&USE_CODE, &use_code)];

const SIGNED_IN: ArgumentSet<(String, String, Zeroizing<String>, String)> = arguments!({
    merchant_id: text("merchant_id"),
    email: text("email"),
    password: text("password"),
    code: text("code"),
} => (merchant_id, email, Zeroizing::new(password), code));

/// The call of the form by which a member signs in.
pub(crate) static SIGN_IN: Declaration = Declaration {
    name: "sign-in",
    summary: "Begins a session. Answers its cookie.",
    arguments: SIGNED_IN.declared,
    returns: Returns::Text(ValueType::STRING),
    flags: SECRET_INTAKE,
    ..Declaration::command(Package::Sdk, "seats")
};

async fn sign_in(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (merchant_id, email, password, code) = call.fields().parse(&SIGNED_IN)?;
    service.seats().attempts().begin(address(&call), &email)?;
    call.give_permit_back();
    let found = match merchant_id.parse() {
        Ok(merchant_id) => Seated::by_email(&service.reader(merchant_id).await?, &email)?,
        Err(_) => None,
    };
    let credentials = found.as_ref().map(|found| &found.credentials);
    let is_password = service.seats().is_password(share(&call), credentials, password).await?;
    let found = found.filter(|_| is_password).ok_or_else(wrong)?;
    let code = service.seats().code(found.merchant_id, &found.credentials, &code, service.now()).ok_or_else(wrong)?;
    let command = SeatCommand::SignIn { code, session: found.user.sessions_ended };
    let signed_in = found.change(&service, &call, command, None).await;
    signed_in.map_err(|error| if error.code() == Code::Unavailable { error } else { wrong() })?;
    service.seats().attempts().succeeded(address(&call), &email);
    call.log_subject(found.merchant_id, None);
    begin_session(&service, found.merchant_id, found.user.id).await
}

object! {
    /// A member who is signed in.
    MEMBER "member" as MemberShape<'a> of (user: &'a User, merchant: String, session: String) {
        user_id: Id(UserId::PREFIX) = user.id, "The member.";
        email: EMAIL = user.email, "The member's address.";
        role_id: words_of(Role) = user.role.name(), "The member's role.";
        refund_limit: INTEGER or null = user.refund_limit, "The largest amount that it may give back in one call.";
        merchant_name: STRING = merchant, "The merchant's name.";
        session: STRING = session, "The cookie of the session, renewed.";
    }
}

const OF_SESSION: ArgumentSet<(MerchantId, String)> = arguments!({
    merchant_id: id::<MerchantId>().required("The merchant (`mer_...`)."),
    session: text("session"),
} => (merchant_id, session));

/// The call of every page that only members see.
pub(crate) static FIND_MEMBER: Declaration = Declaration {
    name: "find-member",
    summary: "Returns the member of a session.",
    arguments: OF_SESSION.declared,
    returns: Returns::Object(&MEMBER),
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "seats")
};

async fn find_member(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let over = || ApiError::new(Code::NotFound, "The session is over.");
    let (merchant_id, session) = call.fields().parse(&OF_SESSION)?;
    let session = service.seats().session(merchant_id, &session, service.now()).ok_or_else(over)?;
    let reader = service.reader(merchant_id).await?;
    let user = reader.get::<Users>(session.user_id)?.filter(|user| user.sessions_ended == session.number);
    let (user, profile) = (user.ok_or_else(over)?, profile(&reader)?.ok_or_else(over)?);
    call.log_subject(merchant_id, None);
    let renewed = service.seats().cookie(merchant_id, session, service.now())?;
    Ok(Reply::new(&MemberShape::new(&user, profile.name.as_str().to_owned(), renewed)))
}

const USED_CODE: Required<String> = text("code");

/// The call of an act that asks for a code again, by the member.
pub(crate) static USE_CODE: Declaration = Declaration {
    name: "use-code",
    summary: "Uses a code of the calling member up.",
    arguments: &[USED_CODE.argument],
    flags: Flags { carries_card_data: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Sdk, "seats")
};

async fn use_code(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let code = call.fields().parse(&USED_CODE)?;
    let member = Seated::calling(&service, &call).await?;
    let name = member.user.id.to_string();
    service.seats().attempts().begin(address(&call), &name)?;
    let code = service.seats().code(member.merchant_id, &member.credentials, &code, service.now()).ok_or_else(wrong)?;
    let command = SeatCommand::UseCode { code, session: member.user.sessions_ended };
    member.change(&service, &call, command, None).await?;
    service.seats().attempts().succeeded(address(&call), &name);
    Ok(Reply::new(&true))
}
