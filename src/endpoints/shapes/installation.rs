//! The JSON of an installation of the client SDK.

use serde::Serialize;
use till_domain::ids::InstallationId;
use till_domain::merchant::{Installation, Platform};

use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};

pub(in crate::endpoints) static INSTALLATION: ObjectType = ObjectType {
    name: "installation",
    attributes: &[
        Attribute::always("installation_id", ValueType::Id(InstallationId::PREFIX), "Its id (`ins_...`), which the SDK's calls name."),
        Attribute::always("name", ValueType::STRING, "The name that the merchant gave it.").such_as("Web"),
        Attribute::always("platform", words_of!(Platform), "The platform that it runs on."),
        Attribute::always(
            "identifier",
            ValueType::STRING,
            "The identifier on its platform: for WEB the origin whose pages may read answers, else the bundle id or serial number.",
        ).such_as("https://shop.example"),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was added."),
    ],
};

#[derive(Serialize)]
pub(in crate::endpoints) struct InstallationShape {
    installation_id: String,
    name: String,
    platform: &'static str,
    identifier: String,
    created_at: u64,
}

impl InstallationShape {
    /// The object for an installation.
    pub(in crate::endpoints) fn new(installation: &Installation) -> InstallationShape {
        InstallationShape {
            installation_id: installation.id.to_string(),
            name: installation.name.as_str().to_owned(),
            platform: installation.platform.name(),
            identifier: installation.identifier.as_str().to_owned(),
            created_at: installation.created_at.unix_seconds(),
        }
    }
}
