//! The session of the operator, which begins with the admin token, and the page that asks for it.

use askama::Template;
use serde_json::json;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{BrowserRequest, PageDeclaration, PageReply};

use super::tables::FIRST;
use crate::access::Operator;
use crate::endpoints::pages::{FIND_OPERATOR, OPEN_SESSION};
use crate::pages::answered::look_up;
use crate::pages::parts::assets;

type Request = BrowserRequest<Operator>;

/// The cookie of the session.
const COOKIE: &str = "__Host-till_operator";

pub(super) static SIGN_OUT: PageDeclaration = PageDeclaration { pattern: "/operator/sign-out", has_form: true };

#[derive(Template)]
#[template(path = "operator/sign_in.html")]
struct SignInPage<'a> {
    is_private: bool,
    alert: Option<&'a str>,
}

/// None when the operator who asks for a page is signed in, else what is answered: the sign-in at the first page, whose
/// form it is, and the way there from every other one.
pub(super) async fn signed_in(request: &Request, declaration: &PageDeclaration) -> Result<Option<PageReply>, ApiError> {
    let is_first = declaration.pattern == FIRST;
    if is_first && request.form().is_some() {
        return posted(request).await.map(Some);
    }
    let session = json!({ "session": request.cookies().get(COOKIE) });
    Ok(match look_up(request, &FIND_OPERATOR, &session).await? {
        Some(_) => None,
        None if is_first => Some(page(request, None)),
        None => Some(PageReply::see_other(FIRST.to_owned())),
    })
}

/// The page that asks for the token; with an alert it answers a form that was refused.
fn page(request: &Request, alert: Option<&str>) -> PageReply {
    let page = SignInPage { is_private: request.is_private(), alert };
    let reply = PageReply::html(page.render().expect("a template into a text cannot fail"));
    if alert.is_some() { reply.with_refusal(Code::InvalidArguments) } else { reply }
}

async fn posted(request: &Request) -> Result<PageReply, ApiError> {
    if !request.is_private() {
        return Ok(page(request, None).with_refusal(Code::Forbidden));
    }
    let token = request.form().and_then(|form| form.single("token")).unwrap_or_default();
    match request.call(&OPEN_SESSION, None, &json!({ "token": token })).await {
        Ok(session) => {
            request.cookies().keep(COOKIE, session.as_str().unwrap_or_default());
            Ok(PageReply::see_other(FIRST.to_owned()))
        }
        Err(error) if error.code() == Code::InvalidArguments => Ok(page(request, Some("The admin token is wrong"))),
        Err(error) => Err(error),
    }
}

/// Ends the session in this browser.
pub(super) async fn sign_out((): (), request: Request) -> Result<PageReply, ApiError> {
    if request.form().is_some() {
        request.cookies().forget(COOKIE);
    }
    Ok(PageReply::see_other(FIRST.to_owned()))
}
