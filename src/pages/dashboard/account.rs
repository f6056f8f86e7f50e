//! `/dashboard/{merchant_id}/account`: a member's own address and role, and what it signs in with. New credentials ask
//! for a code of the old ones first.

use askama::Template;
use serde_json::{Value, json};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::declaration::Declaration;
use till_protocol::dispatch::{IDEMPOTENCY_FIELD, PageDeclaration, PageReply};

use super::joining::{Step, scanned};
use super::seat::MemberVisit;
use super::session::{Member, WRONG_CODE, fault_of_code};
use super::sign_in::COOKIE;
use crate::endpoints::pages::{
    CHANGE_PASSWORD, DRAFT_AUTHENTICATOR, END_SESSIONS, RENEW_RECOVERY_CODES, SET_AUTHENTICATOR,
};
use crate::pages::answered::{AnsweredObject, Request};
use crate::pages::parts::{Page, Section, form_key};

pub(super) static ACCOUNT: PageDeclaration =
    PageDeclaration { pattern: "/dashboard/{merchant_id}/account", has_form: true };

/// What can be changed: the value in query and form, and the words for it.
const CHANGES: [(&str, &str); 3] =
    [("password", "Change password"), ("authenticator", "New authenticator"), ("recovery", "New recovery codes")];

#[derive(Template)]
#[template(path = "dashboard/account.html")]
struct AccountPart<'a> {
    member: &'a Member,
    base: String,
    /// The change whose form is shown.
    change: Option<(&'static str, &'static str)>,
    step: Option<Step>,
    /// What is wrong, with the field that it is about.
    fault: Option<(&'static str, String)>,
    key: String,
}

/// The outcome of a form that is answered by the page again.
#[derive(Default)]
struct Shown {
    step: Option<Step>,
    fault: Option<(&'static str, String)>,
}

/// Shows the page, or does what its form says.
pub(super) async fn open((): (), visit: MemberVisit) -> Result<PageReply, ApiError> {
    let MemberVisit { request, seat: member, .. } = &visit;
    let base = member.merchant.base.clone();
    let shown = match request.form() {
        None => Shown::default(),
        Some(_) => match changed(request, member, &base).await? {
            Ok(reply) => return Ok(reply),
            Err(shown) => shown,
        },
    };
    let asked =
        request.query("change").or_else(|| request.form().and_then(|form| form.single("step")).map(str::to_owned));
    let named = |name: Option<String>| CHANGES.into_iter().find(|(known, _)| name.as_deref() == Some(*known));
    let done = named(request.query("done")).map(|(_, words)| words);
    let is_refused = shown.fault.is_some();
    let Shown { step, fault } = shown;
    let part = AccountPart { member, base, change: named(asked), step, fault, key: form_key() };
    let part = part.render().expect("a template into a text cannot fail");
    let mut page = Page::new(&visit, "Account").with(Section::Part(part));
    (page.done, page.refusal) = (done, is_refused.then_some(Code::InvalidArguments));
    Ok(page.reply())
}

/// Does what a form says. The reply when that is all, else what the page shows next.
async fn changed(request: &Request, member: &Member, base: &str) -> Result<Result<PageReply, Shown>, ApiError> {
    let field = |name: &str| request.form().and_then(|form| form.single(name)).unwrap_or_default();
    let call = async |declaration: &'static Declaration, arguments: Value| {
        request.call(declaration, Some(member.caller), &arguments).await
    };
    let of_fault = |name, fault: String| Ok(Err(Shown { fault: Some((name, fault)), step: None }));
    let of_step = |step| Ok(Err(Shown { step: Some(step), fault: None }));
    let step = field("step");
    if step == "password" && field("password") != field("repeated") {
        return of_fault("password", "The passwords differ.".to_owned());
    }
    if CHANGES.iter().any(|(known, _)| *known == step)
        && let Some(fault) = fault_of_code(request, member, field("code")).await?
    {
        return of_fault("code", fault);
    }
    let session = match step {
        "password" => call(&CHANGE_PASSWORD, json!({ "password": field("password") })).await,
        "authenticator" => return of_step(scanned(&call(&DRAFT_AUTHENTICATOR, json!({})).await?)),
        "code" => call(&SET_AUTHENTICATOR, json!({ "draft": field("draft"), "code": field("code") })).await,
        "recovery" => {
            let renewed = call(&RENEW_RECOVERY_CODES, json!({})).await?;
            request.cookies().keep(COOKIE, renewed.text("session"));
            return of_step(Step::recovery_codes(&renewed));
        }
        "everywhere" => {
            call(&END_SESSIONS, json!({})).await?;
            request.cookies().forget(COOKIE);
            return Ok(Ok(PageReply::see_other(base.to_owned())));
        }
        _ => return Ok(Err(Shown::default())),
    };
    match session {
        Ok(session) => {
            request.cookies().keep(COOKIE, session.as_str().unwrap_or_default());
            let done = if step == "code" { "authenticator" } else { step };
            Ok(Ok(PageReply::see_other(format!("{base}/account?done={done}"))))
        }
        Err(error) if error.code() == Code::InvalidArguments && step == "code" => {
            let draft = field("draft").to_owned();
            Ok(Err(Shown {
                step: Some(Step::Authenticator { secret: None, draft, fault: Some(WRONG_CODE) }),
                fault: Some(("code", WRONG_CODE.to_owned())),
            }))
        }
        Err(error) if error.code() == Code::InvalidArguments => of_fault("password", error.message().to_owned()),
        Err(error) => Err(error),
    }
}
