//! `POST /merchants/find-payment`

use till_domain::records::{Payments, PaymentsByExternalId};

use crate::endpoints::arguments::{PAYMENT_ARGUMENT, PAYMENT_NOT_FOUND};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::payment::{NextActionShape, PAYMENT, PaymentShape};
use crate::service::prepared_reference;

pub(super) const ENDPOINTS: MerchantEndpoints = &[MerchantEndpoint(Act::SeePayments, &FIND_PAYMENT, &find_payment)];

static FIND_PAYMENT: Declaration = Declaration {
    name: "find-payment",
    summary: "Returns a payment with its status.",
    docs: "Poll it for the final status.",
    arguments: &[PAYMENT_ARGUMENT.argument],
    returns: Returns::Object(&PAYMENT),
    errors: &[PAYMENT_NOT_FOUND],
    flags: Flags { answers_addresses: true, ..Flags::QUERY },
    ..Declaration::query(Package::Merchants, "payments")
};

const UNKNOWN: &str = "No payment of this merchant has this payment_id: neither as Till's id (pay_...) nor as the \
    merchant's external_id. list-payments lists those that exist.";

/// `POST /merchants/find-payment`
async fn find_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let name = call.fields().parse(&PAYMENT_ARGUMENT)?;
    let reader = call.caller().reader(&service).await?;
    let payment = Payments::find_row(&reader, name)?;
    let now = service.merchant_now(reader.merchant_id())?;
    let next_action = NextActionShape::read(&reader, &call, &payment, now)?;
    let prepared = prepared_reference(&reader, &payment)?;
    Ok(Reply::new(&PaymentShape::new(&payment, next_action, prepared, now)))
}

named_kind!(Payments, by PaymentsByExternalId, PAYMENT_ARGUMENT, ApiError::not_found("payment_id", UNKNOWN));
