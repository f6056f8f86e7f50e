//! `POST /merchants/remove-from-metadata-set`

use till_domain::command::{Command, RemoveFromMetadataSet};

use super::arguments::{self, KEY, PATH, VALUE, VERSION};
use crate::access::MerchantCaller;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Declaration, DeclaredError, Flags, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::fields::Fields;
use crate::service::Shared;

pub(super) static REMOVE_FROM_METADATA_SET: Declaration = Declaration {
    name: "remove-from-metadata-set",
    package: Package::Merchants,
    group: "metadata",
    summary: "Removes an item from a set in a metadata record: `true` when the set had it.",
    docs: "The order of the other items does not change. When there is no record, or no value at the path, the answer is `false`.",
    arguments: &[KEY, PATH, VALUE, VERSION],
    returns: Returns::Boolean,
    errors: &[DeclaredError::STALE_VERSION],
    flags: Flags::COMMAND,
};

/// `POST /merchants/remove-from-metadata-set`
pub(super) async fn remove_from_metadata_set(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let command = Command::RemoveFromMetadataSet(parse(call.fields())?);
    let (merchant_id, caller) = (call.caller().merchant_id, call.caller().as_domain());
    Ok(service.submit(&REMOVE_FROM_METADATA_SET, &call, merchant_id, caller, command, None).await?.into())
}

fn parse(mut fields: Fields<'_>) -> Result<RemoveFromMetadataSet, ApiError> {
    let key = arguments::key(&mut fields);
    let path = arguments::path(&mut fields);
    let item = arguments::value(&mut fields, &path);
    let version = arguments::version(&mut fields);
    fields.finish(|| Some(RemoveFromMetadataSet { key: key?, path, item: item?, version }))
}
