//! `/frame/{merchant_id}/{form}`: a checkout in a shop's own page, or the payment form of an installation. Only
//! pages of the installation's own origin may hold it.

use till_domain::ids::{InstallationId, MerchantId};
use till_domain::merchant::{PaymentMethod, Platform};
use till_domain::session::InterestBearer;
use till_protocol::api_error::ApiError;
use till_protocol::dispatch::{BrowserRequest, PageDeclaration, PageReply};

use super::frame_view::FrameView;
use super::locale;
use super::page::{self, Frame};
use super::paying::wallet;
use super::{frame, shown};
use crate::service::{CheckoutReference, Shared, ShownForm};

/// `form` is an installation, or the last segment of a checkout's address.
pub(in crate::pages) static FRAMED: PageDeclaration =
    PageDeclaration { pattern: "/frame/{merchant_id}/{form}", has_form: false };

/// A page and the only origin whose pages may hold it.
struct Framed {
    html: String,
    origin: String,
}

/// Shows the checkout or form. An address that leads to none gets a page that says nothing, and that no page may hold.
pub(in crate::pages) async fn framed(service: Shared, request: BrowserRequest) -> Result<PageReply, ApiError> {
    let found = match (request.text(0).parse(), request.text(1).parse(), request.text(1).parse()) {
        (Ok(merchant_id), Ok(installation_id), _) => form(&service, &request, merchant_id, installation_id).await?,
        (Ok(merchant_id), _, Ok(reference)) => mounted(&service, &request, merchant_id, reference).await?,
        _ => None,
    };
    Ok(match found {
        Some(Framed { html, origin }) => PageReply::html(html).framed_by(origin),
        None => PageReply::html(frame::nothing()).shared(),
    })
}

/// The form of an installation.
async fn form(
    service: &Shared,
    request: &BrowserRequest,
    merchant_id: MerchantId,
    installation_id: InstallationId,
) -> Result<Option<Framed>, ApiError> {
    let Some(form) = service.shown_form(merchant_id, installation_id).await? else { return Ok(None) };
    request.log_subject(merchant_id);
    let locale = locale::choose(request.query("lang").as_deref(), None, request.accept_language());
    let view = view(merchant_id, form);
    Ok(Some(Framed { html: frame::page(&view, locale), origin: view.origin }))
}

/// A checkout, which its page may show too.
async fn mounted(
    service: &Shared,
    request: &BrowserRequest,
    merchant_id: MerchantId,
    reference: CheckoutReference,
) -> Result<Option<Framed>, ApiError> {
    let shown = service.shown_checkout(merchant_id, reference).await?;
    let shown = shown.filter(|shown| !shown.profile.suspended && shown.installation.platform == Platform::Web);
    let Some(shown) = shown else { return Ok(None) };
    request.log_subject(merchant_id);
    let of_checkout = shown.offered.checkout.locale;
    let locale = locale::choose(request.query("lang").as_deref(), of_checkout, request.accept_language());
    let view = shown::view(merchant_id, &shown, wallet(service, &shown).await);
    let origin = shown.installation.identifier.as_str();
    let last = shown.offered.payment.as_ref();
    let frame = Frame {
        origin,
        last_session_id: last.map(|payment| payment.session_id.to_string()),
        failure_code: last.and_then(|payment| Some(payment.failure.as_ref()?.code.as_str())),
    };
    let html = page::framed(&view, locale, frame);
    Ok(Some(Framed { html, origin: origin.to_owned() }))
}

fn view(merchant_id: MerchantId, form: ShownForm) -> FrameView {
    let ShownForm { installation, methods, is_sandbox } = form;
    let bearer = methods.contains(&PaymentMethod::Installment).then_some(InterestBearer::Customer);
    FrameView {
        merchant_id: merchant_id.to_string(),
        installation_id: installation.id.to_string(),
        origin: installation.identifier.as_str().to_owned(),
        plans: shown::plans(&methods),
        methods,
        interest_bearer: bearer.map(|bearer| bearer.name().to_owned()),
        is_sandbox,
    }
}
