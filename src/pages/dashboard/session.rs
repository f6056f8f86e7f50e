//! The member who is signed in. The session is a sealed cookie, and nothing here knows what is in it.

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use till_domain::ids::{MerchantId, UserId};
use till_domain::money::AmountMinor;
use till_domain::role::Role;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{PageDeclaration, PageReply};
use url::form_urlencoded;

use super::sign_in::{self, COOKIE};
use crate::access::MerchantCaller;
use crate::endpoints::pages::{FIND_MEMBER, USE_CODE};
use crate::pages::answered::{AnsweredObject, Request, look_up};
use crate::pages::parts::Merchant;

/// The prefixes of ids whose objects have a page, with the list that it is below.
const PAGES: [(&str, &str); 5] =
    [("pay", "payments"), ("dsp", "disputes"), ("chk", "checkouts"), ("ctc", "customers"), ("whe", "webhooks")];

/// A member who is signed in.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) caller: MerchantCaller,
    pub(super) email: String,
    pub(super) role: Role,
    pub(super) merchant: Merchant,
}

/// The member who asks for a page, whose session goes on by that. Without one: the sign-in at the first page of a
/// dashboard, and from every other page the way there. The form of the first page is that of the sign-in.
///
/// # Errors
/// A refusal of the calls.
pub(super) async fn signed_in(request: &Request) -> Result<Result<Member, PageReply>, ApiError> {
    let is_first = request.path().split('/').filter(|segment| !segment.is_empty()).count() == 2;
    if is_first && request.form().is_some() {
        return sign_in::posted(request).await.map(Err);
    }
    match member(request).await? {
        Some(member) => Ok(Ok(member)),
        None if is_first => Ok(Err(sign_in::page(request, None))),
        None => Ok(Err(PageReply::see_other(way_to_sign_in(request)?))),
    }
}

async fn member(request: &Request) -> Result<Option<Member>, ApiError> {
    let Some(session) = request.cookies().get(COOKIE) else { return Ok(None) };
    let named = json!({ "merchant_id": request.text(0), "session": session });
    let found = look_up(request, &FIND_MEMBER, &named).await?;
    let member = found.as_ref().and_then(|found| read(request, found));
    match &found {
        Some(found) if member.is_some() => request.cookies().keep(COOKIE, found.text("session")),
        Some(_) | None => {}
    }
    Ok(member)
}

fn read(request: &Request, found: &Value) -> Option<Member> {
    let merchant_id: MerchantId = request.text(0).parse().ok()?;
    let user_id: UserId = found.text("user_id").parse().ok()?;
    let role = found.word("role_id", &Role::ALL, Role::name)?;
    let refund_limit = found["refund_limit"].as_u64().and_then(AmountMinor::new);
    let caller = MerchantCaller::member(merchant_id, user_id, role, refund_limit);
    let merchant = Merchant {
        base: format!("/dashboard/{merchant_id}"),
        pages: &PAGES,
        name: found.text("merchant_name").to_owned(),
        currency: found.text("currency").parse().ok()?,
        zone: TimeZone::get(found.text("time_zone")).unwrap_or(TimeZone::UTC),
    };
    Some(Member { caller, email: found.text("email").to_owned(), role, merchant })
}

/// The address of the sign-in, which leads back to this page.
fn way_to_sign_in(request: &Request) -> Result<String, ApiError> {
    let unknown = |_| ApiError::new(Code::NotFound, "No merchant has this id.");
    let merchant_id: MerchantId = request.text(0).parse().map_err(unknown)?;
    let base = format!("/dashboard/{merchant_id}");
    let below = request.path().strip_prefix(&base).unwrap_or_default().trim_start_matches('/');
    let asked = [below, request.whole_query()].join(if request.whole_query().is_empty() { "" } else { "?" });
    let query = form_urlencoded::Serializer::new(String::new()).append_pair(sign_in::TO, &asked).finish();
    Ok(format!("{base}?{query}"))
}

/// What is wrong with the code that a member entered in order to act; None when it is right. It is used up by that.
///
/// # Errors
/// `RATE_LIMITED` after too many wrong ones, and any other refusal.
pub(super) async fn fault_of_code(request: &Request, member: &Member, code: &str) -> Result<Option<String>, ApiError> {
    match request.call(&USE_CODE, Some(member.caller), &json!({ "code": code })).await {
        Ok(_) => Ok(None),
        Err(error) if error.code() == Code::InvalidArguments => Ok(Some(WRONG_CODE.to_owned())),
        Err(error) => Err(error),
    }
}

/// The fault of a code.
pub(super) const WRONG_CODE: &str = "The code is wrong, or was used before. Enter the one that is shown now.";

pub(super) static SIGN_OUT: PageDeclaration =
    PageDeclaration { pattern: "/dashboard/{merchant_id}/sign-out", has_form: true };

/// Ends the session in this browser.
pub(super) async fn sign_out((): (), request: Request) -> Result<PageReply, ApiError> {
    if request.form().is_some() {
        request.cookies().forget(COOKIE);
    }
    let first = request.path().trim_end_matches('/').trim_end_matches("/sign-out").to_owned();
    Ok(PageReply::see_other(first))
}
