//! `POST /merchants/generate-key`, `list-keys`, `find-key`, `update-key`, `revoke-key`

use till_domain::command::Command;
use till_domain::ids::KeyId;
use till_domain::key::ApiKey;
use till_domain::records::{ApiKeys, Rows};
use till_domain::refusal::Refusal;

use super::by_merchant;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::key_making::{
    EXPIRES_AT_ARGUMENT, GENERATE_KEY_DOCS, GENERATED_KEY, KEY_ARGUMENT, NAME_ARGUMENT, NewKey, generate,
};
use crate::endpoints::shapes::key::{API_KEY, KeyShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Declaration, DeclaredError, Flags, Package, Returns, page_arguments};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::{Shared, read_page, refused};

const KEY_NOT_FOUND: DeclaredError = DeclaredError::when(Code::NotFound, "No key of this merchant has this id.");

pub(super) static GENERATE_KEY: Declaration = Declaration {
    name: "generate-key",
    package: Package::Merchants,
    group: "keys",
    summary: "Creates an API key, which is shown only this once.",
    docs: GENERATE_KEY_DOCS,
    arguments: &[NAME_ARGUMENT, EXPIRES_AT_ARGUMENT],
    returns: Returns::Object(&GENERATED_KEY),
    errors: &[DeclaredError::when(
        Code::Conflict,
        "The merchant has 1,000 keys that are neither revoked nor expired, or 5,000 in all.",
    )
    .with(r#"{"limit": 1000}"#)],
    flags: Flags::COMMAND,
};

pub(super) static LIST_KEYS: Declaration = Declaration {
    name: "list-keys",
    package: Package::Merchants,
    group: "keys",
    summary: "Lists the merchant's API keys, revoked and expired ones too, newest first.",
    docs: "",
    arguments: &page_arguments(KeyId::PREFIX),
    returns: Returns::Page(&API_KEY),
    errors: &[],
    flags: Flags::QUERY,
};

pub(super) static FIND_KEY: Declaration = Declaration {
    name: "find-key",
    package: Package::Merchants,
    group: "keys",
    summary: "Returns an API key, without its text.",
    docs: "",
    arguments: &[KEY_ARGUMENT],
    returns: Returns::Object(&API_KEY),
    errors: &[KEY_NOT_FOUND],
    flags: Flags::QUERY,
};

pub(super) static UPDATE_KEY: Declaration = Declaration {
    name: "update-key",
    package: Package::Merchants,
    group: "keys",
    summary: "Gives an API key another name; `false` when it had that name before.",
    docs: "",
    arguments: &[KEY_ARGUMENT, NAME_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[KEY_NOT_FOUND],
    flags: Flags::COMMAND,
};

pub(super) static REVOKE_KEY: Declaration = Declaration {
    name: "revoke-key",
    package: Package::Merchants,
    group: "keys",
    summary: "Revokes an API key at once; `false` when it was revoked before.",
    docs: "A key may revoke itself: that call is its last. A suspended merchant may revoke keys, too.",
    arguments: &[KEY_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[KEY_NOT_FOUND],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
};

/// `POST /merchants/generate-key`
pub(super) async fn generate_key(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let new = NewKey::read(&mut fields);
    let new = fields.finish(|| new)?;
    let caller = call.caller();
    generate(&service, &GENERATE_KEY, &call, caller.merchant_id, caller.as_domain(), new).await
}

/// `POST /merchants/list-keys`
pub(super) async fn list_keys(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<KeyId>("a key id (key_...)"));
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let page = read_page::<ApiKeys>(&reader, request)?;
    Reply::page(&page.map(|key: &ApiKey| KeyShape::new(key, service.last_used.of(key.id))))
}

/// `POST /merchants/find-key`
pub(super) async fn find_key(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let key_id = fields.required("key_id", arguments::id("a key id (key_...)"));
    let key_id = fields.finish(|| key_id)?;
    let found = service.reader(call.caller().merchant_id).await?.get::<ApiKeys>(key_id)?;
    let found = found.ok_or_else(|| refused(&Refusal::KeyNotFound))?;
    Ok(Reply::new(&KeyShape::new(&found, service.last_used.of(found.id))))
}

/// `POST /merchants/update-key`
pub(super) async fn update_key(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let key_id = fields.required("key_id", arguments::id("a key id (key_...)"));
    let name = fields.required("name", arguments::name);
    let command = fields.finish(|| Some(Command::RenameKey(key_id?, name?)))?;
    by_merchant::submit(&service, &UPDATE_KEY, &call, command).await
}

/// `POST /merchants/revoke-key`
pub(super) async fn revoke_key(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let key_id = fields.required("key_id", arguments::id("a key id (key_...)"));
    let command = fields.finish(|| Some(Command::RevokeKey(key_id?)))?;
    by_merchant::submit(&service, &REVOKE_KEY, &call, command).await
}
