//! The JSON of an API key. Its text is shown only once, by the call that makes it.

use till_domain::ids::KeyId;
use till_domain::key::ApiKey;
use till_domain::role::Role;

use super::object::object;

object! {
    /// A key, with the time of its last use in Unix seconds.
    pub(in crate::endpoints) API_KEY "api_key" as KeyShape<'a> of (key: &'a ApiKey, last_used_at: Option<u64>) {
        key_id: Id(KeyId::PREFIX) = key.id, "The key's uid (`key_...`), which activity logs name.";
        name: STRING = key.name, "The name.", such_as("Bookkeeping");
        display: STRING = key.display, "Its first characters, by which a person recognizes it.", such_as("sk_EXAMP");
        role_id: words_of(Role) = key.role, "What it may do.";
        refund_limit: MINOR_UNITS or null = key.refund_limit,
            "The largest amount that it may give back in one call, in minor units; null without a limit and without \
                the role SUPPORT.", such_as("null");
        api_version: STRING = key.api_version, "The version of the API that it is pinned to.", such_as("2025-04-01");
        created_at: TIMESTAMP = key.created_at, "The time at which it was created.";
        last_used_at: TIMESTAMP or null = last_used_at,
            "The time of its last use; a crash may lose the uses of the last minute.";
        expires_at: TIMESTAMP or null = key.expires_at, "The time at which it expires.";
        revoked_at: TIMESTAMP or null = key.revoked_at, "The time at which it was revoked.";
    }
}
