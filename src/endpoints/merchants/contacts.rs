//! `POST /merchants/add-contact`, `update-contact`, `remove-contact`, `find-contact`, `list-contacts`

use till_domain::command::{Command, ContactChange, ContactFields};
use till_domain::customer::{Contact, CustomerRef};
use till_domain::ids::CustomerId;
use till_domain::records::{Customers, CustomersByExternalId};
use till_protocol::fault::Fault;
use till_protocol::fields::Fields;

use super::by_merchant::ByMerchant;
use crate::endpoints::arguments::CONTACT_ARGUMENT;
use crate::endpoints::forms::{EMAIL, MOBILE, PERSON_NAME, external_id};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::contact::{CONTACT, ContactShape};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(
        Act::ChangeCustomers,
        &ADD_CONTACT,
        &ByMerchant(ADDED, |_, contact| Command::ChangeContact(ContactChange::Add(contact))),
    ),
    MerchantEndpoint(
        Act::ChangeCustomers,
        &UPDATE_CONTACT,
        &ByMerchant(UPDATED, |_, (customer, contact)| Command::ChangeContact(ContactChange::Update(customer, contact))),
    ),
    MerchantEndpoint(
        Act::RemoveCustomers,
        &REMOVE_CONTACT,
        &ByMerchant(CONTACT_ARGUMENT, |_, customer| Command::ChangeContact(ContactChange::Remove(customer))),
    ),
    MerchantEndpoint(Act::SeeCustomers, &FIND_CONTACT, &find::<Customers>),
    MerchantEndpoint(Act::SeeCustomers, &LIST_CONTACTS, &list::<Customers>),
];

/// The refusal when no customer has that id.
pub(super) const CONTACT_NOT_FOUND: DeclaredError =
    DeclaredError::new(Code::NotFound, "No customer of this merchant has this id.");

/// The data of a customer.
const CONTACT_DATA: ArgumentSet<ContactFields> = arguments!({
    external_id: external_id::<CustomerId>()
        .optional("The merchant's own identifier, unique among its customers, 1 to 255 bytes.")
        .in_examples(),
    contact_email: EMAIL.optional("The customer's e-mail address, unique among customers.").in_examples(),
    contact_mobile: MOBILE.optional("The customer's mobile number, unique among customers."),
    contact_name: PERSON_NAME.optional("The customer's name."),
} => ContactFields {
    external_id,
    contact: Contact { email: contact_email, mobile: contact_mobile, name: contact_name },
});

const CONFLICT: DeclaredError = DeclaredError::new(
    Code::Conflict,
    "Another customer has one of them: details name the `argument` and its `contact_id`.",
)
.with(r#"{"argument": "contact_email", "contact_id": "ctc_01h2e8kqvbfwea724h75qc655w"}"#);

const ADDED: ArgumentSet<ContactFields> = arguments!({
    contact: CONTACT_DATA,
} judged by |fields: &mut Fields<'_>| {
    let names = ["external_id", "contact_email", "contact_mobile", "contact_name"];
    if !names.iter().any(|name| fields.is_given(name)) {
        let message = "is required when none of external_id, contact_mobile and contact_name is given";
        fields.fault(Fault::missing_because("contact_email", message));
    }
} => contact);

static ADD_CONTACT: Declaration = Declaration {
    name: "add-contact",
    summary: "Adds a customer. Answers the customer's id.",
    docs: "Give at least one of the arguments. Payments that name the identifier, the address or the number are \
        linked to this customer.",
    arguments: ADDED.declared,
    returns: Returns::Id(CustomerId::PREFIX),
    errors: &[CONFLICT],
    ..Declaration::command(Package::Merchants, "contacts")
};

const UPDATED: ArgumentSet<(CustomerRef, ContactFields)> = arguments!({
    customer: CONTACT_ARGUMENT,
    contact: CONTACT_DATA,
} => (customer, contact));

static UPDATE_CONTACT: Declaration = Declaration {
    name: "update-contact",
    summary: "Changes a customer. Answers `true` when anything changed.",
    docs: "An argument that is left out or null changes nothing. Payments keep the customer data that they were made \
        with.",
    arguments: UPDATED.declared,
    errors: &[CONTACT_NOT_FOUND, CONFLICT],
    ..Declaration::command(Package::Merchants, "contacts")
};

static REMOVE_CONTACT: Declaration = Declaration {
    name: "remove-contact",
    summary: "Removes a customer: the person is erased, and the saved cards are forgotten.",
    docs: "It cannot be undone. Payments keep their amounts and ids, and show null for the customer's name, address \
        and number; open checkouts that name the customer lose their customer fields. The customer's `external_id`, \
        address and number are free for another customer.",
    arguments: &[CONTACT_ARGUMENT.argument],
    errors: &[
        CONTACT_NOT_FOUND,
        DeclaredError::new(
            Code::Conflict,
            "More than 1,000 open checkouts name the customer: details name the `limit`. End some by \
                `expire-checkout`.",
        )
        .with(r#"{"limit": 1000}"#),
    ],
    ..Declaration::command(Package::Merchants, "contacts")
};

static FIND_CONTACT: Declaration = Declaration {
    name: "find-contact",
    summary: "Returns a customer.",
    docs: "`list-payments` with `contact_id` lists the customer's payments, `list-cards` the saved cards.",
    arguments: &[CONTACT_ARGUMENT.argument],
    returns: Returns::Object(&CONTACT),
    errors: &[CONTACT_NOT_FOUND],
    ..Declaration::query(Package::Merchants, "contacts")
};

static LIST_CONTACTS: Declaration = Declaration {
    name: "list-contacts",
    summary: "Lists the merchant's customers, newest first.",
    arguments: &list_page_arguments(CustomerId::PREFIX),
    returns: Returns::ListPage(&CONTACT),
    ..Declaration::query(Package::Merchants, "contacts")
};

const UNKNOWN: &str = "No customer of this merchant has this contact_id: neither as Till's id (ctc_...) nor as the \
    merchant's own. E-mail addresses are not looked up here.";

kind!(Customers => ContactShape::new);

named_kind!(Customers, by CustomersByExternalId, CONTACT_ARGUMENT, ApiError::not_found("contact_id", UNKNOWN));
