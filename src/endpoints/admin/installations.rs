//! `POST /admin/add-installation`, `list-installations`, `update-installation`, `remove-installation`

use till_domain::command::{AddInstallation, Command, UpdateInstallation};
use till_domain::ids::{InstallationId, MerchantId};
use till_domain::merchant::{Installation, Platform};
use till_domain::records::{Installations, Rows};
use till_domain::text::{EXTERNAL_ID_MAX_BYTES, InstallationIdentifier};
use till_protocol::arguments::id;
use till_protocol::fault::Fault;
use till_protocol::fields::Fields;

use super::about_merchant::{ByOperator, MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, check_exists, submit};
use super::identifier::identifier_on;
use crate::endpoints::forms::{NAME, checked, own_text, printable, words};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::installation::{INSTALLATION, InstallationShape};
use crate::service::{read_list_page, reply_of};

pub(super) const ENDPOINTS: Endpoints<Operator> = &[
    Endpoint(&ADD_INSTALLATION, &ByOperator(ADDED, Command::AddInstallation)),
    Endpoint(&LIST_INSTALLATIONS, &list_installations),
    Endpoint(&UPDATE_INSTALLATION, &update_installation),
    Endpoint(&REMOVE_INSTALLATION, &ByOperator(REMOVED, Command::RemoveInstallation)),
];

const INSTALLATION_ARGUMENT: Required<InstallationId> =
    id::<InstallationId>().required("The installation (`ins_...`).").with_name("installation_id");

const IDENTIFIER: Field<InstallationIdentifier> = Field {
    value_type: printable(EXTERNAL_ID_MAX_BYTES, "https://shop.example"),
    parse: |value| checked(InstallationIdentifier::new(own_text(value)?)),
};

const INSTALLATION_NOT_FOUND: DeclaredError =
    DeclaredError::new(Code::NotFound, "No merchant has this id, or no installation of this merchant.");

const ADDED: ArgumentSet<(MerchantId, AddInstallation)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    name: NAME.required("The name that the merchant gave it."),
    platform: words!(Platform).required("The platform that it runs on."),
    identifier: IDENTIFIER
        .required("The identifier on its platform: for WEB the origin whose pages may call, exactly as browsers send \
            it (`https://shop.example`: lower case, no path, no default port), else the bundle id or serial number."),
} judged by |fields: &mut Fields<'_>| {
    let identifier = identifier.clone();
    if let Some(Err(message)) = platform.zip(identifier).map(|(platform, text)| identifier_on(platform, text)) {
        fields.fault(Fault::invalid("identifier", message));
    }
} => (merchant_id, AddInstallation { name, platform, identifier }));

static ADD_INSTALLATION: Declaration = Declaration {
    name: "add-installation",
    summary: "Adds an installation of the client SDK and answers its id (`ins_...`).",
    arguments: ADDED.declared,
    returns: Returns::Id(InstallationId::PREFIX),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::new(Code::Conflict, "The merchant has 1,000 installations already.").with(r#"{"limit": 1000}"#),
    ],
    ..Declaration::command(Package::Admin, "installations")
};

const LIST: ArgumentSet<(MerchantId, ListPageRequest<InstallationId>)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    page: list_page::<InstallationId>(),
} => (merchant_id, page));

static LIST_INSTALLATIONS: Declaration = Declaration {
    name: "list-installations",
    summary: "Lists a merchant's installations, newest first.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&INSTALLATION),
    errors: &[MERCHANT_NOT_FOUND],
    ..Declaration::query(Package::Admin, "installations")
};

const UPDATED: ArgumentSet<(MerchantId, UpdateInstallation)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    installation_id: INSTALLATION_ARGUMENT,
    name: NAME.optional("The new name."),
    identifier: IDENTIFIER
        .optional("The new identifier on its platform, in the form that `add-installation` takes."),
} => (merchant_id, UpdateInstallation { installation_id, name, identifier }));

static UPDATE_INSTALLATION: Declaration = Declaration {
    name: "update-installation",
    summary: "Changes an installation's name or identifier; `false` when nothing changed.",
    docs: "An argument that is left out changes nothing. The platform never changes: on another platform it is \
        another installation.",
    arguments: UPDATED.declared,
    errors: &[INSTALLATION_NOT_FOUND],
    ..Declaration::command(Package::Admin, "installations")
};

const REMOVED: ArgumentSet<(MerchantId, InstallationId)> = arguments!({ merchant_id: MERCHANT_ARGUMENT,
    installation_id: INSTALLATION_ARGUMENT } => (merchant_id, installation_id));

static REMOVE_INSTALLATION: Declaration = Declaration {
    name: "remove-installation",
    summary: "Removes an installation permanently and answers `true`.",
    docs: "From then on it is answered like an unknown one. Payment sessions that were made at it can still be paid.",
    arguments: REMOVED.declared,
    errors: &[INSTALLATION_NOT_FOUND],
    ..Declaration::command(Package::Admin, "installations")
};

/// `POST /admin/list-installations`
async fn list_installations(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, request) = call.fields().parse(&LIST)?;
    check_exists(&service, merchant_id)?;
    let page = read_list_page::<Installations>(&service.reader(merchant_id).await?, request)?;
    let page = page.map(|installation: &Installation| InstallationShape::new(installation));
    Reply::list_page(&page.with_filters(&[("merchant_id", Some(merchant_id.to_string()))]))
}

/// `POST /admin/update-installation`
async fn update_installation(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, command) = call.fields().parse(&UPDATED)?;
    check_identifier(&service, merchant_id, &command).await?;
    let command = Command::UpdateInstallation(command);
    Ok(reply_of(submit(&service, &call, merchant_id, command).await?))
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
