//! Customers of a merchant, and the references by which calls name them.

use crate::ids::{CardId, CustomerId, IdOrExternalId};
use crate::text::{Email, ExternalId, Mobile, PersonName};
use crate::time::Millis;

/// The maximum number of [`Customer::other_emails`]: a later one takes the place of the oldest.
pub const OTHER_EMAILS_MAX: usize = 50;

/// A customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// Its id.
    pub id: CustomerId,
    /// The merchant's own identifier of it.
    pub external_id: Option<ExternalId>,
    /// Its e-mail address, which only one customer has at a time.
    pub email: Option<Email>,
    /// Its mobile number, which only one customer has at a time.
    pub mobile: Option<Mobile>,
    /// Its name.
    pub name: Option<PersonName>,
    /// Further addresses that its payments may show, the newest last, at most [`OTHER_EMAILS_MAX`]: its former ones,
    /// and those that were given with its payments and belong to another customer.
    pub other_emails: Vec<Email>,
    /// The saved card that is used unless another is named.
    pub default_card_id: Option<CardId>,
    /// The time at which it was created.
    pub created_at: Millis,
    /// The time at which it last changed.
    pub updated_at: Millis,
}

impl Customer {
    /// Remembers the addresses that payments show or may show, where they are not its present one.
    pub(crate) fn remember_emails<'a>(&mut self, emails: impl IntoIterator<Item = &'a Email>) {
        for email in emails {
            if !self.other_emails.contains(email) {
                self.other_emails.push(email.clone());
            }
        }
        let present = self.email.as_ref();
        self.other_emails.retain(|email| Some(email) != present);
        let surplus = self.other_emails.len().saturating_sub(OTHER_EMAILS_MAX);
        self.other_emails.drain(..surplus);
    }
}

/// The reference by which a call names a customer.
pub type CustomerRef = IdOrExternalId<CustomerId>;

word_enum! {
    /// A way in which customer fields name a person: the lists of open checkouts that name the same one.
    pub enum NamedBy {
        /// By Till's id or the merchant's own identifier.
        Customer,
        /// By an e-mail address.
        Email,
        /// By a mobile number.
        Mobile,
    }
}

/// The reference by which a call names a saved card.
pub type CardRef = IdOrExternalId<CardId>;

/// The address, number and name that are given with a payment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contact {
    /// E-mail address.
    pub email: Option<Email>,
    /// Mobile number.
    pub mobile: Option<Mobile>,
    /// Name.
    pub name: Option<PersonName>,
}

/// The customer fields of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CustomerFields {
    /// The customer that the call names.
    pub id: Option<CustomerRef>,
    /// The customer's address, number and name.
    pub contact: Contact,
}

impl CustomerFields {
    /// These fields, with those of `defaults` where one is not given.
    #[must_use]
    pub fn with_defaults(&self, defaults: &CustomerFields) -> CustomerFields {
        CustomerFields {
            id: self.id.clone().or_else(|| defaults.id.clone()),
            contact: Contact {
                email: self.contact.email.clone().or_else(|| defaults.contact.email.clone()),
                mobile: self.contact.mobile.clone().or_else(|| defaults.contact.mobile.clone()),
                name: self.contact.name.clone().or_else(|| defaults.contact.name.clone()),
            },
        }
    }
}
