//! `POST /merchants/remove-from-metadata-set`

use till_domain::command::{Command, RemoveFromMetadataSet};
use till_protocol::arguments::ReadArguments;
use till_protocol::fields::Fields;

use super::arguments::{self, KEY, PATH, VALUE, VERSION};
use crate::endpoints::merchants::by_merchant;
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: MerchantEndpoints =
    &[MerchantEndpoint(Act::ChangeMetadata, &REMOVE_FROM_METADATA_SET, &remove_from_metadata_set)];

static REMOVE_FROM_METADATA_SET: Declaration = Declaration {
    name: "remove-from-metadata-set",
    summary: "Removes an item from a set in a metadata record: `true` when the set had it.",
    docs: "The order of the other items does not change. When there is no record, or no value at the path, the answer \
        is `false`.",
    arguments: &[KEY.argument, PATH.argument, VALUE, VERSION.argument],
    errors: &[DeclaredError::STALE_VERSION],
    ..Declaration::command(Package::Merchants, "metadata")
};

/// `POST /merchants/remove-from-metadata-set`
async fn remove_from_metadata_set(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let command = Command::RemoveFromMetadataSet(parse(call.fields())?);
    by_merchant::submit(&service, &call, command).await
}

fn parse(mut fields: Fields<'_>) -> Result<RemoveFromMetadataSet, ApiError> {
    let key = KEY.read(&mut fields, &());
    let path = PATH.read(&mut fields, &()).flatten().unwrap_or_default();
    let item = arguments::value(&mut fields, &path);
    let version = VERSION.read(&mut fields, &()).flatten();
    fields.finish(|| Some(RemoveFromMetadataSet { key: key?, path, item: item?, version }))
}
