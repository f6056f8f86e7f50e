//! The page on which the text of a QR code stands for the camera of a phone.

use askama::Template;
use serde_json::json;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::PageReply;

use crate::endpoints::pages::FIND_BILL;
use crate::pages::answered::{Request, look_up};
use crate::pages::style;

/// The field with the text of the QR code.
const TEXT: &str = "text";

#[derive(Template)]
#[template(path = "sandbox_scan.html")]
struct ScanPage;

#[derive(Template)]
#[template(path = "sandbox_no_bill.html")]
struct NoBillPage;

/// Shows the page, or sends the browser to the wallet's page for the text.
pub(super) async fn open((): (), request: Request) -> Result<PageReply, ApiError> {
    let Some(form) = request.form() else { return Ok(html(&ScanPage)) };
    let scanned = json!({ "text": form.single(TEXT).unwrap_or_default().trim() });
    let path = look_up(&request, &FIND_BILL, &scanned).await?;
    Ok(match path.as_ref().and_then(|path| path.as_str()) {
        Some(path) => PageReply::see_other(path.to_owned()),
        None => html(&NoBillPage).with_refusal(Code::NotFound),
    })
}

fn html(page: &impl Template) -> PageReply {
    PageReply::html(page.render().expect("a template into a text cannot fail"))
}
