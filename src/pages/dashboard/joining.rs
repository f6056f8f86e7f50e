//! `/dashboard/{merchant_id}/invitation/{crt}` and `/dashboard/{merchant_id}/credentials/{crt}`: somebody joins the
//! team, or a member sets its credentials anew, in three steps. Between them the browser keeps the new credentials,
//! sealed; only the last step changes something.

use askama::Template;
use serde_json::{Value, json};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::declaration::Declaration;
use till_protocol::dispatch::{PageDeclaration, PageReply};

use super::session::WRONG_CODE;
use super::sign_in::COOKIE;
use crate::endpoints::pages::{CONFIRM_AUTHENTICATOR, DRAFT_CREDENTIALS, SET_CREDENTIALS, SHOW_LINK};
use crate::pages::answered::{AnsweredObject, Request, look_up};
use crate::pages::checkout::QrDrawing;
use crate::pages::parts::assets;

pub(super) static INVITATION: PageDeclaration =
    PageDeclaration { pattern: "/dashboard/{merchant_id}/invitation/{link}", has_form: true };
pub(super) static CREDENTIALS: PageDeclaration =
    PageDeclaration { pattern: "/dashboard/{merchant_id}/credentials/{link}", has_form: true };

/// What a page asks for.
pub(super) enum Step {
    /// The password, twice.
    Password {
        /// The reasons for which the last one was refused.
        fault: Option<String>,
    },
    /// A code of the new authenticator.
    Authenticator {
        /// Drawing and text of its secret; None after a wrong code, since the authenticator knows it by then.
        secret: Option<(QrDrawing, String)>,
        draft: String,
        fault: Option<&'static str>,
    },
    /// That the recovery codes are kept.
    RecoveryCodes { codes: Vec<String>, draft: String },
}

impl Step {
    /// The step with the codes that a call answered.
    pub(super) fn recovery_codes(shown: &Value) -> Step {
        let codes = shown.items("codes").iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Step::RecoveryCodes { codes, draft: shown.text("draft").to_owned() }
    }
}

#[derive(Template)]
#[template(path = "dashboard/joining.html")]
struct JoiningPage<'a> {
    is_private: bool,
    title: String,
    opened: &'a Value,
    step: Step,
}

/// Shows a step, or does what its form says.
pub(super) async fn open(kind: &'static str, request: Request) -> Result<PageReply, ApiError> {
    let link = json!({ "merchant_id": request.text(0), "kind": kind, "link": request.text(1) });
    let unknown = || ApiError::new(Code::NotFound, "There is no such address.");
    let opened = look_up(&request, &SHOW_LINK, &link).await?.ok_or_else(unknown)?;
    let (step, is_refused) = match request.form().filter(|_| request.is_private()) {
        None => (Step::Password { fault: None }, false),
        Some(_) => match next_step(&request, link).await? {
            Ok(reply) => return Ok(reply),
            Err(step) => step,
        },
    };
    let title = match kind {
        "invitation" => format!("Join {}", opened.text("merchant_name")),
        _ => format!("New credentials for {}", opened.text("merchant_name")),
    };
    let page = JoiningPage { is_private: request.is_private(), title, opened: &opened, step };
    let reply = PageReply::html(page.render().expect("a template into a text cannot fail"));
    Ok(if is_refused { reply.with_refusal(Code::InvalidArguments) } else { reply })
}

/// The step after a form, and whether it repeats one that was refused; or the reply after the last one.
async fn next_step(request: &Request, link: Value) -> Result<Result<PageReply, (Step, bool)>, ApiError> {
    let field = |name: &str| request.form().and_then(|form| form.single(name)).unwrap_or_default();
    let call = async |declaration: &'static Declaration, names: &[&str]| {
        let mut arguments = link;
        names.iter().for_each(|name| arguments[*name] = field(name).into());
        request.call(declaration, None, &arguments).await
    };
    match field("step") {
        "password" if field("password") != field("repeated") => {
            Ok(Err((Step::Password { fault: Some("The passwords differ.".to_owned()) }, true)))
        }
        "password" => match call(&DRAFT_CREDENTIALS, &["password"]).await {
            Ok(drafted) => Ok(Err((scanned(&drafted), false))),
            Err(error) if error.code() == Code::InvalidArguments => {
                Ok(Err((Step::Password { fault: Some(error.message().to_owned()) }, true)))
            }
            Err(error) => Err(error),
        },
        "code" => match call(&CONFIRM_AUTHENTICATOR, &["draft", "code"]).await {
            Ok(confirmed) => Ok(Err((Step::recovery_codes(&confirmed), false))),
            Err(error) if error.code() == Code::InvalidArguments => {
                let step =
                    Step::Authenticator { secret: None, draft: field("draft").to_owned(), fault: Some(WRONG_CODE) };
                Ok(Err((step, true)))
            }
            Err(error) => Err(error),
        },
        _ => {
            let session = call(&SET_CREDENTIALS, &["draft"]).await?;
            request.cookies().keep(COOKIE, session.as_str().unwrap_or_default());
            Ok(Ok(PageReply::see_other(format!("/dashboard/{}", request.text(0)))))
        }
    }
}

/// The step with the secret of an authenticator.
pub(super) fn scanned(drafted: &Value) -> Step {
    let drawing = QrDrawing::draw(drafted.text("uri"));
    Step::Authenticator {
        secret: drawing.map(|drawing| (drawing, drafted.text("secret").to_owned())),
        draft: drafted.text("draft").to_owned(),
        fault: None,
    }
}
