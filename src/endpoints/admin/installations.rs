//! `POST /admin/add-installation`

use till_domain::command::{AddInstallation, Command};
use till_domain::merchant::Platform;
use till_domain::text::{EXTERNAL_ID_MAX_BYTES, InstallationIdentifier};

use super::about_merchant::{MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, merchant_argument, submit};
use crate::access::Operator;
use crate::endpoints::arguments;
use crate::endpoints::forms::{NAME, printable};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns, words_of};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::Shared;

/// The declaration.
pub(super) static ADD_INSTALLATION: Declaration = Declaration {
    name: "add-installation",
    package: Package::Admin,
    group: "installations",
    summary: "Adds an installation of the client SDK and answers its id (`ins_...`).",
    docs: "",
    arguments: &[
        MERCHANT_ARGUMENT,
        Argument::required("name", NAME, "What the merchant calls it."),
        Argument::required("platform", words_of!(Platform), "Where it runs."),
        Argument::required(
            "identifier",
            printable(EXTERNAL_ID_MAX_BYTES, "https://shop.example"),
            "Which one there: of WEB the origin whose pages may call (`https://shop.example`), else the bundle id or serial number.",
        ),
    ],
    returns: Returns::String,
    errors: &[MERCHANT_NOT_FOUND, DeclaredError::when(Code::Conflict, "The merchant has 1,000 installations already.")],
    flags: Flags::COMMAND,
};

/// `POST /admin/add-installation`
pub(super) async fn add_installation(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let name = fields.required("name", arguments::name);
    let platform = fields.required("platform", field::one_of(&Platform::ALL, Platform::name));
    let identifier = fields
        .required("identifier", |value| arguments::checked(InstallationIdentifier::new(arguments::own_text(value)?)));
    let (merchant_id, command) = fields.finish(|| {
        Some((merchant_id?, AddInstallation { name: name?, platform: platform?, identifier: identifier? }))
    })?;
    let command = Command::AddInstallation(command);
    Ok(submit(&service, &ADD_INSTALLATION, &call, merchant_id, command, None).await?.plain_reply())
}
