//! `POST /admin/generate-key`, `revoke-key`, `find-key`, `list-keys`

use serde::Serialize;
use till_domain::command::{Caller, Command};
use till_domain::ids::{KeyId, MerchantId};
use till_domain::key::ApiKey;
use till_domain::records::{ApiKeys, Profiles, Rows, Single};
use till_domain::refusal::Refusal;
use till_domain::text::Name;

use super::about_merchant::{MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, merchant_argument, submit};
use super::merchants::check_exists;
use crate::access::Operator;
use crate::endpoints::arguments;
use crate::endpoints::key_making::{
    EXPIRES_AT_ARGUMENT, GENERATE_KEY_DOCS, GENERATED_KEY, KEY_ARGUMENT, NAME_ARGUMENT, NewKey, generate,
};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Attribute, Declaration, DeclaredError, Flags, ObjectType, Package, Returns, ValueType, page_arguments,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::{EveryMerchant, Reader, Service, Shared, read_page, refused};

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

const PAGE: [Argument; 3] = page_arguments(KeyId::PREFIX);

static MERCHANT_KEY: ObjectType = ObjectType {
    name: "merchant_key",
    attributes: &[
        Attribute::always("merchant_id", ValueType::Id(MerchantId::PREFIX), "The merchant (`mer_...`)."),
        Attribute::always("merchant_name", ValueType::STRING, "The merchant's name.").such_as("Example Shop"),
        Attribute::always(
            "key_id",
            ValueType::Id(KeyId::PREFIX),
            "The key's uid (`key_...`), which the log names as `caller`.",
        ),
        Attribute::always("name", ValueType::STRING, "The name that the merchant gave it.").such_as("Bookkeeping"),
        Attribute::always("prefix", ValueType::STRING, "The first characters of its text.").such_as("sk_EXAMP"),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was created."),
        Attribute::nullable(
            "last_used_at",
            ValueType::TIMESTAMP,
            "The time of its last use; a crash may lose the uses of the last minute.",
        ),
        Attribute::nullable("expires_at", ValueType::TIMESTAMP, "The time at which it expires."),
        Attribute::nullable("revoked_at", ValueType::TIMESTAMP, "The time at which it was revoked."),
    ],
};

pub(super) static FIND_KEY: Declaration = Declaration {
    name: "find-key",
    package: Package::Admin,
    group: "keys",
    summary: "Finds an API key by its uid, with its merchant.",
    docs: "It looks at each merchant, and one such call is made at a time.",
    arguments: &[KEY_ARGUMENT],
    returns: Returns::Object(&MERCHANT_KEY),
    errors: &[DeclaredError::when(Code::NotFound, "No key of any merchant has this id.")],
    flags: Flags::QUERY,
};

pub(super) static LIST_KEYS: Declaration = Declaration {
    name: "list-keys",
    package: Package::Admin,
    group: "keys",
    summary: "Lists a merchant's API keys, revoked and expired ones too, newest first.",
    docs: "",
    arguments: &[MERCHANT_ARGUMENT, PAGE[0], PAGE[1], PAGE[2]],
    returns: Returns::Page(&MERCHANT_KEY),
    errors: &[MERCHANT_NOT_FOUND],
    flags: Flags::QUERY,
};

#[derive(Serialize)]
struct MerchantKeyShape<'a> {
    merchant_id: String,
    merchant_name: &'a str,
    key_id: String,
    name: &'a str,
    prefix: &'a str,
    created_at: u64,
    last_used_at: Option<u64>,
    expires_at: Option<u64>,
    revoked_at: Option<u64>,
}

/// `POST /admin/generate-key`
pub(super) async fn generate_key(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let new = NewKey::read(&mut fields);
    let (merchant_id, new) = fields.finish(|| Some((merchant_id?, new?)))?;
    check_exists(&service, merchant_id)?;
    call.log_subject(merchant_id, None);
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

/// `POST /admin/find-key`
pub(super) async fn find_key(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let key_id = fields.required("key_id", arguments::id("a key id (key_...)"));
    let key_id = fields.finish(|| key_id)?;
    let mut merchants = EveryMerchant::begin(&service).await?;
    while let Some(reader) = merchants.next().await? {
        if let Some(key) = reader.get::<ApiKeys>(key_id)? {
            let owner = KeyOwner::read(&reader)?;
            return Ok(Reply::new(&owner.shape(&key, &service)));
        }
    }
    Err(refused(&Refusal::KeyNotFound))
}

/// `POST /admin/list-keys`
pub(super) async fn list_keys(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let page = field::page(&mut fields, arguments::id::<KeyId>("a key id (key_...)"));
    let (merchant_id, request) = fields.finish(|| Some((merchant_id?, page?)))?;
    check_exists(&service, merchant_id)?;
    let reader = service.reader(merchant_id).await?;
    let (owner, page) = (KeyOwner::read(&reader)?, read_page::<ApiKeys>(&reader, request)?);
    let neighbours = [("merchant_id", Some(merchant_id.to_string()))];
    Reply::page(&page.borrowed(|key| owner.shape(key, &service)).carrying(&neighbours))
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

    fn shape<'a>(&'a self, key: &'a ApiKey, service: &Service) -> MerchantKeyShape<'a> {
        MerchantKeyShape {
            merchant_id: self.merchant_id.to_string(),
            merchant_name: self.name.as_str(),
            key_id: key.id.to_string(),
            name: key.name.as_str(),
            prefix: &key.display,
            created_at: key.created_at.unix_seconds(),
            last_used_at: service.last_used.of(key.id),
            expires_at: key.expires_at.map(|end| end.unix_seconds()),
            revoked_at: key.revoked_at.map(|at| at.unix_seconds()),
        }
    }
}
