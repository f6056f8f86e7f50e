//! `POST /merchants/add-to-metadata-set`

use crate::endpoints::endpoint::Endpoint;
use crate::protocol::arguments::ReadArguments;
use crate::protocol::declaration::{Declaration, DeclaredError, Flags, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::fields::Fields;
use till_domain::command::{AddToMetadataSet, Command};

use super::arguments::{self, KEY, PATH, TTL, VALUE, VERSION};
use crate::access::MerchantCaller;
use crate::endpoints::merchants::by_merchant;
use crate::protocol::api_error::ApiError;
use crate::service::Shared;

pub(super) const ENDPOINTS: &[Endpoint<MerchantCaller>] = &[Endpoint(&ADD_TO_METADATA_SET, &add_to_metadata_set)];

static ADD_TO_METADATA_SET: Declaration = Declaration {
    name: "add-to-metadata-set",
    package: Package::Merchants,
    group: "metadata",
    summary: "Adds an item to a set in a metadata record: `true` when it was added, `false` when the set has it already.",
    docs: "A missing record, missing objects along the path and a missing set are created. The expiry is renewed in \
           either case. A record holds at most 1,000,000 items and 64 MiB.",
    arguments: &[KEY.argument, PATH.argument, VALUE, VERSION.argument, TTL.argument],
    returns: Returns::Boolean,
    errors: &[DeclaredError::STALE_VERSION],
    flags: Flags::COMMAND,
};

/// `POST /merchants/add-to-metadata-set`
pub(super) async fn add_to_metadata_set(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let command = Command::AddToMetadataSet(parse(call.fields())?);
    by_merchant::submit(&service, &call, command).await
}

fn parse(mut fields: Fields<'_>) -> Result<AddToMetadataSet, ApiError> {
    let key = KEY.read(&mut fields, &());
    let path = PATH.read(&mut fields, &()).flatten().unwrap_or_default();
    let item = arguments::value(&mut fields, &path);
    let version = VERSION.read(&mut fields, &()).flatten();
    let ttl_seconds = TTL.read(&mut fields, &()).flatten();
    fields.finish(|| Some(AddToMetadataSet { key: key?, path, item: item?, version, ttl_seconds }))
}
