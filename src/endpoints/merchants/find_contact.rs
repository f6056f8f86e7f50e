//! `POST /merchants/find-contact`

use till_domain::customer::CustomerRef;
use till_domain::records::{Customers, CustomersByExternalId, Rows};

use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::forms::CUSTOMER_REF;
use crate::endpoints::shapes::contact::{CONTACT, ContactShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Shared;

/// The declaration.
pub(super) static FIND_CONTACT: Declaration = Declaration {
    name: "find-contact",
    package: Package::Merchants,
    group: "contacts",
    summary: "Answers a customer.",
    docs: "",
    arguments: &[Argument::required(
        "contact_id",
        CUSTOMER_REF,
        "The customer: an id (`ctc_...`) or the merchant's own identifier.",
    )],
    returns: Returns::Object(&CONTACT),
    errors: &[DeclaredError::when(Code::NotFound, "No customer of this merchant has this id.")],
    flags: Flags::QUERY,
};

/// `POST /merchants/find-contact`
pub(super) async fn find_contact(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let contact = fields.required("contact_id", arguments::customer_ref);
    let contact = fields.finish(|| contact)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let id = match contact {
        CustomerRef::Own(id) => Some(id),
        CustomerRef::External(external_id) => reader.get::<CustomersByExternalId>(external_id)?,
    };
    let found = id.map_or(Ok(None), |id| reader.get::<Customers>(id))?;
    let unknown = || {
        let message = "No customer of this merchant has this contact_id: neither as Till's id (ctc_...) nor as the merchant's own. E-mail addresses are not looked up here.";
        ApiError::not_found("contact_id", message)
    };
    let found = found.ok_or_else(unknown)?;
    Ok(Reply::new(&ContactShape::new(&found)))
}
