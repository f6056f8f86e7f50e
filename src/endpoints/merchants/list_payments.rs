//! `POST /merchants/list-payments`

use till_domain::ids::PaymentId;
use till_domain::records::Payments;

use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::shapes::payment::{PAYMENT, PaymentShape};
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Declaration, Flags, Package, Returns, page_arguments};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::{Shared, read_page};

/// The declaration.
pub(super) static LIST_PAYMENTS: Declaration = Declaration {
    name: "list-payments",
    package: Package::Merchants,
    group: "payments",
    summary: "Lists the merchant's payments, newest first.",
    docs: "The status of a payment is that of the moment of the call.",
    arguments: &page_arguments(PaymentId::PREFIX),
    returns: Returns::Page(&PAYMENT),
    errors: &[],
    flags: Flags::QUERY,
};

/// `POST /merchants/list-payments`
pub(super) async fn list_payments(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<PaymentId>("a payment id (pay_...)"));
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let page = read_page::<Payments>(&reader, request)?;
    let now = service.merchant_now(reader.merchant_id())?;
    Reply::page(&page.borrowed(|payment| PaymentShape::new(payment, now)))
}
