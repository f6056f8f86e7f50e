//! `POST /merchants/find-payment`

use till_domain::records::{Payments, Rows};

use super::named_payment;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::forms::{PAYMENT_ARGUMENT, PAYMENT_NOT_FOUND};
use crate::endpoints::shapes::payment::{PAYMENT, PaymentShape};
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Declaration, Flags, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Shared;

pub(super) static FIND_PAYMENT: Declaration = Declaration {
    name: "find-payment",
    package: Package::Merchants,
    group: "payments",
    summary: "Returns a payment with its status.",
    docs: "Poll it for the final status.",
    arguments: &[PAYMENT_ARGUMENT],
    returns: Returns::Object(&PAYMENT),
    errors: &[PAYMENT_NOT_FOUND],
    flags: Flags::QUERY,
};

/// `POST /merchants/find-payment`
pub(super) async fn find_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let payment = fields.required("payment_id", arguments::payment_ref);
    let payment = fields.finish(|| payment)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let id = named_payment::id(&reader, &payment)?;
    let found = id.map_or(Ok(None), |id| reader.get::<Payments>(id))?.ok_or_else(named_payment::unknown)?;
    Ok(Reply::new(&PaymentShape::new(&found, service.merchant_now(reader.merchant_id())?)))
}
