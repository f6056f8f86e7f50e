//! `POST /merchants/generate-key`, `list-keys`, `find-key`, `update-key`, `revoke-key`

use std::sync::Arc;

use till_domain::command::Command;
use till_domain::ids::KeyId;
use till_domain::records::ApiKeys;
use till_domain::refusal::Refusal;
use till_domain::text::Name;

use super::by_merchant::ByMerchant;
use crate::endpoints::key_making::{GENERATE_KEY_DOCS, GENERATED_KEY, KEY_ARGUMENT, NAME_ARGUMENT, NEW_KEY, generate};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::key::{API_KEY, KeyShape};
use crate::service::{LastUsed, refused};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::GenerateKeys, &GENERATE_KEY, &generate_key),
    MerchantEndpoint(Act::KeepKeys, &LIST_KEYS, &list::<ApiKeys>),
    MerchantEndpoint(Act::KeepKeys, &FIND_KEY, &find::<ApiKeys>),
    MerchantEndpoint(
        Act::KeepKeys,
        &UPDATE_KEY,
        &ByMerchant(RENAMED, |_, (key_id, name)| Command::RenameKey(key_id, name)),
    ),
    MerchantEndpoint(Act::KeepKeys, &REVOKE_KEY, &ByMerchant(KEY_ARGUMENT, |_, key_id| Command::RevokeKey(key_id))),
];

const KEY_NOT_FOUND: DeclaredError = DeclaredError::new(Code::NotFound, "No key of this merchant has this id.");

static GENERATE_KEY: Declaration = Declaration {
    name: "generate-key",
    summary: "Creates an API key, which is shown only this once.",
    docs: GENERATE_KEY_DOCS,
    arguments: NEW_KEY.declared,
    returns: Returns::Object(&GENERATED_KEY),
    errors: &[DeclaredError::new(
        Code::Conflict,
        "The merchant has 1,000 keys that are neither revoked nor expired, or 5,000 in all.",
    )
    .with(r#"{"limit": 1000}"#)],
    ..Declaration::command(Package::Merchants, "keys")
};

static LIST_KEYS: Declaration = Declaration {
    name: "list-keys",
    summary: "Lists the merchant's API keys, revoked and expired ones too, newest first.",
    arguments: &list_page_arguments(KeyId::PREFIX),
    returns: Returns::ListPage(&API_KEY),
    ..Declaration::query(Package::Merchants, "keys")
};

static FIND_KEY: Declaration = Declaration {
    name: "find-key",
    summary: "Returns an API key, without its text.",
    arguments: &[KEY_ARGUMENT.argument],
    returns: Returns::Object(&API_KEY),
    errors: &[KEY_NOT_FOUND],
    ..Declaration::query(Package::Merchants, "keys")
};

const RENAMED: ArgumentSet<(KeyId, Name)> = arguments!({ key_id: KEY_ARGUMENT, name: NAME_ARGUMENT } => (key_id, name));

static UPDATE_KEY: Declaration = Declaration {
    name: "update-key",
    summary: "Gives an API key another name; `false` when it had that name before.",
    arguments: RENAMED.declared,
    errors: &[KEY_NOT_FOUND],
    ..Declaration::command(Package::Merchants, "keys")
};

static REVOKE_KEY: Declaration = Declaration {
    name: "revoke-key",
    summary: "Revokes an API key at once; `false` when it was revoked before.",
    docs: "A key may revoke itself: that call is its last. A suspended merchant may revoke keys, too.",
    arguments: &[KEY_ARGUMENT.argument],
    errors: &[KEY_NOT_FOUND],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "keys")
};

/// `POST /merchants/generate-key`
async fn generate_key(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let new = call.fields().parse(&NEW_KEY)?;
    let caller = call.caller();
    generate(&service, &call, caller.merchant_id, caller.as_domain(), new).await
}

kind!(ApiKeys, Arc<LastUsed>: |service, _| Ok(Arc::clone(service.last_used()))
    => |key, last_used, _| Ok(KeyShape::new(key, last_used.of(key.id))));
named_kind!(ApiKeys, KEY_ARGUMENT, refused(&Refusal::KeyNotFound));
