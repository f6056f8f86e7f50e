//! `POST /merchants/find-payment`

use till_domain::records::{Payments, PaymentsByExternalId, Rows};

use crate::access::MerchantCaller;
use crate::endpoints::arguments::{self, PaymentRef};
use crate::endpoints::forms::EXTERNAL_ID;
use crate::endpoints::shapes::payment::{PAYMENT, PaymentShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Shared;

/// The declaration.
pub(super) static FIND_PAYMENT: Declaration = Declaration {
    name: "find-payment",
    package: Package::Merchants,
    group: "payments",
    summary: "Answers a payment with its status.",
    docs: "Poll it for the final status.",
    arguments: &[Argument::required(
        "payment_id",
        EXTERNAL_ID,
        "The payment: its id (`pay_...`) or the merchant's own `external_id`.",
    )],
    returns: Returns::Object(&PAYMENT),
    errors: &[DeclaredError::when(Code::NotFound, "No payment of this merchant has this id.")],
    flags: Flags::QUERY,
};

/// `POST /merchants/find-payment`
pub(super) async fn find_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let payment = fields.required("payment_id", arguments::payment_ref);
    let payment = fields.finish(|| payment)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let id = match payment {
        PaymentRef::Own(id) => Some(id),
        PaymentRef::External(external_id) => reader.get::<PaymentsByExternalId>(external_id)?,
    };
    let found = id.map_or(Ok(None), |id| reader.get::<Payments>(id))?;
    let unknown = || {
        let message = "No payment of this merchant has this payment_id: neither as Till's id (pay_...) nor as the merchant's external_id. list-payments shows those that there are.";
        ApiError::not_found("payment_id", message)
    };
    let found = found.ok_or_else(unknown)?;
    Ok(Reply::new(&PaymentShape::new(&found, service.merchant_now(reader.merchant_id())?)))
}
