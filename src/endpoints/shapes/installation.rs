//! The JSON of an installation of the client SDK.

use till_domain::ids::InstallationId;
use till_domain::merchant::{Installation, Platform};

use super::object::object;

object! {
    /// An installation.
    pub(in crate::endpoints) INSTALLATION "installation" as InstallationShape<'a> of (installation: &'a Installation) {
        installation_id: Id(InstallationId::PREFIX) = installation.id,
            "Its id (`ins_...`), which the SDK's calls name.";
        name: STRING = installation.name, "The name that the merchant gave it.", such_as("Web");
        platform: words_of(Platform) = installation.platform, "The platform that it runs on.";
        identifier: STRING = installation.identifier,
            "The identifier on its platform: for WEB the origin whose pages may read answers, else the bundle id or \
             serial number.",
            such_as("https://shop.example");
        created_at: TIMESTAMP = installation.created_at, "The time at which it was added.";
    }
}
