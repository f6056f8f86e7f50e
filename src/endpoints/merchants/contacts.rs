//! `POST /merchants/add-contact`, `update-contact`, `remove-contact`, `find-contact`, `list-contacts`

use till_domain::command::{Command, ContactChange, ContactFields};
use till_domain::customer::{Contact, Customer, CustomerRef};
use till_domain::ids::CustomerId;
use till_domain::records::{Customers, CustomersByExternalId, Rows};

use super::by_merchant;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::forms::{CUSTOMER_REF, EXTERNAL_ID, PERSON_NAME};
use crate::endpoints::shapes::contact::{CONTACT, ContactShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType, page_arguments,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::fault::Fault;
use crate::protocol::field;
use crate::protocol::fields::Fields;
use crate::service::{Reader, Shared, read_page};

/// The argument that names a customer.
pub(super) const CONTACT_ARGUMENT: Argument =
    Argument::required("contact_id", CUSTOMER_REF, "The customer: an id (`ctc_...`) or the merchant's own identifier.");
/// The refusal when no customer has that id.
pub(super) const CONTACT_NOT_FOUND: DeclaredError =
    DeclaredError::when(Code::NotFound, "No customer of this merchant has this id.");

const EXTERNAL_ID_ARGUMENT: Argument = Argument::optional(
    "external_id",
    EXTERNAL_ID,
    "The merchant's own identifier, unique among its customers, 1 to 255 bytes.",
)
.shown();
const EMAIL_ARGUMENT: Argument =
    Argument::optional("contact_email", ValueType::EMAIL, "The customer's e-mail address, unique among customers.")
        .shown();
const MOBILE_ARGUMENT: Argument =
    Argument::optional("contact_mobile", ValueType::PHONE, "The customer's mobile number, unique among customers.");
const NAME_ARGUMENT: Argument = Argument::optional("contact_name", PERSON_NAME, "The customer's name.");

const CONFLICT: DeclaredError = DeclaredError::when(
    Code::Conflict,
    "Another customer has one of them: details name the `argument` and its `contact_id`.",
)
.with(r#"{"argument": "contact_email", "contact_id": "ctc_01h2e8kqvbfwea724h75qc655w"}"#);

pub(super) static ADD_CONTACT: Declaration = Declaration {
    name: "add-contact",
    package: Package::Merchants,
    group: "contacts",
    summary: "Adds a customer. Answers the customer's id.",
    docs: "Give at least one of the arguments. Payments that name the identifier, the address or the number are linked to this customer.",
    arguments: &[EXTERNAL_ID_ARGUMENT, EMAIL_ARGUMENT, MOBILE_ARGUMENT, NAME_ARGUMENT],
    returns: Returns::Id(CustomerId::PREFIX),
    errors: &[CONFLICT],
    flags: Flags::COMMAND,
};

pub(super) static UPDATE_CONTACT: Declaration = Declaration {
    name: "update-contact",
    package: Package::Merchants,
    group: "contacts",
    summary: "Changes a customer. Answers `true` when anything changed.",
    docs: "An argument that is left out or null changes nothing. Payments keep the customer data that they were made with.",
    arguments: &[CONTACT_ARGUMENT, EXTERNAL_ID_ARGUMENT, EMAIL_ARGUMENT, MOBILE_ARGUMENT, NAME_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[CONTACT_NOT_FOUND, CONFLICT],
    flags: Flags::COMMAND,
};

pub(super) static REMOVE_CONTACT: Declaration = Declaration {
    name: "remove-contact",
    package: Package::Merchants,
    group: "contacts",
    summary: "Removes a customer: the person is erased, and the saved cards are forgotten.",
    docs: "It cannot be undone. Payments keep their amounts and ids, and show null for the customer's name, address and number. The customer's `external_id`, address and number are free for another customer.",
    arguments: &[CONTACT_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[CONTACT_NOT_FOUND],
    flags: Flags::COMMAND,
};

pub(super) static FIND_CONTACT: Declaration = Declaration {
    name: "find-contact",
    package: Package::Merchants,
    group: "contacts",
    summary: "Returns a customer.",
    docs: "`list-payments` with `contact_id` lists the customer's payments, `list-cards` the saved cards.",
    arguments: &[CONTACT_ARGUMENT],
    returns: Returns::Object(&CONTACT),
    errors: &[CONTACT_NOT_FOUND],
    flags: Flags::QUERY,
};

pub(super) static LIST_CONTACTS: Declaration = Declaration {
    name: "list-contacts",
    package: Package::Merchants,
    group: "contacts",
    summary: "Lists the merchant's customers, newest first.",
    docs: "",
    arguments: &page_arguments(CustomerId::PREFIX),
    returns: Returns::Page(&CONTACT),
    errors: &[],
    flags: Flags::QUERY,
};

/// `POST /merchants/add-contact`
pub(super) async fn add_contact(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let contact = contact_fields(&mut fields);
    let names = ["external_id", "contact_email", "contact_mobile", "contact_name"];
    if !names.iter().any(|name| fields.is_given(name)) {
        let message = "is required when none of external_id, contact_mobile and contact_name is given";
        fields.fault(Fault::missing_because("contact_email", message.to_owned()));
    }
    let contact = fields.finish(|| Some(contact))?;
    submit(&service, &ADD_CONTACT, &call, ContactChange::Add(contact)).await
}

/// `POST /merchants/update-contact`
pub(super) async fn update_contact(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let customer = fields.required("contact_id", arguments::customer_ref);
    let contact = contact_fields(&mut fields);
    let change = fields.finish(|| Some(ContactChange::Update(customer?, contact)))?;
    submit(&service, &UPDATE_CONTACT, &call, change).await
}

/// `POST /merchants/remove-contact`
pub(super) async fn remove_contact(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let customer = fields.required("contact_id", arguments::customer_ref);
    let change = fields.finish(|| customer.map(ContactChange::Remove))?;
    submit(&service, &REMOVE_CONTACT, &call, change).await
}

/// `POST /merchants/find-contact`
pub(super) async fn find_contact(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let contact = fields.required("contact_id", arguments::customer_ref);
    let contact = fields.finish(|| contact)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Ok(Reply::new(&ContactShape::new(&find(&reader, contact)?)))
}

/// `POST /merchants/list-contacts`
pub(super) async fn list_contacts(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<CustomerId>("a customer id (ctc_...)"));
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let page = read_page::<Customers>(&reader, request)?;
    Reply::page(&page.map(ContactShape::new))
}

/// Submits a change of customers or cards.
pub(super) async fn submit(
    service: &Shared,
    declaration: &'static Declaration,
    call: &Call<MerchantCaller>,
    change: ContactChange,
) -> Result<Reply, ApiError> {
    by_merchant::submit(service, declaration, call, Command::ChangeContact(change)).await
}

/// The customer that a call names.
pub(super) fn find(reader: &Reader<'_>, customer: CustomerRef) -> Result<Customer, ApiError> {
    let id = match customer {
        CustomerRef::Own(id) => Some(id),
        CustomerRef::External(external_id) => reader.get::<CustomersByExternalId>(external_id)?,
    };
    let found = id.map_or(Ok(None), |id| reader.get::<Customers>(id))?;
    let unknown = || {
        let message = "No customer of this merchant has this contact_id: neither as Till's id (ctc_...) nor as the merchant's own. E-mail addresses are not looked up here.";
        ApiError::not_found("contact_id", message)
    };
    found.ok_or_else(unknown)
}

/// The reference to a customer as text.
pub(super) fn text(customer: &CustomerRef) -> String {
    match customer {
        CustomerRef::Own(id) => id.to_string(),
        CustomerRef::External(external_id) => external_id.as_str().to_owned(),
    }
}

fn contact_fields(fields: &mut Fields<'_>) -> ContactFields {
    ContactFields {
        external_id: fields.optional("external_id", arguments::external_id::<CustomerId>),
        contact: Contact {
            email: fields.optional("contact_email", arguments::email),
            mobile: fields.optional("contact_mobile", arguments::mobile),
            name: fields.optional("contact_name", arguments::person_name),
        },
    }
}
