//! The way on of customers who come back from the page on which they acted: contract, section 9.4.

use till_domain::acquirer::AcquirerRef;
use till_domain::checkout::CheckoutStatus;
use till_domain::customer_action::CustomerStep;
use till_domain::ids::{MerchantId, SessionId};
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::records::{Checkouts, Payments, Rows, Sessions};
use till_protocol::arguments::id;
use till_protocol::field;

use super::checkout::profile;
use crate::endpoints::prelude::*;
use crate::service::{framed_at, given_up_to, in_ascii, open_action, parse_with_secret, returned_to};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[Endpoint(&FIND_WAY_ON, &find_way_on)];

object! {
    /// The way on of a customer who comes back.
    WAY_ON "way_on" as WayOnShape of (
        merchant: String,
        shop: String,
        has_outcome: bool,
        acts_at: Option<String>
    ) {
        merchant_name: STRING = merchant, "The name of the shop.";
        shop: STRING = shop, "The page of the shop in ASCII, or the page of a checkout that can still be paid.";
        has_outcome: BOOLEAN = has_outcome, "True when the customer goes there now.";
        acts_at: STRING or null = acts_at, "The address at which the customer must still act.";
    }
}

/// The session's id, with the secret of its way back or alone.
const WAY_BACK: Required<String> = Field { value_type: ValueType::STRING, parse: |value| field::text(1..=100)(value) }
    .required("The last segment of the address.")
    .with_name("way_back");

const CAME_BACK: ArgumentSet<(MerchantId, String)> = arguments!({
    merchant_id: id::<MerchantId>().required("The merchant (`mer_...`)."),
    way_back: WAY_BACK,
} => (merchant_id, way_back));

/// The call of the page to which customers come back.
pub(crate) static FIND_WAY_ON: Declaration = Declaration {
    name: "find-way-on",
    summary: "Returns where a customer who comes back goes on.",
    arguments: CAME_BACK.declared,
    returns: Returns::Object(&WAY_ON),
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sessions")
};

/// An id alone does not lead to a checkout's address. The acquirer, unless it is in this process, is asked at once what
/// has become of a payment that is pending.
async fn find_way_on(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "No payment was made at this address.");
    let (merchant_id, way_back) = call.fields().parse(&CAME_BACK)?;
    let (session_id, secret) = parse_with_secret::<SessionId>(&way_back).ok_or_else(unknown)?;
    if secret.is_some_and(|secret| !service.is_way_back(merchant_id, session_id, secret)) {
        return Err(unknown());
    }
    let reader = service.reader(merchant_id).await?;
    let profile = profile(&reader)?.ok_or_else(unknown)?;
    let payment_id = reader.get::<Sessions>(session_id)?.and_then(|session| session.payment_id);
    let payment = reader.get::<Payments>(payment_id.ok_or_else(unknown)?)?.ok_or_else(unknown)?;
    call.log_subject(merchant_id, None);
    let (merchant, shop) = (profile.name.as_str().to_owned(), in_ascii(&returned_to(&payment)));
    if payment.status != PaymentStatus::Pending {
        let again = checkout_to_try_again(&service, &reader, &payment, secret.is_some())?;
        return Ok(Reply::new(&WayOnShape::new(merchant, again.unwrap_or(shop), true, None)));
    }
    if payment.acquirer != AcquirerRef::Sandbox {
        service.engine().look_up_authorization(merchant_id, payment.id);
    }
    let action = open_action(&reader, &payment, service.merchant_now(merchant_id)?)?;
    let acts_at = action.and_then(|action| match action.step {
        CustomerStep::Redirect(address) => Some(in_ascii(address.as_str())),
        CustomerStep::DisplayQr(_) | CustomerStep::AcquirerPage => None,
    });
    Ok(Reply::new(&WayOnShape::new(merchant, shop, false, acts_at)))
}

/// The page at which the customer of a failed payment can still pay its checkout: that of the shop, or of this server
/// for whoever may have its address.
fn checkout_to_try_again(
    service: &Shared,
    reader: &Reader<'_>,
    payment: &Payment,
    may_open: bool,
) -> Result<Option<String>, ApiError> {
    let has_failed = matches!(payment.status, PaymentStatus::Failed | PaymentStatus::Expired | PaymentStatus::Voided);
    let Some(checkout_id) = payment.checkout_id.filter(|_| has_failed) else { return Ok(None) };
    let now = service.merchant_now(reader.merchant_id())?;
    let checkout = reader.get::<Checkouts>(checkout_id)?;
    let open = checkout.filter(|checkout| checkout.status_at(now) == CheckoutStatus::Open);
    Ok(open.map(|checkout| match framed_at(&checkout) {
        Some(page) => in_ascii(&page),
        None if may_open => service.checkout_path(reader.merchant_id(), checkout_id),
        None => in_ascii(&given_up_to(&checkout)),
    }))
}
