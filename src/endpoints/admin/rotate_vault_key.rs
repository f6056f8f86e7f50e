//! `POST /admin/rotate-vault-key`

use till_protocol::api_error::{CallEffect, RETRY_AFTER_SECONDS};
use till_protocol::field;
use till_storage::vault::RootKey;

use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&ROTATE_VAULT_KEY, &rotate_vault_key)];

/// The example is deliberately not a key: otherwise somebody could try it out, and have a store that opens with a
/// published key.
const VAULT_KEY: Field<RootKey> = Field {
    value_type: ValueType::Text(Text::of(64, 64, "put-64-hexadecimal-characters-here-and-keep-them-durably-before!")),
    parse: |value| field::from_text("a vault key (64 hexadecimal characters)", RootKey::from_hex)(value),
};

const VAULT_KEY_ARGUMENT: Required<RootKey> =
    VAULT_KEY.required("The new vault key: 64 hexadecimal characters.").with_name("vault_key");

/// The body is wiped after the call, like bodies with card data.
static ROTATE_VAULT_KEY: Declaration = Declaration {
    name: "rotate-vault-key",
    summary: "Has the vault open under another key from now on; `false` when it does already.",
    docs: "Store the new key durably before the call, and keep the previous one for the checkpoints taken under it. \
           `till vault rotate` does both.",
    arguments: &[VAULT_KEY_ARGUMENT.argument],
    flags: Flags { takes_idempotency_key: false, carries_card_data: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Admin, "secrets")
};

/// `POST /admin/rotate-vault-key`
async fn rotate_vault_key(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let key = call.fields().parse(&VAULT_KEY_ARGUMENT)?;
    let keyring = service.operations().map(|operations| operations.keyring.clone()).ok_or_else(not_now)?;
    let span = tracing::Span::current(); // The log lines carry the id of the request.
    let rewrap = move || span.in_scope(|| keyring.rewrap(&key));
    let rewrapped = tokio::task::spawn_blocking(rewrap).await;
    let rewrapped = rewrapped.map_err(|_| ApiError::unhandled())?.map_err(|error| {
        tracing::error!(error = format!("{error:#}"), "the vault key was not changed");
        not_now().with_cause(format!("{error:#}"))
    })?;
    Ok(Reply::new(&rewrapped))
}

fn not_now() -> ApiError {
    ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS)
}
