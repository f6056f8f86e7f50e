//! `/pay/{merchant_id}/qr/{payment_session_id}`: the QR code that the customer of a session must scan now, as a picture
//! that can be kept.

use serde_json::json;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{PageDeclaration, PageReply};

use super::png;
use crate::endpoints::pages::RETRIEVE_QR_CODE;
use crate::pages::answered::{Request, look_up};

pub(in crate::pages) static QR_FILE: PageDeclaration =
    PageDeclaration { pattern: "/pay/{merchant_id}/qr/{payment_session_id}", has_form: false };

/// The picture.
pub(in crate::pages) async fn qr_file((): (), request: Request) -> Result<PageReply, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "There is no QR code to scan.");
    let named = json!({ "merchant_id": request.text(0), "payment_session_id": request.text(1) });
    let text = look_up(&request, &RETRIEVE_QR_CODE, &named).await?.ok_or_else(unknown)?;
    let picture = text.as_str().and_then(png::picture_of).ok_or_else(unknown)?;
    Ok(PageReply::bytes(picture.to_vec(), "image/png"))
}
