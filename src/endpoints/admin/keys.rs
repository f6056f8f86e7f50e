//! `POST /admin/generate-key`, `revoke-key`, `find-key`, `list-keys`

use till_domain::command::{Caller, Command};
use till_domain::ids::{KeyId, MerchantId};
use till_domain::key::ApiKey;
use till_domain::records::{ApiKeys, Profiles, Rows, Single};
use till_domain::refusal::Refusal;
use till_domain::role::Role;
use till_domain::text::Name;

use super::about_merchant::{ByOperator, MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, check_exists};
use crate::endpoints::key_making::{GENERATE_KEY_DOCS, GENERATED_KEY, KEY_ARGUMENT, NEW_KEY, NewKey, generate};
use crate::endpoints::prelude::*;
use crate::service::{EveryMerchant, read_list_page, refused};

pub(super) const ENDPOINTS: Endpoints<Operator> = &[
    Endpoint(&GENERATE_KEY, &generate_key),
    Endpoint(&REVOKE_KEY, &ByOperator(REVOKED, Command::RevokeKey)),
    Endpoint(&FIND_KEY, &find_key),
    Endpoint(&LIST_KEYS, &list_keys),
];

const GENERATED: ArgumentSet<(MerchantId, NewKey)> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, new: NEW_KEY } => (merchant_id, new));

static GENERATE_KEY: Declaration = Declaration {
    name: "generate-key",
    summary: "Creates an API key, which is shown only this once.",
    docs: GENERATE_KEY_DOCS,
    arguments: GENERATED.declared,
    returns: Returns::Object(&GENERATED_KEY),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::new(
            Code::Conflict,
            "The merchant has 1,000 keys that are neither revoked nor expired, or 5,000 in all.",
        )
        .with(r#"{"limit": 1000}"#),
    ],
    ..Declaration::command(Package::Admin, "keys")
};

const REVOKED: ArgumentSet<(MerchantId, KeyId)> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, key_id: KEY_ARGUMENT } => (merchant_id, key_id));

static REVOKE_KEY: Declaration = Declaration {
    name: "revoke-key",
    summary: "Revokes an API key at once; `false` when it was revoked before.",
    arguments: REVOKED.declared,
    errors: &[DeclaredError::new(Code::NotFound, "No merchant has this id, or no key of this merchant.")],
    ..Declaration::command(Package::Admin, "keys")
};

object! {
    /// A key of a merchant, with the time of its last use in Unix seconds.
    MERCHANT_KEY "merchant_key" as MerchantKeyShape<'a> of (
        owner: &'a KeyOwner,
        key: &'a ApiKey,
        last_used_at: Option<u64>
    ) {
        merchant_id: Id(MerchantId::PREFIX) = owner.merchant_id, "The merchant (`mer_...`).";
        merchant_name: STRING = owner.name, "The merchant's name.", such_as("Example Shop");
        key_id: Id(KeyId::PREFIX) = key.id, "The key's uid (`key_...`), which the log names as `caller`.";
        name: STRING = key.name, "The name that the merchant gave it.", such_as("Bookkeeping");
        prefix: STRING = key.display, "The first characters of its text.", such_as("sk_EXAMP");
        role_id: words_of(Role) = key.role, "What it may do.";
        refund_limit: INTEGER or null = key.refund_limit,
            "The largest amount that it may give back in one call, in minor units; null without a limit and without \
                the role SUPPORT.", such_as("null");
        created_at: TIMESTAMP = key.created_at, "The time at which it was created.";
        last_used_at: TIMESTAMP or null = last_used_at,
            "The time of its last use; a crash may lose the uses of the last minute.";
        expires_at: TIMESTAMP or null = key.expires_at, "The time at which it expires.";
        revoked_at: TIMESTAMP or null = key.revoked_at, "The time at which it was revoked.";
    }
}

static FIND_KEY: Declaration = Declaration {
    name: "find-key",
    summary: "Finds an API key by its uid, with its merchant.",
    docs: "It looks at each merchant, and one such call is made at a time.",
    arguments: &[KEY_ARGUMENT.argument],
    returns: Returns::Object(&MERCHANT_KEY),
    errors: &[DeclaredError::new(Code::NotFound, "No key of any merchant has this id.")],
    ..Declaration::query(Package::Admin, "keys")
};

const LIST: ArgumentSet<(MerchantId, ListPageRequest<KeyId>)> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, page: list_page::<KeyId>() } => (merchant_id, page));

static LIST_KEYS: Declaration = Declaration {
    name: "list-keys",
    summary: "Lists a merchant's API keys, revoked and expired ones too, newest first.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&MERCHANT_KEY),
    errors: &[MERCHANT_NOT_FOUND],
    ..Declaration::query(Package::Admin, "keys")
};

/// `POST /admin/generate-key`
async fn generate_key(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, new) = call.fields().parse(&GENERATED)?;
    check_exists(&service, merchant_id)?;
    call.log_subject(merchant_id, None);
    generate(&service, &call, merchant_id, Caller::Operator, new).await
}

/// `POST /admin/find-key`
async fn find_key(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let key_id = call.fields().parse(&KEY_ARGUMENT)?;
    let mut merchants = EveryMerchant::begin(&service).await?;
    while let Some(reader) = merchants.next().await? {
        if let Some(key) = reader.get::<ApiKeys>(key_id)? {
            let owner = KeyOwner::read(&reader)?;
            return Ok(Reply::new(&MerchantKeyShape::new(&owner, &key, service.last_used().of(key_id))));
        }
    }
    Err(refused(&Refusal::KeyNotFound))
}

/// `POST /admin/list-keys`
async fn list_keys(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, request) = call.fields().parse(&LIST)?;
    check_exists(&service, merchant_id)?;
    let reader = service.reader(merchant_id).await?;
    let (owner, page) = (KeyOwner::read(&reader)?, read_list_page::<ApiKeys>(&reader, request)?);
    let neighbours = [("merchant_id", Some(merchant_id.to_string()))];
    Reply::list_page(
        &page.map(|key| MerchantKeyShape::new(&owner, key, service.last_used().of(key.id))).with_filters(&neighbours),
    )
}

/// The merchant of keys.
struct KeyOwner {
    merchant_id: MerchantId,
    name: Name,
}

impl KeyOwner {
    fn read(reader: &Reader<'_>) -> Result<KeyOwner, ApiError> {
        let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
        Ok(KeyOwner { merchant_id: reader.merchant_id(), name: profile.name })
    }
}
