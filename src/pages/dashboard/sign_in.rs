//! The form by which a member signs in. It names no merchant, and says nothing about what is wrong.

use askama::Template;
use serde_json::json;
use till_domain::ids::MerchantId;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::PageReply;

use crate::endpoints::pages::SIGN_IN;
use crate::pages::answered::Request;
use crate::pages::parts::assets;

/// The cookie of the session of a member.
pub(super) const COOKIE: &str = "__Host-till_session";

/// The name in query and form of the page to go on to, below the first page of the dashboard.
pub(super) const TO: &str = "to";

#[derive(Template)]
#[template(path = "dashboard/sign_in.html")]
struct SignInPage<'a> {
    is_private: bool,
    alert: Option<&'a str>,
    email: &'a str,
    to: String,
}

/// The page; with an alert it answers a form that was refused.
pub(super) fn page(request: &Request, alert: Option<&str>) -> PageReply {
    let posted = |name: &str| request.form().and_then(|form| form.single(name));
    let page = SignInPage {
        is_private: request.is_private(),
        alert,
        email: posted("email").unwrap_or_default(),
        to: posted(TO).map(str::to_owned).or_else(|| request.query(TO)).unwrap_or_default(),
    };
    let reply = PageReply::html(page.render().expect("a template into a text cannot fail"));
    if alert.is_some() { reply.with_refusal(Code::InvalidArguments) } else { reply }
}

/// Signs a member in, and sends the browser to the page that it asked for.
pub(super) async fn posted(request: &Request) -> Result<PageReply, ApiError> {
    if !request.is_private() {
        return Ok(page(request, None).with_refusal(Code::Forbidden));
    }
    let field = |name: &str| request.form().and_then(|form| form.single(name)).unwrap_or_default();
    let arguments = json!({
        "merchant_id": request.text(0),
        "email": field("email"),
        "password": field("password"),
        "code": field("code"),
    });
    match (request.call(&SIGN_IN, None, &arguments).await, request.text(0).parse::<MerchantId>()) {
        (Ok(session), Ok(merchant_id)) => {
            request.cookies().keep(COOKIE, session.as_str().unwrap_or_default());
            Ok(PageReply::see_other(destination(merchant_id, field(TO))))
        }
        (Err(error), _) if error.code() != Code::InvalidArguments => Err(error),
        (Ok(_) | Err(_), _) => Ok(page(request, Some("Email, password or code is wrong"))),
    }
}

/// The page below a dashboard that somebody asked for; its first page for anything that may lead elsewhere.
fn destination(merchant_id: MerchantId, to: &str) -> String {
    let (path, query) = to.split_once('?').unwrap_or((to, ""));
    let is_plain = |segment: &str| {
        let is_of_path = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !segment.is_empty() && !segment.starts_with('.') && segment.bytes().all(is_of_path)
    };
    let is_query = query.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#' && byte != b'\\');
    let first = format!("/dashboard/{merchant_id}");
    match (path.split('/').all(is_plain), is_query, query.is_empty()) {
        (true, true, true) => format!("{first}/{path}"),
        (true, true, false) => format!("{first}/{path}?{query}"),
        (_, _, _) => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_in_leads_below_the_dashboard_and_nowhere_else() {
        let merchant_id = MerchantId::from_bytes([1; 16]);
        let first = format!("/dashboard/{merchant_id}");
        let of = |to: &str| destination(merchant_id, to);
        assert_eq!(of("payments.csv?status=FAILED&a=%2F"), format!("{first}/payments.csv?status=FAILED&a=%2F"));
        assert_eq!(of("payments/pay_1"), format!("{first}/payments/pay_1"));
        for elsewhere in [
            "",
            "..",
            "../sandbox",
            "a/../../b",
            "a/./b",
            "//evil.example",
            "/evil",
            "a//b",
            "https://evil.example",
            "a\\..\\b",
            "a?b\r\nSet-Cookie: c",
            "a?b#c",
            "a%2e",
            "é",
            "a/%2e%2e/b",
            "?a",
        ] {
            assert_eq!(of(elsewhere), first, "{elsewhere}");
        }
    }
}
