//! The JSON of an API key. Its text is shown only once, by the call that makes it.

use serde::Serialize;
use till_domain::ids::KeyId;
use till_domain::key::ApiKey;

use crate::protocol::declaration::{Attribute, ObjectType, ValueType};

pub(in crate::endpoints) static API_KEY: ObjectType = ObjectType {
    name: "api_key",
    attributes: &[
        Attribute::always(
            "key_id",
            ValueType::Id(KeyId::PREFIX),
            "The key's uid (`key_...`), which activity logs name.",
        ),
        Attribute::always("name", ValueType::STRING, "The name.").such_as("Bookkeeping"),
        Attribute::always("display", ValueType::STRING, "Its first characters, by which a person recognizes it.")
            .such_as("sk_EXAMP"),
        Attribute::always("api_version", ValueType::STRING, "The version of the API that it is pinned to.")
            .such_as("2025-04-01"),
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

#[derive(Serialize)]
pub(in crate::endpoints) struct KeyShape {
    key_id: String,
    name: String,
    display: String,
    api_version: String,
    created_at: u64,
    last_used_at: Option<u64>,
    expires_at: Option<u64>,
    revoked_at: Option<u64>,
}

impl KeyShape {
    /// The object for a key, with the time of its last use in Unix seconds.
    pub(in crate::endpoints) fn new(key: &ApiKey, last_used_at: Option<u64>) -> KeyShape {
        KeyShape {
            key_id: key.id.to_string(),
            name: key.name.as_str().to_owned(),
            display: key.display.clone(),
            api_version: key.api_version.clone(),
            created_at: key.created_at.unix_seconds(),
            last_used_at,
            expires_at: key.expires_at.map(|end| end.unix_seconds()),
            revoked_at: key.revoked_at.map(|at| at.unix_seconds()),
        }
    }
}
