//! `POST /merchants/add-to-metadata-set`

use till_domain::command::{AddToMetadataSet, Command};
use till_protocol::arguments::ReadArguments;
use till_protocol::fields::Fields;

use super::arguments::{self, KEY, PATH, TTL, VALUE, VERSION};
use crate::endpoints::merchants::by_merchant;
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: MerchantEndpoints =
    &[MerchantEndpoint(Act::ChangeMetadata, &ADD_TO_METADATA_SET, &add_to_metadata_set)];

static ADD_TO_METADATA_SET: Declaration = Declaration {
    name: "add-to-metadata-set",
    summary: "Adds an item to a set in a metadata record: `true` when it was added, `false` when the set has it \
        already.",
    docs: "A missing record, missing objects along the path and a missing set are created. The expiry is renewed in \
           either case. A record holds at most 1,000,000 items and 64 MiB.",
    arguments: &[KEY.argument, PATH.argument, VALUE, VERSION.argument, TTL.argument],
    errors: &[DeclaredError::STALE_VERSION],
    ..Declaration::command(Package::Merchants, "metadata")
};

/// `POST /merchants/add-to-metadata-set`
async fn add_to_metadata_set(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
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
