//! Shapes of customers and of their contacts. Personal data is sealed, as the names on cards are.

use till_domain::customer::{Contact, Customer, CustomerFields, CustomerRef};
use till_domain::records::Unreadable;
use till_domain::text::{Email, Mobile, PersonName};

use crate::vault::SubjectId;

use super::codec::{Decode, Out, ShapeError, put};
use super::personal::Personal;
use super::shape::{Shape, shape_enum};

/// The labels of the three fields of a person at one place: a text that is sealed with one opens only there. The
/// labels are part of the format.
pub(super) struct ContactLabels {
    email: &'static str,
    mobile: &'static str,
    name: &'static str,
}

/// The label of another address of a customer.
const OTHER_EMAIL: &str = "customer.other_email";
const OF_CUSTOMER: ContactLabels =
    ContactLabels { email: "customer.email", mobile: "customer.mobile", name: "customer.name" };
/// Of the contact of a payment.
pub(super) const OF_PAYMENT: ContactLabels =
    ContactLabels { email: "payment.email", mobile: "payment.mobile", name: "payment.name" };
/// Of the contact of a payment session.
pub(super) const OF_SESSION: ContactLabels =
    ContactLabels { email: "session.email", mobile: "session.mobile", name: "session.name" };

shape_enum! {
    /// The reference by which a call names a customer. The merchant's own identifier is not personal.
    CustomerRefV1 of CustomerRef {
        Own(customer_id: [u8; 16]),
        External(external_id: String),
    }
}

/// The contact of a person: each field is sealed by itself.
#[derive(Debug, Decode)]
pub(super) struct ContactV1 {
    email: Option<Vec<u8>>,
    mobile: Option<Vec<u8>>,
    name: Option<Vec<u8>>,
}

impl ContactV1 {
    /// Writes it sealed under the key of `subject`.
    pub(super) fn seal(
        contact: &Contact,
        subject: SubjectId,
        labels: &ContactLabels,
        personal: &mut dyn Personal,
        out: &mut Out,
    ) -> Result<(), Unreadable> {
        let Contact { email, mobile, name } = contact;
        let mut seal = |label, text: Option<&str>| {
            let sealed = text.map(|text| personal.seal(subject, label, text)).transpose()?;
            put(&sealed, out)
        };
        seal(labels.email, email.as_ref().map(Email::as_str))?;
        seal(labels.mobile, mobile.as_ref().map(Mobile::as_str))?;
        seal(labels.name, name.as_ref().map(PersonName::as_str))
    }

    /// Opens the sealed fields; those of an erased subject are absent.
    pub(super) fn open(
        self,
        subject: SubjectId,
        labels: &ContactLabels,
        personal: &dyn Personal,
    ) -> Result<Contact, ShapeError> {
        let open = |label, sealed: Option<Vec<u8>>| match sealed {
            Some(sealed) => personal.open(subject, label, &sealed),
            None => Ok(None),
        };
        Ok(Contact {
            email: open(labels.email, self.email)?.map(Email::from_stored),
            mobile: open(labels.mobile, self.mobile)?.map(Mobile::from_stored),
            name: open(labels.name, self.name)?.map(PersonName::from_stored),
        })
    }
}

/// The customer fields of a session.
#[derive(Debug, Decode)]
pub(super) struct CustomerFieldsV1 {
    id: Option<CustomerRefV1>,
    contact: ContactV1,
}

impl CustomerFieldsV1 {
    /// Writes them sealed under the key of `subject`.
    pub(super) fn seal(
        fields: &CustomerFields,
        subject: SubjectId,
        labels: &ContactLabels,
        personal: &mut dyn Personal,
        out: &mut Out,
    ) -> Result<(), Unreadable> {
        let CustomerFields { id, contact } = fields;
        Option::<CustomerRefV1>::write(id, personal, out)?;
        ContactV1::seal(contact, subject, labels, personal, out)
    }

    /// Opens the sealed fields.
    pub(super) fn open(
        self,
        subject: SubjectId,
        labels: &ContactLabels,
        personal: &dyn Personal,
    ) -> Result<CustomerFields, ShapeError> {
        let contact = self.contact.open(subject, labels, personal)?;
        Ok(CustomerFields { id: self.id.unpack(personal)?, contact })
    }
}

/// A customer. Its subject is itself.
#[derive(Debug, Decode)]
pub(super) struct CustomerV1 {
    id: [u8; 16],
    external_id: Option<String>,
    contact: ContactV1,
    other_emails: Vec<Vec<u8>>,
    default_card_id: Option<[u8; 16]>,
    created_at: u64,
    updated_at: u64,
}

impl Shape<Customer> for CustomerV1 {
    fn write(customer: &Customer, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        let Customer { id, external_id, email, mobile, name, other_emails, default_card_id, created_at, updated_at } =
            customer;
        let contact = Contact { email: email.clone(), mobile: mobile.clone(), name: name.clone() };
        <[u8; 16]>::write(id, personal, out)?;
        Option::<String>::write(external_id, personal, out)?;
        let subject = SubjectId::customer(*id);
        ContactV1::seal(&contact, subject, &OF_CUSTOMER, personal, out)?;
        let sealed = other_emails.iter().map(|email| personal.seal(subject, OTHER_EMAIL, email.as_str()));
        put(&sealed.collect::<Result<Vec<Vec<u8>>, Unreadable>>()?, out)?;
        Option::<[u8; 16]>::write(default_card_id, personal, out)?;
        u64::write(created_at, personal, out)?;
        u64::write(updated_at, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Customer, ShapeError> {
        let id = self.id.unpack(personal)?;
        let subject = SubjectId::customer(id);
        let Contact { email, mobile, name } = self.contact.open(subject, &OF_CUSTOMER, personal)?;
        let open = |sealed: &Vec<u8>| personal.open(subject, OTHER_EMAIL, sealed).transpose();
        let other_emails = self.other_emails.iter().filter_map(open).map(|email| email.map(Email::from_stored));
        Ok(Customer {
            id,
            external_id: self.external_id.unpack(personal)?,
            email,
            mobile,
            name,
            other_emails: other_emails.collect::<Result<Vec<Email>, ShapeError>>()?,
            default_card_id: self.default_card_id.unpack(personal)?,
            created_at: self.created_at.unpack(personal)?,
            updated_at: self.updated_at.unpack(personal)?,
        })
    }
}
