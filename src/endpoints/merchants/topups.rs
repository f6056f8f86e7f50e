//! `POST /merchants/find-topup`, `list-topups`

use till_domain::ids::TopupId;
use till_domain::money::Currency;
use till_domain::records::{Profiles, Rows, Single, Topups, TopupsByExternalId};

use crate::access::MerchantCaller;
use crate::endpoints::arguments::{self, IdOrExternalId};
use crate::endpoints::forms::EXTERNAL_ID;
use crate::endpoints::shapes::topup::{TOPUP, TopupShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns, page_arguments};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::{Reader, Shared, read_page};

pub(super) static FIND_TOPUP: Declaration = Declaration {
    name: "find-topup",
    package: Package::Merchants,
    group: "topups",
    summary: "Returns a top-up of the balance.",
    docs: "",
    arguments: &[Argument::required(
        "topup_id",
        EXTERNAL_ID,
        "The top-up: its id (`tup_...`) or the `external_id` that the operator gave it.",
    )],
    returns: Returns::Object(&TOPUP),
    errors: &[DeclaredError::when(Code::NotFound, "No top-up of this merchant has this id.")],
    flags: Flags::QUERY,
};

pub(super) static LIST_TOPUPS: Declaration = Declaration {
    name: "list-topups",
    package: Package::Merchants,
    group: "topups",
    summary: "Lists the top-ups of the merchant's balance, newest first.",
    docs: "",
    arguments: &page_arguments(TopupId::PREFIX),
    returns: Returns::Page(&TOPUP),
    errors: &[],
    flags: Flags::QUERY,
};

/// `POST /merchants/find-topup`
pub(super) async fn find_topup(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let topup = fields.required("topup_id", arguments::id_or_external_id::<TopupId>);
    let topup = fields.finish(|| topup)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let id = match topup {
        IdOrExternalId::Id(id) => Some(id),
        IdOrExternalId::ExternalId(external_id) => reader.get::<TopupsByExternalId>(external_id)?,
    };
    let found = id.map_or(Ok(None), |id| reader.get::<Topups>(id))?;
    let unknown = || {
        let message = "No top-up of this merchant has this topup_id: neither as Till's id (tup_...) nor as the operator's external_id. list-topups lists those that exist.";
        ApiError::not_found("topup_id", message)
    };
    Ok(Reply::new(&TopupShape::new(&found.ok_or_else(unknown)?, currency(&reader)?)))
}

/// `POST /merchants/list-topups`
pub(super) async fn list_topups(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<TopupId>("a top-up id (tup_...)"));
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let currency = currency(&reader)?;
    let page = read_page::<Topups>(&reader, request)?;
    Reply::page(&page.map(|topup| TopupShape::new(topup, currency)))
}

fn currency(reader: &Reader<'_>) -> Result<Currency, ApiError> {
    Ok(reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?.currency)
}
