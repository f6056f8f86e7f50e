//! `POST /admin/generate-key`, `POST /admin/revoke-key`

use till_domain::command::{Caller, Command};

use super::about_merchant::{MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, merchant_argument, submit};
use super::merchants::check_exists;
use crate::access::Operator;
use crate::endpoints::arguments;
use crate::endpoints::key_making::{
    EXPIRES_AT_ARGUMENT, GENERATE_KEY_DOCS, GENERATED_KEY, KEY_ARGUMENT, NAME_ARGUMENT, NewKey, generate,
};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Declaration, DeclaredError, Flags, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Shared;

pub(super) static GENERATE_KEY: Declaration = Declaration {
    name: "generate-key",
    package: Package::Admin,
    group: "keys",
    summary: "Creates an API key, which is shown only this once.",
    docs: GENERATE_KEY_DOCS,
    arguments: &[MERCHANT_ARGUMENT, NAME_ARGUMENT, EXPIRES_AT_ARGUMENT],
    returns: Returns::Object(&GENERATED_KEY),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::when(
            Code::Conflict,
            "The merchant has 1,000 keys that are neither revoked nor expired, or 5,000 in all.",
        )
        .with(r#"{"limit": 1000}"#),
    ],
    flags: Flags::COMMAND,
};

pub(super) static REVOKE_KEY: Declaration = Declaration {
    name: "revoke-key",
    package: Package::Admin,
    group: "keys",
    summary: "Revokes an API key at once; `false` when it was revoked before.",
    docs: "",
    arguments: &[MERCHANT_ARGUMENT, KEY_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[DeclaredError::when(Code::NotFound, "No merchant has this id, or no key of this merchant.")],
    flags: Flags::COMMAND,
};

/// `POST /admin/generate-key`
pub(super) async fn generate_key(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let new = NewKey::read(&mut fields);
    let (merchant_id, new) = fields.finish(|| Some((merchant_id?, new?)))?;
    check_exists(&service, merchant_id)?;
    generate(&service, &GENERATE_KEY, &call, merchant_id, Caller::Operator, new).await
}

/// `POST /admin/revoke-key`
pub(super) async fn revoke_key(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let key_id = fields.required("key_id", arguments::id("a key id (key_...)"));
    let (merchant_id, command) = fields.finish(|| Some((merchant_id?, Command::RevokeKey(key_id?))))?;
    Ok(submit(&service, &REVOKE_KEY, &call, merchant_id, command, None).await?.into())
}
