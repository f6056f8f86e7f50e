//! `POST /merchants/find-topup`, `list-topups`

use till_domain::ids::TopupId;
use till_domain::money::Currency;
use till_domain::records::{Profiles, Rows, Single, Topups, TopupsByExternalId};

use crate::endpoints::forms::id_or_external_id;
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::topup::{TOPUP, TopupShape};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::SeeMoney, &FIND_TOPUP, &find::<Topups>),
    MerchantEndpoint(Act::SeeMoney, &LIST_TOPUPS, &list::<Topups>),
];

static FIND_TOPUP: Declaration = Declaration {
    name: "find-topup",
    summary: "Returns a top-up of the balance.",
    arguments: &[TOPUP_ARGUMENT.argument],
    returns: Returns::Object(&TOPUP),
    errors: &[DeclaredError::new(Code::NotFound, "No top-up of this merchant has this id.")],
    ..Declaration::query(Package::Merchants, "topups")
};

static LIST_TOPUPS: Declaration = Declaration {
    name: "list-topups",
    summary: "Lists the top-ups of the merchant's balance, newest first.",
    arguments: &list_page_arguments(TopupId::PREFIX),
    returns: Returns::ListPage(&TOPUP),
    ..Declaration::query(Package::Merchants, "topups")
};

const TOPUP_ARGUMENT: Required<IdOrExternalId<TopupId>> = id_or_external_id::<TopupId>()
    .required("The top-up: its id (`tup_...`) or the `external_id` that the operator gave it.")
    .with_name("topup_id");

const UNKNOWN: &str = "No top-up of this merchant has this topup_id: neither as Till's id (tup_...) nor as the \
    operator's external_id. list-topups lists those that exist.";

kind!(Topups, Currency: |_, reader| currency(reader) => |topup, currency, _| Ok(TopupShape::new(topup, *currency)));
named_kind!(Topups, by TopupsByExternalId, TOPUP_ARGUMENT, ApiError::not_found("topup_id", UNKNOWN));

fn currency(reader: &Reader<'_>) -> Result<Currency, ApiError> {
    Ok(reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?.currency)
}
