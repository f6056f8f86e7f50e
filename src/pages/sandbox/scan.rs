//! The page on which the text of a QR code stands for the camera of a phone.

use askama::Template;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{BrowserRequest, PageReply};

use super::action::unavailable;
use crate::pages::style;
use crate::service::Shared;

/// The field with the text of the QR code.
const TEXT: &str = "text";

#[derive(Template)]
#[template(path = "sandbox_scan.html")]
struct ScanPage;

#[derive(Template)]
#[template(path = "sandbox_no_bill.html")]
struct NoBillPage;

/// Shows the page, or sends the browser to the wallet's page for the text.
pub(super) async fn open(service: Shared, request: BrowserRequest) -> Result<PageReply, ApiError> {
    let Some(form) = request.form() else { return Ok(html(&ScanPage)) };
    let text = form.only(TEXT).unwrap_or_default().trim();
    let bill = service.sandbox.find_bill(text).await.map_err(unavailable)?;
    Ok(match bill {
        Some(action) => PageReply::see_other(action.path()),
        None => html(&NoBillPage).refused(Code::NotFound),
    })
}

fn html(page: &impl Template) -> PageReply {
    PageReply::html(page.render().expect("a template into a text cannot fail"))
}
