//! `POST /merchants/delete-metadata`

use till_domain::command::{Command, DeleteMetadata};

use super::arguments::{self, KEY, VERSION};
use crate::access::MerchantCaller;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Declaration, DeclaredError, Flags, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Shared;

pub(super) static DELETE_METADATA: Declaration = Declaration {
    name: "delete-metadata",
    package: Package::Merchants,
    group: "metadata",
    summary: "Deletes a metadata record: `true` when there was one.",
    docs: "",
    arguments: &[KEY, VERSION],
    returns: Returns::Boolean,
    errors: &[DeclaredError::STALE_VERSION],
    flags: Flags::COMMAND,
};

/// `POST /merchants/delete-metadata`
pub(super) async fn delete_metadata(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let key = arguments::key(&mut fields);
    let version = arguments::version(&mut fields);
    let command = Command::DeleteMetadata(fields.finish(|| Some(DeleteMetadata { key: key?, version }))?);
    let (merchant_id, caller) = (call.caller().merchant_id, call.caller().as_domain());
    Ok(service.submit(&DELETE_METADATA, &call, merchant_id, caller, command, None).await?.into())
}
