//! The ways in which a text of `terms` is found in the list of payments.

use till_domain::ids::{CustomerId, DisputeId, PaymentId, RefundId};
use till_domain::payment::Payment;
use till_domain::records::{
    Customers, CustomersByEmail, CustomersByOtherEmail, Disputes, Payments, PaymentsByExternalId, Refunds, Rows,
    Unreadable,
};
use till_domain::text::{EXTERNAL_ID_MAX_BYTES, Email, ExternalId};
use till_storage::rows::ScanDirection;
use till_storage::shapes::{MerchantView, PaymentIndex};

use super::known_entries::few_entries;
use super::merge::EntrySource;
use super::search::Selection;

/// The number of customers beside the one with an address whose payments are walked by index. With more, all are.
const OTHER_CUSTOMERS_MAX: usize = 32;

/// The payments that a text leads to. It is any of these: the beginning of an `external_id`, in the letter case in
/// which the merchant wrote it; the whole id of a payment, of one of its refunds or disputes, or of its customer; the
/// e-mail address that the payment shows, or that its customer has now; the last four digits of the card.
pub(super) struct PaymentTerms {
    /// The payment that an id leads to.
    payment_id: Option<PaymentId>,
    /// The customer that an id or an address leads to.
    customer_id: Option<CustomerId>,
    /// The text, where it is an address.
    email: Option<Email>,
    /// Other customers some of whose payments may show the address; none when they are too many.
    other_customers: Option<Vec<CustomerId>>,
    /// The text, where it is four digits.
    last_digits: Option<[u8; 4]>,
    /// The text as the beginning of an `external_id`.
    prefix: String,
    /// The payments whose `external_id` begins with it; none when they are too many.
    with_prefix: Option<EntrySource<PaymentIndex>>,
}

impl PaymentTerms {
    /// The payments that `text` leads to.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub(super) fn find(text: &str, view: &MerchantView<'_>) -> Result<PaymentTerms, Unreadable> {
        let lower_case = text.to_lowercase();
        let last_digits =
            text.as_bytes().try_into().ok().filter(|digits: &[u8; 4]| digits.iter().all(u8::is_ascii_digit));
        let email = Email::new(&lower_case).ok();
        Ok(PaymentTerms {
            payment_id: payment_of(&lower_case, view)?,
            customer_id: customer_of(&lower_case, email.as_ref(), view)?,
            other_customers: email.as_ref().map_or(Ok(Some(Vec::new())), |email| other_customers(email, view))?,
            email,
            last_digits,
            with_prefix: few_entries(|limit| ids_with_prefix(text, view, limit))?,
            prefix: text.to_owned(),
        })
    }

    /// Keeps the payments of a selection that the text leads to.
    pub(super) fn select(self, selection: &mut Selection<PaymentIndex>) {
        let (Some(with_prefix), Some(other_customers)) = (&self.with_prefix, &self.other_customers) else {
            selection.passing(move |payment: &Payment| self.leads_to(payment));
            return;
        };
        let by_id = self.payment_id.map(|id| EntrySource::Known([id].into()));
        let customers = self.customer_id.iter().chain(other_customers);
        let by_customer = customers.map(|id| EntrySource::Index(PaymentIndex::Customer(*id)));
        let by_card = self.last_digits.map(|digits| EntrySource::Index(PaymentIndex::LastDigits(digits)));
        let sources = [with_prefix.clone()].into_iter().chain(by_id).chain(by_customer).chain(by_card);
        selection.any_source(sources.collect());
        if !other_customers.is_empty() {
            selection.passing(move |payment: &Payment| self.leads_to(payment));
        }
    }

    fn leads_to(&self, payment: &Payment) -> bool {
        payment.external_id.as_ref().is_some_and(|own| own.as_str().starts_with(&self.prefix))
            || Some(payment.id) == self.payment_id
            || (self.customer_id.is_some() && payment.customer_id == self.customer_id)
            || (self.email.is_some() && payment.contact.email == self.email)
            || self.last_digits.is_some_and(|digits| has_last_digits(payment, digits))
    }
}

fn has_last_digits(payment: &Payment, digits: [u8; 4]) -> bool {
    payment.instrument.card().is_some_and(|card| card.last_digits.as_bytes() == digits)
}

/// The payment with this id, or with a refund or dispute with this id.
fn payment_of(id: &str, view: &MerchantView<'_>) -> Result<Option<PaymentId>, Unreadable> {
    if let Ok(payment_id) = id.parse::<PaymentId>() {
        return Ok(view.get::<Payments>(payment_id)?.map(|payment| payment.id));
    }
    if let Ok(refund_id) = id.parse::<RefundId>() {
        return Ok(view.get::<Refunds>(refund_id)?.map(|refund| refund.payment_id));
    }
    let Ok(dispute_id) = id.parse::<DisputeId>() else { return Ok(None) };
    Ok(view.get::<Disputes>(dispute_id)?.map(|dispute| dispute.payment_id))
}

/// The customer with this id or e-mail address.
fn customer_of(id: &str, email: Option<&Email>, view: &MerchantView<'_>) -> Result<Option<CustomerId>, Unreadable> {
    if let Ok(customer_id) = id.parse::<CustomerId>() {
        return Ok(view.get::<Customers>(customer_id)?.map(|customer| customer.id));
    }
    email.map_or(Ok(None), |email| view.get::<CustomersByEmail>(email.clone()))
}

/// The customers some of whose payments may show an address that is not theirs.
fn other_customers(email: &Email, view: &MerchantView<'_>) -> Result<Option<Vec<CustomerId>>, Unreadable> {
    let [first, last] = [u8::MIN, u8::MAX].map(|byte| (email.clone(), CustomerId::from_bytes([byte; 16])));
    let limit = OTHER_CUSTOMERS_MAX.saturating_add(1);
    let found = view.scan_rows::<CustomersByOtherEmail>(first..=last, ScanDirection::Forward, limit)?;
    Ok((found.len() <= OTHER_CUSTOMERS_MAX).then_some(found))
}

/// At most `limit` payments whose `external_id` begins with a text.
fn ids_with_prefix(text: &str, view: &MerchantView<'_>, limit: usize) -> Result<Vec<PaymentId>, Unreadable> {
    // No text that begins with this one comes after this one with the last character there is, as often as it fits.
    let last = char::MAX.to_string().repeat(EXTERNAL_ID_MAX_BYTES / char::MAX.len_utf8());
    let keys = ExternalId::from_stored(text.to_owned())..=ExternalId::from_stored(format!("{text}{last}"));
    let rows = view.scan::<PaymentsByExternalId>(keys, ScanDirection::Forward, limit)?;
    Ok(rows.into_iter().map(|(_, id)| id).collect())
}
