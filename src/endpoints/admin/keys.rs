//! `POST /admin/generate-key`, `POST /admin/revoke-key`

use serde::Serialize;
use till_actors::Secret;
use till_domain::command::{Command, GenerateKey};
use till_domain::event::Answer;
use till_domain::ids::{KeyId, MerchantId};
use till_domain::key::{self, KEY_RANDOM_LEN, KeyDigest};
use till_domain::records::ApiKeys;
use till_domain::time::Millis;
use till_storage::family::Family;
use till_storage::vault::VaultKey;
use zeroize::Zeroizing;

use super::{MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, merchant_argument, submit};
use crate::access::Operator;
use crate::endpoints::arguments;
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Attribute, Declaration, DeclaredError, Flags, ObjectType, Package, Returns, ValueType,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::protocol::fields::Fields;
use crate::protocol::version::ApiVersion;
use crate::service::{Service, Shared};

/// The last second that JSON readers keep exactly.
const SECONDS_MAX: u64 = (1 << 53) - 1;

static GENERATED_KEY: ObjectType = ObjectType {
    name: "generated_key",
    attributes: &[
        Attribute::always("key_id", ValueType::STRING, "The key's uid (`key_...`)."),
        Attribute::always("key", ValueType::STRING, "The key itself (`sk_...`), this once."),
        Attribute::always("name", ValueType::STRING, "What it is called."),
        Attribute::always("created_at", ValueType::TIMESTAMP, "When it was made."),
    ],
};

/// The declaration.
pub(super) static GENERATE_KEY: Declaration = Declaration {
    name: "generate-key",
    package: Package::Admin,
    group: "keys",
    summary: "Makes an API key. It is shown this once.",
    docs: "The key is pinned to the version of the API that this call names, else to the newest.",
    arguments: &[
        MERCHANT_ARGUMENT,
        Argument::required("name", ValueType::STRING, "What to call it."),
        Argument::optional("expires_at", ValueType::TIMESTAMP, "When it ends, in the future; never when left out."),
    ],
    returns: Returns::Object(&GENERATED_KEY),
    errors: &[MERCHANT_NOT_FOUND, DeclaredError::when(Code::Conflict, "The merchant has 1,000 keys already.")],
    flags: Flags::COMMAND,
};

/// The declaration.
pub(super) static REVOKE_KEY: Declaration = Declaration {
    name: "revoke-key",
    package: Package::Admin,
    group: "keys",
    summary: "Ends an API key at once; `false` when it was revoked before.",
    docs: "",
    arguments: &[MERCHANT_ARGUMENT, Argument::required("key_id", ValueType::STRING, "The key's uid (`key_...`).")],
    returns: Returns::Boolean,
    errors: &[DeclaredError::when(Code::NotFound, "No merchant has this id, or no key of the merchant's has.")],
    flags: Flags::COMMAND,
};

#[derive(Serialize)]
struct GeneratedKey<'a> {
    key_id: String,
    key: &'a str,
    name: &'a str,
    created_at: u64,
}

/// `POST /admin/generate-key`
pub(super) async fn generate_key(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let text = fresh_key();
    let digest = KeyDigest(service.keyring.api_key_digest(&text));
    let command = parse(call.fields(), service.now(), &text, digest, call.version())?;
    let merchant_id = command.merchant_id;
    let secret = Some(Secret::KeyText(text.clone()));
    let command = Command::GenerateKey(command);
    let answered = submit(&service, &GENERATE_KEY, &call, merchant_id, command, secret).await?;
    let Answer::Key { key_id, created_at } = answered.answer else { return Err(ApiError::unhandled()) };
    // A repeated call drew a text of its own, which is nobody's: the first one's is in the vault.
    let text = if answered.replayed { kept_text(&service, merchant_id, key_id)? } else { text };
    let kept = service.reader(merchant_id).await?.get::<ApiKeys>(key_id)?.ok_or_else(ApiError::unhandled)?;
    Ok(answered.reply(&GeneratedKey {
        key_id: key_id.to_string(),
        key: &text,
        name: kept.name.as_str(),
        created_at: created_at.unix_seconds(),
    }))
}

fn parse(
    mut fields: Fields<'_>,
    now: Millis,
    text: &str,
    digest: KeyDigest,
    version: ApiVersion,
) -> Result<GenerateKey, ApiError> {
    let merchant_id = merchant_argument(&mut fields);
    let name = fields.required("name", arguments::name);
    let expires_at = fields.optional("expires_at", |value| {
        let seconds = field::integer(0..=SECONDS_MAX)(value)?;
        let end = Millis(0).plus_seconds(seconds);
        if end > now { Ok(end) } else { Err("must be in the future".to_owned()) }
    });
    let api_version = version.name().to_owned();
    fields.finish(|| {
        let display = key::display(text);
        Some(GenerateKey { merchant_id: merchant_id?, name: name?, digest, display, api_version, expires_at })
    })
}

/// A new key's text: each character drawn without bias.
pub(crate) fn fresh_key() -> Zeroizing<String> {
    let mut random = Zeroizing::new([0; KEY_RANDOM_LEN]);
    let mut filled = 0;
    while filled < KEY_RANDOM_LEN {
        let mut drawn = Zeroizing::new([0_u8; 64]);
        getrandom::fill(drawn.as_mut()).expect("the operating system gives randomness once it is up");
        // 248 is the largest multiple of 62 that a byte holds: above it the first characters would be likelier.
        for byte in drawn.iter().filter(|byte| **byte < 248).take(KEY_RANDOM_LEN - filled) {
            random[filled] = *byte;
            filled += 1;
        }
    }
    Zeroizing::new(key::key_text(*random))
}

/// The text of a key, kept in the vault as long as the call that made it may be repeated.
fn kept_text(service: &Service, merchant: MerchantId, key: KeyId) -> Result<Zeroizing<String>, ApiError> {
    let row = service.store.get(Family::Vault, &VaultKey::ApiKeySecret { merchant, key }.encode());
    let row = row.ok().flatten().ok_or_else(ApiError::unhandled)?;
    service.keyring.open_api_key_secret(merchant, key, &row).map_err(|error| {
        tracing::error!(%error, "the kept text of a key cannot be opened");
        ApiError::unhandled()
    })
}

/// `POST /admin/revoke-key`
pub(super) async fn revoke_key(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let key_id = fields.required("key_id", arguments::id("a key id (key_...)"));
    let (merchant_id, command) = fields.finish(|| Some((merchant_id?, Command::RevokeKey(key_id?))))?;
    Ok(submit(&service, &REVOKE_KEY, &call, merchant_id, command, None).await?.plain_reply())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_keys_are_well_formed_and_differ() {
        let (first, second) = (fresh_key(), fresh_key());
        assert!(key::is_well_formed(&first) && key::is_well_formed(&second));
        assert_ne!(*first, *second);
    }
}
