//! `/pay/{merchant_id}/qr/{payment_session_id}`: the QR code that the customer of a session must scan now, as a picture
//! that can be kept.

use till_domain::ids::{MerchantId, SessionId};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{BrowserRequest, PageDeclaration, PageReply};

use super::png;
use crate::service::Shared;

pub(in crate::pages) static QR_FILE: PageDeclaration =
    PageDeclaration { pattern: "/pay/{merchant_id}/qr/{payment_session_id}", has_form: false };

/// The picture.
pub(in crate::pages) async fn qr_file(service: Shared, request: BrowserRequest) -> Result<PageReply, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "There is no QR code to scan.");
    let merchant_id: MerchantId = request.text(0).parse().map_err(|_| unknown())?;
    let session_id: SessionId = request.text(1).parse().map_err(|_| unknown())?;
    let text = service.shown_qr_text(merchant_id, session_id).await?.ok_or_else(unknown)?;
    request.log_subject(merchant_id);
    let picture = png::picture_of(text.as_str()).ok_or_else(unknown)?;
    Ok(PageReply::bytes(picture.to_vec(), "image/png"))
}
