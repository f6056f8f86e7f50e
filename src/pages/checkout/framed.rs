//! `/frame/{merchant_id}/{installation_id}`: the payment form in a shop's own page, with the picture of its QR code. Only pages of
//! the installation's own origin may hold it.

use till_domain::ids::{InstallationId, MerchantId, SessionId};
use till_domain::merchant::PaymentMethod;
use till_domain::session::InterestBearer;

use super::frame_view::FrameView;
use super::locale;
use super::qr::QrDrawing;
use super::{frame, shown};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::dispatch::{BrowserRequest, PageDeclaration, PageReply};
use crate::service::{Shared, ShownForm};

pub(in crate::pages) static FRAMED: PageDeclaration =
    PageDeclaration { pattern: "/frame/{merchant_id}/{installation_id}", has_form: false };

/// Shows the form. An installation that has none gets a page that says nothing, and that no page may hold.
pub(in crate::pages) async fn framed(service: Shared, request: BrowserRequest) -> Result<PageReply, ApiError> {
    let named = request.text(0).parse().ok().zip(request.text(1).parse().ok());
    let Some((merchant_id, installation_id)): Option<(MerchantId, InstallationId)> = named else {
        return Ok(PageReply::html(frame::nothing()).shared());
    };
    let Some(form) = service.shown_form(merchant_id, installation_id).await? else {
        return Ok(PageReply::html(frame::nothing()).shared());
    };
    request.log_subject(merchant_id);
    let locale = locale::choose(request.query("lang").as_deref(), None, request.accept_language());
    let view = view(merchant_id, form);
    Ok(PageReply::html(frame::page(&view, locale)).framed_by(view.origin))
}

fn view(merchant_id: MerchantId, form: ShownForm) -> FrameView {
    let ShownForm { installation, methods, is_sandbox: _ } = form;
    let bearer = methods.contains(&PaymentMethod::Installment).then_some(InterestBearer::Customer);
    FrameView {
        merchant_id: merchant_id.to_string(),
        installation_id: installation.id.to_string(),
        origin: installation.identifier.as_str().to_owned(),
        plans: shown::plans(&methods),
        methods,
        interest_bearer: bearer.map(|bearer| bearer.name().to_owned()),
    }
}

pub(in crate::pages) static QR_PICTURE: PageDeclaration =
    PageDeclaration { pattern: "/frame/{merchant_id}/{installation_id}/qr/{payment_session_id}", has_form: false };

/// The QR code that the customer of a session must scan now.
pub(in crate::pages) async fn qr_picture(service: Shared, request: BrowserRequest) -> Result<PageReply, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "There is no QR code to scan.");
    let merchant_id: MerchantId = request.text(0).parse().map_err(|_| unknown())?;
    let session_id: SessionId = request.text(2).parse().map_err(|_| unknown())?;
    let text = service.shown_qr_text(merchant_id, session_id).await?.ok_or_else(unknown)?;
    request.log_subject(merchant_id);
    let drawing = QrDrawing::of(text.as_str()).ok_or_else(unknown)?;
    Ok(PageReply::text(drawing.picture(), "image/svg+xml"))
}
