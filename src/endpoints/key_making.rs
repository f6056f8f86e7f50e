//! Creation of API keys, for the operator and for merchants' own programs.

use till_protocol::api_error::ApiError;
use till_protocol::arguments::{ArgumentSet, Required, arguments, id};
use till_protocol::dispatch::{Call, Reply};
use till_protocol::version::ApiVersion;

use crate::endpoints::arguments::{KEY_ROLE_ARGUMENT, REFUND_LIMIT_ARGUMENT};
use crate::endpoints::forms::{NAME, time};
use crate::endpoints::shapes::object::object;
use till_actors::Secret;
use till_domain::command::{Caller, Command, GenerateKey};
use till_domain::event::Answer;
use till_domain::ids::{KeyId, MerchantId};
use till_domain::key::{self, KEY_RANDOM_LEN, KeyDigest};
use till_domain::money::AmountMinor;
use till_domain::role::Role;
use till_domain::text::Name;
use till_domain::time::Millis;
use till_storage::vault::Keyring;
use zeroize::Zeroizing;

use crate::service::Shared;

/// The description of both calls.
pub(super) const GENERATE_KEY_DOCS: &str =
    "The key is pinned to the version of the API that this call names, else to the newest.";

/// The argument that names a key in both interfaces.
pub(super) const KEY_ARGUMENT: Required<KeyId> =
    id::<KeyId>().required("The key's uid (`key_...`).").with_name("key_id");

/// The argument with a key's name.
pub(super) const NAME_ARGUMENT: Required<Name> =
    NAME.required("The name, 1 to 255 characters.").such_as("\"web shop\"").with_name("name");

object! {
    /// A key with its text.
    pub(super) GENERATED_KEY "generated_key" as GeneratedKey<'a> of (
        key_id: KeyId,
        key: &'a str,
        name: &'a Name,
        created_at: Millis
    ) {
        key_id: Id(KeyId::PREFIX) = key_id, "The key's uid (`key_...`).";
        key: STRING = key, "The key itself (`sk_...`), only this once.", such_as("sk_EXAMPLE");
        name: STRING = name, "The name.", such_as("Bookkeeping");
        created_at: TIMESTAMP = created_at, "The time at which it was created.";
    }
}

/// A new key.
pub(super) struct NewKey {
    name: Name,
    expires_at: Option<Millis>,
    role: Role,
    refund_limit: Option<AmountMinor>,
}

/// The arguments of a new key. The rules check that the expiry is in the future: a repeated call gets its first answer,
/// however late it comes.
pub(super) const NEW_KEY: ArgumentSet<NewKey> = arguments!({
    name: NAME_ARGUMENT,
    expires_at: time(4_102_444_800).optional("The time at which it expires, in the future; never when left out."),
    role_id: KEY_ROLE_ARGUMENT,
    refund_limit: REFUND_LIMIT_ARGUMENT,
} => NewKey { name, expires_at, role: role_id.unwrap_or(Role::Owner), refund_limit });

/// Makes a key for a merchant, and answers it with its text.
pub(super) async fn generate<C>(
    service: &Shared,
    call: &Call<C>,
    merchant_id: MerchantId,
    caller: Caller,
    new: NewKey,
) -> Result<Reply, ApiError> {
    let (text, NewKey { name, expires_at, role, refund_limit }) = (fresh_key(), new);
    let lasting = key_of(service.keyring(), merchant_id, name.clone(), &text);
    let command = Command::GenerateKey(GenerateKey { expires_at, role, refund_limit, ..lasting });
    let secret = Some(Secret::KeyText(text.clone()));
    let answered = service.submit(call, merchant_id, caller, command, secret).await?;
    let Answer::Key { key_id, created_at } = answered.answer else { return Err(ApiError::unhandled()) };
    // A repeated call drew a text of its own, which is unused: the text of the first call is in the vault.
    let text = if answered.replayed {
        service.reader(merchant_id).await?.api_key_text(key_id)?.ok_or_else(ApiError::unhandled)?
    } else {
        text
    };
    // A repeated call has the same name in its arguments; the key may have been renamed since.
    Ok(Reply::new(&GeneratedKey::new(key_id, &text, &name, created_at)).replayed(answered.replayed))
}

/// A key of the role OWNER without expiry, made from its text and pinned to the newest version.
pub fn key_of(keyring: &Keyring, merchant_id: MerchantId, name: Name, text: &str) -> GenerateKey {
    GenerateKey {
        merchant_id,
        name,
        digest: KeyDigest(keyring.api_key_digest(text)),
        display: key::display(text),
        api_version: ApiVersion::NEWEST.name().to_owned(),
        expires_at: None,
        role: Role::Owner,
        refund_limit: None,
    }
}

/// The text of a new key, whose characters are drawn without bias.
pub fn fresh_key() -> Zeroizing<String> {
    let mut random = Zeroizing::new([0; KEY_RANDOM_LEN]);
    let mut filled = 0;
    while filled < KEY_RANDOM_LEN {
        let mut drawn = Zeroizing::new([0_u8; 64]);
        getrandom::fill(drawn.as_mut()).expect("the operating system gives randomness once it is up");
        // 248 is the largest multiple of 62 that a byte can hold: values from there on would make the first characters
        // likelier.
        for byte in drawn.iter().filter(|byte| **byte < 248).take(KEY_RANDOM_LEN - filled) {
            random[filled] = *byte;
            filled += 1;
        }
    }
    Zeroizing::new(key::key_text(*random))
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
