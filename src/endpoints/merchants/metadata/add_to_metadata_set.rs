//! `POST /merchants/add-to-metadata-set`

use till_domain::command::{AddToMetadataSet, Command};

use super::arguments::{self, KEY, PATH, TTL, VALUE, VERSION};
use crate::access::MerchantCaller;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Declaration, DeclaredError, Flags, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::fields::Fields;
use crate::service::Shared;

pub(super) static ADD_TO_METADATA_SET: Declaration = Declaration {
    name: "add-to-metadata-set",
    package: Package::Merchants,
    group: "metadata",
    summary: "Adds an item to a set in a metadata record: `true` when it was added, `false` when the set has it already.",
    docs: "A missing record, missing objects along the path and a missing set are created. The expiry is renewed in \
           either case. A record holds at most 1,000,000 items and 64 MiB.",
    arguments: &[KEY, PATH, VALUE, VERSION, TTL],
    returns: Returns::Boolean,
    errors: &[DeclaredError::STALE_VERSION],
    flags: Flags::COMMAND,
};

/// `POST /merchants/add-to-metadata-set`
pub(super) async fn add_to_metadata_set(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let command = Command::AddToMetadataSet(parse(call.fields())?);
    let (merchant_id, caller) = (call.caller().merchant_id, call.caller().as_domain());
    Ok(service.submit(&ADD_TO_METADATA_SET, &call, merchant_id, caller, command, None).await?.into())
}

fn parse(mut fields: Fields<'_>) -> Result<AddToMetadataSet, ApiError> {
    let key = arguments::key(&mut fields);
    let path = arguments::path(&mut fields);
    let item = arguments::value(&mut fields, &path);
    let version = arguments::version(&mut fields);
    let ttl_seconds = arguments::ttl_seconds(&mut fields);
    fields.finish(|| Some(AddToMetadataSet { key: key?, path, item: item?, version, ttl_seconds }))
}
