//! Shapes of customers and of their contacts. Personal data is sealed, as the names on cards are.

use till_domain::customer::{Contact, Customer, CustomerFields, CustomerRef};
use till_domain::records::Unreadable;

use crate::vault::SubjectId;

use super::codec::{Decode, Out, ShapeError};
use super::declared::{shape_enum, shape_struct};
use super::personal::Personal;
use super::sealed::SealedShape;
use super::shape::Shape;

/// The labels of the three fields of a person at one place: a text that is sealed with one opens only there. The
/// labels are part of the format.
#[derive(Clone, Copy)]
pub(super) struct ContactLabels {
    email: &'static str,
    mobile: &'static str,
    name: &'static str,
}

/// Of the contact of a payment.
pub(super) const OF_PAYMENT: ContactLabels =
    ContactLabels { email: "payment.email", mobile: "payment.mobile", name: "payment.name" };
/// Of the contact of a payment session.
pub(super) const OF_SESSION: ContactLabels =
    ContactLabels { email: "session.email", mobile: "session.mobile", name: "session.name" };
/// Of the customer fields of a checkout.
pub(super) const OF_CHECKOUT: ContactLabels =
    ContactLabels { email: "checkout.email", mobile: "checkout.mobile", name: "checkout.name" };

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

impl SealedShape<Contact> for ContactV1 {
    type Labels = ContactLabels;

    fn seal(
        contact: &Contact,
        subject: SubjectId,
        labels: ContactLabels,
        personal: &mut dyn Personal,
        out: &mut Out,
    ) -> Result<(), Unreadable> {
        let Contact { email, mobile, name } = contact;
        Option::<Vec<u8>>::seal(email, subject, labels.email, personal, out)?;
        Option::<Vec<u8>>::seal(mobile, subject, labels.mobile, personal, out)?;
        Option::<Vec<u8>>::seal(name, subject, labels.name, personal, out)
    }

    fn open(self, subject: SubjectId, labels: ContactLabels, personal: &dyn Personal) -> Result<Contact, ShapeError> {
        Ok(Contact {
            email: self.email.open(subject, labels.email, personal)?,
            mobile: self.mobile.open(subject, labels.mobile, personal)?,
            name: self.name.open(subject, labels.name, personal)?,
        })
    }
}

/// The customer fields of a session or a checkout.
#[derive(Debug, Decode)]
pub(super) struct CustomerFieldsV1 {
    id: Option<CustomerRefV1>,
    contact: ContactV1,
}

impl SealedShape<CustomerFields> for CustomerFieldsV1 {
    type Labels = ContactLabels;

    fn seal(
        fields: &CustomerFields,
        subject: SubjectId,
        labels: ContactLabels,
        personal: &mut dyn Personal,
        out: &mut Out,
    ) -> Result<(), Unreadable> {
        let CustomerFields { id, contact } = fields;
        Option::<CustomerRefV1>::write(id, personal, out)?;
        ContactV1::seal(contact, subject, labels, personal, out)
    }

    fn open(
        self,
        subject: SubjectId,
        labels: ContactLabels,
        personal: &dyn Personal,
    ) -> Result<CustomerFields, ShapeError> {
        let contact = self.contact.open(subject, labels, personal)?;
        Ok(CustomerFields { id: self.id.unpack(personal)?, contact })
    }
}

shape_struct! {
    /// A customer. Its subject is itself.
    CustomerV1 of Customer {
        id: [u8; 16],
        external_id: Option<String>,
        email: Option<Vec<u8>> as "customer.email",
        mobile: Option<Vec<u8>> as "customer.mobile",
        name: Option<Vec<u8>> as "customer.name",
        other_emails: Vec<Vec<u8>> as "customer.other_email",
        default_card_id: Option<[u8; 16]>,
        created_at: u64,
        updated_at: u64,
    } sealed under SubjectId::customer(*id)
}
