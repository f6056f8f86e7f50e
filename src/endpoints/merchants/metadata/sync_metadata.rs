//! `POST /merchants/sync-metadata`

use till_actors::Answered;
use till_domain::command::{Command, SyncMetadata};
use till_domain::event::Answer;
use till_domain::ids::{MetadataId, RawId};
use till_domain::metadata::MetadataRecord;
use till_protocol::arguments::ReadArguments;
use till_protocol::declaration::Argument;
use till_protocol::fields::Fields;

use super::arguments::{self, KEY, TTL, VERSION};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::metadata::{METADATA, metadata_json};

pub(super) const ENDPOINTS: MerchantEndpoints =
    &[MerchantEndpoint(Act::ChangeMetadata, &SYNC_METADATA, &sync_metadata)];

const VALUE_OF_RECORD: Argument = Argument::required("metadata", ValueType::ANY, "The value, at most 1 MiB.")
    .such_as("{\"accounts\": {\"suspended\": [\"A-1001\"]}}");

static SYNC_METADATA: Declaration = Declaration {
    name: "sync-metadata",
    summary: "Replaces the whole value of a metadata record, or makes one, and answers the record.",
    docs: "An array with repeated items keeps the first of each when it is next used as a set.",
    arguments: &[KEY.argument, VALUE_OF_RECORD, VERSION.argument, TTL.argument],
    returns: Returns::Object(&METADATA),
    errors: &[DeclaredError::STALE_VERSION],
    ..Declaration::command(Package::Merchants, "metadata")
};

/// `POST /merchants/sync-metadata`
async fn sync_metadata(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let command = parse(call.fields())?;
    let (merchant_id, caller) = (call.caller().merchant_id, call.caller().as_domain());
    let submitted = Command::SyncMetadata(command.clone());
    let answered = service.submit(&call, merchant_id, caller, submitted, None).await?;
    Ok(Reply::from_json(answer(&command, answered)?).replayed(answered.replayed))
}

/// The record as it was when the command took effect. Its value is that of the call, for a repeated call too.
fn answer(command: &SyncMetadata, answered: Answered) -> Result<String, ApiError> {
    let Answer::Metadata { version, created_at, updated_at, expires_at } = answered.answer else {
        return Err(ApiError::unhandled());
    };
    let bytesize = command.metadata.byte_count();
    let nobody = MetadataId::from_raw(RawId::from_bytes([0; 16])); // Not shown.
    let record =
        MetadataRecord { version, bytesize, updated_at, expires_at, ..MetadataRecord::new(nobody, created_at) };
    Ok(metadata_json(&command.key, &record, command.metadata.as_str(), &[]))
}

fn parse(mut fields: Fields<'_>) -> Result<SyncMetadata, ApiError> {
    let key = KEY.read(&mut fields, &());
    let metadata = arguments::metadata(&mut fields);
    let version = VERSION.read(&mut fields, &()).flatten();
    let ttl_seconds = TTL.read(&mut fields, &()).flatten();
    fields.finish(|| Some(SyncMetadata { key: key?, metadata: metadata?, version, ttl_seconds }))
}
