//! `POST /admin/add-installation`, `list-installations`, `update-installation`, `remove-installation`

use till_domain::command::{AddInstallation, Command, UpdateInstallation};
use till_domain::ids::{InstallationId, MerchantId};
use till_domain::merchant::{Installation, Platform};
use till_domain::records::{Installations, Rows};
use till_domain::text::{EXTERNAL_ID_MAX_BYTES, InstallationIdentifier};

use super::about_merchant::{MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, merchant_argument, submit};
use super::identifier::identifier_on;
use super::merchants::check_exists;
use crate::access::Operator;
use crate::endpoints::arguments;
use crate::endpoints::forms::{NAME, printable};
use crate::endpoints::shapes::installation::{INSTALLATION, InstallationShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType, page_arguments, words_of,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::fault::Fault;
use crate::protocol::field;
use crate::protocol::json::Json;
use crate::service::{Service, Shared, read_page};

const INSTALLATION_ARGUMENT: Argument =
    Argument::required("installation_id", ValueType::Id(InstallationId::PREFIX), "The installation (`ins_...`).");

const IDENTIFIER: ValueType = printable(EXTERNAL_ID_MAX_BYTES, "https://shop.example");

const PAGE_ARGUMENTS: [Argument; 3] = page_arguments(InstallationId::PREFIX);

const INSTALLATION_NOT_FOUND: DeclaredError =
    DeclaredError::when(Code::NotFound, "No merchant has this id, or no installation of this merchant.");

pub(super) static ADD_INSTALLATION: Declaration = Declaration {
    name: "add-installation",
    package: Package::Admin,
    group: "installations",
    summary: "Adds an installation of the client SDK and answers its id (`ins_...`).",
    docs: "",
    arguments: &[
        MERCHANT_ARGUMENT,
        Argument::required("name", NAME, "The name that the merchant gave it."),
        Argument::required("platform", words_of!(Platform), "The platform that it runs on."),
        Argument::required(
            "identifier",
            IDENTIFIER,
            "The identifier on its platform: for WEB the origin whose pages may call, exactly as browsers send it (`https://shop.example`: lower case, no path, no default port), else the bundle id or serial number.",
        ),
    ],
    returns: Returns::Id(InstallationId::PREFIX),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::when(Code::Conflict, "The merchant has 1,000 installations already.").with(r#"{"limit": 1000}"#),
    ],
    flags: Flags::COMMAND,
};

pub(super) static LIST_INSTALLATIONS: Declaration = Declaration {
    name: "list-installations",
    package: Package::Admin,
    group: "installations",
    summary: "Lists a merchant's installations, newest first.",
    docs: "",
    arguments: &[MERCHANT_ARGUMENT, PAGE_ARGUMENTS[0], PAGE_ARGUMENTS[1], PAGE_ARGUMENTS[2]],
    returns: Returns::Page(&INSTALLATION),
    errors: &[MERCHANT_NOT_FOUND],
    flags: Flags::QUERY,
};

pub(super) static UPDATE_INSTALLATION: Declaration = Declaration {
    name: "update-installation",
    package: Package::Admin,
    group: "installations",
    summary: "Changes an installation's name or identifier; `false` when nothing changed.",
    docs: "An argument that is left out changes nothing. The platform never changes: on another platform it is another installation.",
    arguments: &[
        MERCHANT_ARGUMENT,
        INSTALLATION_ARGUMENT,
        Argument::optional("name", NAME, "The new name."),
        Argument::optional(
            "identifier",
            IDENTIFIER,
            "The new identifier on its platform, in the form that `add-installation` takes.",
        ),
    ],
    returns: Returns::Boolean,
    errors: &[INSTALLATION_NOT_FOUND],
    flags: Flags::COMMAND,
};

pub(super) static REMOVE_INSTALLATION: Declaration = Declaration {
    name: "remove-installation",
    package: Package::Admin,
    group: "installations",
    summary: "Removes an installation permanently and answers `true`.",
    docs: "From then on it is answered like an unknown one. Payment sessions that were made at it can still be paid.",
    arguments: &[MERCHANT_ARGUMENT, INSTALLATION_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[INSTALLATION_NOT_FOUND],
    flags: Flags::COMMAND,
};

/// `POST /admin/add-installation`
pub(super) async fn add_installation(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let name = fields.required("name", arguments::name);
    let platform = fields.required("platform", field::one_of(&Platform::ALL, Platform::name));
    let identifier = fields.required("identifier", |value| {
        let text = identifier_text(value)?;
        platform.map_or(Ok(text.clone()), |platform| identifier_on(platform, text))
    });
    let (merchant_id, command) = fields.finish(|| {
        Some((merchant_id?, AddInstallation { name: name?, platform: platform?, identifier: identifier? }))
    })?;
    let command = Command::AddInstallation(command);
    Ok(submit(&service, &ADD_INSTALLATION, &call, merchant_id, command, None).await?.into())
}

/// `POST /admin/list-installations`
pub(super) async fn list_installations(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let page = field::page(&mut fields, arguments::id::<InstallationId>("an installation id (ins_...)"));
    let (merchant_id, request) = fields.finish(|| Some((merchant_id?, page?)))?;
    check_exists(&service, merchant_id)?;
    let page = read_page::<Installations>(&service.reader(merchant_id).await?, request)?;
    let page = page.map(|installation: &Installation| InstallationShape::new(installation));
    Reply::page(&page.carrying(&[("merchant_id", Some(merchant_id.to_string()))]))
}

/// `POST /admin/update-installation`
pub(super) async fn update_installation(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let installation_id = fields.required("installation_id", arguments::id("an installation id (ins_...)"));
    let name = fields.optional("name", arguments::name);
    let identifier = fields.optional("identifier", identifier_text);
    let (merchant_id, command) = fields
        .finish(|| Some((merchant_id?, UpdateInstallation { installation_id: installation_id?, name, identifier })))?;
    check_identifier(&service, merchant_id, &command).await?;
    let command = Command::UpdateInstallation(command);
    Ok(submit(&service, &UPDATE_INSTALLATION, &call, merchant_id, command, None).await?.into())
}

/// `POST /admin/remove-installation`
pub(super) async fn remove_installation(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let installation_id = fields.required("installation_id", arguments::id("an installation id (ins_...)"));
    let (merchant_id, command) =
        fields.finish(|| Some((merchant_id?, Command::RemoveInstallation(installation_id?))))?;
    Ok(submit(&service, &REMOVE_INSTALLATION, &call, merchant_id, command, None).await?.into())
}

fn identifier_text(value: &Json) -> Result<InstallationIdentifier, String> {
    arguments::checked(InstallationIdentifier::new(arguments::own_text(value)?))
}

/// Refuses an identifier in a form that the installation's platform, which never changes, does not have. An unknown
/// installation is not refused here: the call may be a repeated one, answered before the installation was removed.
async fn check_identifier(
    service: &Service,
    merchant_id: MerchantId,
    command: &UpdateInstallation,
) -> Result<(), ApiError> {
    let Some(identifier) = &command.identifier else { return Ok(()) };
    check_exists(service, merchant_id)?;
    let found = service.reader(merchant_id).await?.get::<Installations>(command.installation_id)?;
    let Some(installation) = found.filter(|found| found.identifier != *identifier) else { return Ok(()) };
    match identifier_on(installation.platform, identifier.clone()) {
        Ok(_) => Ok(()),
        Err(message) => Err(ApiError::invalid_arguments(&[Fault::invalid("identifier", message)])),
    }
}
